"""Builds the arrays of `corde` from described nets and rods."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from ....describe.net import Corde, Net
from ....describe.scene import Entry, Hold
from ....errors import Array
from ....maths.geometry.swing_twist import bending_and_twist
from ...elastic.arrays import Graph
from ...elastic.build_nets import make_graph
from ...elastic.plan import Plan, make_plan
from ...report import COLUMNS
from .arrays import Arrays, Holds, Nets, State, Work

SAFETY = 0.7  # fraction of the estimated longest stable step


class _Elements:
    def __init__(self) -> None:
        self.ends: list[tuple[int, int]] = []
        self.reach: list[float] = []
        self.stiffness: list[Array] = []
        self.rest: list[Array] = []
        self.turned: list[tuple[bool, bool]] = []
        self.roll: list[tuple[float, float]] = []
        self.held: list[tuple[int, Array]] = []  # per prescribed quaternion: the vertex, and the initial frame
        self.twist: list[float] = []
        self.starts = [0]

    def add(
        self,
        a: int,
        b: int,
        reach: float,
        stiffness: Array,
        rest: Array,
        turned: tuple[bool, bool] = (False, False),
        roll: tuple[float, float] = (1.0, 0.0),
        twist: float = 0.0,
    ) -> None:
        self.ends.append((a, b))
        self.reach.append(reach)
        self.stiffness.append(stiffness)
        self.rest.append(rest)
        self.turned.append(turned)
        self.roll.append(roll)
        self.twist.append(twist)


def build(entries: Sequence[Entry], holds: Sequence[tuple[int, Hold]]) -> tuple[Arrays, Graph, list[Plan], list[int]]:
    """Returns the arrays, the graph of all nets with the unknowns of coupled steps, the plans, and the vertex of every prescribed
    quaternion."""
    per_net: list[list[Hold]] = [[] for _ in entries]
    for number, hold in holds:
        per_net[number].append(hold)
    plans = [make_plan(entry, of) for entry, of in zip(entries, per_net, strict=True)]
    graph = make_graph(plans)
    edge_count = len(graph.tail)
    elements = _Elements()
    for r, (plan, of) in enumerate(zip(plans, per_net, strict=True)):
        framed = {hold.index for hold in of if hold.holds_frame and hold.kind != "edge"}
        _add_elements(elements, plan, framed, int(graph.edges[r]), int(graph.vertices[r]), edge_count)
        elements.starts.append(len(elements.ends))
    settings = settings_of(entries)
    state = _state(plans, entries, graph, elements)
    nets = _nets(plans, per_net, graph, elements, settings)
    v, e, r = len(state.r), edge_count, len(plans)
    work = Work(
        np.zeros((v, 3)), np.zeros((e, 3)), np.zeros((v, 3)), np.zeros(3), np.zeros(1), np.zeros(r), np.zeros(r),
        np.zeros((r, 4)), np.zeros((r, COLUMNS)),
    )  # fmt: skip
    held = Holds(np.stack([state.r, state.r]), np.stack([state.q, state.q]))
    block = Arrays(nets, state, State(*(array.copy() for array in state)), held, work)
    return block, graph, plans, [vertex for vertex, _ in elements.held]


def settings_of(entries: Sequence[Entry]) -> list[Corde]:
    return [entry.rod.corde if isinstance(entry.rod, Net) else Corde() for entry in entries]


def quaternions(frames: Array) -> Array:
    """(k, 4) of rotation matrices (k, 3, 3): q1 q2 q3 vector part, q4 scalar part."""
    m = frames
    trace = m[:, 0, 0] + m[:, 1, 1] + m[:, 2, 2]
    candidates = np.stack(
        [
            np.stack([m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1], 1.0 + trace], -1),
            np.stack([1.0 - trace + 2 * m[:, 0, 0], m[:, 0, 1] + m[:, 1, 0], m[:, 0, 2] + m[:, 2, 0], m[:, 2, 1] - m[:, 1, 2]], -1),
            np.stack([m[:, 0, 1] + m[:, 1, 0], 1.0 - trace + 2 * m[:, 1, 1], m[:, 1, 2] + m[:, 2, 1], m[:, 0, 2] - m[:, 2, 0]], -1),
            np.stack([m[:, 0, 2] + m[:, 2, 0], m[:, 1, 2] + m[:, 2, 1], 1.0 - trace + 2 * m[:, 2, 2], m[:, 1, 0] - m[:, 0, 1]], -1),
        ],
        axis=1,
    )  # fmt: skip
    largest = np.argmax(np.linalg.norm(candidates, axis=2), axis=1)
    q = candidates[np.arange(len(m)), largest]
    return np.asarray(q / np.linalg.norm(q, axis=1)[:, None])


def product(a: Array, b: Array) -> Array:
    """Products of quaternions (k, 4), scalar last."""
    v, w = a[:, :3], a[:, 3:]
    u, s = b[:, :3], b[:, 3:]
    return np.concatenate([w * u + s * v + np.cross(v, u), w * s - np.einsum("ij,ij->i", v, u)[:, None]], axis=1)


def frame_of(t: Array, d: Array) -> Array:
    """(k, 3, 3) frames with the directors d, t x d, t as columns."""
    return np.stack([d, np.cross(t, d), t], axis=-1)


def half_turn(q: Array) -> Array:
    """Quaternion of the same segment traversed backwards: rotated by pi about the first director."""
    return np.stack([q[..., 3], q[..., 2], -q[..., 1], -q[..., 0]], axis=-1)


def third_axis(q: Array) -> Array:
    """B_3 q."""
    return np.stack([q[..., 1], -q[..., 0], q[..., 3], -q[..., 2]], axis=-1)


def _vector_part(a: Array, b: Array) -> Array:
    """Of conj(a) b."""
    return np.asarray(a[3] * b[:3] - b[3] * a[:3] - np.cross(a[:3], b[:3]))


def natural_strain(a: Array, b: Array) -> Array:
    """Strain between two quaternions, times the element's length."""
    x, y, z = _vector_part(a, b)
    return np.array(bending_and_twist((float(a @ b), float(x), float(y), float(z)), 0.0))


