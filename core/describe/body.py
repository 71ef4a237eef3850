"""Rigid bodies as the user describes them, validated on construction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from ..errors import Array, TendrilError, array, flag, fraction, friction_coefficient, not_negative, positive, vector
from .mass import mass_properties
from .recipe import remembers_arguments
from .shapes import UPRIGHT, Solid, names_of, position_vector, rotation_matrix, set_frozen

DEFAULT_DENSITY = 1000.0  # kg/m3
DEFAULT_FRICTION = 0.4

Path = Callable[[float], Any]


@remembers_arguments
@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body.

    Its shape is given in body coordinates, which `position` and `rotation` place in the world. Its mass is `mass` (kg), or its
    volume times `density` (kg/m3). Centre of mass and inertia follow from the shape unless given, in body coordinates.
    `velocity` is that of the centre of mass. The dampings (1/s) slow down translation and rotation.

    A body that `collides` interacts with rods, colliders and other such bodies, with friction and with a coefficient of
    restitution (the larger one of two bodies; rods do not rebound). Rods keep a distance of `thickness` (m) from its surface. A
    `kinematic` body follows `path`, a function of time that returns (position, rotation), or `Simulation.move_body`, regardless
    of forces."""

    shape: Solid
    mass: float | None = None
    density: float | None = None
    position: ArrayLike = (0.0, 0.0, 0.0)
    rotation: ArrayLike = UPRIGHT
    velocity: ArrayLike = (0.0, 0.0, 0.0)
    angular_velocity: ArrayLike = (0.0, 0.0, 0.0)
    center: ArrayLike | None = None
    inertia: ArrayLike | None = None
    linear_damping: float = 0.0
    angular_damping: float = 0.0
    friction: float = DEFAULT_FRICTION
    restitution: float = 0.0
    collides: bool = False
    thickness: float = 0.0
    kinematic: bool = False
    path: Path | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.shape, Solid):
            raise TendrilError("shape", self.shape, f"give a {names_of(Solid)}")
        if self.mass is not None and self.density is not None:
            raise TendrilError("density", self.density, "give either mass or density")
        if self.path is not None and not callable(self.path):
            raise TendrilError("path", self.path, "give a function of time in seconds")
        center, inertia, mass = self.center, self.inertia, self.mass
        if center is None or inertia is None or mass is None:
            of_shape = mass_properties(self.shape)
            density = positive("density", DEFAULT_DENSITY if self.density is None else self.density, "kg/m3")
            mass = density * of_shape.volume if mass is None else positive("mass", mass, "kg")
            center = of_shape.center if center is None else position_vector("center", center)
            inertia = of_shape.inertia * (mass / of_shape.volume) if inertia is None else _inertia(inertia)
        else:
            mass, center, inertia = positive("mass", mass, "kg"), position_vector("center", center), _inertia(inertia)
        set_frozen(
            self,
            mass=mass,
            center=np.array(center),
            inertia=inertia,
            position=position_vector("position", self.position),
            rotation=rotation_matrix(self.rotation),
            velocity=vector("velocity", self.velocity),
            angular_velocity=vector("angular_velocity", self.angular_velocity),
            linear_damping=not_negative("linear_damping", self.linear_damping, "1/s"),
            angular_damping=not_negative("angular_damping", self.angular_damping, "1/s"),
            friction=friction_coefficient(self.friction),
            restitution=fraction("restitution", self.restitution),
            collides=flag("collides", self.collides),
            thickness=not_negative("thickness", self.thickness, "m"),
            kinematic=flag("kinematic", self.kinematic) or self.path is not None,
        )

    def to_world(self, point: ArrayLike) -> Array:
        """World position of a point in body coordinates, at the start."""
        return cast(Array, self.position + np.asarray(self.rotation) @ np.asarray(point))

    def to_body(self, point: ArrayLike) -> Array:
        return cast(Array, np.asarray(self.rotation).T @ (np.asarray(point) - np.asarray(self.position)))


def _inertia(value: ArrayLike) -> Array:
    cure = "give a symmetric matrix (3, 3) in kg m2 whose moments are above zero, each at most the sum of the others"
    inertia = array("inertia", value, (3, 3), cure)
    if np.abs(inertia - inertia.T).max() > 1e-6 * np.abs(inertia).max():
        raise TendrilError("inertia", value, cure)
    moments = np.linalg.eigvalsh(inertia)
    if not moments[0] > 0.0 or moments[2] > (moments[0] + moments[1]) * (1.0 + 1e-6):
        raise TendrilError("inertia", value, cure)
    return np.asarray(0.5 * (inertia + inertia.T))
