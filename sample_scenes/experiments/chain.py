"""A chain of open links hangs from its two ends, which are then pulled apart until it breaks (Bergou et al. 2008, Fig. 10).

As in the paper, each link is a naturally curved rod with free ends that almost meet. The pulled links open until one slips off and
the chain recoils. A chain of closed links withstands a much larger load.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...core import Rod, Scene, Simulation, Stiffness
from ...core.errors import Array
from ...core.maths.geometry.linking import linking_number
from ...core.run.simulation import Frame
from .outcome import BLUE, ORANGE, RED, Camera, Moment, Number, Outcome, Plot, Series, Tube
from .strands import gap, passages

LINKS, SEGMENTS, RADIUS = 8, 30, 0.1  # the radius of a link is 1 m
OPENING = 0.26  # rad; the ends of a link are 0.06 m apart
PITCH = 1.65  # m from link to link at the start
STIFFNESS = Stiffness(
    2e3, 2.0, 2.0, 2.0, mass_per_length=5e-4, inertia_per_length=2.5e-6
)  # bending and twisting stiffness of the paper
STRAIGHT = PITCH * (LINKS - 1) + 2.0  # m from end to end at the start
HANGING = 0.6 * STRAIGHT
BRINGING, REST = 1.5, 3.0  # s: end of bringing the ends together; end of the rest that follows
SPEED = 3.0  # m/s, of pulling the ends apart
TAUT = REST + (STRAIGHT - HANGING) / SPEED  # s
FARTHEST = 28.0  # m
CLOSED = 20.0  # m: final distance of the ends of the chain of closed links, which are long and narrow by then
STEPS = 192  # per second; contact is measured in every one
AFTER = 0.5  # s, simulated after it breaks


def link(number: int, closed: bool) -> Rod:
    """A link, open on one side unless `closed`; every other link stands upright."""
    if closed:
        angle = 2.0 * math.pi * np.arange(SEGMENTS) / SEGMENTS
    else:
        angle = np.linspace(0.5 * OPENING, 2.0 * math.pi - 0.5 * OPENING, SEGMENTS + 1)
    along, aside = -np.sin(angle), np.cos(angle)
    points = np.zeros((len(angle), 3))
    points[:, 0] = PITCH * number + along
    points[:, 1 + (number + 1) % 2] = aside
    return Rod.from_points(points, RADIUS, stiffness=STIFFNESS, closed=closed, damping_time=0.003)


def width(time: float) -> float:
    """Distance of the ends of the chain, m."""
    if time < BRINGING:
        part = time / BRINGING
        return STRAIGHT + (HANGING - STRAIGHT) * part * part * (3.0 - 2.0 * part)
    return HANGING + SPEED * max(time - REST, 0.0)


class History(NamedTuple):
    """Measurements of a pulled chain, per step."""

    rods: list[Rod]
    frames: list[Frame]
    linked: Array  # (steps, LINKS - 1) linking numbers of neighbours
    gap: Array  # radii: smallest gap between neighbours
    speed: Array  # m/s: highest of all vertices
    elastic: Array  # J
    passages: int  # pairs of edges that passed through each other

    @property
    def broken(self) -> int:
        """First step after which two neighbours are no longer linked; -1: none."""
        apart = np.flatnonzero((np.abs(np.abs(self.linked) - 1.0) > 1e-6).any(axis=1))
        return int(apart[0]) if len(apart) else -1


def pulled(closed: bool, farthest: float, model: str = "der") -> History:
    """Pulls the chain until half a second after it breaks, or until its ends are `farthest` apart."""
    rods = [link(number, closed) for number in range(LINKS)]
    scene = Scene(drag=1.0, rod_contact=True)
    for rod in rods:
        scene.add(rod, model, friction=0.2)
    for end, side in ((0, -1.0), (LINKS - 1, 1.0)):
        points = rods[end].points
        held = int(np.argmax(side * points[:, 0]))
        scene.pin(end, held, _path(points[held], side))
    simulation = Simulation(scene, frame_rate=STEPS, substeps=1)
    frames, linked, gaps, through = [simulation.current()], [], [], 0
    until = math.inf
    while True:
        frame = frames[-1]
        x = [frame.positions(rod) for rod in range(LINKS)]
        linked.append([linking_number(a, b) for a, b in pairwise(x)])
        gaps.append(min(gap(a, b, 2.0 * RADIUS, closed) for a, b in pairwise(x)) / RADIUS)
        if len(frames) > 1:
            before = [frames[-2].positions(rod) for rod in range(LINKS)]
            pairs = [(i, j) for i in range(LINKS) for j in range(i + 1, LINKS)]
            through += sum(passages(before[i], before[j], x[i], x[j], closed) for i, j in pairs)
        if np.abs(np.abs(linked[-1]) - 1.0).max() > 1e-6:
            until = min(until, max(frame.time, TAUT) + AFTER)
        if width(frame.time) >= farthest or frame.time >= until:
            break
        frames.append(simulation.step_frame())
    speed = [max(float(np.abs(frame.velocities(rod)).max()) for rod in range(LINKS)) for frame in frames]
    elastic = [frame.report.energies.elastic for frame in frames]
    return History(rods, frames, np.array(linked), np.array(gaps), np.array(speed), np.array(elastic), through)


def _path(start: Array, side: float) -> Callable[[float], Array]:
    return lambda time: start + 0.5 * side * (width(time) - STRAIGHT) * np.array([1.0, 0.0, 0.0])


def run(model: str = "der") -> Outcome:
    history = pulled(False, FARTHEST, model)
    broken = history.broken
    wide = width(history.frames[broken].time)
    control = pulled(True, CLOSED, model)
    hanging = round(REST * STEPS)
    failures = sum(frame.report.failures for s in (history, control) for frame in s.frames)
    numbers = [
        Number.equal("neighbours linked after hanging", _together(history.linked[hanging]), LINKS - 1),
        Number.between("ends apart when it breaks", wide, STRAIGHT, FARTHEST, "m", "more than when it was made"),
        Number.between("neighbours linked then", _together(history.linked[-1]), 0, LINKS - 2),
        Number.between("speed then", history.speed[broken:].max(), 2.0 * SPEED, math.inf, "m/s", "the links fly apart"),
        Number.between(
            "closed links: elastic energy, of that of the open ones when they break",
            control.elastic[-1] / history.elastic[: broken + 1].max(),
            2.0,
            math.inf,
        ),
        Number.equal("closed links: neighbours linked then", _together(control.linked[-1]), LINKS - 1),
        Number.equal("wires that passed through each other", history.passages + control.passages, 0),
        Number.between("deepest overlap", -min(history.gap.min(), control.gap.min()), -math.inf, 0.02, "radii"),
        Number.equal("steps given up", failures, 0),
    ]

    def moment(what: History, number: int, title: str = "") -> Moment:
        frame = what.frames[number]
        tubes = [Tube(frame.positions(k), RADIUS, (BLUE, ORANGE)[k % 2], what.rods[k].closed) for k in range(LINKS)]
        return Moment(title or f"{frame.time:.2f} s, {width(frame.time):.1f} m", tubes)

    moments = [
        moment(history, hanging),
        moment(history, round(TAUT * STEPS)),
        moment(history, broken - 2),
        moment(history, broken + STEPS // 24),
        moment(history, len(history.frames) - 1),
        moment(control, len(control.frames) - 1, f"closed links, {CLOSED:g} m"),
    ]
    times = [[width(frame.time) for frame in s.frames[hanging:]] for s in (history, control)]
    plot = Plot(
        "The ends are pulled apart",
        "m from end to end",
        "elastic energy (J)",
        [
            Series(times[0], history.elastic[hanging:], "open links", "-", BLUE),
            Series(times[1], control.elastic[hanging:], "closed links", "-", RED),
        ],
    )
    caption = (
        f"{LINKS} links of wire, radius 1 m and {RADIUS:g} m, EI = GJ = {STIFFNESS.bend_1:g} N m², open by {OPENING:g} rad, hang "
        f"and are pulled apart at {SPEED:g} m/s: one opens and slips off, and the chain recoils. Closed links stay linked."
    )
    return Outcome(numbers, moments, [plot], Camera((0.25, -1.0, 0.3)), columns=2, caption=caption)


def _together(linked: Array) -> int:
    return int((np.abs(np.abs(linked) - 1.0) < 1e-6).sum())
