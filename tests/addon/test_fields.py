"""Force fields of the scene, their weights, and how they compare with what Blender's own rigid bodies feel."""

import bpy
import numpy as np
import pytest
from tendril.addon import memory
from tendril.addon.bridge.curves import read_rows
from tendril.addon.bridge.fields import read_fields
from tendril.tests.addon.building import line, make_rod, play


def add_field(kind, at=(0.0, 0.0, 0.0), turned=(0.0, 0.0, 0.0), **settings):
    bpy.ops.object.effector_add(type=kind, location=at, rotation=turned)
    obj = bpy.context.object
    for name, value in settings.items():
        setattr(obj.field, name, value)
    return obj


def weightless():
    scene = bpy.context.scene
    scene.use_gravity, scene.tendril.air_density = False, 0.0
    return scene


def test_wind_carries_a_free_rod_as_its_weights_say():
    scene = weightless()
    obj = make_rod(("POLY", line()), start_hold="FREE")
    add_field("WIND", turned=(0.0, np.pi / 2, 0.0), strength=2.0, flow=0.0)
    for weight, expected in ((1.0, 1.0), (0.5, 0.5), (0.0, 0.0)):
        scene.tendril.wind_weight = weight
        shown = play(obj, 13)
        moved = (shown[13] - shown[1]).mean(axis=0)
        assert moved == pytest.approx([expected * 0.5 * 2.0 * 0.5**2, 0.0, 0.0], abs=1e-5)
        assert "outdated" not in memory.info(scene)


def test_only_fields_of_the_collection_act_and_animated_ones_follow():
    scene = weightless()
    wind = add_field("WIND", strength=0.0)
    wind.field.keyframe_insert("strength", frame=1)
    wind.field.strength = 24.0
    wind.field.keyframe_insert("strength", frame=25)
    add_field("FORCE", strength=100.0)
    scene.tendril.field_collection = bpy.data.collections.new("Weather")
    scene.collection.children.link(scene.tendril.field_collection)
    scene.tendril.field_collection.objects.link(wind)
    obj = make_rod(("POLY", line()), start_hold="FREE")
    shown = play(obj, 6)
    heights = [shown[k][:, 2].mean() - shown[1][:, 2].mean() for k in (2, 4, 6)]
    assert 0.0 < heights[0] < heights[1] < heights[2]
    assert np.abs((shown[6] - shown[1])[:, :2]).max() < 1e-6
    scene.frame_set(3)
    assert "outdated" not in memory.info(scene)


def two_free_rods():
    return [make_rod(("POLY", line(y=y)), name=name, start_hold="FREE") for name, y in (("Rope", 0.0), ("Other", 1.0))]


def way(obj, frames=13):
    """How far a rod has come on average, after playing all."""
    shown = {frame: read_rows(obj.data) for frame in (1, frames) if not bpy.context.scene.frame_set(frame)}
    return (shown[frames] - shown[1]).mean(axis=0)


def play_on(frames=13):
    for frame in range(1, frames + 1):
        bpy.context.scene.frame_set(frame)


FALL = 0.5 * 9.81 * 0.5**2


def test_a_rod_may_ignore_gravity_or_a_wind_that_others_feel():
    scene = bpy.context.scene
    scene.tendril.air_density = 0.0
    rope, other = two_free_rods()
    add_field("WIND", turned=(0.0, np.pi / 2, 0.0), strength=2.0, flow=0.0)
    rope.tendril.gravity_weight, rope.tendril.wind_weight = 0.0, 0.5
    play_on()
    assert way(rope) == pytest.approx([0.125, 0.0, 0.0], abs=1e-5)
    assert way(other) == pytest.approx([0.25, 0.0, -FALL], abs=1e-5)
    rope.tendril.gravity_weight = 0.5  # as Blender tells its own physics: what was simulated is not of it any more
    assert "outdated" in memory.info(scene)
    rope.tendril.field_weight = scene.tendril.wind_weight = 0.5  # all of them are multiplied
    play_on()
    assert way(rope) == pytest.approx([0.03125, 0.0, -0.5 * FALL], abs=1e-5)
    assert way(other) == pytest.approx([0.125, 0.0, -FALL], abs=1e-5)


