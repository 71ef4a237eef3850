"""Attributes of hair for shading and motion blur, and subframes."""

import bpy
import numpy as np
from tendril.addon import memory
from tendril.addon.bridge.curves import read_rows
from tendril.tests.addon.building import make_rod, play
from tendril.tests.addon.test_guides import make_groom
from tendril.tests.addon.test_hair import make_hair


def attribute(obj, name):
    data = obj.data.attributes[name]
    width = 3 if data.data_type == "FLOAT_VECTOR" else 1
    values = np.empty(width * len(data.data), dtype=np.float32)
    data.data.foreach_get("vector" if width == 3 else "value", values)
    return values.reshape(-1, width)


def test_velocity_and_material_frame_are_those_of_the_simulation():
    obj = make_hair(use_attributes=True)
    obj.rotation_euler = (0.3, 0.2, 0.1)
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(1)
    play(obj, 8)
    frame = memory.simulation_of(bpy.context.scene).current()
    turn = np.array(obj.matrix_world)[:3, :3]
    v = np.concatenate([frame.velocities(k) for k in range(6)])
    assert np.abs(v).max() > 0.1
    assert np.abs(attribute(obj, "velocity") @ turn.T - v).max() < 1e-5
    d = np.concatenate([np.vstack([frame.directors(k), frame.directors(k)[-1:]]) for k in range(6)])
    assert np.abs(attribute(obj, "custom_normal") @ turn.T - d).max() < 1e-6
    assert np.array_equal(attribute(obj, "given_up"), np.zeros((48, 1)))
    mode = obj.data.attributes["normal_mode"]
    assert mode.domain == "CURVE"
    assert all(item.value == 2 for item in mode.data)


def test_velocity_is_per_second_of_the_scene():
    """Motion blur of slow motion: the velocity is that of the points as they are shown."""
    obj, scene = make_hair(use_attributes=True, material="CUSTOM", young_modulus=1e5), bpy.context.scene
    scene.tendril.time_scale = 0.25
    scene.frame_set(1)
    shown = play(obj, 9)
    n = len(obj.data.points)
    scene.frame_set(8)
    v = attribute(obj, "velocity")
    difference = (shown[9][:n] - shown[7][:n]) * 24.0 / 2.0
    assert np.abs(difference).max() > 0.05
    assert np.abs(v - difference).max() < 0.05 * np.abs(difference).max()


def test_children_have_the_attributes_of_their_guides():
    obj = make_groom()
    bpy.ops.tendril.simulate_guides(count=30)
    obj.tendril.use_attributes = True
    play(obj, 6)
    v = attribute(obj, "velocity").reshape(400, 10, 3)
    assert np.abs(v[:, 0]).max() < 1e-6
    assert (np.abs(v[:, -1]).max(axis=1) > 1e-3).all()
    assert np.allclose(np.linalg.norm(attribute(obj, "custom_normal"), axis=1), 1.0, atol=1e-5)


def test_attributes_can_be_removed_again():
    obj = make_hair(use_attributes=True)
    play(obj, 3)
    bpy.context.scene.frame_set(1)
    obj.tendril.use_attributes = False
    assert {"velocity", "custom_normal", "normal_mode"}.isdisjoint(obj.data.attributes.keys())


def test_subframes_are_second_order():
    """A rope in free fall: the error of a subframe is that of a chord, g dt^2 / 8 in its middle."""
    obj = make_rod(start_hold="FREE")
    scene = bpy.context.scene
    errors = []
    for rate in (24, 48):
        scene.render.fps = rate
        scene.frame_set(1)
        play(obj, 9)
        scene.frame_set(8, subframe=0.5)
        fallen = 0.5 * 9.81 * (7.5 / rate) ** 2
        errors.append(abs(float((read_rows(obj.data)[:, 2] - play_start(obj)[:, 2]).mean()) + fallen))
        scene.frame_set(1)
    assert errors[0] < 1.2 * 9.81 / 24**2 / 8
    assert errors[1] < 0.3 * errors[0]


def play_start(obj):
    return memory.running_of(bpy.context.scene).moment(1).rows[obj.tendril.uid]
