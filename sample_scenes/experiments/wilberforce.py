"""A bob on a helical spring moves up and down, then turns, then moves up and down again.

A uniform helix of a wire of length l, height H and angle P (all turns together) has bent by P cos a / l and twisted by
P sin a / l, with sin a = H / l. So its energy is known as a function of height and angle, and with it the two modes of the
bob: their stiffness is the second derivative where the bob hangs, their masses are those of the bob with a third of the
spring's. The bob is as wide as makes both modes equally fast.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import curve_fit, fsolve

from ...core import Body, Cylinder, Material, Rod, Scene, Simulation
from ...core.errors import Array
from .outcome import BLUE, ORANGE, Camera, Moment, Number, Outcome, Plot, Series, Solid, Tube

STEEL = Material(young_modulus=200e9, density=7850.0, poisson_ratio=0.3)
WIRE = 1e-3  # m, its radius
TURNS, PER_TURN = 8, 24
RADIUS, CLIMB = 0.03, 0.3  # m, and rad, of the natural helix
MASS = 0.5  # kg, of the bob
GRAVITY = 9.81
PULL = 0.01  # m: by which the bob is pulled down at the start
BEATS = 3
STEPS = 48  # in a period
FRAMES = 8  # in a period


class Spring(NamedTuple):
    length: float  # m, of the wire
    turned: float  # rad, of all turns together, naturally
    bend: float  # EI
    twist: float  # GJ
    mass: float

    def twisted(self, height: float, angle: float) -> float:
        """rad, of the whole wire"""
        return angle * height / self.length - self.turned * math.sin(CLIMB)

    def energy(self, height: float, angle: float) -> float:
        bent = angle * math.sqrt(1.0 - (height / self.length) ** 2) - self.turned * math.cos(CLIMB)
        return 0.5 * (self.bend * bent**2 + self.twist * self.twisted(height, angle) ** 2) / self.length

    def force(self, height: float, angle: float) -> Array:
        """How the energy grows with height and angle."""
        h, p = 1e-5 * self.length, 1e-5
        up = (self.energy(height + h, angle) - self.energy(height - h, angle)) / (2.0 * h)
        about = (self.energy(height, angle + p) - self.energy(height, angle - p)) / (2.0 * p)
        return np.array([up, about])

    def stiffness(self, height: float, angle: float) -> Array:
        steps = (1e-4 * self.length, 0.0), (0.0, 1e-4)
        columns = [
            (self.force(height + h, angle + p) - self.force(height - h, angle - p)) / (2.0 * (h + p)) for h, p in steps
        ]
        found = np.stack(columns, axis=1)
        return np.asarray(0.5 * (found + found.T))


def helix(spring: Spring, height: float, angle: float) -> Array:
    """From above down."""
    share = np.linspace(0.0, 1.0, TURNS * PER_TURN + 1)
    radius = math.sqrt(spring.length**2 - height**2) / angle
    around = share * angle
    return np.stack([radius * np.cos(around), radius * np.sin(around), -share * height], axis=1)


def make_spring() -> Spring:
    turned = 2.0 * math.pi * TURNS
    length = RADIUS * turned / math.cos(CLIMB)
    section = math.pi * WIRE**4 / 4.0
    shear = STEEL.young_modulus / (2.0 * (1.0 + 0.3))
    mass = STEEL.density * math.pi * WIRE**2 * length
    return Spring(length, turned, STEEL.young_modulus * section, shear * 2.0 * section, mass)


class Motion(NamedTuple):
    time: Array
    height: Array  # m, of the bob above where it hangs
    angle: Array  # rad
    energy: Array  # J, of all
    energies: Array  # (2, n) of the two modes
    frames: list[tuple[Array, Array, Array, Array]]  # wire, directors, bob's position and rotation


def hanging(spring: Spring) -> tuple[float, float]:
    """Height of the spring and angle of its turns where the bob hangs."""
    weight = (MASS + 0.5 * spring.mass) * GRAVITY
    start = spring.length * math.sin(CLIMB), spring.turned

    def amiss(x: Array) -> Array:
        up, about = spring.force(float(x[0]), float(x[1]))
        return np.array([up - weight, about])

    height, angle = fsolve(amiss, start)
    return float(height), float(angle)


def modes(spring: Spring, stiffness: Array) -> tuple[Array, float]:
    """The two rates (rad/s), and the inertia about its axis that the bob needs to be in tune."""
    moving = MASS + spring.mass / 3.0
    turning = moving * stiffness[1, 1] / stiffness[0, 0]
    rates = np.sqrt(np.linalg.eigvalsh(stiffness / np.sqrt(np.outer([moving, turning], [moving, turning]))))
    return rates, turning - spring.mass * RADIUS**2 / 3.0


def swing(beats: float = BEATS) -> tuple[Spring, Array, Motion]:
    spring = make_spring()
    height, angle = hanging(spring)
    stiffness = spring.stiffness(height, angle)
    rates, inertia = modes(spring, stiffness)
    wire = Rod.from_points(
        helix(spring, height + PULL, angle),
        WIRE,
        STEEL,
        rest=helix(spring, spring.length * math.sin(CLIMB), spring.turned),
        twist=-spring.twisted(height + PULL, angle),  # it winds to the left
    )
    width = math.sqrt(2.0 * inertia / MASS)
    bob = Body(Cylinder(width, 0.04), mass=MASS, position=(0.0, 0.0, -height - PULL - 0.02))
    scene = Scene(gravity=(0.0, 0.0, -GRAVITY))
    rod = scene.add(wire)
    scene.clamp(rod, "start")
    body = scene.add_body(bob)
    scene.attach(rod, "end", body)
    period = 2.0 * math.pi / float(rates.mean())
    sim = Simulation(scene, FRAMES / period, substeps=STEPS // FRAMES)
    count = math.ceil(beats * FRAMES * 2.0 * math.pi / float(rates[1] - rates[0]) / period)
    seen, time, z, turn, total, frames = [], [], [], [], [], []
    turned = 0.0
    for frame in sim.frames(1, 1 + count):
        rotation = frame.body_rotation(body)
        now = math.atan2(rotation[1, 0], rotation[0, 0])
        turned += (now - turned + math.pi) % (2.0 * math.pi) - math.pi
        time.append(frame.time)
        z.append(float(frame.body_position(body)[2]) + height + 0.02)
        turn.append(turned)
        total.append(frame.report.energies.total)
        seen.append((float(frame.body_velocity(body)[2]), float(frame.body_angular_velocity(body)[2])))
        frames.append((frame.positions(rod), frame.directors(rod), frame.body_position(body), rotation))
    x, v = np.array([z, turn]), np.array(seen).T
    x -= x.mean(axis=1, keepdims=True)  # about where it hangs with the spring's own weight
    masses = np.array([[MASS + spring.mass / 3.0], [inertia + spring.mass * RADIUS**2 / 3.0]])
    own = 0.5 * masses * v**2 + 0.5 * np.diag(stiffness)[:, None] * x**2
    return spring, rates, Motion(np.array(time), *x, np.array(total), own, frames)


def beat(motion: Motion, rates: Array) -> float:
    """The period with which the two modes exchange their energy, from the motion: that of two waves together."""

    def waves(t: Array, a: float, b: float, c: float, d: float, one: float, two: float, decay: float) -> Array:
        waving = a * np.cos(one * t) + b * np.sin(one * t) + c * np.cos(two * t) + d * np.sin(two * t)
        return np.asarray(waving * np.exp(-decay * t))

    half = -0.5 * PULL
    found, _ = curve_fit(waves, motion.time, motion.height, p0=(half, 0.0, half, 0.0, rates[0], rates[1], 0.0))
    return float(2.0 * math.pi / abs(found[5] - found[4]))


def run() -> Outcome:
    _, rates, motion = swing()
    expected = 2.0 * math.pi / float(rates[1] - rates[0])
    share = motion.energies[1] / motion.energies.sum(axis=0)
    first = motion.time <= 0.75 * expected
    back = (motion.time >= 0.75 * expected) & (motion.time <= 1.25 * expected)
    # What the drawn spring lacks to be in balance shakes it at the start, and is gone after the first period.
    begun = FRAMES
    swinging = float(motion.energies.sum(axis=0)[begun : 3 * begun].mean())
    numbers = [
        Number("period of the bob", 2.0 * math.pi / float(rates.mean()), "s"),
        Number.near("beat period", beat(motion, rates), expected, 0.03, "s", "two modes of a uniform helix"),
        Number.between("most that turns", float(share[first].max()), 0.97, 1.0, "", "all of it"),
        Number.between("least that turns, back again", float(share[back].min()), 0.0, 0.03, "", "nothing"),
        Number.between(
            "energy lost in three beats",
            float(motion.energy[begun] - motion.energy[-1]) / swinging,
            -0.01,
            0.05,
            "",
            "of the motion's",
        ),
    ]
    plots = [
        Plot(
            "The bob",
            "time (s)",
            "",
            [
                Series(motion.time, motion.height / PULL, "height / 1 cm", "-", BLUE),
                Series(motion.time, motion.angle / np.abs(motion.angle).max() - 2.5, "angle", "-", ORANGE),
            ],
        ),
        Plot(
            "Energies",
            "time (s)",
            "mJ",
            [
                Series(motion.time, 1e3 * motion.energies[0], "up and down", "-", BLUE),
                Series(motion.time, 1e3 * motion.energies[1], "turning", "-", ORANGE),
                Series(motion.time, 1e3 * motion.energies.sum(axis=0), "both", "-", "#444444"),
            ],
        ),
    ]
    moments = []
    for part in (0.0, 0.25, 0.5, 1.0):
        k = int(np.argmin(np.abs(motion.time - part * expected)))
        points, directors, position, rotation = motion.frames[k]
        bob = Cylinder(_width(), 0.04, position=position, rotation=rotation)
        tube = Tube(points, WIRE, directors=directors)
        moments.append(Moment(f"{motion.time[k]:.1f} s", [tube], [Solid(bob)]))
    return Outcome(numbers, moments, plots, Camera(), caption="Up and down becomes turning, and comes back.")


def _width() -> float:
    spring = make_spring()
    return math.sqrt(2.0 * modes(spring, spring.stiffness(*hanging(spring)))[1] / MASS)
