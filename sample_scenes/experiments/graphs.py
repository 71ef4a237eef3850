"""Nets of the experiments of Spillmann and Teschner 2009: stiffness, shapes and drawing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import Net, Stiffness
from ...core.errors import Array
from ...core.models.elastic.topology import find_chains
from .outcome import BLUE, Tube

DENSITY = 1300.0  # kg/m3, in all experiments of the paper
RADIUS = 0.01  # m


def as_printed(young: float, shear: float, stretching: float, radius: float = RADIUS) -> Stiffness:
    """Stiffness and inertia by the formulas printed in the paper, (11) and below (21), which lack a factor r^2."""
    area = math.pi * radius**2
    bend = young * area / 4.0
    return Stiffness(
        stretch=stretching * area,
        bend_1=bend,
        bend_2=bend,
        twist=shear * area / 2.0,
        mass_per_length=DENSITY * area,
        inertia_per_length=DENSITY * area / 2.0,
    )


def grid(columns: int, rows: int, between: int, width: float) -> tuple[Array, Array]:
    """Points and edges of a flat net in the plane z = 0 about the origin, with `between` segments between neighbouring knots."""
    step = width / (columns - 1)
    points = [(i * step, j * step, 0.0) for j in range(rows) for i in range(columns)]
    edges: list[tuple[int, int]] = []
    for j in range(rows):
        for i in range(columns):
            for di, dj in ((1, 0), (0, 1)):
                if i + di < columns and j + dj < rows:
                    start = points[j * columns + i]
                    end = (j + dj) * columns + i + di
                    add_member(points, edges, j * columns + i, end, start, points[end], between)
    x = np.array(points)
    return x - 0.5 * (x.max(axis=0) + x.min(axis=0)), np.array(edges)


def add_member(
    points: list[tuple[float, float, float]],
    edges: list[tuple[int, int]],
    first: int,
    last: int,
    start: tuple[float, float, float],
    end: tuple[float, float, float],
    segments: int,
) -> None:
    """Adds a straight member between two existing points."""
    at = first
    for k in range(1, segments):
        s = k / segments
        points.append(tuple((1.0 - s) * a + s * b for a, b in zip(start, end, strict=True)))  # type: ignore[arg-type]
        edges.append((at, len(points) - 1))
        at = len(points) - 1
    edges.append((at, last))


def tubes(
    frame: Any, net_id: int, net: Net, colour: str = BLUE, radius: float | None = None, broken: Any = ()
) -> list[Tube]:
    """Tubes of a net in a frame, one for each chain."""
    degree = np.bincount(net.edges.ravel(), minlength=net.vertex_count)
    chains, _ = find_chains(net.edges, degree >= 3)
    x = frame.positions(net_id)
    drawn = []
    for chain in chains:
        loop = chain.vertices[0] == chain.vertices[-1]
        points = x[chain.vertices[:-1] if loop else chain.vertices]
        drawn.append(Tube(points, float(net.radii.max()) if radius is None else radius, colour, closed=loop))
    return drawn