def test_a_rod_may_have_a_collection_of_fields_of_its_own():
    scene = weightless()
    rope, other = two_free_rods()
    add_field("WIND", turned=(0.0, np.pi / 2, 0.0), strength=2.0, flow=0.0)
    upwards = add_field("WIND", strength=4.0, flow=0.0)
    scene.tendril.wind_weight = 1.0
    for name, members in (("Of all", [bpy.data.objects["Wind"]]), ("Of one", [upwards])):
        collection = bpy.data.collections.new(name)
        scene.collection.children.link(collection)
        for member in members or ():
            collection.objects.link(member)
    scene.tendril.field_collection = bpy.data.collections["Of all"]
    rope.tendril.field_collection = bpy.data.collections["Of one"]
    play_on()
    assert way(rope) == pytest.approx([0.0, 0.0, 0.5], abs=1e-5)
    assert way(other) == pytest.approx([0.25, 0.0, 0.0], abs=1e-5)
    upwards.field.strength = 1.0
    assert "outdated" in memory.info(scene)


@pytest.mark.parametrize("name", ["gravity_weight", "wind_weight"])
def test_weights_of_a_rod_can_be_keyframed(name):
    """Nothing for a quarter of a second, then all of it."""
    scene = bpy.context.scene
    scene.use_gravity, scene.gravity, scene.tendril.air_density = name == "gravity_weight", (8.0, 0.0, 0.0), 0.0
    rope, other = two_free_rods()
    if name == "wind_weight":
        add_field("WIND", turned=(0.0, np.pi / 2, 0.0), strength=8.0, flow=0.0)
    for frame, weight in ((1, 0.0), (7, 0.0), (8, 1.0)):
        setattr(rope.tendril, name, weight)
        rope.keyframe_insert(f"tendril.{name}", frame=frame)
    play_on()
    assert way(rope, 7) == pytest.approx([0.0, 0.0, 0.0], abs=1e-6)
    assert way(rope) == pytest.approx([0.25, 0.0, 0.0], abs=1e-5)
    assert way(other) == pytest.approx([1.0, 0.0, 0.0], abs=1e-5)
    assert "outdated" not in memory.info(scene)
    rope.animation_data_clear()
    setattr(rope.tendril, name, 1.0)
    assert "outdated" in memory.info(scene)


KINDS = [
    ("WIND", {"falloff_power": 1.5, "use_min_distance": True, "distance_min": 0.4}),
    ("WIND", {"falloff_type": "TUBE", "falloff_power": 1.0, "radial_falloff": 2.0}),
    ("WIND", {"falloff_type": "CONE", "falloff_power": 1.0, "radial_falloff": 0.3}),
    ("FORCE", {"falloff_power": 1.0}),
    ("FORCE", {"use_gravity_falloff": True}),
    ("FORCE", {"shape": "PLANE", "falloff_power": 2.0}),
    ("FORCE", {"shape": "LINE", "falloff_power": 2.0}),
    ("VORTEX", {"shape": "POINT", "falloff_power": 1.0}),
    ("HARMONIC", {"rest_length": 0.3, "harmonic_damping": 0.0}),
    ("FORCE", {"shape": "POINTS", "falloff_power": 1.0}),
    ("WIND", {"shape": "POINTS", "falloff_power": 2.0}),
    ("WIND", {"shape": "POINTS", "falloff_type": "TUBE", "falloff_power": 1.0, "radial_falloff": 2.0}),
    ("HARMONIC", {"shape": "POINTS", "harmonic_damping": 0.0}),
    ("FORCE", {"shape": "SURFACE", "falloff_power": 1.0}),
    ("FORCE", {"shape": "SURFACE", "falloff_power": 1.0, "z_direction": "POSITIVE"}),
    ("WIND", {"shape": "SURFACE", "falloff_power": 2.0}),
]


def add_field_of_mesh(kind, turned, **settings):
    """An irregular pyramid, turned and stretched."""
    mesh = bpy.data.meshes.new("Field")
    mesh.from_pydata(
        [(-0.3, -0.2, 0.0), (0.4, -0.1, 0.1), (0.1, 0.5, 0.0), (0.0, 0.1, 0.25)],
        [],
        [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)],
    )
    obj = bpy.data.objects.new("Field", mesh)
    bpy.context.collection.objects.link(obj)
    obj.rotation_euler, obj.scale = turned, (1.2, 0.9, 1.0)
    with bpy.context.temp_override(object=obj, active_object=obj):
        bpy.ops.object.forcefield_toggle()
    obj.field.type = kind
    for name, value in settings.items():
        setattr(obj.field, name, value)
    return obj


