"""`python -m tendril.sample_scenes.samples [NAME ...] [--sheets]`: writes the .blend files, and sheets of rendered frames."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import bpy

from ... import register, unregister
from ...addon import memory
from ..studio import quiet, render_sheet
from . import TABLE, Sample

FOLDER = Path(__file__).resolve().parents[1]
SHEETS = FOLDER.parent / "docs" / "gallery"
TILE = (320, 240)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tendril.sample_scenes.samples", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(TABLE)}; default: all")
    parser.add_argument("--sheets", action="store_true", help="also play and render them, for docs/gallery")
    chosen = parser.parse_args()
    for name in chosen.names or TABLE:
        if name not in TABLE:
            parser.error(f"there is no sample {name}: choose from {', '.join(TABLE)}")
        make(TABLE[name], chosen.sheets)


def make(sample: Sample, sheet: bool) -> None:
    """Writes the .blend file, and the sheet of rendered frames if wanted."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    register()
    try:
        scene = bpy.context.scene
        scene.name = sample.title
        sample.build()
        scene.frame_set(1)
        with quiet():
            bpy.ops.wm.save_as_mainfile(filepath=str(FOLDER / f"{sample.name}.blend"), compress=True)
        if sheet:
            start = time.monotonic()
            for frame in range(1, scene.frame_end + 1):
                scene.frame_set(frame)
            seconds = time.monotonic() - start
            for obj in scene.objects:
                problem = memory.status(obj.tendril.uid) if obj.tendril.enabled else ""
                if problem:
                    raise SystemExit(f"{sample.name}, {obj.name}: {problem}")
            SHEETS.mkdir(parents=True, exist_ok=True)
            moments = sample.moments or [1 + round(k * (scene.frame_end - 1) / 3) for k in range(4)]
            render_sheet(scene, SHEETS / f"{sample.name}.png", moments, TILE)
            print(f"{sample.name}: {scene.frame_end} frames in {seconds:.1f} s")
    finally:
        unregister()  # some Blender versions crash at exit if a handler is still registered


if __name__ == "__main__":
    main()
