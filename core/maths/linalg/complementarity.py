"""Linear complementarity problem w = S f + r >= 0, f >= 0, f . w = 0, for a small dense S, symmetric positive semidefinite."""

from __future__ import annotations

import math

from ...compile.jit import kernel, part
from ...errors import Array
from .dense import factor_dense, solve_dense

REGULARISATION = 1e-7  # relative regularisation of the diagonal: redundant forces share the load
MOST_CHANGES = 4  # of the active set, times the number of forces


@kernel
def solve_lcp(s: Array, r: Array, least: float, f: Array, work: Array) -> bool:
    """Solves for f (n,) >= 0 up to w >= -least, warm-started with the active set of the given f.

    Active set method (after Lawson and Hanson): solve the equations of the active forces; a force that would become negative on
    the way leaves the set; then the most violated condition enters. The energy f S f / 2 + r f decreases throughout, so that it
    terminates. work (n + 3, n) is scratch. Returns False if it has not terminated."""
    n = len(r)
    active, z, index = work[n], work[n + 1], work[n + 2]
    for i in range(n):
        active[i] = 1.0 if f[i] > 0.0 else 0.0
        f[i] = max(f[i], 0.0)
    for _ in range(MOST_CHANGES * n + 10):
        if not _solve_active(s, r, active, index, z, work):
            return False
        # Step towards z until the first force becomes zero.
        part_of_way, stops = 1.0, -1
        for i in range(n):
            if active[i] > 0.0 and not z[i] > 0.0:
                reached = f[i] / (f[i] - z[i]) if f[i] > z[i] else 0.0
                if stops < 0 or reached < part_of_way:
                    part_of_way, stops = reached, i
        for i in range(n):
            if active[i] > 0.0:
                f[i] += part_of_way * (z[i] - f[i])
        if stops >= 0:
            active[stops], f[stops] = 0.0, 0.0
            continue
        worst, violated = -1, 0.0
        for i in range(n):
            if active[i] > 0.0:
                continue
            w = r[i]
            for k in range(n):
                w += s[i, k] * f[k]
            if w < -least and s[i, i] > 0.0 and -w / math.sqrt(s[i, i]) > violated:
                worst, violated = i, -w / math.sqrt(s[i, i])
        if worst < 0:
            return True
        active[worst] = 1.0
    return False


@part
def _solve_active(s: Array, r: Array, active: Array, index: Array, z: Array, work: Array) -> bool:
    """Solves S z = -r restricted to the active set."""
    n, m = len(r), 0
    for i in range(n):
        if active[i] > 0.0:
            index[m] = i
            m += 1
    for a in range(m):
        i = int(index[a])
        for b in range(a + 1):
            work[a, b] = s[i, int(index[b])]
        work[a, a] *= 1.0 + REGULARISATION
        z[a] = -r[i]
    if not factor_dense(work, m):
        return False
    solve_dense(work, m, z)
    for a in range(m - 1, -1, -1):
        z[int(index[a])] = z[a]  # entries move to higher indices, so the last go first
    return True
