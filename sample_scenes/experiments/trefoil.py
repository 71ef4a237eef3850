"""Instability of knots: a knotted rod whose ends are rotated changes its shape smoothly, then jumps (Bergou et al. 2008, Fig. 1).

As in the paper, a trefoil is tied into a naturally straight rod between two clamps. Untwisted, it rests as a large loop, two
tails, and a braid where they meet. The ends are then rotated in either direction: the knot jumps both times, after different
numbers of turns and to different shapes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq

from ...core import Material, Rod, Scene, Simulation
from ...core.errors import Array
from ...core.maths.geometry.knots import TREFOIL, alexander_polynomial
from ...core.run.simulation import Frame
from .outcome import BLUE, RED, Camera, Moment, Number, Outcome, Plot, Series, Tube
from .strands import ClampedLink, resampled, self_gaps

SEGMENTS, LENGTH, RADIUS = 200, 1.0, 0.004  # m
SPAN = 0.6  # distance of the clamps relative to the length
SILICONE = Material(young_modulus=1e6, density=1100.0, poisson_ratio=0.49, damping_time=0.01)
FRAMES = 24  # per second
REST = 3.0  # s before the ends are rotated
RATE, TURNS = 0.5, 8.0  # turns per second; total turns
SECONDS = REST + TURNS / RATE + 1.0
JUMP = 0.05  # turns of writhe per frame: more than twice the applied rotation
ENDS = ((-1.0, 0.0, 0.0), (1.0, 0.0, 0.0))  # directions of the tails


def knotted() -> Rod:
    """A polynomial knot with straight tails."""
    t = np.linspace(-2.0, 2.0, 15)
    knot = np.stack([t**3 - 3.0 * t, 0.3 * (t**5 - 10.0 * t), 0.75 * (4.0 * t**2 - t**4)], axis=1)

    def drawn(tail: float) -> Array:
        k = np.linspace(4.5, 4.5 + tail, 8)
        right = np.stack([k, np.zeros(8), np.zeros(8)], axis=1)
        corners = np.vstack([-right[::-1], knot, right])
        along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(corners, axis=0), axis=1))])
        return np.asarray(CubicSpline(along, corners)(np.linspace(0.0, along[-1], 4001)))

    def length(points: Array) -> float:
        return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())

    def too_wide(tail: float) -> float:
        points = drawn(tail)
        return float(points[-1, 0] - points[0, 0]) / length(points) - SPAN

    points = drawn(brentq(too_wide, 0.5, 100.0))
    return Rod.from_points(resampled(points * (LENGTH / length(points)), SEGMENTS), RADIUS, SILICONE, rest="straight")


class History(NamedTuple):
    """Measurements of a run, per frame."""

    rod: Rod
    frames: list[Frame]
    turns: Array  # magnitude of the rotation applied so far
    twist: Array
    writhe: Array
    gap: Array  # radii: smallest, after the initial overlaps of the polynomial knot have been resolved
    trefoil: Array  # whether the rod is a trefoil
    jump: int  # the frame before the first jump; -1: none


def twisted(way: float, model: str) -> History:
    rod = knotted()

    def angle(time: float) -> float:
        """Rotation of each end, rad: half of the turns."""
        return way * math.pi * min(max(RATE * (time - REST), 0.0), TURNS)

    scene = Scene(gravity=(0.0, 0.0, 0.0), drag=5.0, rod_contact=True)
    scene.add(rod, model, friction=0.0)
    scene.clamp(0, "start", spin=lambda time: -angle(time))
    scene.clamp(0, "end", spin=angle)
    frames = list(Simulation(scene, frame_rate=FRAMES).frames(1, 1 + round(SECONDS * FRAMES)))
    link = ClampedLink(frames[0].positions(0), frames[0].directors(0))
    held = [angle(frame.time) for frame in frames]
    both = [link.of(f.positions(0), f.directors(0), (-a, a)) for f, a in zip(frames, held, strict=True)]
    twist, writhe = np.array(both).T
    rest = round(REST * FRAMES)
    jumps = np.flatnonzero(np.abs(np.diff(writhe[rest:])) > JUMP) + rest
    return History(
        rod,
        frames,
        np.abs(held) / math.pi,
        twist,
        writhe,
        np.array([self_gaps(frame.positions(0), RADIUS).min() / RADIUS for frame in frames[rest:]]),
        np.array([alexander_polynomial(frame.positions(0), False, ends=ENDS) == TREFOIL for frame in frames]),
        int(jumps[0]) if len(jumps) else -1,
    )


def away(frame: Frame) -> float:
    """Largest distance of the knot from the line between the clamps, relative to the length."""
    return float(np.linalg.norm(frame.positions(0)[:, 1:], axis=1).max()) / LENGTH


def run(model: str = "der") -> Outcome:
    more, less = twisted(1.0, model), twisted(-1.0, model)
    rest = round(REST * FRAMES)
    numbers = []
    for name, history in (("with the knot", more), ("against it", less)):
        jump_at = float(history.turns[history.jump]) if history.jump >= 0 else math.nan
        earlier = history.jump - round(0.5 / RATE * FRAMES)
        smooth = abs(history.writhe[earlier] - history.writhe[rest])
        jumped = abs(history.writhe[history.jump + FRAMES // 2] - history.writhe[history.jump])
        numbers += [
            Number.between(f"turned {name}: turns when it jumps", jump_at, 0.5, TURNS),
            Number.between(f"turned {name}: writhe changed until half a turn before", smooth, 0.0, 0.3, "turns"),
            Number.between(f"turned {name}: writhe changes within half a second", jumped, 0.5, math.inf, "turns"),
        ]
    later = less.turns[less.jump] - more.turns[more.jump]
    lost = max(
        float(np.abs(s.twist + s.writhe - way * s.turns - s.twist[0] - s.writhe[0]).max())
        for s, way in ((more, 1.0), (less, -1.0))
    )
    frames = [frame for history in (more, less) for frame in history.frames]
    numbers += [
        Number.between("more turns against it than with it", later, 1.0, math.inf, says="one way is not the other"),
        Number.between("stands out in the end, turned with it", away(more.frames[-1]), 0.0, 0.06, "lengths"),
        Number.between("stands out in the end, turned against it", away(less.frames[-1]), 0.08, 1.0, "lengths"),
        Number.equal("frames in which it is a trefoil", int(more.trefoil.sum() + less.trefoil.sum()), len(frames)),
        Number.between(
            "twist + writhe beyond what was put in", lost, -math.inf, 1e-9, "turns", "nothing passes through"
        ),
        Number.between("deepest overlap", -min(more.gap.min(), less.gap.min()), -math.inf, 0.02, "radii"),
        Number.equal("steps given up", sum(frame.report.failures for frame in frames), 0),
    ]

    def moment(history: History, frame: int, sign: str) -> Moment:
        turns = f"{sign}{history.turns[frame]:.1f} turns" if history.turns[frame] else "no twist"
        return Moment(turns, [Tube.of(history.frames[frame], 0, history.rod)])

    moments = [
        moment(history, frame, sign)
        for history, sign in ((more, "+"), (less, "−"))
        for frame in (rest, history.jump - FRAMES // 4, history.jump + FRAMES // 2, len(history.frames) - 1)
    ]
    series = [
        Series(history.turns[rest:], history.writhe[rest:], name, "-", colour)
        for history, name, colour in ((more, "with the knot", BLUE), (less, "against it", RED))
    ]
    plot = Plot("Smooth changes and jumps", "turns", "writhe (turns)", series)
    caption = (
        f"A knotted rod of {LENGTH:g} m, radius {1e3 * RADIUS:g} mm, {SEGMENTS} segments, E = {SILICONE.young_modulus:g} Pa. Its "
        f"ends are turned {TURNS:g} times at {RATE:g} a second, one way and the other: it deforms smoothly, then jumps."
    )
    return Outcome(
        numbers, moments, [plot], Camera((0.2, -1.0, 0.4), centre=(0.0, 0.0, 0.035), height=0.24), caption=caption
    )
