"""The model `compact`: what it keeps exactly, what it refuses, its coupled step, and how it meets rods of another model."""

from __future__ import annotations

import numpy as np
import pytest
from compact_probe import random_rod
from plain_rods import circle, fitted_order, helix, line, made_of, plain_rod, weightless
from tendril.core import Material, Rod, Scene, Simulation, TendrilError
from tendril.core.describe.shapes import Plane, Sphere
from tendril.core.models.protocol import FreeSteps, Pushes

RUBBER = Material(young_modulus=1e6, density=1000.0)


def lengths(x: np.ndarray, closed: bool = False) -> np.ndarray:
    return np.linalg.norm(np.roll(x, -1, axis=0) - x if closed else np.diff(x, axis=0), axis=1)


# What it keeps.


@pytest.mark.parametrize("closed", [False, True])
def test_lengths_and_holds_are_kept(closed: bool) -> None:
    """Lengths to round-off, whatever pulls on it: both ends held and moved, a frame turned, a load, or a ring held in two
    places."""
    scene = Scene()
    points = circle(16, 0.2) if closed else helix(20)
    rod = plain_rod(points, made_of(bend=(0.02, 0.03), twist=0.02), closed=closed)
    scene.add(rod, "compact")
    path = lambda t: points[8] + np.array([0.05 * np.sin(3.0 * t), 0.1 * t, 0.02])  # noqa: E731
    scene.clamp(0, 0, spin=lambda t: 4.0 * t)
    scene.pin(0, 8, path)
    scene.load(0, 12, (1.0, 2.0, 0.0))
    for frame in Simulation(scene, threads=1).frames(2, 24):
        assert frame.report.failures == 0
        x = frame.positions(0)
        assert lengths(x, closed) == pytest.approx(rod.rest_lengths, rel=1e-12)
        assert np.abs(x[8] - path(frame.time)).max() < 1e-10
        assert np.array_equal(x[0], points[0])


def test_many_vertices_may_be_held() -> None:
    scene = Scene()
    points = helix(30)
    scene.add(plain_rod(points, made_of(bend=0.02, twist=0.02)), "compact")
    scene.pin(0, (3, 4, 10, 17, 29))
    *_, frame = Simulation(scene, threads=1).frames(2, 24)
    assert frame.report.failures == 0
    assert np.abs(frame.positions(0)[[3, 4, 10, 17, 29]] - points[[3, 4, 10, 17, 29]]).max() < 1e-12


def test_it_slides_along_a_line() -> None:
    scene = Scene()
    scene.add(plain_rod(line(20), made_of(bend=0.01, twist=0.01)), "compact")
    scene.pin(0, "start")
    scene.slide(0, "end", (2.0, 0.0, 0.0))
    ends = np.array([frame.positions(0)[-1] for frame in Simulation(scene, threads=1).frames(1, 24)])
    assert np.abs(ends[:, 1:]).max() < 1e-12
    assert ends[:, 0].max() <= 1.0 + 1e-12
    assert ends[:, 0].min() < 0.9


def test_a_hold_out_of_reach_draws_it_taut() -> None:
    """It points there, no step is given up nor takes long; and when the hold comes back, it is met again."""
    scene = Scene()
    scene.add(plain_rod(line(20), made_of(bend=0.01, twist=0.01)), "compact")
    scene.pin(0, "start")
    scene.pin(0, "end", lambda t: (1.0 + 0.2 * np.sin(6.0 * t), 0.0, 0.0))
    for frame in Simulation(scene, threads=1).frames(2, 40):
        x = frame.positions(0)
        assert frame.report.failures == 0
        assert frame.report.iterations < 400  # of four steps with two stages each
        assert lengths(x) == pytest.approx(np.full(20, 0.05), rel=1e-12)
        away = 1.0 + 0.2 * np.sin(6.0 * frame.time)
        if away < 0.99:
            assert x[-1, 0] == pytest.approx(away, abs=1e-6)
        elif away > 1.05:
            assert x[-1, 0] == pytest.approx(1.0, abs=2e-4)


def test_a_free_rod_keeps_spinning() -> None:
    scene = weightless()
    scene.add(plain_rod(line(8), made_of(inertia=0.1)), "compact")
    sim = Simulation(scene, threads=1)
    b = sim.blocks[0].arrays
    b.state.v[:-1, 3:] = (50.0, 0.0, 0.0)
    energy = sim.energies().kinetic
    *_, frame = sim.frames(2, 24)
    assert frame.report.energies.kinetic == pytest.approx(energy, rel=1e-9)
    assert b.state.v[:-1, 3] == pytest.approx(np.full(8, 50.0), rel=1e-9)


