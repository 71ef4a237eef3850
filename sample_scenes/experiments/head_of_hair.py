"""Hair of clothoids on a head that shakes: 100 stylised curls of one to four elements, and 662 strands of four, smooth or curly.

Numbers of strands and elements and the friction coefficient are those of Casati and Bertails-Descoubes 2013; sizes, stiffness and
motion are ours. Strands touch the head and each other. As in the paper, contacts are solved by nonlinear Gauss-Seidel with an
exact solution of each contact.
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
FRAMES_PER_SECOND, SUBSTEPS = 24.0, 4  # steps of 10.4 ms; 11 to 33 ms in the paper
SHAKES, PERIOD, SWAY = 0.5, 1.0, math.radians(25.0)  # s, start of the motion; s; rad, amplitude
SECONDS = 1.5
LOOSER = 1.7  # curls that do not touch each other move at least this many times as far
DEEP = 0.1  # overlap, in diameters, above which a crossing counts as deep


def turn(t: float) -> Array:
    """Rotation of the head; the amplitude is ramped up over a quarter of a period."""
    elapsed = max(t - SHAKES, 0.0)
    angle = SWAY * math.sin(2.0 * math.pi * elapsed / PERIOD) * min(elapsed / (0.25 * PERIOD), 1.0)
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def simulation(style: Style, strand_contact: bool = True, threads: int | None = None) -> tuple[list[Rod], Simulation]:
    scene, rods = Scene(rod_contact=strand_contact), strands(style)
    for rod, elements in rods:
        hair = scene.add(rod, "clothoid", elements=elements, friction=FRICTION)
        scene.clamp(hair, "start", lambda t, x=rod.points[0]: (turn(t) @ x, turn(t)))
    scene.collide(Sphere(HEAD), friction=FRICTION, path=lambda t: ((0.0, 0.0, 0.0), turn(t)))
    sim = Simulation(scene, FRAMES_PER_SECOND, substeps=SUBSTEPS, threads=threads)
    return [rod for rod, _ in rods], sim


class Motion(NamedTuple):
    """Measurements of a simulated style."""

    moments: list[tuple[float, list[Array]]]
    in_head: float  # deepest penetration of the head over all frames, in strand radii
    deep: float  # part of the crossings of strands at the end that overlap by more than `DEEP`
    deepest: float  # largest overlap at the end, in diameters
    overlap: float  # largest of all frames, as reported, in strand radii
    contacts: int  # active contacts between strands at the end
    friction_ratio: float  # 95 % quantile of tangential over normal force at the head
    tip_deviation: (
        Array  # (frames, 2) time, s; median distance of tips from rigid motion with the head, in strand lengths
    )
    volume: int  # cubic centimetres that contain hair at the end
    seconds: float  # of processor time per frame


def move(
    style: Style, frames: int, shown: tuple[int, ...] = (), strand_contact: bool = True, threads: int | None = None
) -> Motion:
    rods, sim = simulation(style, strand_contact, threads)
    block = sim.blocks[0]
    lengths = np.array([rod.length for rod in rods])
    moments, in_head, overlap, deviation, seconds = [], -math.inf, 0.0, [], 0.0
    hanging = np.zeros((len(rods), 3))  # tips before the head moves
    for k in range(1, frames + 1):
        start = time.process_time()
        frame = sim.step_frame()
        seconds += time.process_time() - start
        overlap = max(overlap, frame.report.overlap)
        points = block.positions()
        in_head = max(in_head, float(1.0 + (HEAD - np.linalg.norm(points, axis=1).min()) / style.radius))
        tips = points[block.sample_start[1:] - 1]
        if frame.time <= SHAKES:
            hanging = tips
        off = np.linalg.norm(tips - hanging @ turn(frame.time).T, axis=1)
        deviation.append((frame.time, float(np.median(off / lengths))))
        if k in shown:
            moments.append((frame.time, np.split(points.copy(), block.sample_start[1:-1])))
    overlaps = (
        of_many(points, block.sample_start, style.radius) / (2.0 * style.radius) if strand_contact else np.zeros(0)
    )
    normal, tangential, contacts = _forces_on_head(sim)
    return Motion(
        moments=moments,
        in_head=in_head,
        deep=float(np.mean(overlaps > DEEP)) if len(overlaps) else 0.0,
        deepest=float(overlaps.max(initial=0.0)),
        overlap=overlap,
        contacts=contacts,
        friction_ratio=float(np.quantile(tangential / normal, 0.95)) if len(normal) else 0.0,
        tip_deviation=np.array(deviation),
        volume=len(np.unique(np.floor(points / 0.01).astype(int), axis=0)),
        seconds=seconds / frames,
    )


def _forces_on_head(sim: Simulation) -> tuple[Array, Array, int]:
    """Normal and tangential forces of contacts with the head, N; and the number of active contacts between strands."""
    solver = sim._contact
    assert solver is not None
    keys, forces, samples = solver.known.keys, solver.known.forces, solver.detection.samples
    active = np.abs(forces).max(axis=1, initial=0.0) > 0.0
    on_head = active & (keys < 0)
    edge = (-1 - keys[on_head]) % len(samples.rod)
    x = sim.blocks[0].positions()
    a, b = x[edge], x[samples.after[edge]]
    at = np.clip(-np.einsum("ij,ij->i", a, b - a) / np.einsum("ij,ij->i", b - a, b - a), 0.0, 1.0)
    normal = a + at[:, None] * (b - a)
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    pressure = np.einsum("ij,ij->i", forces[on_head], normal)
    tangential = np.linalg.norm(forces[on_head] - pressure[:, None] * normal, axis=1)
    return np.maximum(pressure, 1e-300), tangential, int((active & (keys >= 0)).sum())


def _moment(style: Style, moment: tuple[float, list[Array]], colours: tuple[str, ...]) -> Moment:
    seconds, x = moment
    tubes = [Tube(points, style.radius, colours[k % len(colours)]) for k, points in enumerate(x)]
    return Moment(f"{style.name}, {seconds:.2f} s", tubes, [Solid(Sphere(HEAD), CREAM)])


def run() -> Outcome:
    frames = round(SECONDS * FRAMES_PER_SECOND)
    numbers, moments, results = [], [], {}
    palettes = {STYLISED: (ORANGE, RED), SMOOTH: (ORANGE, CREAM), CURLY: (VIOLET, BLUE, GREEN)}
    for style in (STYLISED, SMOOTH, CURLY):
        result = results[style] = move(style, frames, (12, 20, frames))
        moments += [_moment(style, moment, palettes[style]) for moment in result.moments]
        numbers += [
            Number.between(f"{style.name}: deepest in the head", result.in_head, -math.inf, 0.1, "radii"),
            Number.between(f"{style.name}: part of crossings with deep overlap", result.deep, 0.0, 0.02),
            Number.between(
                f"{style.name}: friction / pressure at the head", result.friction_ratio, 0.0, 1.05 * FRICTION
            ),
            Number.between(f"{style.name}: active contacts between strands", result.contacts, 10, math.inf),
            Number.between(f"{style.name}: deepest overlap", result.overlap, 0.0, 2.0, "radii"),
            Number(f"{style.name}: processor time per frame", result.seconds, "s"),
        ]
    largest = {style: float(result.tip_deviation[:, 1].max()) for style, result in results.items()}
    loose = float(move(CURLY, frames, strand_contact=False).tip_deviation[:, 1].max())
    elements = float(np.mean(STYLISED.elements()))
    numbers += [
        Number.near("mean number of elements of a stylised curl", elements, 1.55, 1e-9, says="paper"),
        Number.between("tip deviation, smooth / curly", largest[SMOOTH] / largest[CURLY], 3.0, math.inf),
        Number.between(
            "tip deviation of curly strands, without / with contact",
            loose / largest[CURLY],
            LOOSER,
            math.inf,
            says="contact makes them a bulk",
        ),
    ]
    plot = Plot(
        "Tip deviation from rigid motion with the head", "time (s)", "strand lengths",
        [Series(results[s].tip_deviation[:, 0], results[s].tip_deviation[:, 1], s.name, "-", c)
         for s, c in ((STYLISED, RED), (SMOOTH, ORANGE), (CURLY, VIOLET))],
    )  # fmt: skip
    caption = (
        f"Clothoids on a head that turns by ±{math.degrees(SWAY):g}° in {PERIOD:g} s after {SHAKES:g} s of rest, friction "
        f"{FRICTION:g} with the head and each other, {SUBSTEPS} steps a frame. Curls move as a bulk, because they touch."
    )
    return Outcome(numbers, moments, [plot], Camera((0.3, -1.0, 0.25)), columns=3, caption=caption)
