"""Power series of a clothoid: the naive sum fails on a long curled element, the piecewise sum is accurate, and classical
integrators are much slower.

The element of the figures is 6 m long and its curvature vector varies from (1, 4, -2) to (3, -9, 12) 1/m. The exact shape is
computed by the same series in fixed-point arithmetic of many digits, in which large terms do no harm.
"""

from __future__ import annotations

import math
import time
from fractions import Fraction
from itertools import pairwise

import numpy as np

from ...core.models.clothoid.series import BOUND, MOST_TERMS, sum_element
from .integrators import INTEGRATORS, warm_up
from .outcome import BLUE, GREEN, GREY, ORANGE, RED, VIOLET, Camera, Moment, Number, Outcome, Plot, Series, Tube

FIRST, LAST, LENGTH = np.array([1.0, 4.0, -2.0]), np.array([3.0, -9.0, 12.0]), 6.0
BITS, EXTREME_BITS = 900, 3000
MANY = 2000  # terms of the naive sum, enough for all lengths
LENGTHS = np.linspace(0.25, LENGTH, 24)
RUNS = 30  # of each timing; the shortest counts
MANY_PIECES = 109  # of the extreme element of Fig. 3c
TRUNCATIONS = (4, 6, 8, 10, 12, 14, 16, 18, 20, 24, 28, 32)  # terms per piece


def exact(length: float, bits: int = BITS) -> tuple[np.ndarray, np.ndarray]:
    """Frame and position at the end, by the same series in fixed-point arithmetic with `bits` binary places."""
    one = 1 << bits
    s = round(Fraction(length) * one)
    k = [round(Fraction(float(a)) * Fraction(length) * one) for a in FIRST]
    slopes = [(Fraction(float(b)) - Fraction(float(a))) / Fraction(LENGTH) for a, b in zip(FIRST, LAST, strict=True)]
    g = [round(slope * Fraction(length) ** 2 * one) for slope in slopes]
    now = [[one * (i == j) for j in range(3)] for i in range(3)]
    before = [[0] * 3 for _ in range(3)]
    frame, place, n = [row[:] for row in now], [s * row[0] >> bits for row in now], 0
    while n < 20 or max(abs(x) for row in now for x in row) > one >> 100:
        n += 1
        following = [
            [
                ((x[1] * k[2] - x[2] * k[1] + y[1] * g[2] - y[2] * g[1]) >> bits) // n,
                ((x[2] * k[0] - x[0] * k[2] + y[2] * g[0] - y[0] * g[2]) >> bits) // n,
                ((x[0] * k[1] - x[1] * k[0] + y[0] * g[1] - y[1] * g[0]) >> bits) // n,
            ]
            for x, y in zip(now, before, strict=True)
        ]
        before, now = now, following
        for i in range(3):
            place[i] += (s * now[i][0] >> bits) // (n + 1)
            for j in range(3):
                frame[i][j] += now[i][j]
    return np.array([[x / one for x in row] for row in frame]), np.array([x / one for x in place])


def summed(length: float, bound: float, terms: int = MOST_TERMS) -> tuple[np.ndarray, np.ndarray, int]:
    """Frame and position at the end by the floating-point series, and the number of pieces."""
    at, frames, places = np.array([0.0, length]), np.zeros((2, 3, 3)), np.zeros((2, 3))
    frames[0] = np.eye(3)
    end = FIRST + (LAST - FIRST) * length / LENGTH
    pieces = sum_element(FIRST, end, length, bound, at, frames, places, np.zeros((terms + 3, 48)))
    return frames[1], places[1], pieces


def extreme_length() -> float:
    """Length of the shortest element with as many pieces as that of Fig. 3c; its curvature keeps growing."""
    low, high = LENGTH, 8.0 * LENGTH
    while high - low > 1e-6:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if summed(middle, BOUND)[2] >= MANY_PIECES else (middle, high)
    return high


