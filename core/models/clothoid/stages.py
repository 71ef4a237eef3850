"""Starts of the stages of a step, initial guesses of Newton's method, and the rates at the end of a stage."""

from __future__ import annotations

from ...compile.jit import part
from .arrays import Arrays, Scratch
from .kinematics import BEND, TURN, unknowns_of
from .potential import stage_velocity
from .roots import rotation_between, shift_root

LARGEST_EXTRAPOLATION = 1.5  # rad, largest rotation within a step for which the rates are extrapolated
STEADY = 1e-9  # segment lengths or rad: deviation of a root that moves on at its present rates


@part
def begin_first_stage(b: Arrays, r: int, ahead: float) -> None:
    """Start of the first stage: the saved state, extrapolated by `ahead` seconds with its rates and accelerations."""
    stage, saved, geometry, v0 = b.stage, b.saved, b.geometry, b.rods.vector_start[r]
    for p in range(b.gauss.start[r], b.gauss.start[r + 1]):
        for c in range(4):
            stage.x[p, c], stage.v[p, c] = geometry.x0[p, c], geometry.v[p, c]
            if ahead > 0.0:
                stage.x[p, c] += ahead * geometry.v[p, c]
                stage.v[p, c] += ahead * geometry.a[p, c]
    for i in range(b.nodes.start[r], b.nodes.start[r + 1]):
        for c in range(3):
            rate = saved.rate[v0 + BEND + 3 * (i - b.nodes.start[r]) + c]
            stage.kappa[i, c] = saved.kappa[i, c] + ahead * rate
    for c in range(3):
        stage.root[r, c] = saved.root[r, c] + ahead * saved.rate[v0 + c]
        stage.turn[r, c] = ahead * saved.rate[v0 + TURN + c]
    if b.forces.loaded[r] and ahead > 0.0:
        for p in range(b.samples.start[r], b.samples.start[r + 1]):
            for c in range(3):
                stage.sample_x[p, c] += ahead * saved.v[p, c]


@part
def begin_second_stage(b: Arrays, r: int, ahead: float, ratio: float) -> None:
    """Start of the second stage: the saved state plus `ratio` times the change during the first stage, which started `ahead`
    seconds after the saved state."""
    stage, saved, state, geometry = b.stage, b.saved, b.state, b.geometry
    for p in range(b.gauss.start[r], b.gauss.start[r + 1]):
        for c in range(4):
            v = stage.v[p, c] - ahead * geometry.a[p, c] if ahead > 0.0 else stage.v[p, c]
            stage.v[p, c] = v + ratio * (geometry.v[p, c] - v)
        stage.x[p, 3] = geometry.x0[p, 3] + ratio * (geometry.x[p, 3] - geometry.x0[p, 3])
    for i in range(b.nodes.start[r], b.nodes.start[r + 1]):
        for c in range(3):
            stage.kappa[i, c] = saved.kappa[i, c] + ratio * (state.kappa[i, c] - saved.kappa[i, c])
    turned = rotation_between(saved.frame, state.frame, r)
    for c in range(3):
        stage.root[r, c] = saved.root[r, c] + ratio * (state.root[r, c] - saved.root[r, c])
        stage.turn[r, c] = ratio * turned[c]
    if b.forces.loaded[r]:
        for p in range(b.samples.start[r], b.samples.start[r + 1]):
            for c in range(4):
                stage.sample_x[p, c] = saved.x[p, c] + ratio * (state.x[p, c] - saved.x[p, c])


@part
def guess(b: Arrays, r: int, time: float) -> None:
    """Moves the iterate ahead by `time` seconds with its rates and accelerations."""
    state, v0 = b.state, b.rods.vector_start[r]
    half = 0.5 * time
    for i in range(b.nodes.start[r], b.nodes.start[r + 1]):
        for c in range(3):
            j = v0 + BEND + 3 * (i - b.nodes.start[r]) + c
            state.kappa[i, c] += time * (state.rate[j] + half * state.acceleration[j])
    shift_root(state.root, state.frame, r, state.rate, v0, time)
    shift_root(state.root, state.frame, r, state.acceleration, v0, time * half)


@part
def update_rates(b: Arrays, scratch: Scratch, r: int, h: float, ahead: float, ratio: float) -> None:
    """Rates and accelerations at the end of a stage of length h. The rates at its start are those of the saved state,
    extrapolated by `ahead` seconds, plus `ratio` times their change since the saved state."""
    state, saved, v0 = b.state, b.saved, b.rods.vector_start[r]
    stage_velocity(b, r, h, scratch.velocity)
    for i in range(v0, v0 + unknowns_of(b.nodes, r)):
        begin = saved.rate[i] + ahead * saved.acceleration[i] + ratio * (state.rate[i] - saved.rate[i])
        state.rate[i] = scratch.velocity[i - v0]
        state.acceleration[i] = (state.rate[i] - begin) / h


@part
def moves_steadily(b: Arrays, r: int, h: float) -> bool:
    """Whether the prescribed motion of the root over the next h continues with its present rates. If not, its velocity jumps,
    and the accelerations of the state are not those at the start of the step."""
    holds, rate, v0 = b.holds, b.state.rate, b.rods.vector_start[r]
    turn = rotation_between(holds.frame[0], holds.frame[1], r)
    for c in range(3):
        away = holds.position[1, r, c] - holds.position[0, r, c] - h * rate[v0 + c]
        if b.rods.held_position[r] and abs(away) > STEADY * b.rods.spacing[r]:
            return False
        if b.rods.held_frame[r] and abs(turn[c] - h * rate[v0 + TURN + c]) > STEADY:
            return False
    return True


@part
def stands_still(b: Arrays, r: int) -> bool:
    """Whether neither prescribed motion nor wind can do work on the rod."""
    holds, wind = b.holds, b.forces.wind
    for i in range(3):
        if wind[i] != 0.0 or (b.rods.held_position[r] and holds.position[0, r, i] != holds.position[1, r, i]):
            return False
        for j in range(3):
            if b.rods.held_frame[r] and holds.frame[0, r, i, j] != holds.frame[1, r, i, j]:
                return False
    return True
