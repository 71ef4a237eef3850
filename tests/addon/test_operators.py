"""Adding and removing rods; what cannot be done is said once and leaves the scene as it was."""

import bpy
import numpy as np
import pytest
from tendril.addon import memory
from tendril.addon.bridge.curves import DRAWN, read_rows, write_rows
from tendril.addon.bridge.materials import material_of
from tendril.core import Material
from tendril.core.run.simulation import DEFAULT_SUBSTEPS
from tendril.tests.addon.building import MIXED, activate, line, make_curve, make_rod, play


def snapshot():
    """All that an operator could have changed."""
    objects = {}
    for obj in bpy.data.objects:
        curve = obj.data
        if obj.type == "CURVE":
            points = read_rows(curve).tobytes() if obj.mode != "EDIT" else None
            keys = None if curve.shape_keys is None else len(curve.shape_keys.key_blocks)
            objects[obj.name] = (points, keys, sorted(curve.keys()), curve.dimensions)
        rod = obj.tendril
        objects[obj.name + " settings"] = (rod.enabled, rod.uid, rod.baked, rod.radius, rod.is_property_set("radius"))
    scene = bpy.context.scene
    return objects, scene.frame_current, scene.render.use_lock_interface, len(bpy.data.actions)


def refuses(operator, words):
    before = snapshot()
    with pytest.raises(RuntimeError) as caught:
        operator()
    assert snapshot() == before
    message = str(caught.value).strip()
    assert message.startswith("Error: ")
    assert message.count("\n") == 0
    assert words in message


def test_add_refuses_without_an_active_object():
    refuses(bpy.ops.tendril.rod_add, "No object is active")


def test_add_refuses_what_is_no_curve():
    obj = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    bpy.context.collection.objects.link(obj)
    activate(obj)
    refuses(bpy.ops.tendril.rod_add, '"Lamp" is not a curve')


def test_add_refuses_an_empty_curve():
    obj = make_curve()
    obj.data.splines.clear()
    refuses(bpy.ops.tendril.rod_add, "draw at least one spline")


@pytest.mark.parametrize("scale", [(0, 0, 0), (1, 1, 0), (1e-30, 1, 1)])
def test_add_refuses_a_scale_of_zero(scale):
    make_curve().scale = scale
    refuses(bpy.ops.tendril.rod_add, "scale")


def test_add_refuses_a_single_point():
    make_curve(("POLY", line(1)))
    refuses(bpy.ops.tendril.rod_add, "at least 2 points")


def test_add_names_the_spline_that_is_wrong():
    points = line()
    points[5] = points[4]
    make_curve(("POLY", line(y=1.0)), ("POLY", points))
    refuses(bpy.ops.tendril.rod_add, "in spline 2")


def test_add_refuses_points_that_are_not_finite():
    points = line()
    points[3, 1] = np.nan
    make_curve(("POLY", points))
    refuses(bpy.ops.tendril.rod_add, "NaN")


def test_add_refuses_edit_mode():
    make_curve()
    bpy.ops.object.mode_set(mode="EDIT")
    try:
        refuses(bpy.ops.tendril.rod_add, "Edit Mode")
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")


def test_add_refuses_shape_keys():
    make_curve().shape_key_add(name="Basis")
    refuses(bpy.ops.tendril.rod_add, "shape keys")


def test_add_refuses_a_rod():
    make_rod()
    refuses(bpy.ops.tendril.rod_add, "already")


def test_add_refuses_a_curve_that_another_rod_moves():
    first = make_rod()
    second = bpy.data.objects.new("Second", first.data)
    bpy.context.collection.objects.link(second)
    activate(second)
    refuses(bpy.ops.tendril.rod_add, "single-user")


def test_add_refuses_linked_data(tmp_path):
    make_curve(name="Linked")
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["Linked"]
    bpy.context.collection.objects.link(wanted.objects[0])
    activate(wanted.objects[0])
    refuses(bpy.ops.tendril.rod_add, "linked from another file")


def test_add_makes_a_bevelled_curve_as_thick_as_it_looks():
    obj = make_curve()
    obj.data.bevel_depth = 0.02
    obj.scale = (2, 2, 2)
    bpy.ops.tendril.rod_add(fit=False)
    assert obj.tendril.radius == pytest.approx(0.04)
    other = make_curve(name="Other")
    other.data.bevel_depth = 0.02
    other.tendril.radius = 0.005
    bpy.ops.tendril.rod_add(fit=False)
    assert other.tendril.radius == pytest.approx(0.005)


def test_add_takes_the_curve_as_it_is_whatever_it_was_before():
    """The curve of a rod that was deleted, on a new object, still carries the old drawn shape."""
    old = make_rod()
    curve = old.data
    bpy.data.objects.remove(old)
    write_rows(curve, line(y=0.3).astype(np.float32))
    new = bpy.data.objects.new("New", curve)
    bpy.context.collection.objects.link(new)
    activate(new)
    bpy.ops.tendril.rod_add(fit=False)
    np.testing.assert_array_equal(play(new, 3)[1], line(y=0.3).astype(np.float32))


def test_a_failed_add_leaves_the_radius_unset():
    obj = make_curve(("POLY", line(1)))
    obj.data.bevel_depth = 0.02
    refuses(bpy.ops.tendril.rod_add, "at least 2 points")


