"""From described nets and rods to the arrays of a block, and the pattern of its matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...describe.scene import Entry, Hold
from ...errors import Array, Flags, Ints
from ...maths.linalg.bordered_band import BORDER, COLUMN
from ...maths.linalg.sparse_factor import Pattern
from ...maths.linalg.sparse_order import Finder, analyse
from .arrays import (
    Arrays,
    Graph,
    Material,
    Scratch,
    Sizes,
    System,
    make_forces,
    make_geometry,
    make_holds,
    make_log,
    make_stage,
    make_state,
)
from .element import make_lanes
from .plan import Plan, make_plan
from .topology import order_nodes


def build(entries: Sequence[Entry], holds: Sequence[tuple[int, Hold]]) -> tuple[Arrays, Ints, list[Plan]]:
    """The arrays, the parents of the matrix' supernodes, and the plans of the nets."""
    per_net: list[list[Hold]] = [[] for _ in entries]
    for number, hold in holds:
        per_net[number].append(hold)
    plans = [make_plan(entry, of) for entry, of in zip(entries, per_net, strict=True)]
    graph = make_graph(plans)
    material = _material(plans, graph)
    _hold(plans, per_net, graph, material)
    pattern, parent = make_pattern(plans, graph)
    system = _system(graph, material, pattern)
    nets = _assemble(plans, entries, graph, material, pattern, system)
    return nets, parent, plans


def make_scratch(stack: int) -> Scratch:
    """For a worker; `stack` is the size of update matrices, see `stack_size`."""
    return Scratch(make_lanes(), np.zeros(stack), np.zeros((7, 7)), np.zeros((10, 10)))


