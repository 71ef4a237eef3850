"""Start and end of a stage: prescribed motion, initial guess, accepted velocities."""

from __future__ import annotations

import math

from ...compile.jit import part
from ...errors import Array
from ...forces.air import add_brakes, cylinder_drag
from ...maths.geometry.frames import cross, dot, transport, unit
from ...maths.geometry.quaternions import directors_of, product, rotation_vector, turned
from ...maths.linalg.small import get3, get4, put3, put4
from ..held_frames import FRAMED, HeldFrames, Holds, place_frames
from ..schemes import GAMMA
from .arrays import Forces, Geometry, Rods, Stage, State, System
from .kinematics import frame_quaternion, place, predict_twist, root_fixed

FAST = 2.0  # rad per step
OUT_OF_REACH = 1.0 + 1e-9  # relative to the rod's length: a hold beyond this distance can't be satisfied
# Forces of constraints, in steps after the start of one: with TR-BDF2 those at the end of its first and second stage are these of
# then, because velocities follow from positions by difference quotients. Between the two one extrapolates to the end.
FORCES_OF_FIRST = 2.0 * GAMMA + ((1.0 - 2.0 * GAMMA) / 3.0 - 2.0 * GAMMA * GAMMA / 3.0) / GAMMA + 1.0 / 3.0
FORCES_OF_SECOND = 2.0 / 3.0
TAUT = 1.0 - 1e-4  # likewise: a rod pulled out of reach keeps this much slack, so that it can still carry its weight


@part
def copy_state(source: State, target: State, first: int, end: int, r: int) -> None:
    """Copies the state of rod r, whose vertices are first ... end - 1, without its strain rates."""
    for i in range(first, end):
        for c in range(3):
            target.x[i, c] = source.x[i, c]
            target.hold_force[i, c] = source.hold_force[i, c]
        for c in range(4):
            target.q[i, c] = source.q[i, c]
        for c in range(6):
            target.v[i, c] = source.v[i, c]
            target.a[i, c] = source.a[i, c]
        target.twist[i, 0], target.twist[i, 1] = source.twist[i, 0], source.twist[i, 1]
    for c in range(3):
        target.loop_force[r, c] = source.loop_force[r, c]


@part
def place_held(
    rods: Rods, holds: Holds, frames: HeldFrames, geometry: Geometry, state: State, r: int, at: float
) -> None:
    """Prescribed positions and frames at the fraction `at` of the step; a held root moves there directly."""
    first, end = rods.start[r], rods.start[r + 1]
    place_frames(rods, holds, frames, first, end, at)
    for i in range(first, end):
        if rods.held[i]:
            for c in range(3):
                begin, goal = holds.position[0, i, c], holds.position[1, i, c]
                geometry.target[i, c] = goal if at == 1.0 else begin + at * (goal - begin)
        if rods.joint[i] == FRAMED:
            put4(
                geometry.frame,
                i,
                frame_quaternion(get3(frames.tangent, i), get3(frames.director, i), frames.spin[i]),
            )
            geometry.spin[i, 0] = frames.spin[i]
    _clamp_to_reach(rods, geometry, first, end)
    if root_fixed(rods, r):
        put3(state.x, first, get3(geometry.target, first))
    for j in range(first, end):
        if rods.edge_framed[j] and rods.fork[j] >= 0:
            put4(state.q, j, get4(geometry.frame, j))
        elif rods.edge_framed[j]:
            k = j + 1 if j + 1 < end else first
            a, b = get3(geometry.target, j), get3(geometry.target, k)
            t = unit((b[0] - a[0], b[1] - a[1], b[2] - a[2]))
            d0, d1 = get3(holds.director[0], j), get3(holds.director[1], j)
            d = unit((d0[0] + at * (d1[0] - d0[0]), d0[1] + at * (d1[1] - d0[1]), d0[2] + at * (d1[2] - d0[2])))
            spin = holds.spin[0, j] + at * (holds.spin[1, j] - holds.spin[0, j])
            put4(state.q, j, frame_quaternion(t, transport(d, t, t), spin))
            geometry.spin[j, 1] = spin


