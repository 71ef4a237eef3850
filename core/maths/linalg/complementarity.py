"""Forces that only push: w = S f + r >= 0, f >= 0, f . w = 0, for a small dense S, symmetric and positive semidefinite."""

from __future__ import annotations

import math

from ...compile.jit import kernel, part
from ...errors import Array
from .dense import factor_dense, solve_dense

SOFT = 1e-7  # of the diagonal, added to it: forces that do the same share the load
MOST_CHANGES = 4  # of the set of forces that act, times their number


@kernel
def least_forces(s: Array, r: Array, least: float, f: Array, work: Array) -> bool:
    """f (n,), at least zero, becomes the solution, up to w >= -least. It begins with the forces that act as given.

    An active set (after Lawson and Hanson): the equations of those that act are solved; who would pull is let go on the way there;
    then who is violated most is taken in. The energy f S f / 2 + r f falls all the time, so it ends. work (n + 3, n) is
    scratch. False if it has not ended."""
    n = len(r)
    acts, z, index = work[n], work[n + 1], work[n + 2]
    for i in range(n):
        acts[i] = 1.0 if f[i] > 0.0 else 0.0
        f[i] = max(f[i], 0.0)
    for _ in range(MOST_CHANGES * n + 10):
        if not _solve_acting(s, r, acts, index, z, work):
            return False
        # As far towards z as nobody pulls.
        part_of_way, stops = 1.0, -1
        for i in range(n):
            if acts[i] > 0.0 and not z[i] > 0.0:
                reached = f[i] / (f[i] - z[i]) if f[i] > z[i] else 0.0
                if stops < 0 or reached < part_of_way:
                    part_of_way, stops = reached, i
        for i in range(n):
            if acts[i] > 0.0:
                f[i] += part_of_way * (z[i] - f[i])
        if stops >= 0:
            acts[stops], f[stops] = 0.0, 0.0
            continue
        worst, violated = -1, 0.0
        for i in range(n):
            if acts[i] > 0.0:
                continue
            w = r[i]
            for k in range(n):
                w += s[i, k] * f[k]
            if w < -least and s[i, i] > 0.0 and -w / math.sqrt(s[i, i]) > violated:
                worst, violated = i, -w / math.sqrt(s[i, i])
        if worst < 0:
            return True
        acts[worst] = 1.0
    return False


@part
def _solve_acting(s: Array, r: Array, acts: Array, index: Array, z: Array, work: Array) -> bool:
    """z of those that act: S z = -r among them."""
    n, m = len(r), 0
    for i in range(n):
        if acts[i] > 0.0:
            index[m] = i
            m += 1
    for a in range(m):
        i = int(index[a])
        for b in range(a + 1):
            work[a, b] = s[i, int(index[b])]
        work[a, a] *= 1.0 + SOFT
        z[a] = -r[i]
    if not factor_dense(work, m):
        return False
    solve_dense(work, m, z)
    for a in range(m - 1, -1, -1):
        z[int(index[a])] = z[a]  # entries move up, so the last go first
    return True
