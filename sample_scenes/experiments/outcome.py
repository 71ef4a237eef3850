"""Result of an experiment: measured numbers with expected values, moments to be drawn, and plots."""

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
    """A measured quantity and what the paper or a formula predicts for it."""

    name: str
    value: float | int | bool | str
    unit: str = ""
    expected: str = ""  # in words; empty: nothing is expected, the value is only reported
    within: bool | None = None  # whether the value is as expected; None: it is not compared

    @staticmethod
    def near(name: str, value: float, expected: float, tolerance: float, unit: str = "", says: str = "") -> Number:
        """Relative `tolerance`: 0.01 is one per cent. `says` names where the expected value comes from."""
        text = f"{formatted(expected)} ± {100.0 * tolerance:g} %"
        return Number(
            name, value, unit, _with_source(text, says), bool(abs(value - expected) <= tolerance * abs(expected))
        )

    @staticmethod
    def between(name: str, value: float, low: float, high: float, unit: str = "", says: str = "") -> Number:
        """Bounds are inclusive and may be infinite."""
        if math.isinf(high):
            text = f"at least {formatted(low)}"
        else:
            text = f"at most {formatted(high)}" if math.isinf(low) else f"{formatted(low)} to {formatted(high)}"
        return Number(name, value, unit, _with_source(text, says), bool(low <= value <= high))

    @staticmethod
    def equal(name: str, value: int | bool | str, expected: int | bool | str, unit: str = "", says: str = "") -> Number:
        """Exact comparison, for counts, flags and names."""
        return Number(name, value, unit, _with_source(formatted(expected), says), bool(value == expected))

    @property
    def failed(self) -> bool:
        return self.within is False

    @property
    def measured(self) -> str:
        return f"{formatted(self.value)} {self.unit}".strip()


def formatted(value: float | int | bool | str) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)


def _with_source(text: str, says: str) -> str:
    return f"{text} ({says})" if says else text


@dataclass(frozen=True, eq=False)
class Tube:
    """A drawn rod: a tube with round or elliptic section about a polyline."""

    points: ArrayLike  # (n, 3)
    radius: ArrayLike  # scalar, (m,) per edge, or (m, 2) half axes along the first and the second director
    colour: str = BLUE
    closed: bool = False
    directors: ArrayLike | None = None  # (m, 3) first director of each edge; half of the surface is coloured `stripe`
    stripe: str = CREAM

    @staticmethod
    def of(frame: Any, rod_id: int, rod: Rod, colour: str = BLUE, *, radius: float | None = None, **more: Any) -> Tube:
        """A rod of a simulation in a frame, with its twist. `radius` replaces the rod's own radius in the drawing."""
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
    """A drawn collider."""

    shape: Any  # Plane, Sphere, Capsule, Box, Cylinder or Mesh
    colour: str = GREY


@dataclass(frozen=True)
class Camera:
    """Orthographic camera that looks from the direction `eye`. The section shown is fitted to the rods unless it is given."""

    eye: tuple[float, float, float] = (0.5, -1.0, 0.45)
    up: tuple[float, float, float] = (0.0, 0.0, 1.0)
    centre: tuple[float, float, float] | None = None  # of the picture
    height: float | None = None  # m, height of the section that is shown


@dataclass(frozen=True, eq=False)
class Moment:
    title: str
    tubes: Sequence[Tube]
    solids: Sequence[Solid] = ()
    camera: Camera | None = None  # default: the camera of the outcome, shared by all such moments


@dataclass(frozen=True, eq=False)
class Series:
    x: ArrayLike
    y: ArrayLike
    label: str = ""
    style: str = "-"  # as in matplotlib: "-", "--", "o", "o-"
    colour: str | None = None


@dataclass(frozen=True, eq=False)
class Plot:
    title: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    logarithmic: str = ""  # logarithmic axes: "x", "y" or "xy"


@dataclass(frozen=True, eq=False)
class Outcome:
    numbers: Sequence[Number]
    moments: Sequence[Moment]
    plots: Sequence[Plot] = ()
    camera: Camera = dataclasses.field(default_factory=Camera)
    columns: int = 4  # moments per row
    caption: str = ""  # one or two sentences

    @property
    def good(self) -> bool:
        return not any(number.failed for number in self.numbers)
