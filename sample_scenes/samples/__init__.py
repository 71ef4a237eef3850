"""Sample scenes. A sample is a function that builds it in the current scene, and a row in the table below.

`python -m tendril.sample_scenes.samples` writes the .blend files, where the bpy module is installed. The add-on builds the samples
in a new scene.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    name: str  # of the function and of the file
    title: str
    module: str
    shows: str
    moments: tuple[int, ...] = ()  # frames of its sheet; default: four at equal intervals

    def build(self) -> None:
        """Builds the sample in the current scene, which should be empty."""
        getattr(importlib.import_module(f".{self.module}", __package__), self.name)()


TABLE = {
    sample.name: sample
    for sample in (
        Sample(
            "rope_on_hook",
            "Rope on a Hook",
            "ropes",
            "A hemp rope uncoils, falls and meets the floor",
            (1, 8, 15, 96),
        ),
        Sample("knot", "Knot", "ropes", "An overhand knot is drawn tight by its two ends"),
        Sample("slinky", "Slinky", "ropes", "A long soft spring hangs from a hand that moves"),
        Sample("telephone_cord", "Telephone Cord", "ropes", "A coiled cord follows a handset"),
        Sample("rope_bridge", "Rope Bridge", "things", "Planks, two ropes, two posts, and a box that drops on them"),
        Sample("wrecking_ball", "Wrecking Ball", "things", "A ball on a cable knocks over a wall of rigid bodies"),
        Sample(
            "wilberforce_pendulum",
            "Wilberforce Pendulum",
            "things",
            "Bouncing becomes turning, and bouncing again",
            (5, 9, 60, 64),
        ),
        Sample(
            "curly_hair",
            "Curly Hair",
            "growing",
            "Springy curls on a head that nods: guides and children",
        ),
        Sample("ribbon", "Ribbon", "growing", "A flat band that shows its twist", (1, 56, 84, 100)),
        Sample("climbing_vine", "Climbing Vine", "growing", "A shoot grows, curls and takes hold of a pole"),
        Sample("fishing_net", "Fishing Net", "growing", "A mesh as a net, and a ball that rises under it"),
        Sample("tree_in_wind", "Tree in Wind", "growing", "Curves tied to a tree, wind and turbulence"),
    )
}
