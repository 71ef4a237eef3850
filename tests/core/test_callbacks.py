"""Functions of time that fail: the loop goes on, the object stays where it is, and the report says so once."""

from __future__ import annotations

import numpy as np
import pytest
from tendril.core import Body, Material, Rod, Scene, Simulation, Sphere, TendrilError
from tendril.core.errors import Array

FAILS_FROM = 0.1  # s


class Strange:
    """Not an array, and angry when taken for one."""

    def __array__(self, *_: object, **__: object) -> Array:
        raise RuntimeError("not an array")

    def __len__(self) -> int:
        raise RuntimeError("no length")


class Fails:
    """A good function at first, then one that raises or returns something else."""

    def __init__(self, good, how):
        self.good, self.how, self.failed = good, how, 0

    def __call__(self, t):
        if t < FAILS_FROM:
            return self.good(t)
        self.failed += 1
        if self.how == "raises":
            raise ValueError("two\nlines")
        values = {"nan": np.full(3, np.nan), "text": "abc", "far": (1e9, 0, 0), "strange": Strange(), "pair": (1, 2)}
        return values[self.how]


def a_scene(driven, function, model="der"):
    scene = Scene()
    points = np.linspace((0, 0, 0), (1, 0, 0), 9)
    rod = scene.add(Rod.from_points(points, radius=0.01, material=Material.preset("rubber")), model)
    scene.pin(rod, "start", function if driven == "pin" else None)
    if driven == "clamp":
        scene.clamp(rod, "end", function)
    if driven == "spin":
        scene.clamp(rod, "end", spin=function)
    if driven == "orient":
        scene.orient(rod, "end", function)
    if driven == "load":
        scene.load(rod, "end", function)
    if driven == "collider":
        scene.collide(Sphere(0.1, (0.5, 0, -0.3)), path=function)
    if driven == "body":
        scene.add_body(Body(Sphere(0.1), path=function))
    return scene


GOOD = {
    "pin": lambda t: (0.0, t, 0.0),
    "clamp": lambda t: ((1.0, t, 0.0), np.eye(3)),
    "spin": lambda t: t,
    "orient": lambda t: np.eye(3),
    "load": lambda t: (0.0, 0.0, 1.0),
    "collider": lambda t: ((0.5, 0.0, -0.3 + t), np.eye(3)),
    "body": lambda t: ((0.0, t, -1.0), np.eye(3)),
}
NAMES = {
    "pin": "path of hold 0",
    "clamp": "path of hold 1",
    "spin": "spin of hold 1",
    "orient": "path of hold 1",
    "load": "force of load 0",
    "collider": "path of collider 0",
    "body": "path of body 0",
}


@pytest.mark.parametrize("how", ["raises", "nan", "text", "far", "strange", "pair"])
@pytest.mark.parametrize("driven", GOOD)
def test_a_failing_function_is_reported_once_and_moves_nothing(driven, how):
    if (driven, how) == ("load", "far"):
        pytest.skip("a force may be that large")
    function = Fails(GOOD[driven], how)
    sim = Simulation(a_scene(driven, function), substeps=2)
    problems = []
    for _ in range(6):
        frame = sim.step_frame()
        problems += [(frame.number, text) for text in frame.report.problems]
        assert np.isfinite(sim.state()).all()
    assert function.failed > 1
    ((number, text),) = problems
    assert number == 4  # the frame that begins at 2/24 s and ends at 3/24 s
    assert text.startswith(NAMES[driven])
    assert "\n" not in text
    if how == "raises":
        assert "raised ValueError: two lines (line " in text
        assert "of test_callbacks.py)" in text
    if driven == "pin":
        stays = sim.current().positions(0)[0]
        assert 0.0 < stays[1] < FAILS_FROM
        np.testing.assert_array_equal(stays, sim.step_frame().positions(0)[0])
    if driven == "body":
        assert 0.0 < sim.current().body_position(0)[1] < FAILS_FROM


def test_none_means_no_change_and_is_no_problem():
    sim = Simulation(a_scene("pin", lambda t: None))
    assert sim.step_frame().report.problems == ()


def test_a_function_that_fails_at_the_start_is_refused():
    def function(t):
        raise KeyError("missing")

    with pytest.raises(TendrilError, match="path of hold 0 is 'a function': at time 0 it raises KeyError") as caught:
        Simulation(a_scene("pin", function))
    assert isinstance(caught.value.__cause__, KeyError)
