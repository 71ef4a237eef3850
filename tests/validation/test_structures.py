"""Statics in space: a curved cantilever bent out of its plane, and rigidly joined beams against linear finite elements."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from beam_frame import displacements
from tendril.core import Net, Rod, Stiffness

from .cases import Case
from .mechanics_cases import mechanics_runs
from .rods import mesh, precise, settled, stiffness, weightless


@pytest.mark.parametrize(("case", "model"), mechanics_runs("bend of 45 degrees"))
def test_bend(case: Case, model: str) -> None:
    """The benchmark of Bathe and Bolourchi (1979), without stretching and shear."""
    p = case.parameters

    def measure(level: int) -> dict[str, float]:
        segments, options = mesh(model, level)
        angle = np.linspace(0.0, p["angle"], segments + 1)
        points = p["radius"] * np.stack([1.0 - np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
        made_of = Stiffness(1e11, p["bend"], p["bend"], p["twist"], mass_per_length=1.0, inertia_per_length=1.0)
        scene = weightless()
        scene.add(Rod.from_points(points, 0.5, stiffness=made_of), model, **options)
        scene.clamp(0, "start")
        scene.load(0, "end", (0.0, 0.0, p["load"]))
        return dict(zip("xyz", settled(precise(scene)).current().positions(0)[-1], strict=True))

    case.check(model, measure)


class Frame(NamedTuple):
    """Joints, beams between them, supports, the loaded joint, and the joints whose deflections are compared."""

    joints: np.ndarray
    beams: list[tuple[int, int]]
    pinned: list[int]
    clamped: list[int]
    loaded: int
    seen: list[int]


def grillage() -> Frame:
    """Three beams in each direction, all ends pinned."""
    places = [(i, j) for i in range(5) for j in range(5) if i % 4 or j % 4]
    number = {place: k for k, place in enumerate(places)}
    beams = []
    for i in (1, 2, 3):
        for j in range(4):
            beams += [(number[i, j], number[i, j + 1]), (number[j, i], number[j + 1, i])]
    ends = [number[place] for place in places if place[0] % 4 == 0 or place[1] % 4 == 0]
    seen = [number[place] for place in ((1, 1), (2, 1), (2, 2), (3, 3))]
    return Frame(np.array([(i, j, 0.0) for i, j in places]), beams, ends, [], number[2, 1], seen)


def tee() -> Frame:
    """A stem clamped at its foot with two arms at its head; a load on one arm twists and bends the stem."""
    joints = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, -0.5, 0.0), (1.0, 0.75, 0.0)])
    return Frame(joints, [(0, 1), (1, 2), (1, 3)], [], [0], 3, [1, 2, 3])


def divided(frame: Frame, segments: int) -> tuple[np.ndarray, np.ndarray]:
    """Points (joints first) and edges of a net with this many segments per beam."""
    points, edges = [*frame.joints], []
    for first, second in frame.beams:
        ends = frame.joints[first], frame.joints[second]
        between = [len(points) + k for k in range(segments - 1)]
        points += [ends[0] + (ends[1] - ends[0]) * k / segments for k in range(1, segments)]
        way = [first, *between, second]
        edges += list(pairwise(way))
    return np.array(points), np.array(edges)


@pytest.mark.parametrize(("case", "model"), mechanics_runs("grillage", "T-junction"))
def test_frames(case: Case, model: str) -> None:
    """The load is small, so that the deflections are linear in it."""
    p = case.parameters
    frame = grillage() if "grillage" in case.name else tee()
    load = (0.0, 0.0, -p["load"])
    exact = displacements(
        frame.joints,
        frame.beams,
        p["stretch"],
        p["bend"],
        p["twist"],
        frame.pinned,
        frame.clamped,
        {frame.loaded: load},
    )[frame.seen, 2]

    def measure(segments: int) -> dict[str, float]:
        made_of = stiffness(p["stretch"], p["bend"], p["twist"], inertia=1e-3)
        scene = weightless()
        net = scene.add(Net.from_edges(*divided(frame, segments), 1e-3, stiffness=made_of), model)
        if frame.pinned:
            scene.pin(net, frame.pinned)
        for joint in frame.clamped:
            scene.clamp(net, joint)
        scene.load(net, frame.loaded, load)
        found = settled(precise(scene), stable=False).current().positions(net)[frame.seen, 2]
        return {"error": math.hypot(*(found / exact - 1.0)) / math.sqrt(len(exact))}

    case.check(model, measure)


def test_beams_of_the_reference() -> None:
    """A straight cantilever of three beams in any direction bends by P L3 / 3 EI and, with an arm, twists by M L / GJ."""
    along, aside = np.array([2.0, 1.0, -2.0]) / 3.0, np.array([1.0, 2.0, 2.0]) / 3.0
    up = np.cross(along, aside)
    joints = np.array([part * along for part in (0.0, 0.2, 0.7, 1.0)] + [along + 0.5 * aside])
    beams = [(0, 1), (1, 2), (2, 3), (3, 4)]
    found = displacements(joints, beams, 1e9, 2.0, 0.5, [], [0], {4: 1e-3 * up})
    assert found[3, :3] @ up == pytest.approx(1e-3 / (3.0 * 2.0), rel=1e-6)
    assert found[3, 3:] @ along == pytest.approx(1e-3 * 0.5 / 0.5, rel=1e-6)
    assert found[4, :3] @ up == pytest.approx(1e-3 * (1.0 / 6.0 + 0.5 * 0.5 / 0.5 + 0.5**3 / 6.0), rel=1e-6)
