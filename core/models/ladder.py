"""The retry ladder of free steps: where an attempt fails, first the scheme's fall-back (of some schemes
after halving), then half the time, at last giving up.

Time is counted in steps: `done` of them are over, and `part` of one is attempted. Both are sums of powers of two and therefore
exact; `done` stays a multiple of `part`.
"""

from __future__ import annotations

import math

from ..compile.jit import part
from ..errors import Array
from .report import FAILURES, FALLBACKS, HALVINGS
from .schemes import FALL_BACK, SHORTEST

MOST_ITERATIONS = 25  # of Newton's method
MOST_HALVINGS = 8
LEAST_SIZE = 1e-4  # of a step along Newton's direction: the line search gives up below

GAIN = 1e-3  # relative energy gain above which a step of a watched scheme is rejected and repeated with its fall-back
ROUND_OFF = 1e-9  # the same, relative to the work done: a rod at rest has no energy, and any error would be a gain


@part
def next_attempt(
    report: Array, r: int, scheme: int, wanted: int, piece: float, smallest: float
) -> tuple[int, float, bool]:
    """After a failed attempt: the scheme and the part of a step to try next, and whether there is anything left to try."""
    if FALL_BACK[scheme] >= 0 and not piece > SHORTEST[scheme]:
        report[r, FALLBACKS] += 1.0
        return FALL_BACK[scheme], piece, True
    if piece > smallest:
        report[r, HALVINGS] += 1.0
        return wanted, 0.5 * piece, True
    report[r, FAILURES] += 1.0
    return wanted, piece, False


@part
def lengthen(done: float, piece: float) -> float:
    """The longest part of a step, at most one, that fits after `done`: short parts grow again where they can."""
    while piece < 1.0 and done / (2.0 * piece) == math.floor(done / (2.0 * piece)):
        piece *= 2.0
    return piece
