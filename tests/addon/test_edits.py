"""Edits away from the start frame: they are made to the drawn shape and never lost, and undo takes them back."""

import bpy
import numpy as np
import pytest
from tendril.addon import edits, memory
from tendril.addon.bridge.curves import read_rows, write_rows
from tendril.tests.addon.building import MIXED, activate, line, make_curve, make_mesh, make_rod, play, status
from tendril.tests.addon.test_hair import make_hair

LAST = 6


def drawn_again(obj):
    """The drawn shape, as the start frame shows it."""
    bpy.context.scene.frame_set(1)
    return read_rows(obj.data)


def enter_edit_mode(obj, mode="EDIT"):
    activate(obj)
    bpy.ops.object.mode_set(mode=mode)


def leave_edit_mode():
    bpy.ops.object.mode_set(mode="OBJECT")


@pytest.mark.parametrize("splines", [(("POLY", line()),), (("BEZIER", line(4)),), (("NURBS", line(7)),), MIXED])
def test_edit_mode_shows_the_drawn_shape_and_keeps_what_is_moved(splines):
    obj = make_rod(*splines)
    drawn = read_rows(obj.data)
    shown = play(obj, LAST)
    assert np.abs(shown[LAST] - drawn).max() > 0.01
    enter_edit_mode(obj)
    np.testing.assert_array_equal(read_rows(obj.data), drawn)
    edited = drawn + np.float32(0.1)
    write_rows(obj.data, edited)
    leave_edit_mode()
    np.testing.assert_allclose(drawn_again(obj), edited, atol=1e-6)
    play(obj, 3)
    np.testing.assert_allclose(drawn_again(obj), edited, atol=1e-6)


def test_looking_into_edit_mode_changes_nothing():
    obj = make_rod(*MIXED)
    drawn = read_rows(obj.data)
    shown = play(obj, LAST)
    enter_edit_mode(obj)
    leave_edit_mode()
    bpy.context.scene.frame_set(4)
    np.testing.assert_array_equal(read_rows(obj.data), shown[4])
    np.testing.assert_array_equal(drawn_again(obj), drawn)
    np.testing.assert_array_equal(play(obj, LAST)[LAST], shown[LAST])


def test_subdividing_in_the_middle_divides_the_drawn_shape():
    obj = make_rod(("POLY", np.linspace((0, 0, 0), (1, 0, 0), 6)))
    play(obj, LAST)
    enter_edit_mode(obj)
    bpy.ops.curve.select_all(action="SELECT")
    bpy.ops.curve.subdivide()
    leave_edit_mode()
    drawn = drawn_again(obj)
    assert len(drawn) == 11
    np.testing.assert_allclose(drawn[:, 1:], 0.0, atol=1e-6)
    np.testing.assert_allclose(drawn[:, 0], np.linspace(0, 1, 11), atol=1e-6)
    assert len(play(obj, 3)[3]) == 11


def test_a_net_of_a_mesh_is_edited_in_its_drawn_shape():
    obj = make_mesh(at=(0, 0, 0), collide=False, cuts=4)
    activate(obj)
    assert bpy.ops.tendril.rod_add(fit=False) == {"FINISHED"}
    drawn = read_rows(obj.data)
    for number in range(1, LAST + 1):
        bpy.context.scene.frame_set(number)
    assert np.abs(read_rows(obj.data) - drawn).max() > 0.01
    enter_edit_mode(obj)
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.transform.translate(value=(0, 0, 0.5))
    leave_edit_mode()
    np.testing.assert_allclose(drawn_again(obj), drawn + np.array([0, 0, 0.5]), atol=1e-6)


@pytest.mark.parametrize("mode", ["EDIT", "SCULPT_CURVES"])
def test_hair_is_sculpted_in_its_drawn_shape(mode):
    obj = make_hair()
    drawn = read_rows(obj.data)
    play(obj, LAST)
    enter_edit_mode(obj, mode)
    np.testing.assert_array_equal(read_rows(obj.data), drawn)
    write_rows(obj.data, drawn * np.float32(1.1))
    bpy.context.scene.frame_set(LAST - 1)
    assert "Edit Mode" in status(obj)
    np.testing.assert_array_equal(read_rows(obj.data), drawn * np.float32(1.1))
    leave_edit_mode()
    np.testing.assert_array_equal(drawn_again(obj), drawn * np.float32(1.1))


