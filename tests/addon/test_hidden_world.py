"""Blender's rigid bodies in a hidden scene: they are pushed as Newton says, and move on their own as in the user's scene."""

import bpy
import numpy as np
import pytest
from mathutils import Quaternion
from tendril.addon.bridge import bullet, rigid_bodies
from tendril.addon.bridge.bullet import HiddenWorld

RATE = 240.0
MAKERS = {
    "SPHERE": "primitive_uv_sphere_add",
    "CAPSULE": "primitive_uv_sphere_add",
    "CYLINDER": "primitive_cylinder_add",
    "CONE": "primitive_cone_add",
}


def make_body(shape="BOX", at=(0.0, 0.0, 0.0), size=(0.2, 0.3, 0.5), turned=(0.0, 0.0, 0.0), kind="ACTIVE", **settings):
    getattr(bpy.ops.mesh, MAKERS.get(shape, "primitive_cube_add"))()
    obj = bpy.context.object
    for vertex in obj.data.vertices:
        vertex.co *= 0.5
        vertex.co = [c * s for c, s in zip(vertex.co, size, strict=True)]
    obj.location, obj.rotation_euler = at, turned
    assert bpy.ops.rigidbody.object_add(type=kind) == {"FINISHED"}
    body = obj.rigid_body
    body.collision_shape, body.linear_damping, body.angular_damping = shape, 0.0, 0.0
    for name, value in settings.items():
        setattr(body, name, value)
    bpy.context.view_layer.update()
    return obj


def hidden(*objects, exchanges=10):
    """The world with these as the bodies to be pushed, and all others where they are."""
    scene = bpy.context.scene
    dynamic = {rigid_bodies.key_of(obj): obj.matrix_world.copy() for obj in objects}
    fixed = {rigid_bodies.key_of(obj): obj.matrix_world.copy() for obj in rigid_bodies.bodies_in(scene)}
    return HiddenWorld(scene, dynamic, {k: m for k, m in fixed.items() if k not in dynamic}, exchanges, len(dynamic))


def run(world, steps, force=lambda t: (0, 0, 0), torque=lambda t: (0, 0, 0), bodies=1):
    """(steps, bodies, 4, 4): forces are those on the first body."""
    found = []
    for k in range(steps):
        rest = np.zeros((bodies - 1, 3))
        forces, torques = (np.vstack([[f(k / RATE)], rest]).astype(float) for f in (force, torque))
        found.append([np.array(matrix) for matrix in world.step(forces, torques, {})])
    return np.array(found)


def rotation_vector(after, before):
    """Of the way from one matrix to the other."""
    turned = after[:3, :3] / np.linalg.norm(after[:3, :3], axis=0) @ before[:3, :3].T
    w = 0.5 * np.array([turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0], turned[1, 0] - turned[0, 1]])
    return w * np.arcsin(min(np.linalg.norm(w), 1.0)) / max(np.linalg.norm(w), 1e-30)


def settings(obj):
    """Moments of inertia and pose, as the core gets them."""
    body = rigid_bodies.describe_body(obj, bpy.context.scene, bpy.context.evaluated_depsgraph_get())
    return np.diag(body.inertia), body.rotation


def test_a_body_follows_the_force_on_it_and_its_neighbour_does_not():
    pushed, other = make_body(mass=2.0, at=(1, 2, 3)), make_body(mass=2.0, at=(1, 2.4, 3))
    steps = 480

    def force(t):
        return np.array([3.0 * np.cos(4.0 * t), -1.0, 20.0 + 5.0 * np.sin(7.0 * t)])

    found = run(hidden(pushed, other), steps, force, bodies=2)[:, :, :3, 3]
    x, v = np.array([[1, 2, 3], [1, 2.4, 3]], dtype=float), np.zeros((2, 3))
    for k in range(steps):
        v += np.array([force(k / RATE) / 2.0, np.zeros(3)]) / RATE + np.array([0, 0, -9.81]) / RATE
        x += v / RATE
        np.testing.assert_allclose(found[k], x, atol=2e-5)
    assert np.linalg.norm(x[0] - x[1]) > 3.0


@pytest.mark.parametrize("shape", ["BOX", "SPHERE", "CAPSULE", "CYLINDER", "CONE", "CONVEX_HULL", "MESH"])
@pytest.mark.parametrize(("margin", "scale"), [(None, 1.0), (0.02, 1.0), (None, 3.0)])
def test_the_inertia_is_what_blender_turns_the_body_by(shape, margin, scale):
    bpy.context.scene.use_gravity = False
    more = {} if margin is None else {"use_margin": True, "collision_margin": margin}
    size = (0.3, 0.3, 0.5) if shape in ("CAPSULE", "CYLINDER", "CONE") else (0.2, 0.3, 0.5)
    obj = make_body(shape, size=size, turned=(0.3, -0.4, 1.0), mass=2.0, **more)
    obj.scale = (scale, scale, 2.0 * scale)
    bpy.context.view_layer.update()
    (inertia, turned), steps = settings(obj), 12
    for axis in range(3):
        torque = 0.2 * inertia[axis] * RATE * turned[:, axis]
        found = run(hidden(obj), steps, torque=lambda _, torque=torque: torque)
        angle = rotation_vector(found[-1, 0], turned) @ turned[:, axis]
        np.testing.assert_allclose(angle, 0.2 / RATE * steps * (steps + 1) / 2, rtol=2e-4)


