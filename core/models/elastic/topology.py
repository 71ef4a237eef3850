"""The graph of a net: chains of edges between joints, how they are oriented, in which order their unknowns are eliminated."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import Array, Flags, Ints
from ...maths.linalg.sparse_order import dissect


class Chain(NamedTuple):
    """Edges one after the other, between joints or loose ends, or around a loop (whose first vertex is also its last)."""

    edges: list[int]
    vertices: list[int]


def find_chains(edges: Ints, joints: Flags) -> tuple[list[Chain], Ints]:
    """Chains that end at joints and loose ends, and the edges (m, 2) turned so that they run along their chain.

    A chain runs as most of its edges do."""
    n = len(joints)
    incident: list[list[int]] = [[] for _ in range(n)]
    ends = edges.tolist()
    for j, (a, b) in enumerate(ends):
        incident[a].append(j)
        incident[b].append(j)
    stops = [bool(joints[i]) or len(incident[i]) != 2 for i in range(n)]
    used = [False] * len(ends)
    chains: list[Chain] = []

    def follow(start: int, edge: int) -> None:
        chain = Chain([], [start])
        at = start
        while True:
            used[edge] = True
            chain.edges.append(edge)
            at = ends[edge][1] if ends[edge][0] == at else ends[edge][0]
            chain.vertices.append(at)
            if stops[at] or at == start:
                break
            edge = next(other for other in incident[at] if other != edge)
        agree = sum(ends[e][0] == v for e, v in zip(chain.edges, chain.vertices, strict=False))
        if 2 * agree < len(chain.edges):
            chain = Chain(chain.edges[::-1], chain.vertices[::-1])
        chains.append(chain)

    for i in range(n):
        if stops[i]:
            for j in incident[i]:
                if not used[j]:
                    follow(i, j)
    for j in range(len(ends)):  # loops
        if not used[j]:
            follow(ends[j][0], j)
    oriented = edges.copy()
    for chain in chains:
        oriented[chain.edges, 0] = chain.vertices[:-1]
        oriented[chain.edges, 1] = chain.vertices[1:]
    return chains, oriented


class Nodes(NamedTuple):
    """Unknowns that are eliminated together: of a vertex with one of its edges, of a joint, or of an edge alone."""

    of_vertex: list[int]
    of_edge: list[int]
    order: list[int]


def order_nodes(chains: list[Chain], joints: Flags, edge_count: int, points: Array) -> Nodes:
    """Along chains first, which costs no more than a band; then the joints, by nested dissection."""
    of_vertex, of_edge = [-1] * len(joints), [-1] * edge_count
    order: list[int] = []
    count = 0
    for chain in chains:
        vertices, edges = chain.vertices, chain.edges
        loop = vertices[0] == vertices[-1] and not joints[vertices[0]]
        inner = [v for v in (vertices[:-1] if loop else vertices) if not joints[v]]
        if joints[vertices[0]] and not joints[vertices[-1]]:
            inner.reverse()  # from the loose end
        if not inner:
            of_edge[edges[0]] = count
            order.append(count)
            count += 1
            continue
        for v in inner:
            of_vertex[v] = count
            order.append(count)
            count += 1
        for e, a, b in zip(edges, vertices[:-1], vertices[1:], strict=True):
            of_edge[e] = of_vertex[b] if joints[a] else of_vertex[a]
    numbers = np.flatnonzero(joints)
    index = {int(v): k for k, v in enumerate(numbers)}
    for v in numbers:
        of_vertex[v] = count + index[int(v)]
    neighbours: list[set[int]] = [set() for _ in numbers]
    for chain in chains:
        a, b = chain.vertices[0], chain.vertices[-1]
        if joints[a] and joints[b] and a != b:
            neighbours[index[a]].add(index[b])
            neighbours[index[b]].add(index[a])
    order += [count + k for k in dissect(neighbours, points[numbers])]
    return Nodes(of_vertex, of_edge, order)


def edges_beside_joints(chains: list[Chain], points: Array, radius: Array, lengths: Array) -> Ints:
    """(K, 2) edges that are so near each other around a joint (or a loop's seam) that they can't touch, or do so at rest."""
    at: dict[int, list[tuple[int, float]]] = {}
    thickest = float(radius.max(initial=0.0))
    for chain in chains:
        for edges, vertex in ((chain.edges, chain.vertices[0]), (chain.edges[::-1], chain.vertices[-1])):
            distance = 0.0
            for e in edges:
                at.setdefault(vertex, []).append((e, distance))
                distance += float(lengths[e])
                if distance > 8.0 * thickest:
                    break
    ends = {}
    for chain in chains:
        for e, a, b in zip(chain.edges, chain.vertices[:-1], chain.vertices[1:], strict=True):
            ends[e] = (a, b)
    pairs: set[tuple[int, int]] = set()
    for near in at.values():
        for k, (e, d) in enumerate(near):
            for f, g in near[k + 1 :]:
                if e == f:
                    continue
                reach = float(radius[e] + radius[f])
                if d + g < 0.5 * np.pi * reach or _distance(points, ends[e], ends[f]) < 1.25 * reach:
                    pairs.add((min(e, f), max(e, f)))
    return np.array(sorted(pairs), np.int64).reshape(-1, 2)


def _distance(points: Array, e: tuple[int, int], f: tuple[int, int]) -> float:
    """Of two segments, to a tenth of the shorter one."""
    s = np.linspace(0.0, 1.0, 11)[:, None]
    a = (1.0 - s) * points[e[0]] + s * points[e[1]]
    b = (1.0 - s) * points[f[0]] + s * points[f[1]]
    return float(np.linalg.norm(a[:, None] - b[None], axis=2).min())
