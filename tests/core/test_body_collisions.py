"""Bodies touch colliders and each other, with friction and rebound."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tendril.core import (
    Body,
    Box,
    Capsule,
    Cone,
    Cylinder,
    Frame,
    Hull,
    Material,
    Mesh,
    Plane,
    Rod,
    Scene,
    Simulation,
    Sphere,
    TendrilError,
)

G = 9.81
RUBBER = Material(young_modulus=1e7, density=1000.0)
CUBE = np.array([(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
SQUARES = [
    (0, 1, 3, 2),
    (4, 6, 7, 5),
    (0, 4, 5, 1),
    (2, 3, 7, 6),
    (0, 2, 6, 4),
    (1, 5, 7, 3),
]  # of the cube, seen from outside
UPRIGHT = np.eye(3)
LYING = np.array([(1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0)])  # turns z to y


def triangles(squares: list[tuple[int, ...]]) -> list[tuple[int, int, int]]:
    return [corners for a, b, c, d in squares for corners in ((a, b, c), (a, c, d))]


def table() -> Mesh:
    """Not convex: a slab with a block on its underside, so that it stands on the block."""
    slab, block = CUBE * (2.0, 2.0, 0.2) + (0, 0, 0.02), CUBE * (0.6, 0.6, 0.8) - (0, 0, 0.08)
    return Mesh(
        np.concatenate([slab, block]), triangles(SQUARES) + [(8 + a, 8 + b, 8 + c) for a, b, c in triangles(SQUARES)]
    )


def run(scene: Scene, frames: int, **settings: object) -> list[Frame]:
    sim = Simulation(scene, substeps=4, threads=1, **settings)  # type: ignore[arg-type]
    out = [sim.step_frame() for _ in range(frames)]
    assert sum(frame.report.failures for frame in out) == 0
    return out


def about_y(angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([(c, 0.0, s), (0.0, 1.0, 0.0), (-s, 0.0, c)])


def on_incline(
    shape, height: float, angle: float, friction: float, turned=UPRIGHT, frames: int = 24
) -> tuple[float, float]:
    """Speed down the plane after a second, and the mean acceleration since the first half."""
    normal, down = np.array([math.sin(angle), 0, math.cos(angle)]), np.array([math.cos(angle), 0, -math.sin(angle)])
    scene = Scene()
    scene.collide(Plane(normal=normal), friction=friction)
    body = Body(
        shape, mass=1.0, position=height * normal, rotation=about_y(angle) @ turned, friction=friction, collides=True
    )
    scene.add_body(body)
    seen = run(scene, frames)
    assert seen[-1].body_position(0) @ normal == pytest.approx(height, abs=1e-5)
    speeds = [float(frame.body_velocity(0) @ down) for frame in seen]
    return speeds[-1], (speeds[-1] - speeds[frames // 2 - 1]) / (frames / 2 / 24.0)


@pytest.mark.parametrize(
    ("shape", "lowest", "turned"),
    [
        (Box((0.2, 0.2, 0.1)), 0.05, np.eye(3)),
        (Sphere(0.1), 0.1, np.eye(3)),
        (Capsule(0.05, 0.2), 0.05, LYING),
        (Cylinder(0.1, 0.2), 0.1, np.eye(3)),
        (Cone(0.1, 0.2), 0.1, np.eye(3)),
        (Hull(CUBE), 0.1, np.eye(3)),
        (Mesh(CUBE, triangles(SQUARES)), 0.1, np.eye(3)),
        (table(), 0.16 + 0.01 * 0.1, np.eye(3)),
    ],
    ids=["box", "sphere", "capsule", "cylinder", "cone", "hull", "mesh", "not convex"],
)
@pytest.mark.parametrize("ground", ["plane", "box", "mesh"])
def test_it_falls_and_rests(shape, lowest: float, turned, ground: str) -> None:
    """Still, and as high as it should, on whatever there is."""
    scene = Scene()
    if ground == "plane":
        scene.collide(Plane(), friction=0.5)
    elif ground == "box":
        scene.collide(Box((1.0, 1.0, 0.2), position=(0.0, 0.0, -0.1)), friction=0.5)
    else:
        corners = np.array([(x, y, 0.0) for x in (-0.4, 0.03, 0.5) for y in (-0.5, -0.02, 0.4)])
        cells = [(0, 3, 4, 1), (1, 4, 5, 2), (3, 6, 7, 4), (4, 7, 8, 5)]
        scene.collide(Mesh(corners, triangles(cells)), friction=0.5)
    body = Body(
        shape, density=300.0, position=(0.01, 0.0, lowest + 0.03), rotation=turned, collides=True, angular_damping=1.0
    )
    scene.add_body(body)
    seen = run(scene, 16)
    assert seen[-1].body_position(0) == pytest.approx([0.01, 0.0, lowest], abs=1e-3), ground
    assert seen[-1].body_position(0)[2] == pytest.approx(lowest, abs=1e-4)
    assert np.abs(seen[-1].body_velocity(0)).max() < 1e-3
    assert np.abs(seen[-1].body_angular_velocity(0)).max() < 1e-2


@pytest.mark.parametrize("share", [1.02, 0.98])
def test_a_box_on_an_incline_sticks_or_slides(share: float) -> None:
    """A fiftieth above and below the angle of friction."""
    angle = math.radians(20.0)
    speed, gained = on_incline(Box((0.2, 0.2, 0.2)), 0.1, angle, share * math.tan(angle))
    expected = max(0.0, G * math.sin(angle) * (1.0 - share))
    assert gained == pytest.approx(expected, abs=1e-4)
    assert speed == pytest.approx(expected, abs=1e-3)


def test_a_box_slides_with_the_right_acceleration() -> None:
    angle, friction = math.radians(30.0), 0.2
    _, gained = on_incline(Box((0.2, 0.1, 0.1)), 0.05, angle, friction)
    assert gained == pytest.approx(G * (math.sin(angle) - friction * math.cos(angle)), rel=1e-3)


@pytest.mark.parametrize(
    ("shape", "share"),
    [(Sphere(0.1), 5.0 / 7.0), (Cylinder(0.1, 0.2), 2.0 / 3.0), (Capsule(0.1, 0.2), None)],
    ids=["sphere", "cylinder", "capsule"],
)
def test_round_things_roll(shape, share: float | None) -> None:
    if share is None:
        share = 1.0 / (1.0 + Body(shape, mass=1.0).inertia[2, 2] / 0.01)
    angle = math.radians(20.0)
    _, gained = on_incline(shape, 0.1, angle, 0.6, LYING)
    assert gained == pytest.approx(share * G * math.sin(angle), rel=2e-3)


def test_a_stack_stands() -> None:
    scene = Scene()
    scene.collide(Plane(), friction=0.5)
    boxes = [
        scene.add_body(Body(Box((0.2, 0.2, 0.2)), mass=1.0, position=(0, 0, 0.1 + 0.2 * k), collides=True))
        for k in range(5)
    ]
    seen = run(scene, 48)
    for k, box in enumerate(boxes):
        assert seen[-1].body_position(box) == pytest.approx([0.0, 0.0, 0.1 + 0.2 * k], abs=1e-4)
        assert np.abs(seen[-1].body_velocity(box)).max() < 1e-3
    assert sum(frame.report.halvings for frame in seen) == 0


def test_a_box_over_the_edge_tips() -> None:
    """One box on another: with its centre over it stays, with its centre beyond the edge it falls."""
    for shift, falls in ((0.09, False), (0.11, True)):
        scene = Scene()
        scene.collide(Box((0.2, 0.2, 0.2), position=(0, 0, 0.1)), friction=1.0)
        scene.add_body(Body(Box((0.2, 0.2, 0.2)), mass=1.0, position=(shift, 0, 0.3), friction=1.0, collides=True))
        seen = run(scene, 16)
        assert (seen[-1].body_position(0)[2] < 0.2) == falls


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_two_spheres_collide(e: float) -> None:
    """Head on: what one loses the other gains, and they part with e of the speed they met with."""
    scene = Scene(gravity=(0, 0, 0))
    scene.add_body(Body(Sphere(0.1), mass=1.0, position=(-0.4, 0, 0), velocity=(2, 0, 0), restitution=e, collides=True))
    scene.add_body(Body(Sphere(0.1), mass=3.0, position=(0.1, 0, 0), collides=True))
    last = run(scene, 12)[-1]
    one, two = last.body_velocity(0), last.body_velocity(1)
    assert one + 3.0 * two == pytest.approx([2.0, 0.0, 0.0], abs=1e-9)
    assert two[0] - one[0] == pytest.approx(2.0 * e, abs=2e-3)


def test_a_glancing_blow_keeps_momentum() -> None:
    """A box hits another at a corner: linear and angular momentum of both together stay."""
    scene = Scene(gravity=(0, 0, 0))
    spin = (0.5, -1.0, 2.0)
    one = Body(
        Box((0.2, 0.3, 0.1)),
        mass=1.0,
        position=(-0.3, 0.1, 0.03),
        velocity=(2, 0, 0),
        angular_velocity=spin,
        collides=True,
    )
    two = Body(Box((0.2, 0.2, 0.2)), mass=2.0, position=(0.1, 0, 0), collides=True)
    scene.add_body(one)
    scene.add_body(two)
    sim = Simulation(scene, substeps=4, threads=1)

    def momenta() -> tuple[np.ndarray, np.ndarray]:
        block = sim._bodies.block
        linear = block.mass[:, None] * block.state.v
        return linear.sum(axis=0), (np.cross(block.state.x, linear) + block.momentum()).sum(axis=0)

    linear, angular = momenta()
    frames = [sim.step_frame() for _ in range(12)]
    after = momenta()
    assert frames[-1].body_velocity(1)[0] > 0.3, "it was hit"
    assert after[0] == pytest.approx(linear, abs=1e-4)
    assert after[1] == pytest.approx(angular, abs=3e-3)
    assert frames[-1].report.energies.kinetic < 2.2


@pytest.mark.parametrize("e", [0.5, 0.8, 1.0])
def test_a_ball_bounces(e: float) -> None:
    """From a metre to e^2 of it; time is measured in substeps, so that tops are missed by a little."""
    scene = Scene()
    scene.collide(Plane())
    scene.add_body(Body(Sphere(0.1), mass=1.0, position=(0, 0, 1.1), restitution=e, collides=True))
    heights = np.array([frame.body_position(0)[2] for frame in run(scene, 26)]) - 0.1
    first = int(np.argmin(heights[:15]))
    assert heights[first:].max() == pytest.approx(e * e, abs=0.006)


def test_nothing_passes_through_a_thin_plate() -> None:
    """A ball as fast as a bullet: in a substep it goes 25 times as far as the plate is thick."""
    scene = Scene(gravity=(0, 0, 0))
    scene.collide(Box((1.0, 1.0, 0.01)))
    scene.add_body(Body(Sphere(0.01), mass=0.01, position=(0.02, 0, 0.5), velocity=(0, 0, -24.0), collides=True))
    plate = Mesh([(-1, -1, -1), (1, -1, -1), (0, 2, -1)], [(0, 1, 2)])
    scene.collide(plate)
    scene.add_body(
        Body(Box((0.02, 0.02, 0.02)), mass=0.01, position=(0, 0, -1.5), velocity=(0, 0, 24.0), collides=True)
    )
    seen = run(scene, 6)
    assert seen[-1].body_position(0)[2] == pytest.approx(0.015, abs=1e-3)
    assert seen[-1].body_position(1)[2] == pytest.approx(-1.01, abs=1e-3)


def test_a_kinematic_body_pushes() -> None:
    """A led box pushes a free one over the ground, at its own speed."""
    scene = Scene()
    scene.collide(Plane(), friction=0.3)
    scene.add_body(
        Body(Box((0.2, 0.2, 0.2)), path=lambda t: ((-0.3 + 0.5 * t, 0, 0.11), np.eye(3)), collides=True, friction=0.0)
    )
    scene.add_body(Body(Box((0.2, 0.2, 0.2)), mass=1.0, position=(0, 0, 0.1), collides=True))
    seen = run(scene, 24)
    assert seen[-1].body_position(1) == pytest.approx([0.4, 0.0, 0.1], abs=1e-3)
    assert seen[-1].body_velocity(1)[0] == pytest.approx(0.5, abs=1e-3)


def test_a_moving_floor_takes_things_along() -> None:
    scene = Scene()
    scene.collide(
        Box((2.0, 1.0, 0.1), position=(0, 0, -0.05)), friction=0.5, path=lambda t: ((0.5 * t * t, 0, -0.05), np.eye(3))
    )
    scene.add_body(Body(Box((0.2, 0.2, 0.2)), mass=1.0, position=(0, 0, 0.1), friction=0.5, collides=True))
    last = run(scene, 24)[-1]
    assert last.body_velocity(0)[0] == pytest.approx(1.0, abs=0.02)
    assert last.body_position(0)[0] == pytest.approx(0.5, abs=0.02)


def test_the_same_bits_again_and_from_the_middle() -> None:
    def scene() -> Scene:
        made = Scene()
        made.collide(Plane(), friction=0.5)
        for k, shape in enumerate((Box((0.2, 0.2, 0.1)), Cylinder(0.08, 0.1), Cone(0.1, 0.2))):
            made.add_body(Body(shape, density=400.0, position=(0.02 * k, 0, 0.2 + 0.25 * k), collides=True))
        return made

    one, two = (Simulation(scene(), threads=1) for _ in range(2))
    for _ in range(8):
        one.step_frame()
    state, frame = one.state(), one.frame
    for _ in range(4):
        one.step_frame()
    two.restore(state, frame)
    for _ in range(4):
        two.step_frame()
    assert np.array_equal(one.state(), two.state())


def test_restitution_is_checked() -> None:
    for bad in (-0.1, 1.5, math.nan, "much"):
        with pytest.raises(TendrilError, match="restitution"):
            Body(Sphere(0.1), restitution=bad)  # type: ignore[arg-type]


# With rods --------------------------------------------------------------------------------------------------------------


def test_a_ball_on_a_rope_knocks_a_stack_over() -> None:
    """Rope, ball, boxes and ground in one solve; without the ball the stack stands."""
    for swinging in (True, False):
        scene = Scene()
        scene.collide(Plane(), friction=0.5)
        boxes = [
            scene.add_body(Body(Box((0.1, 0.1, 0.1)), mass=0.2, position=(0, 0, 0.05 + 0.1 * k), collides=True))
            for k in range(3)
        ]
        top, direction = np.array([0.0, 0.0, 1.2]), np.array([-0.8, 0.0, -0.6])
        ball = scene.add_body(Body(Sphere(0.08), mass=2.0, position=top + 1.03 * direction, collides=True))
        rope = scene.add(Rod.from_points(np.linspace(top, top + 0.95 * direction, 20), 0.005, RUBBER))
        scene.pin(rope, "start")
        scene.attach(rope, "end", ball, kind="ball")
        seen = run(scene, 24 if swinging else 4)
        distance = [float(np.linalg.norm(frame.body_position(ball) - top)) for frame in seen]
        assert np.array(distance) == pytest.approx(1.05, abs=0.04), "the rope holds, and stretches a little"
        moved = [float(np.linalg.norm(seen[-1].body_position(b) - (0, 0, 0.05 + 0.1 * k))) for k, b in enumerate(boxes)]
        assert all(frame.body_position(b)[2] > 0.045 for frame in seen for b in boxes), "nothing sinks into the ground"
        assert (max(moved) > 0.2) == swinging


def test_a_rope_rolls_on_a_box_that_slides_on_the_ground() -> None:
    """Rod, body and collider: the rope's weight adds to the friction below the box, and it rolls as a cylinder does, at a third of
    what slows the box down."""
    friction, radius, mass = 0.3, 0.008, 0.5
    scene = Scene()
    scene.collide(Plane(), friction=friction)
    rubbing = {"friction": friction, "collides": True}
    box = scene.add_body(
        Body(Box((0.6, 0.3, 0.1)), mass=mass, position=(0, 0, 0.05), velocity=(1.0, 0, 0), **rubbing)  # type: ignore[arg-type]
    )
    line = np.linspace((-0.2, -0.1, 0.1 + radius), (-0.2, 0.1, 0.1 + radius), 12)
    rope = scene.add(Rod.from_points(line, radius, RUBBER), velocity=(1.0, 0, 0), friction=2.0)
    share = 1000.0 * math.pi * radius**2 * 0.2 / mass
    slowing = friction * G * (1.0 + share) / (1.0 + share / 3.0)
    last = run(scene, 6)[-1]
    assert last.body_velocity(box)[0] == pytest.approx(1.0 - 0.25 * slowing, abs=2e-3)
    assert last.velocities(rope)[:, 0].mean() == pytest.approx(1.0 - 0.25 * slowing / 3.0, abs=1e-2)
    assert last.positions(rope)[:, 2] == pytest.approx(0.1 + radius, abs=2e-4)
