"""Nets as the user describes them: points, segments between any two of them, their sections. Validated on construction.

Where two segments meet, the net bends and twists as a rod does; where three or more meet, it has a stiff joint that transmits
moments between all of them. Nets may have loops, free ends and several parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import (
    LARGEST_SIZE,
    SMALLEST_SIZE,
    Array,
    TendrilError,
    array,
    dimensions,
    directions,
    not_negative,
    number,
    positive,
    whole,
)
from .joining import join_curves
from .material import SECTIONS, Circle, Material, Section, Stiffness
from .recipe import remembers
from .rod import LEAST_CHI, check_and_freeze, given_stiffness, section_stiffness

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Corde:
    """Parameters of the explicit model `corde` beyond stiffness, named as in Spillmann and Teschner 2009."""

    alpha: float = 0.01  # factor on the rotational inertia of the segments' frames across the tangent
    kappa: float | None = None  # N, of the constraint that aligns frames with segments; None: the stretching stiffness
    gamma_t: float = 0.0  # kg m/s, friction of stretching
    gamma_r: float = 0.0  # kg m3/s, friction of bending and twisting
    inertia: float | None = (
        None  # kg m2 per m of the frames across the tangent before scaling; None: that of the section
    )
    step: float | None = None  # s, longest step of the model; None: the longest stable one
    substeps: int | None = None  # steps of the frames per step; None: one, or as few as are stable in a given step

    def __post_init__(self) -> None:
        positive("alpha", self.alpha)
        not_negative("gamma_t", self.gamma_t)
        not_negative("gamma_r", self.gamma_r)
        if self.substeps is not None:
            whole("substeps", self.substeps, 1, 1_000_000)
        for name in ("kappa", "inertia", "step"):
            if getattr(self, name) is not None:
                positive(name, getattr(self, name))


@dataclass(frozen=True, eq=False)
class Net:
    """An elastic net. Create it with `Net.from_edges` or `Net.from_curves`; all arrays are read-only."""

    points: Array  # (n, 3) m, initial positions
    edges: Ints  # (m, 2) points at the ends of the segments
    rest_points: Array  # (n, 3) the natural shape
    rest_lengths: Array  # (m,)
    radii: Array  # (m, 2) m, semi-axes of the sections
    stretch: Array  # (m,) EA, N
    bend: Array  # (m, 2) EI towards the first and the second director, N m2
    twist_stiffness: Array  # (m,) GJ, N m2
    mass_per_length: Array  # (m,) kg/m
    inertia_per_length: Array  # (m,) kg m
    damping_time: float  # s, Kelvin-Voigt
    swing_time: float  # s, see `Material`
    director: Array | None  # (m, 3) first director of each segment in the natural shape; None: any
    joint_stiffness: Array  # (n,) factor on the bending and twisting stiffness at each point
    point_mass: Array  # (n,) kg, in addition to that of the segments
    break_force: Array  # (m,) N: tension at which a segment breaks; it then carries no force
    break_moment: Array  # (n,) N m: moment at which a segment comes loose at this point, like a hinge
    corde: Corde = field(default_factory=Corde)

    @property
    def vertex_count(self) -> int:
        return len(self.points)

    @property
    def edge_count(self) -> int:
        return len(self.edges)

    @property
    def length(self) -> float:
        """m, of all segments."""
        return float(self.rest_lengths.sum())

    def ends(self, edge: int) -> tuple[int, int]:
        return int(self.edges[edge, 0]), int(self.edges[edge, 1])

    def is_end(self, vertex: int) -> bool:
        """Whether only one edge meets this vertex."""
        return int((self.edges == vertex).sum()) == 1

    def edge_at(self, vertex: int) -> int:
        """The first edge at a vertex."""
        found = np.flatnonzero((self.edges == vertex).any(axis=1))
        if not len(found):
            raise TendrilError("where", vertex, "give a vertex with an edge")
        return int(found[0])

    @staticmethod
    @remembers
    def from_edges(
        points: ArrayLike,
        edges: ArrayLike,
        radius: Any = None,
        material: Material | None = None,
        *,
        section: Section | None = None,
        stiffness: Stiffness | Sequence[Stiffness] | None = None,
        rest: ArrayLike | None = None,
        stiffness_scale: Any = 1.0,
        density_scale: Any = 1.0,
        joint_stiffness: Any = 1.0,
        point_mass: Any = 0.0,
        damping_time: float | None = None,
        swing_time: float | None = None,
        director: ArrayLike | None = None,
        break_force: Any = np.inf,
        break_moment: Any = np.inf,
        corde: Corde | None = None,
    ) -> Net:
        """A net of segments `edges` (m, 2) between `points` (n, 3), like the edges of a mesh.

        Sections are round with `radius` (m; one number or one per segment), or `section`, made of `material`; or `stiffness` is
        given directly (one, or one per segment). `rest` (n, 3) is the natural shape, by default as drawn. `stiffness_scale`
        (bending and twisting) and `density_scale` are per segment, `joint_stiffness` and `point_mass` (kg) per point."""
        x = _points("points", points)
        ends = _edges(edges, len(x))
        rest_x = x.copy() if rest is None else _points("rest", rest)
        if rest_x.shape != x.shape:
            raise TendrilError("rest", rest_x, f"give as many points as the net has: {len(x)}")
        lengths = np.asarray(np.linalg.norm(rest_x[ends[:, 1]] - rest_x[ends[:, 0]], axis=1))
        _check_lengths("points", np.linalg.norm(x[ends[:, 1]] - x[ends[:, 0]], axis=1), ends)
        _check_lengths("rest", lengths, ends)
        m, n = len(ends), len(x)
        radii = _radii(radius, section, m)
        if stiffness is not None:
            if material is not None:
                raise TendrilError("stiffness", stiffness, "give either stiffness or material")
            columns = given_stiffness(stiffness, m)
        elif not isinstance(material, Material):
            raise TendrilError("material", material, 'give a Material, for instance Material.preset("nylon rope")')
        else:
            columns = section_stiffness(material, radii, section)
        scale = _values("stiffness_scale", stiffness_scale, m, "segment", 0.0, False)
        heavy = _values("density_scale", density_scale, m, "segment", 0.0, False)
        stretch, bend_1, bend_2, gj, mass, inertia = columns.T
        if damping_time is None:
            damping_time = 0.0 if material is None else material.damping_time
        if swing_time is None:
            swing_time = 0.0 if material is None else material.swing_time
        if corde is not None and not isinstance(corde, Corde):
            raise TendrilError("corde", corde, "give a Corde")
        net = Net(
            points=x,
            edges=ends,
            rest_points=rest_x,
            rest_lengths=lengths,
            radii=radii,
            stretch=stretch.copy(),
            bend=np.stack([bend_1 * scale, bend_2 * scale], axis=1),
            twist_stiffness=gj * scale,
            mass_per_length=mass * heavy,
            inertia_per_length=inertia * heavy,
            damping_time=not_negative("damping_time", damping_time, "s"),
            swing_time=not_negative("swing_time", swing_time, "s"),
            director=None if director is None else _directors(director, rest_x[ends[:, 1]] - rest_x[ends[:, 0]]),
            joint_stiffness=_values("joint_stiffness", joint_stiffness, n, "point", 0.0, False),
            point_mass=_values("point_mass", point_mass, n, "point", 0.0, True),
            break_force=_values("break_force", break_force, m, "segment", 0.0, False, infinite=True),
            break_moment=_values("break_moment", break_moment, n, "point", 0.0, False, infinite=True),
            corde=corde or Corde(),
        )
        _check_corners(net)
        check_and_freeze(net)
        return net

    @staticmethod
    def from_curves(
        curves: Iterable[ArrayLike],
        radius: float | None = None,
        material: Material | None = None,
        *,
        distance: float | None = None,
        closed: bool | Sequence[bool] = False,
        **options: Any,
    ) -> Net:
        """A net of curves, each (n, 3), joined where they come closer than `distance` (m; by default the sum of their radii).
        Other options are those of `from_edges`; those per segment or point must be one number, because curves are split where
        they are joined."""
        if distance is None:
            distance = 2.0 * positive("radius", radius, "m")
        joined = join_curves(curves, closed, positive("distance", distance, "m"))
        return Net.from_edges(joined.points, joined.edges, radius, material, **options)


def _points(name: str, points: ArrayLike) -> Array:
    x = array(name, points, (None, 3), "give an array of shape (n, 3), one row per point")
    if len(x) < 2:
        raise TendrilError(name, x, "give at least two points")
    if np.abs(x).max() > 10.0 * LARGEST_SIZE:
        raise TendrilError(
            name, float(np.abs(x).max()), f"keep coordinates within {10 * LARGEST_SIZE:g} m of the origin"
        )
    return x


def _edges(edges: ArrayLike, n: int) -> Ints:
    cure = "give whole numbers of shape (m, 2): the two points of each segment"
    values = array("edges", edges, (None, 2), cure)
    if len(values) == 0:
        raise TendrilError("edges", values, "give at least one segment")
    if not np.all(values == np.floor(values)):
        raise TendrilError("edges", edges, cure)
    bad = values[(values < 0) | (values >= n)]
    if len(bad):
        raise TendrilError("edges", float(bad[0]), f"points are numbered from 0 to {n - 1}")
    ends = values.astype(np.int64)
    same = np.flatnonzero(ends[:, 0] == ends[:, 1])
    if len(same):
        raise TendrilError(f"segment {same[0]} of edges", ends[same[0]].tolist(), "give two different points")
    both = np.sort(ends, axis=1)
    _, index, counts = np.unique(both[:, 0] * n + both[:, 1], return_index=True, return_counts=True)
    if counts.max() > 1:
        twice = int(index[np.argmax(counts)])
        raise TendrilError(f"segment {twice} of edges", ends[twice].tolist(), "give each segment once")
    alone = np.setdiff1d(np.arange(n), both)
    if len(alone):
        raise TendrilError("edges", ends, f"point {alone[0]} has no segment: leave it out, or give it one")
    return ends


def _check_lengths(name: str, lengths: Array, ends: Ints) -> None:
    total = float(lengths.sum())
    if not SMALLEST_SIZE <= total <= 100.0 * LARGEST_SIZE:
        raise TendrilError(f"the length of all segments of {name}", total, "scale the points: units are metres")
    shortest = int(np.argmin(lengths))
    if lengths[shortest] < 1e-6 * total / len(lengths):
        raise TendrilError(
            f"the length of segment {shortest} of {name}",
            float(lengths[shortest]),
            f"points {ends[shortest, 0]} and {ends[shortest, 1]} coincide: merge them",
        )


def _check_corners(net: Net) -> None:
    """Refuses points of two segments that fold back on themselves, because there is no joint to give them a direction."""
    degree = np.bincount(net.edges.ravel(), minlength=net.vertex_count)
    for name, x in (("points", net.points), ("rest", net.rest_points)):
        e = x[net.edges[:, 1]] - x[net.edges[:, 0]]
        t = e / np.linalg.norm(e, axis=1)[:, None]
        away = np.zeros((net.vertex_count, 3))
        np.add.at(away, net.edges[:, 0], t)
        np.add.at(away, net.edges[:, 1], -t)
        # Two unit vectors away from a point: |a + b|^2 = 2 (1 + a.b), and chi = 1 - a.b.
        chi = 2.0 - 0.5 * np.einsum("ij,ij->i", away, away)
        chi[degree != 2] = 2.0
        sharpest = int(np.argmin(chi))
        if chi[sharpest] < LEAST_CHI:
            raise TendrilError(
                f"the corner at point {sharpest} of {name}", 180.0, "it folds back on itself: round it off"
            )


def _radii(radius: Any, section: Section | None, m: int) -> Array:
    if (radius is None) == (section is None):
        raise TendrilError("radius", radius, "give either radius (m) or a section: Circle, Ellipse, Rectangle")
    if section is not None:
        if not isinstance(section, SECTIONS):
            raise TendrilError("section", section, "give a Circle, an Ellipse or a Rectangle")
        return np.tile(section.half_axes, (m, 1))
    values = _values("radius", radius, m, "segment", 0.0, False)
    for extreme in (float(values.min()), float(values.max())):
        Circle(extreme)  # checks the range, with the message of a single radius
    return np.stack([values, values], axis=1)


def _values(
    name: str, value: Any, count: int, what: str, least: float, or_equal: bool, infinite: bool = False
) -> Array:
    """One number for all, or one for each."""
    cure = f"give one number {'of at least' if or_equal else 'above'} {least:g}, or {count} of them, one per {what}"
    if dimensions(value) == 0:
        single = np.inf if infinite and value == np.inf else number(name, value, cure)
        values = np.full(count, single)
    elif infinite:
        mask = np.isposinf(np.asarray(value, dtype=object).astype(np.float64)) if dimensions(value) == 1 else None
        if mask is None or mask.shape != (count,):
            raise TendrilError(name, value, cure)
        values = np.where(mask, np.inf, array(name, np.where(mask, 1.0, value), (count,), cure))
    else:
        values = array(name, value, (count,), cure)
    if values.min() < least or (not or_equal and values.min() == least):
        raise TendrilError(name, float(values.min()), cure)
    return values


def _directors(value: ArrayLike, e: Array) -> Array:
    t = e / np.linalg.norm(e, axis=1)[:, None]
    d = directions("director", array("director", value, (len(t), 3), f"give {len(t)} vectors, one per segment"))
    across = d - np.einsum("ij,ij->i", d, t)[:, None] * t
    lengths = np.linalg.norm(across, axis=1)
    if lengths.min() < 1e-6:
        raise TendrilError("director", value, "give vectors that do not point along the segments")
    return np.asarray(across / lengths[:, None])
