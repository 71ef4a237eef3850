"""Potential of a rod as a plain function of the unknowns, and its Newton matrix as a dense array; for small rods and tests."""

from __future__ import annotations

import numpy as np

from ...compile.jit import kernel
from ...errors import Array
from .arrays import ELIMINATION, Arrays
from .evaluate import add_constraint_potential, evaluate
from .gradients import conjugate_gradients, multiply, precondition
from .kinematics import displace, reset_turns, save_base, turn_edges
from .matrix import factor_matrix, solve_matrix
from .newton import copy_step
from .stages import aim_sections, begin_stage
from .stepping import update_geometry


@kernel
def start_at_state(b: Arrays, r: int) -> None:
    """Makes the state the base of displacements, and the start of a stage."""
    update_geometry(b, r)
    begin_stage(b.rods, b.state, b.geometry, b.stage, r, 0.0)
    save_base(b.rods, b.state, b.system, r)
    reset_turns(b.rods, b.geometry, r)


@kernel
def potential_at(b: Arrays, r: int, h: float, penalty: float, x: Array, exact: bool) -> float:
    """Potential at a displacement x (N + R, 3) from the base, with the terms of holds and loop closure; also evaluates the
    system there."""
    displace(b.rods, b.state, b.geometry, b.system, x, 1.0, r)
    turn_edges(b.rods, b.geometry, r)
    aim_sections(b.rods, b.stage, b.state.a, b.forces.drag_rate[r], r, h, False)
    potential, _, _ = evaluate(b.rods, b.forces, b.stage, b.geometry, b.system, b.state, r, h, penalty, exact)
    return add_constraint_potential(b.rods, b.geometry, b.state, potential, r, penalty)


@kernel
def product_here(b: Arrays, r: int, x: Array, out: Array) -> None:
    """out = A x with the matrix of the last evaluation, by prefix sums."""
    multiply(b.rods, b.geometry, b.system, x, out, r)


def dense_matrix(b: Arrays, r: int) -> Array:
    """Matrix of the last evaluation, in the unknowns of the whole block."""
    size = 3 * (len(b.rods.arm) + len(b.rods.closed))
    columns = np.zeros((size, size))
    for k in range(size):
        unit = np.zeros(size)
        unit[k] = 1.0
        product_here(b, r, unit.reshape(-1, 3), columns[k].reshape(-1, 3))
    return columns


@kernel
def solve_here(b: Arrays, r: int, x: Array, solver: int) -> int:
    """x becomes A^-1 x with the matrix of the last evaluation. Returns the number of iterations; -1 if it is not positive
    definite."""
    if solver == ELIMINATION:
        if not factor_matrix(b.rods, b.geometry, b.system, r):
            return -1
        solve_matrix(b.rods, b.geometry, b.system, x, r, 0.0)
        return 0
    copy_step(b.rods, x, 1.0, b.system.trial, r)
    count = conjugate_gradients(b.rods, b.geometry, b.system, r, solver)
    copy_step(b.rods, b.system.trial, 1.0, x, r)
    return count


@kernel
def build_here(b: Arrays, r: int, solver: int) -> bool:
    """Factors the matrix of the last evaluation, or the preconditioner of an iterative solver."""
    if solver == ELIMINATION:
        return factor_matrix(b.rods, b.geometry, b.system, r)
    return precondition(b.rods, b.geometry, b.system, r, solver)
