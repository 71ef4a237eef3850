"""Quick effects: something that moves from one operator; and the words by which the search finds them."""

import bpy
import numpy as np
import pytest
from tendril.addon import operators
from tendril.addon.bridge import rod_types
from tendril.addon.bridge.curves import read_rows
from tendril.addon.operators import quick
from tendril.tests.addon.building import activate, make_curve, make_mesh, play
from tendril.tests.addon.test_bake import key_rows
from tendril.tests.addon.test_operators import refuses

TILTS = 22  # rows after the 65 points of a rope with a look


def select(*objects):
    for obj in bpy.context.scene.objects:
        obj.select_set(obj in objects)
    bpy.context.view_layer.objects.active = objects[-1] if objects else None


def make_cube(at, name="Cube"):
    bpy.ops.mesh.primitive_cube_add(size=0.4, location=at)
    bpy.context.object.name = name
    return bpy.context.object


@pytest.mark.parametrize("name", [name for name in rod_types.TYPES if name not in ("HAIR", "CUSTOM")])
def test_a_new_rod_of_every_type_hangs_on_its_start_and_moves(name):
    bpy.context.scene.cursor.location = (1.0, 2.0, 0.5)
    assert bpy.ops.tendril.quick_rope(rod_type=name) == {"FINISHED"}
    obj = bpy.context.object
    assert obj.select_get()
    assert obj.tendril.enabled
    assert tuple(obj.location) == pytest.approx((1.0, 2.0, 3.5))
    assert obj.tendril.rod_type == name
    shown = play(obj, 8)
    assert np.abs(shown[8] - shown[1]).max() > 1e-3
    np.testing.assert_allclose(shown[8][0], shown[1][0], atol=1e-6)


def test_the_active_curve_becomes_the_rope_with_points_enough_to_show_its_bends():
    points = np.array([(0.0, 0.0, 0.0), (1.0, 0.5, 0.0), (2.0, 0.0, 0.5)])
    obj = make_curve(("BEZIER", points), name="Mine")
    ends = np.array(obj.data.splines[0].bezier_points[0].co), np.array(obj.data.splines[0].bezier_points[-1].co)
    assert bpy.ops.tendril.quick_rope() == {"FINISHED"}
    assert bpy.context.object == obj
    assert len(bpy.data.curves) == 1  # nothing is left over
    rows = read_rows(obj.data)[:-TILTS]
    assert len(rows) == 65
    np.testing.assert_allclose(rows[[0, -1]], ends, atol=1e-5)
    gaps = np.linalg.norm(np.diff(rows, axis=0), axis=1)
    assert gaps.max() < 1.05 * gaps.min()
    assert np.abs(rows[:, 1]).max() == pytest.approx(0.5, abs=0.02)
    assert obj.tendril.rod_type == "ROPE"
    refuses(bpy.ops.tendril.quick_rope, "is a rod already")
    assert bpy.ops.tendril.quick_rope(add=True) == {"FINISHED"}
    assert bpy.context.object != obj


def test_both_ends_can_be_held():
    bpy.ops.tendril.quick_rope(hold_end=True, length=1.0)
    obj = bpy.context.object
    shown = {number: rows[:-TILTS] for number, rows in play(obj, 6).items()}
    np.testing.assert_allclose(shown[6][[0, -1]], shown[1][[0, -1]], atol=1e-6)
    assert np.linalg.norm(np.diff(shown[1], axis=0), axis=1).sum() == pytest.approx(0.9 * 1.1, rel=1e-3)


def test_a_cable_connects_the_surfaces_of_two_objects_and_follows_them():
    left, right = make_cube((0.0, 0.0, 1.0), "Left"), make_cube((2.0, 0.0, 1.0), "Right")
    select(left, right)
    assert bpy.ops.tendril.quick_cable(slack=0.2) == {"FINISHED"}
    obj = bpy.context.object
    rows = read_rows(obj.data)[:-TILTS] + np.array(obj.location)
    ends = {round(float(rows[0, 0]), 3), round(float(rows[-1, 0]), 3)}
    assert ends == {0.2, 1.8}
    length = np.linalg.norm(np.diff(rows, axis=0), axis=1).sum()
    assert length == pytest.approx(1.6 * 1.2, rel=1e-3)
    assert {one.target.name for one in obj.tendril.attachments} == {"Left", "Right"}
    right.keyframe_insert("location", frame=1)
    right.location.z += 0.3
    right.keyframe_insert("location", frame=6)
    bpy.context.scene.frame_set(1)
    shown = {number: rows[:-TILTS] for number, rows in play(obj, 6).items()}
    moved = np.abs(shown[6] - shown[1])[[0, -1], 2]
    assert sorted(moved) == pytest.approx([0.0, 0.3], abs=1e-5)


def test_a_cable_needs_two_objects_at_different_places():
    left, right = make_cube((0.0, 0.0, 0.0)), make_cube((0.0, 0.0, 0.0))
    before = len(bpy.data.objects)
    select(left)
    refuses(bpy.ops.tendril.quick_cable, "1 objects are selected")
    select(left, right)
    refuses(bpy.ops.tendril.quick_cable, "at the same place")
    assert len(bpy.data.objects) == before


