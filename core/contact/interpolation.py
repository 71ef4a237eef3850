"""Positions of rods that take other step sizes than those being solved for: on a straight line between their last two states."""

from __future__ import annotations

from ..compile.jit import kernel, part
from ..errors import Array
from .arrays import Flags, Ints


@kernel
def interpolate_others(
    origin: Array,
    goal: Array,
    times: Array,
    rod: Ints,
    which: Flags,
    begin: float,
    end: float,
    start: Array,
    now: Array,
) -> None:
    """Writes the positions of all rods except `which` at the beginning and at the end of a step.

    Sample point i of rod r goes from origin[i] at times[0, r] to goal[i] at times[1, r]."""
    for i in range(len(rod)):
        r = rod[i]
        if which[r]:
            continue
        first, last = times[0, r], times[1, r]
        for c in range(3):
            start[i, c] = _interpolate(origin[i, c], goal[i, c], first, last, begin)
            now[i, c] = _interpolate(origin[i, c], goal[i, c], first, last, end)


@part
def _interpolate(a: float, b: float, first: float, last: float, time: float) -> float:
    if time <= first:
        return a
    if time >= last:
        return b
    return a + (b - a) * ((time - first) / (last - first))


@kernel
def copy_rows(which: Flags, rod: Ints, source: Array, target: Array) -> None:
    """Copies rows (N, 3) of the sample points of these rods. By masks NumPy takes ten times as long."""
    for i in range(len(rod)):
        if which[rod[i]]:
            target[i, 0], target[i, 1], target[i, 2] = source[i, 0], source[i, 1], source[i, 2]
