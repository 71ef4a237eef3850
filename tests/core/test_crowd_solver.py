"""Contact of many rods: nothing passes, reports are true, and bits do not depend on threads or on how a run was started."""

from __future__ import annotations

import numpy as np
import pytest
from tendril.core import Box, Material, Plane, Rod, Scene, Simulation
from tendril.core.contact.crowd_solver import CROWD, FEW, CrowdSolver
from tendril.tests.support.ccd_checker import Checker
from tendril.tests.support.snapshots import Follower

FRAMES = 10
STRANDS = 12


def heap(strands: int = STRANDS, seed: int = 0) -> Scene:
    """Crossed layers of four short strands fall on the ground."""
    rng = np.random.default_rng(seed)
    scene, along = Scene(rod_contact=True), np.linspace(-0.05, 0.05, 9)
    scene.collide(Plane(), friction=0.4)
    for k in range(strands):
        layer, place = divmod(k, 4)
        points = np.zeros((9, 3))
        points[:, layer % 2] = along
        points[:, 1 - layer % 2] = 0.012 * (place - 1.5) + rng.uniform(-1e-3, 1e-3)
        points[:, 2] = 0.02 + 0.008 * layer
        scene.add(Rod.from_points(points, radius=0.002, material=Material.preset("nylon rope")), friction=0.4)
    return scene


def test_many_rods_have_a_solver_of_their_own() -> None:
    assert isinstance(Simulation(heap())._contact, CrowdSolver)
    assert isinstance(Simulation(heap(FEW))._contact, CrowdSolver)
    assert not isinstance(Simulation(heap(FEW - 1))._contact, CrowdSolver)


def test_a_rope_that_is_swept_into_others_takes_them_along() -> None:
    """At 10 m/s, 10 cm a substep, with four ropes in its way: it does not hang behind its ends, and nothing is given up."""
    scene, rope = Scene(rod_contact=True), Material.preset("nylon rope")
    for y in (-0.09, -0.03, 0.03, 0.09):
        hanging = scene.add(Rod.from_points(np.linspace((0.0, y, 0.2), (0.0, y, -0.2), 25), 0.005, rope))
        scene.pin(hanging, "start")
    points = np.linspace((-0.05, -0.2, 0.0), (-0.05, 0.2, 0.0), 31)
    swept = scene.add(Rod.from_points(points, 0.005, rope))
    for where, end in (("start", points[0]), ("end", points[-1])):
        scene.pin(swept, where, lambda t, x=end: x + 10.0 * min(t, 0.05) * np.eye(3)[0])
    sim = Simulation(scene)
    for _ in range(4):
        frame = sim.step_frame()
        assert frame.report.failures == 0
        length = np.linalg.norm(np.diff(frame.positions(swept), axis=0), axis=1).sum()
        assert length < 1.05 * 0.4


@pytest.mark.parametrize("seed", range(2))
def test_a_heap_falls_into_itself_without_passing(seed: int) -> None:
    sim = Simulation(heap(seed=seed))
    follower = Follower(sim, Checker(sim.scene))
    energy = sim.energies().total
    touched = False
    for _ in range(FRAMES):
        frame = sim.step_frame()
        worst, _, _ = follower.end_frame(frame)
        assert worst.overlap < 0.1
        assert frame.report.failures == 0
        assert frame.report.overlap == pytest.approx(worst.overlap, abs=0.03)
        assert sim.energies().total < energy + 1e-6
        energy = sim.energies().total
        touched = touched or frame.positions(STRANDS - 1)[:, 2].mean() < 0.02
    assert touched  # the uppermost layer lies on the others


def test_bits_are_those_of_one_thread_and_of_an_uninterrupted_run() -> None:
    sims = [Simulation(heap(), threads=threads) for threads in (1, 2)]
    for _ in range(6):
        frames = [sim.step_frame() for sim in sims]
        for rod in range(STRANDS):
            np.testing.assert_array_equal(frames[0].positions(rod), frames[1].positions(rod))
    again = Simulation(heap(), threads=1)
    again.restore(sims[0].state(), sims[0].frame)
    for _ in range(3):
        frames = [sim.step_frame() for sim in (sims[0], again)]
        for rod in range(STRANDS):
            np.testing.assert_array_equal(frames[0].positions(rod), frames[1].positions(rod))


def test_what_can_not_be_resolved_is_reported() -> None:
    """Two boxes close beyond what the strands between them leave room for."""
    scene = Scene(gravity=(0.0, 0.0, 0.0), rod_contact=True)
    strands = CROWD
    for k in range(strands):
        points = np.stack([np.linspace(-0.05, 0.05, 9), np.full(9, 0.0041 * k), np.zeros(9)], axis=1)
        scene.add(Rod.from_points(points, radius=0.002, material=Material.preset("nylon rope")), friction=0.4)
    middle, room = 0.0041 * (strands - 1) / 2.0, 0.0041 * strands

    def closing(sign: float) -> object:
        return lambda t: ((0.0, middle + sign * (0.5 * room + 0.01 + 0.001 - 0.2 * t * room), 0.0), np.eye(3))

    for sign in (-1.0, 1.0):
        # Walls above and below keep the strands in a plane.
        scene.collide(Box((0.2, 0.02, 0.2)), path=closing(sign))
        scene.collide(Box((0.2, 0.2, 0.02), (0.0, middle, sign * 0.01205)))
    sim = Simulation(scene)
    reports = []
    # Frames without a solution are the slowest ones there are: three of them will do.
    while len(reports) < 30 and sum(report.failures > 0 for report in reports) < 3:
        reports.append(sim.step_frame().report)
    given_up = [report for report in reports if report.failures]
    assert len(given_up) == 3
    assert given_up[-1].affected
    deep = max(report.overlap for report in reports)
    assert deep > 0.1
    assert all(report.failures > 0 for report in reports if report.overlap > 0.1)


def test_thin_rods_among_thick_ones_overlap_no_more_than_by_their_own_measure() -> None:
    """1 mm and 8 mm in layers: a tenth of the thinner radius is little of the sum of both."""
    scene, along = Scene(rod_contact=True), np.linspace(-0.08, 0.08, 13)
    scene.collide(Plane(), friction=0.4)
    for k in range(12):
        layer, place = divmod(k, 3)
        points = np.zeros((13, 3))
        points[:, layer % 2] = along
        points[:, 1 - layer % 2] = 0.04 * (place - 1.0)
        points[:, 2] = 0.01 + 0.012 * layer
        radius = 0.001 if layer % 2 else 0.008
        scene.add(Rod.from_points(points, radius, Material.preset("nylon rope")), friction=0.4)
    sim = Simulation(scene)
    for _ in range(8):
        report = sim.step_frame().report
        assert report.failures == 0
        assert report.overlap < 0.1
