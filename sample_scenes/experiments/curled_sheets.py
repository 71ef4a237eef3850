"""A ribbon, a poster and a parchment are released from a flat shape and curl up: one or two elements with a flat section each."""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np

from ...core import Plane, Rod, Scene, Simulation, Stiffness
from .clothoids import sampled
from .outcome import BLUE, CREAM, ORANGE, VIOLET, Camera, Moment, Number, Outcome, Plot, Series, Solid, Tube

FRAMES_PER_SECOND, SECONDS = 24.0, 4.0
EDGES = 120
DOWNWARDS = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])  # tangent downwards, first director along y
LYING = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
REFERENCE = 240  # edges of the discrete rod that rest shapes are compared with


class Sheet(NamedTuple):
    name: str
    length: float  # m
    width: float
    thickness: float
    young: float  # Pa
    density: float  # kg/m3
    curvature: (
        np.ndarray
    )  # (K, 3) at the ends of elements, 1/m: natural twist, curvature out of the sheet and within it
    colour: str
    frame: np.ndarray
    lying: bool = False

    @property
    def elements(self) -> int:
        return len(self.curvature) - 1

    @property
    def stiffness(self) -> Stiffness:
        """Stiffness of a flat rectangular section whose first director lies across the sheet; torsion of a thin strip."""
        w, t, e = self.width, self.thickness, self.young
        thin, wide = e * w * t**3 / 12.0, e * t * w**3 / 12.0
        mass = self.density * w * t
        return Stiffness(e * w * t, wide, thin, e / 2.6 * w * t**3 / 3.0, mass, mass * (w * w + t * t) / 12.0)

    def natural(self, edges: int) -> tuple[np.ndarray, np.ndarray]:
        return sampled(self.curvature, self.length, edges, np.zeros(3), self.frame)

    def rod(self, edges: int, points: np.ndarray | None = None, directors: np.ndarray | None = None) -> Rod:
        """A rod that starts flat, or along the given points with directors."""
        shape, frames = self.natural(edges)
        if points is None:
            points = np.linspace(0.0, self.length, edges + 1)[:, None] * self.frame[:, 0]
        across = self.frame[:, 1] if directors is None else directors
        return Rod.from_points(
            points, radius=1e-3, stiffness=self.stiffness, rest=shape, director=across,
            rest_director=0.5 * (frames[1:, :, 1] + frames[:-1, :, 1]), damping_time=0.02,
        )  # fmt: skip


SHEETS = (
    Sheet("ribbon", 0.5, 0.01, 2e-4, 4e8, 900.0, np.array([[6.0, 15.0, 0.0], [20.0, 110.0, 0.0]]), ORANGE, DOWNWARDS),
    Sheet("poster", 0.7, 0.5, 2e-4, 3e9, 800.0, np.array([[0.0, 5.0, 0.0], [0.0, 45.0, 0.0]]), BLUE, DOWNWARDS),
    Sheet(
        "parchment", 0.6, 0.3, 3e-4, 2e9, 900.0, np.array([[0.0, -50.0, 0.0], [0.0, 6.0, 0.0], [0.0, -50.0, 0.0]]), CREAM,
        LYING, lying=True,
    ),
)  # fmt: skip


def scene_of(sheet: Sheet, rod: Rod, model: str = "clothoid") -> Scene:
    scene = Scene(drag=0.5)
    scene.add(rod, model, elements=sheet.elements if model == "clothoid" else None, friction=0.5)
    if sheet.lying:
        scene.collide(Plane((0.0, 0.0, -1e-3)), friction=0.5)
    else:
        scene.clamp(0, "start")
    return scene


class Curled(NamedTuple):
    moments: list[tuple[float, np.ndarray, np.ndarray]]  # time, positions, directors
    energy: np.ndarray  # (frames, 2) time, J
    seconds: float  # of computation per simulated second
    failures: int
    off: float  # distance from a discrete rod at rest, in lengths
    turned: float  # rad, total rotation of the tangent along the sheet at the end


