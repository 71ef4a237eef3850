"""Builds the arrays of a `der2008` block: those of elastic rods, with the stiffnesses of the paper."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....describe.scene import Entry, Hold
from ...elastic.arrays import Arrays
from ...elastic.build_rods import build as build_rods
from ...elastic.rods import RodArrays
from ...held_frames import INNER

# Implicit steps have no inextensibility constraints. Instead EA l^2 / EI is raised to this value, so that an edge keeps
# its length to about 1e-6 while round-off in that length causes no significant force.
INEXTENSIBILITY = 1e5


def build(entries: Sequence[Entry], holds: Sequence[tuple[int, Hold]]) -> tuple[Arrays, RodArrays]:
    flat, b = build_rods(entries, holds)
    for r, entry in enumerate(entries):
        rod, first = entry.rod, int(b.rods.start[r])
        m = rod.edge_count
        edges = slice(first, first + m)
        stiff = INEXTENSIBILITY * rod.bend.max(axis=1) / rod.rest_lengths**2
        b.rods.stretch[edges] = np.maximum(rod.stretch, stiff)
        # (3): both edges at a vertex have the same share, whatever their lengths.
        inner = np.flatnonzero(b.rods.joint[edges] == INNER)
        span = (rod.rest_lengths[inner - 1] + rod.rest_lengths[inner])[:, None]
        b.rods.stiffness[first + inner, 0, 0:2] = rod.bend[inner - 1] / span
        b.rods.stiffness[first + inner, 0, 2:4] = rod.bend[inner] / span
    return flat, b
