"""Meshes as nets through their edges, and curves whose splines are tied together."""

import bpy
import numpy as np
import pytest
from tendril.addon import memory
from tendril.addon.bridge.curves import read_rows
from tendril.core import Material, Net, Scene, Simulation
from tendril.tests.addon.building import activate, evaluated_points, make_curve, make_rod, play, status


def make_grid(cells=3, size=0.6, name="Net", faces=False, **settings):
    """A square net in the plane, its vertices in rows; with faces, one in each cell."""
    n = cells + 1
    at = np.linspace(-size / 2, size / 2, n)
    points = [(x, y, 0.0) for y in at for x in at]
    edges = [(r * n + c, r * n + c + 1) for r in range(n) for c in range(cells)]
    edges += [(r * n + c, (r + 1) * n + c) for r in range(cells) for c in range(n)]
    mesh = bpy.data.meshes.new(name)
    corners = [r * n + c for r in range(cells) for c in range(cells)]
    mesh.from_pydata(points, edges, [(k, k + 1, k + n + 1, k + n) for k in corners] if faces else [])
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(obj)
    activate(obj)
    obj.vertex_groups.new(name="Pins").add([0, cells], 1.0, "REPLACE")
    settings = {"radius": 0.005, "material": "RUBBER", "pin_group": "Pins", **settings}
    for key, value in settings.items():
        setattr(obj.tendril, key, value)
    return obj


def make_net(**settings):
    obj = make_grid(**settings)
    assert bpy.ops.tendril.rod_add(fit=False) == {"FINISHED"}
    return obj


def test_a_mesh_hangs_by_its_pins_and_equals_the_core():
    obj = make_net()
    shown = play(obj, 8)
    drawn = shown[1].astype(np.float64)
    scene = Scene(bpy.context.scene.gravity[:], air_density=bpy.context.scene.tendril.air_density)
    edges = np.array([edge.vertices[:] for edge in obj.data.edges])
    net = scene.add(Net.from_edges(drawn, edges, obj.tendril.radius, Material.preset("rubber")))
    for pin in (0, 3):
        scene.pin(net, pin)
    frames = list(Simulation(scene, 24.0, threads=1).frames(1, 8))
    for number in (2, 5, 8):
        assert np.array_equal(shown[number], frames[number - 1].positions(net).astype(np.float32))
    assert np.array_equal(shown[8][[0, 3]], shown[1][[0, 3]])
    assert shown[8][15, 2] < -0.01


def test_bakes_to_shape_keys_that_play_without_the_add_on():
    scene = bpy.context.scene
    scene.frame_end = 6
    obj = make_net()
    shown = play(obj, 6)
    scene.frame_set(1)
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    assert len(obj.data.shape_keys.key_blocks) == 6
    for number in (1, 3, 6):
        scene.frame_set(number)
        assert np.allclose(evaluated_points(obj), shown[number], atol=2e-6)
    assert bpy.ops.tendril.bake_delete() == {"FINISHED"}
    scene.frame_set(1)
    assert np.array_equal(read_rows(obj.data), shown[1])


def test_painted_stiffness_makes_the_net_stiffer():
    """An L of three vertices, clamped at one end: how far the other sinks."""

    def sinks(weight):
        mesh = bpy.data.meshes.new("Arm")
        mesh.from_pydata([(0.1 * k, 0.0, 0.0) for k in range(6)], [(k, k + 1) for k in range(5)], [])
        obj = bpy.data.objects.new("Arm", mesh)
        bpy.context.collection.objects.link(obj)
        activate(obj)
        obj.vertex_groups.new(name="Soft").add(range(6), weight, "REPLACE")
        obj.vertex_groups.new(name="Pins").add([0], 1.0, "REPLACE")
        for key, value in {"pin_group": "Pins", "clamp_pins": True, "stiffness_group": "Soft", "radius": 0.05}.items():
            setattr(obj.tendril, key, value)
        obj.tendril.material = "RUBBER"
        assert bpy.ops.tendril.rod_add(fit=False) == {"FINISHED"}
        scene = bpy.context.scene
        for number in range(1, 8):
            scene.frame_set(number)
        low = read_rows(obj.data)[5, 2]
        bpy.data.objects.remove(obj)
        return -low

    soft, stiff = sinks(0.2), sinks(1.0)
    assert soft > 1.5 * stiff > 0.0


def test_long_edges_are_divided_and_loose_vertices_stay():
    obj = make_grid(cells=2)
    mesh = obj.data
    mesh.vertices.add(1)
    mesh.vertices[9].co = (3.0, 0.0, 0.0)
    obj.tendril.segment_length = 0.1
    assert bpy.ops.tendril.rod_add(fit=False) == {"FINISHED"}
    shown = play(obj, 4)
    assert np.array_equal(shown[4][9], shown[1][9])
    simulation = memory.simulation_of(bpy.context.scene)
    assert simulation.scene.entries[0].rod.edge_count == 12 * 3
    assert shown[4][8, 2] < shown[1][8, 2]


