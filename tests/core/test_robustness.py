"""Nothing raises while stepping, and nothing is ever NaN: absurd rods, holds that jump and flip, steps that can't converge."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_rods import circle, helix, line
from tendril.core import Frame, Material, Rod, Scene, Simulation
from tendril.core.describe.rotations import rotation_about

pytestmark = pytest.mark.filterwarnings("error")  # of numpy: overflows and the like

INTEGRATORS = ["tr-bdf2", "sdirk2", "backward euler", "midpoint"]


def sizes(low: float, high: float) -> st.SearchStrategy[float]:
    """Spread evenly over the orders of magnitude."""
    return st.floats(math.log(low), math.log(high)).map(lambda x: min(max(math.exp(x), low), high))


@dataclass
class Case:
    """A scene of one rod with all that makes it hard; `size` is its length in metres."""

    seed: int
    vertices: int
    closed: bool
    size: float
    thickness: float
    material: str
    shape: str
    stretch: float  # natural length by drawn length
    speed: float  # lengths per second
    twist: float
    hold: str
    jump: float  # of the hold, in lengths
    turn: float
    spin: float
    air: bool
    integrator: str

    def points(self, rng: np.random.Generator) -> np.ndarray:
        n = self.vertices
        if self.closed:
            points = circle(n)
        elif self.shape == "zigzag":
            points = line(n - 1)
            points[1::2, 1] = 20.0 / n
        elif self.shape == "coil":
            points = helix(n - 1, turns=n / 6.0, radius=0.2, rise=0.1)
        else:
            points = line(n - 1)
        points = points + 0.02 / n * rng.standard_normal(points.shape)
        edges = np.roll(points, -1, axis=0) - points if self.closed else np.diff(points, axis=0)
        return points * (self.size / np.linalg.norm(edges, axis=1).sum())

    def rod(self) -> Rod:
        rng = np.random.default_rng(self.seed)
        points = self.points(rng)
        rest: str | np.ndarray = "straight" if self.shape == "straightens" else "as drawn"
        if self.shape != "straightens" and self.stretch != 1.0:
            rest = points * self.stretch
        radius = min(max(self.thickness * self.size, 1e-8), 1e4)
        options = {"closed": self.closed, "rest": rest, "twist": self.twist}
        return Rod.from_points(points, radius, Material.preset(self.material), **options)

    def scene(self) -> Scene:
        rng = np.random.default_rng(self.seed + 1)
        scene = Scene(air_density=1.2 if self.air else 0.0, wind=(0.0, 3.0 * self.size, 0.0))
        rod = self.rod()
        scene.add(rod, velocity=self.speed * self.size * rng.standard_normal(rod.points.shape))
        towards, axis = rng.standard_normal(3), rng.standard_normal(3)
        axis /= np.linalg.norm(axis)

        def later(t: float) -> float:
            return 1.0 if t > 1.5 / 24.0 else 0.0

        def place(vertex: int):
            return lambda t: rod.points[vertex] + self.jump * self.size * later(t) * towards

        def turn(t: float) -> np.ndarray:
            return rotation_about(axis, np.array(self.turn * later(t)))

        def spin(t: float) -> float:
            return self.spin * later(t)

        if self.hold == "pins":
            scene.pin(0, "start", place(0))
            scene.pin(0, "end", lambda t: rod.points[-1])
        elif self.hold == "clamp":
            scene.clamp(0, 0, lambda t: (place(0)(t), turn(t)), spin)
        elif self.hold == "orient":
            scene.orient(0, self.vertices // 2, turn, spin)
        elif self.hold == "edge":
            middle = 0.5 * (rod.points[0] + rod.points[1])
            scene.clamp_edge(0, 0, lambda t: (middle + place(0)(t) - rod.points[0], turn(t)), spin)
        elif self.hold == "all pinned":
            scene.pin(0, range(self.vertices))
        return scene

    def simulation(self) -> Simulation:
        return Simulation(self.scene(), integrator=self.integrator, substeps=1, threads=1)


cases = st.builds(
    Case,
    seed=st.integers(0, 10**6),
    vertices=st.integers(3, 7),
    closed=st.booleans(),
    size=sizes(1.1e-6, 9e3),
    thickness=sizes(1e-4, 0.2),
    material=st.sampled_from(Material.presets()),
    shape=st.sampled_from(["line", "zigzag", "coil", "straightens"]),
    stretch=st.sampled_from([1.0, 0.95, 1.001, 0.2, 30.0, 1e-2]),
    speed=st.sampled_from([0.0, 1.0, 50.0]),
    twist=st.sampled_from([0.0, 1.0, 300.0]),
    hold=st.sampled_from(["none", "pins", "clamp", "orient", "edge", "all pinned"]),
    jump=st.sampled_from([0.0, 0.5, 30.0]),
    turn=st.sampled_from([0.0, 2.0, math.pi]),
    spin=st.sampled_from([0.0, 10.0, -500.0]),
    air=st.booleans(),
    integrator=st.sampled_from(INTEGRATORS),
).filter(lambda case: 1e-6 < case.size * case.stretch < 1e4)


def check(frame: Frame) -> None:
    report, energies = frame.report, frame.report.energies
    for values in (frame.positions(0), frame.velocities(0), frame.directors(0)):
        assert np.isfinite(values).all()
    assert np.linalg.norm(frame.directors(0), axis=1) == pytest.approx(np.ones(len(frame.directors(0))), abs=1e-9)
    assert all(math.isfinite(value) for value in vars(energies).values()), energies
    assert min(energies.kinetic, energies.stretch, energies.bend, energies.twist) >= 0.0
    counts = (report.iterations, report.halvings, report.fallbacks, report.failures)
    assert all(isinstance(count, int) and count >= 0 for count in counts)
    assert math.isfinite(report.residual)
    assert report.converged == (report.failures == 0)
    assert report.failures == 0 or report.halvings > 0  # none is given up that was not halved before


def throw(case: Case) -> None:
    sim = case.simulation()
    for frame in sim.frames(1, 3):  # on the way to the third, holds jump
        check(frame)
    # From a saved state it goes on in the same way.
    again = case.simulation()
    again.restore(sim.state(), 3)
    frame, same = sim.step_frame(), again.step_frame()
    check(frame)
    assert np.array_equal(frame.positions(0), same.positions(0))
    # Problems of a scene's functions are told once per simulation, so again by the second one.
    assert replace(frame.report, problems=()) == replace(same.report, problems=())


@settings(max_examples=40, deadline=None)
@given(cases)
def test_whatever_is_thrown_at_it(case: Case) -> None:
    throw(case)


@pytest.mark.long
@settings(max_examples=1500, deadline=None)
@given(cases)
def test_whatever_is_thrown_at_it_for_long(case: Case) -> None:
    throw(case)


@settings(max_examples=20, deadline=None)
@given(cases)
def test_settling_whatever_it_is(case: Case) -> None:
    sim = case.simulation()
    sim.settle(most_steps=10)
    check(sim.current())
    check(sim.step_frame())


def rubber_rod() -> Rod:
    return Rod.from_points(line(10), 5e-3, Material.preset("rubber"))


def after_a_while(t: float) -> float:
    """Nothing in the first frame, all at once in the second."""
    return 1.0 if t > 1.5 / 24.0 else 0.0


@pytest.mark.parametrize(("integrator", "schemes"), [("backward euler", 1), ("sdirk2", 2), ("midpoint", 3)])
def test_what_can_not_converge_is_halved_given_up_and_told(integrator: str, schemes: int) -> None:
    """With a tolerance that nothing can meet: a step is tried by all simpler integrators, too, and halved eight times."""
    scene = Scene()
    scene.add(rubber_rod(), velocity=(0.0, 1.0, 0.0))
    scene.pin(0, "start", lambda t: (0.0, 0.0, t))
    sim = Simulation(scene, substeps=1, integrator=integrator, tolerance=1e-300)
    frame = sim.step_frame()
    check(frame)
    report = frame.report
    assert not report.converged
    assert (report.failures, report.halvings) == (256, 255)
    kept = (
        3 if integrator == "midpoint" else 0
    )  # attempts of TR-BDF2, its fall-back, that are halved before they fall back
    assert report.fallbacks == (256 + 255) * (schemes - 1) - kept
    assert np.array_equal(frame.velocities(0), np.zeros((11, 3)))  # it loses its speed
    assert frame.positions(0)[0] == pytest.approx([0.0, 0.0, 1.0 / 24.0], abs=1e-15)  # what is held goes on
    # From there, one with a usual tolerance goes on as if nothing had been.
    better = Simulation(scene, integrator=integrator)
    better.restore(sim.state(), sim.frame)
    for _ in range(3):
        frame = better.step_frame()
        check(frame)
        assert frame.report.converged
        assert frame.report.halvings == 0
    assert frame.velocities(0)[-1, 2] < -1.0  # it falls


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_clamp_that_jumps_and_flips_is_a_hard_step_and_then_all_is_well(integrator: str) -> None:
    """Five lengths and half a turn in one step, which only shorter steps or simpler integrators can take."""

    def path(t: float) -> tuple[np.ndarray, np.ndarray]:
        way = after_a_while(t)
        return np.array([5.0 * way, way, 0.0]), rotation_about(np.array([0.0, 1.0, 0.0]), np.array(math.pi * way))

    scene = Scene(drag=2.0)
    scene.add(rubber_rod())
    scene.clamp(0, "start", path)
    sim = Simulation(scene, substeps=1, integrator=integrator)
    trouble = 0
    for frame in sim.frames(2, 12):
        check(frame)
        assert np.array_equal(frame.positions(0)[0], path(frame.time)[0])
        trouble += frame.report.halvings + frame.report.fallbacks
    assert trouble > 0
    for frame in sim.frames(13, 13 + 24 * 6):
        check(frame)
        assert frame.report.converged
    if integrator != "midpoint":  # which lets it whip about for long
        assert frame.report.halvings + frame.report.fallbacks == 0
        assert frame.report.energies.kinetic < 1e-3
    lengths = np.linalg.norm(np.diff(frame.positions(0), axis=0), axis=1)
    assert lengths == pytest.approx(np.full(10, 0.1), rel=0.5)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("way", [-30.0, 30.0])
def test_a_pin_that_jumps_by_many_lengths(integrator: str, way: float) -> None:
    """Away from the rod, or through it: it is there at once, and the rod comes after it."""
    scene = Scene(drag=2.0)
    scene.add(rubber_rod())
    scene.pin(0, "start", lambda t: (way * after_a_while(t), 0.0, 0.0))
    sim = Simulation(scene, substeps=1, integrator=integrator)
    for frame in sim.frames(2, 24 * 5):
        check(frame)
        assert np.array_equal(frame.positions(0)[0], [way * after_a_while(frame.time), 0.0, 0.0])
    assert np.linalg.norm(frame.positions(0) - [way, 0.0, 0.0], axis=1).max() < 2.0


@pytest.mark.parametrize("squeezed", [3.0, 10.0, 30.0])
def test_a_rod_squeezed_beyond_reason_gets_out_of_it(squeezed: float) -> None:
    """A steel ring drawn at a fraction of its natural size: no step is short enough to follow it, but it must not freeze."""
    drawn = circle(7, 1e-3) + 2e-6 * np.random.default_rng(3).standard_normal((7, 3))
    scene = Scene()
    steel = Material.preset("steel cable")
    scene.add(Rod.from_points(drawn, 2e-6, steel, closed=True, rest=drawn * squeezed))
    sim = Simulation(scene, substeps=1)
    start = sim.energies().elastic
    for _ in range(3):
        frame = sim.step_frame()
        check(frame)
    assert frame.report.energies.elastic < 1e-3 * start


@pytest.mark.parametrize("twist", [30.0, 100.0, 300.0])
def test_a_ring_wound_up_beyond_reason_unwinds(twist: float) -> None:
    """A ring of spring steel with many turns in it: no step is short enough, but it must not freeze as it is."""
    drawn = circle(8, 0.02) + 1e-5 * np.random.default_rng(3).standard_normal((8, 3))
    scene = Scene()
    scene.add(Rod.from_points(drawn, 1e-3, Material.preset("spring steel"), closed=True, twist=twist))
    sim = Simulation(scene, substeps=1)
    start = sim.energies().elastic
    for _ in range(3):
        frame = sim.step_frame()
        check(frame)
    assert frame.report.energies.elastic < 0.1 * start
    assert frame.report.failures < 10


def test_trouble_of_one_rod_is_its_own() -> None:
    """Beside a rod that cannot be stepped, another falls as it does alone."""
    alone, together = Scene(), Scene()
    for scene in (alone, together):
        scene.add(rubber_rod())
    together.add(rubber_rod())
    together.clamp(1, "start", lambda t: ((50.0 * math.sin(1e4 * t), 0.0, 0.0), np.eye(3)))
    sims = [Simulation(scene, substeps=1) for scene in (alone, together)]
    for _ in range(4):
        one, both = (sim.step_frame() for sim in sims)
        assert np.array_equal(one.positions(0), both.positions(0))
    assert both.report.iterations > 2 * one.report.iterations
