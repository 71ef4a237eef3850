"""Clothoids: fits, kinematics, motion, growth, bad input; contact with all that there is."""

from __future__ import annotations

import numpy as np
import pytest
from plain_rods import fitted_order, helix, line, made_of, plain_rod, precise, settled, weightless
from scipy.integrate import solve_ivp
from tendril.core import Cylinder, Elements, Material, Plane, Rod, Scene, Simulation, Sphere, TendrilError, fit_elements
from tendril.core.models.clothoid.fit import fit, make_polyline
from tendril.core.models.clothoid.series import BOUND, make_terms, sum_element

RUBBER = Material(1e7, 1000.0, 0.5)


def rope(points: np.ndarray, radius: float = 5e-3) -> Rod:
    return Rod.from_points(points, radius=radius, material=RUBBER)


# Kinematics (case 18 of the validation).


@pytest.mark.parametrize("curl", [0.1, 1.0, 10.0])
def test_an_element_is_as_runge_and_kutta_have_it(curl: float) -> None:
    first, last, length = curl * np.array([1.0, 2.0, -1.0]), curl * np.array([-2.0, 3.0, 4.0]), 2.0

    def slope(s: float, y: np.ndarray) -> np.ndarray:
        k = first + (last - first) * s / length
        skew = np.array([[0.0, -k[2], k[1]], [k[2], 0.0, -k[0]], [-k[1], k[0], 0.0]])
        frame = y[:9].reshape(3, 3)
        return np.concatenate([(frame @ skew).ravel(), frame[:, 0]])

    y = np.concatenate([np.eye(3).ravel(), np.zeros(3)])
    true = solve_ivp(slope, (0.0, length), y, method="DOP853", rtol=1e-13, atol=1e-15).y[:, -1]
    at, frames, places = np.linspace(0.0, length, 50), np.zeros((50, 3, 3)), np.zeros((50, 3))
    frames[0] = np.eye(3)
    sum_element(first, last, length, BOUND, at, frames, places, make_terms()[0])
    assert frames[-1].ravel() == pytest.approx(true[:9], abs=2e-12)
    assert places[-1] == pytest.approx(true[9:], abs=2e-12)
    products = np.einsum("nki,nkj->nij", frames, frames)
    assert products == pytest.approx(np.tile(np.eye(3), (50, 1, 1)), abs=1e-13)


# Fits.


def test_a_helix_is_one_element() -> None:
    points = helix(120, turns=3.0, radius=0.1, rise=0.3)
    shape = make_polyline(points, np.array([1.0, 0.0, 0.0]))
    pitch = 0.3 / (6.0 * np.pi)
    for degree in (0, 1):
        found = fit(shape, shape.arcs, 1, degree, free_frame=True)
        assert found.largest_error < 1e-6
        assert found.kappa[:, 0] == pytest.approx(pitch / (0.01 + pitch**2), rel=1e-3)
        assert np.hypot(found.kappa[:, 1], found.kappa[:, 2]) == pytest.approx(0.1 / (0.01 + pitch**2), rel=1e-3)


def spiral(turns: float = 3.0) -> np.ndarray:
    s = np.linspace(0.0, 1.0, 121)
    radius, angle = 0.02 + 0.08 * s, 2.0 * np.pi * turns * s
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), 0.3 * s], axis=1)


def test_more_elements_fit_better_and_tolerances_are_met() -> None:
    errors = {}
    for tolerance in (1e-2, 1e-3, 1e-4):
        scene = Scene()
        scene.add(rope(spiral(), 1e-3), "clothoid", elements=Elements(tolerance=tolerance))
        (found,) = Simulation(scene, threads=1).blocks[0].fits
        assert found.largest_error <= tolerance * found.length.sum()
        assert found.end_error <= found.largest_error
        errors[found.elements] = found.largest_error
    assert sorted(errors) == list(errors)
    assert len(errors) == 3


