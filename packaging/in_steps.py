"""Inside a Blender with a window: something is done step by step, and the window is drawn between the steps.

`begin(prepare, steps)` calls the one, takes the generator that the other gives on, fifty times a second, and then ends Blender.
"""

import time
import traceback

import bpy

LONGEST = 800.0  # s for all of it


def begin(prepare, steps, at_tick=lambda: None):
    began = time.monotonic()
    going = None

    def tick():
        nonlocal going
        at_tick()
        try:
            if time.monotonic() - began > LONGEST:
                raise TimeoutError
            if going is None:
                prepare()
                going = steps()
            next(going)
        except StopIteration:
            print("in the window: done", flush=True)
        except BaseException:
            traceback.print_exc()
        else:
            return 0.02
        bpy.ops.wm.quit_blender()
        return None

    bpy.context.preferences.view.show_splash = False
    bpy.app.timers.register(tick, first_interval=2.0, persistent=True)


def window():
    return bpy.context.window_manager.windows[0]


def here():
    """Operators that want a window get this one."""
    return bpy.context.temp_override(window=window(), screen=window().screen)


def area_of(kind):
    return next(area for area in window().screen.areas if area.type == kind)
