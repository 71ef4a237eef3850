"""What rods collide with: the meshes of a collection, as modifiers, parents and animation leave them in each frame."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import Mesh, TendrilError
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
        vertices, corners, _ = _read(obj, scene, depsgraph)
        if len(vertices) == len(described.shape.vertices) and np.array_equal(corners, described.corners):
            places[key_of(obj)] = vertices
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
    vertices, corners, triangles = _read(obj, scene, depsgraph)
    if not len(triangles):
        raise TendrilError("mesh", obj.name, "it has no faces")
    thickness, friction = _surface(obj, scene)
    shape = Mesh(vertices, triangles)
    pose = _matrix(obj.evaluated_get(depsgraph))
    return ColliderDescription(obj.name, shape, corners, thickness * metres_per_unit(scene), friction, pose)


def _matrix(evaluated: bpy.types.Object) -> Array:
    return np.array(evaluated.matrix_world, dtype=np.float64)


def _read(
    obj: bpy.types.Object, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph
) -> tuple[Array, NDArray[np.int32], NDArray[np.int32]]:
    """Vertices in world space and metres (n, 3), the vertices of all faces in a row, and triangles (m, 3)."""
    evaluated = obj.evaluated_get(depsgraph)
    mesh = evaluated.to_mesh()
    try:
        mesh.calc_loop_triangles()
        places = np.empty(3 * len(mesh.vertices), dtype=np.float32)
        corners = np.empty(len(mesh.loops), dtype=np.int32)
        triangles = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
        mesh.vertices.foreach_get("co", places)
        mesh.loops.foreach_get("vertex_index", corners)
        mesh.loop_triangles.foreach_get("vertices", triangles)
    finally:
        evaluated.to_mesh_clear()
    matrix = _matrix(evaluated)
    world = places.reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    triangles = triangles.reshape(-1, 3)
    if np.linalg.det(matrix[:3, :3]) < 0.0:  # mirrored: its outside stays outside
        triangles = triangles[:, ::-1].copy()
    return world * metres_per_unit(scene), corners, triangles
