"""Identifies the knot of a polyline by its Alexander polynomial, computed exactly from the crossings of a projection.

Left- and right-handed knots have the same polynomial. Prime knots with up to eight crossings have distinct ones. A composite
knot has the product of its factors' polynomials, which may coincide with that of a prime knot (two trefoils: 8_20).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...compile.jit import kernel
from ...errors import Array, Ints, TendrilError, array, direction

UNKNOT = (1,)
TREFOIL = (1, -1, 1)

FAR = 10.0  # radius of the sphere on which open polylines are closed, in radii of the polyline
DOUBT = 1e-12  # relative threshold below which the sign of an area or volume is uncertain
# Directions of projection; the one with the fewest crossings and no uncertain ones is used.
_VIEWS = np.random.default_rng(1889).standard_normal((12, 3))


def is_unknot_like(points: ArrayLike, closed: bool = True) -> bool:
    """True for every unknot; among other knots with up to ten crossings for none."""
    return alexander_polynomial(points, closed) == UNKNOT


def is_trefoil(points: ArrayLike, closed: bool = True) -> bool:
    """Of either handedness."""
    return alexander_polynomial(points, closed) == TREFOIL


def alexander_polynomial(
    points: ArrayLike, closed: bool = True, *, ends: tuple[ArrayLike, ArrayLike] | None = None
) -> tuple[int, ...]:
    """Coefficients from the constant term, which is positive, to the highest power: (1,) for a circle, (1, -1, 1) for a
    trefoil.

    An open polyline is closed far away, by extending its ends straight in the directions `ends`, by default away from the mean
    of its vertices."""
    x = _distinct(array("points", points, (None, 3), "give an array of shape (n, 3), one row per vertex"))
    if len(x) < 2:
        return UNKNOT
    if not closed:
        x = _distinct(_closed_far_away(x, ends))
    x = _simplified(x)
    if len(x) < 4:
        return UNKNOT
    diagrams = [_reduced(crossings) for view in _VIEWS if (crossings := _crossings(x, view)) is not None]
    for diagram in sorted(diagrams, key=lambda diagram: len(diagram.sign)):
        polynomial = _normalised(_determinant(diagram))
        if abs(sum(polynomial)) == 1 and polynomial == polynomial[::-1]:
            return polynomial  # true for every knot; otherwise round-off has corrupted the diagram
    raise TendrilError("points", points, "give a polyline that does not touch itself")


# -- From the polyline to few crossings


def _distinct(x: Array) -> Array:
    """Drops vertices equal to the previous one."""
    return x[np.any(x != np.roll(x, 1, axis=0), axis=1)] if len(x) > 1 else x


def _closed_far_away(x: Array, ends: tuple[ArrayLike, ArrayLike] | None) -> Array:
    """Extends both ends to a sphere far around the polyline, and connects them along the sphere."""
    centre = x.mean(axis=0)
    tips = x[[0, -1]]
    if ends is None:
        ways = [tip - centre for tip in tips]
        # An end at the centre is extended along its edge.
        ways = [way if np.any(way) else tip - x[near] for way, tip, near in zip(ways, tips, (1, -2), strict=True)]
    else:
        ways = list(ends)
    far = FAR * float(np.linalg.norm(x - centre, axis=1).max())
    u = [direction("ends", way) for way in ways]
    out = np.empty((2, 3))
    for k in range(2):
        from_centre = tips[k] - centre
        along = float(u[k] @ from_centre)
        reach = -along + np.sqrt(along**2 + far**2 - float(from_centre @ from_centre))
        out[k] = from_centre + reach * u[k]
    a, b = out[1] / far, out[0] / far
    across = b - (a @ b) * a
    if np.linalg.norm(across) < 1e-6:  # same or opposite directions: any great circle will do
        across = np.cross(a, np.eye(3)[np.abs(a).argmin()])
    across /= np.linalg.norm(across)
    angles = np.linspace(0.0, np.arctan2(b @ across, a @ b), 17)[1:-1, None]
    arc = far * (np.cos(angles) * a + np.sin(angles) * across)  # its chords stay outside the polyline
    return np.vstack([x, centre + out[1], centre + arc, centre + out[0]])


def _simplified(x: Array) -> Array:
    """The same knot with fewer vertices: a vertex is removed if nothing crosses the triangle of it and its neighbours (Koniaris
    and Muthukumar 1991). Uncertain cases count as crossings."""
    size = float(np.ptp(x, axis=0).max())
    kept = 0  # vertices tried without success since the last removal
    at = 0
    while len(x) > 3 and kept < len(x):
        at %= len(x)
        if _is_free(x, at, size):
            x = np.delete(x, at, axis=0)
            kept = 0
        else:
            at += 1  # the vertex after a removed one takes its index, and is tried in the next round
            kept += 1
        at += 1
    return x


def _is_free(x: Array, at: int, size: float) -> bool:
    """Whether no other edge crosses the triangle of vertex `at` and its neighbours."""
    n = len(x)
    a, b, c = x[at - 1], x[at], x[(at + 1) % n]
    ab, ac, bc = b - a, c - a, c - b
    # Adjacent edges touch the triangle in a corner. They stay outside if they leave its plane or point away from it.
    side = float(max(np.abs(ab).max(), np.abs(ac).max(), np.abs(bc).max()))
    normal = np.array([ab[1] * ac[2] - ab[2] * ac[1], ab[2] * ac[0] - ab[0] * ac[2], ab[0] * ac[1] - ab[1] * ac[0]])
    doubt = DOUBT * size * side**2
    height = (x - a) @ normal
    before, after = (at - 2) % n, (at + 2) % n
    u, w = x[before] - a, x[after] - c
    if not (abs(height[before]) > doubt or (u @ ab < 0.0 and u @ ac < 0.0)):
        return False
    if not (abs(height[after]) > doubt or (w @ bc > 0.0 and w @ ac > 0.0)):
        return False
    if n == 4:
        return True
    first = (at + 2 + np.arange(n - 4)) % n  # of the edges that are not adjacent
    second = (first + 1) % n
    above, below = height > doubt, height < -doubt
    near = ~((above[first] & above[second]) | (below[first] & below[second]))
    if not near.any():
        return True
    p, q = x[first[near]], x[second[near]]
    apart = np.any(
        (np.minimum(p, q) > np.maximum(np.maximum(a, b), c)) | (np.maximum(p, q) < np.minimum(np.minimum(a, b), c)),
        axis=1,
    )
    p, q = p[~apart], q[~apart]
    if not len(p):
        return True
    # On which side the line of the edge passes each side of the triangle: outside, unless all are the same.
    doubt = DOUBT * size**2 * side
    along = q - p
    passes = np.stack([np.cross(along, corner - p) @ e for corner, e in ((a, ab), (b, bc), (c, -ac))])
    return bool(np.all(np.any(passes > doubt, axis=0) & np.any(passes < -doubt, axis=0)))


# -- Crossings, in the order of traversal


class Diagram(NamedTuple):
    """Traversal of the knot: which crossing is passed, and whether on the upper strand."""

    crossing: list[int]  # each occurs twice
    over: list[bool]
    sign: list[int]  # of each crossing


def _crossings(x: Array, view: Array) -> Diagram | None:
    """Crossings in a projection; None if one is too close to a vertex or to another crossing to be certain."""
    turned = x @ np.linalg.qr(np.stack([view, *np.eye(3)[:2]], axis=1))[0]
    height, flat = turned[:, 0], turned[:, 1:]
    n = len(x)
    ends = np.roll(flat, -1, axis=0)
    i, j = np.triu_indices(n, 2)
    i, j = i[(i > 0) | (j < n - 1)], j[(i > 0) | (j < n - 1)]  # the last edge is adjacent to the first
    boxes = np.all(
        (np.minimum(flat, ends)[i] <= np.maximum(flat, ends)[j])
        & (np.minimum(flat, ends)[j] <= np.maximum(flat, ends)[i]),
        axis=1,
    )
    i, j = i[boxes], j[boxes]
    a, b, c, d = flat[i], ends[i], flat[j], ends[j]
    doubt = DOUBT * float(np.ptp(flat, axis=0).max()) ** 2
    sides = np.stack([_turn(a, b, c), _turn(a, b, d), _turn(c, d, a), _turn(c, d, b)])
    clear = np.abs(sides) > doubt
    misses = [clear[k] & clear[k + 1] & ((sides[k] > 0.0) == (sides[k + 1] > 0.0)) for k in (0, 2)]
    meets = ~(misses[0] | misses[1])
    if not clear[:, meets].all():
        return None
    i, j, sides = i[meets], j[meets], sides[:, meets]
    on_i = sides[2] / (sides[2] - sides[3])
    on_j = sides[0] / (sides[0] - sides[1])
    rise = np.roll(height, -1) - height
    above = (height[i] + on_i * rise[i]) - (height[j] + on_j * rise[j])
    places = np.concatenate([i + on_i, j + on_j])
    order = np.argsort(places, kind="stable")
    if np.any(np.abs(above) <= DOUBT * np.ptp(turned)) or np.any(np.diff(places[order]) < n * DOUBT):
        return None
    # The sign of the crossing is the rotation from the upper strand's direction to the lower one's.
    sign = np.where((sides[1] > 0.0) == (above > 0.0), 1, -1)
    over = np.concatenate([above > 0.0, above < 0.0])
    crossing = np.tile(np.arange(len(i)), 2)
    return Diagram(crossing[order].tolist(), over[order].tolist(), sign.tolist())


def _turn(a: Array, b: Array, c: Array) -> Array:
    """Twice the signed area of a planar triangle, positive if a, b, c turn left."""
    return (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])


def _reduced(diagram: Diagram) -> Diagram:
    """Removes loops of one crossing and strands that pass over another and return (Reidemeister moves 1 and 2)."""
    walk = list(zip(diagram.crossing, diagram.over, strict=True))
    sign = diagram.sign
    while True:
        gone: set[int] = set()
        under_pairs = {frozenset((here[0], then[0])) for here, then in _successive(walk) if not here[1] and not then[1]}
        for (k, k_over), (m, m_over) in _successive(walk):
            if k in gone or m in gone:
                continue  # one move at a time near a crossing; the rest follows in the next round
            pair = frozenset((k, m))
            if k == m or (k_over and m_over and pair in under_pairs):
                gone |= pair
        if not gone:
            break
        walk = [step for step in walk if step[0] not in gone]
    numbers = {k: number for number, k in enumerate(dict.fromkeys(k for k, _ in walk))}
    return Diagram([numbers[k] for k, _ in walk], [over for _, over in walk], [sign[k] for k in numbers])


def _successive(walk: list[tuple[int, bool]]) -> list[tuple[tuple[int, bool], tuple[int, bool]]]:
    return list(zip(walk, walk[1:] + walk[:1], strict=True))


# -- The Alexander matrix and its determinant


def _determinant(diagram: Diagram) -> list[int]:
    """Coefficients of a minor of the Alexander matrix, exactly: modulo sufficiently many primes, at sufficiently many points."""
    count = len(diagram.sign)
    if count < 2:
        return [1]
    over, enter, leave = (np.zeros(count, dtype=np.int64) for _ in range(3))
    arc = 0  # arcs between successive undercrossings are numbered along the traversal
    for k, above in zip(diagram.crossing, diagram.over, strict=True):
        if above:
            over[k] = arc
        else:
            enter[k] = arc
            arc = (arc + 1) % count
            leave[k] = arc
    sign = np.array(diagram.sign, dtype=np.int64)
    matrix = np.empty((count - 1, count - 1), dtype=np.int64)
    values = np.empty(count, dtype=np.int64)
    # Hadamard's bound on the unit circle, where no row has a norm above sqrt(8), bounds all coefficients.
    bound = 2 ** ((3 * count) // 2 + 2)
    total, modulus = [0] * count, 1
    for prime in _primes():
        _minors(over, enter, leave, sign, prime, matrix, values)
        found = _interpolated(values.tolist(), prime)
        inverse = pow(modulus, -1, prime)
        total = [t + modulus * ((f - t) * inverse % prime) for t, f in zip(total, found, strict=True)]
        modulus *= prime
        if modulus > bound:
            break
    return [t - modulus if 2 * t > modulus else t for t in total]


def _primes() -> list[int]:
    """The largest primes below 2^31, so that the product of two remainders fits into 64 bits."""
    global _found_primes
    if not _found_primes:
        divisors = np.arange(3, 46341, 2)
        _found_primes = [p for p in range(2**31 - 1, 2**31 - 2000, -2) if np.all(p % divisors)]
    return _found_primes


_found_primes: list[int] = []


@kernel
def _minors(over: Ints, enter: Ints, leave: Ints, sign: Ints, prime: int, matrix: Ints, values: Ints) -> None:
    """values[t]: determinant of the Alexander matrix at t, without its last row and column, modulo a prime."""
    n = len(matrix)
    for t in range(len(values)):
        matrix[:] = 0
        for k in range(n):
            if over[k] < n:
                matrix[k, over[k]] += 1 - t
            if enter[k] < n:
                matrix[k, enter[k]] += t if sign[k] > 0 else -1
            if leave[k] < n:
                matrix[k, leave[k]] += -1 if sign[k] > 0 else t
        for k in range(n):
            for m in range(n):
                matrix[k, m] = (matrix[k, m] + prime) % prime
        result = 1
        for k in range(n):
            pivot = k
            while pivot < n and matrix[pivot, k] == 0:
                pivot += 1
            if pivot == n:
                result = 0
                break
            if pivot != k:
                result = prime - result
                for m in range(k, n):
                    matrix[k, m], matrix[pivot, m] = matrix[pivot, m], matrix[k, m]
            result = result * matrix[k, k] % prime
            inverse, base, power = 1, matrix[k, k], prime - 2  # Fermat
            while power > 0:
                if power % 2 == 1:
                    inverse = inverse * base % prime
                base = base * base % prime
                power //= 2
            for row in range(pivot + 1, n):  # the rows between have a zero there
                factor = matrix[row, k] * inverse % prime
                if factor != 0:
                    for m in range(k, n):
                        if matrix[k, m] != 0:
                            matrix[row, m] = (matrix[row, m] + (prime - factor) * matrix[k, m]) % prime
        values[t] = result


def _interpolated(values: list[int], prime: int) -> list[int]:
    """Coefficients of the polynomial with these values at 0, 1, 2, ..., modulo a prime, by Newton's divided differences."""
    n = len(values)
    slopes = list(values)
    for order in range(1, n):
        inverse = pow(order, -1, prime)
        for k in range(n - 1, order - 1, -1):
            slopes[k] = (slopes[k] - slopes[k - 1]) * inverse % prime
    coefficients = [0] * n
    for k in range(n - 1, -1, -1):
        shifted = [0, *coefficients[:-1]]
        coefficients = [(up - k * c) % prime for up, c in zip(shifted, coefficients, strict=True)]
        coefficients[0] = (coefficients[0] + slopes[k]) % prime
    return coefficients


def _normalised(coefficients: list[int]) -> tuple[int, ...]:
    """Removes the sign and the powers of t, which depend on the projection."""
    used = [k for k, c in enumerate(coefficients) if c]
    if not used:
        return (0,)
    part = coefficients[used[0] : used[-1] + 1]
    return tuple(c if part[0] > 0 else -c for c in part)