def test_tension_and_twist_become_attributes_and_are_cached():
    obj = make_net(use_attributes=True)
    play(obj, 10)
    tension = np.empty(16, dtype=np.float32)
    obj.data.attributes["tension"].data.foreach_get("value", tension)
    assert tension.max() > 0.0
    assert tension[[0, 3]].mean() > 2.0 * abs(tension[12:]).mean()  # what hangs pulls on the pins
    scene = bpy.context.scene
    scene.frame_set(4)
    scene.frame_set(10)
    again = np.empty(16, dtype=np.float32)
    obj.data.attributes["tension"].data.foreach_get("value", again)
    assert np.array_equal(tension, again)
    scene.frame_set(1)
    obj.data.attributes["tension"].data.foreach_get("value", again)
    assert np.array_equal(again, np.zeros(16))


def test_splines_that_touch_are_tied():
    """A cross of two lines; one hangs by the other."""
    x = np.linspace(-0.5, 0.5, 9)
    across = np.stack([x, 0 * x, 0 * x], axis=1)
    down = np.stack([0 * x, 0 * x, x - 0.5], axis=1)
    for tied in (True, False):
        obj = make_curve(("POLY", across), ("POLY", down))
        settings = obj.tendril
        settings.material, settings.radius, settings.tie_splines = "RUBBER", 0.01, tied
        settings.start_hold, settings.end_hold = ("PIN", "FREE")
        settings.attachments.clear()
        settings.pin_by_weight = True
        for spline in obj.data.splines:
            for point in spline.points:
                point.weight_softbody = 0.0
        obj.data.splines[0].points[8].weight_softbody = 1.0
        settings.start_hold = "FREE"
        obj.data.splines[0].points[0].weight_softbody = 1.0
        assert bpy.ops.tendril.rod_add(fit=False) == {"FINISHED"}
        shown = play(obj, 12)
        gap = np.linalg.norm(shown[12][4] - shown[12][17])
        assert gap < 1e-6 if tied else gap > 0.1
        bpy.data.objects.remove(obj)


def test_what_is_no_net_is_refused_in_a_sentence():
    mesh = bpy.data.meshes.new("Empty")
    obj = bpy.data.objects.new("Empty", mesh)
    bpy.context.collection.objects.link(obj)
    activate(obj)
    with pytest.raises(RuntimeError, match="at least one edge"):
        bpy.ops.tendril.rod_add(fit=False)
    assert not obj.tendril.enabled
    grid = make_grid(pin_group="Nothing")
    with pytest.raises(RuntimeError, match="no group or attribute of this name"):
        bpy.ops.tendril.rod_add(fit=False)
    assert status(grid) == ""


def test_splines_tied_at_one_point_are_a_tree_that_never_stretches():
    """Of soft rubber: as an elastic net it would sag by stretching. A mesh with loops is refused in one sentence."""
    ways = [np.array([np.cos(a), np.sin(a), 0.0]) for a in (0.0, 2.1, 4.2)]
    arms = [("POLY", np.linspace(0.0, 0.4, 7)[:, None] * way) for way in ways]
    obj = make_rod(*arms, tie_splines=True, net_model="compact", material="RUBBER", radius=0.004)
    shown = play(obj, 10)
    assert np.abs(shown[10] - shown[1]).max() > 0.05
    for points in np.split(shown[10].astype(np.float64), 3):
        assert np.linalg.norm(np.diff(points, axis=0), axis=1) == pytest.approx(0.4 / 6, abs=1e-6)
    loops = make_net(name="Loops", net_model="compact")
    for number in (1, 2):
        bpy.context.scene.frame_set(number)
    assert "has no loops" in status(loops)


def test_tied_splines_are_as_thick_as_they_look():
    """Two lines 3 cm above each other: their bevels of 2 and 1 cm touch at the thick end of one of them."""
    x = np.linspace(-0.5, 0.5, 11)
    low, high = np.stack([x, 0 * x, 0 * x], axis=1), np.stack([0 * x + 0.06, x, 0 * x + 0.03], axis=1)
    obj = make_curve(("POLY", low), ("POLY", high))
    obj.data.bevel_depth = 0.02
    for point, radius in zip(obj.data.splines[0].points, np.linspace(0.5, 1.0, 11), strict=True):
        point.radius = radius
    for point in obj.data.splines[1].points:
        point.radius = 0.5
    settings = obj.tendril
    settings.material, settings.radius, settings.tie_splines = "RUBBER", 0.001, True
    settings.start_hold = "PIN"
    for radius_from, ties in (("GIVEN", 0), ("CURVE", 1)):
        settings.radius_from = radius_from
        activate(obj)
        assert bpy.ops.tendril.rod_add(fit=False) == {"FINISHED"}
        play(obj, 3)
        assert status(obj) == ""
        (entry,) = memory.running_of(bpy.context.scene).description.scene.entries
        net = entry.rod
        assert np.count_nonzero(np.bincount(np.asarray(net.edges).ravel()) == 4) == ties
        if radius_from == "CURVE":
            middles = np.asarray(net.points)[np.asarray(net.edges)].mean(axis=1)
            along = np.abs(middles[:, 1]) < 1e-6
            assert along.sum() >= 10
            looks = np.where(along, 0.02 * (0.75 + 0.5 * middles[:, 0]), 0.01)
            assert np.allclose(
                net.radii[:, 0], looks, atol=6e-4
            )  # where the tie cuts an edge, both pieces are as thick
        bpy.ops.tendril.rod_remove()
