"""Types of rods, what a new rod is like, how its ends are attached, and the status line."""

import bpy
import numpy as np
import pytest
from tendril.addon import memory, migration, pace, solver
from tendril.addon.bridge import rod_types
from tendril.addon.panels.rod import si_values
from tendril.addon.status import status_of
from tendril.tests.addon.building import activate, line, make_curve, make_mesh, make_rod, play
from tendril.tests.addon.test_hair import make_hair
from tendril.tests.addon.test_operators import refuses

STRAIGHT = np.linspace((0.0, 0.0, 0.0), (2.0, 0.0, 0.0), 41)


def new_rod(points=STRAIGHT, **settings):
    """As somebody makes one who presses the button."""
    obj = make_curve(("POLY", points))
    for name, value in settings.items():
        setattr(obj.tendril, name, value)
    assert bpy.ops.tendril.rod_add() == {"FINISHED"}
    return obj


def test_a_path_of_two_metres_becomes_a_rope_of_one_and_a_half_centimetres():
    obj = new_rod()
    assert obj.tendril.rod_type == "ROPE"
    assert obj.tendril.thickness == pytest.approx(0.015)
    assert obj.data.bevel_depth == pytest.approx(0.0075)  # what one sees is what is simulated
    assert (obj.tendril.material, obj.tendril.rest_shape) == ("NYLON_ROPE", "STRAIGHT")


def test_what_was_chosen_before_is_kept():
    obj = make_curve(("POLY", STRAIGHT))
    obj.data.bevel_depth = 0.04
    obj.tendril.rest_shape = "AS_DRAWN"
    bpy.ops.tendril.rod_add()
    assert (obj.tendril.thickness, obj.tendril.rest_shape) == (pytest.approx(0.08), "AS_DRAWN")
    assert obj.data.bevel_depth == pytest.approx(0.04)
    obj.tendril.rod_type = "CHAIN"  # the thickness was drawn, so it stays
    assert (obj.tendril.material, obj.tendril.thickness) == ("CHAIN", pytest.approx(0.08))


def test_a_refused_rod_has_no_settings_afterwards():
    obj = make_curve(("POLY", STRAIGHT[:1]))
    refuses(bpy.ops.tendril.rod_add, "at least 2 points")
    assert not any(obj.tendril.is_property_set(name) for name in ("rod_type", "radius", "material", "rest_shape"))
    assert obj.data.bevel_depth == 0.0


@pytest.mark.parametrize("name", [name for name in rod_types.TYPES if name != "CUSTOM"])
def test_every_type_sets_its_settings_and_moves(name):
    obj = new_rod()
    before = obj.tendril.radius
    obj.tendril.rod_type = name
    for setting, value in rod_types.TYPES[name].settings.items():
        given = getattr(obj.tendril, setting)
        assert given == (pytest.approx(value) if isinstance(value, float) else value), setting
    expected = rod_types.TYPES[name].thickness * (1.0 if name == "HAIR" else 2.0)
    assert obj.tendril.thickness == pytest.approx(expected, rel=0.05)
    assert obj.data.bevel_depth == pytest.approx(0.0075 * obj.tendril.radius / before, rel=1e-5)
    shown = play(obj, 4)
    assert np.abs(shown[4] - shown[1]).max() > 1e-5


def test_types_have_numbers_of_their_own():
    numbers = [one.number for one in rod_types.TYPES.values()]
    assert len(set(numbers)) == len(numbers)
    assert rod_types.TYPES["ROPE"].number == 0
    assert rod_types.TYPES["CUSTOM"].number == 1000


def test_custom_changes_nothing():
    obj = new_rod(rod_type="VINE")
    names = {name for one in rod_types.TYPES.values() for name in one.settings}
    before = {name: getattr(obj.tendril, name) for name in names}
    obj.tendril.rod_type = "CUSTOM"
    assert {name: getattr(obj.tendril, name) for name in names} == before


def test_thickness_is_twice_the_radius_and_the_bevel_follows():
    obj = new_rod()
    obj.tendril.thickness = 0.05
    assert obj.tendril.radius == pytest.approx(0.025)
    assert obj.data.bevel_depth == pytest.approx(0.025)
    obj.tendril.radius = 0.01
    assert obj.tendril.thickness == pytest.approx(0.02)


def test_new_hair_is_as_thin_as_hair():
    hair = make_hair(strands=2)
    bpy.ops.tendril.rod_remove()
    for name in ("radius", "material", "rod_type"):
        hair.tendril.property_unset(name)
    bpy.ops.tendril.rod_add()
    assert (hair.tendril.rod_type, hair.tendril.material) == ("HAIR", "HUMAN_HAIR")
    assert hair.tendril.thickness == pytest.approx(8e-5)


def test_a_fine_net_is_not_thicker_than_its_meshes():
    net = make_mesh("Net", size=2.0, cuts=40, collide=False)
    bpy.ops.tendril.rod_add()
    assert net.tendril.thickness <= 0.125 * 2.0 / 40 * 1.05


