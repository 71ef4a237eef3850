"""Blender's own rigid body engine (Bullet), stepped one exchange of forces at a time in a hidden scene.

The hidden scene has copies of all bodies, passive ones included, and of their constraints. Its frame rate is that of the user's
scene times the exchanges per frame, with one substep, so that each of its frames is one exchange. Python has no access to forces
on bodies; they are applied indirectly:

- force: a WIND field without flow, noise and falloff that moves with the body and has a very short range;
- torque: two MOTOR constraints between the body and idle bodies. A motor turns the body about the first axis of the idle body,
  projected perpendicular to an axis of the body, with its maximum torque. One motor acts across the body's z axis and one along it.

After the first step constraints must not be written: Blender would create the constraint again and keep the old one as well. The
motors therefore read their torque through a driver from a value without other meaning, the location of their idle body. Drivers and
fields are evaluated before the frame change, because during it their order relative to the bodies is not defined.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

from .poses import Array
from .rigid_bodies import MAX_FRAME_RATE, bodies_in, constraints_in, key_of, values_of, world_of

# A leading dot hides it in Blender's menus.
HIDDEN = ".Tendril Bodies"
FIELD_RANGE = 1e-3  # scene units
MOTOR_SPEED = 1e6  # rad/s: a target that is never reached, so that motors always apply their maximum torque
MAX_FRAMES = 1_000_000
# Axes of the second motor's constraint in the frame of the body: its third axis is the body's first.
ACROSS = Matrix(((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)))


class WorldLost(Exception):
    """The hidden scene was removed by undo or by the user."""


@dataclass
class _Motor:
    idle: bpy.types.Object
    inverse_start: Quaternion  # inverse rotation of the constraint at the start
    strength: float = 0.0

    def push(self, torque: Vector) -> None:
        strength = torque.length
        if strength > 0.0:
            self.idle.rotation_quaternion = torque.to_track_quat("X", "Z") @ self.inverse_start
        if strength != self.strength:
            self.idle.location.x = self.strength = strength


@dataclass
class _Pushed:
    """A body that rods act on, with the field and the motors that apply their forces."""

    copy: bpy.types.Object
    field: bpy.types.Object
    motors: tuple[_Motor, _Motor]
    strength: float = 0.0

    def push(self, matrix: Matrix, force: Vector, torque: Vector, fields_rate: float) -> None:
        strength = force.length
        if strength > 0.0:
            self.field.location = matrix.translation
            self.field.rotation_quaternion = force.to_track_quat("Z", "Y")
        if strength != self.strength:
            self.strength = strength
            self.field.field.strength = strength * fields_rate
        axis = matrix.to_quaternion() @ Vector((0.0, 0.0, 1.0))
        along = torque.dot(axis) * axis
        self.motors[0].push(torque - along)
        self.motors[1].push(along)


_generation = 0  # hidden worlds of an earlier generation are invalid


def is_hidden(scene: bpy.types.Scene) -> bool:
    return scene.name.startswith(HIDDEN)


def invalidate() -> None:
    """Removes the hidden world, whose references to Blender's data are invalid after undo or when another file is opened."""
    global _generation
    _generation += 1
    remove_hidden()


