"""What is drawn over the viewport, as points and lines with colours. Plain NumPy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .looks import Look

Array = NDArray[np.float64]

PIN = (1.0, 0.75, 0.1, 1.0)
CONTACT = (1.0, 0.15, 0.4, 1.0)
FIRST_DIRECTOR = (0.95, 0.3, 0.3, 1.0)
SECOND_DIRECTOR = (0.35, 0.85, 0.35, 1.0)
# From pushed together, or turned to the left, over nothing to pulled apart, or turned to the right.
_COLOURS = np.array([[0.1, 0.3, 1.0], [0.2, 0.75, 0.9], [0.75, 0.75, 0.75], [1.0, 0.75, 0.15], [0.9, 0.1, 0.1]])


@dataclass(frozen=True)
class Marks:
    """Single precision, as graphics cards want it."""

    points: NDArray[np.float32]  # (k, 3)
    colours: NDArray[np.float32]  # (k, 4)


def marks(points: Array, colour: tuple[float, ...]) -> Marks:
    return Marks(points.astype(np.float32), np.tile(np.float32(colour), (len(points), 1)))


def coloured_edges(look: Look, name: str, largest: float) -> Marks:
    """A line for each edge, two points each: coloured by what is told, from -largest to largest."""
    colours = np.repeat(colour_of(look.values[name], largest), 2, axis=0)
    return Marks(look.points[look.edges].reshape(-1, 3).astype(np.float32), colours)


def colour_of(values: Array, largest: float) -> NDArray[np.float32]:
    """(k, 4); beyond the range the colour of its end."""
    at = 0.5 + 0.5 * np.clip(values / largest if largest > 0.0 else np.zeros_like(values), -1.0, 1.0)
    stops = np.linspace(0.0, 1.0, len(_COLOURS))
    columns = [np.interp(at, stops, column) for column in _COLOURS.T]
    return np.stack([*columns, np.ones(len(values))], axis=1).astype(np.float32)


def material_frames(look: Look) -> Marks:
    """Two directors at the middle of each edge, half as long as it."""
    tail, head = look.points[look.edges[:, 0]], look.points[look.edges[:, 1]]
    lengths = np.linalg.norm(head - tail, axis=1, keepdims=True)
    tangents = (head - tail) / np.maximum(lengths, 1e-300)
    middle = 0.5 * (tail + head)
    lines = []
    for director in (look.directors, np.cross(tangents, look.directors)):
        lines += [middle, middle + 0.5 * lengths * director]
    points = np.stack(lines, axis=1).reshape(-1, 3)
    colours = np.tile(np.float32([FIRST_DIRECTOR] * 2 + [SECOND_DIRECTOR] * 2), (len(look.edges), 1))
    return Marks(points.astype(np.float32), colours)


def largest_of(looks: list[Look], name: str) -> float:
    """What the ends of the colours stand for, if the user does not say it."""
    return max(
        (float(np.abs(look.values[name]).max(initial=0.0)) for look in looks if name in look.values), default=0.0
    )