def _starts(counts: list[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _joined(parts: list[NDArray[Any]], offsets: Ints, keep_negative: bool = False) -> Ints:
    """Local numbers of all plans, as global ones."""
    moved = [
        np.where(part < 0, -1, part + offset) if keep_negative else part + offset
        for part, offset in zip(parts, offsets[:-1], strict=True)
    ]
    return np.asarray(np.concatenate(moved), dtype=np.int64)


def make_graph(plans: list[Plan]) -> Graph:
    vertices = _starts([len(p.points) for p in plans])
    edges = _starts([len(p.edges) for p in plans])
    joints = _starts([int(p.joints.sum()) for p in plans])
    elements = _starts([len(p.middle) for p in plans])
    v, e, j = np.diff(vertices), np.diff(edges), np.diff(joints)
    unknowns = _starts([int(k) for k in 3 * v + e + 3 * j])
    joint_of = [np.where(p.joints, np.cumsum(p.joints) - 1, -1) for p in plans]
    return Graph(
        chain=np.zeros(len(plans), np.bool_),
        closed=np.zeros(len(plans), np.bool_),
        vertices=vertices,
        edges=edges,
        edge_end=edges[1:].copy(),
        joints=joints,
        elements=elements,
        unknowns=unknowns,
        x=np.concatenate([u + 3 * np.arange(k) for u, k in zip(unknowns, v, strict=False)]),
        tail=_joined([p.edges[:, 0] for p in plans], vertices),
        head=_joined([p.edges[:, 1] for p in plans], vertices),
        theta=np.concatenate([u + 3 * k + np.arange(m) for u, k, m in zip(unknowns, v, e, strict=False)]),
        omega=np.concatenate([u + 3 * k + m + 3 * np.arange(c) for u, k, m, c in zip(unknowns, v, e, j, strict=False)]),
        vertex=_joined([np.flatnonzero(p.joints) for p in plans], vertices),
        middle=_joined([p.middle for p in plans], vertices),
        edge_a=_joined([p.edge_a for p in plans], edges, True),
        edge_b=_joined([p.edge_b for p in plans], edges, True),
        joint=_joined([of[p.middle] for of, p in zip(joint_of, plans, strict=True)], joints, True),
    )


def _material(plans: list[Plan], graph: Graph) -> Material:
    def together(name: str) -> Array:
        return np.concatenate([getattr(plan, name) for plan in plans])

    n = int(graph.unknowns[-1])
    rest_length, spin_inertia = together("rest_length"), together("spin_inertia")
    mass, unit = np.zeros(n), np.ones(n)
    mass[graph.theta] = spin_inertia
    shortest = np.full(len(graph.x), np.inf)
    np.minimum.at(shortest, graph.tail, rest_length)
    np.minimum.at(shortest, graph.head, rest_length)
    radii = together("radii")
    # A joint is as hard to turn as the material within a radius of it: next to nothing, but more than nothing.
    ball = np.zeros(len(graph.x))
    small = spin_inertia / rest_length * radii.mean(axis=1)
    np.add.at(ball, graph.tail, small)
    np.add.at(ball, graph.head, small)
    for c in range(3):
        mass[graph.x + c] = together("vertex_mass")
        unit[graph.x + c] = 1.0 / shortest
        mass[graph.omega + c] = ball[graph.vertex]
    break_force, break_moment = together("break_force"), together("break_moment")
    breakable = [
        bool(np.isfinite(break_force[graph.edges[r] : graph.edges[r + 1]]).any())
        or bool(np.isfinite(break_moment[graph.elements[r] : graph.elements[r + 1]]).any())
        for r in range(len(plans))
    ]
    return Material(
        damping_time=np.array([plan.damping_time for plan in plans]),
        rest_length=rest_length,
        radii=radii,
        stretch=together("stretch"),
        stiffness=together("stiffness"),
        rest=together("rest"),
        arm_t=together("arm_t"),
        arm_d=together("arm_d"),
        mass=mass,
        unit=unit,
        held=np.zeros(n, dtype=np.bool_),
        framed=np.zeros(len(graph.vertex), dtype=np.bool_),
        edge_framed=np.zeros(len(graph.tail), dtype=np.bool_),
        break_force=break_force,
        break_moment=break_moment,
        breakable=np.array(breakable, dtype=np.bool_),
    )


def _hold(plans: list[Plan], per_net: list[list[Hold]], graph: Graph, material: Material) -> None:
    for r, of in enumerate(per_net):
        for hold in of:
            if hold.kind == "edge":
                e = int(graph.edges[r]) + hold.index
                vertices = [int(graph.tail[e]), int(graph.head[e])]
                material.edge_framed[e] = True
                material.held[graph.theta[e]] = True
            else:
                vertices = [int(graph.vertices[r]) + hold.index]
            if hold.holds_position:
                for vertex in vertices:
                    material.held[graph.x[vertex] : graph.x[vertex] + 3] = True
            if hold.holds_frame and hold.kind != "edge":
                joint = int(np.searchsorted(graph.vertex, vertices[0]))
                material.framed[joint] = True
                material.held[graph.omega[joint] : graph.omega[joint] + 3] = True


def make_pattern(plans: list[Plan], graph: Graph, elements: bool = True) -> tuple[Pattern, Ints]:
    """Of a matrix in all unknowns of a graph, which edges couple and, where wanted, elements and joints."""
    nets = []
    for r, plan in enumerate(plans):
        nodes = order_nodes(plan.chains, plan.joints, len(plan.edges), plan.points)
        unknowns: list[list[int]] = [[] for _ in nodes.order]
        first_vertex, first_edge, first_joint = graph.vertices[r], graph.edges[r], graph.joints[r]
        for v, node in enumerate(nodes.of_vertex):
            k = int(graph.x[first_vertex + v])
            unknowns[node] += [k, k + 1, k + 2]
        for e, node in enumerate(nodes.of_edge):
            unknowns[node].append(int(graph.theta[first_edge + e]))
        for k, v in enumerate(np.flatnonzero(plan.joints) if elements else []):
            w = int(graph.omega[first_joint + k])
            unknowns[nodes.of_vertex[v]] += [w, w + 1, w + 2]
        neighbours: list[set[int]] = [set() for _ in nodes.order]

        def link(*of: int, neighbours: list[set[int]] = neighbours) -> None:
            for node in of:
                neighbours[node].update(of)

        for e, (a, b) in enumerate(plan.edges.tolist()):
            link(nodes.of_edge[e], nodes.of_vertex[a], nodes.of_vertex[b])
        tails, heads = plan.edges[:, 0].tolist(), plan.edges[:, 1].tolist()
        for i, a, b in zip(plan.middle.tolist(), plan.edge_a.tolist(), plan.edge_b.tolist(), strict=True):
            if elements and a >= 0 and b >= 0:
                link(
                    nodes.of_vertex[tails[a]], nodes.of_edge[a], nodes.of_vertex[i], nodes.of_edge[b],
                    nodes.of_vertex[heads[b]],
                )  # fmt: skip
        for node, of in enumerate(neighbours):
            of.discard(node)
        nets.append((unknowns, neighbours, nodes.order))
    return analyse(nets, int(graph.unknowns[-1]))


class Places(NamedTuple):
    """Where entries of the matrix stand; none where an unknown is held."""

    of_vertex: Ints
    of_edge: Ints
    of_element: Ints


def matrix_places(graph: Graph, held: Flags, finder: Finder) -> Places:
    def positions(first: Ints) -> Ints:
        """(k, 3) the three unknowns that begin there; -1 where there are none."""
        return np.where(first[:, None] < 0, -1, first[:, None] + np.arange(3))

    def entries(unknowns: Ints, pairs: list[tuple[int, int]]) -> Ints:
        free = np.where(unknowns < 0, -1, np.where(held[unknowns], -1, unknowns))
        rows, columns = (free[:, [pair[k] for pair in pairs]] for k in range(2))
        return finder.entries(rows, columns)

    def of(numbers: Ints, which: Ints) -> Ints:
        """numbers[which], and -1 where which is."""
        return np.where(which < 0, -1, numbers[which])

    by_rows = [[(s, c) for s in range(k) for c in range(s + 1)] for k in (3, 7)]
    by_columns = [[(s, c) for c in range(k) for s in range(c, k)] for k in (11, 10)]
    x, a, b, joint = graph.x, graph.edge_a, graph.edge_b, graph.joint
    edge = np.concatenate([positions(x[graph.tail]), graph.theta[:, None], positions(x[graph.head])], axis=1)
    between = np.concatenate(
        [
            positions(of(x[graph.tail], a)), of(graph.theta, a)[:, None], positions(x[graph.middle]),
            of(graph.theta, b)[:, None], positions(of(x[graph.head], b)),
        ],
        axis=1,
    )  # fmt: skip
    of_element = entries(between, by_columns[0])
    arms = np.flatnonzero(joint >= 0)
    out = b[arms] >= 0
    own = np.where(out, b[arms], a[arms])
    far = np.where(out, graph.head[own], graph.tail[own])
    arm = np.concatenate(
        [
            positions(graph.omega[joint[arms]]), positions(x[graph.middle[arms]]), graph.theta[own][:, None],
            positions(x[far]),
        ],
        axis=1,
    )  # fmt: skip
    of_element[arms] = 0
    of_element[arms, :55] = entries(arm, by_columns[1])
    return Places(entries(positions(x), by_rows[0]), entries(edge, by_rows[1]), of_element)


def _system(graph: Graph, material: Material, pattern: Pattern) -> System:
    finder = Finder(pattern)
    n = int(graph.unknowns[-1])
    every = np.arange(n)
    return System(
        base=np.zeros(n),
        gradient=np.zeros(n),
        step=np.zeros(n),
        trial=np.zeros(n),
        band=np.zeros((0, COLUMN)),
        border=np.zeros((0, BORDER)),
        corner=np.zeros((0, BORDER, BORDER)),
        ordered=np.zeros(n),
        values=np.zeros(int(pattern.panel[-1])),
        diagonal=finder.entries(every, every),
        **matrix_places(graph, material.held, finder)._asdict(),
    )


def _assemble(
    plans: list[Plan], entries: Sequence[Entry], graph: Graph, material: Material, pattern: Pattern, system: System
) -> Arrays:
    size = Sizes.of(graph)
    state = make_state(size, False)
    points = np.concatenate([plan.points for plan in plans])
    velocity = np.concatenate([entry.velocity for entry in entries])
    for c in range(3):
        state.q[graph.x + c] = points[:, c]
        state.v[graph.x + c] = velocity[:, c]
    state.m1[:] = np.concatenate([plan.m1 for plan in plans])
    state.twist[:] = np.concatenate([plan.twist for plan in plans])
    frames = [plan.frame[int(i)] for plan in plans for i in np.flatnonzero(plan.joints)]
    state.frame[:] = np.array(frames).reshape(-1, 9)
    holds = make_holds(size, False)
    holds.position[:] = points
    holds.tangent[:], holds.director[:] = state.frame[:, 2::3], state.frame[:, 0::3]
    holds.edge_director[:] = state.m1
    geometry = make_geometry(size, False)
    geometry.frame[:] = geometry.base_frame[:] = state.frame
    return Arrays(
        graph=graph,
        material=material,
        state=state,
        saved=make_state(size, False),
        holds=holds,
        forces=make_forces(size, size),
        stage=make_stage(size),
        geometry=geometry,
        system=system,
        pattern=pattern,
        log=make_log(size),
    )
