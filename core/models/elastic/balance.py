"""Natural strains with which rods and nets are in equilibrium where they are: sag-free rest shapes.

At a given shape the elastic forces are J^T K (strain - natural strain), so equilibrium under a load f is a linear condition on the
natural strains. Of all that satisfy it we take those of least elastic energy: with the Gauss-Newton matrix A = J^T K J they are
strain - J A^-1 f. For a strand that is clamped at its root this solution is unique up to the choice of frames, and the banded
solve is the sweep from tip to root that sums up the moments of the weight. Refinement removes round-off: A is ill-conditioned,
because thin rods bend much more easily than they stretch.

Equilibrium can be unstable, like a pencil on its tip. The exact Hessian must be positive definite, even after a part of the mass
matrix is subtracted: a shape that the least push topples is of no use.
"""

from __future__ import annotations

import math

from ...compile.jit import kernel, part
from ...compile.lanes import with_axis
from ...errors import Array, Flags, Ints
from .arrays import Arrays, Scratch
from .band import add_entry
from .dense import FOREVER
from .evaluate import evaluate
from .geometry import update_geometry
from .matrix import factor_matrix, solve_matrix
from .stages import make_base
from .workbench import fetch

REFINEMENTS = 6
SHIFT = 1e-4  # segment lengths or rad: of the central differences that give J times a vector
RESIDUAL = (
    1e-6  # of the forces, relative to the largest load; round-off of the tension of thin rods is about 1e-8 of it
)
MOST_BEND = (
    2.0  # between natural and given angle of two edges, in the measure of the strains 2 tan(phi / 2): a right angle
)
MOST_STRAIN = 0.1  # at the surface of the rod, of the natural shape relative to the given one
LEAST_SQUARE = 0.1  # of the lowest frequency, in units of g / L; that of a hanging chain is 1.4


@kernel
def balance_nets(
    b: Arrays, bench: Arrays | None, scratch: Scratch, chosen: Ints, square: Array, good: Flags, begin: int, stop: int
) -> None:
    """Gives nets chosen[begin:stop] natural strains and lengths with which they are in equilibrium at their state under the block's
    forces. good[r] is whether equilibrium was found, is stable (`square` (R,) is the least square of a frequency, 1/s2), and has
    bounded natural curvature. The others' natural strains are undefined."""
    for at in range(begin, stop):
        r = chosen[at]
        if bench is None:
            good[r] = _balance(b, scratch, r, square[r])
        else:
            fetch(b, with_axis(bench), r, 0)
            good[r] = _balance(bench, scratch, 0, square[r])
            _put_natural(b, bench, r)


@part
def _put_natural(b: Arrays, bench: Arrays, r: int) -> None:
    first, n = b.graph.vertices[r], b.graph.vertices[r + 1] - b.graph.vertices[r]
    rest, rest_length = b.material.rest, b.material.rest_length
    source, lengths = bench.material.rest, bench.material.rest_length
    for i in range(n):
        rest_length[first + i] = lengths[i]
    for e in range(2 * n):
        for c in range(5):
            rest[2 * first + e, c] = source[e, c]


@part
def _balance(n: Arrays, scratch: Scratch, r: int, square: float) -> bool:
    graph, material, state, geometry, stage = n.graph, n.material, n.state, n.geometry, n.stage
    rest, rest_length, first, end = material.rest, material.rest_length, graph.unknowns[r], graph.unknowns[r + 1]
    make_base(graph, material, state, n.holds, geometry, r, 1.0)
    if not update_geometry(graph, material, geometry, state, r):
        return False
    for k in range(first, end):
        stage.q[k] = state.q[k]
        stage.v[k] = 0.0
        n.forces.gyroscopic[k] = 0.0
    for i in range(graph.vertices[r], graph.vertices[r + 1]):
        for c in range(6):
            n.forces.drag[i, c] = 0.0
    for e in range(graph.elements[r], graph.elements[r + 1]):
        for c in range(5):
            rest[e, c] = geometry.strain[e, c]
            stage.strain[e, c] = geometry.strain[e, c]
    for j in range(graph.edges[r], graph.edge_end[r]):
        rest_length[j] = geometry.length[j]
        stage.stretch0[j] = 0.0  # the strain that the edge is to have
    good = False
    for _ in range(REFINEMENTS):
        good = _refine(n, scratch, r)
        if good or not _is_finite(n, r):
            break
    return good and _is_bounded(n, r) and _is_stable(n, scratch, r, square)


