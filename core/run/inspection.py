"""Measurements of a simulation beyond its frames: acting contacts, and the elastic energy of each rod."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import Array
from .simulation import Simulation

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class ActingContacts:
    """Contacts with a force."""

    points: Array  # (K, 3) m: midway between the two rods, or on the rod that touches a collider or a body
    rods: Ints  # (K, 2) ids; the second is -1 for a collider or a body


def elastic_energies(simulation: Simulation) -> Array:
    """(R,) J: energy of stretch, bending and twist of each rod and net."""
    simulation.energies()  # evaluates the current state
    per_block = [block.elastic_energies() for block in simulation.blocks]
    return np.array([per_block[block][k] for block, k in simulation._rods])


def acting_contacts(simulation: Simulation) -> ActingContacts:
    """The contacts that carry a force in the current state."""
    solver = simulation._contact
    if solver is None:
        return ActingContacts(np.zeros((0, 3)), np.zeros((0, 2), np.int64))
    samples, known = solver.detection.samples, solver.known
    keys = known.keys[np.abs(known.forces).max(axis=1, initial=0.0) > 0.0]
    x = np.concatenate([np.zeros((0, 3)), *(block.positions() for block in simulation.blocks)])
    n = len(samples.rod)
    keys = keys[(keys >= 0) | ((-1 - keys) % n < len(x))]  # not those between bodies, which come last
    alone = keys < 0
    first = np.where(alone, (-1 - keys) % n, keys // n)
    second = np.where(alone, first, keys % n)
    ends = [np.where(samples.after[edge] >= 0, samples.after[edge], edge) for edge in (first, second)]
    points = _between(x[first], x[ends[0]], x[second], x[ends[1]])
    points[alone] = x[first[alone]]
    ids = _ids_of_samples(simulation, samples.rod[: len(x)])
    return ActingContacts(points, np.stack([ids[first], np.where(alone, -1, ids[second])], axis=1))


def _ids_of_samples(simulation: Simulation, rod: Ints) -> Ints:
    """The ids of rods from their numbers in contact, which run through all blocks."""
    counts = [len(block.sample_start) - 1 for block in simulation.blocks]
    start = np.concatenate([[0], np.cumsum(counts)])
    ids = np.empty(start[-1], np.int64)
    for number, (block, k) in enumerate(simulation._rods):
        ids[start[block] + k] = number
    return np.asarray(ids[rod])


def _between(a0: Array, a1: Array, b0: Array, b1: Array) -> Array:
    """(K, 3) the midpoint between the closest points of two segments."""
    u, v, w = a1 - a0, b1 - b0, a0 - b0
    uu, uv, vv = (np.einsum("ij,ij->i", p, q) for p, q in ((u, u), (u, v), (v, v)))
    uw, vw = (np.einsum("ij,ij->i", p, w) for p in (u, v))
    tiny = 1e-300
    s = np.clip((uv * vw - vv * uw) / np.maximum(uu * vv - uv * uv, tiny + 1e-12 * uu * vv), 0.0, 1.0)
    t = np.clip((uv * s + vw) / np.maximum(vv, tiny), 0.0, 1.0)
    s = np.clip((uv * t - uw) / np.maximum(uu, tiny), 0.0, 1.0)
    return np.asarray(0.5 * (a0 + s[:, None] * u + b0 + t[:, None] * v))