def test_elements_are_as_few_as_reach_a_tolerance() -> None:
    """Also beyond eight, where counts are tried in leaps: of any fewer the error is larger."""
    rod, counts = rope(spiral(7.0), 1e-3), []
    errors = [fit_elements(rod, count).largest_error for count in range(1, 21)]
    for tolerance in (0.03, 2.2e-3, 1.7e-3, 1.2e-3):
        found = fit_elements(rod, Elements(tolerance=tolerance))
        within = [count for count, error in enumerate(errors, 1) if error <= tolerance * found.length.sum()]
        assert found.elements == within[0]
        assert found.largest_error == pytest.approx(errors[found.elements - 1], rel=1e-9)
        counts.append(found.elements)
    assert len(set(counts)) > 2
    assert any(count > 8 and count % 2 for count in counts), counts  # one that was leapt over


@pytest.mark.parametrize(("turns", "errors"), [(3.0, (0.04, 0.02, 0.01)), (5.0, (0.035, 0.015, 0.01))])
def test_few_long_elements_do_not_go_astray(turns: float, errors: tuple[float, ...]) -> None:
    """Each takes whole turns of a curl that opens; what the beginning of it says of the rest is little."""
    for count, error in enumerate(errors, 1):
        found = fit_elements(rope(spiral(turns), 1e-3), count)
        assert found.largest_error < error * found.length.sum()


def test_the_end_error_of_a_fit_is_that_of_the_curve() -> None:
    rod = rope(spiral(), 1e-3)
    scene = Scene()
    scene.add(rod, "clothoid", elements=2)
    away = np.linalg.norm(Simulation(scene, threads=1).current().positions(0) - rod.points, axis=1)
    found = fit_elements(rod, 2)
    assert (found.elements, len(found.kappa)) == (2, 3)
    assert found.end_error == pytest.approx(away[-1], rel=1e-9)
    assert found.largest_error == pytest.approx(away.max(), rel=1e-9)
    assert found.end_error > 1e-4
    with pytest.raises(TendrilError, match="elements"):
        fit_elements(rod, 0)


def test_what_is_drawn_is_at_rest_and_where_it_was_drawn() -> None:
    scene = weightless()
    rod = scene.add(rope(helix(60, turns=1.5, radius=0.1), 1e-3), "clothoid")
    sim = Simulation(scene, threads=1)
    drawn = scene.entries[0].rod.points
    assert sim.current().positions(rod) == pytest.approx(drawn, abs=5e-3 * 1.4)
    assert sim.energies().total == 0.0
    before = sim.current().positions(rod)
    assert sim.step_frame().positions(rod) == pytest.approx(before, abs=1e-12)


# Motion.


def swung(integrator: str, rate: int) -> np.ndarray:
    scene = Scene()
    rod = scene.add(rope(line(40)), "clothoid", elements=4)
    scene.clamp(rod, "start")
    sim = Simulation(scene, rate, substeps=1, integrator=integrator, tolerance=1e-8, threads=1)
    for _ in range(round(0.25 * rate)):
        frame = sim.step_frame()
    assert frame.report.converged
    return frame.positions(rod)[-1]


@pytest.mark.parametrize(
    ("integrator", "order"), [("tr-bdf2", 2.0), ("backward euler", 1.0), ("semi-implicit euler", 1.0)]
)
def test_order_in_time(integrator: str, order: float) -> None:
    """All tend to the same motion, each with its order."""
    true, rates = swung("tr-bdf2", 6400), (100, 200, 400, 800)
    errors = [float(np.linalg.norm(swung(integrator, rate) - true)) for rate in rates]
    assert errors[-1] < 5e-3
    assert fitted_order(rates, errors) == pytest.approx(order, abs=0.4)


def test_a_free_rod_keeps_its_momentum_and_nearly_all_energy() -> None:
    scene = weightless()
    v = np.zeros((21, 3))
    v[:, 1], v[:, 2] = 1.0, np.linspace(-3.0, 3.0, 21)
    rod = scene.add(rope(line(20)), "clothoid", velocity=v, elements=3)
    sim = Simulation(scene, threads=1)
    before = sim.energies().total
    assert sim.current().velocities(rod) == pytest.approx(v, abs=1e-9)
    for _ in range(24):
        frame = sim.step_frame()
    assert frame.positions(rod).mean(axis=0) == pytest.approx([0.5, 1.0, 0.0], abs=2e-5)
    assert frame.report.energies.total == pytest.approx(before, rel=1e-3)


