"""Rods that pull on Blender's rigid bodies, in Blender's own engine."""

import bpy
import numpy as np
import pytest
import tendril
from mathutils import Matrix
from tendril.addon import memory
from tendril.addon.bridge import bullet
from tendril.addon.bridge.curves import read_rows
from tendril.addon.bridge.rigid_bodies import exchanges_per_frame
from tendril.tests.addon.building import activate, make_rod, status
from tendril.tests.addon.test_attachments import attach
from tendril.tests.addon.test_hidden_world import make_body
from tendril.tests.addon.test_operators import refuses


def rope(start, end, count=16, **settings):
    points = np.linspace(start, end, count)
    return make_rod(("POLY", points), **{"start_hold": "PIN", "radius": 0.01, **settings})


def play_bodies(last, *objects, first=1):
    """(frames, objects, 4, 4): where they stand."""
    found = []
    for frame in range(first, last + 1):
        bpy.context.scene.frame_set(frame)
        assert not [status(rod) for rod in bpy.data.objects if rod.type == "CURVE" and status(rod)]
        found.append([np.array(obj.matrix_world) for obj in objects])
    return np.array(found)


def pendulum(**settings):
    """A ball on a rope of a metre, drawn to the side."""
    ball = make_body("SPHERE", at=(0.9, 0.0, 0.0), size=(0.2, 0.2, 0.2), mass=2.0)
    rod = rope((0.0, 0.0, 0.0), (0.8, 0.0, 0.0), **settings)
    attach(rod, ball)
    return rod, ball


def test_a_ball_swings_on_a_rope_and_its_surface_stays_at_the_rope():
    rod, ball = pendulum()
    bodies = play_bodies(25, ball)[:, 0]
    for frame, matrix in enumerate(bodies, start=1):
        bpy.context.scene.frame_set(frame)
        tied = matrix @ [-0.1, 0.0, 0.0, 1.0]
        np.testing.assert_allclose(read_rows(rod.data)[-1], tied[:3], atol=2e-4)
        assert np.linalg.norm(np.diff(read_rows(rod.data), axis=0), axis=1).sum() == pytest.approx(0.8, rel=3e-3)
    assert bodies[:, 2, 3].min() < -0.8
    assert bodies[-1, 0, 3] < -0.3
    assert ball.rigid_body.kinematic
    assert ball.tendril_body.moved


@pytest.mark.parametrize("damping", [0.0, 0.01])
def test_the_published_model_swings_a_body_by_its_own_coupling(damping):
    """Without internal damping, and although rods and bodies may collide; otherwise the panel says that steps were implicit."""
    rod, ball = pendulum(model="der2008", material="CUSTOM", young_modulus=1e8, density=1000.0, damping_time=damping)
    bodies = play_bodies(25, ball)[:, 0]
    running = memory.running_of(bpy.context.scene)
    assert running.description.bodies is not None
    notes = memory.rod_notes(bpy.context.scene, rod.tendril.uid)
    assert notes == ((memory.IMPLICIT,) if damping else ())
    x = read_rows(rod.data)
    np.testing.assert_allclose(x[-1], (bodies[-1] @ [-0.1, 0.0, 0.0, 1.0])[:3], atol=1e-3)
    lengths = np.linalg.norm(np.diff(x, axis=0), axis=1)
    np.testing.assert_allclose(lengths, lengths.mean(), rtol=1e-4)
    assert bodies[:, 2, 3].min() < -0.8
    assert bodies[-1, 0, 3] < -0.3
    heights = bodies[:, 2, 3]
    speed = np.gradient(bodies[:, :3, 3], 1.0 / 24.0, axis=0)
    energy = 0.5 * np.einsum("ij,ij->i", speed, speed) + 9.81 * heights
    assert np.abs(energy[2:-2]).max() < 0.1 * 9.81  # of a fall by a metre; finite differences of frames


def test_without_pull_and_push_the_body_falls_in_blender_and_the_rope_follows():
    rod, ball = pendulum(start_hold="FREE")
    rod.tendril.attachments[0].use_pull = False
    bpy.context.scene.tendril.push_bodies = False
    bodies = play_bodies(13, ball)[:, 0]
    assert not ball.rigid_body.kinematic
    np.testing.assert_allclose(bodies[-1, 2, 3], -0.5 * 9.81 * 0.25, atol=0.03)
    np.testing.assert_allclose(read_rows(rod.data)[-1], bodies[-1, :3, 3] - [0.1, 0, 0], atol=2e-3)
    assert memory.running_of(bpy.context.scene).engine is None