@part
def _clamp_to_reach(rods: Rods, geometry: Geometry, first: int, end: int) -> None:
    """Moves a hold that is out of reach of the previous hold to where the rod between them is almost taut."""
    target, carry, last, reach = geometry.target, geometry.carry, -1, 0.0
    for i in range(first, end):
        fork, of_fork = rods.fork[i], rods.of_fork[i]
        if of_fork >= 0:
            last, reach = int(carry[of_fork, 0]), carry[of_fork, 1]
        if rods.held[i]:
            fixed = dot(get3(rods.rail, i), get3(rods.rail, i)) == 0.0
            if last >= 0 and fixed:
                x, y, z = target[i, 0] - target[last, 0], target[i, 1] - target[last, 1], target[i, 2] - target[last, 2]
                away = math.sqrt(x * x + y * y + z * z)
                if away > reach * OUT_OF_REACH:
                    part_of_way = TAUT * reach / away
                    put3(target, i, (
                        target[last, 0] + part_of_way * x, target[last, 1] + part_of_way * y,
                        target[last, 2] + part_of_way * z,
                    ))  # fmt: skip
            last, reach = i if fixed else -1, 0.0
        if fork >= 0:
            carry[fork, 0], carry[fork, 1] = last, reach
        else:
            reach += rods.rest_length[i]


@part
def update_drag(rods: Rods, forces: Forces, state: State, air_density: float, r: int) -> None:
    """Drag of a rod's edges, arm by arm."""
    begin = rods.start[r]
    for i in range(begin, rods.start[r + 1]):
        if i + 1 == rods.start[r + 1] or not rods.edge[i] or rods.fork[i] >= 0:
            cylinder_drag(
                rods.radii, rods.mass, state.x, state.v, forces.wind, air_density, forces.drag_rate[r], forces.drag,
                begin, i + 1, rods.closed[r],
            )  # fmt: skip
            begin = i + 1
    add_brakes(forces.drag, forces.brakes, rods.start[r], rods.start[r + 1])


@part
def begin_stage(rods: Rods, state: State, geometry: Geometry, stage: Stage, r: int, ahead: float) -> None:
    """Start of a stage: the state, extrapolated by `ahead` seconds with its velocities, accelerations and strain rates."""
    for i in range(rods.start[r], rods.start[r + 1]):
        for c in range(3):
            stage.x[i, c] = state.x[i, c] + ahead * state.v[i, c]
        for c in range(6):
            stage.v[i, c] = state.v[i, c] + ahead * state.a[i, c]
        for s in range(2):
            for c in range(3):
                stage.strain[i, s, c] = geometry.strain[i, s, c] + ahead * state.strain_rate[i, s, c]
        q = get4(state.q, i)
        if ahead > 0.0:
            q = turned((ahead * state.v[i, 3], ahead * state.v[i, 4], ahead * state.v[i, 5]), q)
        put4(stage.q, i, q)


@part
def extrapolate_stage(
    rods: Rods, state: State, before: State, geometry: Geometry, strain: Array, stage: Stage, r: int, ahead: float
) -> None:
    """Start of a stage: the state, extrapolated by `ahead` times its change since the state `before`, with these strains."""
    for i in range(rods.start[r], rods.start[r + 1]):
        for c in range(3):
            stage.x[i, c] = state.x[i, c] + ahead * (state.x[i, c] - before.x[i, c])
        for c in range(6):
            stage.v[i, c] = state.v[i, c] + ahead * (state.v[i, c] - before.v[i, c])
        for s in range(2):
            for c in range(3):
                now = geometry.strain[i, s, c]
                stage.strain[i, s, c] = now + ahead * (now - strain[i, s, c])
        q, p = get4(state.q, i), get4(before.q, i)
        way = rotation_vector(product(q, (p[0], -p[1], -p[2], -p[3])))
        put4(stage.q, i, turned((ahead * way[0], ahead * way[1], ahead * way[2]), q))


@part
def save_strains(rods: Rods, geometry: Geometry, strain: Array, r: int) -> None:
    """Copies the strains at the iterate to `strain` (N, 2, 3)."""
    for i in range(rods.start[r], rods.start[r + 1]):
        for s in range(2):
            for c in range(3):
                strain[i, s, c] = geometry.strain[i, s, c]


