"""Coupling of explicit nets and rigid bodies.

Connected nets and bodies form an assembly. In every step of its frames all parts move uncoupled, and are then projected onto
the ties' conditions c = 0 by
    d = M^-1 C^T f,  y = B^-1 D^T f,    (C M^-1 C^T + D B^-1 D^T) f = -c,
with the masses M of points and frames and B of bodies. A correction in a step of length h also changes the velocities, by d / h
and y / h. This preserves momentum for any mass ratio.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy import int64

from ....compile.jit import kernel, part
from ....contact.bodies.attached import make_ties
from ....contact.bodies.block import BodyBlock
from ....contact.bodies.explicit import (
    Bodies,
    explicit_bodies,
    fly,
    groups_of,
    in_axes,
    lead,
    starts,
    straighten,
    turn_body,
)
from ....contact.bodies.ties import Conditions, Ties, measure
from ....describe.attachment import Attachment
from ....describe.scene import Entry
from ....errors import Array, Ints
from ....maths.linalg.dense import factor_dense, solve_dense
from ....maths.linalg.small import get4, put4
from ...elastic.arrays import Graph
from ...report import FAILURES, HALVINGS, ITERATIONS
from .arrays import Arrays
from .forces import first_director, turned
from .stepping import MOST_HALVINGS, MOST_STEPS, MOST_WORK, copy_state, step_frames, step_points, stop_net


class Carried(NamedTuple):
    bodies: Bodies
    ties: Ties  # sorted by assembly
    edge: Ints  # (K,)
    every: Ints  # (K,) 0, 1, ...
    net_of: Ints  # (A + 1,) ranges of nets of an assembly; body_of and tie_of likewise
    body_of: Ints  # (A + 1,)
    tie_of: Ints  # (A + 1,)
    net: Ints
    body: Ints
    start: Array  # (K, 3) m, of the tied edges
    end: Array  # (K, 3)
    director: Array  # (K, 3)
    no_force: Array  # (K, 6)
    conditions: Conditions
    matrix: Array  # (6 K', 6 K') of the largest assembly
    force: Array  # (6 K',)
    impulse: Array  # (B, 6) N s and N m s, of the ties on the bodies


def carry(
    b: Arrays,
    graph: Graph,
    entries: Sequence[Entry],
    attachments: Sequence[tuple[int, Attachment]],
    block: BodyBlock,
    impulse: Array,
) -> Carried:
    """`attachments` come with the index of their net."""
    groups = groups_of(len(entries), block, attachments)
    group_of = {net: k for k, (nets, _) in enumerate(groups) for net in nets}
    ordered = sorted(attachments, key=lambda pair: group_of[pair[0]])
    edge = np.array([int(graph.edges[net]) + one.edge for net, one in ordered], int64)
    tail = (
        np.array([entries[net].rod.ends(one.edge)[0] for net, one in ordered], int64)
        + graph.vertices[[net for net, _ in ordered]]
    )
    at = np.array([one.at for _, one in ordered])
    at = np.where(graph.tail[edge] == tail, at, 1.0 - at)  # chains may traverse an edge backwards
    count = len(ordered)
    c = Carried(
        bodies=explicit_bodies(block),
        ties=make_ties([one for _, one in ordered], block, _edges(b, graph, edge), at),
        edge=edge,
        every=np.arange(count),
        net_of=starts([nets for nets, _ in groups]),
        body_of=starts([members for _, members in groups]),
        tie_of=starts([[one for net, one in ordered if group_of[net] == k] for k in range(len(groups))]),
        net=np.array([net for nets, _ in groups for net in nets], int64),
        body=np.array([k for _, members in groups for k in members], int64),
        start=np.zeros((count, 3)),
        end=np.zeros((count, 3)),
        director=np.zeros((count, 3)),
        no_force=np.zeros((count, 6)),
        conditions=Conditions(
            np.zeros((count, 6)), np.zeros((count, 6, 7)), np.zeros((count, 6, 6)), np.zeros((count, 3, 3)),
            np.zeros((count, 3)),
        ),
        matrix=np.zeros((0, 0)),
        force=np.zeros(0),
        impulse=impulse,
    )  # fmt: skip
    size = 6 * int(np.diff(c.tie_of).max())
    return c._replace(matrix=np.zeros((size, size)), force=np.zeros(size))


def _edges(b: Arrays, graph: Graph, edge: Ints) -> tuple[Array, Array, Array]:
    x, y, z, w = b.state.q[edge].T
    director = np.stack([x * x - y * y - z * z + w * w, 2 * (x * y + z * w), 2 * (x * z - y * w)], axis=1)
    return b.state.r[graph.tail[edge]], b.state.r[graph.head[edge]], director


@kernel
def step_carried_cordes(b: Arrays, saved: Arrays, c: Carried, before: Array, h: float, first: int, last: int) -> None:
    """Advances assemblies first ... last - 1 by h, as `step_cordes` does for nets. `before` (B, 18) is the initial state of the
    bodies."""
    n, report = b.nets, b.work.report
    for a in range(first, last):
        needed, parts, segments = 1.0, 1, 0.0
        for m in range(c.net_of[a], c.net_of[a + 1]):
            r = c.net[m]
            copy_state(saved, r, False)
            needed = max(needed, h / n.step[r])
            parts = max(parts, n.substeps[r])
            segments += n.substeps[r] * float(n.edges[r + 1] - n.edges[r])
            b.work.span[r] = h
        most = MOST_WORK / max(segments, MOST_WORK / MOST_STEPS)
        if not needed < most:
            _stop(b, c, before, a)
            continue
        steps = math.ceil(needed - 1e-9)
        for attempt in range(MOST_HALVINGS + 1):
            good = True
            for k in range(steps):
                good = good and _step(b, c, a, h, k, steps, parts)
            for m in range(c.net_of[a], c.net_of[a + 1]):
                report[c.net[m], ITERATIONS] += steps
            if good:
                break
            for m in range(c.net_of[a], c.net_of[a + 1]):
                copy_state(saved, c.net[m], True)
            if attempt == MOST_HALVINGS or 2.0 * steps > most:
                _stop(b, c, before, a)
                break
            for m in range(c.net_of[a], c.net_of[a + 1]):
                report[c.net[m], HALVINGS] += 1.0
            for m in range(c.body_of[a], c.body_of[a + 1]):
                _put_body(c.bodies, before, c.body[m], 1.0)
            steps *= 2
        for m in range(c.body_of[a], c.body_of[a + 1]):
            straighten(c.bodies.rotation, c.body[m])


@part
def _stop(b: Arrays, c: Carried, before: Array, a: int) -> None:
    """Gives an assembly up: it stays where it was, without speed."""
    for m in range(c.net_of[a], c.net_of[a + 1]):
        b.work.report[c.net[m], FAILURES] += 1.0
        stop_net(b, c.net[m])
    for m in range(c.body_of[a], c.body_of[a + 1]):
        _put_body(c.bodies, before, c.body[m], 0.0)


@part
def _put_body(bodies: Bodies, before: Array, k: int, speed: float) -> None:
    for i in range(3):
        bodies.x[k, i] = before[k, i]
        bodies.v[k, i], bodies.w[k, i] = speed * before[k, 12 + i], speed * before[k, 15 + i]
        for j in range(3):
            bodies.rotation[k, i, j] = before[k, 3 + 3 * i + j]


@part
def _step(b: Arrays, c: Carried, a: int, whole: float, number: int, steps: int, parts: int) -> bool:
    """Step `number` of the assembly, of `steps` that make up the time `whole`."""
    bodies = c.bodies
    good = True
    for m in range(c.net_of[a], c.net_of[a + 1]):
        good = good and step_points(b, c.net[m], whole / steps)
    for p in range(parts):
        if not good:
            break
        h = whole / (steps * parts)
        at = (number * parts + p + 1.0) / (steps * parts)
        for m in range(c.net_of[a], c.net_of[a + 1]):
            good = good and step_frames(b, c.net[m], h, at)
        for m in range(c.body_of[a], c.body_of[a + 1]):
            k = c.body[m]
            if bodies.kinematic[k]:
                lead(bodies, k, at)
                continue
            for i in range(3):
                for j in range(3):
                    bodies.before_rotation[k, i, j] = bodies.rotation[k, i, j]
            fly(bodies, k, h)
        good = good and _project_ties(b, c, a, h)
    return good


@part
def _project_ties(b: Arrays, c: Carried, a: int, h: float) -> bool:
    """Projects an assembly onto its ties' conditions. Returns False if the matrix is singular."""
    n, state, ties, bodies, out, matrix = b.nets, b.state, c.ties, c.bodies, c.conditions, c.matrix
    first, count = c.tie_of[a], c.tie_of[a + 1] - c.tie_of[a]
    for t in range(first, first + count):
        j = c.edge[t]
        d = first_director(get4(state.q, j))
        for i in range(3):
            c.start[t, i], c.end[t, i], c.director[t, i] = state.r[n.tail[j], i], state.r[n.head[j], i], d[i]
    measure(
        ties, c.every[first : first + count], c.start, c.end, c.director, bodies.x, bodies.rotation, c.no_force, out
    )
    for s in range(count):
        for t in range(s + 1):
            _couple(b, c, first, s, t)
        for i in range(6):
            c.force[6 * s + i] = -out.amiss[s, i]
            if i >= ties.conditions[first + s]:
                matrix[6 * s + i, 6 * s + i] = 1.0
            # A condition that can't be satisfied, because both sides are prescribed, is ignored.
            matrix[6 * s + i, 6 * s + i] = max(matrix[6 * s + i, 6 * s + i] * (1.0 + 1e-10), 1e-300)
    if not factor_dense(matrix, 6 * count):
        return False
    solve_dense(matrix, 6 * count, c.force)
    for t in range(count):
        _move_edge(b, c, first, t, h)
        _move_body(c, first, t, h)
    return True


