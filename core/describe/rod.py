"""Rods as the user describes them: a polyline, its natural shape, its section along the way. Validated on construction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import (
    LARGEST_SIZE,
    SMALLEST_SIZE,
    Array,
    TendrilError,
    array,
    dimensions,
    direction,
    directions,
    flag,
    not_negative,
    number,
    per_vertex,
    positive,
)
from .material import SECTIONS, Circle, Material, Rectangle, Section, Stiffness
from .recipe import remembers

# Smallest chi = 1 + t.t' of a valid corner; edges that fold back onto each other have infinite curvature.
LEAST_CHI = 1e-4
# Relative round-off allowance for sums of edge lengths.
SLACK = 1e-9
# Points closer than this fraction of the mean edge length count as coincident.
COINCIDENT = 1e-6


@dataclass(frozen=True, eq=False)
class Rod:
    """An elastic rod. Create it with `Rod.from_points`; all arrays are read-only.

    Vertices are numbered along the rod; edge j runs from vertex j to vertex j + 1 (back to 0 on a closed rod)."""

    points: Array  # (n, 3) m, initial positions
    rest_points: Array | None  # (n, 3) natural shape, of which only the angles matter; None: straight
    rest_lengths: Array  # (m,) m, edge lengths in the natural shape
    closed: bool
    radii: Array  # (m, 2) m, semi-axes of the section per edge, for contact, drag and display
    stretch: Array  # (m,) EA per edge, N
    bend: Array  # (m, 2) EI towards the first and the second director, N m2
    twist_stiffness: Array  # (m,) GJ, N m2
    mass_per_length: Array  # (m,) kg/m
    inertia_per_length: Array  # (m,) kg m
    damping_time: float  # s, Kelvin-Voigt
    swing_time: float  # s, see `Material`
    director: Array | None  # (3,) first director of edge 0, or (m, 3) of all edges; None: any
    rest_director: Array | None  # the same for the natural shape
    twist: float  # rad, initial twist, distributed evenly
    rest_twist: float  # rad/m, twist of the natural shape in addition to that of its directors
    break_force: float = np.inf  # N: tension at which a segment breaks; it then carries no force
    break_moment: float = np.inf  # N m: moment at which the rod comes loose at a vertex, like a hinge

    @property
    def vertex_count(self) -> int:
        return len(self.points)

    @property
    def edge_count(self) -> int:
        return len(self.points) if self.closed else len(self.points) - 1

    @property
    def length(self) -> float:
        return float(self.rest_lengths.sum())

    def ends(self, edge: int) -> tuple[int, int]:
        """Vertices of an edge."""
        return edge, (edge + 1) % self.vertex_count

    def is_end(self, vertex: int) -> bool:
        return not self.closed and vertex in (0, self.vertex_count - 1)

    def edge_at(self, vertex: int) -> int:
        """Edge after a vertex; the last edge at the end of an open rod."""
        return min(vertex, self.edge_count - 1)

    @staticmethod
    @remembers
    def from_points(
        points: ArrayLike,
        radius: Any = None,
        material: Material | None = None,
        *,
        section: Section | None = None,
        taper: Any = 1.0,
        stiffness: Stiffness | Sequence[Stiffness] | None = None,
        closed: bool = False,
        rest: str | ArrayLike = "as drawn",
        density_scale: Any = 1.0,
        stiffness_scale: Any = 1.0,
        damping_time: float | None = None,
        swing_time: float | None = None,
        director: ArrayLike | None = None,
        rest_director: ArrayLike | None = None,
        twist: float = 0.0,
        rest_twist: float = 0.0,
        break_force: float = np.inf,
        break_moment: float = np.inf,
    ) -> Rod:
        """A rod along `points` (n, 3).

        Its section is round with `radius` (m; one number or one per vertex), or `section`, scaled along the rod by `taper` (one
        per vertex), made of `material`; or its `stiffness` is given directly (one, or one per edge), and `radius` or `section` is
        then only used for contact and drag.

        `rest` is the natural shape: "as drawn", "straight", or points (n, 3). `density_scale` and `stiffness_scale` (bending
        and twisting) vary along the rod, one per vertex. With `break_force` (N) or `break_moment` (N m) the rod can break."""
        closed = flag("closed", closed)
        x = _polyline("points", points, closed)
        n = len(x)
        rest_x = _rest_shape(rest, x, closed)
        m = n if closed else n - 1
        radii = _radii(radius, section, taper, n, closed)
        if stiffness is not None:
            if material is not None:
                raise TendrilError("stiffness", stiffness, "give either stiffness or material")
            columns = given_stiffness(stiffness, m)
        else:
            if material is None:
                raise TendrilError("material", None, 'give a Material, for instance Material.preset("nylon rope")')
            if not isinstance(material, Material):
                raise TendrilError("material", material, "give a Material")
            columns = section_stiffness(material, radii, section)
        bend_scale = _to_edges(per_vertex("stiffness_scale", stiffness_scale, n), closed)
        mass_scale = _to_edges(per_vertex("density_scale", density_scale, n), closed)
        stretch, bend_1, bend_2, gj, mass, inertia = columns.T
        with np.errstate(over="ignore"):  # infinite values are refused below
            bend = np.stack([bend_1 * bend_scale, bend_2 * bend_scale], axis=1)
            gj, mass, inertia = gj * bend_scale, mass * mass_scale, inertia * mass_scale
        if damping_time is None:
            damping_time = 0.0 if material is None else material.damping_time
        if swing_time is None:
            swing_time = 0.0 if material is None else material.swing_time
        rod = Rod(
            points=x,
            rest_points=rest_x,
            rest_lengths=np.asarray(np.linalg.norm(edges_of(x if rest_x is None else rest_x, closed), axis=1)),
            closed=closed,
            radii=radii,
            stretch=stretch.copy(),
            bend=bend,
            twist_stiffness=gj,
            mass_per_length=mass,
            inertia_per_length=inertia,
            damping_time=not_negative("damping_time", damping_time, "s"),
            swing_time=not_negative("swing_time", swing_time, "s"),
            director=_directors("director", director, x, closed),
            rest_director=_rest_directors(rest_director, rest_x, closed),
            twist=number("twist", twist, "give a finite angle in rad"),
            rest_twist=number("rest_twist", rest_twist, "give a finite rate in rad/m"),
            break_force=break_force if break_force == np.inf else positive("break_force", break_force, "N"),
            break_moment=break_moment if break_moment == np.inf else positive("break_moment", break_moment, "N m"),
        )
        check_and_freeze(rod)
        return rod


def check_and_freeze(described: object) -> None:
    """Refuses stiffnesses and masses that overflow or vanish, and makes all arrays read-only."""
    for name in ("stretch", "bend", "twist_stiffness", "mass_per_length", "inertia_per_length"):
        values = getattr(described, name)
        if not np.all((values > 0.0) & np.isfinite(values)):
            raise TendrilError(name, values, "choose moduli, density and radius that give finite values above zero")
    for value in vars(described).values():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False


def edges_of(x: Array, closed: bool) -> Array:
    return np.roll(x, -1, axis=0) - x if closed else np.diff(x, axis=0)


def _to_edges(values: Array, closed: bool) -> Array:
    following = np.roll(values, -1, axis=0) if closed else values[1:]
    return np.asarray(0.5 * values[: len(following)] + 0.5 * following)


def _polyline(field: str, points: ArrayLike, closed: bool) -> Array:
    x = array(field, points, (None, 3), "give an array of shape (n, 3), one row per vertex")
    least = 3 if closed else 2
    if len(x) < least:
        cure = f"give at least {least} points for {'a closed' if closed else 'an open'} rod"
        raise TendrilError(f"the number of {field}", len(x), cure)
    if np.abs(x).max() > 10.0 * LARGEST_SIZE:
        raise TendrilError(
            field, float(np.abs(x).max()), f"keep coordinates within {10 * LARGEST_SIZE:g} m of the origin"
        )
    lengths = np.linalg.norm(edges_of(x, closed), axis=1)
    total = float(lengths.sum())
    if total == 0.0:
        raise TendrilError(f"the length of {field}", total, "spread the points out: they all coincide")
    if not SMALLEST_SIZE * (1.0 - SLACK) <= total <= LARGEST_SIZE * (1.0 + SLACK):
        raise TendrilError(
            f"the length of {field}",
            total,
            f"rods are {SMALLEST_SIZE:g} m to {LARGEST_SIZE:g} m long: scale the points",
        )
    shortest = int(np.argmin(lengths))
    if lengths[shortest] < COINCIDENT * total / len(lengths):
        raise TendrilError(
            f"the distance between point {shortest} and the next of {field}",
            float(lengths[shortest]),
            "remove one of the two coincident points",
        )
    t = edges_of(x, closed) / lengths[:, None]
    following = np.roll(t, -1, axis=0) if closed else t[1:]
    chi = 1.0 + np.einsum("ij,ij->i", t[: len(following)], following)
    if len(chi) and chi.min() < LEAST_CHI:
        corner = (int(np.argmin(chi)) + 1) % len(x)
        raise TendrilError(
            f"the corner at point {corner} of {field}", 180.0, "the line folds back on itself: round it off"
        )
    return x


def _rest_shape(rest: str | ArrayLike, x: Array, closed: bool) -> Array | None:
    if isinstance(rest, str):
        if rest == "as drawn":
            return x.copy()
        if rest == "straight":
            return None
        raise TendrilError("rest", rest, 'give "as drawn", "straight" or the points of the natural shape')
    rest_x = _polyline("rest", rest, closed)
    if len(rest_x) != len(x):
        raise TendrilError("rest", rest_x, f"give as many points as the rod has: {len(x)}")
    return rest_x


def _radii(radius: Any, section: Section | None, taper: Any, n: int, closed: bool) -> Array:
    if (radius is None) == (section is None):
        raise TendrilError("radius", radius, "give either radius (m) or a section: Circle, Ellipse, Rectangle")
    if section is not None:
        if not isinstance(section, SECTIONS):
            raise TendrilError("section", section, "give a Circle, an Ellipse or a Rectangle")
        scale = per_vertex("taper", taper, n)
        for extreme in (float(scale.min()), float(scale.max())):
            type(section)(*(extreme * value for value in vars(section).values()))  # checks the range
        return np.asarray(_to_edges(scale, closed)[:, None] * np.array(section.half_axes))
    values = per_vertex("radius", radius, n)
    for extreme in (float(values.min()), float(values.max())):
        Circle(extreme)  # checks the range, with the message of a single radius
    edges = _to_edges(values, closed)
    return np.stack([edges, edges], axis=1)


def section_stiffness(material: Material, radii: Array, section: Section | None = None) -> Array:
    """(m, 6) stiffness per edge of sections like `section` with semi-axes `radii`; elliptic by default."""
    return material.stiffness_along(radii, isinstance(section, Rectangle))


def given_stiffness(stiffness: Stiffness | Sequence[Stiffness], m: int) -> Array:
    if isinstance(stiffness, Stiffness):
        return np.tile(_columns(stiffness), (m, 1))
    try:
        items = list(islice(stiffness, m + 1))  # it may be endless
    except Exception:  # iterating runs the caller's code
        raise TendrilError("stiffness", stiffness, "give a Stiffness, or one per edge") from None
    if len(items) != m or not all(isinstance(item, Stiffness) for item in items):
        raise TendrilError("stiffness", stiffness, f"give one Stiffness, or {m} of them, one per edge")
    return np.array([_columns(item) for item in items])


def _columns(s: Stiffness) -> tuple[float, ...]:
    assert s.inertia_per_length is not None
    return s.stretch, s.bend_1, s.bend_2, s.twist, s.mass_per_length, s.inertia_per_length


def _directors(field: str, value: ArrayLike | None, x: Array, closed: bool) -> Array | None:
    """Unit directors across the edges' tangents: one for edge 0, or one for each edge."""
    if value is None:
        return None
    t = edges_of(x, closed)
    t = t / np.linalg.norm(t, axis=1)[:, None]
    single = dimensions(value) == 1
    if single:
        d = direction(field, value)[None, :]
        t = t[:1]
    else:
        d = array(field, value, (len(t), 3), f"give one vector, or {len(t)} of them, one per edge")
        d = directions(field, d)
    across = d - np.einsum("ij,ij->i", d, t)[:, None] * t
    lengths = np.linalg.norm(across, axis=1)
    if lengths.min() < 1e-6:
        raise TendrilError(field, value, "give vectors that do not point along the rod")
    across /= lengths[:, None]
    return np.asarray(across[0] if single else across)


def _rest_directors(value: ArrayLike | None, rest_x: Array | None, closed: bool) -> Array | None:
    if value is not None and rest_x is None:
        raise TendrilError("rest_director", value, "a straight natural shape has no directors: use rest_twist")
    return None if rest_x is None else _directors("rest_director", value, rest_x, closed)
