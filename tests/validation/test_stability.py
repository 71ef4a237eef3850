"""Where straight rods and rings lose their stability, from the lowest frequency of small vibrations about them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from small_vibrations import critical, squared_frequencies
from tendril.core import Scene, Simulation

from .cases import Case, runs
from .rods import STIFF, circle, line, rod, stiffness, weightless

GYRATION = 1e-2  # inertia about the tangent: of no account for where a frequency vanishes, but good for round-off


def loaded_straight_rod(model: str, segments: int, ends: str, tension: float, moment: float = 0.0) -> Scene:
    """In equilibrium, stable or not: stretched by its tension, twisted evenly by its moment."""
    made_of = stiffness(twist=0.7, inertia=GYRATION)
    twist = moment / made_of.twist
    straight = rod(line(segments, 1.0 + tension / STIFF), made_of, rest=line(segments), twist=twist)
    scene = weightless()
    beam = scene.add(straight, model)
    # Holding the loaded end along the rod changes nothing here: to first order buckling does not move it.
    if ends == "pinned":
        scene.pin(beam, (0, segments))
        return scene
    scene.clamp(beam, "start")
    if ends == "clamped":
        scene.clamp(beam, "end")
    else:
        scene.load(beam, "end", (tension, 0.0, 0.0))
    return scene


def twisted_ring(model: str, segments: int, twist_to_bend: float, twist: float, uneven: float = 0.0) -> Scene:
    """A naturally straight rod bent to a ring of radius 1; `uneven` lifts it out of its plane, in the mode that grows first."""
    points = circle(segments)
    points[:, 2] = uneven * (2.0 * points[:, 0] ** 2 - 1.0)
    made_of = stiffness(stretch=1e5, twist=twist_to_bend, inertia=GYRATION)
    scene = weightless()
    scene.add(rod(points, made_of, closed=True, rest="straight", twist=twist), model)
    return scene


@pytest.mark.parametrize(("case", "model"), runs("critical load"))
def test_critical_load(case: Case, model: str) -> None:
    load, ends = case.expected["load"], case.parameters["ends"]

    def measure(segments: int) -> dict[str, float]:
        return {
            "load": critical(lambda p: loaded_straight_rod(model, segments, ends, -p), 0.9 * load, 1.1 * load),
        }

    case.check(model, measure)


@pytest.mark.parametrize(("case", "model"), runs("twisted rod"))
def test_critical_torque(case: Case, model: str) -> None:
    moment, tension = case.expected["moment"], case.parameters["tension"]

    def measure(segments: int) -> dict[str, float]:
        return {
            "moment": critical(
                lambda m: loaded_straight_rod(model, segments, "clamped", tension, m), 0.9 * moment, 1.1 * moment
            ),
        }

    case.check(model, measure)


@pytest.mark.parametrize(("case", "model"), runs("twisted ring"))
def test_critical_twist(case: Case, model: str) -> None:
    twist, ratio = case.expected["twist"], case.parameters["twist_to_bend"]

    def measure(segments: int) -> dict[str, float]:
        return {"twist": critical(lambda a: twisted_ring(model, segments, ratio, a), 0.9 * twist, 1.1 * twist)}

    case.check(model, measure)


@pytest.mark.parametrize(("case", "model"), runs("twisted ring"))
@pytest.mark.parametrize(("part", "stays"), [(0.98, True), (1.05, False)])
def test_ring_in_motion(case: Case, model: str, part: float, stays: bool) -> None:
    """A ring that is not quite flat swings about its plane below the critical twist and leaves it for good above."""
    uneven = 1e-4
    scene = twisted_ring(model, 60, case.parameters["twist_to_bend"], part * case.expected["twist"], uneven)
    sim = Simulation(scene, frame_rate=12.0, substeps=2, threads=1)
    heights = [np.abs(frame.positions(0)[:, 2]).max() for frame in sim.frames(1, 12 * 20)]
    if stays:
        assert max(heights) < 3.0 * uneven
    else:
        assert max(heights) > 1000.0 * uneven


@pytest.mark.parametrize(("case", "model"), runs("twisted rod, no tension", "twisted ring, GJ/EI = 1"))
def test_twist_of_either_hand_does_the_same(case: Case, model: str) -> None:
    def lowest(hand: float) -> float:
        if case.number == 5:
            scene = twisted_ring(model, 40, 1.0, hand * case.expected["twist"])
        else:
            scene = loaded_straight_rod(model, 40, "clamped", 0.0, hand * case.expected["moment"])
        return squared_frequencies(scene)[0]

    assert math.isclose(lowest(1.0), lowest(-1.0), rel_tol=1e-4)


def test_a_state_out_of_equilibrium_is_refused() -> None:
    """The helper must not give frequencies where there is no equilibrium."""
    scene = loaded_straight_rod("der", 20, "cantilever", -1.0)
    scene.load(0, 10, (0.0, 1.0, 0.0))
    with pytest.raises(AssertionError, match="not in equilibrium"):
        squared_frequencies(scene)
