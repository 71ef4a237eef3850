"""What acts on rods from outside: gravity, loads, force fields, the air. All but the loads may change from frame to frame."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import Array, not_negative, vector
from .forces.fields import Field, check_fields
from .frame import Place
from .holds import usable
from .models.protocol import ModelBlock
from .scene import Scene


class Surroundings:
    def __init__(
        self,
        scene: Scene,
        blocks: Sequence[ModelBlock],
        vertices: Sequence[NDArray[np.int64]],
        places: Sequence[Place],
    ) -> None:
        """`vertices` are the rows of each block's vertices."""
        self.gravity, self.wind = scene.gravity, scene.wind
        self.air_density, self.drag = scene.air_density, scene.drag
        self.forces = [np.zeros((int(block.sample_start[-1]), 3)) for block in blocks]  # N on all sample points
        self._blocks = blocks
        self._loads = [
            (load.force, places[load.rod].block, vertices[places[load.rod].block][places[load.rod].first + load.vertex])
            for load in scene.loads
        ]
        self._timed = any(callable(force) for force, _, _ in self._loads)
        self._fields = np.zeros((0, 0))
        self._surfaces: list[Field] = []
        self.change(fields=scene.fields)

    @property
    def uneven(self) -> bool:
        """True if forces differ from substep to substep."""
        return self._timed or self._has_fields

    @property
    def _has_fields(self) -> bool:
        return len(self._fields) > 0 or bool(self._surfaces)

    def change(
        self,
        gravity: ArrayLike | None = None,
        wind: ArrayLike | None = None,
        air_density: float | None = None,
        drag: float | None = None,
        fields: Sequence[Field] | None = None,
    ) -> None:
        """From now on. What is not given stays."""
        new_gravity = self.gravity if gravity is None else vector("gravity", gravity)
        new_wind = self.wind if wind is None else vector("wind", wind)
        new_air = self.air_density if air_density is None else not_negative("air_density", air_density, "kg/m^3")
        new_drag = self.drag if drag is None else not_negative("drag", drag, "1/s")
        if fields is not None:
            found = check_fields(fields)
            packed = [field.numbers() for field in found if field.shape != "surface"]
            self._fields = np.concatenate(packed) if packed else np.zeros((0, 0))
            self._surfaces = [field for field in found if field.shape == "surface"]
        self.gravity, self.wind, self.air_density, self.drag = new_gravity, new_wind, new_air, new_drag

    def act(self, time: float, h: float) -> None:
        """Writes the forces of a moment, for a step of length h."""
        for block, forces in zip(self._blocks, self.forces, strict=True):
            block.weight(self.gravity, forces)
        for force, block_number, row in self._loads:
            f = usable(
                force(time) if callable(force) else force, (3,)
            )  # a function of the user's may fail: then no load
            if f is not None:
                self.forces[block_number][row] += f
        if self._has_fields:
            self._act_by_fields(h)

    def _act_by_fields(self, h: float) -> None:
        from .forces.field_kernels import apply_fields  # here: most scenes have none, and need not compile it

        for block, forces in zip(self._blocks, self.forces, strict=True):
            x, v = np.ascontiguousarray(block.positions()), np.ascontiguousarray(block.velocities())
            weight = np.zeros_like(forces)
            block.weight(np.array([1.0, 0.0, 0.0]), weight)  # rods may grow
            mass = weight[:, 0].copy()
            if len(self._fields):
                starts = np.asarray(block.sample_start)
                number = np.arange(starts[-1]) - np.repeat(starts[:-1], np.diff(starts))
                apply_fields(self._fields, number, x, v, mass, h, forces)
            for field in self._surfaces:
                _act_from_surface(field, x, v, mass, h, forces)


def _act_from_surface(field: Field, x: Array, v: Array, mass: Array, h: float, forces: Array) -> None:
    from .forces.surface_kernels import apply_surface, balls_around

    vertices, triangles = np.asarray(field.vertices), np.asarray(field.triangles)
    apply_surface(field.numbers()[0], vertices, triangles, balls_around(vertices, triangles), x, v, mass, h, forces)
