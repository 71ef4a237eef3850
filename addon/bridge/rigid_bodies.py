"""Blender's rigid bodies as they are set: who takes part, mass, inertia, where they stand."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import bpy
import numpy as np

from ...core import TendrilError
from .poses import Array, metres_per_unit, rigid_pose, scaled

# Rods and bodies exchange forces at least so often a second: less often, ropes under load become springy or explode.
EXCHANGES_PER_SECOND = 240.0
# Blender takes rigid bodies of meshes alone.
BODY_TYPE = "MESH"


@dataclass(frozen=True)
class BodyDescription:
    """An active rigid body at the start frame, in metres. Holds no reference to Blender's data."""

    name: str
    mass: float  # kg
    inertia: Array  # (3,) kg m2, about the object's own axes, as Bullet has it
    friction: float
    linear_damping: float  # 1/s
    angular_damping: float
    pose: Array  # (4, 4) without scale


def key_of(obj: bpy.types.Object) -> str:
    """Tells a body from all other objects for as long as Blender runs, whatever it is called."""
    return f"body {obj.session_uid}"


def world_of(scene: bpy.types.Scene) -> bpy.types.RigidBodyWorld | None:
    """The scene's rigid body world, if bodies move in it."""
    world = scene.rigidbody_world
    return world if world is not None and world.enabled and world.collection is not None else None


def bodies_in(scene: bpy.types.Scene) -> Iterator[bpy.types.Object]:
    """All rigid bodies of the scene, active and passive."""
    world = world_of(scene)
    if world is not None:
        for obj in world.collection.objects:
            if obj.type == BODY_TYPE and obj.rigid_body is not None and obj.name in scene.objects:
                yield obj


def is_dynamic(obj: bpy.types.Object) -> bool:
    """Whether forces move it: it is active, and neither animated nor switched off. A body that Tendril moves is one, though it is
    shown as an animated one meanwhile."""
    body = obj.rigid_body
    if body is None or body.type != "ACTIVE":
        return False
    return obj.tendril_body.moved or (body.enabled and not body.kinematic)


def dynamic_bodies(scene: bpy.types.Scene) -> Iterator[bpy.types.Object]:
    return (obj for obj in bodies_in(scene) if is_dynamic(obj))


def describe_body(obj: bpy.types.Object, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> BodyDescription:
    """Raises TendrilError for one that can't be followed."""
    body = obj.rigid_body
    pose = scaled(obj.evaluated_get(depsgraph).matrix_world, scene)
    return BodyDescription(
        name=obj.name,
        mass=body.mass,
        inertia=inertia_of(obj, depsgraph) * metres_per_unit(scene) ** 2,
        friction=body.friction,
        linear_damping=_rate(body.linear_damping),
        angular_damping=_rate(body.angular_damping),
        pose=rigid_pose(pose, f'the scale of "{obj.name}"'),
    )


def settings_of_bodies(scene: bpy.types.Scene) -> tuple[object, ...]:
    """All that makes a difference, quick enough for drawing a panel."""
    world = world_of(scene)
    if world is None:
        return ()
    weights = world.effector_weights
    shared = (world.time_scale, world.substeps_per_frame, world.solver_iterations, world.use_split_impulse)
    bodies = tuple((key_of(obj), is_dynamic(obj), *_body_settings(obj.rigid_body)) for obj in bodies_in(scene))
    ties = tuple(tuple(values_of(obj.rigid_body_constraint).items()) for obj in constraints_in(scene))
    return (*shared, weights.gravity if weights else 1.0, bodies, repr(ties))


def constraints_in(scene: bpy.types.Scene) -> Iterator[bpy.types.Object]:
    world = world_of(scene)
    if world is not None and world.constraints is not None:
        for obj in world.constraints.objects:
            if obj.rigid_body_constraint is not None:
                yield obj


def values_of(struct: bpy.types.bpy_struct, skip: tuple[str, ...] = ()) -> dict[str, object]:
    """All that can be set of something, by name."""
    values: dict[str, object] = {}
    for prop in struct.bl_rna.properties:
        if not prop.is_readonly and prop.identifier not in skip and prop.type != "COLLECTION":
            value = getattr(struct, prop.identifier)
            values[prop.identifier] = tuple(value) if getattr(prop, "is_array", False) else value
    return values


def exchanges_per_frame(scene: bpy.types.Scene, substeps: int) -> int:
    """How often rods and bodies exchange forces: as often as Blender or the rods step, and often enough."""
    world, rate = world_of(scene), scene.render.fps / scene.render.fps_base
    enough = math.ceil(EXCHANGES_PER_SECOND * (world.time_scale if world else 1.0) / rate - 1e-9)
    return max(enough, substeps, world.substeps_per_frame if world else 1)


def inertia_of(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Array:
    """(3,) kg m2 in units of the scene: what Bullet makes of the shape, whose centre of mass is the object's origin."""
    body = obj.rigid_body
    size = np.array(obj.evaluated_get(depsgraph).dimensions, dtype=np.float64)
    if not np.all(np.isfinite(size)) or size.max() <= 0.0:
        raise TendrilError(f'the mesh of "{obj.name}"', "empty", "a rigid body needs a mesh with some size")
    shape, mass, margin = body.collision_shape, body.mass, body.collision_margin if body.use_margin else 0.04
    if shape == "SPHERE":
        return np.full(3, 0.1 * mass * size.max() ** 2)
    round_size = np.array([max(size[0], size[1])] * 2 + [size[2]])
    if shape == "CYLINDER":
        radius, height = 0.5 * round_size[0], size[2]
        across = mass * (3.0 * radius**2 + height**2) / 12.0
        return np.array([across, across, 0.5 * mass * radius**2])
    if shape == "CAPSULE":
        return _box(mass, np.array([*round_size[:2], max(size[2], round_size[0])]))
    if shape == "CONE":
        return _box(mass, round_size + 4.0 * margin)
    if shape == "MESH":
        return 3.0 * _box(mass, size)
    own_margin = 2.0 * margin if shape == "CONVEX_HULL" and body.use_margin else 0.0
    return _box(mass, size + own_margin)


def _box(mass: float, size: Array) -> Array:
    x, y, z = size**2
    return mass / 12.0 * np.array([y + z, z + x, x + y])


def _rate(damping: float) -> float:
    """Blender's damping is the part of the speed that is lost in a second."""
    return -math.log(max(1.0 - damping, 1e-12))


def _body_settings(body: bpy.types.RigidBodyObject) -> tuple[object, ...]:
    return tuple(values_of(body, skip=("kinematic",)).values())
