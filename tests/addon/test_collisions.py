"""Rods in contact: with meshes that stand, move and deform, and with each other."""

import bpy
import numpy as np
import pytest
from tendril.addon import memory
from tendril.addon.bridge.colliders import read_colliders
from tendril.addon.bridge.curves import read_rows
from tendril.core import Material, Mesh, Rod, Scene, Simulation
from tendril.tests.addon.building import activate, line, make_mesh, make_rod, play, status
from tendril.tests.addon.test_bake import key_rows
from tendril.tests.addon.test_operators import refuses

RADIUS = 0.01


def straight(count=13, length=1.0, at=(-0.5, 0.0, 0.0), along=(1.0, 0.0, 0.0)):
    return np.asarray(at) + np.linspace(0.0, length, count)[:, None] * np.asarray(along)


def free_rod(points, name="Rope", **settings):
    settings = {"radius": RADIUS, "start_hold": "FREE", **settings}
    return make_rod(("POLY", points), name=name, **settings)


def world(obj):
    matrix = np.array(obj.matrix_world)
    return read_rows(obj.data) @ matrix[:3, :3].T + matrix[:3, 3]


def colliders():
    return read_colliders(bpy.context.scene, bpy.context.evaluated_depsgraph_get())


def test_a_rope_falls_on_a_mesh_and_lies():
    make_mesh(at=(0, 0, -0.2))
    rope = free_rod(straight())
    shown = play(rope, 40)
    assert shown[40][:, 2].max() < -0.2 + 1.1 * RADIUS
    assert min(rows[:, 2].min() for rows in shown.values()) > -0.2 + 0.9 * RADIUS
    assert np.abs(shown[40] - shown[38]).max() < 1e-4


@pytest.mark.parametrize("scale", [(-1, 1, 1), (-2, -1, -1)])
def test_a_mirrored_collider_is_solid_inside(scale):
    box = make_mesh(height=0.5, at=(0.0, 0.0, -0.2))
    box.scale = scale
    if scale[2] < 0:
        box.location.z = -0.7  # its origin is at its top
    assert play(free_rod(straight()), 30)[30][:, 2].min() > -0.2 + 0.9 * RADIUS


def test_a_rope_falls_through_a_mesh_that_is_no_collider():
    make_mesh(at=(0, 0, -0.2), collide=False)
    assert play(free_rod(straight()), 12)[12][:, 2].max() < -0.4


def test_playback_on_a_mesh_is_the_core_run_bit_for_bit():
    make_mesh(at=(0.1, 0, -0.05), height=0.3)
    points = straight().astype(np.float32)
    rope = free_rod(points, friction=0.7)
    shown = play(rope, 10)
    (described,) = colliders()[0].values()
    scene = Scene(np.array(bpy.context.scene.gravity), air_density=bpy.context.scene.tendril.air_density)
    rod = Rod.from_points(points, radius=rope.tendril.radius, material=Material.preset("nylon rope"))
    scene.add(rod, friction=rope.tendril.friction)
    scene.collide(Mesh(described.shape.vertices, described.shape.triangles), friction=described.friction)
    frames = {frame.number: frame for frame in Simulation(scene).frames(1, 10)}
    for number, rows in shown.items():
        np.testing.assert_array_equal(rows, frames[number].positions(0).astype(np.float32))


def crossing():
    lower = free_rod(straight(), name="Lower", start_hold="PIN", end_hold="PIN")
    upper = free_rod(straight(13, 0.6, (0.02, -0.3, 0.1), (0, 1, 0)), name="Upper")
    return lower, upper


@pytest.mark.parametrize("collide", [False, True])
def test_rods_of_two_objects_collide_if_the_scene_says_so(collide):
    bpy.context.scene.tendril.rod_contact = collide
    lower, upper = crossing()
    assert status(lower) == ""
    play(upper, 20)
    middle, below = world(upper)[6, 2], world(lower)[6, 2]
    assert (middle > below) == collide


def test_two_rods_that_collide_are_baked_as_they_played_one_after_the_other():
    bpy.context.scene.tendril.rod_contact = True
    bpy.context.scene.frame_end = 16
    lower, upper = crossing()
    expected = {obj.name: frames for obj, frames in zip((lower, upper), zip_play(lower, upper), strict=True)}
    for obj in (lower, upper):
        activate(obj)
        assert bpy.ops.tendril.bake() == {"FINISHED"}
    for obj in (lower, upper):
        for number, rows in enumerate(key_rows(obj), start=1):
            np.testing.assert_array_equal(rows, expected[obj.name][number])


