"""Edits in a simulated frame with something in between: undo and redo, opening the file again, other objects, removed points."""

import bmesh
import bpy
import numpy as np
import pytest
from mathutils import Matrix
from tendril.addon import edits, memory
from tendril.addon.bridge.curves import read_rows
from tendril.tests.addon.building import (
    MIXED,
    activate,
    add_spline,
    line,
    make_curve,
    make_mesh,
    make_rod,
    play,
    status,
)
from tendril.tests.addon.test_edits import LAST, drawn_again
from tendril.tests.addon.test_hair import make_hair


def world_places(obj):
    matrix, rows = np.array(obj.matrix_world), read_rows(obj.data)
    return rows @ matrix[:3, :3].T + matrix[:3, 3]


def twin_of(obj):
    """Has the drawn shape, and is no rod."""
    twin = bpy.data.objects.new("Twin", obj.data.copy())
    bpy.context.collection.objects.link(twin)
    twin.matrix_world = obj.matrix_world
    return twin


def make_net(name="Net"):
    obj = make_mesh(name=name, at=(0, 0, 0), collide=False, cuts=4)
    activate(obj)
    assert bpy.ops.tendril.rod_add(fit=False) == {"FINISHED"}
    return obj


# Undo, redo and opening


def make_scaled():
    obj = make_rod()
    obj.scale = (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    return read_rows(obj.data)


def step(action):
    """A step that can be undone. Undo replaces objects, so that they are found by name."""
    action()
    bpy.ops.ed.undo_push(message=action.__name__)


def play_on():
    bpy.context.scene.frame_set(1)
    play(bpy.data.objects["Rope"], LAST)


def apply_scale():
    activate(bpy.data.objects["Rope"])
    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)


def scale_more():
    bpy.data.objects["Rope"].scale = (3.0, 3.0, 3.0)
    bpy.context.view_layer.update()
    apply_scale()


def add_another():
    bpy.context.collection.objects.link(bpy.data.objects.new("Other", None))


def make_it_steel():
    bpy.data.objects["Rope"].tendril.material = "SPRING_STEEL"
    play_on()


def undo():
    assert bpy.ops.ed.undo() == {"FINISHED"}


def redo():
    assert bpy.ops.ed.redo() == {"FINISHED"}


@pytest.mark.parametrize(
    ("actions", "factor"),
    [
        ([apply_scale, add_another, undo], 2.0),
        ([apply_scale, scale_more, undo], 2.0),
        ([apply_scale, scale_more, undo, redo], 6.0),
        ([apply_scale, undo, redo], 2.0),
        ([apply_scale, undo, redo, undo], 1.0),
        ([apply_scale, play_on, add_another, undo], 2.0),  # accepted by playing, which is no step of undo
        ([apply_scale, play_on, undo, redo], 2.0),
        ([apply_scale, play_on, undo, redo, undo], 1.0),
        ([make_it_steel, undo], 1.0),  # the curve holds a frame that is not in memory any more
        ([make_it_steel, undo, redo], 1.0),
    ],
)
def test_undo_loses_no_edit_and_makes_none(actions, factor):
    drawn = make_scaled()
    step(play_on)
    for action in actions:
        action() if action in (undo, redo, play_on) else step(action)
    for _ in range(2):
        np.testing.assert_allclose(drawn_again(bpy.data.objects["Rope"]), factor * drawn, atol=1e-5)
        play_on()


@pytest.mark.parametrize("cached", [False, True])
def test_an_edit_right_after_opening_a_file_is_kept(tmp_path, cached):
    """It was saved in a simulated frame, which may not be on disk."""
    drawn, path = make_scaled(), str(tmp_path / "scene.blend")
    bpy.context.scene.tendril.use_disk_cache = cached
    bpy.ops.wm.save_as_mainfile(filepath=path)
    play_on()
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=path)
    apply_scale()
    np.testing.assert_allclose(drawn_again(bpy.data.objects["Rope"]), 2.0 * drawn, atol=1e-5)


