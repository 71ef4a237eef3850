"""Bodies that an outside engine moves: MuJoCo, unmodified, and engines that fail."""

from __future__ import annotations

import numpy as np
import pytest
from mujoco_engine import MujocoEngine, box
from tendril.core import Body, BodyPoses, Box, Material, Rod, Scene, Simulation, TendrilError

RATE = 24.0
SIZE = (0.2, 0.3, 0.5)


def scene_of(*bodies: Body, gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)) -> Scene:
    scene = Scene(gravity=gravity)
    for body in bodies:
        scene.add_body(body)
    return scene


def test_a_falling_body_lands_on_the_floor_of_the_engine() -> None:
    scene = scene_of(Body(Box(SIZE), mass=2.0, position=(0.0, 0.0, 1.0)))
    engine = MujocoEngine(box((0.0, 0.0, 1.0), SIZE, 2.0), floor=True)
    simulation = Simulation(scene, RATE, substeps=10, engine=engine)
    frames = list(simulation.frames(1, 49))
    falling = frames[6]
    assert falling.body_position(0)[2] == pytest.approx(1.0 - 0.5 * 9.81 * (6 / RATE) ** 2, abs=1e-9)
    np.testing.assert_allclose(frames[-1].body_position(0), [0.0, 0.0, 0.25], atol=2e-3)
    assert np.abs(frames[-1].body_velocity(0)).max() < 1e-3
    assert engine.exchanges == 480


def test_a_tumbling_body_follows_the_engine() -> None:
    body = Body(Box(SIZE), mass=2.0, angular_velocity=(1.0, 6.0, 2.0), velocity=(0.5, 0.0, 0.0))
    engine = MujocoEngine(box((0.0, 0.0, 0.0), SIZE, 2.0), gravity=0.0)
    engine.data.qvel[:] = (0.5, 0.0, 0.0, 1.0, 6.0, 2.0)
    simulation = Simulation(scene_of(body, gravity=(0.0, 0.0, 0.0)), RATE, substeps=40, engine=engine)
    for frame in simulation.frames(2, 49):
        told = engine.data.xmat[1].reshape(3, 3)
        assert np.abs(frame.body_rotation(0) - told).max() < 0.02
        np.testing.assert_allclose(frame.body_position(0), engine.data.xpos[1], atol=1e-3)


def rope_with_weight() -> tuple[Scene, int, int]:
    """2 kg on a rope of 2 m, drawn to the side."""
    scene = Scene()
    points = np.stack([np.linspace(0.0, 2.0, 21), np.zeros(21), np.zeros(21)], axis=1)
    rod = scene.add(Rod.from_points(points, radius=0.01, material=Material.preset("nylon rope")))
    scene.pin(rod, "start")
    body = scene.add_body(Body(Box(SIZE), mass=2.0, position=(2.0, 0.0, 0.0)))
    scene.attach(rod, "end", body, kind="ball")
    return scene, rod, body


def test_240_exchanges_a_second_keep_a_rope_at_its_length_and_the_motion_that_of_the_core() -> None:
    scene, rod, body = rope_with_weight()
    own = list(Simulation(scene, RATE, substeps=10, threads=1).frames(1, 61))
    engine = MujocoEngine(box((2.0, 0.0, 0.0), SIZE, 2.0))
    for frame, expected in zip(
        Simulation(scene, RATE, substeps=10, threads=1, engine=engine).frames(1, 61), own, strict=True
    ):
        length = np.linalg.norm(np.diff(frame.positions(rod), axis=0), axis=1).sum()
        assert length == pytest.approx(2.0, rel=3e-3)
        np.testing.assert_allclose(frame.body_position(body), expected.body_position(body), atol=2e-3)
        np.testing.assert_allclose(frame.body_position(body), frame.positions(rod)[-1], atol=1e-5)
        assert abs(frame.report.energies.total - expected.report.energies.total) < 0.1
        assert frame.report.converged
    assert engine.exchanges == 600


def test_a_rope_draws_a_box_over_the_floor_of_the_engine_against_its_friction() -> None:
    """The floor holds the box back by half its weight: so much the rope pulls when all goes at an even speed."""
    scene = Scene()
    points = np.stack([np.linspace(0.15, 1.15, 11), np.zeros(11), np.full(11, 0.1)], axis=1)
    rod = scene.add(Rod.from_points(points, radius=0.004, material=Material.preset("nylon rope")))
    scene.pin(rod, "end", path=lambda t: (1.15 + 0.5 * max(t - 0.25, 0.0), 0.0, 0.1))
    size = (0.3, 0.3, 0.2)
    body = scene.add_body(Body(Box(size), mass=2.0, position=(0.0, 0.0, 0.1)))
    scene.attach(rod, "start", body, kind="ball")
    engine = MujocoEngine(box((0.0, 0.0, 0.1), size, 2.0, "friction='0.5'"), floor=True)
    frames = list(Simulation(scene, RATE, substeps=10, threads=1, engine=engine).frames(1, 61))
    force = np.mean([frame.body_force(body)[0] for frame in frames[30:]])
    assert force == pytest.approx(0.5 * 2.0 * 9.81, rel=0.05)
    assert frames[-1].body_position(body)[0] == pytest.approx(0.5 * 2.25, abs=0.03)
    assert frames[-1].body_position(body)[2] == pytest.approx(0.1, abs=5e-3)


class Broken:
    def __init__(self, answer: object) -> None:
        self.answer = answer

    def step(self, _h: float, forces: np.ndarray, _torques: np.ndarray) -> object:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    "answer",
    [
        RuntimeError("out of order"),
        None,
        (),
        BodyPoses(np.full((1, 3), np.nan), np.eye(3)[None], np.zeros((1, 3)), np.zeros((1, 3))),
        BodyPoses(np.zeros((1, 3)), np.ones((1, 3, 3)), np.zeros((1, 3)), np.zeros((1, 3))),
        BodyPoses(np.zeros((2, 3)), np.eye(3)[None], np.zeros((1, 3)), np.zeros((1, 3))),
        BodyPoses(np.full((1, 3), 1e30), np.eye(3)[None], np.zeros((1, 3)), np.zeros((1, 3))),
    ],
    ids=["raises", "nothing", "too little", "nan", "no rotation", "too many", "far out"],
)
def test_the_loop_goes_on_when_an_engine_fails_and_tells_it(answer: object) -> None:
    simulation = Simulation(scene_of(Body(Box(SIZE), mass=1.0)), RATE, engine=Broken(answer))  # type: ignore[arg-type]
    frame = simulation.step_frame()
    assert frame.report.failures == simulation.substeps
    assert frame.body_position(0)[2] == pytest.approx(-0.5 * 9.81 / RATE**2)


def test_what_is_no_engine_is_refused() -> None:
    with pytest.raises(TendrilError, match="step"):
        Simulation(scene_of(Body(Box(SIZE), mass=1.0)), engine="mujoco")  # type: ignore[arg-type]
    alone = Scene()
    alone.add(Rod.from_points([(0, 0, 0), (1, 0, 0), (2, 0, 0)], radius=0.01, material=Material.preset("steel cable")))
    with pytest.raises(TendrilError, match="bodies"):
        Simulation(alone, engine=MujocoEngine(""))
    simulation = Simulation(scene_of(Body(Box(SIZE), mass=1.0)), engine=MujocoEngine(box((0.0, 0.0, 0.0), SIZE, 1.0)))
    with pytest.raises(TendrilError, match="engine"):
        simulation.restore(simulation.state(), 1)
