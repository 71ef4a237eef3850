"""The crowded scenes themselves: nothing overlaps as drawn, jitter changes them, and without contact the checker sees passages."""

from __future__ import annotations

import numpy as np
import pytest
from tendril.core import Simulation
from tendril.tests.support.ccd_checker import Checker, snapshot
from tendril.tests.support.ccd_surfaces import Pose
from tendril.tests.validation.crowds.drawing import Crowd
from tendril.tests.validation.crowds.families import FAMILIES, crowd


def drawn_overlap(scene: Crowd) -> float:
    """The largest overlap as drawn, m."""
    checker = Checker(scene.scene)
    points = np.concatenate([entry.rod.points for entry in scene.scene.entries])
    poses = [Pose(np.asarray(body.position), np.asarray(body.rotation)) for body in scene.scene.bodies]
    return max([0.0, *checker.begin(points, 0.0, poses)])


@pytest.mark.parametrize("number", range(2 * len(FAMILIES)))
def test_nothing_overlaps_as_drawn(number: int) -> None:
    assert drawn_overlap(crowd(number, 3)) == 0.0


@pytest.mark.long
@pytest.mark.parametrize("number", range(100))
def test_nothing_overlaps_in_large_scenes(number: int) -> None:
    assert drawn_overlap(crowd(number, 5, small=False)) == 0.0


def test_runs_differ_by_their_jitter_alone() -> None:
    first, again, other = (crowd(0, jitter).scene for jitter in (1, 1, 2))
    assert first.fingerprint() == again.fingerprint() != other.fingerprint()
    for a, b in zip(first.entries, other.entries, strict=True):
        shift = a.rod.points - b.rod.points
        assert 0.0 < np.abs(shift).max() < 0.1 * a.rod.radii.min()


@pytest.mark.parametrize(
    ("number", "left_out"), [(0, "rods"), (18, "rods"), (20, "rods"), (0, "colliders"), (16, "colliders")]
)
def test_without_contact_overlaps_are_seen(number: int, left_out: str) -> None:
    """Or else the other tests would show nothing: a heap, a braid and chain mail pass through themselves, a heap and a coil through
    what they lie on."""
    scene, blind = crowd(number), crowd(number).scene
    if left_out == "rods":
        blind.rod_contact = False
    else:
        blind.colliders = []
    checker, sim = Checker(scene.scene), Simulation(blind)
    checker.begin(*snapshot(sim.current(), blind))
    for _ in range(scene.frames):
        checker.look(*snapshot(sim.step_frame(), blind))
    assert checker.findings.worst > 0.5