# Joining with what is no rod


@pytest.mark.parametrize("kind", ["curve", "mesh", "hair"])
def test_a_rod_joined_to_another_object_has_its_drawn_shape_there(kind):
    if kind == "curve":
        rod, plain = make_rod(*MIXED), make_curve(("POLY", line(6, y=9.0)), name="Plain")
    elif kind == "mesh":
        rod, plain = make_net(), make_mesh(name="Plain", at=(0, 0, 1), collide=False, cuts=2)
    else:
        rod, plain = make_hair(), make_hair()
        activate(plain)
        assert bpy.ops.tendril.rod_remove() == {"FINISHED"}
    rod.location.z = 0.5
    bpy.context.view_layer.update()
    expected = np.concatenate([world_places(plain), world_places(rod)])
    for number in range(1, LAST + 1):
        bpy.context.scene.frame_set(number)
    assert not np.allclose(world_places(rod), expected[-len(read_rows(rod.data)) :], atol=1e-3)
    for obj in bpy.context.scene.objects:
        obj.select_set(obj in (rod, plain))
    bpy.context.view_layer.objects.active = plain
    assert bpy.ops.object.join() == {"FINISHED"}
    bpy.context.scene.frame_set(4)
    np.testing.assert_allclose(world_places(plain), expected, atol=1e-5)


def test_rods_joined_with_another_object_in_between_have_their_drawn_shapes():
    """In whichever order Blender appends them."""
    names = ["A", "B", "C", "D", "E"]
    objects = [(make_curve if k % 2 else make_rod)(("POLY", line(5 + k, y=k)), name=n) for k, n in enumerate(names)]
    expected = [read_rows(obj.data) for obj in objects]
    for number in range(1, LAST + 1):
        bpy.context.scene.frame_set(number)
    for obj in objects:
        obj.select_set(True)
    bpy.context.view_layer.objects.active = objects[2]
    bpy.ops.object.join()
    joined = drawn_again(objects[2])
    for rows in expected:
        assert any(np.allclose(joined[k : k + len(rows)], rows, atol=1e-6) for k in range(len(joined)))


# Numbers of points that change in Object Mode


def remove_a_spline(obj):
    obj.data.splines.remove(obj.data.splines[1])


def append_a_spline(obj):
    add_spline(obj.data, "POLY", line(5, y=9.0))


def remove_strands(obj):
    obj.data.remove_curves(indices=[1])


def shorten_a_strand(obj):
    obj.data.resize_curves([3], indices=[0])


def remove_vertices(obj):
    change(obj, lambda mesh: bmesh.ops.delete(mesh, geom=[mesh.verts[0], mesh.verts[7]], context="VERTS"))


def change(obj, action):
    mesh = bmesh.new()
    mesh.from_mesh(obj.data)
    mesh.verts.ensure_lookup_table()
    action(mesh)
    mesh.to_mesh(obj.data)
    mesh.free()


@pytest.mark.parametrize(
    ("make", "edit"),
    [
        (lambda: make_rod(*MIXED), remove_a_spline),
        (lambda: make_rod(*MIXED), append_a_spline),
        (make_hair, remove_strands),
        (make_hair, shorten_a_strand),
        (make_net, remove_vertices),
        (make_net, lambda obj: obj.data.transform(Matrix.Rotation(0.5, 4, "X"))),
    ],
)
def test_points_that_remain_return_to_their_drawn_places(make, edit):
    obj = make()
    if edit is shorten_a_strand and bpy.app.version < (4, 5, 0):
        pytest.skip("hair can't be resized")
    twin = twin_of(obj)
    play(obj, LAST)
    for one in (obj, twin):
        edit(one)
    bpy.context.scene.frame_set(4)
    np.testing.assert_allclose(drawn_again(obj), read_rows(twin.data), atol=1e-5)
    assert edits.note_of(obj.tendril.uid) == ""