@pytest.mark.parametrize("integrator", ["tr-bdf2", "backward euler", "semi-implicit euler"])
def test_a_rod_follows_its_root(integrator: str) -> None:
    """Carried along in the end as its root is, at the same speed; and turned with it about its own axis."""
    scene = weightless(drag=30.0)  # stiff enough to be back within a second, although the air is still
    rod = scene.add(plain_rod(line(20), made_of(bend=100.0, twist=100.0)), "clothoid", elements=3)
    scene.clamp(rod, "start", lambda t: ((0.0, min(t, 1.0), 0.0), np.eye(3)), spin=lambda t: min(t, 1.0))
    sim = Simulation(scene, integrator=integrator, threads=1)
    for _ in range(48):
        frame = sim.step_frame()
    assert frame.positions(rod) == pytest.approx(line(20) + np.array([0.0, 1.0, 0.0]), abs=1e-3)
    start = Simulation(scene, threads=1).current().directors(rod)
    assert np.einsum("ij,ij->i", frame.directors(rod), start) == pytest.approx(np.full(20, np.cos(1.0)), abs=1e-3)


@pytest.mark.parametrize("integrator", ["tr-bdf2", "semi-implicit euler"])
def test_threads_and_restored_states_give_the_same_bits(integrator: str) -> None:
    scene = Scene(air_density=1.2)
    for k in range(12):
        scene.clamp(scene.add(rope(helix(20, turns=1.0 + 0.1 * k)), "clothoid", elements=1 + k % 4), "start")
    one, two = (Simulation(scene, integrator=integrator, threads=threads) for threads in (1, 3))
    for _ in range(3):
        one.step_frame()
        two.step_frame()
    assert np.array_equal(one.state(), two.state())
    again = Simulation(scene, integrator=integrator, threads=1)
    again.restore(one.state(), one.frame)
    assert np.array_equal(again.step_frame().positions(3), one.step_frame().positions(3))
    assert np.array_equal(again.state(), one.state())


def test_growth() -> None:
    scene = weightless()
    rod = scene.add(rope(line(20)), "clothoid", elements=3)
    scene.clamp(rod, "start")
    sim = Simulation(scene, threads=1)
    sim.grow(0, length=2.0, curvature=(0.0, 0.0, 1.0))
    settled(sim)
    x = sim.current().positions(rod)
    assert np.hypot(x[-1, 0], np.linalg.norm(x[-1, 1:])) == pytest.approx(2.0 * np.sin(1.0), rel=1e-6)
    state = sim.state()
    again = Simulation(scene, threads=1)
    again.restore(state, 1)
    assert np.array_equal(again.current().positions(rod), x)


# Contact.


def test_a_rod_lies_still_on_a_plane_and_slides_as_far_as_coulomb_says() -> None:
    scene = Scene()
    rod = scene.add(
        rope(line(20) + np.array([0.0, 0.0, 5e-3])), "clothoid", velocity=(1.0, 0.0, 0.0), elements=3, friction=0.3
    )
    scene.collide(Plane(), friction=0.3)
    sim = Simulation(scene, substeps=8, threads=1)
    for _ in range(24):
        frame = sim.step_frame()
        assert frame.report.converged
        assert frame.positions(rod)[:, 2].min() > 5e-3 * (1.0 - 0.02)
    assert np.abs(frame.velocities(rod)).max() < 1e-4
    assert frame.positions(rod)[0, 0] == pytest.approx(1.0 / (2.0 * 0.3 * 9.81), rel=0.05)


def test_a_rod_hangs_over_a_sphere() -> None:
    scene = Scene(drag=2.0)
    rod = scene.add(rope(line(20) + np.array([-0.5, 0.0, 0.31])), "clothoid", elements=6, friction=0.6)
    scene.collide(Sphere(0.3), friction=0.6)
    sim = Simulation(scene, threads=1)
    for _ in range(36):
        frame = sim.step_frame()
    x = frame.positions(rod)
    middles = 0.5 * (x[1:] + x[:-1])
    assert np.linalg.norm(middles, axis=1).min() > 0.3 + 5e-3 * (1.0 - 0.05)
    assert x[0, 2] < 0.15
    assert x[-1, 2] < 0.15


