"""Hair Curves: many strands, on a surface that moves and deforms."""

import time

import bpy
import numpy as np
import pytest
from tendril.addon import memory
from tendril.addon.bridge import roots
from tendril.addon.bridge.curves import drawn_rows, forget_drawn, read_rows
from tendril.addon.bridge.describing import describe_rod, start_poses_of
from tendril.tests.addon.building import activate, make_mesh, make_rod, play, status


def make_hair(strands=6, points=8, length=0.2, spread=0.5, name="Hair", surface=None, **settings):
    """Strands that stand upright in a row along x, leaning a little."""
    hair = bpy.data.hair_curves.new(name)
    hair.add_curves([points] * strands)
    s = np.linspace(0.0, length, points)
    places = np.zeros((strands, points, 3), dtype=np.float32)
    places[:, :, 0] = np.linspace(-spread, spread, strands)[:, None] + 0.1 * s
    places[:, :, 2] = s
    hair.attributes["position"].data.foreach_set("vector", places.ravel())
    hair.surface = surface
    obj = bpy.data.objects.new(name, hair)
    bpy.context.collection.objects.link(obj)
    activate(obj)
    settings = {"radius": 0.002, "material": "RUBBER", "use_sag_free": False, **settings}
    for key, value in settings.items():
        setattr(obj.tendril, key, value)
    assert bpy.ops.tendril.rod_add(fit=False) == {"FINISHED"}
    return obj


def test_every_strand_is_a_rod_and_its_root_is_clamped():
    obj = make_hair()
    assert obj.tendril.start_hold == "CLAMP"
    shown = play(obj, 10)
    moved = (shown[10] - shown[1]).reshape(6, 8, 3)
    assert np.array_equal(moved[:, 0], np.zeros((6, 3)))
    assert moved[:, -1, 2].max() < -0.005
    assert memory.simulation_of(bpy.context.scene).state_size > 0
    frames = play(obj, 10)
    assert all(np.array_equal(frames[k], shown[k]) for k in shown)


def test_roots_follow_a_surface_that_moves_turns_and_deforms():
    floor = make_mesh(at=(0.0, 0.0, 0.0), collide=False, cuts=8)
    floor.shape_key_add(name="Basis")
    block = floor.shape_key_add(name="Lifted")
    points = np.empty(3 * len(floor.data.vertices), dtype=np.float32)
    block.data.foreach_get("co", points)
    points = points.reshape(-1, 3)
    points[:, 2] += 0.3 * points[:, 0]  # it tilts about y
    block.data.foreach_set("co", points.ravel())
    block.value = 0.0
    block.keyframe_insert("value", frame=1)
    block.value = 1.0
    block.keyframe_insert("value", frame=6)
    floor.keyframe_insert("location", frame=1)
    floor.location.y = 0.2
    floor.keyframe_insert("location", frame=6)
    scene = bpy.context.scene
    scene.use_gravity, scene.tendril.drag = False, 20.0
    obj = make_hair(surface=floor, radius=0.01)
    shown = play(obj, 12)
    rows, start = shown[12].reshape(6, 8, 3), shown[1].reshape(6, 8, 3)
    x = start[:, 0, 0]
    assert np.allclose(rows[:, 0], np.stack([x, x * 0 + 0.2, 0.3 * x], axis=1), atol=1e-4)
    angle = np.arctan(0.3)
    turn = np.array([[np.cos(angle), 0, -np.sin(angle)], [0, 1, 0], [np.sin(angle), 0, np.cos(angle)]])
    assert np.allclose(rows[:, 1] - rows[:, 0], (start[:, 1] - start[:, 0]) @ turn.T, atol=1e-3)


def test_a_modifier_that_moves_hair_too_is_noticed():
    obj = make_hair(surface=make_mesh(at=(0.0, 0.0, 0.0), collide=False))
    assert roots.duplicate_deform_modifier(obj) is None
    tree = bpy.data.node_groups.new("Deform", "GeometryNodeTree")
    tree.nodes.new("GeometryNodeDeformCurvesOnSurface")
    modifier = obj.modifiers.new("Deform", "NODES")
    modifier.node_group = tree
    assert roots.duplicate_deform_modifier(obj) == "Deform"
    modifier.show_viewport = False
    assert roots.duplicate_deform_modifier(obj) is None


