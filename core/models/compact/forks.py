"""Sums along rods that branch: forwards a sum goes on in every arm from where it came to at the fork, backwards those of the arms
add up there. On a rod without branches nothing happens here."""

from __future__ import annotations

from ...compile.jit import part
from ...errors import Array, Ints
from ...maths.geometry.frames import Vector
from ...maths.linalg.small import add3, get3, put3


@part
def clear_forks(carry: Array, forks: Ints, r: int) -> None:
    """Before a sum backwards."""
    for k in range(forks[r], forks[r + 1]):
        for c in range(carry.shape[1]):
            carry[k, c] = 0.0


@part
def carried(carry: Array, numbers: Ints, i: int, p: Vector) -> Vector:
    """What is carried at a fork, if row i has the number of one, or else p: `of_fork` forwards, `fork` backwards."""
    k = numbers[i]
    return get3(carry, k) if k >= 0 else p


@part
def leave(carry: Array, fork: Ints, i: int, p: Vector) -> None:
    """Forwards, at a fork."""
    k = fork[i]
    if k >= 0:
        put3(carry, k, p)


@part
def hand_down(carry: Array, of_fork: Ints, i: int, f: Vector) -> Vector:
    """Backwards, after the first row of an arm. Returns with what the next row begins."""
    k = of_fork[i]
    if k < 0:
        return f
    add3(carry, k, f, 1.0)
    return (0.0, 0.0, 0.0)
