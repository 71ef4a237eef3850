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


HEAVY = Material(young_modulus=1e7, density=20_000.0, damping_time=0.01)
ROPE_MASS = 20_000.0 * np.pi * 0.02**2 * 0.5


def rope_across(scene: Scene, at: tuple[float, float, float], along: int = 0, **more: object) -> int:
    """Half a metre of a rope that weighs 12.6 kg."""
    points = np.tile(at, (13, 1)).astype(float)
    points[:, along] += np.linspace(-0.25, 0.25, 13)
    return scene.add(Rod.from_points(points, radius=0.02, material=HEAVY), **more)


@pytest.mark.parametrize("mass", [20.0, 0.5])
def test_a_rope_lies_on_a_box_on_the_floor_of_the_engine(mass: float) -> None:
    """Even if it is 25 times as heavy as the box: this feels the whole weight, and the rope does not sink in."""
    scene, size = Scene(), (0.6, 0.6, 0.3)
    body = scene.add_body(Body(Box(size), mass=mass, position=(0.0, 0.0, 0.15), collides=True))
    rod = rope_across(scene, (0.0, 0.01, 0.325))
    engine = Listening(MujocoEngine(box((0.0, 0.0, 0.15), size, mass), floor=True))
    frames = list(Simulation(scene, RATE, substeps=10, threads=1, engine=engine).frames(1, 25))
    last = frames[-1]
    np.testing.assert_allclose(last.body_position(body), engine.engine.data.xpos[1], atol=3e-4)
    np.testing.assert_allclose(last.positions(rod)[:, 2], last.body_position(body)[2] + 0.17, atol=3e-4)
    np.testing.assert_allclose(np.mean(engine.forces[-60:], axis=0)[0], [0.0, 0.0, -9.81 * ROPE_MASS], atol=1.0)
    assert all(frame.report.converged for frame in frames)


@pytest.mark.parametrize("mass", [60.0, 1.0])
def test_a_rope_that_hits_a_free_box_gives_it_the_momentum_it_loses(mass: float) -> None:
    """Above its middle, so that it turns, too: as the core alone has it."""
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    body = scene.add_body(Body(Box((0.3, 0.3, 0.3)), mass=mass, collides=True))
    rod = rope_across(scene, (0.25, 0.0, 0.05), along=1, velocity=(-2.0, 0.0, 0.0))
    own = list(Simulation(scene, RATE, substeps=10, threads=1).frames(1, 9))
    engine = MujocoEngine(box((0.0, 0.0, 0.0), (0.3, 0.3, 0.3), mass), gravity=0.0)
    there = list(Simulation(scene, RATE, substeps=10, threads=1, engine=engine).frames(1, 9))
    share = np.full(13, ROPE_MASS / 12)
    share[[0, -1]] *= 0.5
    for frame in there:
        total = mass * frame.body_velocity(body) + share @ frame.velocities(rod)
        np.testing.assert_allclose(total, [-2.0 * ROPE_MASS, 0.0, 0.0], atol=0.01 * ROPE_MASS)
    last, expected = there[-1], own[-1]
    assert last.body_velocity(body)[0] < -0.2
    assert last.body_angular_velocity(body)[1] < -0.5
    np.testing.assert_allclose(last.body_velocity(body), expected.body_velocity(body), atol=0.02)
    np.testing.assert_allclose(last.body_angular_velocity(body), expected.body_angular_velocity(body), atol=0.1)
    np.testing.assert_allclose(engine.data.qvel[:3], last.body_velocity(body), atol=0.02)


def test_a_body_that_no_rod_touches_is_where_the_engine_has_it_and_gets_no_force() -> None:
    scene = Scene()
    scene.add_body(Body(Box(SIZE), mass=2.0, position=(0.0, 0.0, 0.5), collides=True))
    rope_across(scene, (0.0, 2.0, 0.0))
    engine = Listening(MujocoEngine(box((0.0, 0.0, 0.5), SIZE, 2.0), floor=True))
    frames = list(Simulation(scene, RATE, substeps=10, threads=1, engine=engine).frames(1, 25))
    assert not np.any(engine.forces)
    np.testing.assert_allclose(frames[-1].body_position(0), engine.engine.data.xpos[1], atol=1e-5)


class Listening:
    """An engine, and the forces it gets."""

    def __init__(self, engine: MujocoEngine) -> None:
        self.engine, self.forces = engine, []

    def step(self, h: float, forces: np.ndarray, torques: np.ndarray) -> BodyPoses:
        self.forces.append(np.array(forces))
        return self.engine.step(h, forces, torques)


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