@part
def _inverse_mass(b: Arrays, j: int, k: int) -> tuple[int, float]:
    """Coordinate k of a segment: its point (-1: rotation about the segment) and inverse mass."""
    n = b.nets
    if k == 6:
        return -1, 0.0 if n.framed[j] else 1.0 / n.inertia[j, 2]
    i = n.tail[j] if k < 3 else n.head[j]
    return i, 0.0 if n.held[i] else 1.0 / n.mass[i]


@part
def _couple(b: Arrays, c: Carried, first: int, s: int, t: int) -> None:
    """Block of two ties in the matrix: the effect of a force in one condition on the other condition."""
    by_edge, by_body, bodies = c.conditions.by_edge, c.conditions.by_body, c.bodies
    one, other = c.edge[first + s], c.edge[first + t]
    k = c.ties.body[first + s]
    same_body = k == c.ties.body[first + t] and not bodies.kinematic[k]
    rows, columns = c.ties.conditions[first + s], c.ties.conditions[first + t]
    for i in range(6):
        for j in range(6):
            c.matrix[6 * s + i, 6 * t + j] = 0.0
    for u in range(7):
        place, inverse_mass = _inverse_mass(b, one, u)
        for v in range(7):
            if u == v if u == 6 or v == 6 else u % 3 == v % 3:
                there, _ = _inverse_mass(b, other, v)
                if place == there and (place >= 0 or one == other):
                    for i in range(rows):
                        for j in range(columns):
                            c.matrix[6 * s + i, 6 * t + j] += by_edge[s, i, u] * inverse_mass * by_edge[t, j, v]
    if not same_body:
        return
    for j in range(columns):
        move = (by_body[t, j, 0], by_body[t, j, 1], by_body[t, j, 2])
        turn = in_axes(
            bodies.inverse_inertia, bodies.rotation, k, (by_body[t, j, 3], by_body[t, j, 4], by_body[t, j, 5])
        )
        for i in range(rows):
            value = 0.0
            for v in range(3):
                value += by_body[s, i, v] * move[v] / bodies.mass[k] + by_body[s, i, 3 + v] * turn[v]
            c.matrix[6 * s + i, 6 * t + j] += value


