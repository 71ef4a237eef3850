"""Triangle meshes of rods and colliders for the renderer."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.errors import Array
from ...core.maths.geometry.frames import bishop_directors
from .outcome import Solid, Tube

SIDES = 32  # of a tube
MAX_TWIST = 0.25  # rad between two rings of a tube, so that stripes are smooth
CAP = 6  # rings of a rounded end


class Surface(NamedTuple):
    """Triangles with vertex normals, and the angle about the rod's axis by which stripes are coloured."""

    vertices: Array
    normals: Array
    angle: Array  # (V,) rad from the first director
    triangles: NDArray[np.int64]  # (F, 3)
    colour: str
    stripe: str  # colour where the angle is above pi
    unbounded: bool = False  # a plane, which fades out at its edge


class Rings(NamedTuple):
    """Consecutive cross-sections of a tube."""

    centre: Array  # (r, 3)
    first: Array  # (r, 3) half axes, as vectors
    second: Array
    tangent: Array  # (r, 3)
    lean: Array  # (r,) rad, tilt of the normals towards the tangent, on rounded ends


def tube_surface(tube: Tube) -> Surface:
    rings = _rings(tube)
    if not tube.closed:
        rings = _capped(rings)
    around = np.linspace(0.0, 2.0 * math.pi, SIDES + 1)
    c, s = np.cos(around)[None, :, None], np.sin(around)[None, :, None]
    a, b = (np.linalg.norm(axis, axis=1)[:, None, None] for axis in (rings.first, rings.second))
    out = c * rings.first[:, None] + s * rings.second[:, None]
    across = c / a**2 * rings.first[:, None] + s / b**2 * rings.second[:, None]
    across /= np.linalg.norm(across, axis=2, keepdims=True)
    lean = rings.lean[:, None, None]
    normals = np.cos(lean) * across + np.sin(lean) * rings.tangent[:, None]
    vertices = rings.centre[:, None] + out
    count = len(rings.centre)
    angle = np.tile(around, count)
    return Surface(
        vertices.reshape(-1, 3), normals.reshape(-1, 3), angle, _grid(count, SIDES + 1), tube.colour,
        tube.colour if tube.directors is None else tube.stripe,
    )  # fmt: skip


