"""Test of the first playback in a window, run by packaging/window: the solver compiles in the background while the window keeps
responding. Afterwards the Physics tab is shown for a screenshot.
"""

import functools
import itertools
import sys
import time
from pathlib import Path

import bpy

sys.path.append(str(Path(__file__).parent))  # where packaging/window copies it
from in_steps import begin, here, only_a_rope, window

NAME = "bl_ext.user_default.tendril"
MAX_STALL = 1.0  # s: longest admissible pause of the window beyond twice its drawing time, on a busy machine
MAX_OWN = 0.2  # s of processor time: the same for what Tendril does in the window's thread
FOLDER = Path("/tendril")

ticks = []  # times at which the window responded
own = {}  # longest processor time of Tendril's functions that the window calls, by name


def timed(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        start = time.thread_time()
        try:
            return function(*arguments)
        finally:
            own[function.__qualname__] = max(own.get(function.__qualname__, 0.0), time.thread_time() - start)

    return wrapper


def watch_tendril():
    """Measures everything that Blender calls of Tendril: handlers, timer, drawing of the panel."""
    for event in dir(bpy.app.handlers):
        handlers = getattr(bpy.app.handlers, event)
        if isinstance(handlers, list):
            handlers[:] = [timed(one) if one.__module__.startswith(NAME) else one for one in handlers]
    solver = sys.modules[NAME + ".addon.solver"]
    solver._poll = timed(solver._poll)
    panel = sys.modules[NAME + ".addon.panels.rod"].TENDRIL_PT_rod
    panel.draw_settings = timed(panel.draw_settings)


def prepare():
    only_a_rope(40, bevel_depth=0.04)
    watch_tendril()
    for area in window().screen.areas:
        if area.type == "PROPERTIES":
            area.spaces.active.context = "PHYSICS"
        if area.type == "VIEW_3D":
            view = area.spaces.active.region_3d
            view.view_location, view.view_distance = (-1.0, 0.0, 1.5), 8.0
            view.view_rotation = (0.7071, 0.7071, 0.0, 0.0)  # front view
    bpy.context.scene.frame_set(1)


def steps():
    """The steps of the test; each yields until the next may begin."""
    solver = sys.modules[NAME + ".addon.solver"]
    calm = time.monotonic() + 5.0
    while time.monotonic() < calm:  # measures the pauses of an idle window drawn without a graphics card
        for area in window().screen.areas:
            area.tag_redraw()
        yield
    at_rest = max(after - before for before, after in itertools.pairwise(ticks))
    ticks.clear()
    own.clear()
    with here():
        bpy.ops.screen.animation_play()
    played = time.monotonic()
    while not solver.is_compiling():
        yield
    said = time.monotonic() + 5.0
    while time.monotonic() < said:
        yield
    (FOLDER / "ready-compiling").touch()
    while not (FOLDER / "taken-compiling").exists():
        yield
    while solver.is_compiling():
        yield
    compiled = time.monotonic()
    waits = sorted(((after - before, before - played) for before, after in itertools.pairwise(ticks)), reverse=True)
    print(f"compiled in {compiled - played:.1f} s; the window waits {at_rest:.2f} s by itself; while it is compiled at most",
          ", ".join(f"{wait:.2f} s after {moment:.1f} s" for wait, moment in waits[:6]))  # fmt: skip
    print("the longest that Tendril took of the window's thread:",
          ", ".join(f"{name} {1e3 * longest:.0f} ms" for name, longest in own.items()))  # fmt: skip
    assert max(own.values()) < MAX_OWN
    own.clear()
    while not window().screen.is_animation_playing or bpy.context.scene.frame_current < 24:
        yield
    started = time.monotonic()
    with here():
        bpy.ops.screen.animation_cancel(restore_frame=False)
    low = min(point.co.z for point in bpy.data.objects["Rope"].data.splines[0].points)
    print(f"frame 24 shown {started - compiled:.1f} s later; the longest frame took",
          f"{1e3 * max(own.values()):.0f} ms of processor time")  # fmt: skip
    assert low < 2.0
    assert waits[0][0] < 2.0 * at_rest + MAX_STALL
    (FOLDER / "ready-playing").touch()
    while not (FOLDER / "taken-playing").exists():
        yield


begin(prepare, steps, at_tick=lambda: ticks.append(time.monotonic()))