@part
def _refine(n: Arrays, scratch: Scratch, r: int) -> bool:
    """One correction of natural strains and lengths. True if the forces were in balance before."""
    graph, material, state, geometry, system, stage = n.graph, n.material, n.state, n.geometry, n.system, n.stage
    first, end, trial, gradient, held = (
        graph.unknowns[r], graph.unknowns[r + 1], system.trial, system.gradient, material.held,
    )  # fmt: skip
    for j in range(graph.edges[r], graph.edge_end[r]):
        geometry.stretch[j] = geometry.length[j] / material.rest_length[j] - 1.0
        geometry.tension[j] = 0.0
        stage.stretch[j] = geometry.stretch[j]
    evaluate(graph, material, n.forces, stage, geometry, state, system, n.pattern, scratch, r, FOREVER, 0.0)
    load = left = 0.0
    for k in range(first, end):
        if not held[k]:
            load = max(load, abs(n.forces.force[k]) / material.unit[k])  # N m: forces times a segment length
            left = max(left, abs(gradient[k]) / material.unit[k])
        trial[k] = 0.0 if held[k] else -gradient[k]
    if left <= RESIDUAL * load:
        return True
    if not factor_matrix(graph, held, system, n.pattern, scratch.stack, r):
        return False
    solve_matrix(graph, held, system, n.pattern, r, trial)
    farthest = 0.0
    for k in range(first, end):
        farthest = max(farthest, abs(trial[k]) * material.unit[k])
    if not (farthest > 0.0 and math.isfinite(farthest)):
        return False
    _add_change(n, r, SHIFT / farthest)
    return False


@part
def _add_change(n: Arrays, r: int, size: float) -> None:
    """Subtracts J times system.trial from the natural strains, by central differences of a step of that size."""
    graph, material, state, geometry, stage = n.graph, n.material, n.state, n.geometry, n.stage
    trial, rest, strain, lengths, q = n.system.trial, material.rest, geometry.strain, geometry.length, state.q
    for side in range(2):
        step = size if side == 0 else -size
        for k in range(graph.unknowns[r], graph.unknowns[r + 1]):
            q[k] = stage.q[k] + step * trial[k]
        update_geometry(graph, material, geometry, state, r)
        half = -0.5 / step
        for e in range(graph.elements[r], graph.elements[r + 1]):
            for c in range(5):
                rest[e, c] += half * strain[e, c]
        for j in range(graph.edges[r], graph.edge_end[r]):
            stage.stretch0[j] -= half * lengths[j] / material.rest_length[j]
    for k in range(graph.unknowns[r], graph.unknowns[r + 1]):
        q[k] = stage.q[k]
    update_geometry(graph, material, geometry, state, r)
    for j in range(graph.edges[r], graph.edge_end[r]):
        material.rest_length[j] = lengths[j] / (1.0 + stage.stretch0[j])


@part
def _is_finite(n: Arrays, r: int) -> bool:
    for e in range(n.graph.elements[r], n.graph.elements[r + 1]):
        for c in range(5):
            if not math.isfinite(n.material.rest[e, c]):
                return False
    return True


@part
def _is_bounded(n: Arrays, r: int) -> bool:
    graph, length, radii = n.graph, n.material.rest_length, n.material.radii
    rest, strain = n.material.rest, n.geometry.strain
    for e in range(graph.elements[r], graph.elements[r + 1]):
        a, b = graph.edge_a[e], graph.edge_b[e]
        if a < 0 and b < 0:
            continue
        bend = max(
            math.hypot(rest[e, 0] - strain[e, 0], rest[e, 1] - strain[e, 1]),
            math.hypot(rest[e, 2] - strain[e, 2], rest[e, 3] - strain[e, 3]),
        )
        half = (0.5 * length[a] if a >= 0 else 0.0) + (0.5 * length[b] if b >= 0 else 0.0)
        radius = max(radii[a, 0], radii[a, 1]) if a >= 0 else max(radii[b, 0], radii[b, 1])
        if not (bend <= MOST_BEND and bend * radius <= MOST_STRAIN * half):
            return False
    return True


@part
def _is_stable(n: Arrays, scratch: Scratch, r: int, square: float) -> bool:
    """Whether all frequencies of small vibrations are higher than the root of `square`, rad/s."""
    graph, material, geometry, system = n.graph, n.material, n.geometry, n.system
    first, end = graph.unknowns[r], graph.unknowns[r + 1]
    for j in range(graph.edges[r], graph.edge_end[r]):
        geometry.stretch[j] = geometry.length[j] / material.rest_length[j] - 1.0
        geometry.tension[j] = material.stretch[j] * geometry.stretch[j]
    evaluate(graph, material, n.forces, n.stage, geometry, n.state, system, n.pattern, scratch, r, FOREVER, 1.0)
    for k in range(first, end):
        if n.pattern is None:
            add_entry(
                system.band, system.border, system.corner, first, end - first, graph.closed[r], r, k - first, k - first,
                -square * material.mass[k],
            )  # fmt: skip
        elif not material.held[k]:
            system.values[system.diagonal[k]] -= square * material.mass[k]
    good: bool = factor_matrix(graph, material.held, system, n.pattern, scratch.stack, r)
    return good