def test_files_without_types_get_the_type_of_their_material_and_nothing_else():
    obj = make_rod(material="STEEL_CABLE", rest_shape="AS_DRAWN", friction=0.77)
    obj.tendril.format = 1
    migration.migrate([obj])
    assert (obj.tendril.rod_type, obj.tendril.rest_shape) == ("CABLE", "AS_DRAWN")
    assert (obj.tendril.friction, obj.tendril.radius) == (pytest.approx(0.77), pytest.approx(0.01))
    obj.tendril.material, obj.tendril.format = "HEMP_ROPE", 1
    migration.migrate([obj])
    assert (obj.tendril.rod_type, obj.tendril.material) == ("ROPE", "HEMP_ROPE")
    obj.tendril.material, obj.tendril.format = "SPAGHETTI", 1
    migration.migrate([obj])
    assert obj.tendril.rod_type == "CUSTOM"


def test_rods_of_scripts_are_of_the_type_of_their_material():
    obj = make_rod(material="CHAIN", rest_shape="AS_DRAWN")
    assert (obj.tendril.rod_type, obj.tendril.rest_shape) == ("CHAIN", "AS_DRAWN")
    assert make_rod(material="CUSTOM").tendril.rod_type == "CUSTOM"


def test_moduli_are_shown_in_mega_and_gigapascal():
    rod = make_rod(material="CUSTOM", young_modulus=2e6).tendril
    assert (rod.young_mpa, rod.young_gpa) == (pytest.approx(2.0), pytest.approx(0.002))
    rod.young_gpa = 3.0
    assert rod.young_modulus == pytest.approx(3e9)


def test_sliders_have_their_si_value_beside_them():
    obj = new_rod()
    radius = 0.0075
    bending = 5e8 * np.pi / 4.0 * radius**4 / 200.0
    assert si_values(obj, bpy.context.scene) == f"{bending:.2g} N m², swings 30 s"
    obj.tendril.stiffness_factor, obj.tendril.damping_factor = 2.0, 3.0
    assert si_values(obj, bpy.context.scene) == f"{2 * bending:.2g} N m², swings 10 s"
    obj.tendril.damping_factor = 0.0
    assert si_values(obj, bpy.context.scene).endswith("undamped")


def test_an_end_is_attached_from_its_menu():
    post = make_mesh("Post", collide=False, at=(2.0, 0.0, 0.0))
    obj = new_rod()
    rod = obj.tendril
    rod.end_hold = "ATTACH"
    (attachment,) = rod.attachments
    assert (attachment.where, attachment.target) == ("END", None)
    assert "has no target" in status_of(obj, bpy.context.scene).text
    attachment.target = post
    post.keyframe_insert("location", frame=1)
    post.location.z += 0.2
    post.keyframe_insert("location", frame=6)
    bpy.context.scene.frame_set(1)
    shown = play(obj, 6)
    assert shown[6][-1, 2] == pytest.approx(0.2, abs=1e-5)
    rod.end_hold = "FREE"
    assert not len(rod.attachments)
    rod.start_hold = "ATTACH"
    rod.active_attachment = 0
    activate(obj)
    bpy.ops.tendril.attachment_remove()
    assert rod.start_hold == "PIN"


def test_the_ground_is_below_the_rods_and_stops_them():
    high = new_rod(STRAIGHT + np.array([0.0, 0.0, 1.5]))
    assert bpy.ops.tendril.ground_add() == {"FINISHED"}
    ground = bpy.data.objects["Ground"]
    assert ground.location.z == 0.0
    assert bpy.context.view_layer.objects.active == high
    assert ground in set(bpy.context.scene.tendril.colliders.all_objects)
    bpy.data.objects.remove(ground)
    bpy.data.objects.remove(high)
    new_rod()
    bpy.ops.tendril.ground_add()
    assert bpy.data.objects["Ground"].location.z < -2.0  # so that the rope can hang down


def test_the_status_line_tells_what_goes_on(monkeypatch):
    obj, scene = make_rod(("POLY", line())), bpy.context.scene
    assert status_of(obj, scene)[:2] == ("PLAY", "Ready: press play")
    play(obj, 3)
    pace.forget()  # it is not being played any more
    assert status_of(obj, scene).icon == "PHYSICS"
    assert status_of(obj, scene).text.startswith("Frame 3: ")
    scene.frame_set(2)
    pace.forget()
    assert status_of(obj, scene).text == "3 frames in memory"
    obj.tendril.friction = 0.9
    outdated = status_of(obj, scene)
    assert outdated == ("FILE_REFRESH", "Outdated: settings of rods have changed", 1, False)
    assert bpy.ops.tendril.go_to_frame(frame=outdated.frame) == {"FINISHED"}
    assert scene.frame_current == 1
    scene.tendril.substeps += 1
    play(obj, 3)
    scene.tendril.substeps += 1
    assert "settings of the simulation" in status_of(obj, scene).text
    scene.frame_set(20)
    problem = status_of(obj, scene)
    assert (problem.icon, problem.frame) == ("ERROR", memory.running_of(scene).last_frame)
    monkeypatch.setattr(solver, "problem", lambda: "numba can't be loaded")
    assert status_of(obj, scene).text == "numba can't be loaded"


def test_a_baked_rod_says_so():
    obj, scene = make_rod(("POLY", line())), bpy.context.scene
    scene.frame_end = 4
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    assert status_of(obj, scene)[:2] == ("CHECKMARK", "Baked to shape keys")
