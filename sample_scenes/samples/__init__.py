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
    still: int  # frame of its picture in the gallery
    film: tuple[int, ...]  # first and last frame of its film there, and the step from picture to picture if it is not 2
    hair: bool = False

    def build(self) -> None:
        """Builds the sample in the current scene, which should be empty."""
        package = __package__.rpartition(".")[0] if self.module == "showcase" else __package__
        getattr(importlib.import_module(f".{self.module}", package), self.name)()


TABLE = {
    sample.name: sample
    for sample in (
        Sample("rope_on_hook", "Rope on a Hook", "ropes", "A hemp rope uncoils, falls and meets the floor", 9, (1, 72)),
        Sample("knot", "Knot", "ropes", "An overhand knot is drawn tight by its two ends", 60, (1, 92)),
        Sample("slinky", "Slinky", "ropes", "Three long soft springs hang from hands that move", 27, (1, 84)),
        Sample("telephone_cord", "Telephone Cord", "ropes", "A coiled cord follows a handset", 50, (1, 100)),
        Sample(
            "rope_bridge",
            "Rope Bridge",
            "things",
            "Planks, two ropes, two cliffs, and a box that drops on them",
            20,
            (1, 80),
        ),
        Sample(
            "wrecking_ball",
            "Wrecking Ball",
            "things",
            "A ball on a chain knocks over a wall of rigid bodies",
            24,
            (1, 72),
        ),
        Sample(
            "wilberforce_pendulum",
            "Wilberforce Pendulum",
            "things",
            "Bouncing becomes turning, and bouncing again",
            30,
            (1, 64, 1),  # a period of the bob has only 8 frames
        ),
        Sample(
            "curly_hair",
            "Curly Hair",
            "growing",
            "Springy curls on a head that nods: guides and children",
            30,
            (1, 80),
            hair=True,
        ),
        Sample("ribbon", "Ribbon", "growing", "A flat band that shows its twist", 60, (48, 94)),
        Sample(
            "climbing_vine", "Climbing Vine", "growing", "A shoot grows, curls and takes hold of a pole", 100, (1, 110)
        ),
        Sample("fishing_net", "Fishing Net", "growing", "A mesh as a net, and a ball that rises under it", 38, (1, 90)),
        Sample("tree_in_wind", "Tree in Wind", "growing", "Curves tied to a tree, wind and turbulence", 40, (30, 110)),
        Sample(
            "twist_buckling",
            "Twist Buckling",
            "research",
            "A twisted rod buckles when its ends approach each other",
            100,
            (1, 110),
        ),
        Sample(
            "michell_ring",
            "Michell's Ring",
            "research",
            "Twisted rings leave their plane above a critical twist",
            100,
            (1, 130),
        ),
        Sample(
            "plectoneme", "Plectoneme", "research", "A cord whose ends are turned winds about itself", 100, (1, 110)
        ),
        Sample("perversion", "Perversion", "research", "A tendril winds to the right and to the left", 140, (1, 140)),
        Sample(
            "torque_transducer",
            "Torque Transducer",
            "research",
            "A twisted rod turns two bodies against each other",
            20,
            (1, 80),
        ),
        Sample("open_chain", "Chain of Open Links", "research", "A chain is pulled until its links open", 78, (1, 120)),
        Sample("ringlets", "Ringlets", "research", "Curls of few curved elements bounce", 40, (1, 100)),
        Sample(
            "twisted_cage",
            "Twisted Cage",
            "research",
            "A cage of rods, joined at its poles, is twisted and let back",
            60,
            (1, 120),
        ),
    )
}

# Grooms that are only rendered for the gallery; the package for Blender has no showcase.py.
SHOWCASES = {
    scene.name: scene
    for scene in (
        Sample(
            "long_hair", "Long Hair", "showcase", "Long straight hair on a head that shakes", 15, (9, 92), hair=True
        ),
        Sample("ponytail", "Ponytail", "showcase", "A ponytail on a head that nods and shakes", 24, (1, 96), hair=True),
        Sample("braid", "Braid", "showcase", "A braid on a head that shakes", 36, (1, 96), hair=True),
        Sample("broom", "Broom", "showcase", "A broom sweeps the floor", 24, (1, 96), hair=True),
        Sample("fur", "Fur", "showcase", "Fur on a creature that jumps", 15, (9, 80), hair=True),
    )
}
