"""How thick and how stiff a rod is along its way, and the shape it was made in."""

from __future__ import annotations

import math
from collections.abc import Sequence

import bpy
import numpy as np

from ...core import Circle, Ellipse, Rectangle, TendrilError
from . import points, profiles
from .bundle import Bundle
from .curves import drawn_rows, per_point, read_rows, spline_kinds, strand_sizes
from .poses import Array
from .strands import Polyline, polylines

# Of strands: all of them, as a bundle.
ALL = -1
# A weight of zero would make a rod without stiffness, which it can't be.
LEAST_STIFFNESS = 1e-3
LEAST_RADIUS = 1e-3
# A curl is made of at least this many edges a turn.
EDGES_PER_TURN = 6


def constant_radius(settings: bpy.types.PropertyGroup, scale: float) -> float:
    """In metres, where it can't change along the way."""
    return float(settings.radius * scale)


def section_of(settings: bpy.types.PropertyGroup, scale: float) -> Circle | Ellipse | Rectangle:
    """The section as wide as twice the radius."""
    a = constant_radius(settings, scale)
    if settings.section == "CIRCLE":
        return Circle(a)
    return (Ellipse if settings.section == "ELLIPSE" else Rectangle)(a, a * settings.flatness)


def radius_along(
    obj: bpy.types.Object, strand: Polyline | Bundle, number: int, pose: Array, scale: float
) -> float | Array:
    """In metres: one for the whole rod, or one for each vertex."""
    settings = obj.tendril
    factors = profiles.along(settings, "Radius", _way(strand))
    if obj.type == "CURVE" and settings.radius_by_weight:
        factors = factors * _weights(obj, strand, number)
    factors = np.maximum(factors, LEAST_RADIUS)
    if settings.radius_from == "GIVEN":
        return constant_radius(settings, scale) * factors
    size = float(np.cbrt(abs(np.linalg.det(pose[:3, :3])))) * factors
    if obj.type == "CURVES":
        radii = of_strand(obj, "radius", number)
        if radii is None:
            raise TendrilError("the radius of the hair", None, "give its points a radius, or its rods")
        return size * _tapered(obj, strand.along(radii))
    if obj.data.bevel_depth <= 0.0:
        raise TendrilError("the bevel depth", obj.data.bevel_depth, "give the curve a bevel, or its rod a radius")
    return size * obj.data.bevel_depth * _tapered(obj, strand.along(per_point(obj.data, "radius")[number]))


def _tapered(obj: bpy.types.Object, radii: Array) -> Array:
    """Radii of points as they are drawn: those of tips are often zero, where a rod needs some."""
    thickest = float(radii.max())
    if not thickest > 0.0:
        cure = "make them thicker, or give its rod a radius"
        raise TendrilError(f"the radius of the points of {obj.name}", thickest, cure)
    return np.maximum(radii, LEAST_RADIUS * thickest)


def stiffness_along(obj: bpy.types.Object, strand: Polyline | Bundle, number: int) -> Array:
    """What multiplies the stiffness against bending and twisting at each vertex."""
    settings, way = obj.tendril, _way(strand)
    factors = 1.0 + (settings.stiffness_at_end - 1.0) * way
    factors = factors * profiles.along(settings, "Stiffness", way)
    return factors * _painted(obj, strand, number, settings.stiffness_by_weight, settings.stiffness_group)


def mass_along(obj: bpy.types.Object, strand: Polyline | Bundle, number: int) -> Array:
    """What multiplies the density at each vertex."""
    settings = obj.tendril
    factors = np.ones(len(strand.vertices)) * profiles.along(settings, "Mass", _way(strand))
    return np.maximum(
        factors * _painted(obj, strand, number, settings.mass_by_weight, settings.mass_group), LEAST_STIFFNESS
    )


def _painted(
    obj: bpy.types.Object, strand: Polyline | Bundle, number: int, by_weight: bool, group: str
) -> Array | float:
    """The weights of control points, or of an attribute of hair, at the vertices."""
    if obj.type == "CURVE":
        return _weights(obj, strand, number) if by_weight else 1.0
    if not group:
        return 1.0
    found = of_strand(obj, group, number)
    if found is None:
        raise TendrilError("attribute", group, f'"{obj.name}" has no such attribute of points: choose another')
    return np.maximum(strand.along(found), LEAST_STIFFNESS)


def _weights(obj: bpy.types.Object, strand: Polyline | Bundle, number: int) -> Array:
    return np.maximum(strand.along(per_point(obj.data, "weight_softbody")[number]), LEAST_STIFFNESS)


def of_strand(obj: bpy.types.Object, name: str, number: int) -> Array | None:
    """An attribute of the points of one strand of hair, or of all."""
    values = points.weights(obj, name)
    if values is None or number == ALL:
        return values
    end = np.cumsum(strand_sizes(obj.data))
    return values[end[number - 1] if number else 0 : end[number]]