def test_the_start_frame_has_everything_as_it_was():
    _, ball = pendulum()
    ball.rotation_euler = (0.2, 0.3, 0.4)
    before = [tuple(ball.location), tuple(ball.rotation_euler)]
    play_bodies(6, ball)
    assert ball.location[2] < -0.05
    bpy.context.scene.frame_set(1)
    assert [tuple(ball.location), tuple(ball.rotation_euler)] == before
    assert not ball.rigid_body.kinematic
    assert not ball.tendril_body.moved


def test_a_second_run_and_a_run_after_undo_are_the_same_to_the_last_bit():
    _, ball = pendulum()
    bpy.ops.ed.undo_push(message="Start")
    first = play_bodies(14, ball)
    assert bpy.ops.tendril.cache_delete() == {"FINISHED"}
    np.testing.assert_array_equal(play_bodies(14, ball), first)
    bpy.context.scene.frame_set(1)
    memory.forget(bpy.context.scene)
    halfway = play_bodies(7, ball)
    bpy.ops.ed.undo_push(message="Halfway")
    bpy.data.objects["Rope"].location.z += 1.0
    bpy.ops.ed.undo_push(message="Moved")
    assert bpy.ops.ed.undo() == {"FINISHED"}
    ball = bpy.data.objects["Sphere"]
    rest = play_bodies(14, ball, first=8)
    np.testing.assert_array_equal(np.concatenate([halfway, rest]), first)


def test_undo_after_a_run_starts_over_with_the_same_motion():
    _, ball = pendulum()
    bpy.ops.ed.undo_push(message="Start")
    name = ball.name
    first = play_bodies(8, ball)
    bpy.ops.ed.undo_push(message="Played")
    bpy.ops.ed.undo()
    ball = bpy.data.objects[name]
    np.testing.assert_array_equal(play_bodies(8, ball), first)


def test_the_hidden_scene_is_gone_when_the_add_on_is_and_is_not_saved(tmp_path):
    _, ball = pendulum()
    play_bodies(4, ball)
    path = tmp_path / "saved.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    with bpy.data.libraries.load(str(path)) as (there, taken):
        assert list(there.scenes) == ["Scene"]
        assert not [name for name in there.objects if name.startswith(bullet.HIDDEN)]
        taken.objects = ["Sphere"]
    saved = taken.objects[0]
    assert tuple(saved.location) == pytest.approx((0.9, 0.0, 0.0))  # as it is without the add-on
    assert not saved.rigid_body.kinematic
    bpy.data.objects.remove(saved)
    assert ball.rigid_body.kinematic
    assert ball.location[2] < -0.01
    after = play_bodies(8, ball, first=5)
    assert np.all(np.isfinite(after))
    tendril.unregister()
    assert not [scene for scene in bpy.data.scenes if scene.name.startswith(bullet.HIDDEN)]
    assert tuple(ball.location) == pytest.approx((0.9, 0.0, 0.0))
    assert not ball.rigid_body.kinematic
    tendril.register()


def test_the_bake_is_the_live_motion_and_plays_without_the_add_on():
    rod, ball = pendulum()
    scene = bpy.context.scene
    scene.frame_end = 12
    live = play_bodies(12, ball)
    scene.frame_set(1)
    activate(rod)
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    memory.clear()
    bullet.remove_hidden()
    for frame in (1, 7, 12, 4):
        scene.frame_set(frame)
        np.testing.assert_allclose(np.array(ball.matrix_world), live[frame - 1, 0], atol=2e-6)
    assert ball.animation_data.action is not None
    assert bpy.ops.tendril.bake_delete() == {"FINISHED"}
    assert ball.animation_data.action is None
    assert not ball.rigid_body.kinematic
    scene.frame_set(1)
    np.testing.assert_allclose(np.array(ball.matrix_world), live[0, 0], atol=1e-7)
    np.testing.assert_array_equal(play_bodies(12, ball), live)


def test_a_body_that_is_animated_keeps_the_rest_of_its_animation():
    rod, ball = pendulum()
    ball.scale = (1.0, 1.0, 1.0)
    ball.keyframe_insert("hide_render", frame=1)
    action = ball.animation_data.action
    bpy.context.scene.frame_end = 5
    activate(rod)
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    assert ball.animation_data.action != action
    assert bpy.ops.tendril.bake_delete() == {"FINISHED"}
    assert ball.animation_data.action == action


