"""Base class of the operators that simulate many frames."""

from __future__ import annotations

import math
import time
from collections.abc import Generator

import bpy

from .. import live, memory, solver
from ..baking.errors import BakeError
from ..bridge.rods import rods_in

# Longest time the simulation blocks the window between two events, s (exceeded if a single frame takes longer).
MAX_BLOCKING_TIME = 0.05


def is_background() -> bool:
    """Whether Blender runs without a window: it then sends no events, and operators must run to completion."""
    return bpy.app.background


class SimulationOperator:
    """Simulates many frames: modal with progress, time left and ESC in a window, blocking in the background."""

    activity = "baking"

    def execute(self, context: bpy.types.Context) -> set[str]:
        if not self._begin(context):
            return {"CANCELLED"}
        return self._advance(context, math.inf) or {"CANCELLED"}

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        if is_background() or context.window is None:
            return self.execute(context)
        if not self._begin(context):
            return {"CANCELLED"}
        solver.prepare_for(context.scene, memory.taking_part(context.scene).values())
        manager = context.window_manager
        self._timer = manager.event_timer_add(0.01, window=context.window)
        manager.progress_begin(0, 100)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if event.type == "ESC":
            self._steps.close()
            self._end(context)
            self.report({"INFO"}, "Cancelled")
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        if solver.is_compiling():
            context.workspace.status_text_set(f"{solver.progress_text()}    ESC: cancel")
            self._began = time.monotonic()
            return {"RUNNING_MODAL"}
        result = self._advance(context, time.monotonic() + MAX_BLOCKING_TIME)
        if result:
            self._end(context)
            return result
        context.window_manager.progress_update(100.0 * self._progress)
        context.workspace.status_text_set(self._status_text())
        return {"RUNNING_MODAL"}

    def _advance(self, context: bpy.types.Context, until: float) -> set[str] | None:
        """Simulates at least one frame and continues until the time `until`. Returns the operator result when finished."""
        try:
            with solver.at_once():
                self._progress = next(self._steps)
                while time.monotonic() < until:
                    self._progress = next(self._steps)
        except StopIteration as end:
            if end.value is not None:
                self.report({"WARNING"}, f"The motion is inaccurate from frame {end.value} on: increase the substeps")
            if self.completion_message(context):
                self.report({"INFO"}, self.completion_message(context))
            return {"FINISHED"}
        except BakeError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return None

    def _status_text(self) -> str:
        elapsed = time.monotonic() - self._began
        remaining = elapsed * (1.0 - self._progress) / self._progress if self._progress > 0.0 else 0.0
        return f"Tendril is {self.activity}: {100.0 * self._progress:.0f} %, {remaining:.0f} s left    ESC: cancel"

    def _end(self, context: bpy.types.Context) -> None:
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)

    def _begin(self, context: bpy.types.Context) -> bool:
        live.give_unique_ids(rods_in(bpy.data.objects))
        self._progress, self._began = 0.0, time.monotonic()
        try:
            self._steps = self.steps(context)
        except BakeError as error:
            self.report({"ERROR"}, str(error))
            return False
        return True

    def steps(self, context: bpy.types.Context) -> Generator[float, None, int | None]:
        """Generator that simulates a frame per step, yields the progress (0 to 1) and returns the first inaccurate frame."""
        raise NotImplementedError

    def completion_message(self, context: bpy.types.Context) -> str:
        """Message after success; empty for none."""
        return ""