def release(sheet: Sheet) -> Curled:
    sim = Simulation(scene_of(sheet, sheet.rod(EDGES)), FRAMES_PER_SECOND, threads=1)
    sim.step_frame()  # compiles
    sim = Simulation(sim.scene, FRAMES_PER_SECOND, threads=1)
    energy, moments, failures = [(0.0, sim.energies().total)], [], 0
    wanted = {1, 4, 9, round(SECONDS * FRAMES_PER_SECOND)}
    start = time.process_time()
    for k in range(1, round(SECONDS * FRAMES_PER_SECOND) + 1):
        frame = sim.step_frame()
        failures += frame.report.failures
        energy.append((frame.time, frame.report.energies.total))
        if k in wanted:
            moments.append((frame.time, frame.positions(0), frame.directors(0)))
    seconds = (time.process_time() - start) / SECONDS
    off = math.nan if sheet.lying else _distance_from_reference(sheet, sim)
    edges = np.diff(moments[-1][1], axis=0)
    edges /= np.linalg.norm(edges, axis=1)[:, None]
    turned = float(np.arccos(np.clip(np.einsum("ij,ij->i", edges[1:], edges[:-1]), -1.0, 1.0)).sum())
    return Curled(moments, np.array(energy), seconds, failures, off, turned)


def _distance_from_reference(sheet: Sheet, sim: Simulation) -> float:
    """Root mean square distance from the rest shape that a discrete rod of many edges reaches when started from this one."""
    if not sim.settle(stable=False):
        return math.inf
    here = sim.current()
    x, d = here.positions(0), here.directors(0)
    s, fine = np.linspace(0.0, 1.0, len(x)), np.linspace(0.0, 1.0, REFERENCE + 1)
    points = np.stack([np.interp(fine, s, x[:, c]) for c in range(3)], axis=1)
    middles = 0.5 * (fine[1:] + fine[:-1])
    directors = np.stack([np.interp(middles, 0.5 * (s[1:] + s[:-1]), d[:, c]) for c in range(3)], axis=1)
    other = Simulation(scene_of(sheet, sheet.rod(REFERENCE, points, directors), "der"), threads=1)
    if not other.settle(stable=False):
        return math.inf
    y = other.current().positions(0)[:: REFERENCE // EDGES]
    return float(np.sqrt(((x - y) ** 2).sum(axis=1).mean())) / sheet.length


def run() -> Outcome:
    curled = {sheet.name: release(sheet) for sheet in SHEETS}
    numbers: list[Number] = []
    for sheet in SHEETS:
        found = curled[sheet.name]
        rise = float((found.energy[:, 1] - found.energy[0, 1]).max() / np.ptp(found.energy[:, 1]))
        natural = (
            0.5
            * sheet.length
            / sheet.elements
            * (np.abs(sheet.curvature[:-1, 1]) + np.abs(sheet.curvature[1:, 1])).sum()
        )
        numbers += [
            Number(f"{sheet.name}: elements, unknowns", f"{sheet.elements}, {3 * sheet.elements + 3}"),
            Number.between(
                f"{sheet.name}: turns when curled", found.turned / (2 * math.pi), 1.0, natural / (2 * math.pi) + 0.5
            ),
            Number.between(f"{sheet.name}: energy above that at the start", rise, -math.inf, 1e-3, "of what is lost"),
            Number.equal(f"{sheet.name}: parts of steps given up", found.failures, 0),
            Number.between(f"{sheet.name}: time to simulate a second", found.seconds, 0.0, 1.0, "s", "real time"),
        ]
        if not sheet.lying:
            numbers.append(
                Number.between(
                    f"{sheet.name}: off at rest", found.off, 0.0, 0.15, "of the length", f"{REFERENCE} edges of der"
                )
            )
    moments = []
    for sheet in SHEETS:
        solids = [Solid(Plane((0.0, 0.0, -1e-3)))] if sheet.lying else []
        for at, x, d in curled[sheet.name].moments:
            thick = max(0.5 * sheet.thickness, 0.004 * sheet.length)
            tube = Tube(
                x, np.tile([0.5 * sheet.width, thick], (len(x) - 1, 1)), sheet.colour, directors=d, stripe=VIOLET
            )
            moments.append(Moment(f"{sheet.name}, {at:.2f} s", [tube], solids, Camera((0.8, -1.0, 0.35))))
    plots = [
        Plot("Energy", "s", "J, as part of what is lost",
             [Series(c.energy[:, 0], (c.energy[:, 1] - c.energy[-1, 1]) / np.ptp(c.energy[:, 1]), name, "-")
              for name, c in curled.items()])
    ]  # fmt: skip
    caption = (
        "A ribbon and a poster of one clothoid and a parchment of two, flattened and released, curl up in real time."
    )
    return Outcome(numbers, moments, plots, Camera((0.8, -1.0, 0.35)), columns=4, caption=caption)
