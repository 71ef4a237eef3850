"""Signed distances from a mesh on a regular grid, to push many points out of it at little cost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...compile.jit import kernel
from ...compile.workers import Workers
from ...errors import Array, Ints

Singles = NDArray[np.float32]

CELLS = 64  # along the longest side of the mesh
MARGIN = 3  # cells around it
SAMPLES = 4.0  # points on the surface per cell face that it covers, about


class DistanceField(NamedTuple):
    """Distances (m, negative inside) at the corners of cells; in the space of the mesh as it was."""

    values: Singles  # (nx, ny, nz)
    origin: Array  # (3,) m
    cell: float  # m


def make_field(vertices: Array, triangles: Ints, thickness: float) -> DistanceField:
    """The field of a mesh whose triangles face outwards, enlarged by `thickness` (m). Distances are those to the planes of the
    nearest of many points on the surface."""
    from scipy.spatial import cKDTree

    low, high = vertices.min(axis=0), vertices.max(axis=0)
    cell = float((high - low).max()) / CELLS
    counts = np.ceil((high - low) / cell).astype(np.int64) + 2 * MARGIN + 1
    origin = low - MARGIN * cell
    places, normals = _surface_points(vertices, triangles, cell)
    axes = [origin[c] + cell * np.arange(counts[c]) for c in range(3)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    distance, index = cKDTree(places).query(grid, k=3)
    along = np.einsum("gkc,gkc->gk", grid[:, None] - places[index], normals[index])
    # Near an edge of the mesh the nearest points lie on several faces: outside of one of them is outside.
    nearest = distance[:, 0]
    side = np.where(np.abs(along).max(axis=1) > 0.0, np.sign(along.mean(axis=1)), 1.0)
    flat = np.abs(along[:, 0])
    signed = side * np.where(nearest < 2.0 * cell, np.maximum(flat, 0.0), nearest)
    return DistanceField((signed - thickness).reshape(counts).astype(np.float32), origin, cell)


def _surface_points(vertices: Array, triangles: Ints, cell: float) -> tuple[Array, Array]:
    """Points on the triangles, about four in each square of a cell, and normals there."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    area = 0.5 * np.linalg.norm(normal, axis=1)
    normal /= np.maximum(2.0 * area, 1e-300)[:, None]
    divisions = np.maximum(np.ceil(np.sqrt(SAMPLES * area) / cell).astype(np.int64), 1)
    places, normals = [], []
    for n in np.unique(divisions).tolist():
        of = divisions == n
        i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
        u, v = (i[i + j < n] + 1.0 / 3.0) / n, (j[i + j < n] + 1.0 / 3.0) / n
        x = a[of][:, None] + u[None, :, None] * (b - a)[of][:, None] + v[None, :, None] * (c - a)[of][:, None]
        places.append(x.reshape(-1, 3))
        normals.append(np.repeat(normal[of], len(u), axis=0))
    return np.concatenate(places), np.concatenate(normals)


def push_out(
    field: DistanceField, rotation: Array, shift: Array, start: Ints, points: Singles, workers: Workers
) -> None:
    """Moves points (P, 3) of strands to the surface if they are inside, in place; roots stay. The mesh has been turned by
    `rotation` and then moved by `shift` since the field was made."""
    turned, moved = rotation.astype(np.float32), shift.astype(np.float32)
    origin, cell = field.origin.astype(np.float32), float(np.float32(field.cell))
    workers.run(
        lambda first, last, _: _push_out(field.values, origin, cell, turned, moved, start, points, first, last),
        len(start) - 1,
        len(points),
    )


@kernel
def _push_out(
    values: Singles, origin: Singles, cell: float, rotation: Singles, shift: Singles, start: Ints, points: Singles, first: int,
    last: int,
) -> None:  # fmt: skip
    nx, ny, nz = values.shape
    for s in range(first, last):
        for p in range(start[s] + 1, start[s + 1]):
            x, y, z = points[p, 0] - shift[0], points[p, 1] - shift[1], points[p, 2] - shift[2]
            a = (rotation[0, 0] * x + rotation[1, 0] * y + rotation[2, 0] * z - origin[0]) / cell
            b = (rotation[0, 1] * x + rotation[1, 1] * y + rotation[2, 1] * z - origin[1]) / cell
            c = (rotation[0, 2] * x + rotation[1, 2] * y + rotation[2, 2] * z - origin[2]) / cell
            if not (a >= 0.0 and b >= 0.0 and c >= 0.0 and a < nx - 1 and b < ny - 1 and c < nz - 1):
                continue
            i, j, k = int(a), int(b), int(c)
            u, v, w = a - i, b - j, c - k
            v000, v001, v010, v011 = values[i, j, k], values[i, j, k + 1], values[i, j + 1, k], values[i, j + 1, k + 1]
            i += 1
            v100, v101, v110, v111 = values[i, j, k], values[i, j, k + 1], values[i, j + 1, k], values[i, j + 1, k + 1]
            e00, e01 = v000 + u * (v100 - v000), v001 + u * (v101 - v001)
            e10, e11 = v010 + u * (v110 - v010), v011 + u * (v111 - v011)
            f0, f1 = e00 + v * (e10 - e00), e01 + v * (e11 - e01)
            depth = f0 + w * (f1 - f0)
            if depth >= 0.0:
                continue
            gx = (1.0 - v) * ((1.0 - w) * (v100 - v000) + w * (v101 - v001)) + v * (
                (1.0 - w) * (v110 - v010) + w * (v111 - v011)
            )
            gy = (1.0 - w) * (e10 - e00) + w * (e11 - e01)
            gz = f1 - f0
            size = np.sqrt(gx * gx + gy * gy + gz * gz)
            if not size > 0.0:
                continue
            step = -depth / size
            gx, gy, gz = step * gx, step * gy, step * gz
            points[p, 0] += rotation[0, 0] * gx + rotation[0, 1] * gy + rotation[0, 2] * gz
            points[p, 1] += rotation[1, 0] * gx + rotation[1, 1] * gy + rotation[1, 2] * gz
            points[p, 2] += rotation[2, 0] * gx + rotation[2, 1] * gy + rotation[2, 2] * gz
