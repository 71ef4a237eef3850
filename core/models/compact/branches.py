"""Nets without loops as branching rods.

One point is the root, and all others follow from it arm by arm. An arm runs to a free end or to the next joint, a point of
three or more segments. A joint has its own frame, as in the model `net`. It is represented by a fork, an edge of zero length,
and an element of half a segment's length connects it to the first edge of each arm. Points of two segments behave as in a rod.
The first edge of an arm has a row of its own, which shares the position of the fork and has no mass.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...describe.net import Net
from ...describe.scene import Entry, Hold, held_vertices
from ...errors import Array, Flags, Ints, TendrilError
from ...maths.geometry.frames import twist_angles
from ...maths.geometry.quaternions import from_frame, relative
from ..elastic.build_rods import Shape, vertex_frame
from ..elastic.plan import fit_frame, frames_along, refuse_spins
from ..elastic.topology import Chain, edges_beside_joints, find_chains
from ..held_frames import FRAMED, FREE_END, INNER
from .arrays import Arrays
from .shapes import TAUT, put_strains, quaternions, raise_distance


class Tree(NamedTuple):
    """Rows of a net, ordered from the root."""

    vertex: Ints  # (n,) vertex of the net
    edge: Ints  # (n,) edge of the net after the row; -1: none
    before: Ints  # (n,) previous row; -1 at the root
    fork: Flags  # (n,)
    backwards: Flags  # (n,) whether the edge is traversed against its chain
    arms: list[tuple[int, int]]  # first and last row; the last is a free end or a fork
    chains: list[Chain]
    ends: Ints  # (E, 2) vertices of the net's edges, oriented along their chains

    @property
    def own(self) -> Ints:
        """Row of each point of the net; at the start of an arm this is the row of the fork."""
        rows = np.empty(int(self.vertex.max()) + 1, np.int64)
        rows[self.vertex[::-1]] = np.arange(len(self.vertex))[::-1]
        return rows

    @property
    def row_of_edge(self) -> Ints:
        rows = np.empty(len(self.ends), np.int64)
        there = np.flatnonzero(self.edge >= 0)
        rows[self.edge[there]] = there
        return rows


def grow_tree(net: Net, holds: list[Hold]) -> Tree:
    degree = np.bincount(net.edges.ravel(), minlength=net.vertex_count)
    _check_net(net, holds)
    chains, ends = find_chains(net.edges, degree >= 3)
    arms_at: dict[int, list[tuple[Chain, bool]]] = {}
    for chain in chains:
        arms_at.setdefault(chain.vertices[0], []).append((chain, False))
        arms_at.setdefault(chain.vertices[-1], []).append((Chain(chain.edges[::-1], chain.vertices[::-1]), True))
    vertex, edge, before, fork, backwards, arms = [], [], [], [], [], []  # type: ignore[var-annotated]

    def add(v: int, e: int, last: int, is_fork: bool, back: bool) -> int:
        for column, value in zip((vertex, edge, before, fork, backwards), (v, e, last, is_fork, back), strict=True):
            column.append(value)
        return len(vertex) - 1

    root = _root(net, holds, degree)
    start = add(root, -1, -1, True, False) if degree[root] > 1 else -1
    waiting = [(chain, back, start) for chain, back in reversed(arms_at[root])]
    while waiting:
        chain, back, last = waiting.pop()
        begin = len(vertex)
        for v, e in zip(chain.vertices, chain.edges, strict=False):
            last = add(v, e, last, False, back)
        v = chain.vertices[-1]
        last = add(v, -1, last, bool(degree[v] > 1), False)
        arms.append((begin, last))
        if fork[-1]:
            beyond = [(other, back) for other, back in arms_at[v] if other.edges[0] != chain.edges[-1]]
            waiting += [(other, back, last) for other, back in reversed(beyond)]
    rows = np.array([vertex, edge, before], np.int64)
    flags = np.array([fork, backwards], np.bool_)
    return Tree(rows[0], rows[1], rows[2], flags[0], flags[1], arms, chains, ends)


def _root(net: Net, holds: list[Hold], degree: Ints) -> int:
    """Vertex chosen as root: preferably held, because a held root has no unknown position, and preferably a joint. Never inside
    a chain."""
    held = {hold.index for hold in holds if hold.kind in ("pin", "clamp")}
    ends = np.flatnonzero(degree != 2).tolist()
    return int(max(ends, key=lambda v: (v in held, min(degree[v], 3), -v)))


def _check_net(net: Net, holds: list[Hold]) -> None:
    refuse_spins(net, holds)
    for name in ("break_force", "break_moment"):
        if np.isfinite(getattr(net, name)).any():
            raise TendrilError(
                name, float(getattr(net, name).min()), 'compact nets do not break: choose the model "net"'
            )
    seen, waiting = np.zeros(net.vertex_count, np.bool_), [0]
    beside: list[list[int]] = [[] for _ in range(net.vertex_count)]
    for a, b in net.edges.tolist():
        beside[a].append(b)
        beside[b].append(a)
    seen[0] = True
    while waiting:
        for v in beside[waiting.pop()]:
            if not seen[v]:
                seen[v] = True
                waiting.append(v)
    if not seen.all():
        alone = int(np.flatnonzero(~seen)[0])
        raise TendrilError(
            "edges", alone, f"point {alone} is not connected to point 0: add each connected part by itself"
        )
    if net.edge_count >= net.vertex_count:
        raise TendrilError("edges", net.edge_count, 'a compact net has no loops: cut them, or choose the model "net"')


def place_net(b: Arrays, r: int, entry: Entry, holds: list[Hold], tree: Tree) -> None:
    net, rods = entry.rod, b.rods
    first, n, fork = int(rods.start[r]), len(tree.vertex), int(rods.forks[r])
    rows = slice(first, first + n)
    there = tree.edge >= 0
    numbers = np.where(tree.fork, fork + np.cumsum(tree.fork) - 1, -1)
    rods.damping_time[r] = net.damping_time
    rods.before[rows] = np.where(tree.before < 0, -1, first + tree.before)
    rods.edge[rows] = there | tree.fork
    rods.fork[rows] = numbers
    rods.of_fork[rows] = np.where(tree.before < 0, -1, numbers[tree.before])
    # Rows without an edge take the values of the previous edge.
    near = np.where(there, tree.edge, np.where(tree.before < 0, 0, tree.edge[tree.before]))
    rods.rest_length[rows] = net.rest_lengths[near]
    rods.arm[rows] = np.where(there, net.rest_lengths[near], 0.0)
    rods.radii[rows] = net.radii[near]
    rods.stiffest[r] = float((12.0 * net.bend.max(axis=1) / net.rest_lengths**3).max())
    _masses(b, net, tree, first)
    joint = np.full(n, INNER)
    joint[(tree.before < 0) | ~(there | tree.fork)] = FREE_END
    rods.joint[rows] = joint
    own, row_of_edge = tree.own, tree.row_of_edge
    for hold in holds:
        if hold.kind == "edge":
            i = first + int(row_of_edge[hold.index])
            rods.held[[i, i + 1]] = True
            rods.edge_framed[i] = True
            rods.arm[i] = 0.0
            continue
        i = first + int(own[hold.index])
        rods.held[i] = hold.holds_position
        if hold.along is not None:
            rods.rail[i] = hold.along
        if hold.holds_frame:
            rods.joint[i] = FRAMED
            rods.edge_framed[i] = tree.fork[own[hold.index]]
    _check_distances(net, tree, holds)
    _stiffnesses(b, net, tree, first)
    rods.seam[r] = (1.0, 0.0, 0.0, 0.0)
    b.state.x[first] = net.points[tree.vertex[0]]
    b.state.v[rows, :3] = entry.velocity[tree.vertex]
    b.holds.position[:, rows] = net.points[tree.vertex]
    _frames(b, net, tree, holds, first)


def _masses(b: Arrays, net: Net, tree: Tree, first: int) -> None:
    mass = b.rods.mass
    there = np.flatnonzero(tree.edge >= 0)
    e = tree.edge[there]
    edge_mass = net.mass_per_length * net.rest_lengths
    own = first + tree.own
    mass[own, 0] = net.point_mass
    for side in range(2):
        np.add.at(mass[:, 0], own[net.edges[:, side]], 0.5 * edge_mass)
    share = net.bend[e] / net.bend[e].sum(axis=1)[:, None]
    mass[first + there, 1:] = share * (net.inertia_per_length * net.rest_lengths)[e][:, None]


def _stiffnesses(b: Arrays, net: Net, tree: Tree, first: int) -> None:
    """Stiffness of two half edges in series; next to a joint or a prescribed frame, of one half edge."""
    n, there = len(tree.vertex), tree.edge >= 0
    modulus = np.stack([net.bend[:, 1], net.bend[:, 0], net.twist_stiffness], axis=1)
    compliance = np.zeros((n, 3))
    compliance[there] = (0.5 * net.rest_lengths[:, None] / modulus)[tree.edge[there]]
    scale = net.joint_stiffness[tree.vertex]
    for i in range(n):
        kind = b.rods.joint[first + i]
        if kind == INNER:
            b.rods.stiffness[first + i, 0] = scale[i] / (compliance[tree.before[i]] + compliance[i])
        elif kind == FRAMED:
            if tree.before[i] >= 0:
                b.rods.stiffness[first + i, 0] = scale[i] / compliance[tree.before[i]]
            if there[i]:
                b.rods.stiffness[first + i, 1] = scale[i] / compliance[i]


def _frames(b: Arrays, net: Net, tree: Tree, holds: list[Hold], first: int) -> None:
    """Initial frames of edges, joints and holds, and natural strains of the elements."""
    rest = frames_along(tree.chains, tree.ends, net.rest_points, net.director, None)
    now = rest
    if not np.array_equal(net.points, net.rest_points):
        now = frames_along(tree.chains, tree.ends, net.points, None, rest)
    natural, drawn = (_row_frames(tree, *of[:2]) for of in (rest, now))
    _joint_frames(tree, natural, drawn)
    q_rest, q = (quaternions(frames[:, 2], frames[:, 0]) for frames in (natural, drawn))
    b.state.q[first : first + len(q)] = q
    rods, own, x = b.rods, tree.own, b.state.x
    for i in range(len(q)):
        before = tree.before[i]
        if before >= 0:  # Edges get their rest lengths, whatever their drawn lengths.
            length = 0.0 if tree.fork[before] else rods.rest_length[first + before]
            x[first + i] = x[first + before] + length * drawn[before, 2]
        if rods.of_fork[first + i] >= 0:
            rods.splay[first + i] = relative(tuple(q_rest[before]), tuple(q_rest[i]))
        elif rods.joint[first + i] == INNER:
            put_strains(b, first + i, q_rest[before], None, q_rest[i])
    for hold in holds:
        if hold.kind == "edge":
            i = int(tree.row_of_edge[hold.index])
            b.holds.director[:, first + i] = drawn[i, 0]
        elif hold.holds_frame:
            i = int(own[hold.index])
            t, d = drawn[i, 2], drawn[i, 0]
            if not tree.fork[i]:
                arm = next(arm for arm in tree.arms if arm[0] <= i <= arm[1])
                t, d = _section(net.points, tree, drawn, arm, i)
                middle = from_frame(*(tuple(part) for part in _section(net.rest_points, tree, natural, arm, i)))
                last = q_rest[tree.before[i]] if tree.before[i] >= 0 else None
                put_strains(b, first + i, last, middle, q_rest[i] if tree.edge[i] >= 0 else None)
            b.holds.tangent[:, first + i] = t
            b.holds.director[:, first + i] = d


def _row_frames(tree: Tree, tangents: Array, directors: Array) -> Array:
    """(n, 3, 3) d1, d2, d3 of the edge after each row, as rows of a matrix; the identity where there is no edge."""
    out = np.tile(np.eye(3), (len(tree.edge), 1, 1))
    there = tree.edge >= 0
    t = np.where(tree.backwards[:, None], -1.0, 1.0)[there] * tangents[tree.edge[there]]
    d = directors[tree.edge[there]]
    out[there] = np.stack([d, np.cross(t, d), t], axis=1)
    return out


def _joint_frames(tree: Tree, natural: Array, drawn: Array) -> None:
    """The natural frame of a joint is that of the edge before it, or of its first arm at the root."""
    for j in np.flatnonzero(tree.fork).tolist():
        arms = np.flatnonzero(tree.before == j).tolist()
        if tree.before[j] >= 0:
            arms.insert(0, int(tree.before[j]))
        natural[j] = natural[arms[0]]
        drawn[j] = fit_frame(natural[j].T, [natural[k].T for k in arms], [drawn[k].T for k in arms]).T


def _section(points: Array, tree: Tree, frames: Array, arm: tuple[int, int], i: int) -> tuple[Array, Array]:
    """Tangent and first director of the cross-section at row i of an arm."""
    begin, end = arm
    x = points[tree.vertex[begin : end + 1]]
    t, d = np.ascontiguousarray(frames[begin:end, 2]), np.ascontiguousarray(frames[begin:end, 0])
    twist = np.empty(len(t))
    twist_angles(t, d, twist)
    shape = Shape(x, t, d, np.linalg.norm(np.diff(x, axis=0), axis=1), twist)
    return vertex_frame(shape, d, twist, i - begin, end - begin + 1, end - begin)[:2]


def _check_distances(net: Net, tree: Tree, holds: list[Hold]) -> None:
    """Refuses held points that are farther apart than the net between them is long."""
    fixed = [hold for hold in holds if hold.holds_position and hold.along is None]
    places = sorted({int(tree.own[v]) for hold in fixed for v in held_vertices(hold, net)})
    ways = [_distances_to_root(net, tree, row) for row in places]
    for k in range(1, len(places)):
        i, j = places[k - 1], places[k]
        meet = next(row for row in ways[k] if row in ways[k - 1])
        length = ways[k][meet] + ways[k - 1][meet]
        a, c = int(tree.vertex[i]), int(tree.vertex[j])
        apart = float(np.linalg.norm(net.points[c] - net.points[a]))
        beside = bool(np.all(np.sort(net.edges, axis=1) == sorted((a, c)), axis=1).any())
        if apart > length * (1.0 + TAUT) or (beside and apart < length * (1.0 - TAUT)):
            raise_distance(a, c, apart, length)


def _distances_to_root(net: Net, tree: Tree, row: int) -> dict[int, float]:
    """Distance (m) along the net to each row on the path to the root."""
    ways, length = {row: 0.0}, 0.0
    while tree.before[row] >= 0:
        row = int(tree.before[row])
        length += float(net.rest_lengths[tree.edge[row]]) if tree.edge[row] >= 0 else 0.0
        ways[row] = length
    return ways


def arc_lengths_and_joint_pairs(net: Net, tree: Tree) -> tuple[Array, Ints]:
    """Arc length of each row, with large offsets between arms so that contact does not treat them as neighbours; and pairs of
    rows whose edges meet at a joint and are excluded from contact."""
    lengths = np.where(tree.edge >= 0, net.rest_lengths[tree.edge], 0.0)
    along, far = np.zeros(len(lengths)), net.length
    for k, (begin, end) in enumerate(tree.arms):
        along[begin + 1 : end + 1] = np.cumsum(lengths[begin:end])
        along[begin : end + 1] += 2.0 * far * (k + 1)
    pairs = edges_beside_joints(tree.chains, net.rest_points, net.radii.max(axis=1), net.rest_lengths)
    return along, np.sort(tree.row_of_edge[pairs].reshape(-1, 2), axis=1)
