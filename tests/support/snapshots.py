"""Feeds a simulation's accepted steps, or its frames if it does not show them, to the independent collision checker."""

from __future__ import annotations

from typing import Any

from tendril.core import Simulation

from .ccd_checker import Checker, Deepest, snapshot


class Follower:
    """Looks at every accepted step of a simulation that shows them, and else at its frames."""

    def __init__(self, sim: Simulation, checker: Checker) -> None:
        self.sim, self.checker = sim, checker
        self.sees_steps = False
        self._seconds = 0.0
        self._count, self._passages = 0, 0
        self.checker.begin(*snapshot(sim.current(), sim.scene))

    def take_seconds(self) -> float:
        """Processor time spent on checks within the simulation's steps since this was last asked."""
        seconds, self._seconds = self._seconds, 0.0
        return seconds

    def end_frame(self, frame: Any) -> tuple[Deepest, int, int]:
        """Its worst overlap, the crossings since the frame before, and the number of snapshots in between."""
        deepest = self.checker.look(*snapshot(frame, self.sim.scene))
        findings = self.checker.findings
        crossings, steps = len(findings.passages) - self._passages, findings.snapshots - self._count
        self._passages, self._count = len(findings.passages), findings.snapshots
        return deepest, crossings, steps