def test_hair_as_blender_adds_it_is_told_which_modifier_to_switch_off_and_follows():
    """Add, Curve, Empty Hair."""
    ball = make_mesh(height=1.0, at=(0.0, 0.0, 0.0), collide=False)
    bpy.ops.object.curves_empty_hair_add()
    hair = bpy.context.object
    hair.data.add_curves([6, 6])
    drawn = np.array([[x, 0.0, 0.05 * k] for x in (0.2, 0.5) for k in range(6)], dtype=np.float32)
    hair.data.attributes["position"].data.foreach_set("vector", drawn.ravel())
    assert bpy.ops.tendril.rod_add(fit=False) == {"FINISHED"}
    hair.modifiers[roots.duplicate_deform_modifier(hair)].show_viewport = False
    for frame, x in ((1, 0.0), (5, 0.3)):
        ball.location.x = x
        ball.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    shown = play(hair, 6)[6].reshape(2, 6, 3)
    assert np.allclose(shown[:, 0], drawn.reshape(2, 6, 3)[:, 0], atol=1e-5)  # parented: they stay on it
    assert np.abs(shown[:, -1] - drawn.reshape(2, 6, 3)[:, -1]).max() > 0.01


def test_a_change_of_the_surfaces_animation_is_noticed():
    floor = make_mesh(at=(0.0, 0.0, 0.0), collide=False, cuts=4)
    obj = make_hair(surface=floor)
    play(obj, 5)
    floor.location.x = 0.1
    bpy.context.scene.frame_set(4)
    assert "outdated" in memory.info(bpy.context.scene)


def test_hair_is_not_baked_to_shape_keys_but_to_disk(tmp_path):
    scene = bpy.context.scene
    scene.frame_end = 5
    obj = make_hair(use_attributes=True)
    with pytest.raises(RuntimeError, match="can't have shape keys"):
        bpy.ops.tendril.bake()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hair.blend"))
    scene = bpy.context.scene
    obj = bpy.data.objects["Hair"]
    activate(obj)
    scene.tendril.bake_to = "DISK"
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    scene.frame_set(5)
    twist = np.empty(48, dtype=np.float32)
    obj.data.attributes["twist"].data.foreach_get("value", twist)
    tension = np.empty(48, dtype=np.float32)
    obj.data.attributes["tension"].data.foreach_get("value", tension)
    assert np.all(np.isfinite(twist))
    assert np.abs(tension).max() > 0.0
    assert status(obj) == ""


def test_strands_of_clothoids_tell_what_they_carry():
    """Stiff ones, drawn hanging: at each point the weight of what is below."""
    scene = bpy.context.scene
    scene.tendril.drag = 20.0
    hair = make_hair(model="clothoid", strands=2, length=-0.2, material="STEEL_CABLE", use_attributes=True)
    play(hair, 12)
    tension = np.empty(16, dtype=np.float32)
    hair.data.attributes["tension"].data.foreach_get("value", tension)
    rod = memory.simulation_of(scene).scene.entries[0].rod
    lean = 0.2 / rod.length  # of the weight, what pulls along the strand
    weight = 9.81 * float((rod.mass_per_length * rod.rest_lengths).sum()) * lean
    middle = 1.0 - np.arange(1, 7) / 7  # ends have one edge, others the mean of two
    np.testing.assert_allclose(tension.reshape(2, 8)[:, 1:7], weight * np.tile(middle, (2, 1)), rtol=0.02)


def test_removing_gives_the_drawn_hair_back():
    obj = make_hair(use_attributes=True)
    shown = play(obj, 4)
    assert bpy.ops.tendril.rod_remove() == {"FINISHED"}
    places = np.empty(3 * 48, dtype=np.float32)
    obj.data.attributes["position"].data.foreach_get("vector", places)
    assert np.array_equal(places.reshape(-1, 3), shown[1][:48])


@pytest.mark.parametrize(("points", "segment_length"), [(8, 0.0), (3, 0.0), (2, 0.0), (8, 0.013), (5, 0.06), (3, 0.01)])
def test_a_strand_moves_as_a_curve_of_the_same_points_does(points, segment_length):
    """With few points it is divided as a curve is; with a segment length of its own it is computed in even pieces."""
    hair = make_hair(strands=2, points=points, segment_length=segment_length)
    drawn = read_rows(hair.data).reshape(2, points, 3)
    curve = make_rod(
        *(("POLY", strand) for strand in drawn),
        radius=0.002,
        material="RUBBER",
        start_hold="CLAMP",
        segment_length=segment_length,
    )
    for frame in range(1, 13):
        bpy.context.scene.frame_set(frame)
        assert status(hair) == status(curve) == ""
        assert np.abs(read_rows(hair.data) - read_rows(curve.data)).max() < 2e-6
    assert np.abs(read_rows(hair.data) - drawn.reshape(-1, 3)).max() > 0.01
    entries = memory.running_of(bpy.context.scene).description.scene.entries
    assert [entry.rod.vertex_count for entry in entries[:2]] == [entry.rod.vertex_count for entry in entries[2:]]
    bpy.context.scene.frame_set(1)
    assert np.array_equal(read_rows(hair.data), drawn.reshape(-1, 3))