def _add_elements(
    elements: _Elements, plan: Plan, framed: set[int], first_edge: int, first_vertex: int, edge_count: int
) -> None:
    half = 0.5 * plan.rest_length
    arms: dict[int, list[int]] = {}
    for e, (i, a, b) in enumerate(zip(plan.middle.tolist(), plan.edge_a.tolist(), plan.edge_b.tolist(), strict=True)):
        k = plan.stiffness[e]
        if not k.any():
            continue  # a free end
        if i in framed:
            # A prescribed frame: an element of half a segment's length, as in `der`.
            edge = a if a >= 0 else b
            number = edge_count + len(elements.held)
            arm = frame_of(plan.arm_t[e], plan.arm_d[e])
            elements.held.append((first_vertex + i, plan.frame[i] @ arm))
            ends = (first_edge + edge, number) if a >= 0 else (number, first_edge + edge)
            law, rest = _pair_law(k, plan.rest[e], float(half[edge]))
            elements.add(ends[0], ends[1], float(half[edge]), law, rest, twist=float(plan.twist[e]))
        elif plan.joints[i]:
            arms.setdefault(i, []).append(e)
        else:
            length = float(half[a] + half[b])
            law, rest = _pair_law(k, plan.rest[e], length)
            elements.add(first_edge + a, first_edge + b, length, law, rest, twist=float(plan.twist[e]))
    # In a joint every pair of segments is an orientation element, with the strain of its natural angle as natural strain.
    for at in arms.values():
        q = quaternions(frame_of(plan.arm_t[at], plan.arm_d[at]))
        for m, n in itertools.combinations(range(len(at)), 2):
            e, f = at[m], at[n]
            turned_a, turned_b = bool(plan.edge_b[e] >= 0), bool(plan.edge_a[f] >= 0)
            a = int(plan.edge_b[e] if turned_a else plan.edge_a[e])
            b = int(plan.edge_a[f] if turned_b else plan.edge_b[f])
            length = float(half[a] + half[b])
            ka, kb = _three(plan.stiffness[e]), _three(plan.stiffness[f])
            qa, qb = half_turn(q[m]) if turned_a else q[m], half_turn(q[n]) if turned_b else q[n]
            # The directors of different chains are arbitrary: the natural shape is bent by the angle between the
            # segments, without twist.
            angle = -2.0 * math.atan2(_vector_part(qa, qb)[2], qa @ qb)
            roll = math.cos(0.5 * angle), math.sin(0.5 * angle)
            qb = roll[0] * qb + roll[1] * third_axis(qb)
            qb = -qb if qa @ qb < 0.0 else qb
            rest = natural_strain(qa, qb) / length
            law = length / (1.0 / ka + 1.0 / kb)
            elements.add(first_edge + a, first_edge + b, length, law, rest, (turned_a, turned_b), roll)


