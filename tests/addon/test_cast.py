"""What is not looked at again while nothing but rods moves makes no difference, whatever is changed in the middle."""

import bpy
import numpy as np
import pytest
from tendril.addon import cast, live, memory
from tendril.addon.bridge.curves import read_rows
from tendril.tests.addon.building import line, make_curve, make_rod, status

MIDDLE, LAST = 6, 12


def new_object(name, data=None):
    obj = bpy.data.objects.new(name, data)
    bpy.context.collection.objects.link(obj)
    return obj


def blow(rope):
    with bpy.context.temp_override(object=new_object("Fan"), active_object=bpy.data.objects["Fan"]):
        bpy.ops.object.forcefield_toggle()
    bpy.data.objects["Fan"].field.type = "WIND"
    bpy.data.objects["Fan"].field.strength = 50.0


def blow_from_elsewhere(rope):
    """A field that is no part of the scene, and chosen."""
    blow(rope)
    other = bpy.data.collections.new("Elsewhere")
    other.objects.link(bpy.data.objects["Fan"])
    bpy.context.collection.objects.unlink(bpy.data.objects["Fan"])
    bpy.context.scene.tendril.field_collection = other


def own_range(shared):
    shared.cache_start, shared.cache_end, shared.use_own_range = 3, LAST - 2, True


def after_frames(change, event="frame_change_post"):
    """As an add-on does that comes after ours: Blender does not tell of it in the next frame."""

    def start(_rope):
        def handler(scene, _depsgraph=None):
            change(scene, scene.objects["Rope"])

        getattr(bpy.app.handlers, event).append(handler)

    return start


def move(scene, rope):
    rope.location.y = 0.01 * scene.frame_current


def soften(scene, rope):
    rope.tendril.stiffness_factor = 1.0 / scene.frame_current


def pull(scene, _rope):
    scene.gravity.y = 0.1 * scene.frame_current


CHANGES = {
    "nothing": lambda rope: None,
    "stiffness": lambda rope: setattr(rope.tendril, "stiffness_factor", 0.2),
    "pins": lambda rope: setattr(rope.tendril, "pin_influence", 0.0),
    "gravity": lambda rope: setattr(bpy.context.scene, "gravity", (3.0, 0.0, 5.0)),
    "wind": lambda rope: setattr(bpy.context.scene.tendril, "wind", (0.0, 9.0, 0.0)),
    "place": lambda rope: setattr(rope, "location", (0.0, 0.1, 0.0)),
    "place, by another add-on": after_frames(move),
    "stiffness, by another add-on": after_frames(soften),
    "gravity, by another add-on": after_frames(pull),
    "gravity, by one that comes before frames": after_frames(pull, "frame_change_pre"),
    "unit": lambda rope: setattr(bpy.context.scene.unit_settings, "scale_length", 0.5),
    "unlinked": lambda rope: bpy.context.collection.objects.unlink(rope),
    "field": blow,
    "field of another scene": blow_from_elsewhere,
    "points": lambda rope: rope.data.splines[0].points.add(2),
    "shape keys": lambda rope: rope.shape_key_add(name="Basis"),
    "another rod": lambda rope: setattr(bpy.data.objects["Curve"].tendril, "enabled", True),
    "no rod any more": lambda rope: setattr(rope.tendril, "enabled", False),
    "hidden": lambda rope: setattr(rope, "hide_viewport", True),
    "name": lambda rope: setattr(rope, "name", "Zopa"),
    "data": lambda rope: setattr(rope, "data", rope.data.copy()),
    "deleted": lambda rope: bpy.data.objects.remove(rope),
    "range": lambda rope: setattr(bpy.context.scene, "frame_start", 3),
    "own range": lambda rope: own_range(bpy.context.scene.tendril),
    "collision": lambda rope: setattr(bpy.context.scene.tendril, "rod_contact", True),
}


def played(change):
    """What the curves show and what is said, frame by frame, with a change in the middle and a way back."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene, seen = bpy.context.scene, []
    make_curve(("POLY", line(y=1.0)), name="Curve")
    rope = make_rod(name="Rope")
    for frame in (*range(1, LAST), 4, 5, LAST - 1, LAST, LAST + 1):
        if frame == MIDDLE and len(seen) < MIDDLE:
            CHANGES[change](rope)
        scene.frame_set(frame)
        seen.append(
            [(read_rows(obj.data).tolist(), status(obj)) for obj in scene.objects if obj.type == "CURVE"]
            + [memory.is_outdated(scene)]
        )
    for handlers in (bpy.app.handlers.frame_change_pre, bpy.app.handlers.frame_change_post):
        handlers[:] = [handler for handler in handlers if handler.__name__ != "handler"]
    return seen


@pytest.mark.parametrize("change", CHANGES)
def test_it_is_as_if_everybody_was_looked_at(change, monkeypatch):
    quick = played(change)
    with monkeypatch.context() as patch:
        patch.setattr(cast, "recall", lambda scene, depsgraph: None)
        careful = played(change)
    assert quick == careful


def test_what_is_not_read_again_is_what_can_not_have_changed(monkeypatch):
    """With nobody else's handler not even places are read; with one they are."""
    make_rod()
    scene, read = bpy.context.scene, []
    looked = live.rods.poses_of
    monkeypatch.setattr(live.rods, "poses_of", lambda *given: (read.append(scene.frame_current), looked(*given))[1])
    for frame in range(1, LAST):
        scene.frame_set(frame)
    assert read[-1] == 3
    bpy.app.handlers.frame_change_pre.append(idle)
    try:
        scene.frame_set(LAST)
    finally:
        bpy.app.handlers.frame_change_pre.remove(idle)
    assert read[-1] == LAST


def idle(_scene, _depsgraph=None):
    pass


def test_in_a_scene_where_only_rods_move_nobody_is_looked_at_again(monkeypatch):
    rope, scene = make_rod(), bpy.context.scene
    looked = []
    monkeypatch.setattr(
        live, "_visit", lambda *given, visit=live._visit: (looked.append(scene.frame_current), visit(*given))
    )
    for frame in range(1, LAST):
        scene.frame_set(frame)
    assert looked == [1, 2]
    new_object("Another")
    scene.frame_set(LAST)
    assert looked[-1] == LAST
    assert not np.array_equal(read_rows(rope.data), rope.data["tendril_drawn"])
