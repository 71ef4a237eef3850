"""Each kind of failure is provoked, and the report says what was given up and where."""

from __future__ import annotations

import numpy as np
import pytest
from tendril.core import Material, Rod, Scene, Simulation

STEEL = Material.preset("spring steel")


def two_rods(model, stiff):
    """An ordinary rod of the default model, and one of another model."""
    scene = Scene()
    points = np.linspace((0, 0, 0), (0.4, 0, 0), 7)
    scene.add(Rod.from_points(points + np.array([0, 1, 0]), radius=0.01, material=Material.preset("rubber")))
    scene.pin(0, "start")
    scene.add(Rod.from_points(points, radius=0.01, material=stiff), model)
    return scene


def test_a_frame_without_trouble_reports_none():
    report = Simulation(two_rods("der", STEEL)).step_frame().report
    assert report.converged
    assert (report.severity, report.affected, report.overlap, report.problems) == ("", frozenset(), 0.0, ())


def test_explicit_steps_that_would_take_too_long_are_given_up_and_reported():
    stiff = Material(1e21, 1000.0)
    sim = Simulation(two_rods("corde", stiff))
    frame = sim.step_frame()
    assert not frame.report.converged
    assert frame.report.affected == {1}
    assert frame.report.severity.startswith("1 rod stopped, residual")
    assert np.isfinite(sim.state()).all()


@pytest.mark.parametrize("function", ["raises", "nan"])
def test_functions_that_fail_are_in_the_report(function):
    def path(t):
        if t > 0.0 and function == "raises":
            raise ValueError("on purpose")
        return (np.nan if t > 0.0 else 0.0, 1.0, 0.0)

    scene = two_rods("der", STEEL)
    scene.pin(1, "end", path)
    first, second = (frame.report for frame in list(Simulation(scene).frames(1, 3))[1:])
    assert len(first.problems) == 1
    assert second.problems == ()