def _three(k: Array) -> Array:
    """Stiffnesses against rotation about the first, second and third director, from the five stiffnesses of `der`'s strains."""
    return np.array([k[1] + k[3], k[0] + k[2], k[4]])


def _pair_law(k: Array, rest: Array, length: float) -> tuple[Array, Array]:
    """K_k and natural strains of an element of `der`, whose curvature binormal has the magnitude 2 tan(phi / 2)."""
    sides = [(k[0] + k[1], rest[0:2]), (k[2] + k[3], rest[2:4])]
    bend = sum(weight * part for weight, part in sides) / (k[0] + k[1] + k[2] + k[3])
    size = float(np.linalg.norm(bend))
    bend = bend * (2.0 * math.atan(0.5 * size) / size if size > 0.0 else 1.0)  # phi
    return _three(k) * length, np.array([-bend[1], bend[0], rest[4]]) / length


def _state(plans: list[Plan], entries: Sequence[Entry], graph: Graph, elements: _Elements) -> State:
    points = np.concatenate([plan.points for plan in plans])
    e = points[graph.head] - points[graph.tail]
    t = e / np.linalg.norm(e, axis=1)[:, None]
    frames = frame_of(t, np.concatenate([plan.m1 for plan in plans]))
    held = np.array([frame for _, frame in elements.held]).reshape(-1, 3, 3)
    q = quaternions(np.concatenate([frames, held]))
    velocity = np.concatenate([entry.velocity for entry in entries])
    return State(points.copy(), velocity.copy(), q, np.zeros((len(e), 3)), np.array(elements.twist))


def _nets(
    plans: list[Plan], per_net: list[list[Hold]], graph: Graph, elements: _Elements, settings: list[Corde]
) -> Nets:
    def together(name: str) -> Array:
        return np.concatenate([getattr(plan, name) for plan in plans])

    length, stretch = together("rest_length"), together("stretch")
    counts = np.diff(graph.edges)
    net_of = np.repeat(np.arange(len(plans)), counts)
    kappa = np.array([math.nan if s.kappa is None else s.kappa for s in settings])[net_of]
    kappa = np.where(np.isnan(kappa), stretch, kappa)
    spin = together("spin_inertia")
    across = np.array([math.nan if s.inertia is None else s.inertia for s in settings])[net_of]
    across = np.where(np.isnan(across), 0.5 * spin, across * length)
    around = np.where(
        np.isnan(np.array([math.nan if s.inertia is None else 0.0 for s in settings])[net_of]), spin, 2.0 * across
    )
    alpha = np.array([s.alpha for s in settings])[net_of]
    a, b = np.array(elements.ends, np.int64).reshape(-1, 2).T.copy()
    turned_a, turned_b = np.array(elements.turned, np.bool_).reshape(-1, 2).T.copy()
    roll = np.array(elements.roll).reshape(-1, 2)
    held = np.zeros(len(graph.x), dtype=np.bool_)
    framed = np.zeros(len(length), dtype=np.bool_)
    for r, of in enumerate(per_net):
        for hold in of:
            if hold.kind == "edge":
                e = int(graph.edges[r]) + hold.index
                framed[e] = True
                held[[graph.tail[e], graph.head[e]]] = True
            elif hold.holds_position:
                held[int(graph.vertices[r]) + hold.index] = True
    nets = Nets(
        vertices=graph.vertices,
        edges=graph.edges,
        elements=np.array(elements.starts, np.int64),
        tail=graph.tail,
        head=graph.head,
        length=length,
        stretch=stretch,
        kappa=kappa,
        radii=together("radii"),
        mass=together("vertex_mass"),
        inertia=np.stack([alpha * across, alpha * across, around], axis=1),
        a=a,
        b=b,
        turned_a=turned_a,
        turned_b=turned_b,
        roll=roll,
        reach=np.array(elements.reach),
        stiffness=np.array(elements.stiffness).reshape(-1, 3),
        rest=np.array(elements.rest).reshape(-1, 3),
        held=held,
        framed=framed,
        gamma=np.array([(s.gamma_t, s.gamma_r) for s in settings]),
        step=np.zeros(len(plans)),
        substeps=np.ones(len(plans), np.int64),
        fictitious_mass=np.zeros(len(held)),
        fictitious_inertia=np.zeros((len(length), 3)),
    )
    choose_steps(nets, settings)
    return nets


