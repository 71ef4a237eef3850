"""Crowded scenes, drawn without knowledge of the solver: no rod may pass through another, itself or a collider.

An overlap above a tenth of a radius, of the thinner rod, that was not drawn and that the frame's report does not show fails; so
does every crossing. Where boxes leave no room, overlaps must be reported in the frame in which they begin.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from tendril.core import Simulation
from tendril.tests.support.ccd_checker import Checker
from tendril.tests.support.snapshots import Follower
from tendril.tests.validation.crowds.drawing import Crowd
from tendril.tests.validation.crowds.families import FAMILIES, crowd

SCENES, RUNS = 100, 10  # `make test-long`: scenes of full size, and displaced runs of each
SAMPLE = 60  # `make test`: small scenes, one run of each
SLOW = {1, 42, 53, 59}  # of these: ten seconds and more each, of families that others stand for in `make test`
OVERLAP = 0.1  # radii
ENERGY = 1e-6  # growth without drive, relative to all there is in the scene


@dataclass
class Outcome:
    unreported: list[str] = field(default_factory=list)
    crossings: list[str] = field(default_factory=list)
    worst: float = 0.0  # radii
    reported: int = 0  # frames with a failure or an overlap in their report
    finite: bool = True
    gain: float = 0.0  # of energy, relative
    frames: int = 0


def is_reported(report: Any, overlap: float) -> bool:
    """Whether a frame's report shows this overlap."""
    return bool(report.overlap >= overlap - OVERLAP and report.failures > 0)


def run(scene: Crowd, threads: int = 1) -> Outcome:
    sim = Simulation(scene.scene, threads=threads)
    follower = Follower(sim, Checker(scene.scene))
    outcome, start = Outcome(), sim.energies()
    highest, low, high = start.total, start.gravity, start.gravity
    for _ in range(scene.frames):
        frame = sim.step_frame()
        outcome.frames += 1
        outcome.finite &= all(np.isfinite(frame.positions(rod)).all() for rod in range(len(scene.scene.entries)))
        if not outcome.finite:
            break
        deepest, crossings, _ = follower.end_frame(frame)
        outcome.worst = max(outcome.worst, deepest.overlap)
        outcome.reported += frame.report.failures > 0
        if deepest.overlap > OVERLAP and not is_reported(frame.report, deepest.overlap):
            outcome.unreported.append(f"frame {frame.number}: {deepest.overlap:.2f} r, {deepest.pair}")
        if crossings and follower.sees_steps:  # chords between frames cut corners that the motion does not
            found = follower.checker.findings.passages[-1][1]
            outcome.crossings.append(f"frame {frame.number}: {crossings}, the last {found}")
        energies = frame.report.energies
        low, high = min(low, energies.gravity), max(high, energies.gravity)
        scale = start.kinetic + start.elastic + high - low
        outcome.gain = max(outcome.gain, (energies.total - highest) / max(scale, 1e-300))
        highest = max(highest, energies.total)
    return outcome


def check(scene: Crowd) -> None:
    outcome = run(scene)
    print(f"worst overlap {outcome.worst:.4f} r, {outcome.reported} of {outcome.frames} frames with a failure")
    told = "\n".join([scene.story, *outcome.crossings[:5], *outcome.unreported[:5]])
    assert outcome.finite, told
    assert not outcome.crossings, told
    assert not outcome.unreported, told
    if not scene.feasible:
        assert outcome.reported, f"{told}\nnothing is reported where there is no room"
    if not scene.driven:
        assert outcome.gain <= ENERGY, f"{told}\ngains {outcome.gain}"


def name_of(number: int) -> str:
    return f"{number}-{FAMILIES[number % len(FAMILIES)].__module__.rsplit('.')[-1]}-{FAMILIES[number % len(FAMILIES)].__name__}"


@pytest.mark.parametrize(
    "number",
    [pytest.param(n, marks=pytest.mark.long if n in SLOW else (), id=name_of(n)) for n in range(SAMPLE)],
)
def test_nothing_passes_through_in_small_crowds(number: int) -> None:
    check(crowd(number, number % RUNS, small=True))


@pytest.mark.long
@pytest.mark.parametrize("jitter", range(RUNS))
@pytest.mark.parametrize("number", range(SCENES), ids=name_of)
def test_nothing_passes_through_in_crowds(number: int, jitter: int) -> None:
    check(crowd(number, jitter, small=False))