@pytest.mark.parametrize(("kind", "settings"), KINDS)
def test_fields_are_those_that_blenders_rigid_bodies_feel(kind, settings):
    """A body of a kilogram is pushed for a frame; a wind without falloff tells how strong a strength of 1 is for it."""
    from tendril.core.forces.field_kernels import apply_fields
    from tendril.core.forces.surface_kernels import apply_surface, balls_around

    scene = weightless()
    place = np.array([0.35, 0.2, 0.5])

    def pushed():
        bpy.ops.mesh.primitive_cube_add(size=0.01, location=place)
        body = bpy.context.object
        bpy.ops.rigidbody.object_add()
        body.rigid_body.mass, body.rigid_body.linear_damping = 1.0, 0.0
        for frame in (1, 2, 3):
            scene.frame_set(frame)
        moved = np.array(body.matrix_world.translation) - place
        bpy.ops.object.select_all(action="DESELECT")
        bpy.data.objects.remove(body)
        scene.frame_set(1)
        return moved

    bpy.ops.rigidbody.world_add()
    unit = add_field("WIND", strength=1.0, flow=0.0)
    size = pushed()[2]
    assert size > 1e-5
    bpy.data.objects.remove(unit)
    turned = (0.3, 0.2, 0.1)
    settings = {"strength": 1.0, "flow": 0.0, **settings}
    if settings.get("shape") in ("POINTS", "SURFACE"):
        add_field_of_mesh(kind, turned, **settings)
    else:
        add_field(kind, turned=turned, **settings)
    scene.view_layers[0].update()
    (field,) = read_fields(scene, bpy.context.evaluated_depsgraph_get()).values()
    ours, at_rest = np.zeros((1, 3)), (place[None], np.zeros((1, 3)), np.ones(1), 1e-6)
    if field.shape == "surface":
        balls = balls_around(field.vertices, field.triangles)
        apply_surface(field.numbers()[0], field.vertices, field.triangles, balls, *at_rest, ours)
    else:
        apply_fields(field.numbers(), np.zeros(1, np.int64), *at_rest, ours)
    assert np.linalg.norm(ours) > 0.05
    assert pushed() / size == pytest.approx(ours[0], rel=0.005, abs=0.002)


def animate_field(obj, to):
    obj.field.strength = 0.0
    obj.field.keyframe_insert("strength", frame=1)
    obj.field.strength = to
    obj.field.keyframe_insert("strength", frame=10)


def animate_place(obj, to):
    obj.location.x = 0.0
    obj.keyframe_insert("location", frame=1)
    obj.location.x = to
    obj.keyframe_insert("location", frame=10)


def animate_wind(_obj, to):
    shared = bpy.context.scene.tendril
    for frame, speed in ((1, 0.0), (10, to)):
        shared.wind = (0.0, speed, 0.0)
        bpy.context.scene.keyframe_insert("tendril.wind", frame=frame)


def animate_stiffness(_obj, to):
    rope = bpy.data.objects["Rope"]
    for frame, factor in ((1, 1.0), (10, to)):
        rope.tendril.stiffness_factor = factor
        rope.keyframe_insert("tendril.stiffness_factor", frame=frame)


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize("animate", [animate_field, animate_place, animate_wind, animate_stiffness])
def test_an_edit_of_an_animation_makes_frames_outdated(animate, on_disk, tmp_path):
    if on_disk:
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rope.blend"))
    scene = bpy.context.scene
    scene.tendril.use_disk_cache = on_disk
    rope = make_rod(("POLY", line()))
    field = add_field("FORCE", at=(0.0, 0.0, -1.0), strength=2.0)
    animate(field, 3.0)
    play(rope, 8)
    for frame in (3, 5, 8):
        scene.frame_set(frame)
        assert "outdated" not in memory.info(scene)
    if on_disk:
        memory.clear()
        scene.frame_set(1)
        scene.frame_set(5)
        assert "outdated" not in memory.info(scene)
    animate(field, 4.0)
    scene.frame_set(5)
    assert "outdated" in memory.info(scene)
