"""What is set on Blender's rigid bodies counts when they move with the rods, as it does in Blender alone."""

import functools

import bpy
import numpy as np
import pytest
from tendril.addon import memory
from tendril.tests.addon.building import activate
from tendril.tests.addon.test_bake import key_rows
from tendril.tests.addon.test_hidden_world import make_body
from tendril.tests.addon.test_pushed_bodies import wrecking_rope
from tendril.tests.addon.test_rigid_bodies import play_bodies, rope

LAST = 20


def only(*numbers):
    return [k in numbers for k in range(20)]


def tilted_floor():
    floor = make_body(size=(4.0, 4.0, 0.2), at=(0.0, 0.0, -0.1), turned=(0.0, 0.25, 0.0), kind="PASSIVE", friction=0.8)
    floor.rigid_body.restitution = 1.0
    return make_body(size=(0.3, 0.3, 0.2), at=(0.0, 0.0, 0.4), turned=(0.0, 0.25, 0.0), mass=2.0, friction=0.8)


def set_body(**settings):
    def change(box):
        for name, value in settings.items():
            setattr(box.rigid_body, name, value)

    return change


def set_scene(**settings):
    def change(_):
        for name, value in settings.items():
            setattr(bpy.context.scene, name, value)

    return change


def set_world(**settings):
    def change(_):
        for name, value in settings.items():
            setattr(bpy.context.scene.rigidbody_world, name, value)

    return change


CHANGES = {
    "collision collections": set_body(collision_collections=only(3)),
    "friction": set_body(friction=0.0),
    "restitution": set_body(restitution=0.8),
    "linear damping": set_body(linear_damping=0.9),
    "shape": set_body(collision_shape="SPHERE"),
    "margin": set_body(collision_shape="CONVEX_HULL", use_margin=True, collision_margin=0.15),
    "gravity": set_scene(gravity=(0.0, 1.0, -3.0)),
    "no gravity": set_scene(use_gravity=False),
    "speed": set_world(time_scale=0.5),
}


def play_both(change=None):
    """Where the box goes with the rods, and in Blender alone."""
    box = tilted_floor()
    bpy.context.scene.rigidbody_world.substeps_per_frame = 10
    if change is not None:
        change(box)
    rope((0.0, 3.0, 5.0), (0.5, 3.0, 5.0))  # far away, so that nothing touches it
    together = play_bodies(LAST, box)[:, 0]
    assert memory.running_of(bpy.context.scene).engine is not None
    assert box.rigid_body.kinematic
    bpy.context.scene.frame_set(1)
    bpy.context.scene.tendril.push_bodies = False
    alone = play_bodies(LAST, box)[:, 0]
    assert memory.running_of(bpy.context.scene).engine is None
    return together, alone


@functools.cache
def plain():
    """With nothing changed."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    memory.clear()
    return play_both()[0]


@pytest.mark.parametrize("change", [None, *CHANGES])
def test_bodies_move_as_in_blender_alone(change):
    """But for half an exchange, by which positions of Blender's engine run ahead."""
    together, alone = (frames[:, :3, 3] for frames in play_both(CHANGES.get(change)))
    np.testing.assert_allclose(together, alone - np.gradient(alone, axis=0) / 20.0, atol=8e-3)
    if change is not None:
        assert np.abs(together - plain()[:, :3, 3]).max() > 0.03  # it makes a difference


def test_bodies_in_contact_play_as_they_are_baked_to_the_last_bit():
    """So the panel never has to call what is played a preview."""
    box, rod = wrecking_rope()
    make_body(size=(0.2, 0.3, 0.5), at=(0.3, 0.0, 0.25), mass=2.0)
    scene = bpy.context.scene
    scene.frame_end = LAST
    shown, places = [], []
    for frame in range(1, LAST + 1):
        scene.frame_set(frame)
        shown.append(memory.frames_of(rod.tendril.uid, scene).get(frame))
        places.append((*box.location, *box.rotation_euler))
    assert np.ptp(np.array(places), axis=0).max() > 0.2
    assert memory.info(scene) == f"{LAST} frames in memory"
    assert bpy.ops.tendril.cache_delete() == {"FINISHED"}
    scene.frame_set(1)
    activate(rod)
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    memory.clear()
    for number, rows in enumerate(key_rows(rod), start=1):
        scene.frame_set(number)
        if shown[number - 1] is not None:
            np.testing.assert_array_equal(rows, shown[number - 1])
        np.testing.assert_array_equal((*box.location, *box.rotation_euler), places[number - 1])