def swung(substeps: int, integrator: str) -> np.ndarray:
    scene = Scene(gravity=(0.0, 0.0, -1.0))
    x = line(12)
    velocity = np.stack([0.0 * x[:, 0], 0.3 * x[:, 0], 0.5 * np.sin(3.0 * x[:, 0])], axis=1)
    scene.add(plain_rod(x, made_of(bend=0.02, twist=0.02)), "compact", velocity=velocity)
    scene.pin(0, "start")
    *_, frame = Simulation(scene, integrator=integrator, substeps=substeps, tolerance=1e-10, threads=1).frames(2, 13)
    return frame.positions(0)


@pytest.mark.parametrize(("integrator", "low", "high"), [("tr-bdf2", 1.7, 2.3), ("backward euler", 0.9, 1.2)])
def test_the_order_of_its_steps(integrator: str, low: float, high: float) -> None:
    exact = swung(512, "tr-bdf2")
    counts = (8, 16, 32, 64)
    errors = [float(np.abs(swung(count, integrator) - exact).max()) for count in counts]
    assert low < fitted_order(counts, errors) < high, errors


@pytest.mark.parametrize("solver", ["hybrid", "block diagonal", "diagonal"])
def test_every_solver_takes_the_same_steps(solver: str) -> None:
    def run(name: str) -> np.ndarray:
        scene = Scene()
        scene.clamp(scene.add(plain_rod(helix(30), made_of(bend=0.05, twist=0.05)), "compact"), "start")
        sim = Simulation(scene, tolerance=1e-9, threads=1)
        sim.blocks[0].solver = name
        *_, frame = sim.frames(2, 6)
        return frame.positions(0)

    assert run(solver) == pytest.approx(run("elimination"), abs=1e-7)


def test_the_same_bits_for_any_number_of_threads_and_after_a_restart() -> None:
    def make(threads: int) -> Simulation:
        scene = Scene()
        for k in range(40):
            scene.add(random_rod(k, 24, k % 3 == 0, False), "compact")
        return Simulation(scene, threads=threads)

    one, two = make(1), make(3)
    for _ in range(3):
        one.step_frame()
        two.step_frame()
    assert np.array_equal(one.state(), two.state())
    again = make(2)
    again.restore(one.state(), one.frame)
    assert np.array_equal(one.step_frame().positions(7), again.step_frame().positions(7))
    assert np.array_equal(one.state(), again.state())


# What it refuses.


def test_what_it_refuses_is_said_in_one_sentence() -> None:
    def refused(make) -> str:
        with pytest.raises(TendrilError) as error:
            make()
        return str(error.value)

    def simulate(rod: Rod, *pins: int, **options) -> Simulation:
        scene = Scene()
        scene.add(rod, "compact")
        if pins:
            scene.pin(0, pins)
        return Simulation(scene, **options)

    assert "held vertices 0 and 4" in refused(lambda: simulate(plain_rod(1.1 * line(4), rest=line(4)), 0, 4))
    assert "held vertices 1 and 2" in refused(lambda: simulate(plain_rod(0.9 * line(4), rest=line(4)), 1, 2))
    assert "midpoint" in refused(lambda: simulate(plain_rod(line(4)), integrator="midpoint"))
    scene = Scene()
    scene.add(plain_rod(line(4)))
    assert "compact" in refused(lambda: scene.slide(0, "end", (1, 0, 0)))
    scene.add(plain_rod(line(4)), "compact")
    assert "along" in refused(lambda: scene.slide(1, "end", (0, 0, 0)))


# The coupled step.


def begun(closed: bool, pinned: tuple[int, ...] = ()) -> tuple:
    scene = Scene()
    rod = Rod.from_points(circle(12) if closed else helix(12), 0.02, RUBBER, closed=closed)
    scene.add(rod, "compact")
    if pinned:
        scene.pin(0, pinned)
    sim = Simulation(scene, integrator="backward euler", tolerance=1e-11, threads=1)
    block = sim.blocks[0]
    n = rod.vertex_count
    forces = np.zeros((n, 3))
    block.weight(scene.gravity, forces)
    block.save(np.array([0]))
    block.free_steps(FreeSteps(0.01, 1, forces, np.zeros(3), 0.0, np.zeros(1), skip=np.array([True])))
    block.begin(np.array([0]), 0.01, 0.0)
    return block, forces, n


