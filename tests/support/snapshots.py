"""Feeds a simulation's accepted steps, or its frames if it does not show them, to the independent collision checker."""

from __future__ import annotations

from typing import Any

from tendril.core import Simulation

from .ccd_checker import Checker, Deepest, snapshot


class Follower:
    """Looks at every accepted step of a simulation through `Simulation.on_step`, and at frames where that does not exist."""

    def __init__(self, sim: Simulation, checker: Checker) -> None:
        self.sim, self.checker = sim, checker
        self.seconds = 0.0  # of processor time spent within the simulation's steps
        self._count, self._passages = 0, 0
        self.checker.begin(*snapshot(sim.current(), sim.scene))

    @property
    def sees_steps(self) -> bool:
        return hasattr(self.sim, "on_step")

    def end_frame(self, frame: Any) -> tuple[Deepest, int, int]:
        """Its worst overlap, the crossings since the frame before, and the number of snapshots in between."""
        deepest = self.checker.look(*snapshot(frame, self.sim.scene))
        findings = self.checker.findings
        crossings, steps = len(findings.passages) - self._passages, findings.snapshots - self._count
        self._passages, self._count = len(findings.passages), findings.snapshots
        return deepest, crossings, steps