def test_remove_refuses_what_is_no_rod():
    make_curve()
    refuses(bpy.ops.tendril.rod_remove, "not a rod")


@pytest.mark.parametrize("baked", [False, True])
def test_remove_restores_the_drawn_curve(baked):
    obj = make_rod(*MIXED)
    drawn = read_rows(obj.data)
    if baked:
        bpy.context.scene.frame_end = 5
        bpy.ops.tendril.bake()
    play(obj, 5)
    assert bpy.ops.tendril.rod_remove() == {"FINISHED"}
    np.testing.assert_array_equal(read_rows(obj.data), drawn)
    assert {p.handle_left_type for p in obj.data.splines[1].bezier_points} == {"AUTO"}
    assert list(obj.data.keys()) == []
    assert obj.data.shape_keys is None
    assert len(bpy.data.actions) == 0
    bpy.context.scene.frame_set(3)
    np.testing.assert_array_equal(read_rows(obj.data), drawn)


def test_a_curve_in_2d_moves_in_3d_and_is_2d_again():
    obj = make_curve(("POLY", line() * [1, 1, 0]))
    obj.data.dimensions = "2D"
    bpy.ops.tendril.rod_add(fit=False)
    assert np.abs(play(obj, 5)[5][:, 2]).max() > 0.05
    bpy.ops.tendril.rod_remove()
    assert obj.data.dimensions == "2D"
    np.testing.assert_allclose(read_rows(obj.data), line() * [1, 1, 0], atol=1e-7)


def test_undo_of_add_gives_a_plain_curve_and_redo_a_rod():
    make_curve()
    bpy.ops.ed.undo_push(message="curve")
    bpy.ops.tendril.rod_add(fit=False)
    bpy.ops.ed.undo_push(message="rod")
    bpy.context.scene.frame_set(1)
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Rope"]
    assert not obj.tendril.enabled
    assert DRAWN not in obj.data
    np.testing.assert_array_equal(read_rows(obj.data), line().astype(np.float32))
    bpy.context.scene.frame_set(2)
    np.testing.assert_array_equal(read_rows(obj.data), line().astype(np.float32))
    bpy.context.scene.frame_set(1)
    bpy.ops.ed.redo()
    obj = bpy.data.objects["Rope"]
    assert obj.tendril.enabled
    assert np.abs(play(obj, 5)[5] - line()).max() > 0.05


def test_undo_while_simulated_shows_the_frame_of_the_scene():
    make_rod()
    bpy.ops.ed.undo_push(message="rod")
    shown = play(bpy.data.objects["Rope"], 6)
    bpy.data.objects["Rope"].tendril.radius = 0.02
    bpy.ops.ed.undo_push(message="radius")
    bpy.ops.ed.undo()
    obj, scene = bpy.data.objects["Rope"], bpy.context.scene
    assert obj.tendril.radius == pytest.approx(0.01)
    np.testing.assert_array_equal(read_rows(obj.data), shown[scene.frame_current])
    scene.frame_set(4)
    np.testing.assert_array_equal(read_rows(obj.data), shown[4])
    scene.frame_set(1)
    np.testing.assert_array_equal(read_rows(obj.data), shown[1])


def test_undo_to_a_curve_of_other_frames_shows_those_in_memory_and_says_they_are_outdated():
    scene = bpy.context.scene
    thin = play(make_rod(), 4)
    scene.frame_set(3)
    bpy.ops.ed.undo_push(message="thin")
    scene.frame_set(1)
    bpy.data.objects["Rope"].tendril.radius = 0.05
    thick = play(bpy.data.objects["Rope"], 4)
    bpy.ops.ed.undo_push(message="thick")
    assert np.abs(thick[3] - thin[3]).max() > 1e-3
    bpy.ops.ed.undo()
    assert bpy.data.objects["Rope"].tendril.radius == pytest.approx(0.01)
    assert bpy.context.scene.frame_current == 3
    np.testing.assert_array_equal(read_rows(bpy.data.objects["Rope"].data), thick[3])
    assert "outdated" in memory.info(bpy.context.scene)


def test_materials_are_those_of_the_core():
    obj = make_curve()
    settings = obj.tendril
    assert material_of(settings) == Material.preset("nylon rope")
    settings.material = "STEEL_CABLE"
    assert material_of(settings) == Material.preset("steel cable")
    settings.material = "CUSTOM"  # begins with the values of the preset before
    custom, steel = material_of(settings), Material.preset("steel cable")
    for name in ("young_modulus", "poisson_ratio", "density", "damping_time", "strands"):
        assert getattr(custom, name) == pytest.approx(getattr(steel, name), rel=1e-6)


def test_defaults_are_those_of_the_core():
    assert bpy.context.scene.tendril.substeps == DEFAULT_SUBSTEPS
    assert memory.info(bpy.context.scene) == "No frames in memory"


def test_every_setting_has_a_tooltip():
    groups = [bpy.types.Object.bl_rna.properties[name].fixed_type for name in ("tendril", "tendril_collider")]
    groups.append(bpy.types.Scene.bl_rna.properties["tendril"].fixed_type)
    groups.append(groups[0].properties["attachments"].fixed_type)
    for group in groups:
        for setting in group.properties:
            assert setting.identifier in ("rna_type", "name") or len(setting.description) > 10, setting.identifier
