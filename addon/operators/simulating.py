"""What all operators share that simulate many frames."""

from __future__ import annotations

import math
import time
from collections.abc import Generator

import bpy

from .. import live, memory, solver
from ..baking.errors import BakeError
from ..bridge.rods import rods_in

# How long the window may wait for the next event while frames are simulated, s.
PATIENCE = 0.05


def is_background() -> bool:
    """Without a window nothing sends events, and an operator has to do all at once."""
    return bpy.app.background


class Simulates:
    """Simulates many frames: with progress, time left and ESC in the window, plainly without one."""

    doing = "bakes"

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
        result = self._advance(context, time.monotonic() + PATIENCE)
        if result:
            self._end(context)
            return result
        context.window_manager.progress_update(100.0 * self._progress)
        context.workspace.status_text_set(self._told())
        return {"RUNNING_MODAL"}

    def _advance(self, context: bpy.types.Context, until: float) -> set[str] | None:
        """Goes on until that time, by one frame at least; gives the result when it is done."""
        try:
            with solver.at_once():
                self._progress = next(self._steps)
                while time.monotonic() < until:
                    self._progress = next(self._steps)
        except StopIteration as end:
            if end.value is not None:
                self.report({"WARNING"}, f"The motion is not exact since frame {end.value}: try more substeps")
            elif self.done(context):
                self.report({"INFO"}, self.done(context))
            return {"FINISHED"}
        except BakeError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return None

    def _told(self) -> str:
        spent = time.monotonic() - self._began
        left = spent * (1.0 - self._progress) / self._progress if self._progress > 0.0 else 0.0
        return f"Tendril {self.doing}: {100.0 * self._progress:.0f} %, {left:.0f} s left    ESC: cancel"

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
        raise NotImplementedError

    def done(self, context: bpy.types.Context) -> str:
        """What is to be said in the end."""
        return ""
