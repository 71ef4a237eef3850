"""One net by itself, with local numbers: from what the user describes to elements, natural strains, masses, frames at the start."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...describe.net import Net
from ...describe.rod import Rod
from ...describe.scene import Entry, Hold
from ...errors import Array, Flags, Ints, TendrilError
from ...maths.geometry.frames import any_normal, bishop_directors, signed_angle, transport, turn
from ..held_frames import FRAMED, INNER
from .build_rods import build as build_rods
from .topology import Chain, find_chains


class Plan(NamedTuple):
    points: Array  # (V, 3)
    edges: Ints  # (E, 2) along their chains
    chains: list[Chain]
    joints: Flags  # (V,)
    rest_length: Array
    radii: Array
    stretch: Array
    vertex_mass: Array
    spin_inertia: Array
    m1: Array  # (E, 3)
    middle: Ints  # elements
    edge_a: Ints
    edge_b: Ints
    stiffness: Array
    rest: Array
    twist: Array
    arm_t: Array
    arm_d: Array
    frame: dict[int, Array]  # per joint vertex (3, 3), columns are its axes
    damping_time: float
    break_force: Array
    break_moment: Array  # of elements
    rest_points: Array


def make_plan(entry: Entry, holds: list[Hold]) -> Plan:
    if isinstance(entry.rod, Rod):
        return _of_rod(entry, holds)
    refuse_spins(entry.rod, holds)
    return _of_net(entry.rod, holds)


def refuse_spins(net: Net, holds: list[Hold]) -> None:
    for hold in holds:
        if hold.spin is not None and hold.kind != "edge" and np.sum(net.edges == hold.index) > 2:
            raise TendrilError("spin", hold.spin, "a joint of several segments has no axis: turn it with a path")


class _Elements:
    """Elements in the order of their vertices."""

    def __init__(self) -> None:
        self.middle: list[int] = []
        self.edge_a: list[int] = []
        self.edge_b: list[int] = []
        self.stiffness: list[Array] = []
        self.rest: list[Array] = []
        self.twist: list[float] = []
        self.arm: list[tuple[Array, Array]] = []

    def add(
        self,
        middle: int,
        a: int,
        b: int,
        stiffness: Array,
        rest: Array,
        twist: float = 0.0,
        arm: tuple[Array, Array] | None = None,
    ) -> None:
        self.middle.append(middle)
        self.edge_a.append(a)
        self.edge_b.append(b)
        self.stiffness.append(stiffness)
        self.rest.append(rest)
        self.twist.append(twist)
        self.arm.append(arm or (np.zeros(3), np.zeros(3)))


def _of_rod(entry: Entry, holds: list[Hold]) -> Plan:
    """A rod is a net of one chain: everything is as in a block of rods."""
    rod = entry.rod
    assert isinstance(rod, Rod)
    _, b = build_rods([entry], [(0, hold) for hold in holds])
    n, m = rod.vertex_count, rod.edge_count
    edges = np.stack([np.arange(m), (np.arange(m) + 1) % n], axis=1)
    joints = b.rods.joint == FRAMED
    chains, edges = find_chains(edges, joints)
    elements = _Elements()
    frames = {}
    along, first = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
    for i in range(n):
        before = (i - 1) % n if rod.closed or i > 0 else -1
        after = i if rod.closed or i < n - 1 else -1
        k, rest, twist = b.rods.stiffness[i], b.rods.rest[i], b.state.twist[i]
        if b.rods.joint[i] == FRAMED:
            t, d = b.holds.tangent[1, i], b.holds.director[1, i]
            frames[i] = np.stack([d, np.cross(t, d), t], axis=1)
            if before >= 0:
                elements.add(i, before, -1, k[0], rest[0], twist[0], (along, first))
            if after >= 0:
                elements.add(i, -1, after, k[1], rest[1], twist[1], (along, first))
        elif b.rods.joint[i] == INNER:
            elements.add(i, before, after, k[0], rest[0], twist[0])
        elif after >= 0:
            elements.add(i, -1, after, np.zeros(5), np.zeros(5))
    return _plan(
        elements, rod.points, edges, chains, joints, frames, rod.rest_lengths, rod.radii, rod.stretch,
        b.rods.mass[:, 0].copy(), b.rods.mass[:m, 3].copy(), b.state.m1[:m].copy(), rod.damping_time,
        np.full(m, rod.break_force), np.full(n, rod.break_moment), rod.points,
    )  # fmt: skip


def _plan(
    elements: _Elements, points: Array, edges: Ints, chains: list[Chain], joints: Flags, frames: dict[int, Array],
    rest_length: Array, radii: Array, stretch: Array, vertex_mass: Array, spin_inertia: Array, m1: Array, damping_time: float,
    break_force: Array, break_moment: Array, rest_points: Array,
) -> Plan:  # fmt: skip
    return Plan(
        points=points,
        edges=edges,
        chains=chains,
        joints=joints,
        rest_length=rest_length,
        radii=radii,
        stretch=stretch,
        vertex_mass=vertex_mass,
        spin_inertia=spin_inertia,
        m1=m1,
        middle=np.array(elements.middle, np.int64),
        edge_a=np.array(elements.edge_a, np.int64),
        edge_b=np.array(elements.edge_b, np.int64),
        stiffness=np.array(elements.stiffness).reshape(-1, 5),
        rest=np.array(elements.rest).reshape(-1, 5),
        twist=np.array(elements.twist),
        arm_t=np.array([t for t, _ in elements.arm]).reshape(-1, 3),
        arm_d=np.array([d for _, d in elements.arm]).reshape(-1, 3),
        frame=frames,
        damping_time=damping_time,
        break_force=break_force,
        break_moment=break_moment[np.array(elements.middle, np.int64)],
        rest_points=rest_points,
    )


def _of_net(net: Net, holds: list[Hold]) -> Plan:
    n = net.vertex_count
    degree = np.bincount(net.edges.ravel(), minlength=n)
    joints = degree >= 3
    joints[[hold.index for hold in holds if hold.holds_frame and hold.kind != "edge"]] = True
    chains, edges = find_chains(net.edges, joints)
    rest_t, rest_d, rest_twist = frames_along(chains, edges, net.rest_points, net.director, None)
    if np.array_equal(net.points, net.rest_points):
        t, d = rest_t, rest_d
    else:
        t, d, _ = frames_along(chains, edges, net.points, None, (rest_t, rest_d, rest_twist))
    half = 0.5 * net.rest_lengths
    into: list[list[int]] = [[] for _ in range(n)]
    out: list[list[int]] = [[] for _ in range(n)]
    for j, (a, b) in enumerate(edges.tolist()):
        out[a].append(j)
        into[b].append(j)
    side, rest_side = np.cross(t, d), np.cross(rest_t, rest_d)
    elements, frames = _Elements(), {}
    for i in range(n):
        scale = net.joint_stiffness[i]
        if joints[i]:
            arms = [*into[i], *out[i]]
            first = arms[-1] if out[i] else arms[0]
            rest_frame = np.stack([rest_d[first], rest_side[first], rest_t[first]], axis=1)
            frames[i] = fit_frame(
                rest_frame, [np.stack([x[e] for x in (rest_d, rest_side, rest_t)], 1) for e in arms],
                [np.stack([x[e] for x in (d, side, t)], 1) for e in arms],
            )  # fmt: skip
            for e in arms:
                local = rest_frame.T @ rest_t[e], rest_frame.T @ rest_d[e]
                k = np.zeros(5)
                ending = e in into[i] and e not in out[i]
                k[0 if ending else 2 : 2 if ending else 4] = scale * net.bend[e] / half[e]
                k[4] = scale * net.twist_stiffness[e] / half[e]
                tj, dj = frames[i] @ local[0], frames[i] @ local[1]
                a, b = ((t[e], d[e]), (tj, dj)) if ending else ((tj, dj), (t[e], d[e]))
                elements.add(i, e if ending else -1, -1 if ending else e, k, np.zeros(5), _twist(a, b), local)
        elif degree[i] == 2:
            a, b = into[i][0], out[i][0]
            bend = 1.0 / (half[a] / net.bend[a] + half[b] / net.bend[b])
            share = half[a] / (half[a] + half[b])
            k = scale * np.array([
                *(share * bend), *((1.0 - share) * bend),
                1.0 / (half[a] / net.twist_stiffness[a] + half[b] / net.twist_stiffness[b]),
            ])  # fmt: skip
            kb = 2.0 * np.cross(rest_t[a], rest_t[b]) / (1.0 + rest_t[a] @ rest_t[b])
            twist = _twist((rest_t[a], rest_d[a]), (rest_t[b], rest_d[b]))
            rest = np.array([
                kb @ rest_side[a], -kb @ rest_d[a], kb @ rest_side[b], -kb @ rest_d[b], twist,
            ])  # fmt: skip
            elements.add(i, a, b, k, rest, _twist((t[a], d[a]), (t[b], d[b])))
        elif out[i]:
            elements.add(i, -1, out[i][0], np.zeros(5), np.zeros(5))
    mass = net.mass_per_length * net.rest_lengths
    vertex_mass = net.point_mass.copy()
    np.add.at(vertex_mass, edges[:, 0], 0.5 * mass)
    np.add.at(vertex_mass, edges[:, 1], 0.5 * mass)
    return _plan(
        elements, net.points, edges, chains, joints, frames, net.rest_lengths, net.radii, net.stretch,
        vertex_mass, net.inertia_per_length * net.rest_lengths, d, net.damping_time,
        net.break_force, net.break_moment, net.rest_points,
    )  # fmt: skip


def _twist(a: tuple[Array, Array], b: tuple[Array, Array]) -> float:
    """From the frame (tangent, director) a to b."""
    u = transport(tuple(a[1]), tuple(a[0]), tuple(b[0]))
    return float(signed_angle(u, tuple(b[1]), tuple(b[0])))


def frames_along(
    chains: list[Chain], edges: Ints, points: Array, given: Array | None, rest: tuple[Array, Array, Array] | None
) -> tuple[Array, Array, Array]:
    """Tangents, directors and, per edge, the twist from the one before in its chain. Directors are given, or carried along each
    chain by parallel transport; with a natural shape they begin as it does, and have its twist."""
    e = points[edges[:, 1]] - points[edges[:, 0]]
    t = e / np.linalg.norm(e, axis=1)[:, None]
    d = np.empty_like(t)
    twist = np.zeros(len(t))
    for chain in chains:
        of = chain.edges
        if given is not None:
            d[of] = given[of]
            for a, b in pairwise(of):
                twist[b] = _twist((t[a], d[a]), (t[b], d[b]))
            continue
        first = of[0]
        if rest is None:
            start = any_normal(tuple(t[first]))
        else:
            start = transport(tuple(rest[1][first]), tuple(rest[0][first]), tuple(t[first]))
        carried = np.empty((len(of), 3))
        bishop_directors(t[of], np.array(start), carried)
        if rest is not None:
            angles = np.cumsum(rest[2][of])
            if np.any(angles):
                carried = np.array(
                    [turn(tuple(c), tuple(t[k]), a) for c, k, a in zip(carried, of, angles, strict=True)]
                )
        d[of] = carried
    return t, d, twist


def fit_frame(rest_frame: Array, rest_arms: list[Array], arms: list[Array]) -> Array:
    """The joint's frame at the start: turned from the natural shape as its arms are, on average."""
    u, _, v = np.linalg.svd(sum(now @ rest.T for rest, now in zip(rest_arms, arms, strict=True)))
    turned = u @ np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ v))]) @ v
    return np.asarray(turned @ rest_frame)