def zip_play(*objects):
    shown = [{} for _ in objects]
    for number in range(1, bpy.context.scene.frame_end + 1):
        bpy.context.scene.frame_set(number)
        for obj, frames in zip(objects, shown, strict=True):
            assert status(obj) == ""
            frames[number] = read_rows(obj.data)
    return shown


def pusher(parented=False):
    """A block that pushes along y, one metre in a second."""
    block = make_mesh("Block", size=0.4, height=0.4, at=(0, -0.3, 0.2))
    mover = block
    if parented:
        mover = bpy.data.objects.new("Parent", None)
        bpy.context.collection.objects.link(mover)
        block.parent = mover
    for frame, y in ((1, mover.location.y), (25, mover.location.y + 1.0)):
        mover.location.y = y
        mover.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    return block


@pytest.mark.parametrize("parented", [False, True])
def test_an_animated_collider_pushes(parented):
    bpy.context.scene.use_gravity = False
    block = pusher(parented)
    rope = free_rod(straight())
    bpy.context.scene.frame_end = 20
    shown = play(rope, 20)
    front = block.matrix_world.translation.y + 0.2
    assert shown[20][6, 1] > front + 0.9 * RADIUS
    assert front > 0.5
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    for number, rows in enumerate(key_rows(rope), start=1):
        np.testing.assert_array_equal(rows, shown[number])


def test_a_deforming_collider_lifts_a_rope():
    """A shape key raises the floor; a subdivision modifier makes more faces of it."""
    floor = make_mesh(at=(0, 0, -0.05), cuts=2)
    floor.modifiers.new("Subdivision", "SUBSURF").subdivision_type = "SIMPLE"
    floor.shape_key_add(name="Basis")
    key = floor.shape_key_add(name="High")
    for point in key.data:
        point.co.z += 0.3
    for frame, value in ((4, 0.0), (20, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    bpy.context.scene.frame_set(1)
    rope = free_rod(straight())
    found, notes = colliders()
    assert notes == []
    assert len(next(iter(found.values())).shape.vertices) > 4
    shown = play(rope, 20)
    assert shown[20][:, 2].min() > 0.25 + 0.9 * RADIUS
    assert memory.notes(bpy.context.scene) == []


def test_a_collider_moved_at_the_start_frame_is_met_there():
    floor = make_mesh(at=(0, 0, -0.5))
    rope = free_rod(straight())
    play(rope, 3)
    bpy.context.scene.frame_set(1)
    floor.location.z = -0.05
    bpy.context.view_layer.update()
    shown = play(rope, 20, first=2)
    assert shown[20][:, 2].min() > -0.05 + 0.9 * RADIUS
    memory.clear()
    bpy.context.scene.frame_set(1)
    np.testing.assert_array_equal(play(rope, 20)[8], shown[8])


def test_frames_are_outdated_when_a_collider_is_animated_anew():
    floor = make_mesh()
    rope = free_rod(straight())
    play(rope, 5)
    floor.keyframe_insert("location", frame=1)
    floor.location.z += 0.1
    floor.keyframe_insert("location", frame=5)
    bpy.context.scene.frame_set(4)
    assert "outdated" in memory.info(bpy.context.scene)


def test_a_collider_whose_faces_change_is_told_and_stays():
    floor = make_mesh()
    build = floor.modifiers.new("Bevel", "BEVEL")
    build.segments = 1
    build.affect = "VERTICES"
    build.width = 0.1
    for frame, segments in ((1, 1), (4, 3)):
        build.segments = segments
        build.keyframe_insert("segments", frame=frame)
    bpy.context.scene.frame_set(1)
    rope = free_rod(straight())
    shown = play(rope, 30)
    (note,) = memory.notes(bpy.context.scene)
    assert '"Floor" has changed its topology since the start frame' in note
    assert shown[30][:, 2].min() > -0.2 + 0.9 * RADIUS
    bpy.context.scene.frame_set(1)
    assert memory.notes(bpy.context.scene) == []


def test_what_cannot_be_a_collider_is_told_and_the_rest_works():
    make_mesh()
    collection = bpy.context.scene.tendril.colliders
    empty = bpy.data.objects.new("Instances", None)
    lines = bpy.data.meshes.new("Lines")
    lines.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1), (1, 2)], [])
    for obj in (empty, bpy.data.objects.new("Lines", lines)):
        collection.objects.link(obj)
    rope = free_rod(straight())
    assert play(rope, 30)[30][:, 2].min() > -0.2 + 0.9 * RADIUS
    notes = memory.notes(bpy.context.scene)
    assert len(notes) == 2
    for words in (
        '"Instances" is not a mesh',
        '"Lines" is ignored as a collider: it has no faces',
    ):
        assert any(words in note for note in notes), notes


