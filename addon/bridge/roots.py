"""Points on a surface, as modifiers and animation deform it in each frame: the roots of hair, and points that are attached."""

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

# Where points lie on their surface, by the key of their pose: found once, at the start frame. What is lost is found again.
_found: dict[str, Seats] = {}

DEFORM = "GeometryNodeDeformCurvesOnSurface"  # the node that moves hair with its surface


@dataclass(frozen=True)
class Seats:
    """Triangles (k, 3) of the surface and places (k, 3) within them, as shares of the corners."""

    corners: Ints
    shares: Array
    vertices: int  # of the surface, which must stay as many


def surface_of(obj: bpy.types.Object) -> bpy.types.Object | None:
    surface = obj.data.surface if obj.type == "CURVES" else None
    return surface if surface is not None and surface.type == "MESH" else None


def key_of(uid: str) -> str:
    """Of a pose that tells whether the roots are where they were: the mean of their frames."""
    return f"{uid} roots"


def all_of(key: str) -> str:
    """Of the frames of all points whose mean is the pose of this key."""
    return f"every {key}"


def moving_twice(obj: bpy.types.Object) -> str | None:
    """The modifier that moves hair with its surface, too, if there is one: what is shown would go twice as far. Blender gives it to
    all hair."""
    if surface_of(obj) is None:
        return None
    shown = (one for one in obj.modifiers if one.type == "NODES" and one.show_viewport and one.node_group)
    return next((one.name for one in shown if any(node.bl_idname == DEFORM for node in one.node_group.nodes)), None)


def seat(
    key: str, surface: bpy.types.Object, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, places: Array
) -> None:
    """Finds the points on the surface that are nearest to places (k, 3), in metres."""
    from mathutils.bvhtree import BVHTree

    x, triangles = _read(surface, scene, depsgraph)
    if not len(triangles):
        raise TendrilError("the surface", surface.name, "it has no faces")
    tree: Any = BVHTree.FromPolygons(x.tolist(), triangles.tolist())
    nearest = [tree.find_nearest(place) for place in places.tolist()]
    face = np.array([hit[2] for hit in nearest])
    at = np.array([hit[0][:] for hit in nearest])
    a, b, c = (x[triangles[face, k]] for k in range(3))
    _found[key] = Seats(triangles[face], _shares(a, b, c, at), len(x))


def poses(
    key: str, surface: bpy.types.Object, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph
) -> Iterator[tuple[str, Array]]:
    """The frames of all points, and their mean, in metres: they move and turn with the surface. Nothing if they were not found
    yet."""
    seats = _found.get(key)
    if seats is not None:
        frames = _frames(seats, surface, scene, depsgraph)
        yield key, mean(frames)
        yield all_of(key), frames


def _frames(seats: Seats, surface: bpy.types.Object, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> Array:
    x, _ = _read(surface, scene, depsgraph, triangles=False)
    if len(x) != seats.vertices:
        cure = "its modifiers gave it other vertices than at the start: go there"
        raise TendrilError("the surface", surface.name, cure)
    a, b, c = (x[seats.corners[:, k]] for k in range(3))
    out = np.zeros((len(a), 4, 4))
    along = b - a
    normal = np.cross(along, c - a)
    across = np.cross(normal, along)
    for column, vectors in enumerate((along, across, normal)):
        out[:, :3, column] = vectors / np.maximum(np.linalg.norm(vectors, axis=1), 1e-30)[:, None]
    out[:, :3, 3] = np.einsum("kc,kcx->kx", seats.shares, np.stack([a, b, c], axis=1))
    out[:, 3, 3] = 1.0
    return out


def mean(frames: Array) -> Array:
    """(4, 4) weighted unevenly, so that no symmetric motion goes unnoticed."""
    weights = np.random.default_rng(0).uniform(0.5, 1.5, len(frames))
    return np.asarray(np.einsum("k,kij->ij", weights / weights.sum(), frames))


def _shares(a: Array, b: Array, c: Array, at: Array) -> Array:
    u, v, w = b - a, c - a, at - a
    uu, uv, vv = (np.einsum("ij,ij->i", p, q) for p, q in ((u, u), (u, v), (v, v)))
    wu, wv = np.einsum("ij,ij->i", w, u), np.einsum("ij,ij->i", w, v)
    wide = np.maximum(uu * vv - uv * uv, 1e-300)
    s, t = (vv * wu - uv * wv) / wide, (uu * wv - uv * wu) / wide
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
