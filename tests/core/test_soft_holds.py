"""Holds whose influence is between 0 and 1: springs that become the rigid hold at 1, and nothing at 0."""

from __future__ import annotations

import numpy as np
import pytest
from tendril.core import Material, Net, Rod, Scene, Simulation, TendrilError
from tendril.core.describe.model import model_records
from tendril.core.run.soft_holds import TIME

MODELS = [record.name for record in model_records() if record.soft_holds]
LENGTH, G = 0.6, 9.81


def a_rope(model, kind="pin", *, along=(1.0, 0.0, 0.0), contact=False, gravity=True, **options):
    scene = Scene(gravity=(0.0, 0.0, -G if gravity else 0.0), rod_contact=contact)
    points = np.linspace(0.0, LENGTH, 9)[:, None] * np.asarray(along)
    scene.add(Rod.from_points(points, radius=0.008, material=Material.preset("rubber"), **options), model)
    getattr(scene, kind)(0, "start")
    return Simulation(scene)


def played(sim, influences):
    found = []
    for influence in influences:
        sim.set_influence(0, influence)
        frame = sim.step_frame()
        assert frame.report.converged
        found.append(frame.positions(0))
    return np.array(found)


@pytest.mark.parametrize("influence", [0.4, 0.5, 0.8, 0.99])
@pytest.mark.parametrize("model", MODELS)
def test_a_hanging_rod_sags_as_documented(model, influence):
    sim = a_rope(model, along=(0.0, 0.0, -1.0))
    sim.set_influence(0, influence)
    assert sim.settle(still=1e-8)
    sag = G * (TIME * (1.0 - influence) / influence) ** 2
    assert -sim.current().positions(0)[0, 2] == pytest.approx(sag, rel=1e-5)


@pytest.mark.parametrize("kind", ["pin", "clamp"])
@pytest.mark.parametrize("model", ["der", "net", "compact"])
def test_nothing_jumps_at_either_end(model, kind):
    """A hold that is nearly rigid moves a rod as the rigid one, and one that is nearly gone as none; the nearer, the more so."""
    rigid, gone = (played(a_rope(model, kind), [of] * 8) for of in (1.0, 0.0))
    errors = [np.abs(played(a_rope(model, kind), [of] * 8) - rigid).max() for of in (0.98, 0.998, 0.9998)]
    assert errors[2] < 1e-4
    assert errors[1] < 0.2 * errors[0]
    assert errors[2] < 0.2 * errors[1] + 1e-6
    errors = [np.abs(played(a_rope(model, kind), [of] * 8) - gone).max() for of in (1e-3, 1e-4)]
    assert errors[1] < 1e-3
    assert 0.0 < errors[1] < 0.3 * errors[0]


@pytest.mark.parametrize("kind", ["pin", "clamp"])
@pytest.mark.parametrize("model", MODELS)
def test_a_rod_is_taken_hold_of_again(model, kind):
    """It falls, is fetched without a jump, and then hangs as if it had never been released."""
    sim = a_rope(model, kind)
    shown = played(sim, [1.0] * 2 + [0.0] * 5 + list(np.linspace(0.0, 1.0, 13)) + [1.0] * 4)
    assert shown[6, 0, 2] < -0.1
    steps = np.linalg.norm(np.diff(shown[:, 0], axis=0), axis=1)
    assert steps.max() < 2.5 * steps[:7].max()  # it is fetched about as fast as it fell
    assert steps[19] < 0.03  # and what is left when the hold becomes rigid is short
    assert np.all(shown[-4:, 0] == 0.0)
    other = a_rope(model, kind)
    assert sim.settle()
    assert other.settle()
    np.testing.assert_allclose(sim.current().positions(0), other.current().positions(0), atol=1e-6)
    np.testing.assert_allclose(sim.current().directors(0), other.current().directors(0), atol=1e-5)


@pytest.mark.parametrize("model", MODELS)
def test_a_rod_that_was_altered_meanwhile_is_held_as_firmly(model):
    sim, other = a_rope(model, "clamp"), a_rope(model, "clamp")
    played(sim, [0.0] * 2)
    sim.alter(0, stiffness=3.0)
    played(sim, [1.0] * 2)
    other.alter(0, stiffness=3.0)
    assert sim.settle()
    assert other.settle()
    np.testing.assert_allclose(sim.current().positions(0), other.current().positions(0), atol=1e-6)


