"""Materials, cross-sections, and the stiffnesses that follow from them. SI units throughout."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..errors import LARGEST_SIZE, SMALLEST_SIZE, Array, TendrilError, not_negative, number, positive
from .recipe import remembers_arguments


@dataclass(frozen=True)
class Circle:
    """Round cross-section."""

    radius: float  # m

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", _size("radius", self.radius))

    @property
    def half_axes(self) -> tuple[float, float]:
        return self.radius, self.radius


@dataclass(frozen=True)
class _TwoAxes:
    a: float  # m
    b: float  # m

    def __post_init__(self) -> None:
        object.__setattr__(self, "a", _size("a", self.a))
        object.__setattr__(self, "b", _size("b", self.b))

    @property
    def half_axes(self) -> tuple[float, float]:
        return self.a, self.b


class Ellipse(_TwoAxes):
    """Elliptic cross-section: semi-axis `a` along the first material director, `b` along the second."""


class Rectangle(_TwoAxes):
    """Rectangular cross-section, for ribbons: half width `a` along the first material director, `b` along the second."""


Section = Circle | Ellipse | Rectangle
SECTIONS = (Circle, Ellipse, Rectangle)


@dataclass(frozen=True)
class Stiffness:
    """Mechanical properties of a cross-section. Give them directly where no material applies."""

    stretch: float  # EA, N
    bend_1: float  # EI1, N m2: against bending towards the first material director
    bend_2: float  # EI2, N m2: against bending towards the second material director
    twist: float  # GJ, N m2
    mass_per_length: float  # rho A, kg/m
    inertia_per_length: float | None = None  # rho (I1 + I2), kg m: against spin about the tangent

    def __post_init__(self) -> None:
        for name, unit in (
            ("stretch", "N"),
            ("bend_1", "N m^2"),
            ("bend_2", "N m^2"),
            ("twist", "N m^2"),
            ("mass_per_length", "kg/m"),
        ):
            object.__setattr__(self, name, positive(name, getattr(self, name), unit))
        # Default inertia: that of a round section with the radius of gyration implied by bending and stretching.
        inertia = self.inertia_per_length
        if inertia is None:
            inertia = self.mass_per_length * (self.bend_1 + self.bend_2) / self.stretch
        object.__setattr__(self, "inertia_per_length", positive("inertia_per_length", inertia, "kg m"))

    def scaled(self, bend: float = 1.0, twist: float = 1.0) -> Stiffness:
        bend, twist = positive("bend", bend), positive("twist", twist)
        return replace(self, bend_1=self.bend_1 * bend, bend_2=self.bend_2 * bend, twist=self.twist * twist)


@remembers_arguments
@dataclass(frozen=True)
class Material:
    """A homogeneous material; or, with `strands` above one, a bundle of that many fibres that slide on each other.

    A laid or braided rope stretches like its fibres but bends like many thin rods: its bending and twisting stiffness is that
    of the solid section divided by the number of strands."""

    young_modulus: float  # Pa
    density: float  # kg/m3
    poisson_ratio: float | None = None  # in (-1, 0.5]; 0.35 if neither it nor the shear modulus is given
    shear_modulus: float | None = None  # Pa
    damping_time: float = 0.0  # s, Kelvin-Voigt: stress = stiffness (strain + damping_time * strain rate)
    strands: float = 1.0
    swing_time: float = 0.0  # s, in which friction makes a swing on a hold or body ten times smaller; 0: none

    def __post_init__(self) -> None:
        young = positive("young_modulus", self.young_modulus, "Pa")
        density = positive("density", self.density, "kg/m^3")
        not_negative("damping_time", self.damping_time, "s")
        not_negative("swing_time", self.swing_time, "s")
        strands = number("strands", self.strands)
        if strands < 1.0:
            raise TendrilError("strands", self.strands, "give 1 for a solid section, more for a bundle of fibres")
        poisson, shear = self.poisson_ratio, self.shear_modulus
        if poisson is not None and shear is not None:
            raise TendrilError("shear_modulus", shear, "give either poisson_ratio or shear_modulus, not both")
        if shear is not None:
            shear = positive("shear_modulus", shear, "Pa")
            poisson = number("poisson_ratio", young / (2.0 * shear) - 1.0, "give moduli closer to each other")
        else:
            poisson = number("poisson_ratio", 0.35 if poisson is None else poisson, "give a number in (-1, 0.5]")
            if not -1.0 < poisson <= 0.5:
                raise TendrilError("poisson_ratio", poisson, "give a number in (-1, 0.5]")
            # overflows near -1
            shear = positive("shear_modulus", young / (2.0 * (1.0 + poisson)), "Pa")
        for name, value in (
            ("young_modulus", young),
            ("density", density),
            ("poisson_ratio", poisson),
            ("shear_modulus", shear),
            ("damping_time", float(self.damping_time)),
            ("swing_time", float(self.swing_time)),
            ("strands", strands),
        ):
            object.__setattr__(self, name, value)

    def stiffness(self, section: Section) -> Stiffness:
        """EA, EI, GJ and mass per length of a cross-section made of this material."""
        if not isinstance(section, SECTIONS):
            raise TendrilError("section", section, "give a Circle, an Ellipse or a Rectangle")
        return Stiffness(*self._columns(np.array(section.half_axes), isinstance(section, Rectangle)).tolist())

    def stiffness_along(self, half_axes: Array, rectangular: bool) -> Array:
        """(m, 6) the same for many sections with semi-axes (m, 2), in the order of Stiffness; elliptic unless `rectangular`."""
        kind = Rectangle if rectangular else Ellipse
        for extremes in (half_axes.min(axis=0), half_axes.max(axis=0)):
            kind(*extremes.tolist())  # checks the range
        return self._columns(half_axes.T, rectangular).T

    def _columns(self, half_axes: Array, rectangular: bool) -> Array:
        area, i1, i2, j = _moments(half_axes[0], half_axes[1], rectangular)
        assert self.shear_modulus is not None
        with np.errstate(over="ignore"):  # callers refuse infinite values
            return np.array(
                [
                    self.young_modulus * area,
                    self.young_modulus * i1 / self.strands,
                    self.young_modulus * i2 / self.strands,
                    self.shear_modulus * j / self.strands,
                    self.density * area,
                    self.density * (i1 + i2),
                ]
            )

    @staticmethod
    def preset(name: str) -> Material:
        """One of the materials listed by `Material.presets()`."""
        try:
            return _PRESETS[name]
        except (KeyError, TypeError):
            raise TendrilError("preset", name, f"choose one of {', '.join(_PRESETS)}") from None

    @staticmethod
    def presets() -> tuple[str, ...]:
        return tuple(_PRESETS)


def swing_drag(swing_time: float) -> float:
    """1/s, drag in proportion to mass that makes the amplitude of a swing ten times smaller within `swing_time`; 0 if that is 0."""
    return 2.0 * math.log(10.0) / swing_time if swing_time > 0.0 else 0.0


def _moments(a: Array, b: Array, rectangular: bool) -> tuple[Array, Array, Array, Array]:
    """Area, second moments of area and torsion constant."""
    # Bending towards the first director strains material in proportion to its distance along a.
    if rectangular:
        area = 4.0 * a * b
        long, short = np.maximum(a, b), np.minimum(a, b)
        # Saint-Venant torsion of a rectangle, closed-form fit of the series (Roark), accurate to 1e-3.
        thin = short / long
        j = long * short**3 * (16.0 / 3.0 - 3.36 * thin * (1.0 - thin**4 / 12.0))
        return area, area * (a * a) / 3.0, area * (b * b) / 3.0, j
    # Written such that both moments of a circle are bit-identical.
    area = math.pi * a * b
    # Saint-Venant torsion of an ellipse; G (I1 + I2) is only valid for the circle.
    j = math.pi * a**3 * b**3 / (a * a + b * b)
    return area, area * (a * a) / 4.0, area * (b * b) / 4.0, j


def _size(field: str, value: float) -> float:
    result = positive(field, value, "m")
    # The semi-axis of a hair may be far below the smallest length of a rod.
    if not SMALLEST_SIZE * 1e-2 <= result <= LARGEST_SIZE:
        raise TendrilError(field, value, f"give {SMALLEST_SIZE * 1e-2:g} m to {LARGEST_SIZE:g} m (SI units)")
    return result


# Handbook values. For ropes: tensile modulus of the laid rope, and density including the air between the fibres. docs/materials.md
# has the sources of damping.
_PRESETS = {
    "nylon rope": Material(5.0e8, 950.0, poisson_ratio=0.39, damping_time=2e-3, strands=200.0, swing_time=30.0),
    "hemp rope": Material(1.0e9, 1100.0, poisson_ratio=0.35, damping_time=4e-3, strands=60.0, swing_time=20.0),
    "steel cable": Material(1.0e11, 6000.0, poisson_ratio=0.30, damping_time=2e-4, strands=49.0, swing_time=40.0),
    "rubber": Material(2.0e6, 1100.0, poisson_ratio=0.49, damping_time=5e-3, swing_time=12.0),
    "copper wire": Material(1.2e11, 8960.0, poisson_ratio=0.34, damping_time=1e-4),
    "fishing line": Material(2.5e9, 1150.0, poisson_ratio=0.39, damping_time=1e-3, swing_time=30.0),
    "human hair": Material(3.9e9, 1300.0, poisson_ratio=0.37, damping_time=1e-3, swing_time=15.0),
    "spring steel": Material(2.06e11, 7850.0, poisson_ratio=0.29),
    "spaghetti": Material(3.0e9, 1450.0, poisson_ratio=0.30, damping_time=2e-4),
    # a green stem
    "vine": Material(1.0e9, 800.0, poisson_ratio=0.35, damping_time=1e-2, swing_time=12.0),
    "paper": Material(3.0e9, 800.0, poisson_ratio=0.25, damping_time=1e-3, swing_time=12.0),
    # Soft PVC tube with a bore of two thirds of its width, as a solid section of equal bending stiffness and mass.
    "garden hose": Material(1.2e7, 720.0, poisson_ratio=0.45, damping_time=1e-2, swing_time=12.0),
    # Steel links: hardly stretches, bends and twists almost freely.
    "chain": Material(5.0e10, 3000.0, poisson_ratio=0.30, damping_time=1e-3, strands=1e6, swing_time=20.0),
}
