"""A nylon rope of two metres, pinned at one end and released from the horizontal.

python -m tendril run sample_scenes/hanging_rope.py
python -m tendril bake sample_scenes/hanging_rope.py --frames 1 120 --cache rope.cache
python -m tendril export rope.cache rope.npz --scene sample_scenes/hanging_rope.py
"""

from __future__ import annotations

import numpy as np
from tendril.core import Material, Rod, Scene


def build() -> Scene:
    points = np.zeros((41, 3))
    points[:, 0] = np.linspace(0.0, 2.0, 41)
    rope = Rod.from_points(points, radius=0.006, material=Material.preset("nylon rope"))
    scene = Scene(gravity=(0.0, 0.0, -9.81), air_density=1.2)
    scene.pin(scene.add(rope), "start")
    return scene
