"""Two bodies joined by a rod, one fifty times heavier than the other: the rod transmits torque between them (Bergou et al. 2008,
Fig. 6).

The heavy body rotates at the start, the light one is at rest. Twist oscillates between them with the angular frequency
w^2 = GJ / L (1 / I + 1 / I'), where each inertia includes a share of the small inertia of the rod; energy is conserved.

If the heavy body turns forty times as fast, the rod buckles, pulls the bodies together and winds about itself.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...core import Body, Box, Cylinder, Frame, Material, Rod, Scene, Simulation
from ...core.errors import Array
from .outcome import BLUE, GREEN, ORANGE, Camera, Moment, Number, Outcome, Plot, Series, Solid, Tube
from .pendulum import period
from .strands import self_gaps

LENGTH, RADIUS = 1.0, 0.01
SEGMENTS = {"der": 199, "der2008": 30}  # the paper has 200 vertices, with which explicit steps take minutes
RUBBER = Material(young_modulus=2e7, density=1100.0, poisson_ratio=0.45)
HEAVY = Cylinder(0.2, 0.1)
LIGHT = Box((0.1, 0.3, 0.05))
MASSES = (50.0, 1.0)  # kg
SPIN = 3.0  # rad/s
PERIODS, FRAMES, STEPS = 3, 24, 8  # STEPS a frame
FAST_SPIN, FAST_SECONDS, FAST_RATE, FAST_STEPS = 120.0, 0.55, 200.0, 4  # rad/s, s, frames per second, steps a frame
CROOKED = 1e-3  # m, of the rod that is to buckle


class Exchange(NamedTuple):
    frames: list[Frame]
    time: Array
    heavy: Array  # J, kinetic energy of the bodies
    light: Array
    rod: Array  # J, all energy of the rod
    slower: Array  # rad/s: spin of the light body relative to the mean
    rate: float  # rad/s, expected angular frequency


def _coupled(points: Array, spin: float, model: str, contact: bool = False) -> tuple[Scene, Rod, list[Body]]:
    scene = Scene(gravity=(0.0, 0.0, 0.0), rod_contact=contact)
    rod = Rod.from_points(points, RADIUS, RUBBER, rest="straight")
    rod_id = scene.add(rod, model, friction=0.0)
    across = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]).T  # its axis along the rod
    bodies = [
        Body(HEAVY, mass=MASSES[0], position=(-0.05, 0, 0), rotation=across, angular_velocity=(spin, 0, 0)),
        Body(LIGHT, mass=MASSES[1], position=(LENGTH + 0.05, 0, 0)),
    ]
    for body, where in zip(bodies, ("start", "end"), strict=True):
        scene.attach(rod_id, where, scene.add_body(body))
    return scene, rod, bodies


class Winding(NamedTuple):
    """A run in which the rod buckles and touches itself."""

    frames: list[Frame]
    gap: Array  # radii: smallest, per frame
    bend: Array  # J
    total: Array  # J


def wound(seconds: float = FAST_SECONDS, segments: int = SEGMENTS["der"]) -> Winding:
    x = np.linspace((0, 0, 0), (LENGTH, 0, 0), segments + 1)
    x[:, 2] = CROOKED * np.sin(math.pi * x[:, 0] / LENGTH)
    scene, _, _ = _coupled(x, FAST_SPIN, "der", True)
    frames = list(Simulation(scene, FAST_RATE, substeps=FAST_STEPS).frames(1, 1 + round(seconds * FAST_RATE)))
    gap = np.array([self_gaps(frame.positions(0), RADIUS).min() / RADIUS for frame in frames])
    energies = [frame.report.energies for frame in frames]
    return Winding(frames, gap, np.array([one.bend for one in energies]), np.array([one.total for one in energies]))


def exchange(periods: float = PERIODS, model: str = "der") -> Exchange:
    x = np.linspace((0, 0, 0), (LENGTH, 0, 0), SEGMENTS[model] + 1)
    scene, rod, bodies = _coupled(x, SPIN, model)
    turning = [
        float(np.asarray(body.rotation)[0] @ np.asarray(body.inertia) @ np.asarray(body.rotation)[0]) for body in bodies
    ]
    own = LENGTH * float(rod.inertia_per_length[0]) / 3.0
    stiffness = float(rod.twist_stiffness[0]) / LENGTH
    rate = math.sqrt(stiffness * (1.0 / (turning[0] + own) + 1.0 / (turning[1] + own)))
    sim = Simulation(scene, FRAMES * rate / (2.0 * math.pi), substeps=STEPS)
    frames = list(sim.frames(1, 1 + round(periods * FRAMES)))
    energies = np.zeros((2, len(frames)))
    spin = np.zeros(len(frames))
    for k, frame in enumerate(frames):
        for body in range(2):
            rotation, v, w = frame.body_rotation(body), frame.body_velocity(body), frame.body_angular_velocity(body)
            own_w = rotation.T @ w
            energies[body, k] = 0.5 * (MASSES[body] * v @ v + own_w @ np.asarray(bodies[body].inertia) @ own_w)
        spin[k] = frame.body_angular_velocity(1)[0]
    total = np.array([frame.report.energies.total for frame in frames])
    mean = SPIN * turning[0] / sum(turning)
    time = np.array([frame.time for frame in frames])
    return Exchange(frames, time, *energies, total - energies.sum(axis=0), spin - mean, rate)


def run(model: str = "der") -> Outcome:
    seen = exchange(PERIODS, model)
    total = seen.heavy + seen.light + seen.rod
    most = float(total[0])
    numbers = [
        Number("heavy / light body", MASSES[0] / MASSES[1]),
        Number.near("total energy, least", float(total.min()) / most, 1.0, 0.01, "of the first"),
        Number.near("total energy, most", float(total.max()) / most, 1.0, 0.01, "of the first"),
        Number.near(
            "period", period(seen.time, seen.slower), 2.0 * math.pi / seen.rate, 0.005, "s", "two bodies on a spring"
        ),
        Number.near(
            "light body, fastest", float(seen.frames[FRAMES // 2].body_angular_velocity(1)[0]), 2.0 * (seen.slower[0] * -1.0),
            0.01, "rad/s", "twice the mean",
        ),
    ]  # fmt: skip
    plot = Plot(
        "Energies",
        "time (s)",
        "J",
        [
            Series(seen.time, seen.heavy, "heavy body", "-", BLUE),
            Series(seen.time, seen.light, "light body", "-", ORANGE),
            Series(seen.time, seen.rod, "rod", "-", GREEN),
            Series(seen.time, total, "total", "--", "black"),
        ],
    )
    detail = Plot(
        "Light body and rod",
        "time (s)",
        "J",
        [Series(seen.time, seen.light, "light body", "-", ORANGE), Series(seen.time, seen.rod, "rod", "-", GREEN)],
    )
    moments = [_drawn(seen.frames[k], f"{seen.frames[k].time:.2f} s") for k in (0, FRAMES // 2)]
    if model == "der":  # with contact `der2008` takes the steps of `der`
        more, late = _buckled()
        numbers += more
        moments += late
    caption = (
        f"A rod of rubber of {LENGTH:g} m, radius {RADIUS:g} m and {SEGMENTS[model] + 1} vertices between bodies of "
        f"{MASSES[0]:g} and {MASSES[1]:g} kg. The heavy one turns at {SPIN:g} rad/s. Energy goes from it through the twist "
        "of the rod to the light one, and back."
    )
    if model == "der":
        caption += (
            f" At {FAST_SPIN:g} rad/s the rod, {1e3 * CROOKED:g} mm crooked, buckles, pulls the bodies together and winds about "
            "itself; it does not collide with the bodies."
        )
    return Outcome(numbers, moments, [plot, detail], Camera((0.3, -1.0, 0.45)), columns=3, caption=caption)


def _buckled() -> tuple[list[Number], list[Moment]]:
    winding = wound()
    touching = np.abs(winding.gap) < 0.02
    met = int(np.argmax(touching)) if touching.any() else len(touching) - 1
    kept = winding.total / winding.total[0]
    ends = winding.frames[-1].body_position(1)[0] - winding.frames[-1].body_position(0)[0]
    numbers = [
        Number.near("turning fast: total energy until the rod touches itself", float(kept[:met].min()), 1.0, 0.005),
        Number.near("total energy, at the end", float(kept[-1]), 1.0, 0.02),
        Number.between("energy in bending", float(winding.bend[-1]), 10.0, math.inf, "J", "it has buckled"),
        Number.between("bodies apart", float(ends), 0.0, 0.5 * LENGTH, "m", "it has pulled them together"),
        Number.equal("touches itself", bool(touching.any()), True),
        Number.between("deepest overlap", -float(winding.gap.min()), -math.inf, 0.02, "radii"),
        Number.equal("steps given up", sum(frame.report.failures for frame in winding.frames), 0),
    ]
    late = [winding.frames[round(part * (len(winding.frames) - 1))] for part in (0.75, 0.88, 1.0)]
    return numbers, [_drawn(frame, f"turning fast, {frame.time:.2f} s") for frame in late]


def _drawn(frame: Frame, title: str) -> Moment:
    solids = [
        Solid(Cylinder(HEAVY.radius, HEAVY.length, frame.body_position(0), frame.body_rotation(0)), BLUE),
        Solid(Box(LIGHT.size, frame.body_position(1), frame.body_rotation(1)), ORANGE),
    ]
    return Moment(title, [Tube(frame.positions(0), RADIUS, GREEN, directors=frame.directors(0))], solids)
