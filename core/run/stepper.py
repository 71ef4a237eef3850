"""Steppers advance a `World` through a frame. This file has the interface and the stepper of scenes without contact."""

from __future__ import annotations

from abc import ABC, abstractmethod

from .world import FrameTimes, World


class Stepper(ABC):
    """Divides a frame into substeps. An implementation advances the world by one of them."""

    def __init__(self, world: World, substeps: int) -> None:
        self._world, self._substeps = world, substeps

    def step_frame(self, times: FrameTimes) -> None:
        """Advances the world by one frame. Never raises; failures are counted in `World.work`."""
        count = self._substeps if self._all_at_once() else 1
        for k in range(count, self._substeps + 1, count):
            self.advance(times, (k - count) / self._substeps, k / self._substeps, count)
            self._world.exchange(1.0 / (times.rate * self._substeps))
        self._world.collect_work()
        self._world.end_frame()

    def _all_at_once(self) -> bool:
        """Whether `advance` may take all substeps of this frame in one call."""
        return False

    @abstractmethod
    def advance(self, times: FrameTimes, begin: float, end: float, count: int) -> None:
        """Advances the world from one fraction of the frame to another, in `count` steps. Moves everything prescribed along."""

    @abstractmethod
    def relax(self, h: float, time: float) -> None:
        """One step of h seconds towards rest, under the forces at a time in s and without air. Nothing prescribed moves."""


class FreeStepper(Stepper):
    """Nothing can collide: blocks and bodies take their steps one after the other."""

    def _all_at_once(self) -> bool:
        return self._world.is_uniform

    def advance(self, times: FrameTimes, begin: float, end: float, count: int) -> None:
        world, h = self._world, 1.0 / (times.rate * self._substeps)

        def place(part: float) -> None:
            world.place(times, end if part == 1.0 else begin + part * (end - begin))

        world.place(times, end)
        # Forces of the middle of the step act all through it: second order, like the integrator.
        world.around.act(times.at(end) - 0.5 * h * count, h, times.rate)
        world.free_steps(h, count, False, place=place)

    def relax(self, h: float, time: float) -> None:
        self._world.send_holds()
        self._world.around.act(time, h)
        self._world.free_steps(h, 1, True)
        self._world.collect_work()
