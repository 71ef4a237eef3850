"""Allocates the arrays of a block from the numbers of nodes, elements, Gauss and sample points of each rod."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import Array, Ints
from ..state_of_rods import zeros_of
from .arrays import Arrays, Coupled, Forces, Geometry, Holds, Log, Nodes, Points, Rods, Stage, State
from .potential import GAUSS, NODES, WEIGHTS

PANEL = 4.0  # rad of rotation per panel of eight Gauss points, for a relative error of 1e-8 in products of positions
MOST_PANELS = 64


@dataclass
class RodLayout:
    """Discretisation of one rod, before its arrays are allocated."""

    elements: int
    degree: int
    length: float  # m
    stiffness: Array  # (N, 3, 3)
    mass: Array  # (N,) kg/m
    inertia: Array  # (N,) kg m
    panels: Ints  # (N,) panels of Gauss points on each element
    samples: Array  # (S,) sample points along the rod, from 0 to 1
    sample_mass: Array  # (S, 4) fractions of the whole rod
    radii: Array  # (S, 2)

    @property
    def nodes(self) -> int:
        return self.elements + self.degree

    @staticmethod
    def plain(elements: int, degree: int, length: float, samples: Array) -> RodLayout:
        """For shapes only, without material."""
        one, s = np.ones(elements), len(samples)
        return RodLayout(
            elements, degree, length, np.ones((elements, 3, 3)), one, one, one.astype(np.int64),
            samples, np.ones((s, 4)), np.ones((s, 2)),
        )  # fmt: skip


def _starts(counts: list[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def make_arrays(layouts: list[RodLayout]) -> Arrays:
    """Arrays for these rods, which are straight, at the origin and at rest."""
    rods = len(layouts)
    node_start = _starts([o.nodes for o in layouts])
    element_start = _starts([o.elements for o in layouts])
    unknowns = [6 + 3 * o.nodes for o in layouts]
    sample_start = _starts([len(o.samples) for o in layouts])
    gauss = gauss_points(
        np.concatenate([o.panels for o in layouts]),
        np.concatenate([np.stack([o.mass, o.mass, o.mass, o.inertia], axis=1) for o in layouts]),
        element_start,
    )
    k, e, s, v = (int(a[-1]) for a in (node_start, element_start, sample_start, _starts(unknowns)))

    def zeros(*shape: int) -> Array:
        return np.zeros(shape)

    def state() -> State:
        zeros = zeros_of(
            State, (s, 3), length=(e,), natural=(k, 3), kappa=(k, 3), root=(rods, 3), rate=(v,), acceleration=(v,),
            consistent=(rods,), x=(s, 4), tension=(s,),
        )  # fmt: skip
        return zeros._replace(frame=np.tile(np.eye(3), (rods, 1, 1)))

    started = state()
    arrays = Arrays(
        rods=Rods(
            degree=np.array([o.degree for o in layouts], dtype=np.int64),
            damping_time=zeros(rods),
            held_position=np.zeros(rods, dtype=np.bool_),
            held_frame=np.zeros(rods, dtype=np.bool_),
            spacing=np.array([o.length / max(len(o.samples) - 1, 1) for o in layouts]),
            vector_start=_starts(unknowns),
            matrix_start=_starts([n * n for n in unknowns]),
            rows_start=_starts([4 * len(o.samples) * n for o, n in zip(layouts, unknowns, strict=True)]),
        ),
        nodes=Nodes(
            node_start,
            element_start,
            np.concatenate([o.stiffness for o in layouts]),
            np.concatenate([o.mass for o in layouts]),
        ),
        gauss=gauss,
        samples=_sample_points(layouts, element_start, sample_start),
        state=started,
        saved=state(),
        holds=Holds(zeros(2, rods, 3), np.tile(np.eye(3), (2, rods, 1, 1))),
        forces=Forces(zeros(rods, 3), zeros(s, 3), np.zeros(rods, dtype=np.bool_), zeros(s, 6), zeros(3), zeros(rods)),
        stage=make_stage(len(gauss.element), started),
        geometry=make_geometry(len(gauss.element), s),
        log=Log(zeros(rods, 4), zeros(rods, 5)),
    )  # fmt: skip
    arrays.state.length[:] = np.concatenate([np.full(o.elements, o.length / o.elements) for o in layouts])
    return arrays


def make_stage(gauss: int, state: State) -> Stage:
    return zeros_of(
        Stage, state.root.shape, x=(gauss, 4), v=(gauss, 4), kappa=state.kappa.shape, sample_x=state.x.shape
    )


def make_geometry(gauss: int, samples: int) -> Geometry:
    g, s = gauss, samples
    return zeros_of(
        Geometry, (g, 3), x=(g, 4), v=(g, 4), a=(g, 4), frame=(g, 3, 3), sample_frame=(s, 3, 3), edge0=(s, 3),
        edge_director0=(s, 3), x0=(g, 4),
    )  # fmt: skip


def panels_of(first: Array, last: Array, length: Array) -> Ints:
    """(E,) panels of Gauss points for elements with these norms of the curvature (1/m) at their ends."""
    return np.asarray(np.clip(np.ceil(np.maximum(first, last) * length / PANEL), 1, MOST_PANELS).astype(np.int64))


def gauss_points(panels: Ints, mass: Array, element_start: Ints) -> Points:
    """Gauss points on elements with `panels` (E,) and mass per length (E, 4)."""
    elements, fractions, weights = [], [], []
    for k, count in enumerate(panels.tolist()):
        elements.append(np.full(GAUSS * count, k))
        fractions.append((np.arange(count)[:, None] + NODES).ravel() / count)
        weights.append(np.tile(WEIGHTS / count, count))
    element, weight = np.concatenate(elements).astype(np.int64), np.concatenate(weights)
    start = np.searchsorted(element, element_start).astype(np.int64)
    fraction = np.concatenate(fractions)
    return Points(start, element, fraction, weight[:, None] * mass[element], np.zeros((len(element), 2)), weight)


def _sample_points(layouts: list[RodLayout], element_start: Ints, start: Ints) -> Points:
    elements, fractions = [], []
    for o, first in zip(layouts, element_start, strict=False):
        at = o.samples * o.elements
        which = np.minimum(at.astype(np.int64), o.elements - 1)
        elements.append(first + which)
        fractions.append(np.clip(at - which, 0.0, 1.0))
    return Points(
        start,
        np.concatenate(elements).astype(np.int64),
        np.concatenate(fractions),
        np.concatenate([o.sample_mass for o in layouts]),
        np.concatenate([o.radii for o in layouts]),
        np.zeros(int(start[-1])),
    )


def make_coupled(b: Arrays) -> Coupled:
    rods, state = b.rods, b.state
    return zeros_of(
        Coupled, state.rate.shape, matrix=(int(rods.matrix_start[-1]),), rows=(int(rods.rows_start[-1]),),
        kappa=state.kappa.shape, root=state.root.shape, frame=state.frame.shape,
    )  # fmt: skip
