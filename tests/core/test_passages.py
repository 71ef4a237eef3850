"""Passages of thin rods: what counts as one, on which side rods stay, and hair of real radius that gets along with it."""

from __future__ import annotations

import numpy as np
from numpy import int64
from tendril.bench.mass_scenes import hair
from tendril.core import Simulation
from tendril.core.contact.arrays import Samples
from tendril.core.contact.passages import (
    NOTHING_PASSED,
    Passages,
    beside_passages,
    cancel_returns,
    find_passages,
    make_passages,
    remember,
)


def two_rods(start: np.ndarray, now: np.ndarray) -> Samples:
    """A bent rod of two edges, (-1, 0, 0) to (0, bend, 0) to (1, 0, 0), which stays, and a straight one along z of one edge, moved
    from one point of the plane to another."""
    bent = np.array([(-1.0, 0.0, 0.0), (0.0, 0.4, 0.0), (1.0, 0.0, 0.0)])
    ends = np.array([(0.0, 0.0, -1.0), (0.0, 0.0, 1.0)])
    one, other = (np.concatenate([bent, ends + np.append(place, 0.0)]) for place in (start, now))
    return Samples(
        start=one,
        now=other,
        after=np.array([1, 2, -1, 4, -1], int64),
        last=np.array([False, True, False, True, False]),
        rod=np.array([0, 0, 0, 1, 1], int64),
        along=np.array([0.0, 1.1, 2.2, 0.0, 2.0]),
        length=np.full(5, np.inf),
        radius=np.full(5, 1e-3),
        friction=np.zeros(5),
    )


PAIRS = np.array([(0, 3), (1, 3)], int64)
THIN = np.ones(5, np.bool_)


def passages(samples: Samples, thin: np.ndarray = THIN) -> Passages:
    found = make_passages(8)
    count = find_passages(PAIRS, len(PAIRS), samples, found)
    cancel_returns(PAIRS, count, samples.rod, thin, found)
    return Passages(*(field[:count] for field in found))


def test_a_rod_that_goes_through_one_edge_has_passed() -> None:
    found = passages(two_rods((-0.5, 1.0), (-0.5, -1.0)))
    assert found.pair.tolist() == [0]
    assert found.counts.all()
    # The bent rod comes from below, as seen from the straight one.
    assert found.normal[0, 1] < -0.9


def test_a_rod_that_slides_over_a_bend_has_not_passed() -> None:
    """On its straight way from one side of the bend to the other it goes in through one edge and out through the next."""
    found = passages(two_rods((-1.0, 0.35), (1.0, 0.35)))
    assert found.pair.tolist() == [0, 1]
    assert not found.counts.any()


def test_thick_rods_have_passed_even_so() -> None:
    found = passages(two_rods((-1.0, 0.35), (1.0, 0.35)), thin=~THIN)
    assert found.pair.tolist() == [0, 1]
    assert found.counts.all()


def test_the_side_is_that_of_neighbouring_edges_of_the_same_rods_too() -> None:
    samples = two_rods((-0.5, 1.0), (-0.5, -1.0))
    found = passages(samples)
    beside = beside_passages(PAIRS, found, 1, THIN, samples)
    assert beside.key.tolist() == [1 * len(samples.after) + 3]
    np.testing.assert_array_equal(beside.normal, found.normal)
    assert not len(beside_passages(PAIRS, found, 1, ~THIN, samples).key), "thick rods touch before they pass"
    assert not len(beside_passages(PAIRS, passages(two_rods((-1.0, 0.35), (1.0, 0.35))), 2, THIN, samples).key)


def test_the_newest_passage_is_kept() -> None:
    samples = two_rods((-0.5, 1.0), (-0.5, -1.0))
    passed = NOTHING_PASSED
    for place in (0.1, 0.9):
        passed = remember(passed, PAIRS[:1], np.full((1, 2), place), np.array([(0.0, -1.0, 0.0)]), samples)
    assert passed.at[0, 0] == 0.9


def test_hair_of_real_radius_on_a_turning_head_is_solved() -> None:
    """50 um, seven millimetres a substep: nothing is given up, and nothing overlaps."""
    sim = Simulation(hair(40))
    touching = 0
    for _ in range(14):
        report = sim.step_frame().report
        assert report.failures == 0
        assert report.overlap < 0.1
        touching += len(sim._contact.known.linked()) > 3
    assert touching > 3
