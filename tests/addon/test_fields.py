"""Force fields of the scene, their weights, and how they compare with what Blender's own rigid bodies feel."""

import bpy
import numpy as np
import pytest
from tendril.addon import memory
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
]


@pytest.mark.parametrize(("kind", "settings"), KINDS)
def test_fields_are_those_that_blenders_rigid_bodies_feel(kind, settings):
    """A body of a kilogram is pushed for a frame; a wind without falloff tells how strong a strength of 1 is for it."""
    from tendril.core.forces.field_kernels import apply_fields

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
    add_field(kind, turned=turned, **{"strength": 1.0, "flow": 0.0, **settings})
    scene.view_layers[0].update()
    (field,) = read_fields(scene, bpy.context.evaluated_depsgraph_get())
    ours = np.zeros((1, 3))
    apply_fields(np.array([field.numbers()]), place[None], np.zeros((1, 3)), np.ones(1), 1e-6, ours)
    assert pushed() / size == pytest.approx(ours[0], rel=0.005, abs=0.002)
