"""States that nobody simulated, and solvers that fail: no NaN, no exception, and the report tells."""

from __future__ import annotations

import numpy as np
import pytest
from tendril.core import Body, Box, Material, Plane, Rod, Scene, Simulation, TendrilError
from tendril.core.describe.model import model_records

MODELS = [record.name for record in model_records()]
WILD = [0.0, 1e308, -1e308, 1e200, -1e150, 1e20, 1e-320, -1.0, 1e5, 1e8]


def a_simulation(model, contact):
    scene = Scene(rod_contact=contact)
    points = np.linspace((0, 0, 0), (1, 0, 0), 9)
    rod = scene.add(Rod.from_points(points, radius=0.01, material=Material.preset("rubber")), model)
    scene.clamp(rod, "start")
    if contact:
        scene.collide(Plane((0, 0, -0.02)))
        scene.add_body(Body(Box((0.1, 0.1, 0.1)), position=(0, 0, 1), collides=True))
    sim = Simulation(scene)
    for _ in range(3):
        sim.step_frame()
    return sim


@pytest.mark.parametrize("contact", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_no_forged_state_makes_a_nan(model, contact):
    rng = np.random.default_rng(MODELS.index(model))
    sim = a_simulation(model, contact)
    good, accepted, refused = sim.state(), 0, 0
    for k in range(12):
        forged = good.copy()
        if k % 4 == 0:
            forged[:] = rng.choice([0.0, 1e308, -1.0, 1.0, 1e9], len(forged))
        else:
            chosen = rng.integers(0, len(forged), 2)
            forged[chosen] = rng.choice(WILD, 2)
        before = sim.state()
        try:
            sim.restore(forged, 3)
            accepted += 1
        except TendrilError:
            refused += 1
            np.testing.assert_array_equal(sim.state(), before)
        assert np.isfinite(sim.state()).all()
        frame = sim.step_frame()
        assert np.isfinite(sim.state()).all()
        assert np.isfinite(frame.positions(0)).all()
    assert refused >= 3
    sim.restore(good, 4)
    assert np.array_equal(sim.state(), good)


@pytest.mark.parametrize("how", ["raises", "nan"])
def test_a_solver_that_fails_leaves_the_rods_at_rest_and_is_reported(how, monkeypatch):
    sim = a_simulation("der", False)
    before = sim.current().positions(0)
    block = sim.blocks[0]
    step = block.free_steps

    def fails(*arguments):
        step(*arguments)
        if how == "raises":
            raise ZeroDivisionError("an error of ours")
        block.flat.state.v[5] = np.nan

    with monkeypatch.context() as patch:
        patch.setattr(block, "free_steps", fails)
        frames = [sim.step_frame(), sim.step_frame()]
    for frame in frames:
        assert not frame.report.converged
        assert frame.report.affected == {0}
        assert frame.report.severity.startswith("1 rod not solved, residual")
        np.testing.assert_array_equal(frame.positions(0), before)
        np.testing.assert_array_equal(frame.velocities(0), 0.0)
    told = [text for frame in frames for text in frame.report.problems]
    assert len(told) == (how == "raises")
    assert all("the solver failed with ZeroDivisionError: an error of ours" in text for text in told)
    assert [frame.number for frame in frames] == [5, 6]
    after = sim.step_frame()
    assert after.report.converged
    assert not np.array_equal(after.positions(0), before)
