"""A rod falls on three cylinders, bounces, and comes to rest on them (Zhao et al. 2022, Fig. 17).

Material, radius, 200 segments and the time step are the paper's. It does not give the length of the rod, the positions of the
cylinders and the dissipation; here the rod starts slightly inclined and has internal damping.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...core import Frame, Rod, Scene, Simulation, Stiffness
from ...core.describe.shapes import Cylinder
from .outcome import BLUE, GREY, RED, Camera, Moment, Number, Outcome, Plot, Series, Solid, Tube
from .overlap import in_cylinder

SEGMENTS = 200
LENGTH = 12.0  # m
RADIUS = 0.03  # m
YOUNG, SHEAR = 1e6, 1e5  # Pa
DENSITY = 0.5  # kg/m3
DAMPING = 0.01  # s
HEIGHT, SLOPE = 2.0, 0.05  # m, initial height of its middle; slope
FRICTION = 0.3
STEP = 0.003  # s
SECONDS = 12.0
LAST = 0.5  # s at the end, in which it must be at rest

LYING = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))  # axis along y
CYLINDERS = tuple(Cylinder(0.3, 1.6, (x, 0.0, z), LYING) for x, z in ((-3.5, 0.0), (0.0, 0.25), (3.5, 0.0)))


def simulation(threads: int | None = None, model: str = "der") -> tuple[Rod, Simulation]:
    area, inertia = math.pi * RADIUS**2, math.pi * RADIUS**4 / 4.0
    bend, twist = YOUNG * inertia, SHEAR * 2.0 * inertia
    stiffness = Stiffness(
        YOUNG * area, bend, bend, twist, mass_per_length=DENSITY * area, inertia_per_length=2.0 * DENSITY * inertia
    )
    along = np.linspace(-0.5 * LENGTH, 0.5 * LENGTH, SEGMENTS + 1)[:, None]
    points = along * (math.cos(SLOPE), 0.0, math.sin(SLOPE)) + (0.0, 0.0, HEIGHT)
    rod = Rod.from_points(points, RADIUS, stiffness=stiffness, rest="straight", damping_time=DAMPING)
    scene = Scene(rod_contact=True)
    scene.add(rod, model, friction=FRICTION)
    for cylinder in CYLINDERS:
        scene.collide(cylinder, friction=FRICTION)
    return rod, Simulation(scene, 1.0 / STEP, substeps=1, threads=threads)


def deepest(frame: Frame) -> float:
    return max(in_cylinder(frame.positions(0), RADIUS, cylinder) for cylinder in CYLINDERS)


def run(model: str = "der") -> Outcome:
    rod, sim = simulation(model=model)
    frames = list(sim.frames(1, 1 + round(SECONDS / STEP)))
    times = np.array([frame.time for frame in frames])
    energies = np.array([frame.report.energies.total for frame in frames])
    middles = np.array([frame.positions(0)[:, 2].mean() for frame in frames])
    depth = max(deepest(frame) for frame in frames)
    growth = max(after - before for before, after in pairwise(energies)) / energies[0]
    turning = _first(np.diff(middles) > 0.0)  # end of the fall: the rod rises
    top = turning + int(middles[turning : turning + round(1.0 / STEP)].argmax())
    last = np.array([frame.positions(0) for frame in frames[-round(LAST / STEP) :]])
    way = float(np.linalg.norm(last - last[-1], axis=2).max())
    touching = sum(in_cylinder(frames[-1].positions(0), RADIUS, cylinder) > -0.02 * RADIUS for cylinder in CYLINDERS)

    numbers = [
        Number.between("deepest in a cylinder, at any step", max(0.0, depth) / RADIUS, 0.0, 0.01, "radii"),
        Number.between("rises after the first impact", middles[top] - middles[turning], 0.05, math.inf, "m", "bounces"),
        Number.between("energy gained in a step, at most", growth, -math.inf, 1e-6, "of that at the start"),
        Number.between(f"way in the last {LAST:g} s", way / RADIUS, 0.0, 0.05, "radii", "lies still"),
        Number.equal("cylinders it lies on", touching, len(CYLINDERS)),
    ]
    shown = [_first(times >= 0.3), turning, top, len(frames) - 1]
    words = ["falls", "the lowest point of the first impact", "bounces", "lies still"]
    moments = [
        Moment(
            f"{times[k]:.2f} s: {word}",
            [Tube.of(frames[k], 0, rod)],
            [Solid(cylinder, GREY) for cylinder in CYLINDERS],
        )
        for k, word in zip(shown, words, strict=True)
    ]
    heights = np.array([frame.positions(0)[[0, SEGMENTS // 2, SEGMENTS], 2] for frame in frames])
    path = Plot(
        "Height of the ends and of the middle",
        "time (s)",
        "m",
        [
            Series(times, heights[:, k], name, "-", colour)
            for k, name, colour in ((0, "one end", RED), (2, "other end", BLUE), (1, "middle", "#2b2f36"))
        ],
    )
    energy = Plot("Energy", "time (s)", "J", [Series(times, energies, "", "-", RED)])
    caption = (
        f"A rod of {LENGTH:g} m, radius {RADIUS:g} m, {SEGMENTS} segments, E = {YOUNG:g} Pa and G = {SHEAR:g} Pa, falls from "
        f"{HEIGHT:g} m on three cylinders (friction {FRICTION:g}) in steps of {1e3 * STEP:g} ms, bounces, and comes to rest on all."
    )
    return Outcome(numbers, moments, [path, energy], Camera((0.12, -1.0, 0.3)), columns=2, caption=caption)


def _first(flags: NDArray[np.bool_]) -> int:
    return int(np.flatnonzero(flags)[0])
