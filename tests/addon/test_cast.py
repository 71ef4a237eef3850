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


def move_after_frames(rope):
    """As an add-on does that comes after ours: Blender does not tell of it in the next frame."""

    def handler(scene, _depsgraph=None):
        scene.objects["Rope"].location.y = 0.01 * scene.frame_current

    bpy.app.handlers.frame_change_post.append(handler)


CHANGES = {
    "nothing": lambda rope: None,
    "stiffness": lambda rope: setattr(rope.tendril, "stiffness_factor", 0.2),
    "pins": lambda rope: setattr(rope.tendril, "pin_influence", 0.0),
    "gravity": lambda rope: setattr(bpy.context.scene, "gravity", (3.0, 0.0, 5.0)),
    "wind": lambda rope: setattr(bpy.context.scene.tendril, "wind", (0.0, 9.0, 0.0)),
    "place": lambda rope: setattr(rope, "location", (0.0, 0.1, 0.0)),
    "place, by another add-on": move_after_frames,
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
    bpy.app.handlers.frame_change_post[:] = [h for h in bpy.app.handlers.frame_change_post if h.__name__ != "handler"]
    return seen


@pytest.mark.parametrize("change", CHANGES)
def test_it_is_as_if_everybody_was_looked_at(change, monkeypatch):
    quick = played(change)
    with monkeypatch.context() as patch:
        patch.setattr(cast, "recall", lambda scene: None)
        careful = played(change)
    assert quick == careful


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
