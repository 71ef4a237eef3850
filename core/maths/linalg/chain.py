"""Direct solver, in O(n), for chains of rigid segments.

The unknowns are the displacement p_0 of the first vertex and the rotation phi_j of each segment. The displacements of the
vertices follow, p_(j+1) = p_j + B_j phi_j with B_j = -l_j [d_j]x, and A is the matrix of the quadratic form
    sum over vertices of p H p / 2 + sum over segments of phi_j D_j phi_j / 2 + phi_j O_j phi_(j-1) + p_j E_j phi_j.
It is dense in the rotations. Seen from the free end, however, the rest of the chain is a quadratic form in (p_j, phi_(j-1))
with 3 x 3 blocks X, Y, Z: each segment adds its own terms and has its rotation eliminated, as in a Riccati recursion. The
recursion starts with the form of the last vertex, and at the root only p_0 remains. Chains may branch: the forms of several
arms add up at a fork, a segment of zero length. `fork` is the index of the fork at a row, `of_fork` that of the fork from which
an arm starts, or -1.
"""

from __future__ import annotations

from ...compile.jit import part
from ...errors import Array, Flags, Ints
from ..geometry.frames import Vector, cross
from .small import (
    Matrix,
    add3,
    decompose,
    full,
    get3,
    get6,
    get9,
    matvec,
    matvec_t,
    plus,
    put3,
    put6,
    put9,
    scaled,
    skew,
    solved,
    solved_columns,
    symmetric,
    times,
    transposed,
)

ZERO = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
UNIT = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@part
def carried9(carry: Array, k: int, which: int) -> Matrix:
    """One of the three matrices stored at fork k."""
    s = 9 * which
    return (
        carry[k, s], carry[k, s + 1], carry[k, s + 2], carry[k, s + 3], carry[k, s + 4], carry[k, s + 5], carry[k, s + 6],
        carry[k, s + 7], carry[k, s + 8],
    )  # fmt: skip


@part
def add_carried9(carry: Array, k: int, which: int, m: Matrix) -> None:
    for c, value in enumerate(m):
        carry[k, 9 * which + c] += value


@part
def factor_chain(
    first: int, end: int, edge: Flags, fork: Ints, of_fork: Ints, carry: Array, length: Array, d3: Array, h: Array, d: Array,
    o: Array, e: Array, w: Array, wg: Array, wo: Array, root: Array, r: int,
) -> bool:  # fmt: skip
    """Factors vertices first ... end - 1, each followed by its segment if it has an `edge`. h, d (N, 6); o, e (N, 9); carry (F,
    27), zero at the chain's forks. Writes the factored W, W^-1 G^T and W^-1 O of each segment, and the factored root matrix to
    row r. The end of a closed chain, whose vertices all have segments, has no mass of its own. Returns False if not positive
    definite."""
    x, y, z = ZERO, ZERO, ZERO
    for j in range(end - 1, first - 1, -1):
        if not edge[j]:
            x = full(get6(h, j))
            continue
        if fork[j] >= 0:
            x, y, z = carried9(carry, fork[j], 0), carried9(carry, fork[j], 1), carried9(carry, fork[j], 2)
        b = skew(get3(d3, j), -length[j])
        xb = times(x, b)
        by = times(transposed(b), y)
        inner = plus(plus(times(transposed(b), xb), plus(by, transposed(by))), plus(z, full(get6(d, j))))
        good, factor = decompose(symmetric(inner))
        if not good:
            return False
        put6(w, j, factor)
        g = plus(plus(xb, y), get9(e, j))
        below = get9(o, j)
        give, pass_on = solved_columns(factor, transposed(g)), solved_columns(factor, below)
        put9(wg, j, give)
        put9(wo, j, pass_on)
        x = full(symmetric(plus(plus(x, full(get6(h, j))), scaled(times(g, give), -1.0))))
        y = scaled(times(g, pass_on), -1.0)
        z = scaled(times(transposed(below), pass_on), -1.0)
        if of_fork[j] >= 0:
            add_carried9(carry, of_fork[j], 0, x)
            add_carried9(carry, of_fork[j], 1, y)
            add_carried9(carry, of_fork[j], 2, z)
            x, y, z = ZERO, ZERO, ZERO
    good, factor = decompose(symmetric(x))
    put6(root, r, factor)
    return good


