"""Contact as people meet it: nothing passes through, overlaps of the start come apart calmly, and bits are the same every time."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tendril.core import Frame, Material, Rod, Scene, Simulation
from tendril.core.describe.rotations import rotation_about
from tendril.core.describe.shapes import Box, Mesh, Plane, Shape, Sphere

RADIUS = 0.01
RUBBER = Material(young_modulus=1e6, density=1000.0)
HARD_RUBBER = Material(young_modulus=4e6, density=1000.0)  # sound: 63 m/s
SLACK = 0.02  # radii: how far contact may be off

CUBE_CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
CUBE_TRIANGLES = np.array(
    [
        *((0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1)),
        *((2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)),
    ]
)


def stick(direction: Any = (1.0, 0.0, 0.0), length: float = 0.3, segments: int = 10) -> np.ndarray:
    """Points of a straight rod through the origin."""
    along = np.asarray(direction, dtype=float)
    return np.linspace(-0.5, 0.5, segments + 1)[:, None] * length * along / np.linalg.norm(along)


def rubber(points: np.ndarray, radius: float = RADIUS, **options: Any) -> Rod:
    return Rod.from_points(points, radius, RUBBER, **options)


def weightless(**options: Any) -> Scene:
    return Scene(gravity=(0.0, 0.0, 0.0), **options)


def dense(points: np.ndarray) -> np.ndarray:
    """Many points along a polyline."""
    s = np.linspace(0.0, 1.0, 20, endpoint=False)[:, None, None]
    return np.concatenate([((1.0 - s) * points[:-1] + s * points[1:]).reshape(-1, 3), points[-1:]])


def distance(a: np.ndarray, b: np.ndarray) -> float:
    """Between the lines of two rods."""
    return float(np.linalg.norm(dense(a)[:, None] - dense(b)[None], axis=2).min())


def fastest(frame: Frame, rods: int = 1) -> float:
    return max(float(np.linalg.norm(frame.velocities(k), axis=1).max()) for k in range(rods))


# Fast things ----------------------------------------------------------------------------------------------------------

ONE_TRIANGLE = Mesh([[-4.0, -3.0, 0.0], [4.0, -3.0, 0.0], [0.0, 5.0, 0.0]], [[0, 1, 2]])
TWO_TRIANGLES = Mesh([[-3.0, -3.0, 0.0], [3.0, -3.0, 0.0], [3.0, 3.0, 0.0], [-3.0, 3.0, 0.0]], [[0, 1, 2], [0, 2, 3]])

THROWS = {
    "broadside": ((1.0, 0.3, 0.0), (0.0, 0.0, -1.0)),
    "like an arrow": ((0.0, 0.0, 1.0), (0.0, 0.0, -1.0)),
    "tilted": ((1.0, 0.0, 0.7), (0.0, 0.0, -1.0)),
    "slanting": ((0.2, 1.0, 0.1), (0.2, 0.1, -1.0)),
}


@pytest.mark.parametrize("below", [False, True], ids=["from above", "from below"])
@pytest.mark.parametrize("sheet", [ONE_TRIANGLE, TWO_TRIANGLES], ids=["one triangle", "two triangles"])
@pytest.mark.parametrize("throw", list(THROWS))
@pytest.mark.parametrize("flies", ["rod", "sheet"])
def test_a_sheet_stops_what_is_fast(flies: str, throw: str, sheet: Mesh, below: bool) -> None:
    """At 50 m/s a rod goes half a metre in a substep, and the sheet has no thickness at all.

    Through what hits it head on, sound must be faster than that, or it is crushed before its other end knows."""
    side = -1.0 if below else 1.0
    way, course = (np.array(vector) * [1.0, 1.0, side] for vector in THROWS[throw])
    course *= 50.0 / np.linalg.norm(course)
    start = -course * (3.3 if flies == "rod" else 2.3) / 24.0 * [0.3, 0.3, 1.0]
    scene = weightless()
    if flies == "rod":
        scene.add(Rod.from_points(stick(way) + start, RADIUS, HARD_RUBBER), velocity=course)
        scene.collide(sheet, friction=0.4)
    else:
        scene.add(Rod.from_points(stick(way) + start, RADIUS, HARD_RUBBER))
        scene.collide(sheet, friction=0.4, path=lambda t: (-course * t, np.eye(3)))
    sim = Simulation(scene, threads=1)
    met = False
    for frame in sim.frames(2, 9):
        height = side * (frame.positions(0)[:, 2] + (course[2] * frame.time if flies == "sheet" else 0.0))
        assert height.min() > 0.5 * RADIUS
        met = met or height.min() < 0.3
    assert met
    # What is left of the speed towards the sheet.
    towards = -side * (frame.velocities(0)[:, 2] + (course[2] if flies == "sheet" else 0.0)).mean()
    assert towards < 1.0


@pytest.mark.parametrize("angle", [0.2, 1.0, 0.5 * math.pi])
def test_fast_rods_stop_each_other(angle: float) -> None:
    """They meet with 50 m/s. The one that was above stays above where they cross."""
    scene = weightless(rod_contact=True)
    scene.add(rubber(stick((1.0, 0.0, 0.0))), velocity=(0.0, 0.0, 25.0))
    other = stick((math.cos(angle), math.sin(angle), 0.0)) + np.array([0.01, 0.0, 2.0])
    scene.add(rubber(other), velocity=(0.0, 0.0, -25.0))
    for frame in Simulation(scene, threads=1).frames(2, 6):
        lower, upper = frame.positions(0), frame.positions(1)
        if frame.number == 2:  # from then on their ends wind around each other
            assert upper[5, 2] > lower[5, 2]
        assert distance(lower, upper) > 1.5 * RADIUS  # of 2, in the moment of the impact


# Overlaps -------------------------------------------------------------------------------------------------------------


def outside_sphere(x: np.ndarray) -> float:
    return float(np.linalg.norm(dense(x), axis=1).min()) - 0.06


def outside_box(x: np.ndarray) -> float:
    q = np.abs(dense(x)) - 0.06
    return float((np.linalg.norm(np.maximum(q, 0.0), axis=1) + np.minimum(q.max(axis=1), 0.0)).min())


SOLIDS: dict[str, tuple[Shape, Any]] = {
    "sphere": (Sphere(0.06), outside_sphere),
    "box": (Box((0.12, 0.12, 0.12)), outside_box),
    "mesh": (Mesh(0.06 * CUBE_CORNERS, CUBE_TRIANGLES), outside_box),
}


@pytest.mark.parametrize("at", [(0.0, 0.03, 0.02), (0.0, 0.0, 0.045), (0.13, 0.02, -0.01)], ids=["deep", "near", "end"])
@pytest.mark.parametrize("solid", list(SOLIDS))
def test_a_rod_inside_a_solid_comes_out_calmly(solid: str, at: tuple[float, float, float]) -> None:
    shape, clearance = SOLIDS[solid]
    scene = weightless()
    scene.add(rubber(stick((1.0, 0.1, 0.05)) + np.array(at)))
    scene.collide(shape)
    sim = Simulation(scene, threads=1)
    assert clearance(sim.current().positions(0)) < 0.0
    for frame in sim.frames(2, 24 * 4):
        assert frame.report.converged
        assert fastest(frame) < 1.0
    assert clearance(frame.positions(0)) > (1.0 - SLACK) * RADIUS


def test_a_half_buried_rod_comes_up_and_stays() -> None:
    scene = Scene()
    scene.add(rubber(stick()))
    scene.collide(Plane())
    for frame in Simulation(scene, threads=1).frames(2, 24 * 2):
        assert fastest(frame) < 1.0
    height = frame.positions(0)[:, 2]
    assert height.min() > (1.0 - SLACK) * RADIUS
    assert height.max() < (1.0 + SLACK) * RADIUS


@pytest.mark.parametrize("angle", [0.5 * math.pi, 0.4, 0.0])
@pytest.mark.parametrize("off", [0.0, 0.003])
def test_rods_inside_each_other_come_apart_calmly(angle: float, off: float) -> None:
    scene = weightless(rod_contact=True)
    scene.add(rubber(stick()))
    other = stick((math.cos(angle), math.sin(angle), 0.0))
    scene.add(rubber(other + np.array([0.004, off, off])))
    sim = Simulation(scene, threads=1)
    for frame in sim.frames(2, 24 * 3):
        assert frame.report.converged
        assert fastest(frame, 2) < 1.0
    assert distance(frame.positions(0), frame.positions(1)) > (2.0 - SLACK) * RADIUS


# What does not touch --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("segments", [3, 30, 300])
def test_a_straight_rod_does_not_touch_itself(segments: int) -> None:
    """However thick it is, and however short its segments are."""
    scene = weightless(rod_contact=True)
    scene.add(rubber(stick(segments=segments), radius=0.03), velocity=(0.0, 0.1, 0.0))
    sim = Simulation(scene, threads=1)
    for _ in range(3):
        frame = sim.step_frame()
        assert len(sim._contact.known.keys) == 0
    moved = frame.positions(0) - stick(segments=segments)
    assert moved == pytest.approx(np.tile([0.0, 0.1 * frame.time, 0.0], (segments + 1, 1)), abs=1e-9)


@pytest.mark.parametrize("segments", [8, 64])
def test_a_thick_ring_does_not_touch_itself(segments: int) -> None:
    """Its middle is still open, so nothing touches, neither across nor along."""
    angle = 2.0 * math.pi * np.arange(segments) / segments
    points = 0.1 * np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    scene = weightless(rod_contact=True)
    scene.add(rubber(points, radius=0.05, closed=True))
    sim = Simulation(scene, threads=1)
    sim.step_frame()
    assert len(sim._contact.known.keys) == 0


def coil(pitch: float, turns: int = 3, segments: int = 24) -> np.ndarray:
    angle = np.linspace(0.0, 2.0 * math.pi * turns, turns * segments + 1)
    return np.stack([0.05 * np.cos(angle), 0.05 * np.sin(angle), pitch * angle / (2.0 * math.pi)], axis=1)


def test_a_coil_that_overlaps_is_pushed_apart() -> None:
    """Neighbouring turns are near each other in space, but not along the rod."""
    scene = weightless(rod_contact=True, drag=2.0)
    scene.add(rubber(coil(1.4 * RADIUS)))
    for frame in Simulation(scene, threads=1).frames(2, 24 * 3):
        assert fastest(frame) < 1.0
    x = frame.positions(0)
    turns = [x[24 * k : 24 * k + 20] for k in range(3)]  # without the parts that lead from one to the next
    for one, other in pairwise(turns):
        assert distance(one, other) > (2.0 - SLACK) * RADIUS


@pytest.mark.parametrize("far", [Plane(point=(0.0, 0.0, -50.0)), Sphere(1.0, (0.0, 30.0, 0.0)), TWO_TRIANGLES])
def test_a_collider_far_away_changes_nothing(far: Shape) -> None:
    """Free rods move as they do without contact, to the last bit."""

    def bits(with_it: bool) -> list[bytes]:
        scene = Scene()
        for k in range(2):
            place = np.array([0.0, 0.5 * k, 2.0])
            scene.add(rubber(coil(4.0 * RADIUS) + place), velocity=(0.3, 0.2, 0.1 * k))
        scene.pin(1, "start")
        if with_it:
            scene.collide(far, path=(lambda t: ((0.0, 0.0, -20.0 + t), np.eye(3))) if isinstance(far, Mesh) else None)
        frames = list(Simulation(scene, threads=1).frames(1, 8))
        return [frame.positions(k).tobytes() + frame.directors(k).tobytes() for frame in frames for k in range(2)]

    assert bits(True) == bits(False)


# The same bits --------------------------------------------------------------------------------------------------------


def heap(rods: int = 10) -> Scene:
    """Sticks and rings that fall on each other, on a ball, a moving box, a mesh and the ground."""
    random = np.random.default_rng(3)
    scene = Scene(rod_contact=True, drag=0.2)
    for k in range(rods):
        angle = math.pi * k / 7.0
        points = stick((math.cos(angle), math.sin(angle), 0.2), segments=12)
        if k % 5 == 4:
            around = 2.0 * math.pi * np.arange(16) / 16
            points = 0.08 * np.stack([np.cos(around), np.sin(around), 0.0 * around], axis=1)
        place = [0.05 * random.standard_normal(), 0.05 * random.standard_normal(), 0.1 + 0.03 * k]
        scene.add(rubber(points + place, closed=k % 5 == 4), velocity=(0.0, 0.0, -1.0), friction=0.3)
    scene.collide(Plane())
    scene.collide(Sphere(0.05, (0.02, 0.0, 0.0)))
    scene.collide(Mesh(0.04 * CUBE_CORNERS + [0.1, 0.1, 0.02], CUBE_TRIANGLES))
    scene.collide(
        Box((0.1, 0.1, 0.02)), path=lambda t: ((0.2 * t, 0.0, 0.02), rotation_about(np.array([0, 0, 1.0]), np.array(t)))
    )
    return scene


FRAMES = 7


def history(sim: Simulation) -> list[bytes]:
    """The state of each frame, from where it stands to the last."""
    bits = []
    for frame in sim.frames(sim.frame, FRAMES):
        places = b"".join(frame.positions(k).tobytes() for k in range(len(sim.scene.entries)))
        bits.append(sim.state().tobytes() + places)
    return bits


@pytest.fixture(scope="module")
def one_thread() -> list[bytes]:
    sim = Simulation(heap(), threads=1)
    bits = history(sim)
    assert len(sim._contact.known.keys) > 10  # so it was about contact
    return bits


@pytest.mark.parametrize("threads", [2, 3])
def test_any_number_of_threads(one_thread: list[bytes], threads: int) -> None:
    assert history(Simulation(heap(), threads=threads)) == one_thread


@pytest.mark.parametrize("frame", range(2, FRAMES, 2))
def test_going_on_from_a_saved_frame(frame: int) -> None:
    """In the simulation it was saved from, after it went on, and in a new one."""
    sim = Simulation(heap(), threads=1)
    for _ in range(1, frame):
        sim.step_frame()
    state = sim.state()
    future = history(sim)
    sim.restore(state, frame)
    assert history(sim) == future
    fresh = Simulation(heap(), threads=1)
    fresh.restore(state, frame)
    assert history(fresh) == future


def test_energies_of_a_restored_frame() -> None:
    """Are those it had, to the last bit."""
    sim = Simulation(heap(), threads=1)
    for _ in range(3):
        sim.step_frame()
    state, energies = sim.state(), sim.energies()
    sim.step_frame()
    sim.restore(state, 4)
    assert sim.energies() == energies
