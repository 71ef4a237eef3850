"""Input that hair can't do much with: one clear message, nothing lost, everything else continues."""

from itertools import pairwise

import bpy
import numpy as np
from tendril.addon import memory
from tendril.addon.bridge.curves import drawn_rows, read_rows
from tendril.tests.addon.building import make_mesh, make_rod, play, status
from tendril.tests.addon.test_guides import make_groom


def test_a_head_scaled_to_zero_is_told_and_other_rods_go_on():
    head = make_mesh(at=(0.0, 0.0, 0.0), collide=False, cuts=4)
    for frame, scale in ((1, 1.0), (4, 1.0), (5, 0.0), (8, 0.0), (9, 1.0)):
        head.scale = (scale,) * 3
        head.keyframe_insert("scale", frame=frame)
    obj, rope = make_groom(strands=60, surface=head), make_rod()
    bpy.context.view_layer.objects.active = obj
    bpy.ops.tendril.simulate_guides(count=10)
    drawn, moved, told = drawn_rows(obj.data).copy(), [], set()
    for frame in range(1, 16):
        bpy.context.scene.frame_set(frame)
        told.add(status(obj))
        moved.append(read_rows(rope.data).copy())
        assert np.isfinite(read_rows(obj.data)).all()
    assert any("the surface" in message and "collapsed" in message for message in told), told
    assert status(rope) == ""
    assert all(np.abs(a - b).max() > 0.0 for a, b in pairwise(moved[1:]))
    assert np.array_equal(drawn_rows(obj.data), drawn)


def test_a_teleport_at_frame_two_leaves_hair_on_its_head():
    head = make_mesh(at=(0.0, 0.0, 0.0), collide=False, cuts=4)
    for frame, x in ((1, 0.0), (2, 30.0)):
        head.location.x = x
        head.keyframe_insert("location", frame=frame)
    bpy.context.scene.tendril.air_density = 1.2
    obj = make_groom(strands=60, surface=head)
    bpy.ops.tendril.simulate_guides(count=10)
    shown = play(obj, 60)
    rows = shown[60].reshape(60, 10, 3)
    assert np.isfinite(rows).all()
    assert np.abs(rows[:, 0] - shown[1].reshape(60, 10, 3)[:, 0] - [30.0, 0.0, 0.0]).max() < 1e-4
    length = np.linalg.norm(np.diff(rows, axis=1), axis=2).sum(axis=1)
    assert length.max() < 0.15  # the strands are 0.1 m long
    assert memory.info(bpy.context.scene)


def test_a_thick_collider_does_not_push_out_the_hair_that_grows_on_it():
    """Blender's Collision physics begins with 2 cm, in which short hair would be all inside."""
    head = make_mesh(size=0.5, height=0.2, at=(0.0, 0.0, 0.0), collide=False)
    wall = make_mesh("Wall", size=0.5, height=0.2, at=(2.0, 0.0, 0.0), collide=False)
    for mesh in (head, wall):
        mesh.modifiers.new("Collision", "COLLISION")
        assert np.isclose(mesh.collision.thickness_outer, 0.02)
    obj = make_groom(strands=60, length=0.03, surface=head, radius=5e-5, material="HUMAN_HAIR", use_sag_free=True)
    bpy.ops.tendril.simulate_guides(count=10)
    shown = play(obj, 6)
    assert np.abs(shown[6] - shown[1]).max() < 1e-4
    of_head, of_wall = memory.running_of(bpy.context.scene).description.colliders.values()
    assert of_head.thickness < 1e-6
    assert np.isclose(of_wall.thickness, 0.02)
    (note,) = memory.notes(bpy.context.scene)
    assert note.startswith(f'"{head.name}" collides with a thickness of')
    assert "converged" not in memory.info(bpy.context.scene)