@pytest.mark.parametrize("model", MODELS)
def test_a_soft_hold_does_not_lag_behind_steady_motion(model):
    sim = a_rope(model, gravity=False)
    for number in range(1, 97):
        sim.set_influence(0, 0.6)
        sim.move(0, position=(0.0, 0.02 * number, 0.0))
        frame = sim.step_frame()
    assert frame.positions(0)[0, 1] == pytest.approx(0.02 * 96, abs=2e-3)


@pytest.mark.parametrize("influence", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("model", MODELS)
def test_a_restored_simulation_goes_on_to_the_same_bits(model, influence):
    sim, again = a_rope(model, "clamp"), a_rope(model, "clamp")
    played(sim, [0.0, 0.7, influence, influence])
    again.set_influence(0, influence)
    again.restore(sim.state(), sim.frame)
    for _ in range(3):
        sim.step_frame(), again.step_frame()
        assert sim.state().tobytes() == again.state().tobytes()


def test_contact_makes_no_difference():
    sim = a_rope("der", along=(0.0, 0.0, -1.0), contact=True)
    sim.set_influence(0, 0.5)
    for _ in range(60):
        frame = sim.step_frame()
    assert -frame.positions(0)[0, 2] == pytest.approx(G * TIME**2, rel=1e-2)


@pytest.mark.parametrize("wind", [0.0, 8.0])
def test_a_joint_of_a_net_and_the_edge_of_a_rod_are_held_softly(wind):
    """The wind acts on the rod, not on the spring."""
    points = np.array([[0, 0, 0], [0.2, 0, 0], [-0.2, 0, 0], [0, 0.2, 0]], dtype=float)
    scene = Scene(gravity=(0.0, 0.0, -G), wind=(wind, 0.0, 0.0))
    net = Net.from_edges(points, [(0, 1), (0, 2), (0, 3)], radius=0.01, material=Material.preset("rubber"))
    scene.add(net)
    scene.pin(0, 0)
    scene.add(
        Rod.from_points(points[[2, 0, 1]] + (0.0, 1.0, 0.0), radius=0.01, material=Material.preset("rubber")), "net"
    )
    scene.clamp_edge(1, 0)
    sim = Simulation(scene)
    sim.set_influence([0, 1], 0.6)
    assert sim.settle(stable=False)
    frame = sim.current()
    sag = G * (TIME * 0.4 / 0.6) ** 2
    assert -frame.positions(0)[0, 2] == pytest.approx(sag, rel=1e-4)
    ends = frame.positions(1)[:2]
    assert -ends[:, 2].mean() == pytest.approx(sag, rel=1e-4)
    assert abs(frame.positions(0)[0, 0]) < 1e-6


def test_what_can_not_be_soft_is_refused_and_stays():
    scene = Scene()
    for k, (model, kind) in enumerate((("corde", "pin"), ("clothoid", "orient"), ("der2008", "pin"))):
        points = np.linspace((0, k, 0), (1, k, 0), 6)
        scene.add(Rod.from_points(points, radius=0.01, material=Material.preset("rubber")), model)
        getattr(scene, kind)(k, "start")
    scene.add(Rod.from_points(points + 1.0, radius=0.01, material=Material.preset("rubber")))
    scene.orient(3, 2)
    sim = Simulation(scene)
    before = sim.state()
    for hold, influence, match in (
        (0, 0.5, "corde let go for good"), (1, 0.5, "clothoid"), (2, 0.5, "der2008"), (3, 0.5, "give 0 or 1"),
        (0, 1.5, "from 0 to 1"), (0, float("nan"), "influence"), (7, 0.5, "hold"), ("end", 0.5, "hold"),
        ([0, [1]], 0.5, "hold"),
    ):  # fmt: skip
        with pytest.raises(TendrilError, match=match):
            sim.set_influence(hold, influence)
    assert sim.state().tobytes() == before.tobytes()
    sim.release(0)
    with pytest.raises(TendrilError, match="let go for good"):
        sim.set_influence(0, 1.0)
