"""Each kind of failure is provoked, and the report says what was given up and where."""

from __future__ import annotations

import numpy as np
import pytest
from tendril.core import Body, Box, Material, Mesh, Net, Rod, Scene, Simulation
from tendril.core.run import contact_stepper

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
    assert frame.report.severity.startswith("1 rod not solved, residual")
    assert np.isfinite(sim.state()).all()


@pytest.mark.parametrize("radius", [1e-3, 1e-4])
def test_the_work_of_corde_on_thin_steel_is_bounded(radius):
    """Steps of frames with so little inertia are far too short: the segments are given up, and later frames take no longer."""
    net = Net.from_edges(np.linspace((0, 0, 0), (0.1, 0, 0), 11), [(i, i + 1) for i in range(10)], radius, STEEL)
    scene = Scene()
    scene.pin(scene.add(net, "corde"), 0)
    sim = Simulation(scene)
    for _ in range(3):
        frame = sim.step_frame()
        assert frame.report.affected == {0}
        assert np.isfinite(frame.positions(0)).all()


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


def pull_hard(scene, rod):
    scene.pin(rod, "start")
    scene.load(rod, "end", (0.0, 1e14, 1e14))


def throw_far(scene, rod):
    """Turned by half a turn, ten thousand kilometres away."""
    scene.clamp(
        rod,
        "start",
        lambda t: (np.array([1e7 * (t > 0.0), 0.0, 0.0]), np.diag([-1.0, -1.0, 1.0]) if t > 0.0 else np.eye(3)),
    )


@pytest.mark.parametrize(
    ("model", "trouble"),
    [
        ("der", throw_far),
        ("net", throw_far),
        ("der2008", throw_far),
        ("compact", pull_hard),
        ("clothoid", pull_hard),
        ("corde", pull_hard),
    ],
)
def test_free_steps_that_are_given_up_are_reported_at_their_rod(model, trouble):
    """The other rod is as if it were alone."""
    scene = two_rods(model, Material.preset("rubber"))
    trouble(scene, 1)
    sim, quiet = Simulation(scene), Simulation(two_rods("der", STEEL))
    frame = sim.step_frame()
    assert frame.report.failures > 0
    assert frame.report.affected == {1}
    assert frame.report.severity.startswith("1 rod not solved, residual")
    assert np.isfinite(sim.state()).all()
    assert np.array_equal(frame.positions(0), quiet.step_frame().positions(0))


ROOM, RADIUS = 0.0105, 0.01  # half of the distance between the boxes at the start
CUBE = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1)]
CUBE += [(2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]


def press(model, rods, speed, kind="box", pinned=False, friction=0.4):
    """Ropes between two boxes that close at this speed (m/s, each), beyond the thickness of the ropes."""
    scene = Scene(rod_contact=True)
    for k in range(rods):
        points = np.linspace((-0.3, 0.05 * k, 0.0), (0.3, 0.05 * k, 0.0), 25)
        described = Rod.from_points(points, radius=RADIUS, material=Material.preset("nylon rope"))
        rod = scene.add(described, model, friction=friction)
        if pinned:
            scene.pin(rod, "start")
            scene.pin(rod, "end")
    for side in (1.0, -1.0):
        at = np.array([0.0, 0.0, side * (0.05 + ROOM)])
        corners = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.15, 0.15) for z in (-0.05, 0.05)])
        shape = Box((0.2, 0.3, 0.1), at) if kind == "box" else Mesh(corners + at, CUBE)
        origin = at if kind == "box" else np.zeros(3)

        def path(t, origin=origin, side=side):
            return origin - np.array([0.0, 0.0, side * speed * t]), np.eye(3)

        scene.collide(shape, path=path, friction=friction)
    return scene


@pytest.mark.parametrize(
    ("model", "rods", "kind", "pinned"),
    [
        ("der", 1, "box", False),
        ("der", 1, "box", True),
        ("der", 3, "box", False),
        ("net", 1, "box", False),
        ("der", 1, "mesh", False),
        ("compact", 1, "box", False),
        ("clothoid", 1, "box", False),
        ("der2008", 1, "box", False),
    ],
)
def test_lack_of_room_is_reported_in_the_frame_where_it_begins(model, rods, kind, pinned):
    speed = 0.01
    sim = Simulation(press(model, rods, speed, kind, pinned))
    for _ in range(4):
        frame = sim.step_frame()
        energies, room = frame.report.energies, ROOM - speed * frame.time
        if room < RADIUS:
            break
        assert frame.report.converged
        assert energies.stretch + energies.bend + energies.twist < 0.01  # J
    assert room == pytest.approx(0.97 * RADIUS, rel=0.01)
    assert frame.report.affected == set(range(rods))
    assert frame.report.severity.startswith(f"{rods} rod")


def test_a_rope_that_just_fits_between_two_boxes_is_no_failure():
    """It is pressed against the lower one by its weight."""
    sim = Simulation(press("der", 1, 0.0))
    assert all(sim.step_frame().report.converged for _ in range(6))