@part
def store_strain_rates(rods: Rods, state: State, geometry: Geometry, stage: Stage, r: int, h: float) -> None:
    """Strain rates at the end of a stage of length h, whose accelerations are therefore consistent with the strains."""
    for i in range(rods.start[r], rods.start[r + 1]):
        for s in range(2):
            for c in range(3):
                state.strain_rate[i, s, c] = (geometry.strain[i, s, c] - stage.strain[i, s, c]) / h
    state.consistent[r] = 1.0


@part
def predicted_spin(q: Array, v: Array, a: Array, j: int, h: float, implicit: bool) -> tuple[float, float, float]:
    """Angular velocity of a freely moving segment after h. A segment that spins about its axis and tilts precesses: J W' = -W x
    J W; for a round section half of the change is the rotation of the axis itself.

    The axis W rotates about is the one at the start, which keeps the spin exactly; or, if `implicit`, the one that velocities v and
    accelerations a predict for the end of the stage, as the order of TR-BDF2 requires."""
    w = (v[j, 3], v[j, 4], v[j, 5])
    _, _, t = directors_of(get4(q, j))
    spin = dot(w, t)
    if implicit:
        then = (w[0] + h * a[j, 3], w[1] + h * a[j, 4], w[2] + h * a[j, 5])
        _, _, t = directors_of(turned((h * then[0], h * then[1], h * then[2]), get4(q, j)))
        spin = dot(then, t)
    along, angle = dot(w, t), h * spin
    across = (w[0] - along * t[0], w[1] - along * t[1], w[2] - along * t[2])
    side = cross(t, across)
    s, c = math.sin(angle), math.cos(angle)
    if implicit:  # solves W' = W + angle t x W'
        c = 1.0 / (1.0 + angle * angle)
        s = angle * c
    return (
        along * t[0] + c * across[0] + s * side[0],
        along * t[1] + c * across[1] + s * side[1],
        along * t[2] + c * across[2] + s * side[2],
    )


@part
def aim_sections(rods: Rods, stage: Stage, a: Array, drag_rate: float, r: int, h: float, implicit: bool) -> None:
    """Targets of the directors, with their weights; a (N, 6) are accelerations. See `predicted_spin`."""
    for j in range(rods.start[r], rods.start[r + 1]):
        if not rods.edge[j]:
            continue
        w = predicted_spin(stage.q, stage.v, a, j, h, implicit)
        one, two, _ = directors_of(turned((h * w[0], h * w[1], h * w[2]), get4(stage.q, j)))
        one0, two0, _ = directors_of(get4(stage.q, j))
        for k in range(2):
            m, brake = rods.mass[j, 1 + k] / (h * h), rods.mass[j, 1 + k] * drag_rate / h
            goal, begin = (one, one0) if k == 0 else (two, two0)
            stage.weight[j, k] = m + brake
            for c in range(3):
                x = goal[0] if c == 0 else goal[1] if c == 1 else goal[2]
                y = begin[0] if c == 0 else begin[1] if c == 1 else begin[2]
                stage.aim[j, 3 * k + c] = m * x + brake * y


@part
def guess(
    rods: Rods, state: State, geometry: Geometry, stage: Stage, system: System, r: int, h: float, extrapolate: float
) -> None:
    """Sets the iterate to the extrapolation by velocity and acceleration (`extrapolate` 1), or to the base (0). Call
    `place_held` first."""
    first = rods.start[r]
    v, a, base_q = stage.v, state.a, system.base_q
    if not root_fixed(rods, r):
        for c in range(3):
            ahead = stage.x[first, c] + h * (v[first, c] + h * a[first, c])
            state.x[first, c] = ahead if extrapolate > 0.0 else system.base_root[r, c]
    for j in range(first, rods.start[r + 1]):
        geometry.ahead[j] = 0.0
        if rods.edge_framed[j] or not rods.edge[j]:
            continue
        if extrapolate > 0.0:
            w = (h * (v[j, 3] + h * a[j, 3]), h * (v[j, 4] + h * a[j, 4]), h * (v[j, 5] + h * a[j, 5]))
            q, p = get4(stage.q, j), get4(base_q, j)
            way = rotation_vector(product(q, (p[0], -p[1], -p[2], -p[3])))
            geometry.ahead[j] = dot((w[0] + way[0], w[1] + way[1], w[2] + way[2]), directors_of(p)[2])
            put4(state.q, j, turned(w, q))
        else:
            put4(state.q, j, get4(base_q, j))
    predict_twist(rods, state, geometry, system, r)
    place(rods, state, geometry, r)


