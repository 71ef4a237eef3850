"""Hair styles, generated strand by strand from natural curvatures: a few thick curls, and many thin strands, smooth or curly."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from ...core import Rod, Stiffness
from ...core.errors import Array
from .clothoids import sampled

HEAD = 0.1  # m, radius
EDGES = 6  # sampled per element
MAX_ATTEMPTS = 60
DAMPING = 0.02  # s


class Style(NamedTuple):
    name: str
    strands: int
    radius: float  # m
    length: tuple[float, float]  # shortest, longest
    bend: float  # N m2
    mass: float  # kg/m
    curl: tuple[float, float]  # natural curvature at root and tip, 1/m
    twist: float  # natural twist, 1/m
    elevation: float  # rad, angle between the head and the strand at its root
    clear: float  # part of a strand, from its root, that no other strand may intersect initially
    shares: tuple[float, ...]  # fractions of strands with 1, 2, 3 ... elements

    def elements(self) -> list[int]:
        """Number of elements of each strand."""
        ends = np.round(np.cumsum(self.shares) * self.strands).astype(int)
        return [int(np.searchsorted(ends, k, side="right")) + 1 for k in range(self.strands)]


UPRIGHT = 0.5 * math.pi
STYLISED = Style(
    "100 curls", 100, 2e-3, (0.22, 0.32), 2e-5, 4e-3, (15.0, 80.0), 12.0, UPRIGHT, 1.0, (0.65, 0.2, 0.1, 0.05)
)
SMOOTH = Style("smooth", 662, 5e-4, (0.18, 0.24), 1e-6, 2e-4, (9.0, 9.0), 0.0, UPRIGHT, 0.0, (0.0, 0.0, 0.0, 1.0))
# The axes of these helices are normal to the head.
CURLY = SMOOTH._replace(
    name="curly", bend=2e-6, curl=(60.0, 90.0), twist=25.0, elevation=math.atan2(25.0, 60.0), clear=0.1
)


class Strand(NamedTuple):
    kappa: Array  # (elements + 1, 3) twist and curvatures
    length: float
    frame: Array  # (3, 3) at the root
    root: Array  # (3,) m

    def points(self, times: int = 1) -> tuple[Array, Array]:
        """Points and frames, sampled with `times` as many edges as a rod has."""
        return sampled(self.kappa, self.length, times * EDGES * (len(self.kappa) - 1), self.root, self.frame)


def strands(style: Style) -> list[tuple[Rod, int]]:
    """Rods and their numbers of elements. Roots are distributed evenly over the upper part of the head by a Fibonacci lattice."""
    rng = np.random.default_rng(7)
    counts = rng.permutation(style.elements())
    grown = [_strand(style, k, int(counts[k]), rng) for k in range(style.strands)]
    if style.twist > 0.0:
        for _ in range(MAX_ATTEMPTS):
            crossing = _crossing(grown, style)
            for k in sorted(crossing):
                grown[k] = _strand(style, k, int(counts[k]), rng)
            if not crossing:
                break
    stiffness = Stiffness(1e3, style.bend, style.bend, 0.8 * style.bend, style.mass, 0.5 * style.mass * style.radius**2)
    rods = []
    for strand in grown:
        points, frames = strand.points()
        directors = 0.5 * (frames[1:, :, 1] + frames[:-1, :, 1])
        rod = Rod.from_points(
            points, radius=style.radius, stiffness=stiffness, director=directors, damping_time=DAMPING
        )
        rods.append((rod, len(strand.kappa) - 1))
    return rods


def _strand(style: Style, k: int, elements: int, rng: np.random.Generator) -> Strand:
    height = 1.0 - 1.05 * (k + 0.5) / style.strands
    around = math.pi * (3.0 - math.sqrt(5.0)) * k
    across = math.sqrt(1.0 - height**2)
    outwards = np.array([across * math.cos(around), across * math.sin(around), height])
    side = np.cross(outwards, [0.0, 0.0, 1.0])
    side /= max(float(np.linalg.norm(side)), 1e-9)
    bends = np.linspace(*style.curl, elements + 1) * rng.uniform(0.85, 1.15)
    twist, tangent, first = 0.0, outwards, side  # a smooth strand bends downwards
    if style.twist > 0.0:  # a curl bends in a random direction, with a random handedness
        twist, spin = style.twist * rng.choice([-1.0, 1.0]), rng.uniform(0.0, 2.0 * math.pi)
        along = math.cos(spin) * side + math.sin(spin) * np.cross(outwards, side)
        tangent = math.sin(style.elevation) * outwards + math.cos(style.elevation) * along
        first = math.copysign(1.0, twist) * (math.cos(style.elevation) * outwards - math.sin(style.elevation) * along)
    kappa = np.stack([np.full(elements + 1, twist), bends, 0.0 * bends], axis=1)
    frame = np.stack([tangent, first, np.cross(tangent, first)], axis=1)
    return Strand(kappa, rng.uniform(*style.length), frame, (HEAD + 1.02 * style.radius) * outwards)


def _crossing(grown: list[Strand], style: Style) -> set[int]:
    """Indices of strands that intersect the clear part of another strand."""
    points = [s.points(math.ceil(s.length / (0.5 * style.radius * EDGES * (len(s.kappa) - 1))))[0] for s in grown]
    owner = np.repeat(np.arange(len(points)), [len(x) for x in points])
    x = np.concatenate(points)
    clear = np.flatnonzero(np.concatenate([np.linspace(0.0, 1.0, len(p)) for p in points]) <= style.clear)
    near = cKDTree(x[clear]).sparse_distance_matrix(cKDTree(x), 1.2 * style.radius, output_type="ndarray")
    kept, passing, both = owner[clear[near["i"]]], owner[near["j"]], np.isin(near["j"], clear)
    others = (kept != passing) & (~both | (passing > kept))
    return set(passing[others].tolist())
