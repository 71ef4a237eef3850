"""What mechanics says, by formulas and solvers that know nothing of Tendril. Lengths in L, forces in EI/L2, moments in EI/L."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, fsolve
from scipy.special import ellipe, ellipeinc, ellipk, ellipkinc, jn_zeros, jv


def root(function, low: float, high: float) -> float:
    return float(brentq(function, low, high, xtol=1e-15, rtol=1e-14))


class Tip(NamedTuple):
    x: float  # along the clamped tangent
    y: float  # along the load


def loaded_cantilever(load: float) -> Tip:
    """A cantilever with a force across its tip, by elliptic integrals (Bisshopp and Drucker, 1945)."""
    size = math.sqrt(load)

    def amplitude(m: float) -> float:
        return math.asin(math.sqrt(0.5 / m))

    m = root(lambda m: ellipk(m) - ellipkinc(amplitude(m), m) - size, 0.5 + 1e-12, 1.0 - 1e-12)
    fall = 1.0 - 2.0 * (ellipe(m) - ellipeinc(amplitude(m), m)) / size
    return Tip(2.0 * math.sqrt(m) * math.cos(amplitude(m)) / size, float(fall))


def heavy_cantilever(weight: float) -> Tip:
    """A cantilever under its own weight: angle'' = -weight (1 - s) cos(angle), by shooting for a tip without moment."""

    def shoot(moment: float) -> np.ndarray:
        def slope(s: float, y: np.ndarray) -> list[float]:
            return [y[1], -weight * (1.0 - s) * math.cos(y[0]), math.cos(y[0]), math.sin(y[0])]

        return solve_ivp(slope, (0.0, 1.0), [0.0, moment, 0.0, 0.0], method="DOP853", rtol=1e-12, atol=1e-14).y[:, -1]

    most = 0.5 * weight  # as long as the rod stays straight
    moment = root(lambda moment: shoot(moment)[1], 0.0, most + 1e-9)
    return Tip(*shoot(moment)[2:])


class PinnedElastica(NamedTuple):
    load: float
    span: float
    height: float


def pinned_elastica(end_angle: float) -> PinnedElastica:
    """A buckled rod between two pins, of which the tangents at the ends make this angle with the line between them."""
    k = math.sin(0.5 * end_angle)
    quarter = float(ellipk(k * k))
    return PinnedElastica(4.0 * quarter**2, 2.0 * float(ellipe(k * k)) / quarter - 1.0, k / quarter)


EULER_LOAD = {"pinned": math.pi**2, "cantilever": 0.25 * math.pi**2, "clamped": 4.0 * math.pi**2}


def michell_twist(twist_to_bend: float) -> float:
    """The angle by which a naturally straight ring must be twisted to leave its plane; twist_to_bend is GJ/EI."""
    return 2.0 * math.pi * math.sqrt(3.0) / twist_to_bend


def greenhill_moment(tension: float) -> float:
    """The torque at which a straight rod between two clamps buckles under a tension.

    Its deflection w = y + i z obeys w'''' - i M w''' - T w'' = 0, so w = A + B s + C exp(i (m + q) s) + D exp(i (m - q) s)
    with m = M/2, q^2 = m^2 - T. That w and w' vanish at both ends asks for T sin q = 2 q (cos q - cos m); without tension
    this becomes tan m = m. For a long rod q tends to pi, and M^2 to 4 T.
    """
    if tension == 0.0:
        return 2.0 * root(lambda m: math.sin(m) - m * math.cos(m), math.pi, 1.5 * math.pi)

    def condition(q: float) -> float:
        return tension * math.sin(q) / q - 2.0 * (math.cos(q) - math.cos(math.sqrt(q * q + tension)))

    steps = np.linspace(1e-3, 2.0 * math.pi, 400)
    first = next(k for k in range(1, len(steps)) if condition(steps[k]) < 0.0)
    return 2.0 * math.sqrt(root(condition, steps[first - 1], steps[first]) ** 2 + tension)


def cantilever_wave_numbers(count: int) -> list[float]:
    """b of the first modes of a clamped-free beam: cos b cosh b = -1. Frequencies are b^2 sqrt(EI / rho A) / L^2."""
    return [root(lambda b: math.cos(b) + 1.0 / math.cosh(b), k * math.pi, (k + 1) * math.pi) for k in range(count)]


def cantilever_mode(b: float, s: np.ndarray) -> np.ndarray:
    """Deflection of the mode with wave number b; 2 at the tip, up to the sign."""
    ratio = (math.cosh(b) + math.cos(b)) / (math.sinh(b) + math.sin(b))
    return np.cosh(b * s) - np.cos(b * s) - ratio * (np.sinh(b * s) - np.sin(b * s))


def localised_deviation(turn_by_length: float, shortening: float, twist_to_bend: float, turn: float) -> float:
    """The largest angle from its axis of a long clamped rod that is twisted by `turn` (rad) and buckles into one helix as its ends
    approach (van der Heijden and Thompson, 2000). Its width is s* = 2 EI / (GJ m tan(phi0 / 2)) where the twist is m per length;
    the helix makes it shorter by 2 s* (1 - cos phi0) = 4 EI sin(phi0) / (GJ m) and takes 2 phi0 of the turn."""

    def too_short(deviation: float) -> float:
        twist = turn_by_length * (1.0 - 2.0 * deviation / turn)
        return 4.0 * math.sin(deviation) / (twist_to_bend * twist) - shortening

    return root(too_short, 0.01, 1.5)


class Catenary(NamedTuple):
    a: float  # horizontal tension by weight per length
    sag: float


def catenary(span: float, length: float) -> Catenary:
    """A chain of weight 1 per length between two points at the same height."""
    a = root(lambda a: 2.0 * a * math.sinh(0.5 * span / a) - length, 1e-2 * span, 1e2 * span)
    return Catenary(a, a * (math.cosh(0.5 * span / a) - 1.0))


def ring_frequency(waves: int) -> float:
    """In-plane bending vibration of a free, inextensible, naturally circular ring of radius 1 with this many waves around it."""
    return waves * (waves**2 - 1.0) / math.sqrt(waves**2 + 1.0)


def heavy_column() -> float:
    """Weight at which a vertical column, clamped at its foot, buckles (Greenhill, 1881): 9/4 of the square of the first zero of
    the Bessel function of order -1/3."""
    return 2.25 * root(lambda x: float(jv(-1.0 / 3.0, x)), 1.5, 2.2) ** 2


def lateral_buckling() -> float:
    """Tip load at which a thin cantilever strip buckles sideways, in sqrt(EI GJ) / L2, where EI is that of the weak axis: twice the
    first zero of the Bessel function of order -1/4 (Prandtl, 1899)."""
    return 2.0 * root(lambda x: float(jv(-0.25, x)), 1.5, 2.5)


def chain_frequencies(count: int) -> list[float]:
    """Of a chain that hangs from one end, with length and gravity 1 (Bernoulli)."""
    return [0.5 * float(zero) for zero in jn_zeros(0, count)]


def chain_mode(frequency: float, depth: np.ndarray) -> np.ndarray:
    """Deflection at these depths below the upper end; 1 at the lower end."""
    return np.asarray(jv(0, 2.0 * frequency * np.sqrt(1.0 - depth)))


class Arc(NamedTuple):
    """A round cantilever along a circular arc in the plane x y that begins along y and bends towards x, loaded by a force along z
    at its tip."""

    radius: float
    angle: float
    bend: float
    twist: float
    load: float


def arc_tip(arc: Arc) -> np.ndarray:
    """Tip position of an inextensible, unshearable arc, by shooting: the moment obeys m' = -t x n with the constant force n, and
    its value at the clamp is found such that it vanishes at the tip."""
    natural = np.array([1.0 / arc.radius, 0.0, 0.0])  # in the frame whose third axis is the tangent
    clamp = np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # rows: the axes of this frame
    stiffness = np.array([arc.bend, arc.bend, arc.twist])

    def at_tip(moment: np.ndarray, load: float) -> np.ndarray:
        def slope(s: float, y: np.ndarray) -> np.ndarray:
            axes, m = y[3:12].reshape(3, 3), y[12:]
            turning = (axes @ m / stiffness + natural) @ axes
            return np.concatenate([axes[2], np.cross(turning, axes).ravel(), -np.cross(axes[2], (0.0, 0.0, load))])

        start = np.concatenate([np.zeros(3), clamp.ravel(), moment])
        span = (0.0, arc.radius * arc.angle)
        return solve_ivp(slope, span, start, method="DOP853", rtol=1e-11, atol=1e-11).y[:, -1]

    moment = np.zeros(3)
    for part in np.linspace(1.0 / 6.0, 1.0, 6):
        load = part * arc.load
        moment = fsolve(lambda m, load=load: at_tip(m, load)[12:], moment, xtol=1e-12)
    end = at_tip(moment, arc.load)
    assert np.abs(end[12:]).max() < 1e-8 * np.abs(moment).max()
    return end[:3]


class Plectoneme(NamedTuple):
    moment: float  # by EI / R
    tension: float  # by EI / R2


def plectoneme(angle: float) -> Plectoneme:
    """Twisting moment and tension of a rod that is wound about itself without friction, by the angle between the two strands of the
    double helix and its axis; R is the radius of the rod (Thompson, van der Heijden and Neukirch, 2002)."""
    sine, double = math.sin(angle), math.cos(2.0 * angle)
    return Plectoneme(2.0 * math.cos(angle) * sine**3 / double, sine**4 * (0.5 + 1.0 / double))


def precession(mass: float, gravity: float, arm: float, inertia: float, spin: float) -> float:
    """Of a gyroscope with a level axle that is held at a distance `arm` from its centre of mass, rad/s. Exact for a steady motion:
    the inward force of the string acts along the axle."""
    return mass * gravity * arm / (inertia * spin)