@pytest.mark.parametrize("other", ["clothoid", "der"])
def test_a_rod_lies_across_another(other: str) -> None:
    scene = Scene(rod_contact=True, drag=2.0)
    stiff = Material(1e9, 1000.0, 0.5)
    lower = line(10)[:, [1, 0, 2]] * 0.4
    below = [
        scene.add(Rod.from_points(lower + np.array([x, -0.2, 0.0]), radius=1e-2, material=stiff), other)
        for x in (0.2, 0.8)
    ]
    for one in below:
        scene.clamp(one, "start")
        if other == "der":
            scene.clamp(one, "end")
    above = scene.add(rope(line(20) + np.array([0.0, 0.0, 0.021]), 1e-2), "clothoid", elements=4, friction=0.8)
    sim = Simulation(scene, threads=1)
    for _ in range(18):
        frame = sim.step_frame()
    x = frame.positions(above)
    assert np.abs(frame.velocities(above)).max() < 0.1
    for one, at in zip(below, (0.2, 0.8), strict=True):
        lower = frame.positions(one)
        here = x[np.argmin(np.abs(x[:, 0] - at))]
        there = lower[np.argmin(np.abs(lower[:, 1] - here[1]))]
        assert 0.017 < here[2] - there[2] < 0.04


def test_a_rod_wraps_a_cylinder_without_passing_it() -> None:
    scene = Scene(gravity=(0.0, 0.0, -9.81))
    rod = scene.add(rope(line(20) + np.array([0.0, 0.0, 0.2])), "clothoid", elements=5)
    scene.clamp(rod, "start")
    turned = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    scene.collide(Cylinder(0.05, 1.0, position=(0.4, 0.0, 0.1), rotation=turned))
    sim = Simulation(scene, threads=1)
    for _ in range(24):
        frame = sim.step_frame()
        away = frame.positions(rod)[:, [0, 2]] - [0.4, 0.1]
        assert np.linalg.norm(away, axis=1).min() > 0.05 + 5e-3 * 0.9


# Robustness and bad input.


@pytest.mark.parametrize("integrator", ["tr-bdf2", "semi-implicit euler"])
def test_a_violently_shaken_curl_stays_finite(integrator: str) -> None:
    scene = Scene()
    rod = scene.add(rope(helix(40, turns=4.0, radius=0.05), 1e-3), "clothoid")
    rng = np.random.default_rng(0)
    places = rng.uniform(-0.3, 0.3, (100, 3))
    scene.clamp(rod, "start", lambda t: (places[int(24 * t) % 100], np.eye(3)))
    sim = Simulation(scene, substeps=1, integrator=integrator, threads=1)
    for _ in range(5):
        frame = sim.step_frame()
        x = frame.positions(rod)
        assert np.isfinite(x).all()
        assert np.linalg.norm(np.diff(x, axis=0), axis=1).sum() <= sim.blocks[0].fits[0].length.sum() * (1.0 + 1e-9)


def test_bad_input_is_refused() -> None:
    ring = np.array([[np.cos(a), np.sin(a), 0.0] for a in np.linspace(0.0, 6.0, 12)])
    scene = Scene()
    scene.add(Rod.from_points(ring, radius=0.01, material=RUBBER, closed=True), "clothoid")
    with pytest.raises(TendrilError, match="closed"):
        Simulation(scene)
    scene = Scene()
    scene.pin(scene.add(rope(line(5)), "clothoid"), "end")
    with pytest.raises(TendrilError, match="where"):
        Simulation(scene)
    for bad in (0, 65, 2.5, "many"):
        with pytest.raises(TendrilError, match="elements"):
            Scene().add(rope(line(5)), "clothoid", elements=bad)
    with pytest.raises(TendrilError, match="elements"):
        Scene().add(rope(line(5)), "der", elements=3)
    with pytest.raises(TendrilError, match="degree"):
        Elements(3, degree=2)
    with pytest.raises(TendrilError, match="tolerance"):
        Elements(tolerance=0.0)
    scene = Scene()
    scene.add(rope(line(5)), "clothoid")
    with pytest.raises(TendrilError, match="integrator"):
        Simulation(scene, integrator="midpoint")
    sim = Simulation(scene)
    for options in ({"length": -1.0}, {"curvature": (1.0, 2.0)}, {}):
        with pytest.raises(TendrilError):
            sim.blocks[0].grow(0, **options)


