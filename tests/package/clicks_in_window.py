"""Acceptance in a window, run by packaging/window: real clicks in the default layout of Blender, which install the package by the
Preferences, then lead from the menu to a moving rope and to a baked one; then undo, a slider, saving and reopening. Screenshots for
docs/quick_start.md are taken on the way.
"""

import sys
import time
from pathlib import Path

import bpy

sys.path.append(str(Path(__file__).parent))  # where packaging/window copies it
from in_steps import FOLDER, begin, do, wait, window

NAME = "bl_ext.user_default.tendril"
MOST_TO_MOVE, MOST_TO_BAKE = 5, 7  # clicks after installation
FILE = FOLDER / "clicks.blend"

# Pixels in a window of 1600 x 1000, in the default layout of Blender 4.3.
EDIT, PREFERENCES = (83, 14), (135, 282)
OBJECT, QUICK_EFFECTS, QUICK_ROPE = (328, 40), (371, 638), (573, 729)
PLAY, BAKE, STIFFNESS, VIEWPORT = (683, 918), (1470, 869), (1510, 653), (700, 700)

# In the Preferences and the file browser, whose upper left corners are moved to CORNER. The package is the only file there.
CORNER = "250 100"
GET_EXTENSIONS, MENU, FROM_DISK, FIRST_FILE, INSTALL = (307, 264), (918, 119), (811, 241), (562, 178), (1281, 704)

clicks = 0


def click(place):
    global clicks
    clicks += 1
    yield from do(f"mousemove {place[0] - 3} {place[1]} mousemove {place[0]} {place[1]} sleep 0.4 click 1")
    yield from wait(2.0)


def picture(name):
    (FOLDER / f"ready-{name}").touch()
    while not (FOLDER / f"taken-{name}").exists():
        yield


def until(condition, what, seconds):
    late = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < late, what
        yield


def rope():
    return bpy.data.objects["Rope"]


def last_point():
    return tuple(rope().data.splines[0].points[-1].co)


def move_window(title):
    """Without a window manager, new windows open partly outside of the screen."""
    yield from wait(4.0)
    yield from do(f"search --name {title} windowmove {CORNER} windowfocus")
    yield from wait(4.0)


def install():
    assert NAME not in sys.modules
    yield from click(EDIT)
    yield from click(PREFERENCES)
    yield from move_window("Preferences")
    yield from click(GET_EXTENSIONS)
    yield from click(MENU)
    yield from picture("install")
    yield from click(FROM_DISK)
    yield from move_window("File")
    yield from click(FIRST_FILE)
    yield from click(INSTALL)
    yield from until(lambda: NAME in sys.modules, "the package is not installed", 200)
    print(f"installed after {clicks} clicks", flush=True)
    yield from wait(4.0)
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[-1]):
        bpy.ops.wm.window_close()
    yield from wait(2.0)


def steps():
    global clicks
    yield from install()
    clicks = 0
    curves = sys.modules[NAME + ".addon.bridge.curves"]
    bpy.ops.wm.save_as_mainfile(filepath=str(FILE))
    yield from click(OBJECT)
    yield from click(QUICK_EFFECTS)
    yield from picture("menu")
    yield from click(QUICK_ROPE)
    assert rope().tendril.enabled
    yield from picture("rope")
    drawn = last_point()
    yield from click(PLAY)
    yield from until(lambda: window().scene.frame_current > 20 and last_point() != drawn, "the rope did not move", 500)
    assert clicks <= MOST_TO_MOVE, clicks
    print(f"a moving rope after {clicks} clicks", flush=True)
    yield from picture("playing")
    yield from click(PLAY)  # pause
    window().scene.frame_end = 60
    yield from click(BAKE)
    yield from until(lambda: rope().tendril.baked, "the rope is not baked", 200)
    assert clicks <= MOST_TO_BAKE, clicks
    print(f"a baked rope after {clicks} clicks", flush=True)
    assert len(rope().data.shape_keys.key_blocks) >= 60
    yield from do(f"mousemove {VIEWPORT[0]} {VIEWPORT[1]}")
    yield from wait(3.0)  # until the panel is drawn again
    yield from picture("baked")
    yield from do(f"mousemove {VIEWPORT[0]} {VIEWPORT[1]} sleep 0.3 key ctrl+z")
    yield from until(lambda: not rope().tendril.baked, "undo did not remove the bake", 20)
    window().scene.frame_set(1)  # the status has one line there, so that the slider is where it was
    yield from wait(8.0)  # a busy machine without a graphics card draws slowly
    before = rope().tendril.stiffness_factor
    x, y = STIFFNESS
    drag = " ".join(f"mousemove {x + k} {y} sleep 0.1" for k in range(2, 32, 2))
    yield from do(f"mousemove {x} {y} sleep 0.5 mousedown 1 sleep 0.2 {drag} mouseup 1")
    yield from until(lambda: rope().tendril.stiffness_factor > before, "the slider did not move", 20)
    print(f"stiffness {before:.2f} to {rope().tendril.stiffness_factor:.2f} by the slider", flush=True)
    kept = rope().tendril.stiffness_factor
    yield from do(f"mousemove {VIEWPORT[0]} {VIEWPORT[1]} sleep 0.3 key ctrl+s")
    yield from until(lambda: not bpy.data.is_dirty, "the file was not saved", 20)
    bpy.ops.wm.open_mainfile(filepath=str(FILE))
    yield from wait(2.0)
    assert rope().tendril.stiffness_factor == kept
    assert rope().tendril.look == "ROPE"
    assert curves.keeps_drawn(rope().data)
    print("reopened as it was", flush=True)


begin(lambda: None, steps)
