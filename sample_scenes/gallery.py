"""`make gallery`, or `python -m tendril.sample_scenes.gallery [NAME ...] [--stills | --films]`: pictures and films of docs/gallery.

Every sample and every groom of showcase.py is played and rendered with Cycles: a picture of 1280 x 720 and a short film that
repeats. Rendered frames stay in out/gallery, so that an interrupted run goes on where it was; they are made again when the scene
changes. What exists in docs/gallery and is up to date is left alone.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import bpy

from .. import register, unregister
from ..addon import memory
from . import images
from .image_sources import digest
from .samples import SHOWCASES, TABLE, Sample
from .studio import progress, quiet

SCENES: dict[str, Sample] = {**SHOWCASES, **TABLE}
FOLDER = images.DOCS / "gallery"
WORK = images.ROOT / "out" / "gallery"
STILL, FILM = (1280, 720), (480, 270)
STEP = 2  # frames of the scene from one picture of a film to the next, if the sample says nothing else
FADE = 5  # pictures at the end of a film that turn into the first ones
LARGEST = 1_000_000  # bytes of a film


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tendril.sample_scenes.gallery", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(SCENES)}; default: all")
    parser.add_argument("--stills", action="store_true", help="pictures only")
    parser.add_argument("--films", action="store_true", help="films only")
    parser.add_argument("--again", action="store_true", help="also what is up to date")
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in SCENES:
            parser.error(f"there is no scene {name}: choose from {', '.join(SCENES)}")
    for name in options.names or SCENES:
        wanted = [film for film in (False, True) if not (options.films if not film else options.stills)]
        wanted = [film for film in wanted if options.again or is_stale(entry(SCENES[name], film))]
        if wanted:
            make(SCENES[name], wanted)


def entry(scene: Sample, film: bool) -> images.Image:
    """The picture or the film as docs/images.toml lists it."""
    command = f"python -m tendril.sample_scenes.gallery {scene.name} --again {'--films' if film else '--stills'}"
    folder = "sample_scenes" if scene.module == "showcase" else "sample_scenes/samples"
    sources = [f"sample:{scene.name}", f"{folder}/{scene.module}.py::{scene.name}"]
    if scene.hair:
        sources.append("sample_scenes/grooms.py")
    return images.Image(f"gallery/{scene.name}{'_film' if film else ''}.webp", command, sources, digest(sources))


def is_stale(wanted: images.Image) -> bool:
    listed = images.read().get(wanted.path)
    return listed is None or listed.digest != wanted.digest or not (images.DOCS / wanted.path).exists()


def make(sample: Sample, films: list[bool]) -> None:
    """Plays a scene, renders its picture (False) or film (True) or both, and lists them."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    register()
    try:
        sample.build()
        scene = bpy.context.scene
        frames = {film: film_frames(sample) if film else range(sample.still, sample.still + 1) for film in films}
        play(sample, scene, max(map(max, frames.values())))
        for film, numbers in frames.items():
            listed = entry(sample, film)
            work = WORK / f"{sample.name}-{listed.digest}"
            work.mkdir(parents=True, exist_ok=True)
            paths = render(scene, work, numbers, film, 3 if film else 14 if sample.hair else 6)
            FOLDER.mkdir(parents=True, exist_ok=True)
            if film:
                save_film(paths, images.DOCS / listed.path, numbers.step)
            else:
                save_still(paths[0], images.DOCS / listed.path)
            images.write(images.read() | {listed.path: listed})
    finally:
        unregister()  # some Blender versions crash at exit if a handler is still registered


def film_frames(sample: Sample) -> range:
    first, last, *step = sample.film
    return range(first, last + 1, step[0] if step else STEP)


def play(sample: Sample, scene: bpy.types.Scene, last: int) -> None:
    """Simulates the frames up to the last one."""
    start = time.process_time()
    for frame in range(1, last + 1):
        scene.frame_set(frame)
    for obj in scene.objects:
        problem = memory.status(obj.tendril.uid) if obj.tendril.enabled else ""
        if problem:
            raise SystemExit(f"{sample.name}, {obj.name}: {problem}")
    print(f"{sample.name}: {(time.process_time() - start) / last:.2f} s of processor time a frame", flush=True)


def render(scene: bpy.types.Scene, work: Path, frames: range, film: bool, samples: int) -> list[Path]:
    """Renders the frames that are not there yet. Returns the paths of all."""
    scene.render.resolution_x, scene.render.resolution_y = FILM if film else STILL
    scene.render.use_persistent_data = True
    cycles = scene.cycles
    cycles.samples, cycles.max_bounces, cycles.use_denoising = samples, 3 if film else 4, True
    # In films of few samples, a good denoiser costs more than the samples.
    for name, value in (("denoising_quality", "FAST" if film else "HIGH"), ("denoising_prefilter", "FAST")):
        if hasattr(cycles, name):
            setattr(cycles, name, value)
    paths = [work / f"{'film' if film else 'still'}_{frame:04d}.png" for frame in frames]
    for number, (path, frame) in enumerate(zip(paths, frames, strict=True)):
        if path.exists():
            continue
        scene.frame_set(frame)
        part = path.with_suffix(".part.png")  # an interrupted render leaves no half a frame
        scene.render.filepath = str(part)
        with quiet():
            bpy.ops.render.render(write_still=True)
        part.rename(path)
        progress((number + 1) / len(frames), "rendering")
    return paths


def save_still(path: Path, target: Path) -> None:
    from PIL import Image  # a development dependency

    Image.open(path).convert("RGB").save(target, quality=86, method=6)


def save_film(paths: list[Path], target: Path, step: int) -> None:
    """An animated WebP whose end fades into its beginning, of the best quality that fits the largest size."""
    from PIL import Image  # a development dependency

    pictures = [Image.open(path).convert("RGB") for path in paths]
    fade = min(FADE, len(pictures) // 4)
    for k in range(fade):
        pictures[k - fade] = Image.blend(pictures[k - fade], pictures[0], (k + 1) / (fade + 1))
    for quality in (80, 70, 60, 45, 30):
        pictures[0].save(target, save_all=True, append_images=pictures[1:], duration=round(1000 * step / 24), loop=0,
                         quality=quality, method=4)  # fmt: skip
        if target.stat().st_size < LARGEST:
            return
    raise SystemExit(f"{target.name} has {target.stat().st_size} bytes, more than {LARGEST}: shorten the film")


if __name__ == "__main__":
    main()