class HiddenWorld:
    """Copies of a scene's rigid bodies. Lengths are in scene units."""

    def __init__(
        self,
        scene: bpy.types.Scene,
        dynamic: Mapping[str, Matrix],
        fixed: Mapping[str, Matrix],
        exchanges: int,
        pushed: int,
        pulled: Collection[str] = (),
    ) -> None:
        """`dynamic` and `fixed` bodies with their world matrices, by key; rods act on the first `pushed` of the dynamic ones.
        Bodies in `pulled`, which rods are attached to, are never deactivated."""
        invalidate()
        self._generation = _generation
        hidden = bpy.data.scenes.new(HIDDEN)
        with bpy.context.temp_override(scene=hidden, view_layer=hidden.view_layers[0]):
            bpy.ops.rigidbody.world_add()
        self._scene, self._rate = hidden, scene.render.fps * exchanges
        self._bodies, self._ties = (bpy.data.collections.new(HIDDEN) for _ in range(2))
        _set_up(hidden, scene, self._bodies, self._ties)
        self._copies: dict[str, bpy.types.Object] = {}
        by_name: dict[str, bpy.types.Object] = {}
        depsgraph = scene.view_layers[0].depsgraph
        for obj in bodies_in(scene):
            key = key_of(obj)
            if key in dynamic or key in fixed:
                copy = self._copy(obj, dynamic.get(key) or fixed[key], key in dynamic, depsgraph)
                self._copies[key] = by_name[obj.name] = copy
        for obj in constraints_in(scene):
            self._copy_constraint(obj, by_name, depsgraph)
        self._dynamic = [self._copies[key] for key in dynamic]
        for key in pulled:  # motors do not reactivate a body
            self._copies[key].rigid_body.use_deactivation = False
        self._pushed = [self._make_pushed(copy) for copy in self._dynamic[:pushed]]
        self._start(scene)

    def _copy(
        self, obj: bpy.types.Object, matrix: Matrix, dynamic: bool, depsgraph: bpy.types.Depsgraph
    ) -> bpy.types.Object:
        mesh = obj.data
        if obj.modifiers and obj.rigid_body.mesh_source != "BASE":
            mesh = bpy.data.meshes.new_from_object(obj.evaluated_get(depsgraph), depsgraph=depsgraph)
            mesh.name = HIDDEN
        copy = _new_object(mesh, matrix)
        self._bodies.objects.link(copy)  # linking makes it a rigid body
        for name, value in values_of(obj.rigid_body, skip=("mesh_source", "use_deform")).items():
            setattr(copy.rigid_body, name, value)
        copy.rigid_body.kinematic = not dynamic
        copy.rigid_body.enabled = True if dynamic else obj.rigid_body.enabled
        return copy

    def _copy_constraint(
        self, obj: bpy.types.Object, copies: Mapping[str, bpy.types.Object], depsgraph: bpy.types.Depsgraph
    ) -> None:
        tie = obj.rigid_body_constraint
        ends = [copies.get(end.name) if end is not None else None for end in (tie.object1, tie.object2)]
        if None in ends:
            return
        copy = _new_object(None, obj.evaluated_get(depsgraph).matrix_world)
        self._ties.objects.link(copy)
        for name, value in values_of(tie, skip=("object1", "object2")).items():
            setattr(copy.rigid_body_constraint, name, value)
        copy.rigid_body_constraint.object1, copy.rigid_body_constraint.object2 = ends

    def _make_pushed(self, copy: bpy.types.Object) -> _Pushed:
        field = _new_object(None, copy.matrix_basis)
        self._scene.collection.objects.link(field)
        with bpy.context.temp_override(
            scene=self._scene, view_layer=self._scene.view_layers[0], object=field, active_object=field
        ):
            bpy.ops.object.forcefield_toggle()
        wind = field.field
        wind.type, wind.shape, wind.strength = "WIND", "POINT", 0.0
        wind.flow, wind.noise, wind.falloff_power = 0.0, 0.0, 0.0
        wind.use_max_distance, wind.distance_max = True, FIELD_RANGE
        motors = self._make_motor(copy, Matrix.Identity(3)), self._make_motor(copy, ACROSS)
        return _Pushed(copy, field, motors)

    def _make_motor(self, copy: bpy.types.Object, axes: Matrix) -> _Motor:
        mesh = bpy.data.meshes.get(HIDDEN + " Idle") or _small_mesh()
        idle = _new_object(mesh, Matrix.Identity(4))
        self._bodies.objects.link(idle)
        body = idle.rigid_body
        body.type, body.kinematic, body.collision_shape = "PASSIVE", True, "BOX"
        body.collision_collections = [False] * 20
        turned = (copy.rotation_quaternion.to_matrix() @ axes).to_quaternion()
        at = _new_object(None, Matrix.LocRotScale(copy.location, turned, None))
        self._ties.objects.link(at)
        tie = at.rigid_body_constraint
        tie.type, tie.object1, tie.object2 = "MOTOR", copy, idle
        tie.use_motor_ang, tie.motor_ang_target_velocity, tie.motor_ang_max_impulse = True, MOTOR_SPEED, 0.0
        channel: Any = at.driver_add("rigid_body_constraint.motor_ang_max_impulse")
        driver = channel.driver
        driver.type = "AVERAGE"
        variable = driver.variables.new()
        variable.targets[0].id, variable.targets[0].data_path = idle, "location.x"
        return _Motor(idle, turned.inverted())

    def _start(self, scene: bpy.types.Scene) -> None:
        """Runs an ineffective first step, in which Blender creates the bodies with the current orientation of the motors."""
        hidden = self._scene
        hidden.use_gravity, hidden.render.fps = False, MAX_FRAME_RATE
        hidden.view_layers[0].update()
        for frame in (0, 1, 2):
            hidden.frame_set(frame)
        hidden.use_gravity, hidden.render.fps = scene.use_gravity, self._rate

    def step(self, forces: Array, torques: Array, fixed: Mapping[str, Matrix]) -> list[Matrix]:
        """Steps one exchange under forces and torques on the pushed bodies, with kinematic bodies at `fixed` at its end. Returns
        the world matrices of the dynamic bodies. Raises WorldLost."""
        if self._generation != _generation:
            raise WorldLost
        try:
            hidden = bpy.data.scenes[HIDDEN]
            layer = hidden.view_layers[0]
            rate = self._rate / hidden.render.fps_base
            for pushed, force, torque in zip(self._pushed, forces, torques, strict=True):
                pushed.push(pushed.copy.matrix_world, Vector(force), Vector(torque), rate)
            for key, matrix in fixed.items():
                _place(self._copies[key], matrix)
            layer.update()
            hidden.frame_set(hidden.frame_current + 1)
            depsgraph = layer.depsgraph
            return [copy.evaluated_get(depsgraph).matrix_world.copy() for copy in self._dynamic]
        except (KeyError, ReferenceError):
            raise WorldLost from None


