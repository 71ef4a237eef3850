"""Plectoneme: the helix angle of a rod that is wound about itself, held by a tension and a twisting moment."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tendril.core import Rod, Scene, Simulation, Stiffness
from tendril.sample_scenes.experiments.strands import resampled

from . import theory
from .cases import Case
from .mechanics_cases import mechanics_runs

TURNS = 3.0
CORNER, TAIL = 3.0, 15.0  # in radii: of the bends into the tails, and as far as these reach
LOOSE = 1.04  # helix radius at the start, in radii: no overlap of straight segments
# 1/s and number of frames: overdamped to smooth the drawn shape, then free to find its balance.
DRAG = ((1e5, 3), (20.0, 30))
FRAME_RATE = 100.0


def wound(radius: float, angle: float) -> np.ndarray:
    """A fine curve: in along x, down around the z axis as a helix, around an open loop, up as the other helix and out along x."""
    height = TURNS * 2.0 * math.pi * radius / math.tan(angle)
    z = np.linspace(0.0, -height, 2000)
    around = -z * math.tan(angle) / radius
    away = LOOSE * radius
    strand = np.stack([-away * np.cos(around), -away * np.sin(around), z], axis=1)
    bend, quarter = CORNER * radius, np.linspace(0.0, 0.5 * math.pi, 200)
    corner = np.stack([bend * (np.sin(quarter) - 1.0) - away, 0.0 * quarter, bend * np.cos(quarter)], axis=1)
    half = np.vstack([[(-TAIL * radius, 0.0, bend)], corner[:-1], strand])
    other = (half * [-1.0, -1.0, 1.0])[::-1]
    out = np.array([strand[-1, 0], strand[-1, 1], 0.0]) / away
    controls = np.array(
        [half[-1], half[-1] + bend * (3.0 * out - [0, 0, 4]), other[0] - bend * (3.0 * out + [0, 0, 4]), other[0]]
    )
    s = np.linspace(0.0, 1.0, 400)[1:-1, None]
    weights = np.hstack([(1.0 - s) ** 3, 3.0 * s * (1.0 - s) ** 2, 3.0 * s**2 * (1.0 - s), s**3])
    return np.vstack([half, weights @ controls, other])


def helix_angle(x: np.ndarray, radius: float) -> float:
    """Mean angle between the edges of a strand and the axis of the double helix, over the middle half of the contact zone. By
    symmetry the axis runs half way between vertices at equal distances from the two ends."""
    half = len(x) // 2
    axis = 0.5 * (x[:half] + x[::-1][:half])
    apart = np.linalg.norm(x[:half] - axis, axis=1)
    edges, along = np.diff(x[:half], axis=0), np.diff(axis, axis=0)
    touching = np.flatnonzero(apart[1:] < 1.1 * radius)
    middle = touching[len(touching) // 4 : 3 * len(touching) // 4]
    cosine = np.einsum("ij,ij->i", edges, along) / (np.linalg.norm(edges, axis=1) * np.linalg.norm(along, axis=1))
    return float(np.arccos(cosine[middle]).mean())


@pytest.mark.parametrize(("case", "model"), mechanics_runs("plectoneme"))
def test_plectoneme(case: Case, model: str) -> None:
    """One end is clamped; the other is pulled and kept from turning, so the wound length adapts until it balances the tension. The
    twist at the start is that of the expected moment."""
    p = case.parameters
    expected = theory.plectoneme(p["angle"])

    def measure(per_turn: int) -> dict[str, float]:
        curve = wound(p["radius"], p["angle"])
        length = float(np.linalg.norm(np.diff(curve, axis=0), axis=1).sum())
        segments = 2 * round(0.5 * length * per_turn * math.sin(p["angle"]) / (2.0 * math.pi * p["radius"]))
        points = resampled(curve, segments)
        for _ in range(2):  # smooth the corners between pieces of the curve
            points[1:-1] = 0.25 * points[:-2] + 0.5 * points[1:-1] + 0.25 * points[2:]
        made_of = Stiffness(1e7, p["bend"], p["bend"], p["twist"], mass_per_length=1.0, inertia_per_length=1e-4)
        twist = expected.moment * p["bend"] / p["radius"] / p["twist"] * length
        scene = Scene(gravity=(0.0, 0.0, 0.0), rod_contact=True)
        rod = Rod.from_points(points, p["radius"], stiffness=made_of, rest="straight", twist=twist)
        scene.add(rod, model, friction=0.0)
        scene.clamp(0, "start")
        scene.orient(0, "end")
        scene.load(0, "end", (expected.tension * p["bend"] / p["radius"] ** 2, 0.0, 0.0))
        sim = Simulation(scene, FRAME_RATE, substeps=1, threads=1)
        for drag, frames in DRAG:
            sim.surround(drag=drag)
            for _ in range(frames):
                assert sim.step_frame().report.failures == 0
        assert np.abs(sim.current().velocities(0)).max() < p["radius"]  # at rest
        return {"angle": helix_angle(sim.current().positions(0), p["radius"])}

    case.check(model, measure)


def test_the_drawn_helix_has_its_angle() -> None:
    drawn = resampled(wound(0.01, math.radians(25.0)), 2000)
    loosened = math.atan(LOOSE * math.tan(math.radians(25.0)))
    assert helix_angle(drawn, 0.01) == pytest.approx(loosened, rel=1e-4)
