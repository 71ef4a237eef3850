"""Helical perversion: a spring that is straightened and released becomes two helices of opposite handedness.

The spring is a ribbon wound to a right-handed helix. Its ends are pulled apart and one is rotated back by all coils, which
removes the windings: it becomes straight and flat. Then the ends are brought together again: one half winds to the left, the
other to the right, with a perversion in the middle.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...core import Rod, Scene, Simulation, Stiffness
from ...core.describe.rotations import rotation_about
from ...core.errors import Array
from ...core.run.simulation import Frame
from .outcome import BLUE, RED, Camera, Moment, Number, Outcome, Plot, Series, Tube

COILS, RADIUS, PITCH = 6, 1.0, 0.1  # number of coils; m; m: the natural shape
SEGMENTS = 28 * COILS
RIBBON = Stiffness(1e5, 1.0, 6.0, 0.8, mass_per_length=1.0, inertia_per_length=1e-2)  # bends easily towards its axis
HALF_AXES = (0.03, 0.09)  # m, as drawn
# 1/s. The middle must turn by all windings of a half. If it is held up, tangents turn backwards, the spring slips by a turn, and
# the halves become unequal: at ten times the drag the perversion is at 0.67.
DRAG = 0.02
PULL, UNWIND, RELEASE, REST = 60.0, 60.0, 600.0, 60.0  # s, durations of the phases
FLAT, RELEASED = 0.9999, 0.5  # distance of the ends relative to the length
FRAMES = 4  # per second
MODEL = "der2008"


def natural_shape() -> tuple[Array, Array]:
    """Points and first directors of the edges; these point along the curvature, so that the ribbon bends about the second."""
    angle = 2.0 * math.pi * COILS * np.linspace(0.0, 1.0, SEGMENTS + 1)
    along = PITCH * angle / (2.0 * math.pi)
    points = np.stack([along, RADIUS * np.cos(angle), RADIUS * np.sin(angle)], axis=1)
    middle = 0.5 * (angle[1:] + angle[:-1])
    inwards = np.stack([0.0 * middle, -np.cos(middle), -np.sin(middle)], axis=1)
    return points, inwards


def windings(points: Array) -> Array:
    """Turns about the line between the ends, right-handed positive, accumulated from the start to each vertex."""
    axis = points[-1] - points[0]
    axis = axis / np.linalg.norm(axis)
    t = np.diff(points, axis=0)
    across = t - (t @ axis)[:, None] * axis
    turns = np.zeros(len(points))
    a, b = across[:-1], across[1:]
    angle = np.arctan2(np.cross(a, b) @ axis, np.einsum("ij,ij->i", a, b))
    turns[2:] = np.cumsum(angle) / (2.0 * math.pi)
    turns[1] = turns[2]
    return turns


class History(NamedTuple):
    rod: Rod
    frames: list[Frame]

    def at(self, time: float) -> Frame:
        return self.frames[round(time * FRAMES)]


def pulled_and_released(model: str = MODEL) -> History:
    """Both ends are clamped. They are pulled apart until their tangents are axial; one is rotated back by all coils; then
    released."""
    points, directors = natural_shape()
    rod = Rod.from_points(points, 0.05, stiffness=RIBBON, director=directors)
    rise = math.atan2(2.0 * math.pi * RADIUS, PITCH)  # angle between axis and tangent
    middle, natural = points.mean(axis=0) * [1.0, 0.0, 0.0], points[-1, 0] - points[0, 0]

    def span(time: float) -> float:
        flat = FLAT * rod.length
        if time < PULL:
            return natural + (flat - natural) * _smooth(time / PULL)
        return flat + (RELEASED * rod.length - flat) * _smooth((time - PULL - UNWIND) / RELEASE)

    def held(side: float, time: float) -> tuple[Array, Array]:
        pull = _smooth(time / PULL)
        place = middle + np.array([0.5 * side * span(time), RADIUS * (1.0 - pull), 0.0])
        return place, rotation_about(np.array([0.0, 1.0, 0.0]), np.array(rise * pull))

    scene = Scene(gravity=(0.0, 0.0, 0.0), drag=DRAG)
    scene.add(rod, model)
    scene.clamp(0, "start", lambda time: held(-1.0, time))
    unwound = 2.0 * math.pi * COILS
    scene.clamp(0, "end", lambda time: held(1.0, time), spin=lambda time: -unwound * _smooth((time - PULL) / UNWIND))
    sim = Simulation(scene, frame_rate=FRAMES, substeps=2)
    return History(rod, list(sim.frames(1, 1 + round((PULL + UNWIND + RELEASE + REST) * FRAMES))))


def _smooth(x: float) -> float:
    """Smoothstep from 0 to 1."""
    x = min(max(x, 0.0), 1.0)
    return x * x * (3.0 - 2.0 * x)


def run() -> Outcome:
    spring = pulled_and_released()
    natural, flat, half = (spring.at(t) for t in (0.0, PULL + UNWIND, PULL + UNWIND + 0.5 * RELEASE))
    last = spring.frames[-1]
    drawn, straight, ended = (windings(frame.positions(0)) for frame in (natural, flat, last))
    held = round((PULL + UNWIND) * FRAMES)
    turn = int(np.argmax(np.abs(ended)))  # the perversion: the windings change their handedness
    beside = SEGMENTS // 25  # half of the length of the perversion itself, in which the windings jump by half a turn
    left, right = float(ended[turn - beside]), float(ended[-1] - ended[turn + beside])
    forwards = min(float((np.diff(f.positions(0), axis=0)[:, 0]).min()) for f in spring.frames[held:])
    per_coil = np.sign(np.round(np.diff(ended[:: SEGMENTS // (2 * COILS)]), 1))  # per half coil
    changes = int(np.count_nonzero(np.diff(per_coil[per_coil != 0.0])))
    stretch = max(
        float(np.abs(np.linalg.norm(np.diff(f.positions(0), axis=0), axis=1) / spring.rod.rest_lengths - 1.0).max())
        for f in (flat, last)
    )
    numbers = [
        Number.near("windings of the natural shape", float(drawn[-1]), float(COILS), 0.01, "turns"),
        Number.between("windings when straightened", abs(float(straight[-1])), 0.0, 1.5, "turns"),
        Number.between("windings before the perversion", left, -math.inf, -1.8, "turns", "left-handed"),
        Number.between("windings after the perversion", right, 1.8, math.inf, "turns", "right-handed"),
        Number.near("their ratio", -left / right, 1.0, 0.05, says="mirror images"),
        Number.equal("changes of handedness", changes, 1, says="one perversion"),
        Number.between("relative position of the perversion", turn / SEGMENTS, 0.47, 0.53, says="in the middle"),
        Number.between(
            "least advance of an edge along the axis", forwards, 0.0, math.inf, "m", "it never slips by a turn"
        ),
        Number.between("largest stretch of an edge", stretch, 0.0, 1e-8, says="inextensible"),
    ]
    moments = [
        Moment(
            title,
            [Tube(frame.positions(0), np.tile(HALF_AXES, (SEGMENTS, 1)), directors=frame.directors(0))],
            camera=Camera((0.1, -1.0, 0.25)),
        )
        for title, frame in (
            ("natural shape", natural),
            ("straightened", flat),
            ("on the way back", half),
            ("two helices and a perversion", last),
        )
    ]
    s = np.linspace(0.0, spring.rod.length, SEGMENTS + 1)
    plot = Plot(
        "Windings from the start along the spring, right-handed positive",
        "arc length (m)",
        "turns",
        [
            Series(s, drawn, "natural shape", "-", "#7a828e"),
            Series(s, straight, "straightened", "--", "#2b2f36"),
            Series(s[: turn + 1], ended[: turn + 1], "released, first half", "-", BLUE),
            Series(s[turn:], ended[turn:], "released, second half", "-", RED),
        ],
    )
    caption = (
        "From its natural shape a spring is pulled until it is a flat, straight ribbon. Brought together again with ends that "
        "don't turn, it forms two helices of opposite hands, joined by a persistent perversion in the middle: not its natural "
        f"shape. {COILS} coils of radius {RADIUS:g} m and pitch {PITCH:g} m, EI = {RIBBON.bend_1:g} and {RIBBON.bend_2:g} N m², "
        f"GJ = {RIBBON.twist:g} N m², {RIBBON.mass_per_length:g} kg/m, released from {FLAT:g} to {RELEASED:g} of the length in "
        f"{RELEASE:g} s."
    )
    return Outcome(numbers, moments, [plot], Camera((0.1, -1.0, 0.25)), columns=2, caption=caption)