def remove_hidden() -> None:
    """Removes the hidden scene and all its data."""
    if HIDDEN in bpy.data.scenes:
        bpy.data.scenes.remove(bpy.data.scenes[HIDDEN])
    for group in (bpy.data.objects, bpy.data.collections, bpy.data.meshes):
        bpy.data.batch_remove([one for one in group if one.name.startswith(HIDDEN)])


def _set_up(
    hidden: bpy.types.Scene,
    scene: bpy.types.Scene,
    bodies: bpy.types.Collection,
    ties: bpy.types.Collection,
) -> None:
    hidden.render.fps_base, hidden.gravity = scene.render.fps_base, scene.gravity
    world, own = hidden.rigidbody_world, world_of(scene)
    assert own is not None, "a hidden world is made of a scene with a rigid body world"
    world.collection, world.constraints = bodies, ties
    for collection in (bodies, ties):
        hidden.collection.children.link(collection)
    for name, value in values_of(own, skip=("collection", "constraints", "enabled")).items():
        setattr(world, name, value)
    world.substeps_per_frame = 1
    world.point_cache.frame_start, world.point_cache.frame_end = 1, MAX_FRAMES
    if own.effector_weights is not None:
        for name, value in values_of(own.effector_weights, skip=("collection",)).items():
            setattr(world.effector_weights, name, value)
    world.effector_weights.wind = world.effector_weights.all = 1.0


def _new_object(data: bpy.types.Mesh | None, matrix: Matrix) -> bpy.types.Object:
    obj = bpy.data.objects.new(HIDDEN, data)
    obj.rotation_mode = "QUATERNION"
    _place(obj, matrix)
    return obj


def _place(obj: bpy.types.Object, matrix: Matrix) -> None:
    obj.location, obj.rotation_quaternion, obj.scale = matrix.decompose()


def _small_mesh() -> bpy.types.Mesh:
    mesh = bpy.data.meshes.new(HIDDEN + " Idle")
    corners = np.indices((2, 2, 2)).reshape(3, -1).T * 0.01
    mesh.from_pydata(corners.tolist(), [], [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6)])
    return mesh
