"""Shapes of the quick effects: curves, strands on a mesh, and a net, made as objects of the scene."""

from __future__ import annotations

import math

import bpy
import numpy as np

from .hair_shapes import hair_object, scatter
from .poses import Array

SEGMENTS = 64  # of a new rope
COILS, COIL_SEGMENTS, COIL_WIDTH = 12, 24, 0.08  # of a new spring; segments per coil; radius divided by length
NET_CELLS = 20  # of a new net, along each side


def straight(start: Array, end: Array, slack: float = 0.0) -> Array:
    """Points from start to end along a parabola that is longer than their distance by the factor 1 + `slack`."""
    s = np.linspace(0.0, 1.0, SEGMENTS + 1)[:, None]
    distance = float(np.linalg.norm(end - start))

    def hanging(depth: float) -> Array:
        return np.asarray(start + s * (end - start) - 4.0 * depth * s * (1.0 - s) * np.array([0.0, 0.0, 1.0]))

    low, high = 0.0, distance * (1.0 + slack)
    for _ in range(40 if slack > 0.0 else 0):  # bisection: the length grows with the depth
        middle = 0.5 * (low + high)
        length = np.linalg.norm(np.diff(hanging(middle), axis=0), axis=1).sum()
        low, high = (middle, high) if length < distance * (1.0 + slack) else (low, middle)
    return hanging(low)


def coil(start: Array, length: float) -> Array:
    """Points of a helix that begins at `start` and hangs down by `length`."""
    s = np.linspace(0.0, 1.0, COILS * COIL_SEGMENTS + 1)
    angle, radius = 2.0 * math.pi * COILS * s, COIL_WIDTH * length
    shape = np.stack([radius * (np.cos(angle) - 1.0), radius * np.sin(angle), -length * s], axis=1)
    return np.asarray(start + shape)


def make_curve(name: str, points: Array, scene: bpy.types.Scene) -> bpy.types.Object:
    """A poly curve with its origin at the first point."""
    curve = bpy.data.curves.new(name, "CURVE")
    curve.dimensions, curve.use_fill_caps = "3D", True
    spline = curve.splines.new("POLY")
    spline.points.add(len(points) - 1)
    flat = np.hstack([points - points[0], np.ones((len(points), 1))]).astype(np.float32)
    spline.points.foreach_set("co", flat.ravel())
    obj = bpy.data.objects.new(name, curve)
    obj.location = points[0]
    scene.collection.objects.link(obj)
    return obj


def resample(obj: bpy.types.Object) -> None:
    """Replaces the splines of a curve with few points by poly splines along the same line, so that the rod's bends can be seen."""
    curve = obj.data
    count = [len(spline.bezier_points) or len(spline.points) for spline in curve.splines]
    if not count or min(count) > SEGMENTS // 2 or obj.modifiers:
        return
    lines = [_evaluated(obj, number) for number in range(len(curve.splines))]
    cyclic = [spline.use_cyclic_u for spline in curve.splines]
    curve.splines.clear()
    for line, closed in zip(lines, cyclic, strict=True):
        ring = np.vstack([line, line[:1]]) if closed else line
        way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(ring, axis=0), axis=1))])
        stops = np.linspace(0.0, way[-1], SEGMENTS + 1)[: SEGMENTS if closed else SEGMENTS + 1]
        points = np.stack([np.interp(stops, way, column) for column in ring.T], axis=1)
        spline = curve.splines.new("POLY")
        spline.points.add(len(points) - 1)
        spline.points.foreach_set("co", np.hstack([points, np.ones((len(points), 1))]).astype(np.float32).ravel())
        spline.use_cyclic_u = closed


def _evaluated(obj: bpy.types.Object, number: int) -> Array:
    """The points of one spline as Blender draws it, without bevel, in the space of the object."""
    alone = obj.data.copy()
    alone.bevel_depth = alone.extrude = 0.0
    alone.bevel_object = None
    for k, spline in reversed(list(enumerate(alone.splines))):
        if k != number:
            alone.splines.remove(spline)
    holder = bpy.data.objects.new("", alone)
    mesh = holder.to_mesh()
    points = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", points)
    holder.to_mesh_clear()
    bpy.data.objects.remove(holder)
    bpy.data.curves.remove(alone)
    return points.reshape(-1, 3).astype(np.float64)


def make_hair(surface: bpy.types.Object, count: int, length: float, points: int, seed: int) -> bpy.types.Object | None:
    """Strands along the normals of a mesh, spread evenly; None if it has no faces. `length` is in units of the mesh."""
    rng = np.random.default_rng(seed)
    roots = scatter(surface.data, count, rng)
    if roots is None:
        return None
    out = roots.normal[:, None] * (length * rng.uniform(0.8, 1.0, count))[:, None, None]
    return hair_object("Hair", surface, roots.x[:, None] + np.linspace(0.0, 1.0, points)[None, :, None] * out)


def make_net(size: float, place: Array, scene: bpy.types.Scene) -> bpy.types.Object:
    """A square grid of edges without faces."""
    side = np.linspace(-0.5 * size, 0.5 * size, NET_CELLS + 1)
    n = NET_CELLS + 1
    points = [(float(px), float(py), 0.0) for px in side for py in side]
    along = [(k * n + j, k * n + j + 1) for k in range(n) for j in range(n - 1)]
    across = [(k * n + j, (k + 1) * n + j) for k in range(n - 1) for j in range(n)]
    mesh = bpy.data.meshes.new("Net")
    mesh.from_pydata(points, along + across, [])
    obj = bpy.data.objects.new("Net", mesh)
    obj.location = tuple(place)
    scene.collection.objects.link(obj)
    return obj


def pin_corners(obj: bpy.types.Object, name: str) -> None:
    """A vertex group of the corners of a net: the few vertices with the fewest edges; or of its highest vertices."""
    edges = np.empty(2 * len(obj.data.edges), dtype=np.int32)
    obj.data.edges.foreach_get("vertices", edges)
    valence = np.bincount(edges, minlength=len(obj.data.vertices))
    used = valence[valence > 0]
    corners = np.flatnonzero(valence == used.min())
    if len(corners) > len(used) // 2:  # a closed mesh, or a ring
        z = np.array([vertex.co.z for vertex in obj.data.vertices])
        corners = np.flatnonzero((valence > 0) & (z > z.max() - 1e-3 * max(float(np.ptp(z)), 1e-9)))
    group = obj.vertex_groups.get(name) or obj.vertex_groups.new(name=name)
    group.add(corners.tolist(), 1.0, "REPLACE")
