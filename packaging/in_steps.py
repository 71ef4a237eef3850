"""Runs a script in Blender with a window in small steps, so that the window is drawn between them.

`begin(prepare, steps)` calls `prepare`, advances the generator `steps()` fifty times per second, and then quits Blender.
"""

import os
import time
import traceback
from pathlib import Path

import bpy

TIMEOUT = 800.0  # s, for all steps
FOLDER = Path("/tendril")  # shared with packaging/window


def only_a_rope(segments, **look):
    """Replaces the contents of the file by one horizontal rope of four metres, selected. `look` are settings of its curve."""
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    curve = bpy.data.curves.new("Rope", "CURVE")
    curve.dimensions = "3D"
    for name, value in look.items():
        setattr(curve, name, value)
    spline = curve.splines.new("POLY")
    spline.points.add(segments)
    for k, point in enumerate(spline.points):
        point.co = (4.0 * k / segments - 2.0, 0.0, 3.0, 1.0)
    rope = bpy.data.objects.new("Rope", curve)
    bpy.context.collection.objects.link(rope)
    bpy.context.view_layer.objects.active = rope
    rope.select_set(True)
    assert bpy.ops.tendril.rod_add(fit=False) == {"FINISHED"}


def begin(prepare, steps, at_tick=lambda: None):
    began = time.monotonic()
    going = None

    def tick():
        nonlocal going
        at_tick()
        try:
            if time.monotonic() - began > TIMEOUT:
                raise TimeoutError
            if going is None:
                prepare()
                going = steps()
            next(going)
        except StopIteration:
            print("in the window: done", flush=True)
        except BaseException:
            traceback.print_exc()
            os._exit(1)  # quitting would report success
        else:
            return 0.02
        bpy.ops.wm.quit_blender()
        return None

    bpy.context.preferences.view.show_splash = False
    bpy.app.timers.register(tick, first_interval=2.0, persistent=True)


def window():
    return bpy.context.window_manager.windows[0]


def here():
    """Context override with this window, for operators that need one."""
    return bpy.context.temp_override(window=window(), screen=window().screen)


def area_of(kind):
    return next(area for area in window().screen.areas if area.type == kind)


def do(what):
    """Requests an event of the mouse or keyboard; it is done when the file has disappeared."""
    (FOLDER / "do.new").write_text(what)
    (FOLDER / "do.new").rename(FOLDER / "do")
    while (FOLDER / "do").exists():
        yield


def wait(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        yield
