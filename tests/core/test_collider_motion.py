"""Colliders are where they were sent, or where their path says, and stay there if it says nothing of use; rods feel it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from bad_values import Hostile, not_finite, rubbish, valid_points, wrong_arrays
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tendril.core import Box, Capsule, Cylinder, Material, Mesh, Plane, Rod, Scene, Simulation, Sphere
from tendril.core.describe.rotations import rotation_about

pytestmark = pytest.mark.filterwarnings("error")

RADIUS = 0.01
RATE, SUBSTEPS = 25.0, 4
AXIS = np.array([2.0, -1.0, 2.0]) / 3.0
SHEET = np.array([(-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.0)])
HALVES = [(0, 1, 2), (0, 2, 3)]
FAR = np.array([0.0, 0.0, -20.0])  # from all rods
WAY = np.array([0.4, -0.8, -1.2])
EAST = np.array([1.0, 0.0, 0.0])


def turned(angle: float) -> np.ndarray:
    return rotation_about(AXIS, np.array(angle))


TILTED = turned(0.7)
CONVEX = {
    "plane": Plane(FAR, TILTED[:, 2]),
    "sphere": Sphere(0.5, FAR),
    "capsule": Capsule(0.5, 1.0, FAR, TILTED),
    "cylinder": Cylinder(0.5, 1.0, FAR, TILTED),
    "box": Box((0.5, 1.0, 1.5), FAR, TILTED),
}
SHAPES = {**CONVEX, "mesh": Mesh(SHEET + FAR, HALVES)}
ALL = pytest.mark.parametrize("name", SHAPES)


def simulation(*colliders: Any, path: Callable[[float], Any] | None = None, points: Any = None) -> Simulation:
    """A rod along x in empty space (or where it is put), and colliders of which the first has a path."""
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    line = valid_points() * (1.0, 0.0, 0.0) if points is None else points
    scene.add(Rod.from_points(line, RADIUS, Material(young_modulus=1e6, density=1000.0)))
    for k, collider in enumerate(colliders):
        scene.collide(collider, path=path if k == 0 else None)
    return Simulation(scene, RATE, substeps=SUBSTEPS, threads=1)


def pose(sim: Simulation, when: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Where the first collider is at the start (0) or the end (1) of the last substep, if it is no mesh."""
    shapes = sim._contact.colliders.shapes
    return shapes.position[when, 0].copy(), shapes.rotation[when, 0].copy()


def vertices(sim: Simulation, when: int = 1) -> np.ndarray:
    return sim._contact.colliders.meshes.vertices[when].copy()


def assert_at(sim: Simulation, when: int, position: Any, rotation: np.ndarray, shape: Any) -> None:
    """A shape as given, turned and put there; of a mesh the position moves its points."""
    if isinstance(shape, Mesh):
        assert np.abs(vertices(sim, when) - (shape.vertices @ rotation.T + position)).max() < 1e-12
        return
    got, turn = pose(sim, when)
    assert np.abs(got - position).max() < 1e-12
    if isinstance(shape, Plane):
        assert np.abs(turn[:, 2] - rotation @ shape.normal).max() < 1e-12
    else:
        own = getattr(shape, "rotation", np.eye(3))
        assert np.abs(turn - rotation @ own).max() < 1e-12


def start_of(shape: Any) -> np.ndarray:
    return np.zeros(3) if isinstance(shape, Mesh) else FAR


@ALL
def test_what_is_left_alone_stays(name: str) -> None:
    shape = SHAPES[name]
    sim = simulation(shape)
    assert_at(sim, 0, start_of(shape), np.eye(3), shape)
    for _ in range(2):
        sim.step_frame()
        for when in (0, 1):
            assert_at(sim, when, start_of(shape), np.eye(3), shape)


@ALL
def test_a_collider_goes_evenly_to_where_it_is_sent(name: str) -> None:
    shape = SHAPES[name]
    sim = simulation(shape)
    begin = start_of(shape)
    goal = begin + WAY
    sim.move_collider(0, goal, turned(1.2))
    assert_at(sim, 1, begin, np.eye(3), shape)  # not yet
    sim.step_frame()
    assert_at(sim, 1, goal, turned(1.2), shape)
    assert_at(sim, 0, begin + 0.75 * (goal - begin), turned(0.9), shape)
    sim.step_frame()
    for when in (0, 1):
        assert_at(sim, when, goal, turned(1.2), shape)
    sim.move_collider(0, rotation=turned(1.6).tolist())  # the rest stays
    sim.step_frame()
    assert_at(sim, 1, goal, turned(1.6), shape)
    assert_at(sim, 0, goal, turned(1.5), shape)
    sim.move_collider(0, position=[0, 1, -30])
    sim.step_frame()
    assert_at(sim, 1, (0, 1, -30), turned(1.6), shape)