@pytest.mark.parametrize("kind", ["SUBSURF", "SOLIDIFY", "DECIMATE", "subdivided"])
def test_points_made_from_a_frame_are_told_until_it_is_undone(kind):
    obj = make_net()
    drawn = read_rows(obj.data)
    play(obj, LAST)
    bpy.ops.ed.undo_push(message="played")
    if kind == "subdivided":
        change(obj, lambda mesh: bmesh.ops.subdivide_edges(mesh, edges=mesh.edges[:], cuts=1, use_grid_fill=True))
    else:
        obj.modifiers.new("Applied", kind)
        if kind == "DECIMATE":
            obj.modifiers[0].ratio = 0.5
        activate(obj)
        bpy.ops.object.modifier_apply(modifier="Applied")
    bpy.ops.ed.undo_push(message="changed")
    for number in (4, 3, 1):
        bpy.context.scene.frame_set(number)
        assert status(obj).startswith(edits.CHANGED)
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Net"]
    assert edits.CHANGED not in status(obj)
    np.testing.assert_array_equal(drawn_again(obj), drawn)


def test_who_goes_on_with_points_made_from_a_frame_is_told_no_more():
    obj = make_net()
    play(obj, LAST)
    obj.modifiers.new("Applied", "SUBSURF")
    activate(obj)
    bpy.ops.object.modifier_apply(modifier="Applied")
    bpy.context.scene.frame_set(1)
    assert memory.status(obj.tendril.uid) == edits.CHANGED
    shown = read_rows(obj.data)
    assert not np.allclose(play_from_start(obj), shown)
    assert memory.status(obj.tendril.uid) == ""


def play_from_start(obj):
    for number in (2, 3, 4):
        bpy.context.scene.frame_set(number)
    return read_rows(obj.data)


@pytest.mark.parametrize("make", [lambda: make_rod(("POLY", line(5))), lambda: make_rod(("BEZIER", line(4))), make_net])
def test_an_edit_that_edit_mode_finds_is_kept(make):
    """By a script, and Edit Mode is entered before the frame changes."""
    obj = make()
    twin = twin_of(obj)
    play(obj, LAST)
    for one in (obj, twin):
        one.data.transform(Matrix.Rotation(0.5, 4, "X") @ Matrix.Scale(1.2, 4))
        activate(one)
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.transform.translate(value=(0.0, 0.1, 0.0))
        bpy.ops.object.mode_set(mode="OBJECT")
    np.testing.assert_allclose(drawn_again(obj), read_rows(twin.data), atol=1e-5)


def test_a_copy_of_a_rod_keeps_what_is_edited_before_the_frame_changes():
    obj = make_rod()
    drawn = read_rows(obj.data)
    play(obj, LAST)
    activate(obj)
    bpy.ops.object.duplicate()
    copied = bpy.context.view_layer.objects.active
    copied.data.transform(Matrix.Scale(2.0, 4))
    bpy.context.scene.frame_set(3)
    np.testing.assert_allclose(drawn_again(copied), 2.0 * drawn, atol=1e-5)
    np.testing.assert_array_equal(read_rows(obj.data), drawn)


def test_undo_of_the_object_alone_does_not_draw_the_frame():
    """Its setting says that it shows its drawn shape, but the curve, which undo leaves as it is, has a frame."""
    obj = make_rod()
    drawn = read_rows(obj.data)
    bpy.ops.ed.undo_push(message="drawn")
    obj.location.x = 1.0
    bpy.ops.ed.undo_push(message="moved")
    play(obj, LAST)
    bpy.ops.ed.undo()
    np.testing.assert_array_equal(drawn_again(bpy.data.objects["Rope"]), drawn)


def test_an_edit_found_by_saving_does_not_draw_the_frame(tmp_path):
    obj = make_rod()
    drawn = read_rows(obj.data)
    play(obj, LAST)
    obj.data.transform(Matrix.Scale(2.0, 4))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    for number in (LAST - 1, LAST, LAST - 2):
        bpy.context.scene.frame_set(number)
    np.testing.assert_allclose(drawn_again(obj), 2.0 * drawn, atol=1e-5)
