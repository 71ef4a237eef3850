"""`python -m tendril.sample_scenes.showcase [NAME ...]`: renders stills and films of hair for docs/gallery."""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import bpy
import numpy as np

from .. import register, unregister
from ..addon import memory
from .grooms import DOWN, SKIN, curled, grow, hair_material, make_hair, monkey, scalp, scatter
from .samples.building import collide, move
from .studio import Light, add_camera, add_lights, quiet

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "gallery"
STILL, FILM = (1280, 720), (400, 225)


def _light(frames: int, eye: tuple[float, float, float], target: tuple[float, float, float], lens: float) -> None:
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, frames
    add_lights(
        scene,
        Light((-0.8, -1.0, 2.4), 26.0, 0.5, (1.0, 0.92, 0.82)),
        Light((1.2, 0.9, 1.9), 45.0, 0.6, (0.75, 0.85, 1.0)),
        sky=(0.11, 0.12, 0.14),
    )
    add_camera(scene, eye, target, lens)


def long_hair() -> None:
    """Long straight hair on a head that shakes: 12,000 strands, 200 guides."""
    head = collide(monkey(0.18, (0.0, 0.0, 1.4), SKIN))
    roots = scatter(head, 12_000, scalp)
    rng = np.random.default_rng(1)
    lengths = 0.2 * rng.uniform(0.75, 1.0, len(roots.x))
    out = roots.normal + 0.12 * rng.normal(size=roots.normal.shape)
    # Away from the face and down, around the head.
    centre = np.array([0.0, 0.02, 0.0])

    def direction(x: np.ndarray, s: float) -> np.ndarray:
        away = x - centre
        away[:, 2] *= 0.4
        away /= np.linalg.norm(away, axis=1, keepdims=True)
        side = np.stack([np.sign(roots.x[:, 0]) * 0.35, np.full(len(x), 0.5), np.zeros(len(x))], axis=1)
        way = max(0.0, 1.0 - 4.0 * s) * 1.2 * out + 0.55 * (1.0 - s) * away + min(1.0, 2.5 * s) * 1.3 * DOWN
        return way + max(0.0, 0.6 - 2.0 * s) * side

    strands = grow(roots, lengths, 20, direction)
    make_hair("Hair", head, strands, hair_material("Hair", 0.55, 0.7), 7e-5, 200, hairs=50)
    turns = [(1 + 4 * k, (0.12 * math.sin(0.9 * k), 0.0, 0.55 * math.sin(0.75 * k))) for k in range(16)]
    move(head, "rotation_euler", turns)
    bpy.context.scene.tendril.air_density = 1.2
    _light(49, (0.5, -0.7, 1.5), (0.02, 0.02, 1.385), 55.0)


def curls() -> None:
    """Springy curls on a head that nods: 10,000 strands, 160 guides."""
    head = collide(monkey(0.18, (0.0, 0.0, 1.4), SKIN))
    roots = scatter(head, 10_000, scalp)
    strands = curled(roots, 0.09, 32)
    make_hair("Curls", head, strands, hair_material("Curls", 0.75, 0.5), 7e-5, 160, hairs=30)
    nods = [(1 + 4 * k, (0.3 * math.sin(1.3 * k), 0.0, 0.2 * math.sin(0.6 * k))) for k in range(16)]
    move(head, "rotation_euler", nods)
    bpy.context.scene.tendril.air_density = 1.2
    _light(49, (0.44, -0.6, 1.5), (0.0, 0.02, 1.41), 58.0)


