"""Feeds a simulation's accepted steps, or its frames if it does not show them, to the independent collision checker."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from tendril.core import Simulation

from .ccd_checker import Checker, Deepest, snapshot

NOTHING = Deepest(0.0, "", 0)


class Follower:
    """Looks at every accepted step of a simulation that shows them, and else at its frames.

    A simulation shows its steps if it has the attribute `on_step`: a function that it calls after every accepted step with the time
    in s and the positions of all rods, in the order of their ids. Colliders are taken to be where their paths have them then; rigid
    bodies are looked at once per frame."""

    def __init__(self, sim: Simulation, checker: Checker) -> None:
        self.sim, self.checker = sim, checker
        self.sees_steps = hasattr(sim, "on_step")
        self._seconds = 0.0
        self._worst = NOTHING
        self._count, self._passages = 0, 0
        self.checker.begin(*snapshot(sim.current(), sim.scene))
        if self.sees_steps:
            sim.on_step = self.step

    def step(self, at: float, positions: Sequence[Any]) -> None:
        """An accepted step."""
        began = time.process_time()
        joined = positions if isinstance(positions, np.ndarray) else np.concatenate(list(positions))
        if np.isfinite(joined).all():
            self._worst = max(self._worst, self.checker.look(joined, at, None))
        self._seconds += time.process_time() - began

    def take_seconds(self) -> float:
        """Processor time spent on checks within the simulation's steps since this was last asked."""
        seconds, self._seconds = self._seconds, 0.0
        return seconds

    def end_frame(self, frame: Any) -> tuple[Deepest, int, int]:
        """The worst overlap since the frame before, the crossings, and the number of snapshots in between."""
        worst, self._worst = max(self._worst, self.checker.look(*snapshot(frame, self.sim.scene))), NOTHING
        findings = self.checker.findings
        crossings, steps = len(findings.passages) - self._passages, findings.snapshots - self._count
        self._passages, self._count = len(findings.passages), findings.snapshots
        return worst, crossings, steps