@ALL
def test_a_collider_is_there_at_once(name: str) -> None:
    shape = SHAPES[name]
    sim = simulation(shape)
    sim.step_frame()
    goal = start_of(shape) + WAY
    sim.move_collider(0, goal, turned(1.2), at_once=True)
    for _ in range(2):
        for when in (0, 1):
            assert_at(sim, when, goal, turned(1.2), shape)
        sim.step_frame()


@pytest.mark.parametrize("with_path", [False, True], ids=["sent", "with a path"])
def test_to_put_one_at_once_leaves_others_alone(with_path: bool) -> None:
    """They are on their way, as they were."""
    path = (lambda t: (FAR + t * EAST, np.eye(3))) if with_path else None
    sim = simulation(SHAPES["sphere"], SHAPES["box"], path=path)
    sim.step_frame()
    before = pose(sim)[0]
    if not with_path:
        sim.move_collider(0, FAR + EAST / RATE)
    sim.move_collider(1, FAR + 5.0, at_once=True)
    for when in (0, 1):
        assert np.abs(pose(sim, when)[0] - before).max() <= 1.0 / RATE / SUBSTEPS + 1e-12
    sim.step_frame()
    gone = sim.time if with_path else 1.0 / RATE
    assert np.abs(pose(sim)[0] - FAR - gone * EAST).max() < 1e-12
    assert np.abs(pose(sim, 0)[0] - FAR - (gone - 0.25 / RATE) * EAST).max() < 1e-12


@ALL
def test_a_collider_follows_its_path(name: str) -> None:
    shape = SHAPES[name]

    def along(t: float) -> tuple[np.ndarray, np.ndarray]:
        return start_of(shape) + np.array([np.sin(t), t, 0.0]), turned(t * t)

    sim = simulation(shape, path=along)
    assert_at(sim, 1, *along(0.0), shape)
    for _ in range(3):
        sim.step_frame()
        assert_at(sim, 1, *along(sim.time), shape)
        assert_at(sim, 0, *along(sim.time - 1.0 / (RATE * SUBSTEPS)), shape)
    sim.restore(sim.state(), 11)
    assert_at(sim, 1, *along(10 / RATE), shape)


def test_a_mesh_deforms() -> None:
    bent = SHEET + FAR + [(0.0, 0.0, 0.3), (0.1, 0.0, 0.0), (0.0, 0.0, -0.2), (0.0, 0.4, 0.0)]
    sim = simulation(SHAPES["mesh"])
    sim.move_collider(0, vertices=bent.tolist())
    sim.step_frame()
    assert np.abs(vertices(sim) - bent).max() < 1e-12
    assert np.abs(vertices(sim, 0) - (0.25 * (SHEET + FAR) + 0.75 * bent)).max() < 1e-12
    # Position and rotation act on the points as they are then.
    sim.move_collider(0, (0.0, 0.0, -2.0), turned(0.3), SHEET, at_once=True)
    for when in (0, 1):
        assert np.abs(vertices(sim, when) - (SHEET @ turned(0.3).T - (0.0, 0.0, 2.0))).max() < 1e-12
    sim = simulation(SHAPES["mesh"], path=lambda t: (1.0 + t) * SHEET + FAR)
    sim.step_frame()
    assert np.abs(vertices(sim) - (1.0 + sim.time) * SHEET - FAR).max() < 1e-12


LIFT = np.array([0.0, 0.0, 0.05])
LIFTS: dict[str, dict[str, Any]] = {
    "plane sent": {"shape": Plane(), "position": LIFT},
    "box sent": {"shape": Box((4.0, 4.0, 1.0), (0.0, 0.0, -0.5)), "position": (0.0, 0.0, -0.45)},
    "mesh sent": {"shape": Mesh(SHEET, HALVES), "position": LIFT},
    "mesh bent": {"shape": Mesh(SHEET, HALVES), "vertices": SHEET + LIFT},
    "plane turned": {"shape": Plane((0.0, 0.0, 0.0), (0.0, 0.0, -1.0)), "rotation": np.diag([1.0, -1.0, -1.0])},
}