def test_a_body_follows_a_torque_that_changes_its_direction():
    bpy.context.scene.use_gravity = False
    obj = make_body(size=(0.2, 0.4, 0.6), turned=(0.5, 1.0, -0.7), mass=2.0)
    (moments, start), steps = settings(obj), 480

    def torque(t):
        return 0.02 * np.array([np.sin(3.0 * t), np.cos(5.0 * t), np.sin(4.0 * t + 1.0)])

    found = run(hidden(obj), steps, torque=torque)[:, 0]
    turned, spin = start, np.zeros(3)
    for k in range(steps):
        inertia = turned @ np.diag(moments) @ turned.T
        spin = spin + np.linalg.solve(inertia, torque(k / RATE) - np.cross(spin, inertia @ spin)) / RATE
        way = Quaternion(spin / np.linalg.norm(spin), np.linalg.norm(spin) / RATE)
        turned = np.array(way.to_matrix()) @ turned
        np.testing.assert_allclose(found[k, :3, :3], turned, atol=5e-4)
    assert np.linalg.norm(rotation_vector(found[-1], start)) > 0.1


def test_force_and_torque_act_while_bodies_touch():
    """A box on a floor without friction, pushed and turned about the vertical: the floor does not change either."""
    make_body(size=(4.0, 4.0, 1.0), at=(0, 0, -0.5), kind="PASSIVE", friction=0.0)
    obj = make_body(size=(0.5, 0.5, 0.25), at=(0, 0, 0.125), mass=3.0, friction=0.0)
    spin = 0.05 / settings(obj)[0][2]
    found = run(hidden(obj), 240, lambda _: (0.6, 0.0, 0.0), lambda _: (0.0, 0.0, 0.05))[-1, 0]
    np.testing.assert_allclose(found[:3, 3], [0.1 * 241 / 240, 0.0, 0.125], atol=2e-3)
    angle = np.arctan2(found[1, 0], found[0, 0])
    assert angle == pytest.approx(0.5 * spin * 241 / 240, rel=5e-3)


def test_unpushed_bodies_move_as_in_the_scene_of_the_user():
    """Contacts, a hinge, damping and the speed of the world: all that Blender does stays Blender's."""
    scene = bpy.context.scene
    make_body(size=(4.0, 4.0, 0.2), at=(0, 0, -0.1), kind="PASSIVE", friction=0.4, restitution=0.3)
    boxes = [make_body(at=(0, 0, 0.6), turned=(0.3, 0.2, 0.1), restitution=0.3, linear_damping=0.1)]
    boxes += [make_body("SPHERE", at=(0.1, 0.05, 1.3), size=(0.3, 0.3, 0.3), mass=3.0, angular_damping=0.2)]
    boxes += [make_body(at=(1.0, 0, 1.0)), make_body(at=(1.3, 0, 1.0))]
    hinge = bpy.data.objects.new("Hinge", None)
    scene.collection.objects.link(hinge)
    hinge.location, hinge.rotation_euler = (1.15, 0, 1.2), (1.5707963, 0, 0)
    bpy.context.view_layer.objects.active = hinge
    bpy.ops.rigidbody.constraint_add(type="HINGE")
    tie = hinge.rigid_body_constraint
    tie.object1, tie.object2 = boxes[2], boxes[3]
    scene.rigidbody_world.time_scale = 0.9
    scene.rigidbody_world.substeps_per_frame = 10
    scene.frame_set(1)
    world = hidden(*boxes)
    found = run(world, 10 * 24, bodies=4)[9::10]
    for frame in range(2, 26):
        scene.frame_set(frame)
        for k, box in enumerate(boxes):
            np.testing.assert_allclose(found[frame - 2, k], np.array(box.matrix_world), atol=2e-3)
    assert boxes[2].matrix_world.translation.z < 0.5


def test_a_second_world_moves_in_the_same_way_to_the_last_bit():
    make_body(size=(4.0, 4.0, 0.2), at=(0, 0, -0.1), kind="PASSIVE")
    obj = make_body(at=(0, 0, 0.5), turned=(0.1, 0.4, 0.0))

    def push(t):
        return np.array([np.sin(9.0 * t), np.cos(5.0 * t), np.sin(3.0 * t)])

    runs = [run(hidden(obj), 240, push, lambda t: 0.02 * push(1.3 * t)) for _ in range(2)]
    np.testing.assert_array_equal(*runs)


def test_a_passive_body_that_moves_pushes():
    floor = make_body(size=(4.0, 4.0, 0.2), at=(0, 0, -0.1), kind="PASSIVE", kinematic=True)
    obj = make_body(at=(0, 0, 0.26))
    world = hidden(obj)
    for k in range(120):
        lifted = floor.matrix_world.copy()
        lifted.translation.z += 0.3 * (k + 1) / 120
        (matrix,) = world.step(np.zeros((1, 3)), np.zeros((1, 3)), {rigid_bodies.key_of(floor): lifted})
    assert matrix.translation.z == pytest.approx(0.55, abs=0.02)


def test_nothing_of_it_is_left():
    obj = make_body()
    before = [len(group) for group in (bpy.data.objects, bpy.data.scenes, bpy.data.collections, bpy.data.meshes)]
    members = set(bpy.context.scene.rigidbody_world.collection.objects)
    run(hidden(obj), 3)
    bullet.remove_hidden()
    after = [len(group) for group in (bpy.data.objects, bpy.data.scenes, bpy.data.collections, bpy.data.meshes)]
    assert before == after
    assert set(bpy.context.scene.rigidbody_world.collection.objects) == members