@pytest.mark.parametrize("splines", [(("POLY", line()),), (("POLY", np.linspace((0, 0, 0), (1, 0, 0), 9)),), MIXED])
def test_apply_scale_scales_the_drawn_shape(splines):
    obj = make_rod(*splines)
    obj.scale = (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    drawn = read_rows(obj.data)
    play(obj, LAST)
    activate(obj)
    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    np.testing.assert_allclose(drawn_again(obj), 2.0 * drawn, atol=1e-5)
    np.testing.assert_allclose(np.array(obj.matrix_world), np.eye(4))
    play(obj, 3)
    np.testing.assert_allclose(drawn_again(obj), 2.0 * drawn, atol=1e-5)


def test_apply_rotation_and_location_move_the_drawn_shape():
    obj = make_rod()
    obj.location, obj.rotation_euler = (1, 2, 3), (0.3, 0.2, 0.9)
    bpy.context.view_layer.update()
    matrix = np.array(obj.matrix_world)
    world = read_rows(obj.data) @ matrix[:3, :3].T + matrix[:3, 3]
    play(obj, LAST)
    activate(obj)
    bpy.ops.object.transform_apply()
    np.testing.assert_allclose(drawn_again(obj), world, atol=1e-4)


def test_a_point_moved_by_a_script_is_moved_in_the_drawn_shape():
    obj = make_rod()
    drawn = read_rows(obj.data)
    play(obj, LAST)
    obj.data.splines[0].points[5].co[2] += 0.25
    obj.data.update_tag()
    bpy.context.scene.frame_set(LAST + 1)
    drawn[5, 2] += 0.25
    np.testing.assert_allclose(drawn_again(obj), drawn, atol=1e-6)


def test_an_edit_is_in_the_file_that_is_saved_after_it(tmp_path):
    obj = make_rod()
    drawn = read_rows(obj.data)
    play(obj, LAST)
    obj.data.splines[0].points[5].co[2] += 0.25
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    drawn[5, 2] += 0.25
    np.testing.assert_allclose(drawn_again(bpy.data.objects["Rope"]), drawn, atol=1e-6)


def test_joined_rods_are_joined_in_their_drawn_shapes():
    other = make_rod(("POLY", line(9, y=2.0)), name="Other")
    other.location.z = 1.0
    plain = make_curve(("POLY", line(5, y=3.0)), name="Plain")
    obj = make_rod(*MIXED)
    bpy.context.view_layer.update()
    expected = np.concatenate([read_rows(obj.data), read_rows(other.data) + np.array([0, 0, 1.0])])
    apart = read_rows(plain.data)
    play(obj, LAST)
    for one in (other, plain, obj):
        one.select_set(True)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.join()
    joined = drawn_again(obj)
    assert len(joined) == len(expected) + len(apart)
    found = joined[len(expected) - 9 :]
    np.testing.assert_allclose(joined[: len(expected) - 9], expected[:-9], atol=1e-6)
    for part in (expected[-9:], apart):
        assert any(np.allclose(found[k : k + len(part)], part, atol=1e-6) for k in range(len(found)))
    play(obj, 3)
    assert status(obj) == ""


def test_separated_splines_have_their_drawn_shapes():
    obj = make_rod(("POLY", line()), ("POLY", line(9, y=1.0)))
    drawn = read_rows(obj.data)
    play(obj, LAST)
    enter_edit_mode(obj)
    bpy.ops.curve.select_all(action="DESELECT")
    for point in obj.data.splines[1].points:
        point.select = True
    bpy.ops.curve.separate()
    leave_edit_mode()
    (other,) = (one for one in bpy.context.scene.objects if one != obj)
    np.testing.assert_allclose(drawn_again(obj), drawn[:12], atol=1e-6)
    np.testing.assert_allclose(read_rows(other.data), drawn[12:], atol=1e-6)
    play(obj, 3)
    assert status(other) == ""


def test_a_changed_spline_type_keeps_the_drawn_shape():
    obj = make_rod(("POLY", line(8)))
    drawn = read_rows(obj.data)
    play(obj, LAST)
    enter_edit_mode(obj)
    bpy.ops.curve.select_all(action="SELECT")
    bpy.ops.curve.spline_type_set(type="BEZIER")
    leave_edit_mode()
    assert obj.data.splines[0].type == "BEZIER"
    np.testing.assert_allclose(drawn_again(obj)[1::3], drawn, atol=1e-6)


def test_an_applied_modifier_changes_the_drawn_shape():
    obj = make_rod()
    drawn = read_rows(obj.data)
    target = bpy.data.objects.new("Hook", None)
    bpy.context.collection.objects.link(target)
    modifier = obj.modifiers.new("Hook", "HOOK")
    modifier.object = target
    modifier.vertex_indices_set([11])
    bpy.context.view_layer.update()
    play(obj, LAST)
    target.location = (0.0, 0.0, 0.5)
    bpy.context.view_layer.update()
    activate(obj)
    bpy.ops.object.modifier_apply(modifier="Hook")
    after = drawn_again(obj)
    np.testing.assert_allclose(after[:11], drawn[:11], atol=1e-5)
    assert after[11, 2] - drawn[11, 2] == pytest.approx(0.5, abs=1e-4)


@pytest.mark.parametrize("kind", ["POLY", "BEZIER", "NURBS"])
@pytest.mark.parametrize(("target", "bevel"), [("MESH", 0.0), ("MESH", 0.02), ("CURVE", 0.02), ("CURVES", 0.0)])
def test_a_converted_rod_has_the_converted_drawn_shape(kind, target, bevel):
    """*Object > Convert* away from the start frame."""
    obj = make_rod((kind, line(6)))
    obj.data.bevel_depth = bevel
    twin = bpy.data.objects.new("Twin", obj.data.copy())
    bpy.context.collection.objects.link(twin)
    play(obj, LAST)
    for one in (obj, twin):
        activate(one)
        assert bpy.ops.object.convert(target=target) == {"FINISHED"}
    expected = read_rows(twin.data)
    assert not np.allclose(read_rows(obj.data), expected, atol=1e-3)
    np.testing.assert_allclose(drawn_again(obj), expected, atol=1e-6)
    assert memory.status(obj.tendril.uid) == ""


def test_a_conversion_that_can_not_be_repeated_is_reported():
    """It has applied a modifier."""
    obj = make_rod()
    obj.data.bevel_depth = 0.02
    obj.modifiers.new("Subdivision", "SUBSURF")
    play(obj, LAST)
    activate(obj)
    bpy.ops.ed.undo_push(message="played")
    bpy.ops.object.convert(target="MESH")
    bpy.ops.ed.undo_push(message="converted")
    bpy.context.scene.frame_set(LAST - 1)
    assert memory.status(obj.tendril.uid) == edits.CONVERTED
    assert bpy.ops.ed.undo() == {"FINISHED"}
    obj = bpy.data.objects["Rope"]
    assert obj.type == "CURVE"
    np.testing.assert_allclose(drawn_again(obj), line(), atol=1e-6)


@pytest.mark.parametrize("kind", ["edit", "scale"])
def test_undo_takes_an_edit_back(kind):
    obj = make_rod()
    obj.scale = (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    drawn = read_rows(obj.data)
    shown = play(obj, LAST)
    bpy.ops.ed.undo_push(message="played")
    if kind == "edit":
        enter_edit_mode(obj)
        bpy.ops.ed.undo_push(message="edit mode")
        obj.data.splines[0].points[5].co[2] += 0.25
        bpy.ops.ed.undo_push(message="moved")
        leave_edit_mode()
        bpy.ops.ed.undo_push(message="left")
    else:
        bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
        bpy.ops.ed.undo_push(message="applied")
    undone = 0
    while undone < (3 if kind == "edit" else 1):
        assert bpy.ops.ed.undo() == {"FINISHED"}
        undone += 1
    obj = bpy.data.objects["Rope"]
    if obj.mode == "EDIT":
        leave_edit_mode()
    np.testing.assert_array_equal(drawn_again(obj), drawn)
    np.testing.assert_array_equal(play(obj, LAST)[LAST], shown[LAST])


def test_undo_within_edit_mode_does_not_draw_the_simulated_frame():
    obj = make_rod()
    drawn = read_rows(obj.data)
    play(obj, LAST)
    bpy.ops.ed.undo_push(message="played")
    activate(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.ed.undo_push(message="edit mode")
    bpy.ops.curve.select_all(action="SELECT")
    bpy.ops.ed.undo_push(message="selected")
    bpy.ops.transform.translate(value=(0, 0, 1))
    bpy.ops.ed.undo_push(message="moved")
    assert bpy.ops.ed.undo() == {"FINISHED"}
    assert bpy.ops.ed.undo() == {"FINISHED"}
    obj = bpy.data.objects["Rope"]
    if obj.mode == "EDIT":
        leave_edit_mode()
    np.testing.assert_allclose(drawn_again(obj), drawn, atol=1e-6)
