"""Hair of clothoids on a head that shakes: 100 stylised curls of one to four elements, and 662 strands of four, smooth or curly.

Numbers of strands and elements, and friction, are the paper's; sizes, stiffness and motion are ours. Strands touch the head and
each other, and are solved for as in the paper: exactly at one contact after the other (`contact="gauss-seidel"`).
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np

from ...core import Rod, Scene, Simulation, Sphere
from ...core.errors import Array
from .hair_styles import CURLY, HEAD, SMOOTH, STYLISED, Style, strands
from .outcome import BLUE, CREAM, GREEN, ORANGE, RED, VIOLET, Camera, Moment, Number, Outcome, Plot, Series, Solid, Tube
from .overlap import of_many

FRICTION = 0.2  # the paper's
FRAMES_PER_SECOND, SUBSTEPS = 24.0, 4  # steps of 10.4 ms; the paper's are of 11 to 33
SHAKES, PERIOD, SWAY = 0.5, 1.0, math.radians(25.0)  # the head begins to shake; s; how far it turns to either side
SECONDS = 1.5
DEEP = 0.1  # of the thickness: overlaps that count


def turn(t: float) -> Array:
    """The rotation of the head: it begins gently."""
    since = max(t - SHAKES, 0.0)
    angle = SWAY * math.sin(2.0 * math.pi * since / PERIOD) * min(since / (0.25 * PERIOD), 1.0)
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def simulation(style: Style, between: bool = True, threads: int | None = None) -> tuple[list[Rod], Simulation]:
    scene, rods = Scene(rod_contact=between), strands(style)
    for rod, elements in rods:
        hair = scene.add(rod, "clothoid", elements=elements, friction=FRICTION)
        scene.clamp(hair, "start", lambda t, x=rod.points[0]: (turn(t) @ x, turn(t)))
    scene.collide(Sphere(HEAD), friction=FRICTION, path=lambda t: ((0.0, 0.0, 0.0), turn(t)))
    sim = Simulation(scene, FRAMES_PER_SECOND, substeps=SUBSTEPS, contact="gauss-seidel", threads=threads)
    return [rod for rod, _ in rods], sim


class Moved(NamedTuple):
    moments: list[tuple[float, list[Array]]]
    in_head: float  # radii of a strand, the deepest of all frames
    deep: float  # of the strands' touching places at the end, the part where they overlap by more than a tenth of their thickness
    deepest: float  # thicknesses, at the end
    failures: int
    pressing: int  # contacts with other strands that act at the end
    steepest: float  # tangential over normal force at the head, of all but the steepest twentieth
    apart: Array  # (frames, 2) time; how far tips are from where they would be if hair and head were one, in lengths
    volume: int  # cubic centimetres that have hair in them, at the end
    seconds: float  # of processor time per frame


def move(
    style: Style, frames: int, shown: tuple[int, ...] = (), between: bool = True, threads: int | None = None
) -> Moved:
    rods, sim = simulation(style, between, threads)
    block = sim.blocks[0]
    lengths = np.array([rod.length for rod in rods])
    moments, in_head, failures, apart, seconds = [], -math.inf, 0, [], 0.0
    still = np.zeros((len(rods), 3))  # the tips as they hang before the head moves
    for k in range(1, frames + 1):
        start = time.process_time()
        frame = sim.step_frame()
        seconds += time.process_time() - start
        failures += frame.report.failures
        points = block.positions()
        in_head = max(in_head, float(1.0 + (HEAD - np.linalg.norm(points, axis=1).min()) / style.radius))
        tips = points[block.sample_start[1:] - 1]
        if frame.time <= SHAKES:
            still = tips
        off = np.linalg.norm(tips - still @ turn(frame.time).T, axis=1)
        apart.append((frame.time, float(np.median(off / lengths))))
        if k in shown:
            moments.append((frame.time, np.split(points.copy(), block.sample_start[1:-1])))
    overlaps = of_many(points, block.sample_start, style.radius) / (2.0 * style.radius) if between else np.zeros(0)
    pressed, rubbed, pressing = _forces_on_head(sim)
    return Moved(
        moments=moments,
        in_head=in_head,
        deep=float(np.mean(overlaps > DEEP)) if len(overlaps) else 0.0,
        deepest=float(overlaps.max(initial=0.0)),
        failures=failures,
        pressing=pressing,
        steepest=float(np.quantile(rubbed / pressed, 0.95)) if len(pressed) else 0.0,
        apart=np.array(apart),
        volume=len(np.unique(np.floor(points / 0.01).astype(int), axis=0)),
        seconds=seconds / frames,
    )


def _forces_on_head(sim: Simulation) -> tuple[Array, Array, int]:
    """Normal and tangential forces of contacts with the head, N; and how many others there are."""
    solver = sim._contact
    assert solver is not None
    keys, forces, samples = solver.known.keys, solver.known.forces, solver.detection.samples
    acting = np.abs(forces).max(axis=1, initial=0.0) > 0.0
    on_head = acting & (keys < 0)
    edge = (-1 - keys[on_head]) % len(samples.rod)
    x = sim.blocks[0].positions()
    a, b = x[edge], x[samples.after[edge]]
    at = np.clip(-np.einsum("ij,ij->i", a, b - a) / np.einsum("ij,ij->i", b - a, b - a), 0.0, 1.0)
    normal = a + at[:, None] * (b - a)
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    pressed = np.einsum("ij,ij->i", forces[on_head], normal)
    rubbed = np.linalg.norm(forces[on_head] - pressed[:, None] * normal, axis=1)
    return np.maximum(pressed, 1e-300), rubbed, int((acting & (keys >= 0)).sum())


def _drawn(style: Style, moment: tuple[float, list[Array]], colours: tuple[str, ...]) -> Moment:
    at, x = moment
    tubes = [Tube(points, style.radius, colours[k % len(colours)]) for k, points in enumerate(x)]
    return Moment(f"{style.name}, {at:.2f} s", tubes, [Solid(Sphere(HEAD), CREAM)])


def run() -> Outcome:
    frames = round(SECONDS * FRAMES_PER_SECOND)
    numbers, moments, found = [], [], {}
    palettes = {STYLISED: (ORANGE, RED), SMOOTH: (ORANGE, CREAM), CURLY: (VIOLET, BLUE, GREEN)}
    for style in (STYLISED, SMOOTH, CURLY):
        one = found[style] = move(style, frames, (12, 20, frames))
        moments += [_drawn(style, moment, palettes[style]) for moment in one.moments]
        numbers += [
            Number.between(f"{style.name}: deepest in the head", one.in_head, -math.inf, 0.1, "radii"),
            Number.between(f"{style.name}: touching places with overlap over a tenth", one.deep, 0.0, 0.02),
            Number.between(f"{style.name}: friction over pressure at the head", one.steepest, 0.0, 1.05 * FRICTION),
            Number.between(f"{style.name}: strands press on each other in", one.pressing, 10, math.inf, "places"),
            Number.equal(f"{style.name}: steps given up", one.failures, 0),
            Number(f"{style.name}: processor time of a frame", one.seconds, "s"),
        ]
    sway = {style: float(one.apart[:, 1].max()) for style, one in found.items()}
    elements = float(np.mean(STYLISED.elements()))
    numbers += [
        Number.near("elements of a stylised curl, on average", elements, 1.55, 1e-9, says="paper"),
        Number.between("smooth tips move as far as curly ones", sway[SMOOTH] / sway[CURLY], 3.0, math.inf, "times"),
    ]
    plot = Plot(
        "How far tips are from where they hung", "s", "lengths",
        [Series(found[s].apart[:, 0], found[s].apart[:, 1], s.name, "-", c)
         for s, c in ((STYLISED, RED), (SMOOTH, ORANGE), (CURLY, VIOLET))],
    )  # fmt: skip
    return Outcome(numbers, moments, [plot], Camera((0.3, -1.0, 0.25)), columns=3)