@part
def update_velocities(
    rods: Rods, state: State, stage: Stage, forces: Forces, r: int, h: float, pushed: bool, implicit: bool
) -> bool:
    """Velocities and accelerations of vertices and edges at the end of a stage, and the loads that the edges transmit. Returns
    False if one is not finite."""
    good = True
    for i in range(rods.start[r], rods.start[r + 1]):
        w = (0.0, 0.0, 0.0)
        if rods.edge[i]:
            begin = get4(stage.q, i)
            turn = rotation_vector(product(get4(state.q, i), (begin[0], -begin[1], -begin[2], -begin[3])))
            w = (turn[0] / h, turn[1] / h, turn[2] / h)
            free = predicted_spin(stage.q, stage.v, state.a, i, h, implicit)
            # The moments change the predicted rotation `free`, and so the angular velocity by `more`: rotations do not commute,
            # and the whole rotation divided by h would be of first order. One of half a turn or more is ambiguous besides.
            if implicit or dot(free, free) * h * h > FAST * FAST:
                goal = turned((h * free[0], h * free[1], h * free[2]), begin)
                more = rotation_vector(product(get4(state.q, i), (goal[0], -goal[1], -goal[2], -goal[3])))
                w = (free[0] + more[0] / h, free[1] + more[1] / h, free[2] + more[2] / h)
        for c in range(6):
            if c < 3:
                v = (state.x[i, c] - stage.x[i, c]) / h
            else:
                v = w[0] if c == 3 else w[1] if c == 4 else w[2]
            state.v[i, c] = v
            state.a[i, c] = (v - stage.v[i, c]) / h
            good = good and math.isfinite(state.a[i, c])
        drag, wind, v3 = forces.drag, forces.wind, state.v
        x, y, z = v3[i, 0] - wind[0], v3[i, 1] - wind[1], v3[i, 2] - wind[2]
        braked = (
            drag[i, 0] * x + drag[i, 1] * y + drag[i, 3] * z,
            drag[i, 1] * x + drag[i, 2] * y + drag[i, 4] * z,
            drag[i, 3] * x + drag[i, 4] * y + drag[i, 5] * z,
        )
        for c in range(3):
            load = forces.force[i, c] - braked[c] - rods.mass[i, 0] * state.a[i, c]
            if pushed:
                load += forces.push[i, c]
            state.load[i, c] = load + state.hold_force[i, c] if rods.held[i] else load
    return good


@part
def save_loads(rods: Rods, state: State, loads: Array, r: int) -> None:
    """Copies the loads at the end of the first stage to (N, 3)."""
    for i in range(rods.start[r], rods.start[r + 1]):
        put3(loads, i, get3(state.load, i))


@part
def extrapolate_loads(rods: Rods, state: State, first: Array, r: int) -> None:
    """Loads at the end of a step of TR-BDF2, from those of its second stage and of the `first`."""
    weight = (1.0 - FORCES_OF_SECOND) / (FORCES_OF_FIRST - FORCES_OF_SECOND)
    for i in range(rods.start[r], rods.start[r + 1]):
        for c in range(3):
            state.load[i, c] += weight * (first[i, c] - state.load[i, c])


@part
def measure(rods: Rods, geometry: Geometry, r: int, energy: Array, row: int) -> float:
    """Writes the bending and twisting energy (J) of rod r to a row. Returns their sum."""
    stiffness, rest, strain = rods.stiffness, rods.rest, geometry.strain
    bending = twisting = 0.0
    for i in range(rods.start[r], rods.start[r + 1]):
        for slot in range(2):
            for c in range(3):
                deviation = strain[i, slot, c] - rest[i, slot, c]
                part = 0.5 * stiffness[i, slot, c] * deviation * deviation
                if c < 2:
                    bending += part
                else:
                    twisting += part
    energy[row, 0], energy[row, 1] = bending, twisting
    return bending + twisting


@part
def spin_energy(mass: Array, d1: Array, d2: Array, v: Array, j: int) -> float:
    """J, kinetic energy of the section of edge j."""
    w = (v[j, 3], v[j, 4], v[j, 5])
    a, b = cross(w, get3(d1, j)), cross(w, get3(d2, j))
    return float(0.5 * (mass[j, 1] * dot(a, a) + mass[j, 2] * dot(b, b)))
