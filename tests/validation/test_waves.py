"""Frequencies of a free ring and of a hanging chain; speeds of axial and torsional waves. All from runs with small amplitudes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tendril.core import Frame, Scene

from . import theory
from .cases import Case
from .mechanics_cases import RING_WAVES, mechanics_runs
from .oscillation import frequency, part_of_mode
from .rods import circle, line, mesh, rod, stiffness, weightless

AMPLITUDE = 1e-3
THIN = 1e-7  # inertia of sections about the tangent, so small that rotary inertia does not count


def ends_halved(segments: int) -> np.ndarray:
    """Mass of the vertices of a line of mass 1."""
    mass = np.full(segments + 1, 1.0 / segments)
    mass[[0, -1]] *= 0.5
    return mass


@pytest.mark.parametrize(("case", "model"), mechanics_runs("free ring"))
def test_ring(case: Case, model: str) -> None:
    p = case.parameters

    def measure(segments: int) -> dict[str, float]:
        points = circle(segments)
        outwards, along = points, np.stack([-points[:, 1], points[:, 0], points[:, 2]], axis=1)
        angle = 2.0 * math.pi * np.arange(segments) / segments
        found = {}
        for waves in RING_WAVES:
            # To first order no segment changes its length.
            mode = np.cos(waves * angle)[:, None] * outwards - np.sin(waves * angle)[:, None] / waves * along
            expected = theory.ring_frequency(waves)
            scene = weightless()
            ring = rod(points, stiffness(stretch=p["stretch"], inertia=THIN), closed=True)
            scene.add(ring, model, velocity=AMPLITUDE * expected * mode)

            def reading(frame: Frame, mode: np.ndarray = mode) -> float:
                return part_of_mode(frame, 0, points, mode, np.ones(segments))

            found[f"{waves} waves"] = frequency(scene, reading, expected, p["steps"])
        return found

    case.check(model, measure)


@pytest.mark.parametrize(("case", "model"), mechanics_runs("hanging chain"))
def test_hanging_chain(case: Case, model: str) -> None:
    p = case.parameters
    stretch, bend = p["stretch"], p["bend"]

    def measure(level: int) -> dict[str, float]:
        segments, options = mesh(model, level)
        depth, mass = np.linspace(0.0, 1.0, segments + 1), ends_halved(segments)
        rest, points = np.zeros((2, segments + 1, 3))
        rest[:, 2] = -depth
        # The chain starts stretched by its own weight; otherwise the tension would start at zero and oscillate.
        below = np.cumsum(mass[::-1])[::-1][1:]
        points[1:, 2] = -np.cumsum((1.0 + below / stretch) / segments)
        found = {}
        for name, expected in case.expected.items():
            mode = np.zeros((segments + 1, 3))
            mode[:, 0] = theory.chain_mode(expected, depth)
            made_of = stiffness(stretch=stretch, bend=bend, twist=bend, inertia=max(THIN, 10.0 * bend))
            scene = Scene(gravity=(0.0, 0.0, -1.0))
            scene.add(rod(points, made_of, rest=rest), model, velocity=AMPLITUDE * expected * mode, **options)
            scene.pin(0, "start")

            def reading(frame: Frame, mode: np.ndarray = mode) -> float:
                return part_of_mode(frame, 0, points, mode, mass)

            found[name] = frequency(scene, reading, expected, p["steps"])
        return found

    case.check(model, measure)


# Lowest mode of a rod that is clamped at one end and free at the other: a quarter of a wave over its length.
QUARTER = 0.5 * math.pi


@pytest.mark.parametrize(("case", "model"), mechanics_runs("axial wave"))
def test_axial_wave(case: Case, model: str) -> None:
    p = case.parameters

    def measure(segments: int) -> dict[str, float]:
        points, mode = line(segments), np.zeros((segments + 1, 3))
        mode[:, 0] = np.sin(QUARTER * points[:, 0])
        expected = QUARTER * case.expected["speed"]
        scene = weightless()
        made_of = stiffness(stretch=p["stiffness"], inertia=p["inertia"])
        scene.add(rod(points, made_of), model, velocity=AMPLITUDE * expected * mode)
        scene.clamp(0, "start")

        def reading(frame: Frame) -> float:
            return part_of_mode(frame, 0, points, mode, ends_halved(segments))

        return {"speed": frequency(scene, reading, expected, p["steps"]) / QUARTER}

    case.check(model, measure)


@pytest.mark.parametrize(("case", "model"), mechanics_runs("torsional wave"))
def test_torsional_wave(case: Case, model: str) -> None:
    """The rod starts with a uniform twist; the reading is the projection of its motion onto the lowest mode."""
    p = case.parameters

    def measure(level: int) -> dict[str, float]:
        segments, options = mesh(model, level)
        points = line(segments)
        mode = np.sin(QUARTER * 0.5 * (points[1:, 0] + points[:-1, 0]))
        made_of = stiffness(stretch=1e3, twist=p["stiffness"], inertia=p["inertia"])
        scene = weightless()
        scene.add(rod(points, made_of, director=(0.0, 0.0, 1.0), twist=0.1), model, **options)
        scene.clamp(0, "start")

        def reading(frame: Frame) -> float:
            d = frame.directors(0)
            return float(np.arctan2(-d[:, 1], d[:, 2]) @ mode / (mode @ mode))

        return {"speed": frequency(scene, reading, QUARTER * case.expected["speed"], p["steps"]) / QUARTER}

    case.check(model, measure)