def truncated(true_frame: np.ndarray, true_position: np.ndarray) -> tuple[list[float], list[float]]:
    """Errors and times of the piecewise sum with few terms per piece."""
    errors, seconds = [], []
    for terms in TRUNCATIONS:
        frame, place, _ = summed(LENGTH, BOUND, terms)
        errors.append(math.hypot(float(np.abs(frame - true_frame).max()), float(np.abs(place - true_position).max())))
        seconds.append(series_seconds(terms))
    return errors, seconds


def term_norms(length: float) -> np.ndarray:
    """Norms of the terms of the frame's series."""
    k, g = FIRST * length, (LAST - FIRST) / LENGTH * length**2
    now, before, norms = np.eye(3), np.zeros((3, 3)), [1.0]
    for n in range(1, 200):
        now, before = (now @ _cross(k) + before @ _cross(g)) / n, now
        norms.append(float(np.abs(now).max()))
    return np.array(norms)


def _cross(v: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def largest_term_bound(length: float) -> float:
    """Bound on the largest term, eq. 12 of the paper."""
    slope = np.abs(LAST - FIRST).max() / LENGTH
    x = 2.0 * length * (np.abs(FIRST).max() + length * slope)
    return math.exp(math.floor(x) * math.log(x) - math.lgamma(math.floor(x) + 1.0))


def least_seconds(work, *arguments) -> float:
    found = math.inf
    for _ in range(RUNS):
        start = time.perf_counter()
        work(*arguments)
        found = min(found, time.perf_counter() - start)
    return found


def series_seconds(terms: int = MOST_TERMS) -> float:
    at, frames, places, room = (
        np.array([0.0, LENGTH]),
        np.zeros((2, 3, 3)),
        np.zeros((2, 3)),
        np.zeros((terms + 3, 48)),
    )
    frames[0] = np.eye(3)
    return least_seconds(sum_element, FIRST, LAST, LENGTH, BOUND, at, frames, places, room)


def integrator_costs(true_frame: np.ndarray, true_position: np.ndarray) -> dict[str, list[tuple[float, float]]]:
    """(error, seconds) of each classical integrator for increasing numbers of steps."""
    warm_up(FIRST, LAST, LENGTH)
    found: dict[str, list[tuple[float, float]]] = {}
    for name, integrate in INTEGRATORS.items():
        found[name] = []
        for steps in (2**k for k in range(6, 18)):
            frame, place = integrate(FIRST, LAST, LENGTH, steps)
            error = math.hypot(float(np.abs(frame - true_frame).max()), float(np.abs(place - true_position).max()))
            start = time.perf_counter()
            integrate(FIRST, LAST, LENGTH, steps)
            found[name].append((error, time.perf_counter() - start))
    return found


def falls(errors: list[float]) -> list[float]:
    """Factors by which errors fall from one truncation to the next, where they are between 0.1 and round-off."""
    return [a / b for a, b in pairwise(errors[:10]) if a < 0.1 and b > 1e-12]


def reaches(points: list[tuple[float, float]], precision: float) -> float:
    """Shortest time in which the precision is reached; infinite if it is not."""
    return min((seconds for error, seconds in points if error <= precision), default=math.inf)


def run() -> Outcome:
    naive, piecewise, tilt = [], [], []
    for length in LENGTHS:
        true_frame, true_position = exact(float(length))
        frame, _, _ = summed(float(length), math.inf, MANY)
        naive.append(float(np.abs(frame - true_frame).max()))
        frame, place, pieces = summed(float(length), BOUND)
        piecewise.append(
            max(float(np.abs(frame - true_frame).max()), float(np.abs(place - true_position).max()), 1e-17)
        )
        tilt.append(float(np.abs(frame.T @ frame - np.eye(3)).max()))
    seconds, found = series_seconds(), integrator_costs(true_frame, true_position)
    few_errors, few_seconds = truncated(true_frame, true_position)
    long = extreme_length()
    long_frame, _, long_pieces = summed(long, BOUND)
    long_error = float(np.abs(long_frame - exact(long, EXTREME_BITS)[0]).max())
    classical = {name: reaches(points, 1e-10) for name, points in found.items()}
    numbers = [
        Number.between(
            "error of the naive sum at the full length", naive[-1], 1.0, math.inf, "", "nothing is right any more"
        ),
        Number.between("largest error of the piecewise sum", max(piecewise), 0.0, 1e-13, "", "machine precision"),
        Number.between("frames off a rotation, without projection", max(tilt), 0.0, 1e-13),
        Number("pieces", pieces),
        Number.equal(f"pieces of an element of {long:.1f} m", long_pieces, MANY_PIECES, says="Fig. 3c"),
        Number.between("error of its frame at the end", long_error, 0.0, 1e-11, "", "machine precision, amplified"),
        Number.between(
            "error of the truncated series falls by a factor per two terms of",
            min(falls(few_errors), default=0.0),
            2.0,
            math.inf,
        ),
        Number.between("time of the piecewise sum", 1e6 * seconds, 0.0, 10.0, "µs"),
        *(
            Number.between(
                f"{name}, time to 1e-10 over that", t / seconds, 10.0, math.inf, "", "ten times cheaper at least"
            )
            for name, t in classical.items()
        ),
    ]
    sizes = (1.0, 2.0, 3.0, 4.0)
    hills = [term_norms(size) for size in sizes]
    colours = dict(zip(found, (GREY, VIOLET, ORANGE, GREEN), strict=True))
    plots = [
        Plot(
            "Error at the end", "length of the element (m)", "largest entry",
            [Series(LENGTHS, naive, "naive", "o-", RED), Series(LENGTHS, piecewise, "piecewise", "o-", BLUE)], logarithmic="y",
        ),
        Plot(
            "Terms, and the bound on the largest", "n", "norm of the term",
            [
                *(Series(range(len(h)), h, f"{size:g} m", "-") for size, h in zip(sizes, hills, strict=True)),
                Series([np.argmax(h) for h in hills], [largest_term_bound(size) for size in sizes], "eq. 12", "s", RED),
            ],
            logarithmic="y",
        ),
        Plot(
            "Time to reach a precision", "error", "seconds",
            [
                *(Series([e for e, _ in p], [t for _, t in p], name, "o-", colours[name]) for name, p in found.items()),
                Series([max(e, 1e-16) for e in few_errors], few_seconds, "series, 4 to 32 terms", "s-", BLUE),
            ],
            logarithmic="xy",
        ),
    ]  # fmt: skip
    at, frames, places = np.linspace(0.0, LENGTH, 600), np.zeros((600, 3, 3)), np.zeros((600, 3))
    frames[0] = np.eye(3)
    sum_element(FIRST, LAST, LENGTH, BOUND, at, frames, places, np.zeros((MOST_TERMS + 3, 48)))
    tube = Tube(places, 0.02, BLUE, directors=frames[:-1, :, 1])
    moments = [Moment("the element", [tube]), Moment(f"{MANY_PIECES} pieces, as in Fig. 3c", [_extreme(long)])]
    caption = (
        "A clothoid by power series: one sum over the whole element fails, sums over pieces do not, even of one with 109 pieces. "
        "To any precision, they are faster than classical integrators."
    )
    return Outcome(numbers, moments, plots, Camera((0.3, -1.0, 0.5)), columns=2, caption=caption)


def _extreme(length: float) -> Tube:
    at, frames, places = np.linspace(0.0, length, 6000), np.zeros((6000, 3, 3)), np.zeros((6000, 3))
    frames[0] = np.eye(3)
    end = FIRST + (LAST - FIRST) * length / LENGTH
    sum_element(FIRST, end, length, BOUND, at, frames, places, np.zeros((MOST_TERMS + 3, 48)))
    return Tube(places, 0.01, ORANGE, directors=frames[:-1, :, 1])
