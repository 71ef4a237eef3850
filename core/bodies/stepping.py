"""Steps of bodies, and of the rods that are attached to them."""

from __future__ import annotations

import math

import numpy as np

from ..errors import Array
from ..models.protocol import Work
from .block import BodyBlock, Ints

GAMMA = 1.0 - math.sqrt(0.5)  # SDIRK2, as in the rods' stepping
MOST_ITERATIONS = 25
MOST_TURN = 0.5  # rad in a step of a body: faster ones take several
MOST_PARTS = 256
TOLERANCE = 1e-9  # of Newton's method, in sizes of a body


class BodySteps:
    def __init__(self, block: BodyBlock, second_order: bool) -> None:
        self._block, self._second_order = block, second_order
        self._work = Work()

    def free_step(self, h: float, gravity: Array) -> None:
        """Moves all bodies by h."""
        everything = np.arange(len(self._block))
        spin = float(np.abs(self._block.state.w).max(initial=0.0))
        parts = min(max(1, math.ceil(spin * h / MOST_TURN)), MOST_PARTS)
        self._block.save(everything)
        for k in range(parts):
            self._step(everything, h / parts, k / parts, (k + 1) / parts, gravity)

    def _step(self, chosen: Ints, h: float, begin: float, end: float, gravity: Array) -> None:
        """From a part of the whole step to another."""
        block, stage = self._block, GAMMA * h if self._second_order else h
        middle = begin + (end - begin) * GAMMA
        block.begin(chosen, stage, middle if self._second_order else end)
        self._solve(chosen, stage, gravity)
        if self._second_order:
            block.go_on(chosen, stage, (1.0 - GAMMA) / GAMMA, end)
            self._solve(chosen, stage, gravity)
        block.finish(chosen, stage)

    def _solve(self, chosen: Ints, h: float, gravity: Array) -> None:
        block = self._block
        free = chosen[~block.kinematic[chosen]]
        for _ in range(MOST_ITERATIONS):
            residual, matrix = block.linearise(free, h, gravity)
            step = -np.linalg.solve(matrix, residual[..., None])[..., 0]
            block.move(free, step)
            self._work = self._work + Work(iterations=len(free))
            if np.abs(step).max(initial=0.0) < TOLERANCE:
                break

    def take_work(self) -> Work:
        work, self._work = self._work, Work()
        return work
