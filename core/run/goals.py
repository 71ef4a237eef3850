"""Soft goals: springs that pull rods towards a moving target shape, such as a groom carried by a head.

The force on a point of mass m is that of a critically damped spring, m strength / time^2 towards its goal and
2 m sqrt(strength) / time against its velocity relative to the goal. It is computed once per substep, as for a free particle that
takes an implicit Euler step, so that it is stable for any strength; elastic forces and contact stay implicit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..describe.scene import Scene
from ..errors import Array, Ints, TendrilError, array, dimensions, not_negative
from ..maths.motion import in_bounds
from ..models.protocol import ModelBlock
from ..models.state_of_rods import rows_of
from .frame import Place


class Goals:
    """Targets of all goals of a scene: now, at the start of the frame, and at its end."""

    def __init__(self, scene: Scene, vertices: Sequence[Ints], places: Sequence[Place]) -> None:
        """`vertices` are the rows of each block's vertices."""
        goals = scene.goals
        self._start = np.concatenate([[0], np.cumsum([len(goal.strength) for goal in goals])]).astype(np.int64)
        rods = [scene.entries[goal.rod].rod for goal in goals]
        none = np.zeros((0, 3))
        self._now = np.concatenate([none, *(rod.points for rod in rods)])
        self._factor = np.ones(len(goals))
        self._strength = np.concatenate([np.zeros(0), *(goal.strength / goal.time**2 for goal in goals)])
        self._blocks: list[tuple[int, Ints, Ints]] = []  # block, rows in it, rows here
        of_goal = [places[goal.rod] for goal in goals]
        for block in sorted({place.block for place in of_goal}):
            own = [k for k, place in enumerate(of_goal) if place.block == block]
            rows = [vertices[block][of_goal[k].first : of_goal[k].end] for k in own]
            here = [np.arange(self._start[k], self._start[k + 1]) for k in own]
            self._blocks.append((block, np.concatenate(rows), np.concatenate(here)))
        self.arrive()

    def __bool__(self) -> bool:
        return len(self._factor) > 0

    @property
    def state_size(self) -> int:
        return int(self._now.size + self._factor.size)

    def state(self) -> Array:
        return np.concatenate([self._now.ravel(), self._factor])

    def restore(self, flat: Array) -> None:
        """Restores targets of `state`; they stay there until they are aimed anew."""
        self._now[:] = flat[: self._now.size].reshape(-1, 3)
        self._factor[:] = flat[self._now.size :]
        self.arrive()

    def can_restore(self, flat: Array) -> bool:
        return bool(np.all(np.isfinite(flat)) and np.all(in_bounds(flat[: self._now.size].reshape(-1, 3))))

    def aim(self, goal: Any, positions: Any, factor: Any) -> None:
        """Sets targets for the end of the frame."""
        index = np.atleast_1d(np.asarray(goal)) if dimensions(goal) >= 0 else np.zeros(0)
        if index.ndim != 1 or index.dtype.kind not in "iu" or np.any((index < 0) | (index >= len(self._factor))):
            raise TendrilError("goal", goal, "give ids that scene.follow returned")
        rows = np.concatenate([np.arange(self._start[k], self._start[k + 1]) for k in index])
        if positions is not None:
            places = array("positions", positions, (len(rows), 3), f"give {len(rows)} points, one per vertex")
            if not np.all(in_bounds(places)):
                raise TendrilError("positions", places, "stay near the origin")
            self._to[rows] = places
        if factor is not None:
            values = np.broadcast_to(np.asarray(factor, dtype=np.float64), index.shape)
            not_negative("factor", float(values.min(initial=0.0)))
            self._factor[index] = values
        self._moving = True

    def advance(self, at: float) -> None:
        if self._moving:
            self._now[:] = self._to if at == 1.0 else self._from + at * (self._to - self._from)

    def carry(self, rotation: Array, translation: Array, goals: Ints) -> None:
        """Moves the current targets of goals rigidly. Where they are aimed at stays."""
        rows = rows_of(self._start, goals)
        for places in (self._now, self._from):
            places[rows] = places[rows] @ rotation.T + translation
        self._moving = True

    def arrive(self) -> None:
        self._from, self._to = self._now.copy(), self._now.copy()
        self._moving = False

    def add_forces(
        self,
        blocks: Sequence[ModelBlock],
        masses: Sequence[Array],
        forces: Sequence[Array],
        h: float,
        frame_rate: float,
    ) -> None:
        """Adds the forces (N) on sample points in a step of h seconds, at whose end targets are where they are now."""
        speed = (self._to - self._from) * frame_rate
        factors = np.repeat(self._factor, np.diff(self._start)) * self._strength
        for number, rows, here in self._blocks:
            x, v, mass = blocks[number].positions()[rows], blocks[number].velocities()[rows], masses[number][rows]
            stiffness = factors[here]
            damping = 2.0 * np.sqrt(stiffness)
            pull = stiffness[:, None] * (self._now[here] - x - h * v) + damping[:, None] * (speed[here] - v)
            forces[number][rows] += (mass / (1.0 + h * damping + h * h * stiffness))[:, None] * pull
