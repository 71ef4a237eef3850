"""What rods collide with: the meshes of a collection, as modifiers, parents and animation leave them in each frame."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import Mesh, TendrilError
from .meshes import read_mesh
from .poses import Array, metres_per_unit
from .rigid_bodies import bodies_in, dynamic_bodies, is_dynamic, thickness_of
from .rigid_bodies import key_of as key_of_body
from .rods import pushed_bodies

# Blender gives the friction of its Collision physics in hundredths.
BLENDER_FRICTION = 0.01


@dataclass(frozen=True)
class ColliderDescription:
    """A mesh at the start frame. Holds no reference to Blender's data."""

    name: str
    shape: Mesh
    corners: NDArray[np.int32]  # vertices of all faces, one face after the other: the same for the same topology
    thickness: float  # m
    friction: float
    pose: Array  # (4, 4), to notice a change of the animation


def colliders_of(scene: bpy.types.Scene) -> Iterator[bpy.types.Object]:
    """Those of the collection, without one all that have Collision physics; and rigid bodies that do not move with the rods."""
    for obj in _chosen(scene):
        if not obj.tendril.enabled:  # rods collide with each other on their own terms
            yield obj
    if scene.tendril.use_rigid_bodies:
        chosen, together = set(_chosen(scene)), bool(pushed_bodies(scene))
        for obj in bodies_in(scene):
            if obj not in chosen and not (together and is_dynamic(obj)):
                yield obj


def is_chosen(obj: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """Whether it is in the collection of colliders."""
    collection = scene.tendril.colliders
    return collection is not None and obj in set(collection.all_objects)


def _chosen(scene: bpy.types.Scene) -> Collection[bpy.types.Object]:
    collection = scene.tendril.colliders
    return with_collision_physics(scene) if collection is None else collection.all_objects


def with_collision_physics(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """What Blender's own physics collides with."""
    return [obj for obj in scene.objects if obj.type == "MESH" and has_collision_physics(obj)]


def key_of(obj: bpy.types.Object) -> str:
    """Tells a collider from all other objects for as long as Blender runs, whatever it is called."""
    return f"collider {obj.session_uid}"


def read_colliders(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph
) -> tuple[dict[str, ColliderDescription], list[str]]:
    """The colliders as they are now, and a sentence for each that is ignored."""
    found: dict[str, ColliderDescription] = {}
    notes: list[str] = []
    for obj in colliders_of(scene):
        problem = _why_ignored(obj, depsgraph)
        if problem is None:
            try:
                found[key_of(obj)] = _describe(obj, scene, depsgraph)
            except TendrilError as error:
                problem = f'The mesh of "{obj.name}" is ignored as a collider: {error.cure}'
        if problem is not None:
            notes.append(problem)
        elif obj.is_instancer:
            notes.append(f'"{obj.name}" makes instances, which rods pass through: make them real')
    return found, notes


def read_moving(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> dict[str, ColliderDescription]:
    """The rigid bodies that move with the rods without one acting on them, by the keys of bodies."""
    pushed, found = pushed_bodies(scene), {}
    for obj in dynamic_bodies(scene) if scene.tendril.use_rigid_bodies else ():
        if obj not in pushed and _why_ignored(obj, depsgraph) is None:
            found[key_of_body(obj)] = _describe(obj, scene, depsgraph)
    return found


def moved_colliders(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, known: Mapping[str, ColliderDescription]
) -> tuple[dict[str, Array], list[str]]:
    """Where the vertices of the known colliders are now, and a sentence for each that can't be followed."""
    places: dict[str, Array] = {}
    notes: list[str] = []
    for obj in colliders_of(scene):
        described = known.get(key_of(obj))
        if described is None or _why_ignored(obj, depsgraph) is not None:
            continue
        mesh = read_mesh(obj.evaluated_get(depsgraph), metres_per_unit(scene))
        if len(mesh.vertices) == len(np.asarray(described.shape.vertices)) and np.array_equal(
            mesh.corners, described.corners
        ):
            places[key_of(obj)] = mesh.vertices
        else:
            notes.append(f'The mesh of "{obj.name}" has other faces than at the start: it is not followed any more')
    return places, notes


def poses_of_colliders(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> dict[str, Array]:
    return {key_of(obj): _matrix(obj.evaluated_get(depsgraph)) for obj in colliders_of(scene)}


def settings_of_colliders(scene: bpy.types.Scene) -> tuple[object, ...]:
    return tuple((key_of(obj), *_surface(obj, scene)) for obj in colliders_of(scene))


def has_collision_physics(obj: bpy.types.Object) -> bool:
    return obj.collision is not None and obj.collision.use


def _surface(obj: bpy.types.Object, scene: bpy.types.Scene) -> tuple[float, float]:
    """Thickness in units of the scene, and friction."""
    if has_collision_physics(obj):
        return obj.collision.thickness_outer, BLENDER_FRICTION * obj.collision.cloth_friction
    if obj.rigid_body is not None and not is_chosen(obj, scene):
        return thickness_of(obj), obj.rigid_body.friction
    return obj.tendril_collider.thickness, obj.tendril_collider.friction


def _why_ignored(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> str | None:
    if obj.type != "MESH":
        return f'"{obj.name}" is no mesh and is ignored as a collider'
    if not obj.evaluated_get(depsgraph).is_evaluated:
        return f'"{obj.name}" is disabled in viewports or renders and is ignored as a collider'
    return None


def _describe(obj: bpy.types.Object, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> ColliderDescription:
    evaluated, scale = obj.evaluated_get(depsgraph), metres_per_unit(scene)
    mesh, pose = read_mesh(evaluated, scale), _matrix(evaluated)
    if not len(mesh.triangles):
        raise TendrilError("mesh", obj.name, "it has no faces")
    mirrored = np.linalg.det(pose[:3, :3]) < 0.0  # its outside stays outside
    shape = Mesh(mesh.vertices, mesh.triangles[:, ::-1] if mirrored else mesh.triangles)
    thickness, friction = _surface(obj, scene)
    return ColliderDescription(obj.name, shape, mesh.corners, thickness * scale, friction, pose)


def _matrix(evaluated: bpy.types.Object) -> Array:
    return np.array(evaluated.matrix_world, dtype=np.float64)
