"""What an experiment gives: numbers, held against what is known, and moments to be drawn."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...core.describe.rod import Rod

BLUE, ORANGE, GREEN, RED, VIOLET, CREAM, GREY = (
    "#3d7ebf", "#e8853a", "#4f9d69", "#c8473f", "#7d5ba6", "#f0e2c4", "#b9bec6",
)  # fmt: skip


@dataclass(frozen=True)
class Number:
    """Something measured, and what the paper or a formula says about it."""

    name: str
    value: float | int | bool | str
    unit: str = ""
    expected: str = ""  # in words; empty: nothing is known, it is only told
    within: bool = True  # whether it is as expected

    @staticmethod
    def near(name: str, value: float, expected: float, tolerance: float, unit: str = "", says: str = "") -> Number:
        """`tolerance` is a part of what is expected: 0.01 is one per cent. `says` is where the expectation comes from."""
        text = f"{shown(expected)} ± {100.0 * tolerance:g} %"
        return Number(name, value, unit, _because(text, says), abs(value - expected) <= tolerance * abs(expected))

    @staticmethod
    def between(name: str, value: float, low: float, high: float, unit: str = "", says: str = "") -> Number:
        """Bounds may be infinite."""
        if math.isinf(high):
            text = f"at least {shown(low)}"
        else:
            text = f"at most {shown(high)}" if math.isinf(low) else f"{shown(low)} to {shown(high)}"
        return Number(name, value, unit, _because(text, says), low <= value <= high)

    @staticmethod
    def equal(name: str, value: int | bool | str, expected: int | bool | str, unit: str = "", says: str = "") -> Number:
        """Counts, yes and no, names."""
        return Number(name, value, unit, _because(shown(expected), says), value == expected)

    @property
    def measured(self) -> str:
        return f"{shown(self.value)} {self.unit}".strip()


def shown(value: float | int | bool | str) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)


def _because(text: str, says: str) -> str:
    return f"{text} ({says})" if says else text


@dataclass(frozen=True, eq=False)
class Tube:
    """A rod as it is drawn: round, or elliptic, about a polyline."""

    points: ArrayLike  # (n, 3)
    radius: ArrayLike  # one, (m,) per edge, or (m, 2) half axes towards the first and the second director
    colour: str = BLUE
    closed: bool = False
    directors: ArrayLike | None = None  # (m, 3) first director of each edge: half of the surface gets the other colour
    stripe: str = CREAM

    @staticmethod
    def of(frame: Any, rod_id: int, rod: Rod, colour: str = BLUE, *, radius: float | None = None, **more: Any) -> Tube:
        """A rod of a simulation in a frame, with its twist. `radius`: to be drawn with another than its own."""
        return Tube(
            frame.positions(rod_id),
            rod.radii if radius is None else radius,
            colour,
            rod.closed,
            frame.directors(rod_id),
            **more,
        )


@dataclass(frozen=True, eq=False)
class Solid:
    """A collider as it is drawn."""

    shape: Any  # Plane, Sphere, Capsule, Box, Cylinder or Mesh
    colour: str = GREY


@dataclass(frozen=True)
class Camera:
    """Looks without perspective from `eye`, a direction; what it shows is fitted to the rods unless told."""

    eye: tuple[float, float, float] = (0.5, -1.0, 0.45)
    up: tuple[float, float, float] = (0.0, 0.0, 1.0)
    centre: tuple[float, float, float] | None = None  # of the picture
    height: float | None = None  # m, that the picture shows


@dataclass(frozen=True, eq=False)
class Moment:
    title: str
    tubes: Sequence[Tube]
    solids: Sequence[Solid] = ()
    camera: Camera | None = None  # its own; else all moments share the outcome's


@dataclass(frozen=True, eq=False)
class Series:
    x: ArrayLike
    y: ArrayLike
    label: str = ""
    style: str = "-"  # as matplotlib has it: "-", "--", "o", "o-"
    colour: str | None = None


@dataclass(frozen=True, eq=False)
class Plot:
    title: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    logarithmic: str = ""  # axes that are: "x", "y" or "xy"


@dataclass(frozen=True, eq=False)
class Outcome:
    numbers: Sequence[Number]
    moments: Sequence[Moment]
    plots: Sequence[Plot] = ()
    camera: Camera = dataclasses.field(default_factory=Camera)
    columns: int = 4  # moments beside each other
    caption: str = ""  # what the picture shows, in a sentence or two

    @property
    def good(self) -> bool:
        return all(number.within for number in self.numbers)
