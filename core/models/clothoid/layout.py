"""Room for the rods of a block: how many nodes, elements, Gauss and sample points each has, and where they lie in the arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import Array
from .arrays import Block, Coupled, Forces, Geometry, Holds, Ints, Log, Nodes, Points, Rods, Stage, State
from .potential import GAUSS, NODES, WEIGHTS

PANEL = 4.0  # rad of turning that eight Gauss points are trusted with: products of places to 1e-8
MOST_PANELS = 64


@dataclass
class Outline:
    """One rod, before there are arrays for it."""

    elements: int
    degree: int
    length: float  # m
    stiffness: Array  # (N, 3, 3)
    mass: Array  # (N,) kg/m
    inertia: Array  # (N,) kg m
    panels: Ints  # (N,) of Gauss points on each element
    samples: Array  # (S,) where the sample points are, from 0 to 1
    sample_mass: Array  # (S, 4) of the whole rod
    radii: Array  # (S, 2)

    @property
    def nodes(self) -> int:
        return self.elements + self.degree

    @staticmethod
    def plain(elements: int, degree: int, length: float, samples: Array) -> Outline:
        """For shapes alone."""
        one, s = np.ones(elements), len(samples)
        return Outline(
            elements, degree, length, np.ones((elements, 3, 3)), one, one, one.astype(np.int64),
            samples, np.ones((s, 4)), np.ones((s, 2)),
        )  # fmt: skip


def _starts(counts: list[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def arrange(outlines: list[Outline]) -> Block:
    """Arrays for these rods; straight, at the origin, at rest."""
    rods = len(outlines)
    node_start = _starts([o.nodes for o in outlines])
    element_start = _starts([o.elements for o in outlines])
    unknowns = [6 + 3 * o.nodes for o in outlines]
    sample_start = _starts([len(o.samples) for o in outlines])
    gauss = gauss_points(
        np.concatenate([o.panels for o in outlines]),
        np.concatenate([np.stack([o.mass, o.mass, o.mass, o.inertia], axis=1) for o in outlines]),
        element_start,
    )
    k, e, s, v = (int(a[-1]) for a in (node_start, element_start, sample_start, _starts(unknowns)))

    def zeros(*shape: int) -> Array:
        return np.zeros(shape)

    def state() -> State:
        return State(
            zeros(e), zeros(k, 3), zeros(k, 3), zeros(rods, 3), np.tile(np.eye(3), (rods, 1, 1)), zeros(v),
            zeros(s, 4), zeros(s, 3), zeros(s, 3), zeros(s),
        )  # fmt: skip

    started = state()
    block = Block(
        rods=Rods(
            degree=np.array([o.degree for o in outlines], dtype=np.int64),
            damping_time=zeros(rods),
            held_position=np.zeros(rods, dtype=np.bool_),
            held_frame=np.zeros(rods, dtype=np.bool_),
            spacing=np.array([o.length / max(len(o.samples) - 1, 1) for o in outlines]),
            vector_start=_starts(unknowns),
            matrix_start=_starts([n * n for n in unknowns]),
            rows_start=_starts([4 * len(o.samples) * n for o, n in zip(outlines, unknowns, strict=True)]),
        ),
        nodes=Nodes(
            node_start,
            element_start,
            np.concatenate([o.stiffness for o in outlines]),
            np.concatenate([o.mass for o in outlines]),
        ),
        gauss=gauss,
        samples=_sample_points(outlines, element_start, sample_start),
        state=started,
        saved=state(),
        holds=Holds(zeros(2, rods, 3), np.tile(np.eye(3), (2, rods, 1, 1))),
        forces=Forces(zeros(rods, 3), zeros(s, 3), np.zeros(rods, dtype=np.bool_), zeros(s, 6), zeros(3), zeros(1)),
        stage=stage_of(len(gauss.element), started),
        geometry=geometry_of(len(gauss.element), s),
        log=Log(zeros(rods, 4), zeros(rods, 5)),
    )  # fmt: skip
    block.state.length[:] = np.concatenate([np.full(o.elements, o.length / o.elements) for o in outlines])
    return block


def stage_of(gauss: int, state: State) -> Stage:
    def zeros(*shape: int) -> Array:
        return np.zeros(shape)

    rods, kappa, x = len(state.root), state.kappa.shape, state.x.shape
    return Stage(zeros(gauss, 4), zeros(gauss, 4), zeros(*kappa), zeros(rods, 3), zeros(rods, 3), zeros(*x))


def geometry_of(gauss: int, samples: int) -> Geometry:
    g, s = gauss, samples
    shapes = ((g, 4), (g, 4), (g, 3, 3), (s, 3, 3), (g, 3), (g, 3), (s, 3), (s, 3), (g, 4))
    return Geometry(*(np.zeros(shape) for shape in shapes))


def panels_of(first: Array, last: Array, length: Array) -> Ints:
    """(E,) of Gauss points on elements that are as curved and twisted as this where they begin and where they end (1/m)."""
    return np.asarray(np.clip(np.ceil(np.maximum(first, last) * length / PANEL), 1, MOST_PANELS).astype(np.int64))


def gauss_points(panels: Ints, mass: Array, element_start: Ints) -> Points:
    """On elements with so many panels (E,), that have mass (E, 4) per length."""
    elements, fractions, weights = [], [], []
    for k, count in enumerate(panels.tolist()):
        elements.append(np.full(GAUSS * count, k))
        fractions.append((np.arange(count)[:, None] + NODES).ravel() / count)
        weights.append(np.tile(WEIGHTS / count, count))
    element, weight = np.concatenate(elements).astype(np.int64), np.concatenate(weights)
    start = np.searchsorted(element, element_start).astype(np.int64)
    fraction = np.concatenate(fractions)
    return Points(start, element, fraction, weight[:, None] * mass[element], np.zeros((len(element), 2)), weight)


def _sample_points(outlines: list[Outline], element_start: Ints, start: Ints) -> Points:
    elements, fractions = [], []
    for o, first in zip(outlines, element_start, strict=False):
        at = o.samples * o.elements
        which = np.minimum(at.astype(np.int64), o.elements - 1)
        elements.append(first + which)
        fractions.append(np.clip(at - which, 0.0, 1.0))
    return Points(
        start,
        np.concatenate(elements).astype(np.int64),
        np.concatenate(fractions),
        np.concatenate([o.sample_mass for o in outlines]),
        np.concatenate([o.radii for o in outlines]),
        np.zeros(int(start[-1])),
    )


def for_coupling(b: Block) -> Coupled:
    rods, k = b.rods, len(b.state.kappa)
    v = int(rods.vector_start[-1])
    return Coupled(
        np.zeros(int(rods.matrix_start[-1])), np.zeros(v), np.zeros(v), np.zeros(v), np.zeros(int(rods.rows_start[-1])),
        np.zeros((k, 3)), np.zeros((len(rods.degree), 3)), np.zeros((len(rods.degree), 3, 3)),
    )  # fmt: skip
