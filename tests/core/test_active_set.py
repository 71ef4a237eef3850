"""Contact as the paper on compact rods has it: an active set of contacts that press, without friction."""

from __future__ import annotations

import numpy as np
import pytest
from plain_rods import line, made_of, plain_rod
from tendril.core import Box, Plane, Rod, Scene, Simulation, TendrilError
from tendril.core.maths.linalg.complementarity import solve_lcp
from tendril.core.models.compact.block import CompactBlock
from tendril.sample_scenes.experiments import knot, sliding_plectoneme
from tendril.sample_scenes.experiments.overlap import in_itself

STIFF = made_of(bend=0.02, twist=0.02)


@pytest.mark.parametrize("seed", range(8))
def test_forces_only_push(seed: int) -> None:
    """w = S f + r >= 0, f >= 0, f . w = 0, for matrices of full and of lower rank, from any start."""
    rng = np.random.default_rng(seed)
    n = 12
    half = rng.normal(size=(n, n if seed % 2 else n // 2))
    s = half @ half.T
    f = np.maximum(rng.normal(size=n), 0.0)
    r = rng.normal(size=n) if seed % 2 else half @ rng.normal(size=n // 2) + 0.1
    assert solve_lcp(s, r, 1e-9, f, np.zeros((n + 3, n)))
    w = s @ f + r
    assert f.min() >= 0.0
    assert w.min() > -1e-5
    assert np.abs(f * w).max() < 1e-4 * (1.0 + np.abs(f).max())


def test_many_right_hand_sides_share_a_factor() -> None:
    """N^T A^-1 N in one go is what one column at a time gives, for a rod with itself and for two rods."""
    scene = Scene(rod_contact=True)
    for height in (0.0, 0.2):
        scene.add(plain_rod(line(8) + np.array([0.0, 0.0, height]), STIFF), "compact")
    sim = Simulation(scene, threads=1)
    block = sim.blocks[0]
    assert isinstance(block, CompactBlock)
    rods, n = np.arange(2), 18
    block.save(rods)
    block.begin(rods, 0.01, 0.0)
    block.probe(rods, np.zeros((n, 6)))
    rows = np.array([[2, 3, 12, 13], [5, 6, -1, -1], [1, 2, 6, 7]])
    weights = np.random.default_rng(1).normal(size=(3, 4, 3))
    weights[1, 2:] = 0.0
    together = np.zeros((3, 3))
    block.respond(np.repeat(rods, 9), rows, weights, 0, together)
    for c in range(3):
        forces, motion, x = np.zeros((n, 4)), np.zeros((n, 4)), np.zeros(3 * (n + 2))
        for row, weight in zip(rows[c], weights[c], strict=True):
            if row >= 0:
                forces[row, :3] += weight
        block.generalized_pushes(rods, forces, x)
        block.solve_linearised(rods, x)
        block.sample_steps(rods, x, motion)
        alone = [sum(weights[k, s] @ motion[rows[k, s], :3] for s in range(4) if rows[k, s] >= 0) for k in range(3)]
        assert together[:, c] == pytest.approx(alone, rel=1e-9, abs=1e-12)
    assert together[1, 0] == pytest.approx(together[0, 1], rel=1e-9) != 0.0


def test_it_moves_rods_as_the_shared_solver_does() -> None:
    """A rod falls across another, which lies on a plane and a box: all that touches, touches without friction."""

    def end(contact: str) -> tuple[np.ndarray, np.ndarray, int]:
        scene = Scene(rod_contact=True)
        scene.collide(Plane(), friction=0.0)
        scene.collide(Box((0.1, 1.0, 0.05), position=(0.5, 0.0, 0.05)), friction=0.0)
        low = Rod.from_points(line(20) + np.array([0.0, 0.0, 0.15]), 0.02, stiffness=STIFF)
        high = Rod.from_points(line(20)[:, [1, 0, 2]] + np.array([0.25, -0.4, 0.25]), 0.02, stiffness=STIFF)
        for rod in (low, high):
            scene.add(rod, "compact", friction=0.0)
        scene.pin(0, "start")
        scene.pin(1, "start")
        sim = Simulation(scene, 100.0, substeps=1, integrator="backward euler", threads=1, contact=contact)
        frames = list(sim.frames(2, 50))
        assert sim._contact is not None
        assert sum(frame.report.failures for frame in frames) == 0
        assert all(frame.positions(k)[:, 2].min() > 0.02 - 1e-3 for frame in frames for k in range(2))
        return frames[-1].positions(0), frames[-1].positions(1), len(sim._contact.known.keys)

    ours, shared = end("active set"), end("coulomb")
    assert ours[2] >= 3
    for a, b in zip(ours[:2], shared[:2], strict=True):
        assert np.abs(a - b).max() < 1e-3  # a twentieth of the radius, after half a second of falling and sliding


def test_a_springing_knot_never_overlaps() -> None:
    """The hardest of the paper's scenes: in its first steps the loose knot springs open."""
    sim = knot.simulation(1, "compact", "active set")[1]
    for _ in range(12):
        frame = sim.step_frame()
        assert frame.report.failures == 0
        assert in_itself(frame.positions(0), knot.RADIUS) < 0.02 * knot.RADIUS
    assert len(sim._contact.known.keys) > 5  # type: ignore[union-attr]


@pytest.mark.long
def test_a_plectoneme_winds_as_with_the_shared_solver() -> None:
    spans = {}
    for contact in ("active set", "coulomb"):
        sim = sliding_plectoneme.simulation(1, contact)[1]
        *_, frame = sim.frames(2, 300)
        x = frame.positions(0)
        spans[contact] = float(np.linalg.norm(x[-1] - x[0]))
        assert in_itself(x, sliding_plectoneme.RADIUS) < 0.02 * sliding_plectoneme.RADIUS
    assert spans["active set"] == pytest.approx(spans["coulomb"], rel=0.01)


def test_states_can_be_restored() -> None:
    sim = knot.simulation(1, "compact", "active set")[1]
    for _ in range(7):
        sim.step_frame()
    state, number = sim.state(), sim.frame
    first = [sim.step_frame().positions(0) for _ in range(2)]
    again = knot.simulation(1, "compact", "active set")[1]
    again.restore(state, number)
    assert all(np.array_equal(again.step_frame().positions(0), x) for x in first)


def test_what_it_cannot_do_is_refused() -> None:
    scene = Scene(rod_contact=True)
    scene.add(plain_rod(line(4), STIFF), "compact", friction=0.0)
    with pytest.raises(TendrilError, match="contact"):
        Simulation(scene, contact="penalty")
    scene.collide(Plane(), friction=0.3)
    with pytest.raises(TendrilError, match="friction"):
        Simulation(scene, contact="active set")
    other = Scene(rod_contact=True)
    other.add(plain_rod(line(4), STIFF), friction=0.0)
    with pytest.raises(TendrilError, match="compact"):
        Simulation(other, contact="active set")