def test_a_rod_carried_along_by_a_moving_sheet_is_no_failure():
    """In its last substep the sheet comes from where the rod is now: a rod that went with it did not pass through."""
    square = np.array([(-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.0)])
    scene = Scene()
    sheet = scene.collide(Mesh(square, [(0, 1, 2), (0, 2, 3)]), friction=0.5)
    points = np.linspace((-0.2, 0.1, 1e-3), (0.2, 0.1, 1e-3), 9)
    scene.add(Rod.from_points(points, radius=1e-3, material=Material.preset("rubber")))
    sim = Simulation(scene)
    for k in range(12):
        sim.move_collider(sheet, vertices=square - np.array([0.0, 0.0, 0.02 * (k + 1) ** 2 / 12.0]))
        frame = sim.step_frame()
        assert frame.report.converged, frame.report.severity
        assert frame.report.overlap < 0.1
    height = frame.positions(0)[:, 2] + 0.02 * 12.0
    assert 0.9e-3 < height.min() < height.max() < 5e-3  # not vacuous: it lies on the sheet


def test_hopeless_contacts_take_bounded_work(monkeypatch):
    """Beyond a number of iterations steps are not halved any more, and what fails is given up."""
    attempts = []
    solve = contact_stepper.ContactStepper._solve
    monkeypatch.setattr(contact_stepper.ContactStepper, "_solve", lambda *given: (attempts.append(1), solve(*given))[1])
    counts = []
    for effort in (5000, 20):
        attempts.clear()
        report = Simulation(press("der", 1, 0.1), effort=effort).step_frame().report
        counts.append(len(attempts))
        assert report.affected == {0}
        assert report.failures > 0
    assert counts[0] > 20
    assert counts[1] <= 4 + 2 + 2  # substeps, two attempts until the limit, and the halves that are open then


def test_a_body_without_room_is_reported():
    scene = Scene()
    scene.add_body(Body(Box((0.1, 0.1, 0.1)), mass=1.0, collides=True))
    for side in (1.0, -1.0):
        scene.collide(Box((1.0, 1.0, 0.2)), path=lambda t, side=side: ((0.0, 0.0, side * (0.16 - 0.3 * t)), np.eye(3)))
    report = Simulation(scene).step_frame().report
    assert not report.converged
    assert report.severity.startswith("rigid bodies not solved")


def test_an_error_in_the_solver_is_reported_and_leaves_rods_where_they_were(monkeypatch):
    sim = Simulation(two_rods("der", STEEL))
    before = sim.step_frame()

    def fail(*_):
        raise RuntimeError("on purpose")

    monkeypatch.setattr(sim._stepper, "step_frame", fail)
    frame = sim.step_frame()
    assert any(text.startswith("the solver failed with RuntimeError") for text in frame.report.problems)
    assert frame.report.affected == {0, 1}
    for rod in (0, 1):
        np.testing.assert_array_equal(frame.positions(rod), before.positions(rod))
        assert not frame.velocities(rod).any()


@pytest.mark.parametrize("damping_time", [0.0, 1e-2])
@pytest.mark.parametrize("what", ["free", "a collider far away", "touching", "body"])
def test_implicit_steps_of_the_published_explicit_model_are_reported(what, damping_time):
    """Damping and colliders as such do not change how `der2008` steps; contact does, and damping of rods with rigid bodies."""
    scene = Scene()
    points, soft = np.linspace((0, 0, 0.5), (0.5, 0, 0.5), 9), Material(1e7, 1000.0, damping_time=damping_time)
    scene.add(Rod.from_points(points + np.array([0, 1, 0]), radius=0.005, material=soft), "der")
    rod = scene.add(Rod.from_points(points, radius=0.005, material=soft), "der2008")
    for end in (0, 1):
        scene.clamp(end, "start")
    if what in ("a collider far away", "touching"):
        scene.collide(Box((1, 0.3, 0.1), position=(0, 0, 0.35 if what == "touching" else -2.0)))
    if what == "body":
        body = Body(Box((0.04, 0.04, 0.04)), mass=0.1, position=(0.5, 0, 0.5))
        scene.attach(rod, "end", scene.add_body(body))
    *_, frame = Simulation(scene).frames(1, 6)
    published = what in ("free", "a collider far away") or (what == "body" and damping_time == 0.0)
    assert frame.report.implicit == (frozenset() if published else {rod})


def test_what_the_active_set_does_not_solve_is_reported():
    """Boxes that close beyond the thickness of the rod: no forces keep it out of both."""
    sim = Simulation(press("compact", 1, 0.05, friction=0.0), contact="active set")
    reports = [sim.step_frame().report for _ in range(3)]
    assert not reports[-1].converged
    assert reports[-1].affected == {0}
    assert reports[-1].severity.startswith("1 rod not solved")
    assert np.isfinite(sim.state()).all()
