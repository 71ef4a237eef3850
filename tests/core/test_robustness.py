"""Nothing raises while stepping, and nothing is ever NaN: absurd rods, holds that jump and flip, steps that can't converge."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_rods import circle, helix, line
from tendril.core import Frame, Material, Rod, Scene, Simulation
from tendril.core.geometry.rotations import rotation_about

pytestmark = pytest.mark.filterwarnings("error")  # of numpy: overflows and the like

INTEGRATORS = ["sdirk2", "backward euler", "midpoint"]


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
    substeps: int

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
        return Simulation(self.scene(), integrator=self.integrator, substeps=self.substeps, threads=1)


cases = st.builds(
    Case,
    seed=st.integers(0, 10**6),
    vertices=st.integers(3, 12),
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
    substeps=st.sampled_from([1, 4]),
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


@settings(max_examples=150, deadline=None)
@given(cases)
def test_whatever_is_thrown_at_it(case: Case) -> None:
    sim = case.simulation()
    for frame in sim.frames(1, 4):
        check(frame)
    # From a saved state it goes on in the same way.
    state = sim.state()
    frames = [sim.step_frame() for _ in range(2)]
    again = case.simulation()
    again.restore(state, 4)
    for frame in frames:
        check(frame)
        same = again.step_frame()
        assert np.array_equal(frame.positions(0), same.positions(0))
        assert frame.report == same.report


@settings(max_examples=30, deadline=None)
@given(cases)
def test_settling_whatever_it_is(case: Case) -> None:
    sim = case.simulation()
    sim.settle(most_steps=20)
    check(sim.current())
    check(sim.step_frame())
