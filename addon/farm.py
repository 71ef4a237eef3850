"""Tasks of a render farm: bake a file once, then render its frames in chunks on any machine.

    blender -b shot.blend --python-expr EXPRESSION -- bake
    blender -b shot.blend --python-expr EXPRESSION -- render --frames 1-10 --output //frames/####

The bake is the disk cache next to the .blend file. A manifest next to it has its checksum, so that a render on another
machine verifies what arrived before it starts: a cache that is missing, cut off or of another file is refused, and nothing is
rendered.
`packaging/farm/` has templates for Open Job Description and Flamenco.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import bpy

from ..core import TendrilError
from ..core.compile.version import VERSION
from ..core.store.files import read_json
from . import live, memory
from .baking.errors import BakeError
from .baking.simulating import bake, plan
from .bridge.rods import rods_in
from .bridge.scenes import range_of
from .cache_paths import path_of

MOST_FRAMES = 1_000_000


def main(words: Sequence[str] | None = None) -> None:
    """Runs the task that is named after `--`. Ends Blender with code 2 and one sentence if that is impossible."""
    if words is None:
        words = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
    try:
        chosen = _parser().parse_args(words)
        scene = bpy.context.scene
        if chosen.task == "bake":
            _bake(scene)
        else:
            numbers = frame_numbers(chosen.frames)
            verify(scene, numbers)
            _render(scene, numbers, chosen.output)
    except (TendrilError, BakeError) as error:
        print(f"tendril: {error}", file=sys.stderr, flush=True)
        raise SystemExit(2) from None


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise TendrilError("farm task", " ".join(sys.argv[-3:]), message)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="tendril farm", add_help=False)
    tasks = parser.add_subparsers(dest="task", required=True, parser_class=_Parser)
    tasks.add_parser("bake", add_help=False)
    render = tasks.add_parser("render", add_help=False)
    render.add_argument("--frames", required=True)
    render.add_argument("--output")
    return parser


def frame_numbers(text: str) -> list[int]:
    """`1-4,8` is [1, 2, 3, 4, 8]."""
    numbers: list[int] = []
    for word in text.split(","):
        first, dash, last = word.strip().partition("-")
        try:
            span = range(int(first), int(last if dash else first) + 1)
        except ValueError:
            span = range(0)
        if not span or len(span) > MOST_FRAMES:
            raise TendrilError("--frames", text, "write frame numbers such as 1-10 or 1,4,9")
        numbers += span
    return numbers


def manifest_path(cache: Path) -> Path:
    return cache.with_name(cache.name + ".manifest.json")


def _cache_of(scene: bpy.types.Scene) -> Path:
    path = path_of(scene)
    if path is None:
        raise TendrilError("file", "not saved", "a farm works on .blend files: save it first")
    return path


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while piece := file.read(1 << 22):
                digest.update(piece)
    except OSError as error:
        raise TendrilError("cache", str(path), f"it can't be read ({(error.strerror or str(error)).lower()})") from None
    return digest.hexdigest()


def _bake(scene: bpy.types.Scene) -> None:
    path = _cache_of(scene)
    shared = scene.tendril
    if shared.disk_baked or _is_baked(scene, path):
        if not manifest_path(path).exists():
            _write_manifest(scene, path)
        verify(scene, list(range_of(scene)))
        print(f"{path} is complete.", flush=True)
        return
    shared.bake_to = "DISK"
    live.give_unique_ids(rods_in(bpy.data.objects))
    objects = [obj for obj in rods_in(scene.objects) if not obj.tendril.baked]
    planned = plan(objects, scene)
    told = -1
    for share in bake(planned.uids, scene.name, planned.on_disk):
        if int(100 * share) > told:
            told = int(100 * share)
            print(f"openjd_progress: {told}", flush=True)  # understood by Open Job Description; a log line elsewhere
    memory.forget(scene)  # closes the file
    _write_manifest(scene, path)
    print(f"{path}: frames {range_of(scene)[0]} to {range_of(scene)[-1]}", flush=True)


def _write_manifest(scene: bpy.types.Scene, path: Path) -> None:
    from ..sweep.variants import write_text

    frames = range_of(scene)
    contents = {
        "version": VERSION,
        "blend": _digest(Path(bpy.data.filepath)),
        "frames": [frames[0], frames[-1]],
        "cache": _digest(path),
        "size": path.stat().st_size,
    }
    write_text(manifest_path(path), json.dumps(contents, indent=1) + "\n")


def _is_baked(scene: bpy.types.Scene, path: Path) -> bool:
    try:
        verify(scene, list(range_of(scene)))
    except TendrilError:
        return False
    return path.exists()


def verify(scene: bpy.types.Scene, numbers: Sequence[int]) -> None:
    """Raises TendrilError unless the cache has arrived complete, belongs to this file, and holds these frames."""
    path = _cache_of(scene)
    manifest = _read_manifest(path)
    if not path.exists():
        raise TendrilError("cache", str(path), "it did not arrive: bake first, and copy it along with the .blend file")
    if path.stat().st_size != manifest["size"] or _digest(path) != manifest["cache"]:
        raise TendrilError("cache", str(path), "it is not what was baked: copy it again, or bake again")
    if manifest["version"] != VERSION:
        cure = f"it was baked with Tendril {manifest['version']} and this is {VERSION}: install the same everywhere"
        raise TendrilError("cache", str(path), cure)
    if manifest["blend"] != _digest(Path(bpy.data.filepath)):
        raise TendrilError("cache", str(path), "the .blend file was changed after the bake: bake again")
    first, last = manifest["frames"]
    outside = [number for number in numbers if not first <= number <= last]
    if outside:
        raise TendrilError("--frames", outside[0], f"the cache holds frames {first} to {last}")


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        read = read_json(manifest_path(path))
        first, last = read["frames"]
        return {
            "version": str(read["version"]),
            "blend": str(read["blend"]),
            "frames": (int(first), int(last)),
            "cache": str(read["cache"]),
            "size": int(read["size"]),
        }
    except OSError:
        raise TendrilError("cache", str(path), "it has no manifest: bake first, and copy it along") from None
    except (ValueError, KeyError, TypeError, OverflowError):
        raise TendrilError("cache", str(manifest_path(path)), "it is damaged: copy it again, or bake again") from None


def _render(scene: bpy.types.Scene, numbers: Sequence[int], output: str | None) -> None:
    """Renders frames of the verified bake. Only this process sees it as baked; the .blend file stays as it is."""
    if scene.render.is_movie_format:
        cure = "chunks are rendered on several machines: choose an image format"
        raise TendrilError("file format", scene.render.image_settings.file_format, cure)
    scene.tendril.disk_baked = True
    memory.forget(scene)
    pattern = scene.render.filepath if output is None else output
    for done, number in enumerate(numbers):
        scene.frame_set(number)
        # The range of frames stays as it is: the start frame is where the simulation begins.
        scene.render.filepath = pattern
        scene.render.filepath = scene.render.frame_path(frame=number)
        bpy.ops.render.render(write_still=True)
        if memory.not_rendered.get(scene.session_uid):
            raise TendrilError("frame", number, "it was rendered without simulated rods: bake again")
        print(f"openjd_progress: {100 * (done + 1) // len(numbers)}", flush=True)