def test_what_is_painted_on_hair_is_there_at_vertices_of_its_own():
    hair = make_hair(strands=3, points=5, segment_length=0.01)
    weights = hair.data.attributes.new("soft", "FLOAT", "POINT")
    weights.data.foreach_set("value", np.tile(np.linspace(1.0, 0.2, 5), 3))
    hair.tendril.stiffness_group = "soft"
    hair.tendril.use_attributes = True
    play(hair, 4)
    for entry in memory.running_of(bpy.context.scene).description.scene.entries:
        bend = entry.rod.bend[:, 0] / entry.rod.bend[0, 0]
        middles = (np.arange(len(bend)) + 0.5) / len(bend)
        assert np.allclose(bend * (1.0 - 0.8 * middles[0]), 1.0 - 0.8 * middles, rtol=1e-5)
    tension = np.empty(15, dtype=np.float32)
    hair.data.attributes["tension"].data.foreach_get("value", tension)
    assert np.all(np.isfinite(tension))
    assert np.abs(tension).max() > 0.0


@pytest.mark.parametrize("settings", [{"rest_shape": "OBJECT"}, {"rest_shape": "OBJECT", "section": "ELLIPSE"}])
def test_describing_hair_with_a_rest_object_takes_time_in_proportion_to_its_strands(settings):
    scene = bpy.context.scene

    def seconds(count):
        shape = make_hair(count, name="Shape")
        shape.tendril.enabled = False
        hair = make_hair(count, rest_object=shape, **settings)
        scene.frame_set(1)
        poses = memory.start_poses[hair.tendril.uid]
        times = []
        for _ in range(3):
            start = time.process_time()
            described = describe_rod(hair, scene, poses, drawn_rows(hair.data))
            times.append(time.process_time() - start)
        assert len(described.rods) == count
        return min(times)

    assert seconds(800) < 8 * seconds(200)  # 16 times if each of them read all


def test_hair_has_the_rest_shape_of_an_object_and_of_curls():
    shape = make_hair(name="Shape")
    places = read_rows(shape.data)
    places[:, 1] += 2.0 * places[:, 2] ** 2  # arcs
    shape.data.attributes["position"].data.foreach_set("vector", places.ravel())
    shape.tendril.enabled = False
    forget_drawn(shape.data)
    hair = make_hair(rest_shape="OBJECT", rest_object=shape)
    poses = start_poses_of(hair, bpy.context.scene, bpy.context.evaluated_depsgraph_get())
    described = describe_rod(hair, bpy.context.scene, poses, drawn_rows(hair.data))
    for k, rod in enumerate(described.rods):
        arc = places.reshape(6, 8, 3)[k]
        assert np.allclose(rod.rest_points[[0, -1]] - rod.rest_points[0], arc[[0, -1]] - arc[0], atol=1e-6)
        assert np.ptp(rod.rest_points[:, 1]) == pytest.approx(0.08, rel=1e-5)
    hair.tendril.rest_shape, hair.tendril.curl_radius, hair.tendril.curl_length = "CURLY", 0.03, 0.1
    curled = describe_rod(hair, bpy.context.scene, poses, drawn_rows(hair.data))
    for rod in curled.rods:
        assert np.allclose(np.linalg.norm(np.diff(rod.rest_points, axis=0), axis=1), rod.rest_lengths)
        assert np.ptp(rod.rest_points, axis=0).min() > 0.01


@pytest.mark.parametrize("segment_length", [0.0, 0.02])
def test_flat_hair_takes_weights_and_radii_of_its_points(segment_length):
    """Strands that are not round are described one by one, by another path than round ones."""
    flat = make_hair(section="RIBBON", segment_length=segment_length)
    weights = flat.data.attributes.new("limp", "FLOAT", "POINT")
    weights.data.foreach_set("value", np.tile(np.linspace(1.0, 0.25, 8), 6).astype(np.float32))
    radii = flat.data.attributes.new("radius", "FLOAT", "POINT")
    radii.data.foreach_set("value", np.full(48, 0.002, dtype=np.float32))
    flat.tendril.stiffness_group, flat.tendril.radius_from = "limp", "CURVE"
    play(flat, 3)
    rods = [entry.rod for entry in memory.simulation_of(bpy.context.scene).scene.entries]
    assert len(rods) == 6
    assert rods[5].bend[-1, 0] < 0.5 * rods[5].bend[0, 0]
