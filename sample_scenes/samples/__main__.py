"""`python -m tendril.sample_scenes.samples [NAME ...]`: writes the .blend files."""

from __future__ import annotations

import argparse
from pathlib import Path

import bpy

from ... import register, unregister
from ..stage import look_through_camera
from ..studio import quiet
from . import TABLE, Sample

FOLDER = Path(__file__).resolve().parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tendril.sample_scenes.samples", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(TABLE)}; default: all")
    chosen = parser.parse_args()
    for name in chosen.names or TABLE:
        if name not in TABLE:
            parser.error(f"there is no sample {name}: choose from {', '.join(TABLE)}")
        make(TABLE[name])


def make(sample: Sample) -> None:
    """Writes the .blend file. Every layout in it shows the view of the camera."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    register()
    try:
        scene = bpy.context.scene
        scene.name = sample.title
        sample.build()
        scene.frame_set(1)
        look_through_camera(bpy.data.screens, shaded=True)
        with quiet():
            bpy.ops.wm.save_as_mainfile(filepath=str(FOLDER / f"{sample.name}.blend"), compress=True)
    finally:
        unregister()  # some Blender versions crash at exit if a handler is still registered


if __name__ == "__main__":
    main()
