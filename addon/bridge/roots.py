"""Points on an evaluated surface in each frame: roots of hair, and attached points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import TendrilError
from .poses import Array, metres_per_unit

Ints = NDArray[np.int64]

# Points on their surface, by the key of their pose: located at the start frame, and again if they are lost.
_located: dict[str, SurfacePoints] = {}

DEFORM = "GeometryNodeDeformCurvesOnSurface"  # the node that moves hair with its surface


@dataclass(frozen=True)
class SurfacePoints:
    """Triangles (k, 3) of the surface and barycentric coordinates (k, 3) of the points in them."""

    corners: Ints
    barycentric: Array
    vertices: int  # of the surface: their number must not change


def surface_of(obj: bpy.types.Object) -> bpy.types.Object | None:
    surface = obj.data.surface if obj.type == "CURVES" else None
    return surface if surface is not None and surface.type == "MESH" else None


def key_of(uid: str) -> str:
    """The key of the mean frame of the roots, which reveals whether they moved."""
    return f"{uid} roots"


def all_of(key: str) -> str:
    """The key of the frames of all points whose mean frame has the given key."""
    return f"every {key}"


def duplicate_deform_modifier(obj: bpy.types.Object) -> str | None:
    """The name of an active modifier that moves hair with its surface, if there is one: the displayed hair would move twice.
    Blender adds it to all new hair."""
    if surface_of(obj) is None:
        return None
    shown = (one for one in obj.modifiers if one.type == "NODES" and one.show_viewport and one.node_group)
    return next((one.name for one in shown if any(node.bl_idname == DEFORM for node in one.node_group.nodes)), None)


def locate(
    key: str, surface: bpy.types.Object, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, places: Array
) -> None:
    """Locates the points of the surface that are nearest to the given positions (k, 3), in metres."""
    from mathutils.bvhtree import BVHTree

    x, triangles = _read(surface, scene, depsgraph)
    if not len(triangles):
        raise TendrilError("the surface", surface.name, "it has no faces")
    tree: Any = BVHTree.FromPolygons(x.tolist(), triangles.tolist())
    nearest = [tree.find_nearest(place) for place in places.tolist()]
    face = np.array([hit[2] for hit in nearest])
    at = np.array([hit[0][:] for hit in nearest])
    a, b, c = (x[triangles[face, k]] for k in range(3))
    _located[key] = SurfacePoints(triangles[face], _barycentric(a, b, c, at), len(x))


def poses(
    key: str, surface: bpy.types.Object, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph
) -> Iterator[tuple[str, Array]]:
    """The frames of all points, which follow the surface, and their mean, in metres. Nothing if they were not located yet."""
    points = _located.get(key)
    if points is not None:
        frames = _frames(points, surface, scene, depsgraph)
        yield key, mean(frames)
        yield all_of(key), frames


def _frames(
    points: SurfacePoints, surface: bpy.types.Object, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph
) -> Array:
    x, _ = _read(surface, scene, depsgraph, triangles=False)
    if len(x) != points.vertices:
        cure = "the number of its vertices has changed since the start frame: go to the start frame"
        raise TendrilError("the surface", surface.name, cure)
    a, b, c = (x[points.corners[:, k]] for k in range(3))
    out = np.zeros((len(a), 4, 4))
    along = b - a
    normal = np.cross(along, c - a)
    if not np.all(np.abs(normal).max(axis=1, initial=0.0) > 1e-30):
        raise TendrilError("the surface", surface.name, "it has collapsed under the roots: give it a scale above zero")
    across = np.cross(normal, along)
    for column, vectors in enumerate((along, across, normal)):
        out[:, :3, column] = vectors / np.maximum(np.linalg.norm(vectors, axis=1), 1e-30)[:, None]
    out[:, :3, 3] = np.einsum("kc,kcx->kx", points.barycentric, np.stack([a, b, c], axis=1))
    out[:, 3, 3] = 1.0
    return out


def mean(frames: Array) -> Array:
    """(4, 4) with unequal weights, so that a symmetric motion changes it as well."""
    weights = np.random.default_rng(0).uniform(0.5, 1.5, len(frames))
    return np.asarray(np.einsum("k,kij->ij", weights / weights.sum(), frames))


def _barycentric(a: Array, b: Array, c: Array, at: Array) -> Array:
    u, v, w = b - a, c - a, at - a
    uu, uv, vv = (np.einsum("ij,ij->i", p, q) for p, q in ((u, u), (u, v), (v, v)))
    wu, wv = np.einsum("ij,ij->i", w, u), np.einsum("ij,ij->i", w, v)
    determinant = np.maximum(uu * vv - uv * uv, 1e-300)
    s, t = (vv * wu - uv * wv) / determinant, (uu * wv - uv * wu) / determinant
    return np.stack([1.0 - s - t, s, t], axis=1)


def _read(
    surface: bpy.types.Object, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, triangles: bool = True
) -> tuple[Array, Ints]:
    evaluated = surface.evaluated_get(depsgraph)
    mesh = evaluated.to_mesh()
    try:
        places = np.empty(3 * len(mesh.vertices), dtype=np.float32)
        mesh.vertices.foreach_get("co", places)
        corners = np.empty(0, dtype=np.int32)
        if triangles:
            mesh.calc_loop_triangles()
            corners = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
            mesh.loop_triangles.foreach_get("vertices", corners)
    finally:
        evaluated.to_mesh_clear()
    matrix = np.array(evaluated.matrix_world, dtype=np.float64)
    x = places.reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    return x * metres_per_unit(scene), corners.reshape(-1, 3).astype(np.int64)
