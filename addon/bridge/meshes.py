"""Reads evaluated meshes: with modifiers and shape keys applied."""

from __future__ import annotations

from typing import NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from .poses import Array


class EvaluatedMesh(NamedTuple):
    vertices: Array  # (n, 3) in world space, m
    normals: Array  # (n, 3) vertex normals, not normalized
    corners: NDArray[np.int32]  # vertex indices of all face corners
    triangles: NDArray[np.int32]  # (m, 3)


def read_mesh(evaluated: bpy.types.Object, scale: float, with_normals: bool = False) -> EvaluatedMesh:
    """Reads the mesh of an evaluated object, with `scale` metres per unit. Without `with_normals`, `normals` is (0, 3)."""
    mesh = evaluated.to_mesh()
    try:
        mesh.calc_loop_triangles()
        places = np.empty(3 * len(mesh.vertices), dtype=np.float32)
        normals = np.empty(len(places) if with_normals else 0, dtype=np.float32)
        corners = np.empty(len(mesh.loops), dtype=np.int32)
        triangles = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
        mesh.vertices.foreach_get("co", places)
        if with_normals:
            mesh.vertex_normals.foreach_get("vector", normals)
        mesh.loops.foreach_get("vertex_index", corners)
        mesh.loop_triangles.foreach_get("vertices", triangles)
    finally:
        evaluated.to_mesh_clear()
    matrix = np.array(evaluated.matrix_world, dtype=np.float64)
    turned = [rows.reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T for rows in (places, normals)]
    return EvaluatedMesh((turned[0] + matrix[:3, 3]) * scale, turned[1], corners, triangles.reshape(-1, 3))
