"""Piecewise summation of the series of one element that is straight at one end and curled at the other (Casati and
Bertails-Descoubes 2013, Fig. 5): pieces become short where it is curled, and longer ones than eq. 14 allows lose digits.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from ...core.errors import Array
from ...core.models.clothoid.series import BOUND, make_terms, sum_element
from .outcome import BLUE, GREEN, GREY, ORANGE, RED, VIOLET, Camera, Moment, Number, Outcome, Plot, Series, Tube

FIRST, LAST, LENGTH = np.array([0.0, 0.4, 0.0]), np.array([6.0, 22.0, -6.0]), 6.0  # 1/m, 1/m, m
BOUNDS = (1.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 60.0, 100.0)
FINE = 0.5  # bound of the reference
SAMPLES = 1201
MANY = 600  # terms, enough for all bounds


def ends_of_pieces(bound: float = BOUND) -> Array:
    """Arc lengths at which pieces begin and end, by eq. 14."""
    g = float(np.abs(LAST - FIRST).max()) / LENGTH
    ends = [0.0]
    while ends[-1] < LENGTH * (1.0 - 1e-14):
        k = float(np.abs(FIRST + (LAST - FIRST) * ends[-1] / LENGTH).max())
        ends.append(min(LENGTH, ends[-1] + 0.5 * (math.sqrt(k * k + 2.0 * bound * g) - k) / g))
    return np.array(ends)


def summed(bound: float) -> tuple[Array, Array, int]:
    """Frames and points along the element, and the number of pieces."""
    at = np.linspace(0.0, LENGTH, SAMPLES)
    frames, places = np.zeros((SAMPLES, 3, 3)), np.zeros((SAMPLES, 3))
    frames[0] = np.eye(3)
    return frames, places, sum_element(FIRST, LAST, LENGTH, bound, at, frames, places, np.zeros((MANY, 48)))


def run() -> Outcome:
    assert len(make_terms()[0]) <= MANY
    ends = ends_of_pieces()
    lengths = np.diff(ends)
    true, _, _ = summed(FINE)
    _, places, pieces = summed(BOUND)
    errors = [float(np.abs(summed(bound)[0] - true).max()) for bound in BOUNDS]
    numbers = [
        Number.equal("pieces", pieces, len(lengths), says="eq. 14"),
        Number.between("pieces", pieces, 10, 20, says='the paper: "around 10 to 20"'),
        Number.equal("each is shorter than the one before", bool(np.all(np.diff(lengths[:-1]) < 0.0)), True),
        Number.between("longest over shortest", float(lengths.max() / lengths[:-1].min()), 3.0, math.inf),
        Number.between("error with M = 10", errors[BOUNDS.index(10.0)], 0.0, 1e-12, "", "machine precision"),
        Number.between("with longer pieces, M = 40", errors[BOUNDS.index(40.0)], 1e-10, math.inf, "", "digits are lost"),
        Number.between("with M = 100", errors[-1], 1e-4, math.inf, "", "the sum fails"),
    ]  # fmt: skip
    s = np.linspace(0.0, LENGTH, SAMPLES)
    colours = (BLUE, ORANGE, GREEN, VIOLET, RED)
    tubes = [
        Tube(places[np.searchsorted(s, a) : np.searchsorted(s, b) + 1], 0.025, colours[k % len(colours)])
        for k, (a, b) in enumerate(pairwise(ends.tolist()))
    ]
    curvature = np.linalg.norm((FIRST + (LAST - FIRST) * s[:, None] / LENGTH)[:, 1:], axis=1)
    plots = [
        Plot("Length of the pieces", "arc length (m)", "m", [Series(0.5 * (ends[1:] + ends[:-1]), lengths, "", "o-", BLUE)]),
        Plot("Curvature", "arc length (m)", "1/m", [Series(s, curvature, "", "-", GREY)]),
        Plot("Largest error of a frame", "bound M of eq. 13", "entry", [Series(BOUNDS, errors, "", "o-", RED)], logarithmic="xy"),
    ]  # fmt: skip
    caption = (
        f"One element of {LENGTH:g} m, whose curvature grows from 0.4 to 23 1/m, in the pieces in which its series is summed. "
        f"Eq. 14 gives their lengths for M = {BOUND:g}; larger M makes fewer pieces, and loses digits."
    )
    return Outcome(
        numbers, [Moment(f"{pieces} pieces", tubes)], plots, Camera((0.25, -0.4, 1.0)), columns=1, caption=caption
    )