def no_pushes(n: int) -> Pushes:
    return Pushes(np.zeros((n, 4)), np.zeros((n, 28)), np.zeros(n, dtype=bool))


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("pinned", [(), (0,), (0, 5)])
def test_a_coupled_step_without_pushes_is_backward_euler(closed: bool, pinned: tuple[int, ...]) -> None:
    coupled, forces, n = begun(closed, pinned)
    free, _, _ = begun(closed, pinned)
    free.rollback(np.array([0]))
    free.free_steps(FreeSteps(0.01, 1, forces, np.zeros(3), 0.0, np.zeros(1)))
    chosen, longest = np.array([0]), np.ones(1)
    for _ in range(30):
        coupled.linearise(chosen, no_pushes(n), np.zeros(1))
        coupled.measure_steps(chosen, longest, np.zeros(1))
        coupled.move(chosen)
        if longest[0] < 1e-12:
            break
    assert longest[0] < 1e-12
    coupled.finish(chosen)
    assert np.abs(free.positions() - coupled.positions()).max() < 1e-10
    assert np.abs(free.velocities() - coupled.velocities()).max() < 1e-7


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("pinned", [(), (0,), (5,)])
def test_mobility_is_the_response_to_a_force(closed: bool, pinned: tuple[int, ...]) -> None:
    block, _, n = begun(closed, pinned)
    chosen, mobility, moved = np.array([0]), np.zeros((n, 6)), np.zeros((n, 4))
    block.estimate_mobility(chosen, mobility)
    block.linearise(chosen, no_pushes(n), np.zeros(1))
    for vertex in (0, 4, 5, n - 1):
        for c, entry in ((0, 0), (1, 2), (2, 5)):
            push = np.zeros((n, 4))
            push[vertex, c] = 1.0
            x = np.zeros_like(block.step_vector())
            block.generalized_pushes(np.array([0]), push, x)
            block.solve_linearised(chosen, x)
            block.sample_steps(np.array([0]), x, moved)
            scale = np.abs(mobility).max()
            assert moved[vertex, c] == pytest.approx(mobility[vertex, entry], abs=1e-9 * scale)


@pytest.mark.parametrize("closed", [False, True])
def test_the_stiffness_of_pushes_is_part_of_the_matrix(closed: bool) -> None:
    """A^-1 with stiffness K of an edge against A^-1 without, by Woodbury's formula."""
    block, _, n = begun(closed)
    chosen = np.array([0])
    rng = np.random.default_rng(1)
    root = rng.standard_normal((7, 7))
    k = 50.0 * root @ root.T
    edge = 4
    places = [*range(4 * edge, 4 * edge + 4), *range(4 * edge + 4, 4 * edge + 7)]

    def inverse(pushes: Pushes) -> np.ndarray:
        block.linearise(chosen, pushes, np.zeros(1))
        columns = np.zeros((4 * n, 4 * n))
        for column in range(4 * n):
            push = np.zeros((n, 4))
            push.flat[column] = 1.0
            x, out = np.zeros_like(block.step_vector()), np.zeros((n, 4))
            block.generalized_pushes(np.array([0]), push, x)
            block.solve_linearised(chosen, x)
            block.sample_steps(np.array([0]), x, out)
            columns[:, column] = out.ravel()
        return columns

    soft = inverse(no_pushes(n))
    pushes = no_pushes(n)
    pushes.stiffness[edge] = k[np.tril_indices(7)]
    pushes.touched[edge] = True
    stiff = inverse(pushes)
    part = soft[np.ix_(places, places)]
    expected = soft - soft[:, places] @ np.linalg.solve(np.linalg.inv(k) + part, soft[places])
    assert stiff == pytest.approx(expected, abs=1e-8 * np.abs(soft).max())


# Contact.


def stick(axis: int, height: float) -> np.ndarray:
    points = np.zeros((11, 3))
    points[:, axis] = np.linspace(-0.25, 0.25, 11)
    points[:, 2] = height
    return points


@pytest.mark.parametrize("models", [("compact", "compact"), ("compact", "der"), ("der", "compact")])
def test_rods_of_any_model_meet(models: tuple[str, str]) -> None:
    """One falls on another that lies on the ground: it ends up above it, on it, at rest."""
    scene = Scene(rod_contact=True, drag=1.0)
    scene.add(Rod.from_points(stick(0, 0.01), 0.01, RUBBER), models[0], friction=0.5)
    scene.add(Rod.from_points(stick(1, 0.06), 0.01, RUBBER), models[1], friction=0.5)
    scene.collide(Plane(), friction=0.5)
    sim = Simulation(scene, threads=1)
    for frame in sim.frames(2, 36):
        assert frame.report.failures == 0
    lower, upper = frame.positions(0), frame.positions(1)
    assert upper[5, 2] - lower[5, 2] == pytest.approx(0.02, abs=2e-4)
    assert min(lower[:, 2].min(), upper[:, 2].min()) > 0.01 - 1e-4
    assert max(np.abs(frame.velocities(k)).max() for k in (0, 1)) < 0.02


def test_a_rod_lies_on_a_sphere() -> None:
    scene = Scene(rod_contact=True)
    scene.add(Rod.from_points(stick(0, 0.115), 0.01, RUBBER, damping_time=0.02), "compact", friction=0.5)
    scene.collide(Sphere(0.1), friction=0.5)
    for frame in Simulation(scene, threads=1).frames(2, 72):
        assert frame.report.failures == 0
        assert np.linalg.norm(frame.positions(0), axis=1).min() > 0.11 - 1e-4
    assert np.abs(frame.velocities(0)).max() < 0.01  # of 1 m/s at most: it comes to rest
    assert lengths(frame.positions(0)) == pytest.approx(np.full(10, 0.05), rel=1e-12)
