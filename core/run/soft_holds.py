"""Holds with an influence between 0 and 1: critically damped springs towards where a rigid hold would be.

A hold of influence w pulls with the stiffness M (s / T)^2, where s = w / (1 - w), M is the mass of the rod and T = 0.1 s. A rod that
hangs on it sags by g (T / s)^2: 10 cm at one half, 1 mm at 0.91, and nothing at 1, where the rigid hold takes over. Damping is
critical for the mass of the whole rod. A soft clamp pulls the next vertex alike, so that it holds the direction of the rod, which
yields sooner than its position; it leaves the twist free. In a step of length h the force is k (goal - x) - k h v: implicit, with the second term as drag (`FreeSteps.brakes`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..describe.scene import Hold, Scene
from ..errors import Array, TendrilError
from ..models.protocol import Engages, ModelBlock, Releases
from .holds import HoldMotion
from .rod_blocks import RodBlocks

TIME = 0.1  # s, in which a rod follows a hold of influence one half
STIFFEST = 1e3  # largest w / (1 - w): a rod that hangs on it sags by a ten-thousandth of a millimetre


class Pull(NamedTuple):
    """A vertex that a soft hold pulls."""

    row: int  # sample point of the block
    arm: Array  # (3,) m, from the hold to the vertex at the start
    mass: float  # kg, what the spring is made for


class SoftHolds:
    def __init__(self, scene: Scene, rods: RodBlocks, motion: HoldMotion) -> None:
        self._scene, self._rods, self._motion = scene, rods, motion
        self._places: dict[int, tuple[int, int]] = {}  # of each hold: its block and its number there
        for block, ids in enumerate(rods.hold_ids):
            self._places.update((int(hold), (block, k)) for k, hold in enumerate(ids))
        self._influence = np.ones(len(scene.holds))
        self._pulls: dict[int, tuple[Pull, ...]] = {}  # of holds that were soft once
        self._frames = {k: self._frame(k) for k, hold in enumerate(scene.holds) if hold.holds_frame}  # (3, 3) at the start

    @property
    def active(self) -> bool:
        return bool(np.any((self._influence > 0.0) & (self._influence < 1.0)))

    def set(self, hold: int, influence: float) -> bool:
        """Returns whether it begins or ends to hold anything. Raises TendrilError for what the model can't do."""
        before, now = self._influence[hold], influence
        if now == before:
            return False
        described = self._scene.holds[hold]
        number, k = self._places[hold]
        block = self._rods.blocks[number]
        if 0.0 < now < 1.0 or now > before:
            if not isinstance(block, Engages):
                model = self._scene.entries[described.rod].model
                raise TendrilError("influence", now, f"holds of the model {model} let go for good: choose another model")
            if now < 1.0 and described.kind not in ("pin", "clamp", "edge"):
                raise TendrilError("influence", now, "only holds of a position can be soft: give 0 or 1")
        if before == 1.0 and not (isinstance(block, Releases) and block.release(k)):
            raise TendrilError("hold", hold, "only pins, and clamps at the end of a rod, can be let go of")
        if now == 1.0:
            assert isinstance(block, Engages)
            block.engage(k)
            self._motion.begin_at(hold, self._position(described), self._turn(hold))
        self._influence[hold] = now
        return (before > 0.0) != (now > 0.0)

    def add_forces(self, forces: Sequence[Array], brakes: Sequence[Array], h: float, frame_rate: float, wind: Array) -> None:
        """Adds forces (N) on sample points and their brakes (kg/s) in a step of h seconds, at whose end holds are where they are
        now."""
        position, rotation, _ = self._motion.poses()
        speed = self._motion.speeds(frame_rate)
        for hold in np.flatnonzero((self._influence > 0.0) & (self._influence < 1.0)).tolist():
            number, _ = self._places[hold]
            w = self._influence[hold]
            rate = min(w / (1.0 - w), STIFFEST) / TIME
            if hold not in self._pulls:
                self._pulls[hold] = self._pulls_of(self._scene.holds[hold])
            x = self._rods.blocks[number].positions()
            for row, arm, mass in self._pulls[hold]:
                stiffness, damping = mass * rate * rate, 2.0 * mass * rate
                way = position[hold] + rotation[hold] @ arm - x[row]
                brake = h * stiffness + damping
                forces[number][row] += stiffness * way + damping * speed[hold] - brake * wind
                brakes[number][row] += brake

    def _pulls_of(self, hold: Hold) -> tuple[Pull, ...]:
        rod, place = self._scene.entries[hold.rod].rod, self._rods.places[hold.rod]
        rows = self._rods.vertices[place.block][place.first : place.end]
        mass = float(np.sum(rod.mass_per_length * rod.rest_lengths))
        if hold.kind == "pin":
            return (Pull(int(rows[hold.index]), np.zeros(3), mass),)
        ends = rod.ends(self._edge(hold))
        if hold.kind == "edge":
            middle = 0.5 * (rod.points[ends[0]] + rod.points[ends[1]])
            return tuple(Pull(int(rows[k]), rod.points[k] - middle, 0.5 * mass) for k in ends)
        other = ends[0] if ends[1] == hold.index else ends[1]
        arm = rod.points[other] - rod.points[hold.index]
        return Pull(int(rows[hold.index]), np.zeros(3), mass), Pull(int(rows[other]), arm, mass)

    def _edge(self, hold: Hold) -> int:
        """The edge whose frame a hold holds."""
        return hold.index if hold.kind == "edge" else self._scene.entries[hold.rod].rod.edge_at(hold.index)

    def _position(self, hold: Hold) -> Array:
        """Where what is held is now."""
        rod, place = self._scene.entries[hold.rod].rod, self._rods.places[hold.rod]
        x = self._rods.blocks[place.block].positions()[self._rods.vertices[place.block][place.first : place.end]]
        return np.asarray(x[list(rod.ends(hold.index))].mean(axis=0) if hold.kind == "edge" else x[hold.index])

    def _frame(self, hold: int) -> Array:
        """(3, 3) the frame of the edge that a hold holds, now."""
        described = self._scene.holds[hold]
        rod, place = self._scene.entries[described.rod].rod, self._rods.places[described.rod]
        block, edge = self._rods.blocks[place.block], self._edge(described)
        x = block.positions()[self._rods.vertices[place.block][place.first : place.end]]
        first, last = rod.ends(edge)
        director = block.directors()[self._rods.edges[place.block][place.first_edge + edge]]
        tangent = (x[last] - x[first]) / np.linalg.norm(x[last] - x[first])
        director = director - (director @ tangent) * tangent
        director = director / np.linalg.norm(director)
        return np.stack([director, np.cross(tangent, director), tangent], axis=1)

    def _turn(self, hold: int) -> Array:
        """(3, 3) how the rod has turned since the start where it is held, without the spin that the hold asks for."""
        if hold not in self._frames:
            return np.eye(3)
        now = self._frame(hold)
        spin = float(self._motion.poses()[2][hold])
        c, s = np.cos(spin), np.sin(spin)
        return now @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ self._frames[hold].T