@pytest.mark.parametrize("how", [*LIFTS, "plane guided", "mesh guided"])
def test_rods_are_lifted(how: str) -> None:
    """By what comes from below; but a plane above which they are after it was turned at once leaves them alone."""
    line = np.linspace(-0.25, 0.25, 6)[:, None] * [1.0, 0.3, 0.0] + [0.0, 0.0, 1.1 * RADIUS]
    if how in LIFTS:
        options = dict(LIFTS[how])
        at_once = how == "plane turned"
        sim = simulation(options.pop("shape"), points=line)
        sim.move_collider(0, **options, at_once=at_once)
    else:
        at_once = False
        rise = {
            "plane guided": lambda t: (min(RATE * t, 1.0) * LIFT, np.eye(3)),
            "mesh guided": lambda t: SHEET + min(RATE * t, 1.0) * LIFT,
        }
        sim = simulation(Plane() if how == "plane guided" else Mesh(SHEET, HALVES), path=rise[how], points=line)
    frame = sim.step_frame()
    height = frame.positions(0)[:, 2]
    if at_once:
        assert np.abs(frame.positions(0) - line).max() < 1e-12
    else:
        assert height.min() > LIFT[2] + 0.98 * RADIUS
        assert height.max() < LIFT[2] + 1.5 * RADIUS
    assert frame.report.failures == 0


useless = st.one_of(
    rubbish.filter(
        lambda value: not (isinstance(value, list) and len(value) == 2)
    ),  # the first of two may be a position
    not_finite,
    wrong_arrays,
    st.sampled_from([np.full((4, 3), np.nan), np.zeros((5, 3)), 1e6 * SHEET, (1.0, 2.0), np.eye(3), ((), ()), {}]),
    st.sampled_from([None, "ab", np.nan, (1e300, 0.0, 0.0), (0.0, np.inf, 0.0), (0.0, 1.0), Hostile()]).flatmap(
        lambda position: st.sampled_from([-np.eye(3), np.ones((3, 3)), 1e200 * np.eye(3), "ab", None, 7]).map(
            lambda rotation: (position, rotation)
        )
    ),
)


@settings(max_examples=60, deadline=None)
@given(useless, st.sampled_from([0.0, 0.05]), st.sampled_from(list(SHAPES)))
@example(((1e300, 0.0, 0.0), None), 0.05, "box")
@example(((1.1e5, 0.0, 0.0), None), 0.05, "mesh")
@example(1e6 * SHEET, 0.05, "mesh")
@example((None, np.diag([1.0, 1.0, -1.0])), 0.05, "cylinder")
def test_what_is_of_no_use_is_ignored(value: Any, since: float, name: str) -> None:
    """Things stay where they were last, and the simulation goes on."""
    shape = SHAPES[name]
    last = 0.0

    def along(t: float) -> Any:
        nonlocal last
        if t >= since:
            return value
        last = t
        return start_of(shape) + t * EAST, turned(t)

    sim = simulation(shape, path=along)
    for _ in range(3):
        sim.step_frame()
    assert_at(sim, 1, start_of(shape) + last * EAST, turned(last), shape)
    assert (last == 0.0) == (since == 0.0)
    assert np.isfinite(sim.state()).all()


def test_of_a_pair_what_is_of_use_is_taken() -> None:
    """As it is with holds."""
    sim = simulation(SHAPES["box"], path=lambda t: (FAR + t * EAST, "north"))
    sim.step_frame()
    assert_at(sim, 1, FAR + sim.time * EAST, np.eye(3), SHAPES["box"])
    sim = simulation(SHAPES["box"], path=lambda t: [None, turned(t)])
    sim.step_frame()
    assert_at(sim, 1, FAR, turned(sim.time), SHAPES["box"])


def test_a_path_that_ends_leaves_its_collider_there_when_another_is_sent() -> None:
    sim = simulation(SHAPES["sphere"], SHAPES["box"], path=lambda t: (FAR + t * EAST, np.eye(3)) if t < 0.1 else 0)
    for _ in range(3):
        sim.step_frame()
    there = pose(sim)[0]
    sim.move_collider(1, FAR + 5.0)
    sim.step_frame()
    assert np.array_equal(pose(sim)[0], there)
