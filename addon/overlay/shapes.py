"""Geometry of the viewport overlay: coloured points and line segments as NumPy arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .snapshots import Snapshot

Array = NDArray[np.float64]

PIN = (1.0, 0.75, 0.1, 1.0)
CONTACT = (1.0, 0.15, 0.4, 1.0)
FIRST_DIRECTOR = (0.95, 0.3, 0.3, 1.0)
SECOND_DIRECTOR = (0.35, 0.85, 0.35, 1.0)
# Diverging colour scale from the negative (compression, left-handed twist) over zero to the positive end.
_COLOURS = np.array([[0.1, 0.3, 1.0], [0.2, 0.75, 0.9], [0.75, 0.75, 0.75], [1.0, 0.75, 0.15], [0.9, 0.1, 0.1]])


@dataclass(frozen=True)
class ColouredVertices:
    """Vertex buffer of points or line segments, in single precision for the GPU."""

    points: NDArray[np.float32]  # (k, 3)
    colours: NDArray[np.float32]  # (k, 4)


def uniformly_coloured(points: Array, colour: tuple[float, ...]) -> ColouredVertices:
    """Points (k, 3) in a single RGBA colour."""
    return ColouredVertices(points.astype(np.float32), np.tile(np.float32(colour), (len(points), 1)))


def coloured_edges(snapshot: Snapshot, name: str, largest: float) -> ColouredVertices:
    """One line segment per edge, coloured by the named quantity on the scale from -largest to largest."""
    colours = np.repeat(colour_of(snapshot.values[name], largest), 2, axis=0)
    return ColouredVertices(snapshot.points[snapshot.edges].reshape(-1, 3).astype(np.float32), colours)


def colour_of(values: Array, largest: float) -> NDArray[np.float32]:
    """RGBA colours (k, 4) of values (k,). Values out of range get the colour at the end of the scale."""
    position = 0.5 + 0.5 * np.clip(values / largest if largest > 0.0 else np.zeros_like(values), -1.0, 1.0)
    stops = np.linspace(0.0, 1.0, len(_COLOURS))
    columns = [np.interp(position, stops, column) for column in _COLOURS.T]
    return np.stack([*columns, np.ones(len(values))], axis=1).astype(np.float32)


def material_frames(snapshot: Snapshot) -> ColouredVertices:
    """The two material directors at the midpoint of each edge, drawn with half the edge length."""
    tail, head = snapshot.points[snapshot.edges[:, 0]], snapshot.points[snapshot.edges[:, 1]]
    lengths = np.linalg.norm(head - tail, axis=1, keepdims=True)
    tangents = (head - tail) / np.maximum(lengths, 1e-300)
    middle = 0.5 * (tail + head)
    lines = []
    for director in (snapshot.directors, np.cross(tangents, snapshot.directors)):
        lines += [middle, middle + 0.5 * lengths * director]
    points = np.stack(lines, axis=1).reshape(-1, 3)
    colours = np.tile(np.float32([FIRST_DIRECTOR] * 2 + [SECOND_DIRECTOR] * 2), (len(snapshot.edges), 1))
    return ColouredVertices(points.astype(np.float32), colours)


def largest_magnitude(snapshots: list[Snapshot], name: str) -> float:
    """Automatic range of the colour scale: the largest magnitude of the named quantity over all rods."""
    return max(
        (float(np.abs(one.values[name]).max(initial=0.0)) for one in snapshots if name in one.values), default=0.0
    )
