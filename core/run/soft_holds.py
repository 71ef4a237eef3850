"""Holds with an influence between 0 and 1: critically damped springs towards where a rigid hold would be.

A hold of influence w pulls with the stiffness M (s / T)^2, where s = w / (1 - w), M is the mass of the rod and T = 0.1 s. A rod
that hangs on it sags by g (T / s)^2: 10 cm at one half, 1 mm at 0.91, and nothing at 1, where the rigid hold takes over. Damping
is critical for the mass of the whole rod. In a step of length h the force is k (goal - x) - k h v: implicit, with the second term
as drag (`FreeSteps.brakes`).

A soft clamp at the end of a rod of length L holds the direction with the stiffness s E I / L, and the twist with s G J / L, in
series with the element there, which is l / 2 long: by a share s / (s + 2 L / l) of its stiffness. Elsewhere a soft clamp pulls
the next vertex, too, which holds the direction only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..describe.model import model_names, model_record
from ..describe.scene import Hold, Scene
from ..errors import Array, Ints, TendrilError
from ..models.protocol import Engages, Releases
from .holds import HoldMotion
from .rod_blocks import RodBlocks

TIME = 0.1  # s, in which a rod follows a hold of influence one half
STIFFEST = 1e3  # largest w / (1 - w): a rod that hangs on it sags by a ten-thousandth of a millimetre


class Pull(NamedTuple):
    """A vertex that a soft hold pulls."""

    hold: int
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
        self._framed: set[int] = set()  # soft holds whose frames are held by a share of the stiffness
        # Block, and of each pull the hold, row, arm and mass (see `Pull`).
        self._pulls: list[tuple[int, Ints, Ints, Array, Array]] = []
        self._frames = {
            k: self._frame(k) for k, hold in enumerate(scene.holds) if hold.holds_frame
        }  # (3, 3) at the start

    @property
    def active(self) -> bool:
        return bool(self._pulls)

    def set(self, hold: int, influence: float) -> float:
        """Returns how much influence it has lost. Raises TendrilError for what the model can't do."""
        before, now = float(self._influence[hold]), influence
        if now == before:
            return 0.0
        described = self._scene.holds[hold]
        number, k = self._places[hold]
        block = self._rods.blocks[number]
        if 0.0 < now < 1.0 or now > before:
            model = self._scene.entries[described.rod].model
            if not (model_record(model).soft_holds and isinstance(block, Engages)):
                others = model_names(lambda one: one.soft_holds)
                raise TendrilError(
                    "influence", now, f"holds of the model {model} let go for good: choose one of {others}"
                )
        if now < 1.0 and not (now > 0.0 and self._soften(hold, now)):
            if now > 0.0 and described.kind not in ("pin", "clamp", "edge"):
                raise TendrilError("influence", now, "there only holds of a position can be soft: give 0 or 1")
            if (now == 0.0 or before == 1.0) and not (isinstance(block, Releases) and block.release(k)):
                raise TendrilError("hold", hold, "only pins, and clamps at the end of a rod, can be let go of")
        if now == 0.0:
            self._framed.discard(hold)
        elif before == 0.0 or now == 1.0:
            turn = None if hold in self._framed and before > 0.0 else self._turn(hold)
            self._motion.begin_at(hold, self._position(described) if now == 1.0 else None, turn)
        if now == 1.0:
            assert isinstance(block, Engages)
            block.engage(k)
        self._influence[hold] = now
        if (0.0 < before < 1.0) != (0.0 < now < 1.0):
            self._gather()
        return before - now

    def _soften(self, hold: int, influence: float) -> bool:
        """Whether the frame is held softly, if it is held at all."""
        described, (number, k) = self._scene.holds[hold], self._places[hold]
        block, rod = self._rods.blocks[number], self._scene.entries[described.rod].rod
        if not (described.holds_frame and isinstance(block, Engages)):
            return False
        s = influence / (1.0 - influence)
        lengths = np.asarray(rod.rest_lengths)
        share = s / (s + 2.0 * lengths.sum() / lengths[self._edge(described)])
        if not block.soften(k, share):
            return False
        self._framed.add(hold)
        return True

    def _gather(self) -> None:
        """Lists the pulls of all soft holds, by block."""
        soft = np.flatnonzero((self._influence > 0.0) & (self._influence < 1.0)).tolist()
        found: dict[int, list[Pull]] = {}
        for hold in soft:
            found.setdefault(self._places[hold][0], []).extend(self._pulls_of(hold))
        self._pulls = []
        for block, pulls in found.items():
            holds, row, arm, mass = (np.array(part) for part in zip(*pulls, strict=True))
            self._pulls.append((block, holds, row, arm, mass))

    def add_forces(
        self, forces: Sequence[Array], brakes: Sequence[Array], h: float, frame_rate: float, wind: Array
    ) -> None:
        """Adds forces (N) on sample points and their brakes (kg/s) in a step of h seconds, at whose end holds are where they are
        now."""
        position, rotation, _ = self._motion.poses()
        speeds = self._motion.speeds(frame_rate)
        for block, hold, row, arm, mass in self._pulls:
            w = self._influence[hold]
            rate = np.minimum(w / (1.0 - w), STIFFEST) / TIME
            stiffness, damping = mass * rate * rate, 2.0 * mass * rate
            way = (
                position[hold]
                + np.einsum("kij,kj->ki", rotation[hold], arm)
                - self._rods.blocks[block].positions()[row]
            )
            brake = h * stiffness + damping
            force = stiffness[:, None] * way + damping[:, None] * speeds[hold] - brake[:, None] * wind
            np.add.at(forces[block], row, force)
            np.add.at(brakes[block], row, brake)

    def _pulls_of(self, number: int) -> list[Pull]:
        hold = self._scene.holds[number]
        rod, place = self._scene.entries[hold.rod].rod, self._rods.places[hold.rod]
        rows = self._rods.vertices[place.block][place.first : place.end]
        mass = float(np.sum(rod.mass_per_length * rod.rest_lengths))
        if hold.kind == "edge":
            ends = list(rod.ends(hold.index))
            middle = rod.points[ends].mean(axis=0)
            return [Pull(number, int(rows[k]), rod.points[k] - middle, 0.5 * mass) for k in ends]
        if not hold.holds_position:
            return []
        here = rod.points[hold.index]
        pulled = [hold.index]
        if hold.holds_frame and number not in self._framed:
            pulled += [k for k in rod.ends(self._edge(hold)) if k != hold.index]
        return [Pull(number, int(rows[k]), rod.points[k] - here, mass) for k in pulled]

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
        turn: Array = now @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ self._frames[hold].T
        return turn
