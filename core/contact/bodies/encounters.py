"""Where bodies touch colliders and each other, through a step: finds contacts, and has them push."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy import bool_, int64

from ...compile.workers import Workers
from ...describe.body import Body
from ...describe.shapes import Collider
from ...errors import Array, TendrilError
from ..arrays import Contacts, Flags, Ints
from ..broad_phase import BroadPhase
from ..colliders import ColliderMotion
from ..coulomb import Forces
from ..islands import spread
from .foresight import foresee
from .meeting import MARGIN, PER_PAIR, Moving, make_room, meet
from .pieces import PieceMotion
from .pressing import across, press, relative_motion
from .rotation import logarithm
from .touching import TouchingBodies

LARGEST_NUMBER = 2**53  # of a contact: it is stored as a float


class Encounters:
    def __init__(
        self, bodies: Sequence[Body], touching: TouchingBodies, colliders: Sequence[Collider], motion: ColliderMotion,
        after: Ints, first_feature: int, workers: Workers,
    ) -> None:  # fmt: skip
        """`after` are the ends of all edges, see Samples; contacts have numbers of features from the first on."""
        self._touching, self._workers = touching, workers
        self._after, self._first_row, self._first_feature = after, len(after) - len(bodies), first_feature
        block = touching.block
        self._motion = PieceMotion(bodies, block, colliders, motion)
        pieces = self.pieces = self._motion.pieces
        if (first_feature + self._motion.of_bodies * len(pieces.kind) * PER_PAIR) * len(after) > LARGEST_NUMBER:
            raise TendrilError("collides", True, "give colliding bodies and colliders meshes of fewer triangles")
        self._free = ~block.kinematic
        mass = np.where(self._free, 1.0 / block.mass, 0.0)
        self._inverse_inertia = np.linalg.inv(block.inertia) * self._free[:, None, None]
        count = len(bodies)
        self._moving = Moving(np.zeros((2, count, 3)), np.zeros((2, count, 6)), mass, np.zeros((count, 3, 3)))
        self._start = block.state.x.copy(), block.state.rotation.copy()
        self._broad, self._room = BroadPhase(), make_room()
        self._pairs = np.zeros((0, 2), int64)
        self._steps = np.zeros((count, 6))

    def start(self) -> None:
        """The bodies are where the step begins."""
        state, moving = self._touching.block.state, self._moving
        self._start[0][:], self._start[1][:] = state.x, state.rotation
        moving.x[0] = state.x
        moving.speed[:, :, :3], moving.speed[:, :, 3:] = state.v, state.w
        self._touching.forget_speeds()
        self._motion.put(0)

    def follow(self) -> None:
        """The bodies are at an iterate."""
        state = self._touching.block.state
        self._moving.x[1] = state.x
        rotation = state.rotation
        self._moving.inverse_inertia[:] = rotation @ self._inverse_inertia @ np.swapaxes(rotation, 1, 2)
        self._moving.speed[1] = self._touching.free_speeds()
        self._motion.put_colliders()
        self._motion.put(1)
        self._seek()

    def _seek(self) -> None:
        """Pairs of pieces that may touch."""
        pieces, own, h = self.pieces, self._motion.of_bodies, self._touching.h
        speed = self._moving.speed[0][np.maximum(pieces.owner, 0)]
        fast = np.linalg.norm(speed[:, :3], axis=1) + 2.0 * pieces.bound * np.linalg.norm(speed[:, 3:], axis=1)
        reach = np.where(pieces.owner >= 0, MARGIN * pieces.scale + pieces.restitution * h * fast, 0.0)
        low, high = self._motion.boxes(reach)
        self._broad.build(low[:own], high[:own], np.ones(own, bool_), self._workers)
        pairs = self._broad.pairs_with(low, high, self._workers)[0].copy()
        a, b = pieces.owner[pairs[:, 0]], pieces.owner[pairs[:, 1]]
        free_a, free_b = self._free[a], (b >= 0) & self._free[b]
        meant = (a != b) & (free_a | free_b) & ((b < 0) | (pairs[:, 0] < pairs[:, 1]))
        turned = ~free_a[meant]
        pairs = pairs[meant]
        pairs[turned] = pairs[turned, ::-1]
        self._pairs = np.ascontiguousarray(pairs)

    def add(self, contacts: Contacts, count: int, which: Flags) -> int:
        """Adds contacts of these bodies, as far as there is room. Returns how many contacts there are then."""
        if not len(self._pairs) or not which.any():
            return count
        return int(
            meet(
                self._pairs, which, self.pieces, self._moving, self._touching.h, self._first_row, self._first_feature,
                self._room, contacts, count,
            )
        )  # fmt: skip

    def partners(self, features: Ints) -> Ints:
        """The bodies on side B of contacts with these numbers of features; -1 if these are not contacts of bodies, or of others."""
        second = (features - self._first_feature) // PER_PAIR % len(self.pieces.kind)
        return np.where(features >= self._first_feature, self.pieces.owner[second], -1)

    def foresee(
        self, contacts: Contacts, count: int, partner: Ints, forces: Forces, sides: Ints, unforeseen: Flags, coupled: Flags,
        now: Array,
    ) -> bool:  # fmt: skip
        """Moves bodies to where they will be, about, and learns the forces of their contacts: those that are `unforeseen`, and
        those they touch. What rods do to them is taken to be what it was. `unforeseen` and `coupled` are per rod, as contact
        numbers them, bodies last; so are `sides` (C, 2) of the contacts. `now` are the sample points. False if there are none."""
        first = len(coupled) - len(self._free)
        edge = contacts.edge[:count, 0]
        of_rods = self._after[edge] >= 0
        chosen = unforeseen & coupled
        chosen[:first] = False
        near = sides[~of_rods & (sides[:, 1] >= 0)]
        spread(chosen, near[np.all(coupled[near], axis=1)])
        numbers = np.flatnonzero(chosen[first:])
        if not len(numbers):
            return False
        loads = self._touching.tie_gradient.copy()
        rows = np.flatnonzero(of_rods & (sides[:, 1] >= 0))
        at = contacts.at[rows, :1]
        points = (1.0 - at) * now[edge[rows]] + at * now[self._after[edge[rows]]]
        np.add.at(loads, partner[rows], _wrenches(points - self._moving.x[1, partner[rows]], forces.known[rows]))
        steps = np.zeros((len(self._free), 6))
        steps[numbers] = self._touching.to_goal(numbers) - self._touching.yielding(numbers, loads[numbers])
        foresee(
            contacts, count, self._after, self._first_row, partner, self._moving, chosen[first:], self._touching.h, forces,
            steps,
        )  # fmt: skip
        self._touching.shift(numbers, steps[numbers])
        return True

    def press(
        self, contacts: Contacts, count: int, partner: Ints, forces: Forces, gradient: Array, matrix: Array
    ) -> None:
        state, since = self._touching.block.state, np.zeros((len(self._free), 6))
        since[:, :3] = state.x - self._start[0]
        since[:, 3:] = logarithm(state.rotation @ np.swapaxes(self._start[1], 1, 2))
        press(
            contacts, count, self._after, self._first_row, partner, state.x, since, forces, gradient, matrix
        )  # fmt: skip

    def across(
        self, contacts: Contacts, count: int, partner: Ints, forces: Forces, steps: Array, pushed: Array
    ) -> None:
        x = self._touching.block.state.x
        across(contacts, count, self._after, self._first_row, partner, x, forces, steps, pushed)

    def relative_motion(self, contacts: Contacts, count: int, partner: Ints, forces: Forces) -> None:
        steps, x = self._touching.step_vector().reshape(-1, 6), self._touching.block.state.x
        relative_motion(contacts, count, self._after, self._first_row, partner, x, forces, steps)


def _wrenches(levers: Array, forces: Array) -> Array:
    return np.concatenate([forces, np.cross(levers, forces)], axis=1)
