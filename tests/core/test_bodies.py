"""Rigid bodies: what they weigh, how they turn, what of them a simulation tells and keeps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bad_values import many, negative, not_a_function, not_a_number, not_a_vector, not_positive, refuse, rubbish
from hypothesis import given
from hypothesis import strategies as st
from tendril.core import (
    Body,
    Box,
    Capsule,
    Cone,
    Cylinder,
    Hull,
    Material,
    Mesh,
    Rod,
    Scene,
    Simulation,
    Sphere,
)
from tendril.core.describe.mass import hull_mesh, mass_properties, of_mesh
from tendril.core.describe.rotations import rotation_about

TILTED = rotation_about(np.array([0.36, 0.48, 0.8]), np.array(0.7))
CORNERS = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-1.0, 1.0) for z in (-1.5, 1.5)])


def surface(profile: np.ndarray, around: int) -> Mesh:
    """A closed mesh of revolution about z from (radius, z), whose first and last radius are zero."""
    rings = profile[1:-1]
    angle = 2.0 * np.pi * np.arange(around) / around
    points = [(0.0, 0.0, profile[0, 1])]
    points += [(r * math.cos(a), r * math.sin(a), z) for r, z in rings for a in angle]
    points.append((0.0, 0.0, profile[-1, 1]))
    triangles = []
    for k in range(around):
        following = (k + 1) % around
        triangles.append((0, 1 + following, 1 + k))
        for ring in range(len(rings) - 1):
            a, b = 1 + ring * around + k, 1 + ring * around + following
            triangles += [(a, b, b + around), (a, b + around, a + around)]
        last = 1 + (len(rings) - 1) * around
        triangles.append((len(points) - 1, last + k, last + following))
    return Mesh(points, triangles)


PROFILES = {
    "sphere": (Sphere(0.7), [(0.7 * math.sin(a), -0.7 * math.cos(a)) for a in np.linspace(0.0, np.pi, 120)]),
    "cylinder": (Cylinder(0.4, 1.3), [(0.0, -0.65), (0.4, -0.65), (0.4, 0.65), (0.0, 0.65)]),
    "cone": (Cone(0.4, 1.3), [(0.0, -0.65), (0.4, -0.65), (0.0, 0.65)]),
    "capsule": (
        Capsule(0.3, 0.8),
        [(0.3 * math.sin(a), -0.4 - 0.3 * math.cos(a)) for a in np.linspace(0.0, 0.5 * np.pi, 80)]
        + [(0.3 * math.cos(a), 0.4 + 0.3 * math.sin(a)) for a in np.linspace(0.0, 0.5 * np.pi, 80)],
    ),
}


@pytest.mark.parametrize("name", PROFILES)
def test_round_solids_weigh_what_their_meshes_do(name: str) -> None:
    shape, profile = PROFILES[name]
    exact, mesh = mass_properties(shape), of_mesh(surface(np.array(profile), 240))
    assert mesh.volume == pytest.approx(exact.volume, rel=1e-3)
    assert mesh.center == pytest.approx(exact.center, abs=1e-3)
    assert mesh.inertia == pytest.approx(exact.inertia, rel=2e-3, abs=1e-6)


def test_a_box_its_hull_and_its_mesh_are_one_solid() -> None:
    box = mass_properties(Box((1.0, 2.0, 3.0)))
    assert box.volume == 6.0
    assert np.diag(box.inertia) == pytest.approx([6.5, 5.0, 2.5])
    hull = Hull(np.concatenate([CORNERS, 0.3 * CORNERS]))
    inside_out = hull_mesh(hull)
    for other in (mass_properties(hull), of_mesh(Mesh(inside_out.vertices, np.asarray(inside_out.triangles)[:, ::-1]))):
        assert other.volume == pytest.approx(6.0)
        assert other.center == pytest.approx(0.0, abs=1e-12)
        assert other.inertia == pytest.approx(box.inertia, abs=1e-12)


def test_where_a_solid_is_and_how_it_is_turned() -> None:
    moved = mass_properties(Box((1.0, 2.0, 3.0), position=(5.0, -2.0, 1.0), rotation=TILTED))
    assert moved.center == pytest.approx([5.0, -2.0, 1.0])
    mesh = mass_properties(Mesh(CORNERS @ TILTED.T + np.array([5.0, -2.0, 1.0]), hull_mesh(Hull(CORNERS)).triangles))
    # The hull keeps all corners in their order.
    assert mesh.center == pytest.approx([5.0, -2.0, 1.0])
    assert mesh.inertia == pytest.approx(moved.inertia)
    cone = mass_properties(Cone(0.5, 2.0, rotation=TILTED))
    assert cone.center == pytest.approx(-0.5 * TILTED[:, 2])


def test_mass_density_and_what_is_given() -> None:
    assert Body(Sphere(0.1)).mass == pytest.approx(1000.0 * 4.0 / 3.0 * math.pi * 1e-3)
    assert Body(Sphere(0.1), density=2.0).mass == pytest.approx(2.0 * 4.0 / 3.0 * math.pi * 1e-3)
    assert Body(Sphere(0.1), mass=3.0).inertia == pytest.approx(0.4 * 3.0 * 0.01 * np.eye(3))
    given = Body(Sphere(0.1), mass=3.0, center=(0.0, 0.0, 1.0), inertia=np.diag([1.0, 2.0, 2.5]))
    assert np.array_equal(given.inertia, np.diag([1.0, 2.0, 2.5]))
    sheet = Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    assert Body(sheet, mass=1.0, center=(0, 0, 0), inertia=np.eye(3)).mass == 1.0
    refuse(lambda: Body(sheet), "shape")
    refuse(lambda: Body(Sphere(1.0), mass=1.0, density=1.0), "density")


@many
@given(st.data())
def test_bad_bodies(data) -> None:
    bad_values = {
        "shape": rubbish,
        "mass": not_positive.filter(lambda value: value is not None),
        "density": not_positive.filter(lambda value: value is not None),
        "position": not_a_vector,
        "velocity": not_a_vector,
        "angular_velocity": not_a_vector,
        "rotation": not_a_vector,
        "center": not_a_vector.filter(lambda value: value is not None),
        "inertia": not_a_vector.filter(lambda value: value is not None),
        "linear_damping": not_a_number | negative,
        "angular_damping": not_a_number | negative,
        "friction": not_a_number | negative,
        "path": not_a_function,
    }
    field = data.draw(st.sampled_from(sorted(bad_values)))
    bad = data.draw(bad_values[field])
    refuse(lambda: Body(**{"shape": Sphere(0.1), field: bad}), field)


@pytest.mark.parametrize("inertia", [np.diag([1.0, 1.0, 3.0]), -np.eye(3), [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]])
def test_inertia_that_nothing_has(inertia) -> None:
    refuse(lambda: Body(Sphere(0.1), inertia=inertia), "inertia")


def test_bad_attachments() -> None:
    scene = Scene()
    rod = scene.add(Rod.from_points(np.linspace((0, 0, 0), (1, 0, 0), 11), 0.01, Material.preset("rubber")))
    body = scene.add_body(Body(Sphere(0.1), position=(1.1, 0.0, 0.0)))
    refuse(lambda: scene.attach(rod, "end", 1), "body")
    refuse(lambda: scene.attach(1, "end", body), "rod")
    refuse(lambda: scene.attach(rod, "middle", body), "where")
    refuse(lambda: scene.attach(rod, "end", body, kind="glue"), "kind")
    refuse(lambda: scene.attach(rod, "end", body, point=(0.0, 0.0, 0.0)), "point")
    refuse(lambda: scene.attach_edge(rod, 10, body), "edge")
    refuse(lambda: scene.add_body(None), "body")
    scene.pin(rod, "start")
    refuse(lambda: scene.attach(rod, "start", body), "where")
    assert not scene.attachments
    scene.attach(rod, "end", body, point=(-0.1, 0.0, 0.0))
    refuse(lambda: scene.attach(rod, "end", body), "where")
    assert len(scene.attachments) == 1


# Free bodies ----------------------------------------------------------------------------------------------------------


def fly(body: Body, seconds: float = 2.0, *, gravity=(0.0, 0.0, 0.0), **settings) -> tuple[Simulation, list]:
    scene = Scene(gravity)
    scene.add_body(body)
    sim = Simulation(scene, 24.0, **settings)
    return sim, list(sim.frames(1, 1 + round(24 * seconds)))


def test_a_thrown_body_flies_a_parabola() -> None:
    body = Body(Cone(0.1, 0.4), velocity=(1.0, 0.0, 5.0), angular_velocity=(0.0, 0.0, 3.0))
    _, frames = fly(body, 1.0, gravity=(0.0, 0.0, -9.81))
    center = np.asarray(body.center)
    for frame in frames:
        t = frame.time
        at = frame.body_position(0) + frame.body_rotation(0) @ center
        assert at == pytest.approx(center + np.array([t, 0.0, 5.0 * t - 0.5 * 9.81 * t * t]), abs=1e-9)
    assert frames[-1].body_velocity(0) == pytest.approx([1.0, 0.0, 5.0 - 9.81], abs=1e-9)
    assert frames[-1].report.energies.total == pytest.approx(frames[0].report.energies.total, rel=1e-9)


def test_a_body_tumbles_about_its_middle_axis() -> None:
    """Of a racket thrown about its middle axis: momentum stays, energy nearly so, and it turns over when Euler's equations
    say."""
    moments, start = np.array([1.0, 2.0, 2.5]), np.array([0.1, 4.0, 0.0])
    sim, frames = fly(Body(Sphere(0.1), mass=1.0, inertia=np.diag(moments), angular_velocity=start), 4.0, substeps=16)
    spin = np.array([frame.body_rotation(0).T @ frame.body_angular_velocity(0) for frame in frames])
    assert sim._bodies.block.momentum()[0] == pytest.approx(moments * start, abs=1e-9)
    assert frames[-1].report.energies.total == pytest.approx(frames[0].report.energies.total, rel=1e-5)
    from scipy.integrate import solve_ivp

    def euler(_, w):
        return np.cross(moments * w, w) / moments

    right = solve_ivp(euler, (0.0, 4.0), start, rtol=1e-11, atol=1e-12, t_eval=[frame.time for frame in frames]).y.T
    assert right[:, 1].min() < -3.9, "it turns over"
    assert np.abs(spin - right).max() < 0.03 * 4.0


def test_tumbling_is_of_second_order() -> None:
    start = (1.0, 2.0, 0.5)
    body = Body(Box((0.1, 0.2, 0.3)), angular_velocity=start)
    turns = [fly(body, 0.5, substeps=n)[1][-1].body_rotation(0) for n in (4, 8, 64)]
    errors = [np.abs(turn - turns[-1]).max() for turn in turns[:2]]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.2)


@pytest.mark.parametrize("integrator", ["tr-bdf2", "backward euler"])
def test_fast_spin_is_stable(integrator: str) -> None:
    """Two hundred turns a second, not quite about an axis, in frames of 1/24 s."""
    body = Body(Cylinder(0.2, 0.05), angular_velocity=(3.0, 0.0, 1250.0))
    sim, frames = fly(body, 0.25, substeps=1, integrator=integrator)
    energy = [frame.report.energies.total for frame in frames]
    assert np.all(np.isfinite(energy))
    assert max(energy) <= energy[0] * (1.0 + 1e-9)
    assert energy[-1] > 0.999 * energy[0]
    assert np.linalg.norm(sim._bodies.block.momentum()[0]) == pytest.approx(
        np.linalg.norm(np.asarray(body.inertia) @ np.asarray(body.angular_velocity)), rel=1e-6
    )


def test_damping_slows_down() -> None:
    body = Body(Sphere(0.1), velocity=(1, 0, 0), angular_velocity=(0, 2, 0), linear_damping=0.5, angular_damping=2.0)
    _, frames = fly(body, 1.0)
    assert frames[-1].body_velocity(0) == pytest.approx([math.exp(-0.5), 0.0, 0.0], rel=1e-4)
    assert frames[-1].body_angular_velocity(0) == pytest.approx([0.0, 2.0 * math.exp(-2.0), 0.0], rel=1e-3)


def test_kinematic_bodies_go_where_they_are_told() -> None:
    scene = Scene()
    led = scene.add_body(Body(Box((1.0, 1.0, 1.0)), kinematic=True))
    guided = scene.add_body(Body(Sphere(0.1), path=lambda t: ((t, 0.0, 0.0), TILTED)))
    free = scene.add_body(Body(Sphere(0.1)))
    sim = Simulation(scene)
    sim.move_body(led, (0.0, 0.0, 1.0), TILTED)
    frame = sim.step_frame()
    assert frame.body_position(led) == pytest.approx([0.0, 0.0, 1.0])
    assert frame.body_rotation(led) == pytest.approx(TILTED)
    assert frame.body_velocity(led) == pytest.approx([0.0, 0.0, 24.0])
    assert frame.body_position(guided) == pytest.approx([1.0 / 24.0, 0.0, 0.0])
    assert sim.step_frame().body_velocity(led) == pytest.approx(0.0, abs=1e-12)
    for bad in (3, -1, None, "0"):
        refuse(lambda bad=bad: sim.move_body(bad), "body")
        refuse(lambda bad=bad: frame.body_position(bad), "body")
    refuse(lambda: sim.move_body(free, (0, 0, 0)), "body")
    refuse(lambda: sim.move_body(led, (0, 0)), "position")
    refuse(lambda: sim.move_body(led, rotation=np.ones((3, 3))), "rotation")


def test_bodies_are_part_of_state_and_fingerprint() -> None:
    def build(**more) -> Scene:
        scene = Scene()
        scene.add_body(Body(Box((0.1, 0.2, 0.3)), angular_velocity=(1.0, 2.0, 0.5), **more))
        scene.add_body(Body(Sphere(0.1), path=lambda t: ((t * t, 0.0, 0.0), np.eye(3))))
        return scene

    sim = Simulation(build())
    sim.step_frame()
    state = sim.state()
    ahead = [sim.step_frame() for _ in range(2)][-1]
    again = Simulation(build())
    again.restore(state, 2)
    later = [again.step_frame() for _ in range(2)][-1]
    for body in range(2):
        for what in ("body_position", "body_rotation", "body_velocity", "body_angular_velocity"):
            assert np.array_equal(getattr(ahead, what)(body), getattr(later, what)(body)), what
    assert build().fingerprint() == build().fingerprint()
    assert build().fingerprint() != build(friction=0.1).fingerprint()
    assert build().fingerprint() != build(mass=1.0).fingerprint()
