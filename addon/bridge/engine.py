"""Blender's rigid body engine behind the core's interface of an external engine. SI units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import bpy
import numpy as np
from mathutils import Matrix

from ...core import TendrilError
from ...core.contact.bodies.rotation import exponential, logarithm
from .bullet import HiddenWorld, WorldLost
from .poses import Array, metres_per_unit
from .rigid_bodies import BodiesDescription, rotations_of

if TYPE_CHECKING:
    from ...core import BodyPoses


class BlenderEngine:
    """Creates the hidden world when it is first needed. If undo removes it, it is created again and all past exchanges are
    replayed, which gives bit-identical motion."""

    def __init__(self, scene: bpy.types.Scene, bodies: BodiesDescription) -> None:
        self._scene, self._bodies = scene.session_uid, bodies
        self._scale = metres_per_unit(scene)
        self._world: HiddenWorld | None = None
        self._history: list[tuple[Array, Array, Mapping[str, Matrix]]] = []
        self._fixed = (dict(bodies.fixed), dict(bodies.fixed))  # at the start and at the end of the frame
        self._exchange = 0  # within the frame
        self.matrices = list(bodies.dynamic.values())  # with scale, in scene units
        self._places, self._rotations = self._read(self.matrices)
        self._move_followers(self._places, self._rotations)

    def set_targets(self, fixed: Mapping[str, Matrix]) -> None:
        """Sets where kinematic bodies are at the end of the next frame."""
        end = {key: fixed.get(key, matrix) for key, matrix in self._fixed[1].items()}
        self._fixed, self._exchange = (self._fixed[1], end), 0

    def step(self, h: float, forces: Array, torques: Array) -> BodyPoses:
        from ...core import BodyPoses  # late: the add-on is loaded with Blender, whether there are bodies or not

        self._exchange += 1
        given = (forces / self._scale, torques / self._scale**2, self._moved())
        try:
            matrices = self._ensure_world().step(*given)
        except WorldLost:
            self._world = None
            matrices = self._ensure_world().step(*given)
        self._history.append(given)
        before = self._places, self._rotations
        self.matrices = matrices
        self._places, self._rotations = self._read(matrices)
        displacements, rotated = self._move_followers(*before)
        count = len(self._bodies.described)
        return BodyPoses(
            self._places[:count], self._rotations[:count], displacements[:count] / h, logarithm(rotated[:count]) / h
        )

    def _move_followers(self, places: Array, rotations: Array) -> tuple[Array, Array]:
        """Moves the followers of bodies to where these will be at the end of the next exchange, extrapolated from the motion since
        the given positions and rotations. Returns displacements and rotations of that motion."""
        displacements, rotated = self._places - places, self._rotations @ np.swapaxes(rotations, 1, 2)
        # For bodies that rods act on, the core is half an exchange behind.
        part = np.where(np.arange(len(displacements)) < len(self._bodies.described), 0.5, 1.0)[:, None]
        turned = exponential(part * logarithm(rotated)) @ self._rotations
        going = zip(self._bodies.movers.values(), self._places + part * displacements, turned, strict=True)
        for mover, place, rotation in going:
            mover.put(place, rotation)
        return displacements, rotated

    def rewind(self, exchanges: int) -> None:
        """Returns to the state after this number of exchanges."""
        if exchanges > len(self._history):
            cure = f"go to the start frame: Blender's engine has done only {len(self._history)} of them in this session"
            raise TendrilError("steps of the rigid bodies", exchanges, cure)
        self._history, self._world = self._history[:exchanges], None
        self.matrices = list(self._bodies.dynamic.values())
        fixed = dict(self._bodies.fixed)
        for *_, moved in self._history:
            fixed.update(moved)
        self._fixed = (fixed, fixed)
        before = self._read(self.matrices)
        if self._history:
            last = self._history.pop()
            self._ensure_world()
            before = self._read(self.matrices)
            self._history.append(last)
            self.matrices = self._ensure_world().step(*last)
        self._places, self._rotations = self._read(self.matrices)
        self._move_followers(*before)

    def _ensure_world(self) -> HiddenWorld:
        if self._world is None:
            scene = next((one for one in bpy.data.scenes if one.session_uid == self._scene), None)
            if scene is None:
                raise WorldLost
            bodies = self._bodies
            self._world = HiddenWorld(
                scene, bodies.dynamic, bodies.fixed, bodies.exchanges, len(bodies.described), bodies.pulled
            )
            for given in self._history:
                self.matrices = self._world.step(*given)
        return self._world

    def _moved(self) -> dict[str, Matrix]:
        """Matrices of the kinematic bodies that move, at the end of this exchange."""
        begin, end = self._fixed
        part = min(self._exchange / self._bodies.exchanges, 1.0)
        return {key: begin[key].lerp(end[key], part) for key in end if begin[key] != end[key]}

    def _read(self, matrices: list[Matrix]) -> tuple[Array, Array]:
        places = np.array([matrix.translation for matrix in matrices], dtype=np.float64).reshape(-1, 3)
        return places * self._scale, rotations_of(matrices)
