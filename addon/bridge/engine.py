"""Blender's rigid bodies as the engine that the core exchanges forces with. SI units on this side."""

from __future__ import annotations

from collections.abc import Mapping

import bpy
import numpy as np
from mathutils import Matrix

from ...core import BodyPoses, TendrilError
from ...core.contact.bodies.rotation import exponential, logarithm
from .bullet import HiddenWorld, WorldLost
from .poses import Array, metres_per_unit
from .rigid_bodies import BodiesDescription, rotations_of


class BlenderEngine:
    """Makes the hidden world when it is first needed, and makes it again when undo has taken it away: it then goes through all that
    happened so far, which gives the same motion to the last bit."""

    def __init__(self, scene: bpy.types.Scene, bodies: BodiesDescription) -> None:
        self._scene, self._bodies = scene.session_uid, bodies
        self._scale = metres_per_unit(scene)
        self._world: HiddenWorld | None = None
        self._past: list[tuple[Array, Array, Mapping[str, Matrix]]] = []
        self._fixed = (dict(bodies.fixed), dict(bodies.fixed))  # where the frame begins and ends
        self._exchange = 0  # of the frame
        self.matrices = list(bodies.dynamic.values())  # with scale, in units of the scene
        self._places, self._rotations = self._read(self.matrices)
        self._lead(self._places, self._rotations)

    def set_targets(self, fixed: Mapping[str, Matrix]) -> None:
        """Where bodies that no force moves are at the end of the frame that begins now."""
        end = {key: fixed.get(key, matrix) for key, matrix in self._fixed[1].items()}
        self._fixed, self._exchange = (self._fixed[1], end), 0

    def step(self, h: float, forces: Array, torques: Array) -> BodyPoses:
        self._exchange += 1
        given = (forces / self._scale, torques / self._scale**2, self._moved())
        try:
            matrices = self._ready().step(*given)
        except WorldLost:
            self._world = None
            matrices = self._ready().step(*given)
        self._past.append(given)
        before = self._places, self._rotations
        self.matrices = matrices
        self._places, self._rotations = self._read(matrices)
        ways, turns = self._lead(*before)
        count = len(self._bodies.described)
        return BodyPoses(self._places[:count], self._rotations[:count], ways[:count] / h, logarithm(turns[:count]) / h)

    def _lead(self, places: Array, rotations: Array) -> tuple[Array, Array]:
        """What follows bodies without acting on them is where these will be at the end of the next exchange, if they go on as they
        did since they stood there. Gives their ways."""
        ways, turns = self._places - places, self._rotations @ np.swapaxes(rotations, 1, 2)
        # The core has bodies that rods act on half an exchange behind.
        part = np.where(np.arange(len(ways)) < len(self._bodies.described), 0.5, 1.0)[:, None]
        turned = exponential(part * logarithm(turns)) @ self._rotations
        going = zip(self._bodies.movers.values(), self._places + part * ways, turned, strict=True)
        for mover, place, rotation in going:
            mover.put(place, rotation)
        return ways, turns

    def rewind(self, exchanges: int) -> None:
        """Back to where it stood after so many exchanges."""
        if exchanges > len(self._past):
            cure = f"go to the start frame: Blender's engine has done {len(self._past)} steps of them in this session"
            raise TendrilError("steps of the rigid bodies", exchanges, cure)
        self._past, self._world = self._past[:exchanges], None
        self.matrices = list(self._bodies.dynamic.values())
        fixed = dict(self._bodies.fixed)
        for *_, moved in self._past:
            fixed.update(moved)
        self._fixed = (fixed, fixed)
        before = self._read(self.matrices)
        if self._past:
            last = self._past.pop()
            self._ready()
            before = self._read(self.matrices)
            self._past.append(last)
            self.matrices = self._ready().step(*last)
        self._places, self._rotations = self._read(self.matrices)
        self._lead(*before)

    def _ready(self) -> HiddenWorld:
        if self._world is None:
            scene = next((one for one in bpy.data.scenes if one.session_uid == self._scene), None)
            if scene is None:
                raise WorldLost
            bodies = self._bodies
            self._world = HiddenWorld(
                scene, bodies.dynamic, bodies.fixed, bodies.exchanges, len(bodies.described), bodies.pulled
            )
            for given in self._past:
                self.matrices = self._world.step(*given)
        return self._world

    def _moved(self) -> dict[str, Matrix]:
        """Where the fixed bodies are at the end of this exchange, of those that move."""
        begin, end = self._fixed
        part = min(self._exchange / self._bodies.exchanges, 1.0)
        return {key: begin[key].lerp(end[key], part) for key in end if begin[key] != end[key]}

    def _read(self, matrices: list[Matrix]) -> tuple[Array, Array]:
        places = np.array([matrix.translation for matrix in matrices], dtype=np.float64).reshape(-1, 3)
        return places * self._scale, rotations_of(matrices)
