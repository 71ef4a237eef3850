"""Draws the picture of all looks: `python -m tendril.sample_scenes.looks_picture docs/looks.webp`."""

from __future__ import annotations

import math
import os
import sys
import tempfile

os.environ.setdefault("BLENDER_USER_RESOURCES", tempfile.mkdtemp(prefix="tendril-looks-"))

import bpy
import numpy as np
import tendril
from tendril.addon import looks
from tendril.addon.bridge.quick_shapes import make_curve

THICKNESS = {"CABLE": 0.03, "BARBED": 0.012}  # m; others are twice as thick as a cable
LENGTH, SPACING = 1.2, 0.155  # m


def main(path: str) -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    tendril.register()
    scene = bpy.context.scene
    s = np.linspace(0.0, 1.0, 40)
    for row, name in enumerate(name for name in looks.LOOKS if name != looks.NONE):
        height = 0.05 * np.sin(6.0 * s) - SPACING * row + 0.46
        obj = make_curve(name, np.stack([LENGTH * (s - 0.5), np.zeros(len(s)), height], axis=1), scene)
        obj.data.splines[0].points.foreach_set("tilt", (3.0 * s).astype(np.float32))
        obj.tendril.thickness = THICKNESS.get(name, 0.06)
        obj.tendril.look = name
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.rotation_euler = (0.0, -2.15, 0.0), (0.5 * math.pi, 0.0, 0.0)
    scene.collection.objects.link(camera)
    scene.camera = camera
    scene.render.engine = "BLENDER_WORKBENCH"
    shading = scene.display.shading
    shading.color_type, shading.light, shading.show_cavity = "MATERIAL", "STUDIO", True
    scene.render.resolution_x, scene.render.resolution_y = 960, 800
    scene.render.image_settings.file_format, scene.render.image_settings.quality = "WEBP", 80
    scene.render.filepath = os.path.abspath(path)
    bpy.ops.render.render(write_still=True)
    tendril.unregister()


if __name__ == "__main__":
    main(sys.argv[1])