def test_a_flat_section_bends_where_it_is_thin() -> None:
    """A ribbon's frames stay rotations; the tangent at its end is that of the stiffness given."""
    scene = weightless()
    ribbon = plain_rod(line(20), made_of(bend=(50.0, 1.0)), director=(0.0, 1.0, 0.0))
    rod = scene.add(ribbon, "clothoid", elements=2)
    scene.clamp(rod, "start")
    scene.load(rod, "end", (0.0, 0.0, -0.1))
    sim = settled(precise(scene))
    tip = sim.current().positions(rod)[-1]
    assert -tip[2] == pytest.approx(0.1 / 3.0, rel=2e-3)
    frames = sim.blocks[0].frames()
    assert np.einsum("nki,nkj->nij", frames, frames) == pytest.approx(
        np.tile(np.eye(3), (len(frames), 1, 1)), abs=1e-12
    )
    assert frames[:, 1, 1] == pytest.approx(np.ones(len(frames)), abs=1e-9)


@pytest.mark.parametrize("degree", [0, 1])
def test_velocities_are_those_of_the_unknowns(degree: int) -> None:
    """By series of their own, and by how each unknown moves the points: the same, with a root that moves and turns."""
    scene = Scene()
    rod = scene.add(rope(helix(20, turns=2.0)), "clothoid", elements=Elements(3, degree=degree))

    def path(t: float) -> tuple[tuple[float, float, float], np.ndarray]:
        c, s = np.cos(9.0 * t), np.sin(9.0 * t)
        return (t, 0.0, t * t), np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])

    scene.clamp(rod, "start", path)
    sim = Simulation(scene, 100.0, substeps=1, integrator="semi-implicit euler", threads=1)
    for _ in range(4):
        sim.step_frame()
    block = sim.blocks[0]
    moved = np.empty_like(block.velocities())
    before = block.velocities().copy()
    block.point_velocities(block.arrays.state.rate, moved)
    assert np.abs(before[-1] - before[0]).max() > 0.5
    assert moved == pytest.approx(before, abs=1e-10 * np.abs(before).max())


def test_between_vertices_there_are_points_only_where_something_can_touch() -> None:
    counts = []
    for contact in (False, True):
        scene = Scene(rod_contact=contact)
        scene.add(rope(helix(20, turns=3.0), 1e-3), "clothoid", elements=3)
        counts.append(len(Simulation(scene, threads=1).blocks[0].positions()))
    assert counts[0] == 21 < counts[1]


@pytest.mark.parametrize(("integrator", "rate"), [("tr-bdf2", 400), ("semi-implicit euler", 1000)])
def test_a_root_that_is_shaken_and_turned_moves_it_as_it_moves_discrete_rods(integrator: str, rate: int) -> None:
    """The root's velocity and acceleration are all that moves the rod here: it hangs from nothing else."""

    def path(t: float) -> tuple[tuple[float, float, float], np.ndarray]:
        angle = 0.5 * (1.0 - np.cos(8.0 * t))
        c, s = np.cos(angle), np.sin(angle)
        return (0.0, 0.0, 0.05 * (1.0 - np.cos(10.0 * t))), np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])

    places = {}
    for model, scheme, steps in (("der", "tr-bdf2", 400), ("clothoid", integrator, rate)):
        scene = weightless()
        rod = scene.add(rope(line(60), 1e-2), model, elements=6 if model == "clothoid" else None)
        scene.clamp(rod, "start", path)
        sim = Simulation(scene, steps, substeps=1, integrator=scheme, threads=1)
        for _ in range(round(0.3 * steps)):
            frame = sim.step_frame()
        places[model] = frame.positions(rod)
    assert np.ptp(places["der"][:, 2]) > 0.05
    assert places["clothoid"] == pytest.approx(places["der"], abs=0.01)
