"""Michell's instability: a ring of a naturally straight rod, closed with twist, buckles out of its plane if the twist is too
large.

As in Bergou et al. 2008, Fig. 8, almost flat rings are released for many twisting stiffnesses and twists: below the threshold
2 pi sqrt(3) EI/GJ they oscillate about their plane, above they leave it. For three of the stiffnesses the threshold is bracketed.
Two models are tested.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core import Rod, Scene, Simulation, Stiffness
from ...core.maths.geometry.linking import total_twist, writhe
from .outcome import BLUE, RED, Camera, Moment, Number, Outcome, Plot, Series, Tube

SEGMENTS = 100
MAP_SEGMENTS = 50  # of the rings in the map, as in the paper
MODELS = {"der2008": "as published", "der": "implicit"}
PERTURBATION = 1e-3  # m, initial perturbation out of the plane; the radius of the ring is 1 m
BUCKLED = 4.0  # factor by which the perturbation must grow to count as buckled
SECONDS = 20.0
FRAMES = 8  # per second
STIFFNESSES = tuple(np.round(np.arange(0.4, 2.01, 0.1), 1).tolist())  # GJ, N m2; EI is 1
BRACKETED = (0.5, 1.0, 2.0)  # stiffnesses whose threshold is bracketed to a tenth of a per cent
TWISTS = tuple(np.arange(2.0, 30.1, 2.0).tolist())  # rad
NEAR = 0.02  # relative distance to the threshold within which rings are not judged
DRAWN = (4.0, 6.0, 6.5, 6.75)  # s; soon after the last the ring would touch itself
TURNS = 2.0  # of the drawn ring; an integer, so that its stripes close


def threshold(twist_stiffness: float) -> float:
    return 2.0 * math.pi * math.sqrt(3.0) / twist_stiffness


def ring(twist_stiffness: float, twist: float, segments: int = SEGMENTS) -> Rod:
    angle = 2.0 * math.pi * np.arange(segments) / segments
    points = np.stack([np.cos(angle), np.sin(angle), PERTURBATION * np.cos(2.0 * angle)], axis=1)
    stiffness = Stiffness(1e5, 1.0, 1.0, twist_stiffness, mass_per_length=1.0, inertia_per_length=1e-2)
    return Rod.from_points(points, radius=0.05, stiffness=stiffness, closed=True, rest="straight", twist=twist)


def simulation(one: Rod, model: str = "der") -> Simulation:
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    scene.add(one, model)
    return Simulation(scene, frame_rate=FRAMES, substeps=2)


def leaves(one: Rod, model: str = "der") -> bool:
    """Whether the ring leaves its plane within the simulated time."""
    frames = simulation(one, model).frames(1, 1 + round(SECONDS * FRAMES))
    return any(np.abs(frame.positions(0)[:, 2]).max() > BUCKLED * PERTURBATION for frame in frames)


class StabilityMap(NamedTuple):
    """Stability map of a model: which rings left their plane."""

    cases: list[tuple[float, float]]  # GJ/EI and twist
    gone: NDArray[np.bool_]
    judged: NDArray[np.bool_]  # whether the ring is far enough from the threshold to be judged

    @property
    def right(self) -> int:
        """Number of judged rings that agree with the formula."""
        expected = np.array([twist > threshold(stiffness) for stiffness, twist in self.cases])
        return int(((self.gone == expected) & self.judged).sum())


def stability_map(model: str, stiffnesses: Sequence[float], twists: Sequence[float]) -> StabilityMap:
    cases = [(stiffness, twist) for stiffness in stiffnesses for twist in twists]
    gone = np.array([leaves(ring(*case, MAP_SEGMENTS), model) for case in cases])
    judged = np.array([abs(twist / threshold(stiffness) - 1.0) > NEAR for stiffness, twist in cases])
    return StabilityMap(cases, gone, judged)


def critical_twist(twist_stiffness: float) -> float:
    """Smallest twist with which a ring leaves its plane, to a tenth of a per cent."""
    low, high = 0.8 * threshold(twist_stiffness), 1.2 * threshold(twist_stiffness)
    while high - low > 1e-3 * high:
        middle = 0.5 * (low + high)
        if leaves(ring(twist_stiffness, middle)):
            high = middle
        else:
            low = middle
    return 0.5 * (low + high)


def run() -> Outcome:
    maps = {model: stability_map(model, STIFFNESSES, TWISTS) for model in MODELS}
    critical = {stiffness: critical_twist(stiffness) for stiffness in BRACKETED}

    buckling = ring(1.0, 2.0 * math.pi * TURNS)
    times, twists, writhes, moments = [], [], [], []
    for frame in simulation(buckling).frames(1, 1 + round(max(DRAWN) * FRAMES)):
        times.append(frame.time)
        twists.append(total_twist(frame.positions(0), frame.directors(0)))
        writhes.append(writhe(frame.positions(0)))
        if frame.time in DRAWN:
            moments.append(Moment(f"{frame.time:g} s", [Tube.of(frame, 0, buckling)]))

    numbers = [
        *(
            Number.equal(
                f"rings that do as the formula says, {model}",
                found.right,
                int(found.judged.sum()),
                says=f"all but {int((~found.judged).sum())} within {100.0 * NEAR:g} % of it",
            )
            for model, found in maps.items()
        ),
        *(
            Number.near(f"critical twist, GJ/EI = {k:g}", value, threshold(k), 0.01, "rad", "2π√3 EI/GJ")
            for k, value in critical.items()
        ),
        Number.between("writhe in the last picture", writhes[-1], 0.5, 1.0, "turns", "it is nearly a figure eight"),
        Number.near("twist + writhe there", twists[-1] + writhes[-1], TURNS, 1e-6, "turns", "no motion changes it"),
    ]
    domains = [_domain(model, found) for model, found in maps.items()]
    exchange = Plot(
        f"{TURNS:g} turns, β/α = 1",
        "time (s)",
        "turns",
        [
            Series(times, twists, "twist", "-", BLUE),
            Series(times, writhes, "writhe", "-", RED),
            Series(times, np.add(twists, writhes), "sum", "--", "#7a828e"),
        ],
    )
    caption = (
        "A ring with internal twist: above a critical value the circular shape buckles out of its plane. Each dot is a simulation, "
        f"n = {MAP_SEGMENTS}, α = 1, begun from a slightly perturbed circle of radius 1: blue where the perturbation stays "
        "small, red where it grows; the curve is the theoretical threshold."
    )
    return Outcome(numbers, moments, [*domains, exchange], Camera((0.35, -1.0, 0.7)), caption=caption)


def _domain(model: str, found: StabilityMap) -> Plot:
    stiffnesses = np.linspace(0.37, 2.05, 100)
    kinds = [
        np.array([case for case, left in zip(found.cases, found.gone, strict=True) if left == which])
        for which in (False, True)
    ]
    return Plot(
        f"Stable rings, {model} ({MODELS[model]})",
        "β / α",
        "twist (rad)",
        [
            Series(stiffnesses, [threshold(k) for k in stiffnesses], "2π√3 α/β", "-", "#2b2f36"),
            Series(kinds[0][:, 0], kinds[0][:, 1], "stable", "o", BLUE),
            Series(kinds[1][:, 0], kinds[1][:, 1], "unstable", "o", RED),
        ],
    )
