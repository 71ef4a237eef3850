"""Colliders: evaluated meshes of a collection in each frame."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import Mesh, TendrilError
from . import relevant
from .descriptions import HairDescription, RodDescription
from .meshes import read_mesh
from .poses import Array, metres_per_unit
from .rigid_bodies import bodies_in, dynamic_bodies, is_dynamic, thickness_of
from .rigid_bodies import key_of as key_of_body
from .rods import pushed_bodies

# Blender's Collision physics gives friction in percent.
BLENDER_FRICTION = 0.01


@dataclass(frozen=True)
class ColliderDescription:
    """A collider at the start frame, without references to Blender's data."""

    name: str
    shape: Mesh
    corners: NDArray[np.int32]  # vertex indices of all face corners: equal for equal topology
    thickness: float  # m
    friction: float
    pose: Array  # (4, 4), to detect a change of the animation
    note: str = ""  # what users should know about it


def colliders_of(scene: bpy.types.Scene) -> Iterator[bpy.types.Object]:
    """The meshes of the chosen collection, or all with Collision physics if none is chosen; and the rigid bodies that do not move
    with the rods."""
    for obj in _chosen(scene):
        if not obj.tendril.enabled:  # contact between rods is a setting of its own
            yield obj
    if scene.tendril.use_rigid_bodies:
        chosen, together = set(_chosen(scene)), bool(pushed_bodies(scene))
        for obj in bodies_in(scene):
            if obj not in chosen and not (together and is_dynamic(obj)):
                yield obj


def is_chosen(obj: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """Whether it is in the chosen collection of colliders."""
    collection = scene.tendril.colliders
    return collection is not None and obj in set(collection.all_objects)


def _chosen(scene: bpy.types.Scene) -> Collection[bpy.types.Object]:
    collection = scene.tendril.colliders
    return with_collision_physics(scene) if collection is None else collection.all_objects


def with_collision_physics(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The colliders of Blender's own physics."""
    return [obj for obj in relevant.in_scene(scene) if obj.type == "MESH" and has_collision_physics(obj)]


def key_of(obj: bpy.types.Object) -> str:
    """The key of a collider, valid for the session and independent of its name."""
    return f"collider {obj.session_uid}"


def read_colliders(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph
) -> tuple[dict[str, ColliderDescription], list[str]]:
    """The current colliders, and a warning for each that is ignored."""
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
            notes.append(f'"{obj.name}" has instances, which rods pass through: use Make Instances Real')
    return found, notes


def read_moving(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> dict[str, ColliderDescription]:
    """Surfaces of the rigid bodies that move with the rods but that no rod acts on, by the keys of bodies."""
    pushed, found = pushed_bodies(scene), {}
    for obj in dynamic_bodies(scene) if scene.tendril.use_rigid_bodies else ():
        if obj not in pushed and _why_ignored(obj, depsgraph) is None:
            found[key_of_body(obj)] = _describe(obj, scene, depsgraph)
    return found


def clear_of_roots(collider: ColliderDescription, rods: Iterable[RodDescription]) -> ColliderDescription:
    """The collider, at most as thick as roots of hair are away from it: within its thickness hair would be pushed out of where it
    grows. Blender's Collision physics begins with 2 cm, which is much for a head."""
    hair = [one for one in rods if isinstance(one, HairDescription)]
    roots = [np.array([held.place for held in one.held if held.vertex == 0]).reshape(-1, 3) for one in hair]
    distance = _distance_within(collider, np.concatenate([np.zeros((0, 3)), *roots]))
    if distance >= collider.thickness:
        return collider
    thickness = f"a thickness of {distance:.2g} m instead of {collider.thickness:.2g} m"
    note = f'"{collider.name}" collides with {thickness}, because hair grows there'
    return replace(collider, thickness=distance, note=note)


def _distance_within(collider: ColliderDescription, points: Array) -> float:
    """Smallest distance (m) of points (k, 3) from the surface, if it is less than its thickness; else infinity."""
    from mathutils.bvhtree import BVHTree

    if collider.thickness == 0.0 or not len(points):
        return np.inf
    x, triangles = np.asarray(collider.shape.vertices), np.asarray(collider.shape.triangles)
    corners = x[triangles]
    low, high = points.min(axis=0) - collider.thickness, points.max(axis=0) + collider.thickness
    near = np.all((corners.max(axis=1) >= low) & (corners.min(axis=1) <= high), axis=1)
    if not near.any():
        return np.inf
    tree: Any = BVHTree.FromPolygons(x.tolist(), triangles[near].tolist())
    found = (tree.find_nearest(point, collider.thickness)[3] for point in points.tolist())
    return min((float(one) for one in found if one is not None), default=np.inf)


def moved_colliders(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, known: Mapping[str, ColliderDescription]
) -> tuple[dict[str, Array], list[str]]:
    """The current vertices of known colliders, and a warning for each whose topology has changed."""
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
            notes.append(
                f'The mesh of "{obj.name}" has changed its topology since the start frame: it does not move any more'
            )
    return places, notes


def poses_of_colliders(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> dict[str, Array]:
    return {key_of(obj): _matrix(obj.evaluated_get(depsgraph)) for obj in colliders_of(scene)}


def settings_of_colliders(scene: bpy.types.Scene) -> tuple[object, ...]:
    return tuple((key_of(obj), *_surface(obj, scene)) for obj in colliders_of(scene))


def has_collision_physics(obj: bpy.types.Object) -> bool:
    return obj.collision is not None and obj.collision.use


def _surface(obj: bpy.types.Object, scene: bpy.types.Scene) -> tuple[float, float]:
    """Thickness in scene units, and friction."""
    if has_collision_physics(obj):
        return obj.collision.thickness_outer, BLENDER_FRICTION * obj.collision.cloth_friction
    if obj.rigid_body is not None and not is_chosen(obj, scene):
        return thickness_of(obj), obj.rigid_body.friction
    return obj.tendril_collider.thickness, obj.tendril_collider.friction


def _why_ignored(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> str | None:
    if obj.type != "MESH":
        return f'"{obj.name}" is not a mesh and is ignored as a collider'
    if not obj.evaluated_get(depsgraph).is_evaluated:
        return f'"{obj.name}" is disabled in viewports or renders and is ignored as a collider'
    return None


def _describe(obj: bpy.types.Object, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> ColliderDescription:
    evaluated, scale = obj.evaluated_get(depsgraph), metres_per_unit(scene)
    mesh, pose = read_mesh(evaluated, scale), _matrix(evaluated)
    if not len(mesh.triangles):
        raise TendrilError("mesh", obj.name, "it has no faces")
    mirrored = np.linalg.det(pose[:3, :3]) < 0.0  # a mirrored mesh has its normals inverted
    shape = Mesh(mesh.vertices, mesh.triangles[:, ::-1] if mirrored else mesh.triangles)
    thickness, friction = _surface(obj, scene)
    return ColliderDescription(obj.name, shape, mesh.corners, thickness * scale, friction, pose)


def _matrix(evaluated: bpy.types.Object) -> Array:
    return np.array(evaluated.matrix_world, dtype=np.float64)