def _way(strand: Polyline | Bundle) -> Array:
    """Parts of the way from start to end, at the vertices."""
    if isinstance(strand, Bundle):
        return strand.way
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(strand.vertices, axis=0), axis=1))])
    return way / max(way[-1], 1e-30)


def rest_lines(settings: bpy.types.PropertyGroup, scale: float) -> list[Polyline]:
    """The splines of the object that shows the natural shape, if there is one: to be read once for all strands."""
    obj = settings.rest_object
    if settings.rest_shape != "OBJECT":
        return []
    if obj is None or obj.type not in ("CURVE", "CURVES"):
        raise TendrilError("the rest shape", None if obj is None else obj.name, "choose a curve that shows it")
    rows = drawn_rows(obj.data)
    pose = np.array(obj.matrix_world, dtype=np.float64)
    world = (read_rows(obj.data) if rows is None else rows).astype(np.float64) @ pose[:3, :3].T * scale
    return list(polylines(spline_kinds(obj.data), world))


def rest_shape(
    settings: bpy.types.PropertyGroup, strand: Polyline | Bundle, number: int, scale: float, lines: Sequence[Polyline]
) -> str | Array:
    """The natural shape, in the core's words; `lines` are those of `rest_lines`."""
    if settings.rest_shape == "AS_DRAWN":
        return "as drawn"
    if settings.rest_shape == "STRAIGHT":
        return "straight"
    if isinstance(strand, Bundle):
        each = enumerate(strand.strands)
        return np.concatenate([rest_shape(settings, one, k, scale, lines) for k, one in each])
    if settings.rest_shape == "OBJECT":
        return _shape_of(settings.rest_object.name, lines, strand, number)
    if strand.closed:
        raise TendrilError("the rest shape", "curly", "a ring has no free end to curl: choose another")
    return _helix(strand.vertices, settings.curl_radius * scale, settings.curl_length * scale)


def _shape_of(name: str, lines: Sequence[Polyline], strand: Polyline, number: int) -> Array:
    """The spline of another curve with the same number, as many vertices at the same parts of its way."""
    if number >= len(lines) or lines[number].closed != strand.closed:
        cure = f"it needs a spline number {number + 1} that is {'closed' if strand.closed else 'open'}, as this one is"
        raise TendrilError("the rest shape", name, cure)
    shape = lines[number].vertices
    ring = strand.closed
    x, own = (np.vstack([v, v[:1]]) if ring else v for v in (shape, strand.vertices))
    way, stops = (np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(v, axis=0), axis=1))]) for v in (x, own))
    stops = stops[: len(strand.vertices)] / stops[-1] * way[-1]
    return np.stack([np.interp(stops, way, column) for column in x.T], axis=1)


def rest_of_mesh(settings: bpy.types.PropertyGroup, strand: Polyline, scale: float) -> Array | None:
    """The natural shape of a net: None for that which is drawn."""
    if settings.rest_shape != "OBJECT":
        return None
    obj = settings.rest_object
    if obj is None or obj.type != "MESH" or len(obj.data.vertices) != strand.control_count:
        cure = f"choose a mesh with {strand.control_count} vertices, as the net has"
        raise TendrilError("the rest shape", None if obj is None else obj.name, cure)
    pose = np.array(obj.matrix_world, dtype=np.float64)
    places = read_rows(obj.data)[: strand.control_count].astype(np.float64) @ pose[:3, :3].T * scale
    return np.stack([strand.along(column) for column in places.T], axis=1)


def _helix(vertices: Array, radius: float, pitch: float) -> Array:
    """A helix with edges as long as those between the vertices."""
    lengths = np.linalg.norm(np.diff(vertices, axis=0), axis=1)
    turn = math.hypot(2.0 * math.pi * radius, pitch)  # arc length of one
    if lengths.max() > turn / EDGES_PER_TURN:
        needed = math.ceil(lengths.sum() * EDGES_PER_TURN / turn)
        cure = f"curls as small as these need {needed} of them: subdivide what is drawn, or make the curls larger"
        raise TendrilError("the number of points", len(vertices), cure)
    # The angle over which a helix gets a chord of each length, from the chord of the angle by Newton's method.
    rise = pitch / (2.0 * math.pi)
    angles = 2.0 * math.pi * lengths / turn
    for _ in range(8):
        chord = np.sqrt(2.0 * radius**2 * (1.0 - np.cos(angles)) + (rise * angles) ** 2)
        slope = (radius**2 * np.sin(angles) + rise**2 * angles) / chord
        angles -= (chord - lengths) / slope
    phi = np.concatenate([[0.0], np.cumsum(angles)])
    return np.stack([radius * np.cos(phi), radius * np.sin(phi), rise * phi], axis=1)
