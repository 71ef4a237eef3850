"""Prescribed motion of the holds and goals of a scene: along paths, or interpolated to targets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..describe.rotations import are_rotations
from ..describe.scene import Scene
from ..errors import LARGEST_SIZE, Array, TendrilError, array, dimensions
from ..maths.motion import OTHER, POSITION, ROTATION, Motion, finite_array, in_bounds
from ..models.protocol import ModelBlock
from .callbacks import UNUSABLE, Callbacks, hold_name
from .goals import Goals

SPIN = OTHER


class HoldMotion(Motion):
    """Positions (H, 3), rotations (H, 3, 3) and spins (H,) of all holds."""

    def __init__(
        self,
        scene: Scene,
        blocks: Sequence[ModelBlock],
        ids: Sequence[NDArray[np.int64]],
        goals: Goals,
        callbacks: Callbacks,
    ) -> None:
        """`ids` are the indices of each block's holds. Unusable values of paths are reported to `callbacks`."""
        self.goals = goals
        count = len(scene.holds)
        self._holds, self._callbacks = scene.holds, callbacks
        self.position = np.zeros((count, 3))
        for block, of_block in zip(blocks, ids, strict=True):
            if len(of_block):
                self.position[of_block] = block.hold_positions()
        super().__init__(self.position, np.tile(np.eye(3), (count, 1, 1)), np.zeros(count))
        self._before, self._at, self._span = self.position.copy(), 0.0, 0.0  # positions before the last step; its times
        self._guided = any(hold.path is not None or hold.spin is not None for hold in scene.holds)
        # Holds with a path, by what it returns: (indices, functions).
        self._pins = self._functions("pin", "slide")
        self._orients = self._functions("orient")
        self._clamps = self._functions("clamp", "slide clamp", "edge")
        spun = [k for k, hold in enumerate(scene.holds) if hold.spin is not None]
        self._spins: tuple[Any, list[Any]] = (np.array(spun, dtype=np.int64), [scene.holds[k].spin for k in spun])

    def _functions(self, *kinds: str) -> tuple[Any, list[Any]]:
        numbers = [k for k, hold in enumerate(self._holds) if hold.path is not None and hold.kind in kinds]
        return np.array(numbers, dtype=np.int64), [self._holds[k].path for k in numbers]

    @property
    def state_size(self) -> int:
        return 13 * len(self._holds) + self.goals.state_size

    def state(self) -> Array:
        """Poses of all holds and targets of all goals, as a flat array."""
        return np.concatenate([*(now.ravel() for now in self._now), self.goals.state()])

    def can_restore(self, flat: Array) -> bool:
        """Whether these are poses of `state`."""
        count = len(self._holds)
        position, rotation, _, goals = np.split(flat, [3 * count, 12 * count, 13 * count])
        if not self.goals.can_restore(goals):
            return False
        return bool(np.all(in_bounds(position.reshape(-1, 3))) and np.all(are_rotations(rotation.reshape(-1, 3, 3))))

    def restore(self, flat: Array) -> None:
        """Restores the poses of `state` and drops all targets."""
        count = len(self._holds)
        *poses, goals = np.split(flat, [3 * count, 12 * count, 13 * count])
        for now, part in zip(self._now, poses, strict=True):
            now[:] = part.reshape(now.shape)
        self._stop()
        self._at = 0.0
        self.goals.restore(goals)

    def advance(self, at: float, time: float) -> None:
        self._before[:], self._span, self._at = self.position, at - self._at, at
        super().advance(at, time)
        self.goals.advance(at)

    def speeds(self, frame_rate: float) -> Array:
        """(H, 3) m/s, mean velocities in the last step, at so many frames per second."""
        return (self.position - self._before) * (frame_rate / self._span if self._span > 0.0 else 0.0)

    def begin_at(self, hold: int, position: Array | None, rotation: Array | None) -> None:
        """A hold that takes hold again begins the frame at this pose (None: at the one that it has). Its target stays."""
        for arrays in (self._now, self._from):
            for which, value in ((POSITION, position), (ROTATION, rotation)):
                if value is not None:
                    arrays[which][hold] = value
        self._moving = True

    def arrive(self) -> None:
        super().arrive()
        self._at = 0.0
        self.goals.arrive()

    @property
    def uneven(self) -> bool:
        """True if holds do not move linearly through the frame."""
        return self._guided or (self._moving and not np.array_equal(self._from[ROTATION], self._to[ROTATION]))

    def poses(self) -> tuple[Array, Array, Array]:
        return self._now

    def spins(self, hold: Any) -> Array:
        return np.asarray(self._now[SPIN][self._indices(hold)])

    def _indices(self, hold: Any) -> Any:
        index = np.atleast_1d(np.asarray(hold)) if dimensions(hold) >= 0 else np.zeros(0)
        if index.ndim != 1 or index.dtype.kind not in "iu" or np.any((index < 0) | (index >= len(self._holds))):
            raise TendrilError("hold", hold, "give ids that scene.pin or scene.clamp returned")
        return index

    def aim(self, hold: Any, position: Any, rotation: Any, spin: Any) -> None:
        """Sets targets of holds for the end of the frame."""
        index = self._indices(hold)
        shape = (len(index),) if dimensions(hold) == 1 else ()
        checked: list[tuple[Array, Array]] = []
        for name, value, goal, tail in (
            ("position", position, self._to[POSITION], (3,)),
            ("rotation", rotation, self._to[ROTATION], (3, 3)),
            ("spin", spin, self._to[SPIN], ()),
        ):
            if value is not None:
                wanted = (*shape, *tail)
                values = array(name, value, wanted, f"give finite numbers of shape {wanted}")
                if name == "rotation" and not np.all(are_rotations(values)):
                    raise TendrilError(name, value, "give a rotation matrix: orthonormal columns, no mirror image")
                if name == "position" and not np.all(in_bounds(values)):
                    raise TendrilError(name, value, f"stay within {10 * LARGEST_SIZE:g} m of the origin")
                checked.append((goal, values))
        for goal, values in checked:
            goal[index] = values
        self._moving = self._moving or bool(checked)

    def follow_paths(self, time: float) -> None:
        numbers, functions = self._pins
        self._set_valid(POSITION, numbers, [function(time) for function in functions], in_bounds)
        numbers, functions = self._orients
        self._set_valid(ROTATION, numbers, [function(time) for function in functions], are_rotations)
        numbers, functions = self._clamps
        pairs = [function(time) for function in functions]
        none = (None, None)
        bad = (np.nan, np.nan)
        pairs = [
            none if pair is None else pair if isinstance(pair, (tuple, list)) and len(pair) == 2 else bad
            for pair in pairs
        ]
        self._set_valid(POSITION, numbers, [pair[0] for pair in pairs], in_bounds)
        self._set_valid(ROTATION, numbers, [pair[1] for pair in pairs], are_rotations)
        numbers, functions = self._spins
        self._set_valid(SPIN, numbers, [function(time) for function in functions], np.isfinite)

    def _set_valid(self, which: int, numbers: Any, values: list[Any], good: Any) -> None:
        """Sets finite and valid values at once; others are ignored and reported."""
        if not values:
            return
        shape = self._now[which].shape[1:]
        try:
            block = np.array(values)  # fast path: all values are well-formed
        except Exception:  # converting a value may run the user's code
            block = np.zeros(0)
        if block.shape != (len(values), *shape) or block.dtype.kind not in "fiu":
            block = np.full((len(values), *shape), np.nan)
            for k, value in enumerate(values):
                one = finite_array(value, shape)
                if one is not None:
                    block[k] = one
        finite = np.isfinite(block).reshape(len(values), -1).all(axis=1)
        chosen = finite & good(np.where(finite.reshape(-1, *(1,) * len(shape)), block, 0.0))
        if not chosen.all():
            for k in np.flatnonzero(~chosen):
                if values[k] is not None:  # None means no change
                    self._callbacks.tell(hold_name(int(numbers[k]), "spin" if which == SPIN else "path"), UNUSABLE)
        self._put(which, numbers[chosen], block[chosen])
