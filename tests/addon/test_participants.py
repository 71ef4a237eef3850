"""Change detection: the cache of participants never changes the result, whatever changes during playback."""

import bpy
import numpy as np
import pytest
from tendril.addon import live, memory, participants
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
    """What the curves show and the messages, frame by frame, with a change in the middle and a jump back."""
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
def test_the_cache_does_not_change_the_result(change, monkeypatch):
    cached = played(change)
    with monkeypatch.context() as patch:
        patch.setattr(participants, "recall", lambda scene, depsgraph: None)
        collected = played(change)
    assert cached == collected


def test_poses_are_read_only_if_they_may_have_changed(monkeypatch):
    """A handler of another add-on may move objects without the depsgraph reporting it, so with one poses are read."""
    make_rod()
    scene, read = bpy.context.scene, []
    poses_of = live.rods.poses_of
    monkeypatch.setattr(live.rods, "poses_of", lambda *given: (read.append(scene.frame_current), poses_of(*given))[1])
    for frame in range(1, LAST):
        scene.frame_set(frame)
    assert read[-1] == 2
    bpy.app.handlers.frame_change_pre.append(idle)
    try:
        scene.frame_set(LAST)
    finally:
        bpy.app.handlers.frame_change_pre.remove(idle)
    assert read[-1] == LAST


def idle(_scene, _depsgraph=None):
    pass


def test_participants_are_collected_once_in_a_scene_where_only_rods_move(monkeypatch):
    rope, scene = make_rod(), bpy.context.scene
    collected = []
    monkeypatch.setattr(
        live,
        "_collect",
        lambda *given, collect=live._collect: (collected.append(scene.frame_current), collect(*given))[1],
    )
    for frame in range(1, LAST):
        scene.frame_set(frame)
    assert collected == [1, 2]
    new_object("Another")
    scene.frame_set(LAST)
    assert collected[-1] == LAST
    assert not np.array_equal(read_rows(rope.data), rope.data["tendril_drawn"])


@pytest.mark.parametrize("way", [(4,), (4, 5, 6), (5.5,), (LAST - 1,)])
def test_an_input_changed_while_existing_frames_are_shown_counts_in_the_next_step(way, monkeypatch):
    """The simulation continues after some frames were shown again, or a subframe was."""

    def result():
        bpy.ops.wm.read_factory_settings(use_empty=True)
        scene, rope = bpy.context.scene, make_rod(name="Rope")
        for frame in range(1, LAST):
            scene.frame_set(frame)
        scene.gravity = (3.0, 0.0, 5.0)
        for frame in way:
            scene.frame_set(int(frame), subframe=frame - int(frame))
        for frame in (LAST, LAST + 1):
            scene.frame_set(frame)
        return read_rows(rope.data)

    cached = result()
    monkeypatch.setattr(participants, "recall", lambda scene, depsgraph: None)
    assert np.array_equal(cached, result())
