"""A bob on a helical spring alternates between translation and rotation (Bergou et al. 2008, Fig. 11).

A uniform helix of wire length l, height H and total winding angle P has the curvature P cos a / l and the twist P sin a / l, with
sin a = H / l. So its energy is a known function of height and angle, which gives the two modes of the bob: the stiffness is the
second derivative at equilibrium, the masses are those of the bob plus a third of the spring's. The width of the bob makes both
frequencies equal.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import fsolve, least_squares

from ...core import Body, Cylinder, Material, Rod, Scene, Simulation
from ...core.errors import Array
from ...core.models.published.der2008.block import Der2008Block
from .outcome import BLUE, ORANGE, Camera, Moment, Number, Outcome, Plot, Series, Solid, Tube

STEEL = Material(young_modulus=200e9, density=7850.0, poisson_ratio=0.3)
WIRE = 1e-3  # m, radius
TURNS, PER_TURN = 8, 24
RADIUS, CLIMB = 0.03, 0.3  # m, and rad, of the natural helix
MASS = 0.5  # kg, of the bob
GRAVITY = 9.81
PULL = 0.01  # m, initial displacement of the bob
BEATS = 3
STEPS = 48  # per period
FRAMES = 8  # per period


class Spring(NamedTuple):
    length: float  # m, of the wire
    turned: float  # rad, natural total winding angle
    bend: float  # EI
    twist: float  # GJ
    mass: float

    def twisted(self, height: float, angle: float) -> float:
        """Total twist of the wire, rad."""
        return angle * height / self.length - self.turned * math.sin(CLIMB)

    def energy(self, height: float, angle: float) -> float:
        bent = angle * math.sqrt(1.0 - (height / self.length) ** 2) - self.turned * math.cos(CLIMB)
        return 0.5 * (self.bend * bent**2 + self.twist * self.twisted(height, angle) ** 2) / self.length

    def force(self, height: float, angle: float) -> Array:
        """Gradient of the energy with respect to height and angle."""
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
    """Points of the helix, from the top down."""
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
    height: Array  # m, of the bob relative to equilibrium
    angle: Array  # rad
    energy: Array  # J, total
    energies: Array  # (2, n) of the two modes
    frames: list[tuple[Array, Array, Array, Array]]  # wire, directors, bob's position and rotation


def hanging(spring: Spring) -> tuple[float, float]:
    """Height and winding angle of the spring at equilibrium."""
    weight = (MASS + 0.5 * spring.mass) * GRAVITY
    start = spring.length * math.sin(CLIMB), spring.turned

    def residual(x: Array) -> Array:
        up, about = spring.force(float(x[0]), float(x[1]))
        return np.array([up - weight, about])

    height, angle = fsolve(residual, start)
    return float(height), float(angle)


def modes(spring: Spring, stiffness: Array) -> tuple[Array, float]:
    """Angular frequencies of the two modes, rad/s, and the axial inertia of the bob for which they are tuned."""
    moving = MASS + spring.mass / 3.0
    turning = moving * stiffness[1, 1] / stiffness[0, 0]
    rates = np.sqrt(np.linalg.eigvalsh(stiffness / np.sqrt(np.outer([moving, turning], [moving, turning]))))
    return rates, turning - spring.mass * RADIUS**2 / 3.0


def swing(beats: float = BEATS, model: str = "der", projection: str = "symplectic") -> tuple[Spring, Array, Motion]:
    """`projection` is that of the model `der2008`: fast projection loses 7 % of the energy in half a beat."""
    spring = make_spring()
    height, angle = hanging(spring)
    stiffness = spring.stiffness(height, angle)
    rates, inertia = modes(spring, stiffness)
    wire = Rod.from_points(
        helix(spring, height + PULL, angle),
        WIRE,
        STEEL,
        rest=helix(spring, spring.length * math.sin(CLIMB), spring.turned),
        twist=-spring.twisted(height + PULL, angle),  # a left-handed helix
    )
    width = math.sqrt(2.0 * inertia / MASS)
    bob = Body(Cylinder(width, 0.04), mass=MASS, position=(0.0, 0.0, -height - PULL - 0.02))
    scene = Scene(gravity=(0.0, 0.0, -GRAVITY))
    rod = scene.add(wire, model)
    scene.clamp(rod, "start")
    body = scene.add_body(bob)
    scene.attach(rod, "end", body)
    period = 2.0 * math.pi / float(rates.mean())
    sim = Simulation(scene, FRAMES / period, substeps=STEPS // FRAMES)
    for block in sim.blocks:
        if isinstance(block, Der2008Block):
            block.projection = projection
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
    x -= x.mean(axis=1, keepdims=True)  # relative to equilibrium with the weight of the spring
    masses = np.array([[MASS + spring.mass / 3.0], [inertia + spring.mass * RADIUS**2 / 3.0]])
    own = 0.5 * masses * v**2 + 0.5 * np.diag(stiffness)[:, None] * x**2
    return spring, rates, Motion(np.array(time), *x, np.array(total), own, frames)


def beat(motion: Motion, rates: Array) -> float:
    """Period of the energy exchange of the two modes, from a fit of two damped waves to the motion.

    For given rates and decay the amplitudes follow by linear least squares. The remaining error has many minima; the search starts
    from the lowest of a grid of mean rates and differences."""
    mean, difference = float(rates.mean()), float(rates[1] - rates[0])

    def residual(x: Array) -> Array:
        one, two = x[0] - 0.5 * x[1], x[0] + 0.5 * x[1]
        t = motion.time
        waves = np.stack([np.cos(one * t), np.sin(one * t), np.cos(two * t), np.sin(two * t)], axis=1)
        waves *= np.exp(-x[2] * t)[:, None]
        amplitudes = np.linalg.lstsq(waves, motion.height, rcond=None)[0]
        return np.asarray((waves @ amplitudes - motion.height) / PULL)

    grid = [
        np.array([mean * a, difference * b, 0.0])
        for a in np.linspace(0.95, 1.05, 41)
        for b in np.linspace(0.5, 2.0, 31)
    ]
    found = least_squares(residual, min(grid, key=lambda x: float(np.sum(residual(x) ** 2))))
    return float(2.0 * math.pi / abs(found.x[1]))


def run(model: str = "der") -> Outcome:
    _, rates, motion = swing(BEATS, model)
    expected = 2.0 * math.pi / float(rates[1] - rates[0])
    share = motion.energies[1] / motion.energies.sum(axis=0)
    first = motion.time <= 0.75 * expected
    back = (motion.time >= 0.75 * expected) & (motion.time <= 1.25 * expected)
    # The spring does not start exactly in equilibrium; the resulting vibration has decayed after the first period.
    begun = FRAMES
    swinging = float(motion.energies.sum(axis=0)[begun : 3 * begun].mean())
    numbers = [
        Number("period of the bob", 2.0 * math.pi / float(rates.mean()), "s"),
        Number.near("beat period", beat(motion, rates), expected, 0.03, "s", "two modes of a uniform helix"),
        Number.between("largest part of the energy in rotation", float(share[first].max()), 0.97, 1.0, "", "all of it"),
        Number.between(
            "smallest part in rotation, after the return", float(share[back].min()), 0.0, 0.03, "", "nothing"
        ),
        Number.between(
            "energy lost in three beats",
            float(motion.energy[begun] - motion.energy[-1]) / swinging,
            -0.01,
            0.05,
            "",
            "of the energy of the motion",
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
                Series(motion.time, 1e3 * motion.energies[0], "translation", "-", BLUE),
                Series(motion.time, 1e3 * motion.energies[1], "rotation", "-", ORANGE),
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
        moments.append(Moment(f"{motion.time[k]:.1f} s", [tube, _marker(position, rotation)], [Solid(bob)]))
    caption = "Translation becomes rotation, and returns."
    if model == "der2008":
        caption += " Discrete Elastic Rods of 2008 with the energy-preserving projection."
    return Outcome(numbers, moments, plots, Camera(), caption=caption)


def _marker(position: Array, rotation: Array) -> Tube:
    """A stripe from the axis of the bob over its top and down its side, which shows how far it has turned."""
    width = _width()
    way = np.array([(0.0, 0.0, 0.02), (width, 0.0, 0.02), (width, 0.0, -0.02)])
    return Tube(position + way @ rotation.T, 0.15 * width, ORANGE)


def _width() -> float:
    spring = make_spring()
    return math.sqrt(2.0 * modes(spring, spring.stiffness(*hanging(spring)))[1] / MASS)