def test_a_collider_that_is_hidden_collides_or_is_told():
    floor = make_mesh()
    for frame, z in ((1, -0.2), (5, -0.1)):
        floor.location.z = z
        floor.keyframe_insert("location", frame=frame)
    floor.hide_viewport = True
    rope = free_rod(straight())
    lowest = play(rope, 30)[30][:, 2].min()
    notes = memory.notes(bpy.context.scene)
    assert (lowest > -0.1 + 0.9 * RADIUS) == (notes == [])
    assert notes == [] or "is disabled" in notes[0]


def test_thickness_and_friction_are_of_collision_physics_if_there_is_one():
    floor = make_mesh()
    floor.tendril_collider.thickness, floor.tendril_collider.friction = 0.03, 0.9
    bpy.context.scene.unit_settings.scale_length = 0.1
    (described,) = colliders()[0].values()
    assert described.thickness == pytest.approx(0.003)
    assert described.friction == pytest.approx(0.9)
    floor.modifiers.new("Collision", "COLLISION")
    floor.collision.thickness_outer, floor.collision.cloth_friction = 0.05, 30.0
    (described,) = colliders()[0].values()
    assert described.thickness == pytest.approx(0.005)
    assert described.friction == pytest.approx(0.3)


def test_without_a_collection_what_has_collision_physics_is_a_collider():
    floor = make_mesh(collide=False)
    bpy.ops.object.modifier_add(type="COLLISION")
    rope = free_rod(straight())
    assert play(rope, 30)[30][:, 2].min() > -0.2 + 0.9 * RADIUS
    wall = make_mesh("Wall", at=(0.0, 0.0, -2.0))
    bpy.context.scene.frame_set(1)
    assert set(bpy.context.scene.tendril.colliders.objects) == {floor, wall}
    floor.collision.use = False
    bpy.context.scene.tendril.colliders = None
    assert play(rope, 30)[30][:, 2].min() < -1.0


def test_a_rope_lies_as_high_as_the_collider_is_thick():
    make_mesh().tendril_collider.thickness = 0.03
    shown = play(free_rod(straight()), 30)
    np.testing.assert_allclose(shown[30][:, 2], -0.2 + 0.03 + RADIUS, atol=2e-3)


@pytest.mark.parametrize(("of_rod", "of_slope", "slides"), [(0.05, 1.0, True), (1.0, 0.05, True), (1.0, 1.0, False)])
def test_friction_of_rod_and_collider_decides_whether_it_slides(of_rod, of_slope, slides):
    slope = make_mesh(size=6.0, at=(0, 0, -0.02))
    slope.rotation_euler.x = 0.3
    slope.tendril_collider.friction = of_slope
    rope = free_rod(straight(13, 1.0, (0, 0, 0), np.array([0, np.cos(0.3), np.sin(0.3)])), friction=of_rod)
    bpy.context.scene.frame_set(1)
    shown = play(rope, 24)
    assert (np.abs(shown[24] - shown[8]).max() > 0.2) == slides


def test_colliders_are_added_and_removed_by_operators():
    refuses(bpy.ops.tendril.collider_add, "not a mesh")
    floor = make_mesh()
    refuses(bpy.ops.tendril.collider_add, "is already a collider")
    home = bpy.context.scene.collection
    home.objects.unlink(floor)
    assert bpy.ops.tendril.collider_remove() == {"FINISHED"}
    assert floor.name in home.objects
    assert len(bpy.context.scene.tendril.colliders.objects) == 0
    refuses(bpy.ops.tendril.collider_remove, "not in the collider collection")


def test_a_line_of_the_panel_tells_when_collisions_change():
    make_mesh()
    rope = free_rod(line() + np.array([0, 0, 1.0]))
    scene = bpy.context.scene
    play(rope, 3)
    assert memory.info(scene) == "3 frames in memory"
    scene.tendril.rod_contact = True
    assert "outdated" in memory.info(scene)
    scene.tendril.rod_contact = False
    bpy.data.objects["Floor"].tendril_collider.friction = 0.9
    assert "outdated" in memory.info(scene)


def test_a_collider_that_is_deleted_on_the_way_stays_until_the_start_and_is_told():
    floor = make_mesh()
    rope = free_rod(straight())
    play(rope, 12)
    bpy.data.objects.remove(floor)
    shown = play(rope, 30, first=13)
    assert shown[30][:, 2].min() > -0.2 + 0.9 * RADIUS
    assert "outdated" in memory.info(bpy.context.scene)
    bpy.context.scene.frame_set(1)
    assert play(rope, 30, first=2)[30][:, 2].min() < -1.0