def test_hair_grows_on_the_active_mesh():
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.5)
    head = bpy.context.object
    head.scale = (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    assert bpy.ops.tendril.quick_hair(count=40, points=6) == {"FINISHED"}
    hair = bpy.context.object
    assert (hair.type, hair.data.surface, hair.tendril.rod_type) == ("CURVES", head, "HAIR")
    rows = read_rows(hair.data)[: 40 * 6].reshape(40, 6, 3)
    assert np.linalg.norm(rows[:, 0], axis=1) == pytest.approx(0.5, abs=0.01)
    assert np.linalg.norm(rows[:, -1], axis=1).min() > 0.6
    visible = [2.0 * item.value for item in hair.data.attributes["radius"].data]  # the head is scaled by 2
    assert visible == pytest.approx([hair.tendril.radius * hair.tendril.hairs**0.5] * 240)
    head.keyframe_insert("rotation_euler", frame=1)
    head.rotation_euler.z = 1.0
    head.keyframe_insert("rotation_euler", frame=6)
    bpy.context.scene.frame_set(1)
    play(hair, 6)
    select(make_mesh("Empty", collide=False))
    bpy.context.object.data.clear_geometry()
    refuses(bpy.ops.tendril.quick_hair, "no faces")
    select(hair)
    refuses(bpy.ops.tendril.quick_hair, "not a mesh")


def test_a_net_hangs_on_its_corners():
    assert bpy.ops.tendril.quick_net(size=1.0) == {"FINISHED"}
    net = bpy.context.object
    group = net.vertex_groups[quick.PINS].index
    pinned = [v.index for v in net.data.vertices if any(g.group == group for g in v.groups)]
    assert len(pinned) == 4
    shown = play(net, 6)
    np.testing.assert_allclose(shown[6][pinned], shown[1][pinned], atol=1e-6)
    assert shown[6][:, 2].min() < -0.005


def test_the_active_mesh_becomes_a_net_that_hangs_on_what_is_highest():
    bpy.ops.mesh.primitive_uv_sphere_add(segments=8, ring_count=6, radius=0.5)
    ball = bpy.context.object
    assert bpy.ops.tendril.quick_net() == {"FINISHED"}
    assert bpy.context.object == ball
    group = ball.vertex_groups[quick.PINS].index
    pinned = [v for v in ball.data.vertices if any(g.group == group for g in v.groups)]
    assert [v.co.z for v in pinned] == pytest.approx([0.5])
    refuses(bpy.ops.tendril.quick_net, "is a rod already")
    bpy.ops.object.select_all(action="DESELECT")
    activate(make_mesh("Points", collide=False))
    bpy.context.object.data.clear_geometry()
    refuses(bpy.ops.tendril.quick_net, "without edges")


class Menu:
    """Takes down the texts of a menu as the search sees them."""

    def __init__(self):
        self.texts = []
        self.layout = self

    def operator(self, name, text="", **_options):
        group, _, function = name.partition(".")
        self.texts.append(text or getattr(getattr(bpy.ops, group), function).get_rna_type().name)
        return self

    def menu(self, name, **_options):
        menu = getattr(bpy.types, name)
        self.texts.append(menu.bl_label)
        menu.draw(self, bpy.context)

    def separator(self):
        pass


def test_common_words_are_in_menus_where_the_search_finds_them():
    found = Menu()
    for _, draw in operators._menus():
        draw(found, bpy.context)
    text = " ".join(found.texts).lower()
    for word in ("rope", "cable", "chain", "wire", "spring", "hair", "ribbon", "rubber", "vine", "hose", "fishing line", "net",
                 "ground", "collider", "bake", "cache", "quick", "rod"):  # fmt: skip
        assert word in text, word
    for menu, draw in operators._menus():
        assert draw in menu._dyn_ui_initialize()


def test_from_the_menu_to_a_baked_saved_and_reopened_rope(tmp_path):
    """The clicks that packaging/window makes, as operators, for Blenders without a window."""
    path = str(tmp_path / "rope.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    scene = bpy.context.scene
    scene.frame_end = 20
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.tendril.quick_rope() == {"FINISHED"}
    soft = play(bpy.context.object, 12)
    scene.frame_set(5)
    bpy.context.object.tendril.stiffness_factor = 4.0
    stiff = play(bpy.context.object, 12)
    assert np.abs(stiff[12] - soft[12]).max() > 1e-3
    bpy.ops.ed.undo_push(message="played")
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    assert len(bpy.context.object.data.shape_keys.key_blocks) >= 20
    bpy.ops.ed.undo_push(message="baked")
    bpy.ops.ed.undo()
    assert not bpy.context.object.tendril.baked
    assert bpy.context.object.tendril.stiffness_factor == 4.0
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=path)
    rope = bpy.context.object
    assert rope.tendril.baked
    key = list(key_rows(rope))[11]
    np.testing.assert_array_equal(key, stiff[12][: len(key)])