def choose_steps(nets: Nets, settings: list[Corde]) -> None:
    """Sets the step lengths to the given or else the longest stable ones."""
    for r, setting in enumerate(settings):
        points, frames = _stable_steps(nets, r)
        # Shorter steps for frames than for points save time, but may transfer energy between them; only used on request.
        given = setting.substeps or 1
        nets.step[r] = min(points, given * frames) if setting.step is None else setting.step
        fitting = max(1, math.ceil(nets.step[r] / frames)) if setting.step is not None else 1
        nets.substeps[r] = setting.substeps or fitting


def _stable_steps(n: Nets, r: int) -> tuple[float, float]:
    """s, longest stable steps of points and frames, by Gershgorin circles: h^2 k / m + 2 h c / m < 4."""
    edges, elements = slice(n.edges[r], n.edges[r + 1]), slice(n.elements[r], n.elements[r + 1])
    length, kappa = n.length[edges], n.kappa[edges]
    gamma_t, gamma_r = n.gamma[r]
    stiff, damp = np.zeros(len(n.mass)), np.zeros(len(n.mass))
    for ends in (n.tail[edges], n.head[edges]):
        np.add.at(stiff, ends, 2.0 * np.maximum(n.stretch[edges], kappa) / length)
        np.add.at(damp, ends, 2.0 * gamma_t / length)
    points = slice(n.vertices[r], n.vertices[r + 1])
    free = ~n.held[points]
    first = _largest_step(stiff[points][free] / n.mass[points][free], damp[points][free] / n.mass[points][free])
    turning, rubbing = np.zeros((len(n.length) + len(n.a) * 2, 3)), np.zeros(len(n.length) + len(n.a) * 2)
    for ends in (n.a[elements], n.b[elements]):
        np.add.at(turning, ends, 2.0 * n.stiffness[elements] / n.reach[elements][:, None])
        np.add.at(rubbing, ends, 2.0 * gamma_r / n.reach[elements])
    turning, rubbing = turning[edges], rubbing[edges]
    turning[:, :2] += (length * kappa)[:, None]
    inertia = n.inertia[edges]
    n.fictitious_mass[points] = stiff[points]
    n.fictitious_inertia[edges] = turning + length[:, None] * kappa[:, None]
    second = _largest_step((turning / inertia).ravel(), (rubbing[:, None] / inertia).ravel())
    return first, second


def _largest_step(square: Array, rate: Array) -> float:
    """s, the largest h with h^2 square + 2 h rate = 4, times the safety factor."""
    if not len(square):
        return math.inf
    with np.errstate(divide="ignore"):  # motion without stiffness is stable for any step
        return SAFETY * float((4.0 / (rate + np.sqrt(rate**2 + 4.0 * square))).min())
