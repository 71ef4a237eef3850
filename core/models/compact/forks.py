"""Sums along branching rods: a forward sum continues in every arm with its value at the fork; backward sums of the arms add up
at the fork. None of this affects rods without branches.
"""

from __future__ import annotations

from ...compile.jit import part
from ...errors import Array, Ints
from ...maths.geometry.frames import Vector
from ...maths.linalg.small import add3, get3, put3


@part
def clear_forks(carry: Array, forks: Ints, r: int) -> None:
    """Zeroes the partial sums of rod r before a backward sum."""
    for k in range(forks[r], forks[r + 1]):
        for c in range(carry.shape[1]):
            carry[k, c] = 0.0


@part
def sum_at_fork(carry: Array, numbers: Ints, i: int, p: Vector) -> Vector:
    """The partial sum stored at fork numbers[i], or p if there is none. `numbers` is `of_fork` in forward sums and `fork` in
    backward sums."""
    k = numbers[i]
    return get3(carry, k) if k >= 0 else p


@part
def store_at_fork(carry: Array, fork: Ints, i: int, p: Vector) -> None:
    """Forward sums: stores p at the fork of row i, if there is one."""
    k = fork[i]
    if k >= 0:
        put3(carry, k, p)


@part
def pass_to_fork(carry: Array, of_fork: Ints, i: int, f: Vector) -> Vector:
    """Backward sums: adds f to the fork from which the arm of row i starts. Returns the initial sum of the next row."""
    k = of_fork[i]
    if k < 0:
        return f
    add3(carry, k, f, 1.0)
    return (0.0, 0.0, 0.0)
