"""Force fields. They act on mass, like gravity, with an acceleration (m/s2) that depends on position and velocity.

The formulas are those of Blender's force fields.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from ..errors import Array, TendrilError, array, flag, not_negative, number, vector, whole
from .rotations import are_rotations

# The only list of kinds: the kernels (forces/field_kernels.py) number them in this order, and the add-on offers those
# that Blender has, too.
KINDS = ("wind", "force", "vortex", "magnetic", "harmonic", "turbulence", "drag")
SHAPES = ("point", "line", "plane", "points", "surface")
FALLOFFS = ("sphere", "tube", "cone")
SIDES = ("both", "positive", "negative")


@dataclass(frozen=True)
class Falloff:
    """Attenuation with distance: division by (1 + distance - least)^power beyond `least`, zero beyond `most`."""

    power: float = 0.0
    least: float = 0.0  # m
    most: float = math.inf  # m

    def __post_init__(self) -> None:
        number("power", self.power)
        not_negative("least", self.least)
        if not (isinstance(self.most, (int, float)) and self.most >= 0.0):
            raise TendrilError("most", self.most, "give a distance, or infinity")


@dataclass(frozen=True, eq=False)
class Field:
    """A force field at a position, with a z axis.

    wind acts along z; force pushes away from the position; vortex rotates about z; magnetic deflects moving points; harmonic
    pulls to a distance of `rest_length`, damped by `damping` times the critical damping; turbulence is noise with eddies of
    `size`; drag slows down by `damping` (1/s) plus `strength` (1/m) times the speed.

    `flow` (1/s) is additional damping. A line is the z axis, a plane is perpendicular to it; distances are measured from there.
    The shape "points" is a field at each of the `vertices`, with the `normals` as z; "surface" acts from the nearest point of
    the `triangles`, with the triangle's normal as z. A harmonic field of points pulls each vertex of a rod to one of the
    points, in turn. With `rods` it acts on these rods only."""

    kind: str
    strength: float = 1.0
    position: ArrayLike = (0.0, 0.0, 0.0)
    rotation: ArrayLike = field(default_factory=lambda: np.eye(3))
    shape: str = "point"
    flow: float = 0.0
    damping: float = 0.0
    rest_length: float = 0.0  # m
    size: float = 1.0  # m
    seed: int = 0
    gravitation: bool = False  # inverse-square force
    falloff: str = "sphere"
    side: str = "both"  # of the z axis
    distance: Falloff = Falloff()
    radial: Falloff = Falloff()  # from the axis of a tube, m; from that of a cone, degrees
    vertices: ArrayLike | None = None  # (k, 3) m
    normals: ArrayLike | None = None  # (k, 3)
    triangles: ArrayLike | None = None  # (m, 3) vertex indices
    rods: Sequence[int] | None = None  # ids of the affected rods; None: all

    def __post_init__(self) -> None:
        for name, value, known in (
            ("kind", self.kind, KINDS),
            ("shape", self.shape, SHAPES),
            ("falloff", self.falloff, FALLOFFS),
            ("side", self.side, SIDES),
        ):
            if value not in known:
                raise TendrilError(name, value, f"choose one of {', '.join(known)}")
        for name in ("strength", "flow"):
            number(name, getattr(self, name), "give a finite number")
        for name in ("damping", "rest_length", "size"):
            not_negative(name, getattr(self, name))
        whole("seed", self.seed, 0, 2**31)
        flag("gravitation", self.gravitation)
        if self.rods is not None:
            chosen = tuple(whole("rods", rod, 0, 2**31) for rod in self.rods)
            object.__setattr__(self, "rods", chosen)
        object.__setattr__(self, "position", vector("position", self.position))
        rotation = array("rotation", self.rotation, (3, 3), "give a rotation matrix")
        if not np.all(are_rotations(rotation)):
            raise TendrilError(
                "rotation", self.rotation, "give a rotation matrix: orthonormal columns, no mirror image"
            )
        object.__setattr__(self, "rotation", rotation)
        if self.shape == "points":
            where = array(
                "vertices", self.vertices, (None, 3), "give the places of the points, an array of shape (k, 3)"
            )
            normals = array("normals", self.normals, where.shape, f"give {len(where)} vectors, one for each vertex")
            object.__setattr__(self, "vertices", where)
            object.__setattr__(self, "normals", normals)
        elif self.shape == "surface":
            where = array("vertices", self.vertices, (None, 3), "give the vertices of a mesh, an array of shape (k, 3)")
            cure = "give triples of numbers of vertices, at least one, an array of shape (m, 3)"
            faces = array("triangles", self.triangles, (None, 3), cure)
            if not len(faces) or faces.min() < 0 or faces.max() >= len(where) or np.any(faces != np.floor(faces)):
                raise TendrilError("triangles", self.triangles, cure)
            object.__setattr__(self, "vertices", where)
            object.__setattr__(self, "triangles", faces.astype(np.int64))

    def numbers(self) -> Array:
        """All parameters as rows for kernels: one row, or one per point."""
        place, axis = np.asarray(self.position), np.asarray(self.rotation)[:, 2]
        row = np.array(
            [
                KINDS.index(self.kind), SHAPES.index(self.shape), FALLOFFS.index(self.falloff), SIDES.index(self.side),
                self.strength, self.flow, self.damping, self.rest_length, self.size, self.seed, self.gravitation,
                self.distance.power, self.distance.least, self.distance.most,
                self.radial.power, self.radial.least, self.radial.most, *place, *axis, *place, *axis, 0.0, 0.0,
            ],
            dtype=np.float64,
        )  # fmt: skip
        if self.shape != "points":
            return row[None]
        where, normals = np.asarray(self.vertices), np.asarray(self.normals)
        rows = np.tile(row, (len(where), 1))
        rows[:, 17:20] = where
        rows[:, 20:23] = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
        if self.kind == "harmonic":
            rows[:, -2], rows[:, -1] = np.arange(len(where)), len(where)
        return rows


def check_fields(fields: Sequence[Field], rods: int) -> list[Field]:
    """Validates fields for a scene with this number of rods."""
    found = list(fields)
    for one in found:
        if not isinstance(one, Field):
            raise TendrilError("field", one, "give Fields")
        if one.rods is not None and max(one.rods, default=-1) >= rods:
            raise TendrilError("rods", one.rods, f"the scene has {rods}: give ids that scene.add returned")
    return found