@part
def solve_chain(
    first: int, end: int, edge: Flags, fork: Ints, of_fork: Ints, carry: Array, fixed: bool, length: Array, d3: Array,
    w: Array, wg: Array, wo: Array, root: Array, r: int, phi: Array, at: int,
) -> None:  # fmt: skip
    """Solves in place for phi, with rotations in the rows of their segments and the root in row `at`. With `fixed` the root
    does not move. `carry` as in `factor_chain`."""
    x: Vector = (0.0, 0.0, 0.0)
    z: Vector = (0.0, 0.0, 0.0)
    for j in range(end - 1, first - 1, -1):
        if not edge[j]:
            continue
        if fork[j] >= 0:
            k = fork[j]
            x, z = get3(carry, k), (carry[k, 3], carry[k, 4], carry[k, 5])
        # w = -b + B^T x + z, stored negated
        bx = cross(get3(d3, j), x)  # B^T x = l d x x
        l = length[j]  # noqa: E741
        minus = (phi[j, 0] - l * bx[0] - z[0], phi[j, 1] - l * bx[1] - z[1], phi[j, 2] - l * bx[2] - z[2])
        put3(phi, j, solved(get6(w, j), minus))
        give, pass_on = matvec_t(get9(wg, j), minus), matvec_t(get9(wo, j), minus)
        x = (x[0] + give[0], x[1] + give[1], x[2] + give[2])
        z = pass_on
        if of_fork[j] >= 0:
            for c in range(3):
                carry[of_fork[j], c] += x[c]
                carry[of_fork[j], 3 + c] += z[c]
            x, z = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    p: Vector = (0.0, 0.0, 0.0)
    if not fixed:
        p = solved(get6(root, r), (phi[at, 0] - x[0], phi[at, 1] - x[1], phi[at, 2] - x[2]))
    put3(phi, at, p)
    before: Vector = (0.0, 0.0, 0.0)
    for j in range(first, end):
        if not edge[j]:
            continue
        if of_fork[j] >= 0:
            k = of_fork[j]
            p, before = get3(carry, k), (carry[k, 3], carry[k, 4], carry[k, 5])
        add3(phi, j, matvec(get9(wg, j), p), -1.0)
        add3(phi, j, matvec(get9(wo, j), before), -1.0)
        before = get3(phi, j)
        way = cross(before, get3(d3, j))
        p = (p[0] + length[j] * way[0], p[1] + length[j] * way[1], p[2] + length[j] * way[2])
        if fork[j] >= 0:
            for c in range(3):
                carry[fork[j], c], carry[fork[j], 3 + c] = p[c], before[c]


@part
def chain_mobility(
    first: int, end: int, edge: Flags, fork: Ints, of_fork: Ints, carry: Array, fixed: bool, length: Array, d3: Array,
    w: Array, wg: Array, wo: Array, root: Array, r: int, mobility: Array,
) -> None:  # fmt: skip
    """mobility (N, 6): diagonal blocks of J A^-1 J^T at the vertices, displacement per force.

    A^-1 is the covariance of a chain whose segments rotate as in `solve_chain`, plus random rotations of covariance W^-1."""
    pp = ZERO  # covariances of p_j with itself, of p_j with phi_(j-1), of phi_(j-1) with itself
    pf, ff = ZERO, ZERO
    if not fixed:
        pp = solved_columns(get6(root, r), UNIT)
    for j in range(first, end):
        if of_fork[j] >= 0:
            at = of_fork[j]
            pp, pf, ff = carried9(carry, at, 0), carried9(carry, at, 1), carried9(carry, at, 2)
        put6(mobility, j, symmetric(pp))
        if not edge[j]:
            continue
        k, c = scaled(get9(wg, j), -1.0), scaled(get9(wo, j), -1.0)
        inverse = solved_columns(get6(w, j), UNIT)
        # phi_j = k p_j + c phi_(j-1) + noise
        new_pf = plus(times(pp, transposed(k)), times(pf, transposed(c)))
        # covariance of phi_(j-1) with phi_j
        prev_f = plus(times(transposed(pf), transposed(k)), times(ff, transposed(c)))
        ff = plus(plus(times(k, new_pf), times(c, prev_f)), inverse)
        b = skew(get3(d3, j), -length[j])
        cross_part = times(b, transposed(new_pf))
        pp = plus(plus(pp, times(times(b, ff), transposed(b))), plus(cross_part, transposed(cross_part)))
        pf = plus(new_pf, times(b, ff))
        if fork[j] >= 0:
            at = fork[j]
            for e in range(9):
                carry[at, e], carry[at, 9 + e], carry[at, 18 + e] = pp[e], pf[e], ff[e]
