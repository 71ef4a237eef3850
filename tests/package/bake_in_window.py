"""Test of baking in a window, run by packaging/window: Bake is clicked, shows progress in the status bar, is cancelled with ESC
and clicked again. Mouse and keyboard events of the virtual screen are written to a file and executed by xdotool.
"""

import itertools
import sys
import time
from pathlib import Path

import bpy

sys.path.append(str(Path(__file__).parent))  # where packaging/window copies it
from in_steps import FOLDER, area_of, begin, do, only_a_rope, wait, window

NAME = "bl_ext.user_default.tendril"
MAX_STALL = 2.0  # s, without a graphics card and on a busy machine

ticks = []  # times at which the window responded


class BAKE_MT_menu(bpy.types.Menu):
    """A menu whose button opens under the mouse."""

    bl_label = "Bake"

    def draw(self, _context):
        self.layout.operator_context = "INVOKE_DEFAULT"  # as in the panel
        self.layout.operator("tendril.bake")


def prepare():
    only_a_rope(100)
    bpy.context.scene.tendril.substeps = 20
    with sys.modules[NAME + ".addon.solver"].at_once():  # compiles immediately
        for frame in (1, 2, 3):
            bpy.context.scene.frame_set(frame)
    bpy.context.scene.frame_set(1)


def bakes():
    return any(operator.bl_idname == "TENDRIL_OT_bake" for operator in window().modal_operators)


def click_bake():
    """Opens the menu, whose first entry is under the mouse, and clicks."""
    area = area_of("VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    across, down = area.x + area.width // 2, window().height - area.y - area.height // 2
    yield from do(f"mousemove {across - 5} {down} mousemove {across} {down}")
    yield from wait(1.0)
    with bpy.context.temp_override(window=window(), area=area, region=region):
        bpy.ops.wm.call_menu(name="BAKE_MT_menu")
    yield from wait(1.5)
    yield from do("click 1")
    late = time.monotonic() + 20.0
    while not bakes():
        assert time.monotonic() < late, "the bake did not begin"
        yield


def steps():
    memory = sys.modules[NAME + ".addon.memory"]
    scene, settings = bpy.context.scene, lambda: bpy.data.objects["Rope"].tendril
    scene.frame_end = 2000
    yield from click_bake()
    ticks.clear()
    yield from wait(6.0)
    assert bakes()
    longest = max(after - before for before, after in itertools.pairwise(ticks))
    (FOLDER / "ready-baking").touch()
    while not (FOLDER / "taken-baking").exists():
        yield
    yield from do("key Escape")
    late = time.monotonic() + 20.0
    while bakes():
        assert time.monotonic() < late, "ESC did not end the bake"
        yield
    running = memory.running_of(scene)
    kept = running.last_frame
    print(f"cancelled after {kept} of 2000 frames; the window waited {longest:.2f} s at most")
    assert 10 < kept < 2000
    assert longest < MAX_STALL
    assert not settings().baked
    assert bpy.data.objects["Rope"].data.shape_keys is None
    assert scene.frame_current == 1
    frames = dict(running.moments)
    scene.frame_end = kept + 20
    yield from click_bake()
    late = time.monotonic() + 120.0
    while bakes():
        assert time.monotonic() < late, "the bake did not end"
        yield
    assert settings().baked
    keys = bpy.data.objects["Rope"].data.shape_keys.key_blocks
    again = memory.running_of(scene)
    same = sum(again is not None and again.moments.get(k) is moment for k, moment in frames.items())
    print(f"went on to frame {kept + 20}: {len(keys)} shape keys, {same} of {len(frames)} frames were there")
    assert len(keys) >= 2
    assert same == len(frames)


bpy.utils.register_class(BAKE_MT_menu)
begin(prepare, steps, at_tick=lambda: ticks.append(time.monotonic()))