def _rings(tube: Tube) -> Rings:
    x = np.asarray(tube.points, dtype=float)
    loop = np.vstack([x, x[:1]]) if tube.closed else x
    edges = np.diff(loop, axis=0)
    m = len(edges)
    t = edges / np.maximum(np.linalg.norm(edges, axis=1, keepdims=True), 1e-300)
    # Tangents at vertices, and the direction in which sections there are widened so that the adjacent edges keep their thickness.
    before = np.vstack([t[-1:] if tube.closed else t[:1], t])
    after = np.vstack([t, t[:1] if tube.closed else t[-1:]])
    at_vertex = _unit(before + after)
    bend = after - np.einsum("ij,ij->i", after, at_vertex)[:, None] * at_vertex
    sharp = np.linalg.norm(bend, axis=1)
    widen = 1.0 / np.sqrt(np.clip(1.0 - sharp**2, 0.25, 1.0)) - 1.0
    bend /= np.maximum(sharp, 1e-12)[:, None]

    directors = None if tube.directors is None else np.asarray(tube.directors, dtype=float)
    pieces = 1 if directors is None else 2 * math.ceil(max(1.0, _largest_twist(t, directors) / MAX_TWIST / 2.0))
    # The first half edge of a closed tube is repeated at its end, so that the twist across the seam is drawn.
    stations = np.arange(m * pieces + 1 + (pieces // 2 if tube.closed else 0)) / pieces
    edge = np.minimum(stations.astype(int), m - 1) if not tube.closed else stations.astype(int) % m
    part = (stations - np.floor(stations) if tube.closed else stations - edge)[:, None]
    tangent = _unit((1.0 - part) * at_vertex[edge] + part * at_vertex[edge + 1])
    centre = loop[edge] + part * edges[edge]
    u = np.empty_like(tangent)
    bishop_directors(np.ascontiguousarray(tangent), _any_normal(tangent[0]), u)
    v = np.cross(tangent, u)

    middle = np.arange(m) + 0.5
    turned = np.zeros(len(stations))
    if directors is not None:
        seen = np.arange(pieces // 2, len(stations), pieces)  # stations in the middle of edges
        d = directors[np.arange(len(seen)) % m]
        angles = np.unwrap(
            np.arctan2(np.einsum("ij,ij->i", d, v[seen]), np.einsum("ij,ij->i", d, u[seen])),
        )
        places = stations[seen]
        if tube.closed:
            places = np.concatenate([[places[0] - 1.0], places])
            angles = np.concatenate([[angles[0] - (angles[-1] - angles[-2])], angles])
        turned = np.interp(stations, places, angles)
    radii = np.asarray(tube.radius, dtype=float)
    radii = np.broadcast_to(radii[:, None] if radii.ndim == 1 else radii, (m, 2))
    a, b = (np.interp(stations, middle, radii[:, k], period=m if tube.closed else None) for k in (0, 1))

    last = m * pieces + 1
    c, s = np.cos(turned)[:, None], np.sin(turned)[:, None]
    first, second = a[:, None] * (c * u + s * v), b[:, None] * (c * v - s * u)
    corner = np.zeros(len(stations))
    corner[:last:pieces] = widen
    along = bend[edge + (part[:, 0] > 0.5)]
    first, second = (axis + (corner * np.einsum("ij,ij->i", axis, along))[:, None] * along for axis in (first, second))
    flat = np.zeros(last)
    return Rings(centre[:last], first[:last], second[:last], tangent[:last], flat)


def _capped(rings: Rings) -> Rings:
    """Adds rounded ends; on flat sections they are as long as the smaller half axis."""

    def cap(end: int, way: float) -> Rings:
        lean = np.linspace(0.5 * math.pi - 0.02, 0.0, CAP, endpoint=False)[:: int(-way)]
        size = min(np.linalg.norm(rings.first[end]), np.linalg.norm(rings.second[end]))
        shrink = np.cos(lean)[:, None]
        centre = rings.centre[end] + way * size * np.sin(lean)[:, None] * rings.tangent[end]
        tangent = np.tile(rings.tangent[end], (CAP, 1))
        return Rings(centre, shrink * rings.first[end], shrink * rings.second[end], tangent, way * lean)

    return Rings(*(np.concatenate(parts) for parts in zip(cap(0, -1.0), rings, cap(-1, 1.0), strict=True)))


def solid_surface(solid: Solid, reach: float, centre: Array) -> Surface:
    """Mesh of a collider; `reach` and `centre` define the part of a plane that is drawn."""
    shape = solid.shape
    kind = type(shape).__name__
    make = _SOLIDS.get(kind)
    if kind == "Plane":
        normal = _unit(np.asarray(shape.normal, dtype=float)[None])[0]
        u = _any_normal(normal)
        v = np.cross(normal, u)
        middle = centre - normal * (normal @ (centre - np.asarray(shape.point, dtype=float)))
        corners = middle + reach * np.array([-u - v, u - v, v - u, u + v])
        vertices, normals, triangles = corners, np.tile(normal, (4, 1)), np.array([[0, 1, 3], [0, 3, 2]])
    elif make is None:
        raise TypeError(f"no way to draw a {kind}")
    else:
        vertices, normals, triangles = make(shape)
        if kind != "Mesh":
            turn = np.asarray(getattr(shape, "rotation", np.eye(3)), dtype=float)
            vertices = vertices @ turn.T + np.asarray(shape.position, dtype=float)
            normals = normals @ turn.T
    return Surface(
        vertices, normals, np.zeros(len(vertices)), triangles, solid.colour, solid.colour, unbounded=kind == "Plane"
    )


Triangles = tuple[Array, Array, NDArray[np.int64]]


def _sphere(shape: Any) -> Triangles:
    return _revolved(*_arc(shape.radius, 0.0))


def _capsule(shape: Any) -> Triangles:
    return _revolved(*_arc(shape.radius, 0.5 * shape.length))


def _cylinder(shape: Any) -> Triangles:
    r, h = shape.radius, 0.5 * shape.length
    profile = np.array([[0.0, -h], [r, -h], [r, -h], [r, h], [r, h], [0.0, h]])
    return _revolved(profile, np.array([[0.0, -1.0], [0.0, -1.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]))


def _arc(radius: float, half: float) -> tuple[Array, Array]:
    """Profile of a sphere whose halves are `2 half` apart, with its normals."""
    latitude = np.linspace(-0.5 * math.pi, 0.5 * math.pi, 33)
    latitude = np.insert(latitude, 16, 0.0)
    normals = np.stack([np.cos(latitude), np.sin(latitude)], axis=1)
    points = radius * normals
    points[:, 1] += np.where(np.arange(34) < 17, -half, half)
    return points, normals


def _revolved(profile: Array, normals: Array) -> Triangles:
    """Surface of revolution about z of a profile (distance from the axis, height)."""
    around = np.linspace(0.0, 2.0 * math.pi, 65)
    c, s = np.cos(around), np.sin(around)

    def spin(values: Array) -> Array:
        z = np.broadcast_to(values[:, 1, None], (len(values), len(around)))
        return np.asarray(np.stack([values[:, :1] * c, values[:, :1] * s, z], axis=2).reshape(-1, 3))

    return spin(profile), spin(normals), _grid(len(profile), len(around))


def _box(shape: Any) -> Triangles:
    corners: list[Array] = []
    normals: list[Array] = []
    triangles: list[NDArray[np.int64]] = []
    for axis in range(3):
        for side in (-1.0, 1.0):
            u, v, n = np.roll(np.eye(3), axis, axis=0)[[1, 2, 0]] * np.array([[side], [1.0], [side]])
            triangles.append(np.array([[0, 2, 3], [0, 3, 1]]) + 4 * len(triangles))
            corners.append(np.array([n + p * u + q * v for p in (-1.0, 1.0) for q in (-1.0, 1.0)]))
            normals.append(np.tile(n, (4, 1)))
    half = 0.5 * np.asarray(shape.size, dtype=float)
    return np.concatenate(corners) * half, np.concatenate(normals), np.concatenate(triangles)


def _mesh(shape: Any) -> Triangles:
    """Mesh of a mesh collider, shaded smoothly where triangles meet at small angles."""
    x, triangles = np.asarray(shape.vertices, dtype=float), np.asarray(shape.triangles)
    corners = x[triangles]
    areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    mean = np.zeros_like(x)
    np.add.at(mean, triangles, areas[:, None])
    flat = np.repeat(_unit(areas)[:, None], 3, axis=1)
    smooth = _unit(mean)[triangles]
    edge = np.einsum("fci,fci->fc", flat, smooth) < 0.8
    normals = np.where(edge[:, :, None], flat, smooth)
    return corners.reshape(-1, 3), normals.reshape(-1, 3), np.arange(3 * len(triangles)).reshape(-1, 3)


_SOLIDS = {"Sphere": _sphere, "Capsule": _capsule, "Cylinder": _cylinder, "Box": _box, "Mesh": _mesh, "Plane": None}


def _grid(rows: int, columns: int) -> NDArray[np.int64]:
    """Triangles of a grid of points, given row by row."""
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    lower = np.stack([corner, corner + 1, corner + columns + 1], axis=1)
    upper = np.stack([corner, corner + columns + 1, corner + columns], axis=1)
    return np.concatenate([lower, upper])


def _unit(vectors: Array) -> Array:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-300))


def _any_normal(t: Array) -> Array:
    n = np.cross(t, np.eye(3)[np.abs(t).argmin()])
    return np.asarray(n / np.linalg.norm(n))


def _largest_twist(t: Array, directors: Array) -> float:
    """Largest twist between consecutive edges, approximately."""
    cosine = np.einsum("ij,ij->i", directors[1:], directors[:-1])
    return float(np.arccos(np.clip(cosine, -1.0, 1.0)).max(initial=0.0))