def fur() -> None:
    """Short fur on a creature that jumps: 24,000 strands, 300 guides."""
    body = monkey(0.18, (0.0, 0.0, 1.4), (0.3, 0.2, 0.14))

    def covered(x: np.ndarray, normal: np.ndarray) -> np.ndarray:
        eyes = np.hypot(np.abs(x[:, 0]) - 0.023, x[:, 2] - 0.016) < 0.017
        muzzle = (np.hypot(x[:, 0], x[:, 2] + 0.03) < 0.03) & (x[:, 1] < -0.02)
        return ~((eyes | muzzle) & (x[:, 1] < 0.0))

    roots = scatter(body, 24_000, covered)
    rng = np.random.default_rng(3)
    back = np.array([0.0, 0.8, -0.45])
    noise = 0.25 * rng.normal(size=roots.normal.shape)
    strands = grow(
        roots,
        0.022 * rng.uniform(0.6, 1.0, len(roots.x)),
        8,
        lambda x, s: roots.normal + (0.3 + 1.2 * s) * back + noise,
    )
    make_hair("Fur", body, strands, hair_material("Fur", 0.3, 0.9, 0.4), 6e-5, 300, radius=1.5e-5, hairs=10)
    jumps = [(1 + 3 * k, (0.0, 0.0, 1.37 + 0.09 * abs(math.sin(math.pi * k / 4.0)))) for k in range(17)]
    move(body, "location", jumps)
    bpy.context.scene.tendril.air_density = 1.2
    _light(49, (0.4, -0.55, 1.52), (0.0, 0.0, 1.425), 52.0)


class Showcase(NamedTuple):
    build: Callable[[], None]
    still: int  # frame


SHOWCASES = {"long_hair": Showcase(long_hair, 30), "curls": Showcase(curls, 22), "fur": Showcase(fur, 20)}


def _render(scene: bpy.types.Scene, path: Path, size: tuple[int, int], samples: int) -> None:
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.max_bounces, scene.cycles.use_denoising = samples, 6, True
    scene.render.resolution_x, scene.render.resolution_y = size
    scene.render.use_persistent_data = True
    scene.cycles_curves.subdivisions = 2
    scene.view_settings.view_transform = "AgX"
    scene.view_settings.look = "AgX - Medium High Contrast"
    scene.render.filepath = str(path)
    with quiet():
        bpy.ops.render.render(write_still=True)


def make(name: str, film: bool, preview: bool) -> None:
    from PIL import Image  # a development dependency

    bpy.ops.wm.read_factory_settings(use_empty=True)
    register()
    try:
        scene, one = bpy.context.scene, SHOWCASES[name]
        one.build()
        last, start = (scene.frame_end if film else one.still), time.process_time()
        for frame in range(1, last + 1):
            scene.frame_set(frame)
        for obj in scene.objects:
            problem = memory.status(obj.tendril.uid) if obj.tendril.enabled else ""
            if problem:
                raise SystemExit(f"{name}, {obj.name}: {problem}")
        print(f"{name}: {(time.process_time() - start) / last:.2f} s of processor time a frame", flush=True)
        scene.frame_set(one.still)
        FOLDER.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            still = Path(folder) / "still.png"
            _render(scene, still, (640, 360) if preview else STILL, 8 if preview else 16)
            Image.open(still).convert("RGB").save(FOLDER / f"{name}.webp", quality=88)
            if film:
                pictures = []
                for frame in range(2, last + 1, 2):
                    scene.frame_set(frame)
                    path = Path(folder) / f"{frame}.png"
                    _render(scene, path, FILM, 12)
                    pictures.append(Image.open(path).convert("RGB"))
                pictures += pictures[-2:0:-1]  # forwards and backwards: a loop
                film_path = FOLDER / f"{name}_film.webp"
                pictures[0].save(
                    film_path, save_all=True, append_images=pictures[1:], duration=83, loop=0, quality=70, method=4
                )
    finally:
        unregister()  # some Blender versions crash at exit if a handler is still registered


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tendril.sample_scenes.showcase", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(SHOWCASES)}; default: all")
    parser.add_argument("--film", action="store_true", help="also render a short film of each")
    parser.add_argument("--preview", action="store_true", help="small and noisy stills")
    chosen = parser.parse_args()
    for name in chosen.names or SHOWCASES:
        if name not in SHOWCASES:
            parser.error(f"there is no showcase {name}: choose from {', '.join(SHOWCASES)}")
        make(name, chosen.film, chosen.preview)


if __name__ == "__main__":
    main()
