"""A rod whose ends can only slide along x is pulled at both ends and twisted until it winds about itself (Zhao et al. 2022, Fig.
16).

Material, radius, 50 segments, the force of 1 N and the rate of 10 rad/s are the paper's. It gives neither the length nor the
dissipation.
"""

from __future__ import annotations

import math

import numpy as np

from ...core import Rod, Scene, Simulation
from .compact_rods import round_section
from .outcome import BLUE, RED, Camera, Moment, Number, Outcome, Plot, Series, Tube
from .strands import ClampedLink, partners, self_gaps

SEGMENTS, LENGTH, RADIUS = 50, 0.5, 0.003  # m
YOUNG, SHEAR, DENSITY = 1e9, 1e11, 200.0  # Pa, kg/m3
PULL, RATE = 1.0, 10.0  # N; rad/s of each end
DRAG = 2.0  # 1/s
STEP, SECONDS = 0.003, 1.2  # s
TOUCH = 0.05  # radii


def simulation(threads: int | None = None, contact: str = "coulomb") -> tuple[Rod, Simulation]:
    points = np.zeros((SEGMENTS + 1, 3))
    points[:, 0] = np.linspace(-0.5 * LENGTH, 0.5 * LENGTH, SEGMENTS + 1)
    points[:, 2] = 1e-4 * np.cos(math.pi * points[:, 0] / LENGTH)  # perturbation: a straight rod would not buckle
    rod = Rod.from_points(points, RADIUS, stiffness=round_section(YOUNG, SHEAR, DENSITY, RADIUS), rest="straight")
    scene = Scene(gravity=(0.0, 0.0, 0.0), drag=DRAG, rod_contact=True)
    scene.add(rod, "compact", friction=0.0)
    scene.slide(0, "start", (1, 0, 0), spin=lambda t: -RATE * t, clamped=True)
    scene.slide(0, "end", (1, 0, 0), spin=lambda t: RATE * t, clamped=True)
    scene.load(0, "start", (-PULL, 0.0, 0.0))
    scene.load(0, "end", (PULL, 0.0, 0.0))
    return rod, Simulation(scene, 1.0 / STEP, substeps=1, threads=threads, contact=contact)


def run() -> Outcome:
    rod, sim = simulation(contact="active set")  # the contact solver of the paper, without friction
    frames = list(sim.frames(1, 1 + round(SECONDS / STEP)))
    times = np.array([frame.time for frame in frames])
    link = ClampedLink(frames[0].positions(0), frames[0].directors(0))
    both = [link.of(f.positions(0), f.directors(0), (-RATE * f.time, RATE * f.time)) for f in frames]
    twist, writhe = np.array(both).T
    turns = 2.0 * RATE * times / (2.0 * math.pi)
    ends = np.array([frame.positions(0)[[0, -1]] for frame in frames])
    start = ends[0]
    spans = ends[:, 1, 0] - ends[:, 0, 0]
    gaps = [float(self_gaps(frame.positions(0), RADIUS).min()) / RADIUS for frame in frames]
    sizes = np.array([np.linalg.norm(np.diff(frame.positions(0), axis=0), axis=1) for frame in frames])
    bend = np.array([frame.report.energies.bend for frame in frames])
    twisting = np.array([frame.report.energies.twist for frame in frames])
    buckled = int(np.argmax(writhe > 1.0)) if (writhe > 1.0).any() else len(frames) - 1
    wound = len(np.unique(partners(frames[-1].positions(0), RADIUS, TOUCH * RADIUS)))
    numbers = [
        Number.between("writhe at the end", float(writhe[-1]), 2.0, math.inf, "turns", "a plectoneme"),
        Number.between("edges that touch", wound, 6, math.inf),
        Number.between("twist at the end, of what was put in", float(twist[-1] / turns[-1]), -0.2, 0.2, says="became writhe"),
        Number.between("bending by twisting energy at the end", bend[-1] / twisting[-1], 100.0, math.inf, says="became bending"),
        Number.between("twist + writhe beyond what was put in", float(np.abs(twist + writhe - turns).max()), 0.0, 1e-6, "turns"),
        Number.between("deepest overlap, at any step", -min(gaps), -math.inf, 0.02, "radii"),
        Number.between(
            "ends leave their line by", float(np.abs(ends[:, :, 1:] - start[:, 1:]).max() / RADIUS), 0.0, 1e-9, "radii"
        ),
        Number.between("length changes by", float(np.abs(sizes / sizes[0] - 1.0).max()), 0.0, 1e-11, says="inextensible"),
        Number.equal("steps given up", sum(frame.report.failures for frame in frames), 0),
    ]  # fmt: skip
    shown = [round(0.05 / STEP), buckled, (buckled + len(frames)) // 2, len(frames) - 1]
    moments = [Moment(f"{turns[k]:.1f} turns, {times[k]:.2f} s", [Tube.of(frames[k], 0, rod)]) for k in shown]
    plots = [
        Plot("Energy", "time (s)", "J", [
            Series(times, twisting, "twisting", "-", BLUE), Series(times, bend, "bending", "-", RED),
        ]),
        Plot("Twist becomes writhe", "time (s)", "turns", [
            Series(times, twist, "twist", "-", BLUE), Series(times, writhe, "writhe", "-", RED),
            Series(times, turns, "put in", "--", "#7a828e"),
        ]),
        Plot("Distance of the ends", "time (s)", "m", [Series(times, spans, "", "-", BLUE)]),
    ]  # fmt: skip
    caption = (
        f"A compact rod of {LENGTH:g} m, radius {1e3 * RADIUS:g} mm, {SEGMENTS} segments, E = {YOUNG:g} Pa and G = {SHEAR:g} Pa. "
        f"Its ends are pulled with {PULL:g} N, slide on a line and turn at {RATE:g} rad/s each, in steps of {1e3 * STEP:g} ms."
    )
    return Outcome(numbers, moments, plots, Camera((0.1, -1.0, 0.25)), columns=2, caption=caption)
