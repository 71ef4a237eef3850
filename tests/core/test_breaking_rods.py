"""Rods that break by force or moment, and rods that are cut."""

import numpy as np
import pytest
from tendril.core import Material, Rod, Scene, Simulation, TendrilError

ROPE = Material.preset("nylon rope")
HANGING = np.linspace((0.0, 0.0, 0.0), (0.0, 0.0, -2.0), 21)


def rod_of(points=HANGING, **options):
    return Rod.from_points(points, 0.01, ROPE, **options)


def simulated(rod, model=None, pins=("start",), velocity=None):
    scene = Scene()
    number = scene.add(rod, model, velocity=velocity)
    for where in pins:
        scene.pin(number, where)
    return Simulation(scene, frame_rate=24.0)


def test_a_rod_that_does_not_break_moves_as_one_that_cannot():
    tilted = HANGING[:, [2, 1, 0]]
    plain, strong = simulated(rod_of(tilted)), simulated(rod_of(tilted, break_force=1e9))
    for _ in range(8):
        a, b = plain.step_frame(), strong.step_frame()
    np.testing.assert_allclose(a.positions(0), b.positions(0), atol=1e-9)
    assert not strong.strains().broken(0).any()
    assert not plain.strains().broken(0).any()


def test_a_rope_breaks_where_it_carries_most_and_falls_freely():
    rod = rod_of()
    weight = 9.81 * float((rod.mass_per_length * rod.rest_lengths).sum())
    simulation = simulated(rod_of(break_force=0.9 * weight))
    for _ in range(6):
        simulation.step_frame()
    broken = simulation.strains().broken(0)
    assert broken[0]
    assert broken.sum() <= 3
    whole = np.flatnonzero(~broken)
    x = simulation.current().positions(0)
    lengths = np.linalg.norm(np.diff(x, axis=0), axis=1)
    np.testing.assert_allclose(lengths[whole], 0.1, rtol=0.02)
    assert lengths[0] > 0.2  # nothing holds it any more
    assert simulation.strains().tension(0)[0] == 0.0


def test_a_bent_rod_breaks_by_its_moment():
    points = np.linspace((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 21)
    stiff = Material(young_modulus=1e9, density=1000.0)

    def tip(moment):
        scene = Scene()
        scene.clamp(scene.add(Rod.from_points(points, 0.008, stiff, break_moment=moment)), "start")
        simulation = Simulation(scene, frame_rate=24.0)
        for _ in range(10):
            frame = simulation.step_frame()
        return frame.positions(0)[-1, 2]

    assert tip(0.1) < tip(1e6) - 0.1  # a hinge at the clamp


def test_a_cut_rope_falls_from_there_and_the_cut_is_part_of_the_state():
    simulation = simulated(rod_of(break_force=1e12))
    for _ in range(2):
        simulation.step_frame()
    whole_state = simulation.state()
    simulation.cut(0, 9)
    for _ in range(5):
        simulation.step_frame()
    assert np.flatnonzero(simulation.strains().broken(0)).tolist() == [9]
    x = simulation.current().positions(0)
    fallen = -1.0 - x[10, 2]
    assert fallen == pytest.approx(0.5 * 9.81 * (5 / 24.0) ** 2, rel=0.05)
    np.testing.assert_allclose(x[9, 2], -0.9, atol=1e-3)
    cut_state = simulation.state()
    simulation.restore(whole_state, 3)
    assert not simulation.strains().broken(0).any()
    simulation.restore(cut_state, 8)
    assert simulation.strains().broken(0).sum() == 1


def test_what_cannot_break_says_so():
    with pytest.raises(TendrilError, match="do not break"):
        Scene().add(rod_of(break_force=10.0), "compact")
    with pytest.raises(TendrilError, match="break_force"):
        rod_of(break_force=-1.0)
    with pytest.raises(TendrilError, match="only rods of the model net break"):
        simulated(rod_of()).cut(0, 3)
    with pytest.raises(TendrilError, match="however large"):
        simulated(rod_of(), "net").cut(0, 3)
    with pytest.raises(TendrilError, match="edge"):
        simulated(rod_of(break_force=10.0)).cut(0, 99)
