"""Asymmetry of twist: in a naturally curved rod with a non-circular section, twist does not spread evenly (Bergou et al. 2008,
Fig. 5).

One rod is naturally V-shaped, another a half circle; their section is flat. One end is held, the other rotated slowly about its
tangent. Where the rod is curved, twist can pass only if the section bends about its stiff axis: so twist stays on the side of the
rotated end, and only a large amount jumps over the kink of the V.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...core import Rod, Scene, Simulation, Stiffness
from ...core.errors import Array
from ...core.run.simulation import Frame
from .outcome import BLUE, GREEN, ORANGE, RED, Camera, Moment, Number, Outcome, Plot, Series, Tube

VERTICES = 49
LENGTH = 2.0  # m
FLAT = Stiffness(1e5, 20.0, 4.0, 1.0, mass_per_length=1.0, inertia_per_length=1e-3)
HALF_AXES = (0.02, 0.05)  # m, as drawn
OPENING = math.radians(50.0)  # between the arms of the V and its axis
DRAG = 20.0  # 1/s
RATE = 0.5  # turns per second
TURNS = 4.0
FRAMES = 48  # per second
MODEL = "der2008"


def v_shape() -> Array:
    arm = 0.5 * LENGTH * np.array([math.sin(OPENING), 0.0, math.cos(OPENING)])
    s = np.linspace(-1.0, 1.0, VERTICES)
    return np.stack([arm[0] * s, 0.0 * s, arm[2] * np.abs(s)], axis=1)


def half_circle() -> Array:
    angle = np.linspace(-0.5 * math.pi, 0.5 * math.pi, VERTICES)
    radius = LENGTH / math.pi
    return radius * np.stack([np.sin(angle), 0.0 * angle, -np.cos(angle)], axis=1)


class History(NamedTuple):
    rod: Rod
    frames: list[Frame]
    angle: Array  # rad, rotation of the end per frame
    twist: Array  # (frames, inner vertices) rad

    def share(self, k: int) -> float:
        """Part of the twist of frame k that is on the side of the rotated end."""
        half = self.twist.shape[1] // 2
        return float(self.twist[k, half + 1 :].sum() / self.twist[k].sum())

    def at(self, turns: float) -> int:
        return int(np.argmin(np.abs(self.angle - 2.0 * math.pi * turns)))


def turned(points: Array, model: str = MODEL, turns: float = TURNS) -> History:
    rod = Rod.from_points(points, 0.02, stiffness=FLAT, director=(0.0, 1.0, 0.0))
    scene = Scene(gravity=(0.0, 0.0, 0.0), drag=DRAG)
    scene.add(rod, model)
    scene.clamp_edge(0, 0)
    scene.clamp_edge(0, VERTICES - 2, spin=lambda t: 2.0 * math.pi * min(RATE * t, turns))
    sim = Simulation(scene, frame_rate=FRAMES, substeps=1)
    frames, twists = [], []
    for frame in sim.frames(1, 1 + round(FRAMES * turns / RATE)):
        frames.append(frame)
        twists.append(sim.blocks[0].arrays.state.twist[1:-1, 0].copy())
    angle = 2.0 * math.pi * np.minimum(RATE * np.array([frame.time for frame in frames]), turns)
    return History(rod, frames, angle, np.array(twists))


def passes(course: History) -> float:
    """Turns after which less than three quarters of the twist are on the side of the rotated end."""
    shares = np.array([course.share(k) for k in range(1, len(course.frames))])
    return float(course.angle[1 + int(np.argmax(shares < 0.75))] / (2.0 * math.pi))


def run() -> Outcome:
    vee, arc = turned(v_shape()), turned(half_circle())
    few, many = 0.25, TURNS
    numbers = [
        Number.between(
            "V, a quarter turn: twist on the turned side", vee.share(vee.at(few)), 0.9, 1.1, says="confined there"
        ),
        Number.between("V, two turns", vee.share(vee.at(2.0)), 0.9, 1.1, says="still"),
        Number.between("V, four turns", vee.share(vee.at(many)), 0.5, 0.8, says="it jumped over the kink"),
        Number.between(
            "half circle, a quarter turn", arc.share(arc.at(few)), 0.8, 1.2, says="near the end that is turned"
        ),
        Number.between("half circle, four turns", arc.share(arc.at(many)), 0.45, 0.55, says="even"),
        Number.between(
            "turns until twist passes the kink of the V", passes(vee), 2.0, 4.0, says="a significant amount"
        ),
        Number.between("turns until it passes the half circle", passes(arc), 0.5, 2.0, says="less marked"),
    ]
    moments, plots = [], []
    for course, name in ((vee, "V"), (arc, "half circle")):
        s = np.cumsum(course.rod.rest_lengths)[:-1]
        series = []
        for turns, word, colour in ((0.0, "reference", GREEN), (1.0, "1 turn", BLUE), (many, f"{many:g} turns", RED)):
            k = course.at(turns)
            frame = course.frames[k]
            tube = Tube(frame.positions(0), np.tile(HALF_AXES, (VERTICES - 1, 1)), directors=frame.directors(0))
            moments.append(Moment(f"{name}: {word}", [tube]))
            series.append(Series(s, course.twist[k], word, "-", colour))
        plots.append(Plot(f"Twist per vertex, {name}", "arc length (m)", "rad", series))
    shares = [
        Series(
            course.angle[1:] / (2.0 * math.pi),
            [course.share(k) for k in range(1, len(course.frames))],
            name,
            "-",
            colour,
        )
        for course, name, colour in ((vee, "V", BLUE), (arc, "half circle", ORANGE))
    ]
    plots.append(Plot("Twist on the turned side", "turns of the end", "of all twist", shares))
    caption = (
        "A flat section and a naturally curved centerline conspire to produce an uneven distribution of twist. One end is "
        "clamped, the other (right) is turned: reference configuration, moderate twist, large twist."
    )
    return Outcome(numbers, moments, plots, Camera((0.15, -1.0, 0.35)), columns=3, caption=caption)
