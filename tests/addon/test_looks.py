"""Looks: geometry nodes that draw rods as thick as they are simulated, and turned as their material is."""

import bpy
import numpy as np
import pytest
from tendril.addon import looks, memory
from tendril.addon.bridge.modifier_inputs import get_input, inputs_called
from tendril.tests.addon.building import make_curve, play
from tendril.tests.addon.test_nets import make_net
from tendril.tests.addon.test_rod_types import STRAIGHT, new_rod

NAMES = [name for name in looks.LOOKS if name != "NONE"]
THICKNESS = 0.05
# Half widths of what is drawn, divided by the thickness: plugs and barbs are wider than their cable and wire.
WIDEST = {"CABLE": 1.1, "BARBED": 6.0}


def drawn(obj):
    """(n, 3) all vertices that Blender draws, also those of instances, in the space of the object."""
    found = []
    depsgraph = bpy.context.evaluated_depsgraph_get()
    for one in depsgraph.object_instances:
        if (one.parent or one.object).original != obj or one.object.type not in ("MESH", "CURVE", "CURVES"):
            continue
        mesh = one.object.to_mesh()
        if mesh is None or not len(mesh.vertices):
            continue
        x = np.empty(3 * len(mesh.vertices), dtype=np.float32)
        mesh.vertices.foreach_get("co", x)
        matrix = np.array(one.matrix_world)
        found.append(x.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3])
        one.object.to_mesh_clear()
    return np.concatenate(found) if found else np.zeros((0, 3))


def look_of(name):
    obj = new_rod()
    obj.tendril.thickness = THICKNESS
    obj.tendril.look = name
    bpy.context.view_layer.update()
    return obj


@pytest.mark.parametrize("name", NAMES)
def test_every_look_is_as_thick_as_the_rod_and_follows_changes(name):
    obj = look_of(name)
    group = obj.modifiers[looks.MODIFIER].node_group
    assert all(node.bl_idname != "NodeUndefined" for node in group.nodes)
    for thickness in (THICKNESS, 0.5 * THICKNESS):
        obj.tendril.thickness = thickness
        bpy.context.view_layer.update()
        x = drawn(obj)
        across = np.hypot(x[:, 1], x[:, 2])
        assert across.max() == pytest.approx(thickness * WIDEST.get(name, 0.5), rel=0.06)
        beyond = max(-x[:, 0].min(), x[:, 0].max() - 2.0)
        assert beyond < 3.0 * thickness  # links and plugs begin at the ends


@pytest.mark.parametrize("name", NAMES)
def test_looks_play_and_change_no_frame(name):
    plain = play(new_rod(), 4)
    obj = new_rod()
    obj.tendril.look = name
    shown = play(obj, 4)
    np.testing.assert_array_equal(shown[4][: len(plain[4])], plain[4])
    obj.tendril.look = "NONE"
    assert looks.MODIFIER not in obj.modifiers
    assert not memory.is_outdated(bpy.context.scene)


def cut(obj, tilt):
    """(n, 2) what is drawn near the middle, across the curve, which is tilted."""
    obj.data.splines[0].points.foreach_set("tilt", np.full(41, tilt, dtype=np.float32))
    obj.data.update_tag()
    bpy.context.view_layer.update()
    x = drawn(obj)
    return x[np.abs(x[:, 0] - 1.0) < 0.02][:, 1:]


@pytest.mark.parametrize("name", ["RIBBON", "ROPE"])
def test_looks_are_turned_by_the_tilt_like_an_extruded_bevel(name):
    """So they follow the material frame, by which Tendril sets the tilt."""
    plain = make_curve(("POLY", STRAIGHT))
    plain.data.extrude = 0.5 * THICKNESS
    wide = [np.linalg.svd(cut(plain, tilt))[2][0] for tilt in (0.0, 0.6)]
    assert abs(wide[0] @ wide[1]) == pytest.approx(np.cos(0.6), abs=1e-3)
    (a, b), (c, d) = wide[0], wide[1] * np.sign(wide[0] @ wide[1])
    sign = np.sign(a * d - b * c)
    turn = np.array([[np.cos(0.6), -sign * np.sin(0.6)], [sign * np.sin(0.6), np.cos(0.6)]])
    obj = make_curve(("POLY", STRAIGHT))
    obj.tendril.radius, obj.tendril.look = 0.5 * THICKNESS, name
    straight, turned = cut(obj, 0.0), cut(obj, 0.6)
    np.testing.assert_allclose(turned, straight @ turn.T, atol=0.02 * THICKNESS)
    if name == "RIBBON":
        assert abs(np.linalg.svd(straight)[2][0] @ wide[0]) == pytest.approx(1.0, abs=1e-3)


def test_the_twist_of_a_simulated_rod_turns_its_look():
    """An end that is turned by its target turns the band there, without any other setting."""
    hand = bpy.data.objects.new("Hand", None)
    hand.location.x = 2.0
    bpy.context.collection.objects.link(hand)
    for frame, angle in ((1, 0.0), (9, 1.0)):
        hand.rotation_euler.x = angle
        hand.keyframe_insert("rotation_euler", frame=frame)
    obj = new_rod(rod_type="RIBBON", look="RIBBON", start_hold="CLAMP", end_hold="ATTACH")
    obj.tendril.attachments[0].target, obj.tendril.attachments[0].use_rotation = hand, True
    bpy.context.scene.use_gravity = False
    play(obj, 9)
    bpy.context.view_layer.update()
    x = drawn(obj)
    first, last = (np.linalg.svd(x[near][:, 1:])[2][0] for near in (x[:, 0] < 0.01, x[:, 0] > 1.99))
    assert np.arccos(abs(first @ last)) == pytest.approx(1.0, abs=0.1)


def test_a_material_of_the_object_is_used():
    obj = new_rod()
    obj.tendril.look = "CHAIN"
    modifier = obj.modifiers[looks.MODIFIER]
    (socket,) = inputs_called(modifier, "Material")
    assert get_input(modifier, socket.identifier).name == "Rod Chain"
    red = bpy.data.materials.new("Red")
    obj.data.materials.append(red)
    obj.tendril.look = "ROPE"
    (socket,) = inputs_called(modifier, "Material")
    assert get_input(modifier, socket.identifier) == red


def test_groups_are_built_once():
    for _ in range(3):
        new_rod().tendril.look = "BRAID"
    assert [group.name for group in bpy.data.node_groups] == ["Rod Look Braid"]


def test_a_plain_rod_gets_its_bevel_back():
    bpy.ops.tendril.quick_rope()
    obj = bpy.context.object
    assert (obj.tendril.look, obj.data.bevel_depth) == ("ROPE", 0.0)
    obj.tendril.look = "NONE"
    assert obj.data.bevel_depth == pytest.approx(obj.tendril.radius)


def test_edges_of_a_net_have_the_look():
    net = make_net()
    net.tendril.look = "ROPE"
    bpy.context.view_layer.update()
    assert len(drawn(net)) > 10 * len(net.data.vertices)
