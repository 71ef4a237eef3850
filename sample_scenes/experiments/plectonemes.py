"""Plectonemes: a hanging rod whose ends are rotated winds about itself (Bergou et al. 2008, Fig. 9).

As in the paper, a naturally straight rod hangs as a parabola between its ends, which keep their positions and are rotated.
Rotated slowly, it forms one plectoneme that hangs from its middle. Rotated quickly in a viscous fluid, where twist has no time to
spread, it forms several.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from ...core import Material, Rod, Scene, Simulation
from ...core.errors import Array
from ...core.run.simulation import Frame
from .outcome import BLUE, RED, Camera, Moment, Number, Outcome, Plot, Series, Tube
from .strands import ClampedLink, partners, resampled, self_gaps

LENGTH, SPAN, RADIUS = 1.2, 0.6, 0.005  # m
RUBBER = Material(young_modulus=1e6, density=1100.0, poisson_ratio=0.49, damping_time=0.02)
FRAMES = 24  # per second
BUCKLED = 1.0  # turns of writhe at which the first loop has closed
TOUCH = 0.02  # radii, gap of surfaces in contact


class Protocol(NamedTuple):
    """Rotation of the ends, and surroundings."""

    segments: int
    turns: float
    rate: float  # turns per second
    gravity: float  # m/s2
    drag: float  # 1/s
    seconds: float


SLOW = Protocol(segments=200, turns=18.0, rate=2.0, gravity=9.81, drag=2.0, seconds=10.0)
QUICK = Protocol(segments=300, turns=50.0, rate=200.0, gravity=0.0, drag=1500.0, seconds=2.0)
DRAWN = (2.0, 4.5, 5.0, 6.0, 10.0)  # s, of the slow run
DRAWN_QUICK = (0.25, 0.75, 2.0)


def hanging(segments: int) -> Rod:
    x = np.linspace(-1.0, 1.0, 4001)

    def parabola(sag: float) -> Array:
        return np.stack([0.5 * SPAN * x, np.zeros_like(x), sag * (x**2 - 1.0)], axis=1)

    def too_long(sag: float) -> float:
        return float(np.linalg.norm(np.diff(parabola(sag), axis=0), axis=1).sum()) - LENGTH

    sag = brentq(too_long, 0.01, LENGTH)
    return Rod.from_points(resampled(parabola(sag), segments), RADIUS, RUBBER, rest="straight")


class History(NamedTuple):
    """Measurements of a run, per frame."""

    rod: Rod
    frames: list[Frame]
    turns: Array  # rotation applied so far
    twist: Array
    writhe: Array
    gap: Array  # radii: smallest

    def at(self, time: float) -> Frame:
        return self.frames[round(time * FRAMES)]


def twisted(course: Protocol) -> History:
    rod = hanging(course.segments)

    def angle(time: float) -> float:
        """Rotation of each end, rad: half of the turns."""
        return math.pi * min(course.rate * time, course.turns)

    scene = Scene(gravity=(0.0, 0.0, -course.gravity), drag=course.drag, rod_contact=True)
    scene.add(rod, friction=0.0)
    scene.clamp(0, "start", spin=lambda time: -angle(time))
    scene.clamp(0, "end", spin=angle)
    frames = list(Simulation(scene, frame_rate=FRAMES, substeps=12).frames(1, 1 + round(course.seconds * FRAMES)))
    link = ClampedLink(frames[0].positions(0), frames[0].directors(0))
    held = [angle(frame.time) for frame in frames]
    both = [link.of(f.positions(0), f.directors(0), (-a, a)) for f, a in zip(frames, held, strict=True)]
    gaps = [self_gaps(frame.positions(0), RADIUS).min() / RADIUS for frame in frames]
    twist, writhe = np.array(both).T
    return History(rod, frames, np.array(held) / math.pi, twist, writhe, np.array(gaps))


def plectonemes(points: Array) -> list[int]:
    """Number of touching edges of each plectoneme. Contact partners of one plectoneme have the same midpoint, its tip."""
    pairs = partners(points, RADIUS, TOUCH * RADIUS)
    if not len(pairs):
        return []
    tips = np.sort(pairs.mean(axis=1))
    groups = np.split(pairs[np.argsort(pairs.mean(axis=1))], np.flatnonzero(np.diff(tips) > 0.1 * len(points)) + 1)
    return [len(np.unique(group)) for group in groups]


def run() -> Outcome:
    slow, quick = twisted(SLOW), twisted(QUICK)
    lost = max(float(np.abs(s.twist + s.writhe - s.turns - s.writhe[0]).max()) for s in (slow, quick))
    buckled = slow.writhe > BUCKLED
    before = int(np.argmax(slow.twist[: int(np.argmax(buckled))])) if buckled.any() else len(buckled) - 1
    soon = min(before + FRAMES, len(buckled) - 1)
    one, many = plectonemes(slow.frames[-1].positions(0)), plectonemes(quick.frames[-1].positions(0))
    failures = sum(frame.report.failures for s in (slow, quick) for frame in s.frames)
    numbers = [
        Number.between("writhe before it buckles", slow.writhe[before], 0.0, 0.5, "turns"),
        Number.between("writhe a second later", slow.writhe[soon], 3.0, math.inf, "turns"),
        Number.between(
            "twist then, of that before", slow.twist[soon] / slow.twist[before], 0.0, 0.9, says="twist became writhe"
        ),
        Number.equal("plectonemes of the one turned slowly", len(one), 1),
        Number.between("its edges that touch, of 200", sum(one), 60, math.inf),
        Number.between("plectonemes of the one turned quickly", len(many), 2, math.inf, says="one or many"),
        Number.between(
            "twist + writhe beyond what was put in", lost, -math.inf, 1e-9, "turns", "nothing passes through"
        ),
        Number.between("deepest overlap", -min(s.gap.min() for s in (slow, quick)), -math.inf, 0.02, "radii"),
        Number.equal("steps given up", failures, 0),
    ]
    moments = [
        Moment(f"{slow.turns[round(t * FRAMES)]:g} turns, {t:g} s", [Tube.of(slow.at(t), 0, slow.rod)]) for t in DRAWN
    ]
    moments += [
        Moment(
            f"{QUICK.turns:g} turns in {QUICK.turns / QUICK.rate:g} s: {t:g} s", [Tube.of(quick.at(t), 0, quick.rod)]
        )
        for t in DRAWN_QUICK
    ]

    def exchange(title: str, history: History) -> Plot:
        times = [frame.time for frame in history.frames]
        return Plot(
            title,
            "time (s)",
            "turns",
            [
                Series(times, history.twist, "twist", "-", BLUE),
                Series(times, history.writhe, "writhe", "-", RED),
                Series(times, history.twist + history.writhe, "sum", "--", "#7a828e"),
            ],
        )

    plots = [exchange("Turned slowly", slow), exchange("Turned quickly in a viscous fluid", quick)]
    caption = (
        f"A slack rod of rubber, {LENGTH:g} m over a span of {SPAN:g} m, radius {1e3 * RADIUS:g} mm. Turned {SLOW.turns:g} times "
        f"at {SLOW.rate:g} a second it winds into one plectoneme, turned {QUICK.turns:g} times at {QUICK.rate:g} a second in a "
        "viscous fluid into several."
    )
    return Outcome(numbers, moments, plots, Camera((0.3, -1.0, 0.15)), caption=caption)