@part
def _move_edge(b: Arrays, c: Carried, first: int, t: int, h: float) -> None:
    state, by_edge = b.state, c.conditions.by_edge
    j = c.edge[first + t]
    for u in range(7):
        push = 0.0
        for i in range(6):
            push += by_edge[t, i, u] * c.force[6 * t + i]
        place, inverse_mass = _inverse_mass(b, j, u)
        way = inverse_mass * push
        if place >= 0:
            state.r[place, u % 3] += way
            state.v[place, u % 3] += way / h
        else:
            state.w[j, 2] += way / h
            put4(state.q, j, turned(get4(state.q, j), (0.0, 0.0, way)))


@part
def _move_body(c: Carried, first: int, t: int, h: float) -> None:
    bodies, by_body = c.bodies, c.conditions.by_body
    k = c.ties.body[first + t]
    push, turn = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(6):
        f = c.force[6 * t + i]
        push = (push[0] + f * by_body[t, i, 0], push[1] + f * by_body[t, i, 1], push[2] + f * by_body[t, i, 2])
        turn = (turn[0] + f * by_body[t, i, 3], turn[1] + f * by_body[t, i, 4], turn[2] + f * by_body[t, i, 5])
    for i in range(3):
        c.impulse[k, i] += push[i] / h
        c.impulse[k, 3 + i] += turn[i] / h
    if bodies.kinematic[k]:
        return
    way = in_axes(bodies.inverse_inertia, bodies.rotation, k, turn)
    for i in range(3):
        bodies.x[k, i] += push[i] / bodies.mass[k]
        bodies.v[k, i] += push[i] / (bodies.mass[k] * h)
        bodies.w[k, i] += way[i] / h
    turn_body(bodies.rotation, k, way)