def test_the_speed_of_the_world_is_that_of_the_rods():
    _, ball = pendulum()
    full = play_bodies(7, ball)
    bpy.context.scene.frame_set(1)
    bpy.context.scene.rigidbody_world.time_scale = 0.5
    slow = play_bodies(13, ball)
    np.testing.assert_allclose(slow[::2], full, atol=3e-3)


def test_units_do_not_matter():
    """A scene in centimetres moves as one in metres does."""
    rod, ball = pendulum()
    metres = play_bodies(10, ball)
    scene = bpy.context.scene
    scene.frame_set(1)
    scene.unit_settings.scale_length = 0.01
    assert scene.unit_settings.system == "METRIC"
    rod.tendril.radius = 1.0
    rod.scale = (100.0, 100.0, 100.0)
    ball.data.transform(Matrix.Scale(100.0, 4))  # Blender takes the inertia of a body without the object's scale
    ball.location = (90.0, 0.0, 0.0)
    scene.gravity = (0.0, 0.0, -981.0)
    bpy.context.view_layer.update()
    centimetres = play_bodies(10, ball)
    np.testing.assert_allclose(centimetres[:, 0, :3, 3] / 100.0, metres[:, 0, :3, 3], atol=1e-4)


def test_forces_are_exchanged_often_enough_and_never_faster_than_blender_counts():
    make_body()
    scene = bpy.context.scene
    assert exchanges_per_frame(scene, 4) == 10  # 240 a second
    scene.rigidbody_world.substeps_per_frame = 30
    assert exchanges_per_frame(scene, 4) == 30
    assert exchanges_per_frame(scene, 1000) == 1000
    scene.render.fps = 60
    assert exchanges_per_frame(scene, 1000) == 32767 // 60


def test_a_passive_body_holds_up_a_rope():
    make_body(size=(2.0, 2.0, 0.2), at=(0.5, 0.0, -0.25), kind="PASSIVE")
    rod = rope((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), start_hold="FREE")
    for frame in range(1, 20):
        bpy.context.scene.frame_set(frame)
    assert status(rod) == ""
    assert read_rows(rod.data)[:, 2].min() > -0.15
    bpy.context.scene.frame_set(1)
    bpy.context.scene.tendril.use_rigid_bodies = False
    for frame in range(1, 20):
        bpy.context.scene.frame_set(frame)
    assert read_rows(rod.data)[:, 2].max() < -1.0


def test_a_rope_lies_on_a_body_that_moves_with_the_rods_and_that_none_pulls_on():
    """A box falls on the floor, and with it a rope on top of it."""
    pendulum()
    make_body(size=(4.0, 4.0, 0.2), at=(0.0, 3.0, -1.0), kind="PASSIVE")
    box = make_body(size=(1.0, 0.5, 0.2), at=(0.0, 3.0, -0.5), mass=5.0)
    above = rope((-0.3, 3.0, -0.35), (0.3, 3.0, -0.35), start_hold="FREE")
    play_bodies(24, box)
    assert box.matrix_world.translation.z == pytest.approx(-0.8, abs=0.02)
    top = box.matrix_world.translation.z + 0.1
    rows = read_rows(above.data)
    assert rows[:, 2].min() > top - 0.003
    assert rows[:, 2].max() < top + 0.06
    bpy.context.scene.frame_set(1)
    bpy.context.scene.tendril.use_rigid_bodies = False
    play_bodies(24, box)
    assert read_rows(above.data)[:, 2].max() < top - 0.5


def test_a_rope_lets_go_of_a_body():
    rod, ball = pendulum()
    attachment = rod.tendril.attachments[0]
    for frame, influence in ((1, 1.0), (8, 1.0), (9, 0.0)):
        attachment.influence = influence
        attachment.keyframe_insert("influence", frame=frame)
    places = play_bodies(20, ball)[:, 0, :3, 3]
    falling = np.diff(places[9:], n=2, axis=0) * 24.0**2
    np.testing.assert_allclose(falling, np.tile([0.0, 0.0, -9.81], (len(falling), 1)), atol=0.05)
    assert np.abs(np.diff(places[:8], n=2, axis=0)[-1, 0]) * 24.0**2 > 1.0
    assert read_rows(rod.data)[-1, 2] > places[-1, 2] + 0.5


def test_a_body_without_size_is_told():
    ball = make_body("SPHERE", at=(0.9, 0.0, 0.0))
    ball.data.clear_geometry()
    rod = rope((0.0, 0.0, 0.0), (0.8, 0.0, 0.0))
    attach(rod, ball)
    for frame in (1, 2):
        bpy.context.scene.frame_set(frame)
    assert "non-zero size" in status(rod)
    refuses(bpy.ops.tendril.bake, "non-zero size")
