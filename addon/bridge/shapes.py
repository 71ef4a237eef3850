"""Radius, stiffness and mass along a rod, and its rest shape."""

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

# The number of a strand that stands for all strands of a bundle.
ALL = -1
# Smallest factors: a rod can't have zero stiffness or radius.
MIN_STIFFNESS = 1e-3
MIN_RADIUS = 1e-3
# Minimum number of edges per turn of a curl.
EDGES_PER_TURN = 6


def constant_radius(settings: bpy.types.PropertyGroup, scale: float) -> float:
    """In metres, for rods whose radius is constant. A lock of k hairs has k times the cross-section of one; `material_of` makes it
    a bundle of k fibres, so that it is k times as stiff as one hair."""
    return float(settings.radius * scale * math.sqrt(settings.hairs))


def section_of(settings: bpy.types.PropertyGroup, scale: float) -> Circle | Ellipse | Rectangle:
    """A cross-section with a width of twice the radius."""
    a = constant_radius(settings, scale)
    if settings.section == "CIRCLE":
        return Circle(a)
    return (Ellipse if settings.section == "ELLIPSE" else Rectangle)(a, a * settings.flatness)


def radius_along(
    obj: bpy.types.Object, strand: Polyline | Bundle, number: int, pose: Array, scale: float
) -> float | Array:
    """In metres: one for the rod, or one per vertex."""
    settings = obj.tendril
    factors = profiles.along(settings, "Radius", _relative_arc_length(strand))
    if obj.type == "CURVE" and settings.radius_by_weight:
        factors = factors * _weights(obj, strand, number)
    factors = np.maximum(factors, MIN_RADIUS)
    if settings.radius_from == "GIVEN":
        return constant_radius(settings, scale) * factors
    size = float(np.cbrt(abs(np.linalg.det(pose[:3, :3])))) * math.sqrt(settings.hairs) * factors
    if obj.type == "CURVES":
        radii = of_strand(obj, "radius", number)
        if radii is None:
            raise TendrilError("the radius of the hair", None, "give its points a radius, or set Thickness Is to Given")
        return size * _tapered(obj, strand.along(radii))
    if obj.data.bevel_depth <= 0.0:
        raise TendrilError(
            "the bevel depth", obj.data.bevel_depth, "give the curve a bevel, or set Thickness Is to Given"
        )
    return size * obj.data.bevel_depth * _tapered(obj, strand.along(per_point(obj.data, "radius")[number]))


def _tapered(obj: bpy.types.Object, radii: Array) -> Array:
    """Radii bounded below: tips are often drawn with radius zero, which a rod can't have."""
    thickest = float(radii.max())
    if not thickest > 0.0:
        cure = "make them thicker, or set Thickness Is to Given"
        raise TendrilError(f"the radius of the points of {obj.name}", thickest, cure)
    return np.maximum(radii, MIN_RADIUS * thickest)


def stiffness_along(obj: bpy.types.Object, strand: Polyline | Bundle, number: int) -> Array:
    """Factors on the bending and twisting stiffness at each vertex."""
    settings, way = obj.tendril, _relative_arc_length(strand)
    factors = 1.0 + (settings.stiffness_at_end - 1.0) * way
    factors = factors * profiles.along(settings, "Stiffness", way) * _random(settings, strand, number)
    return factors * _painted(obj, strand, number, settings.stiffness_by_weight, settings.stiffness_group)


def mass_along(obj: bpy.types.Object, strand: Polyline | Bundle, number: int) -> Array:
    """Factors on the density at each vertex."""
    settings = obj.tendril
    factors = np.ones(len(strand.vertices)) * profiles.along(settings, "Mass", _relative_arc_length(strand))
    return np.maximum(
        factors * _painted(obj, strand, number, settings.mass_by_weight, settings.mass_group), MIN_STIFFNESS
    )


def _random(settings: bpy.types.PropertyGroup, strand: Polyline | Bundle, number: int) -> Array | float:
    """A random factor for each strand, which depends on the seed and the number of the strand alone."""
    if settings.stiffness_random == 0.0:
        return 1.0
    numbers = strand.numbers if isinstance(strand, Bundle) else np.array([number])
    uniform = np.random.default_rng(settings.random_seed).uniform(-1.0, 1.0, int(numbers.max()) + 1)[numbers]
    factors = np.maximum(1.0 + settings.stiffness_random * uniform, MIN_STIFFNESS)
    return np.repeat(factors, strand.counts) if isinstance(strand, Bundle) else float(factors[0])


def follow_along(obj: bpy.types.Object, strand: Polyline | Bundle, number: int) -> Array:
    """Strength of the pull to the drawn shape at each vertex."""
    settings, way = obj.tendril, _relative_arc_length(strand)
    factors = 1.0 + (settings.follow_at_end - 1.0) * way
    factors = factors * profiles.along(settings, "Follow", way)
    return factors * _painted(obj, strand, number, settings.follow_by_weight, settings.follow_group)


def _painted(
    obj: bpy.types.Object, strand: Polyline | Bundle, number: int, by_weight: bool, group: str
) -> Array | float:
    """Weights of control points, or of an attribute of hair, interpolated to the vertices."""
    if obj.type == "CURVE":
        return _weights(obj, strand, number) if by_weight else 1.0
    if not group:
        return 1.0
    found = of_strand(obj, group, number)
    if found is None:
        raise TendrilError("attribute", group, f'"{obj.name}" has no point attribute of this name: choose another')
    return np.maximum(strand.along(found), MIN_STIFFNESS)


def _weights(obj: bpy.types.Object, strand: Polyline | Bundle, number: int) -> Array:
    return np.maximum(strand.along(per_point(obj.data, "weight_softbody")[number]), MIN_STIFFNESS)


def of_strand(obj: bpy.types.Object, name: str, number: int) -> Array | None:
    """An attribute of the points of one strand of hair, or of all strands."""
    values = points.weights(obj, name)
    if values is None or number == ALL:
        return values
    end = np.cumsum(strand_sizes(obj.data))
    return values[end[number - 1] if number else 0 : end[number]]


def _relative_arc_length(strand: Polyline | Bundle) -> Array:
    """Relative arc length at the vertices, 0 to 1."""
    if isinstance(strand, Bundle):
        return strand.way
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(strand.vertices, axis=0), axis=1))])
    return way / max(way[-1], 1e-30)


def rest_lines(settings: bpy.types.PropertyGroup, scale: float) -> list[Polyline]:
    """The splines of the object that defines the rest shape, if there is one. Read once for all strands."""
    obj = settings.rest_object
    if settings.rest_shape != "OBJECT":
        return []
    if obj is None or obj.type not in ("CURVE", "CURVES"):
        raise TendrilError("the rest shape", None if obj is None else obj.name, "choose a curve for it")
    rows = drawn_rows(obj.data)
    pose = np.array(obj.matrix_world, dtype=np.float64)
    world = (read_rows(obj.data) if rows is None else rows).astype(np.float64) @ pose[:3, :3].T * scale
    return list(polylines(spline_kinds(obj.data), world))


def rest_shape(
    settings: bpy.types.PropertyGroup, strand: Polyline | Bundle, number: int, scale: float, lines: Sequence[Polyline]
) -> str | Array:
    """The rest shape as an argument of Rod; `lines` are those of `rest_lines`."""
    if settings.rest_shape == "AS_DRAWN":
        return "as drawn"
    if settings.rest_shape == "STRAIGHT":
        return "straight"
    if isinstance(strand, Bundle):
        each = zip(strand.numbers.tolist(), strand.strands, strict=True)
        return np.concatenate([rest_shape(settings, one, k, scale, lines) for k, one in each])
    if settings.rest_shape == "OBJECT":
        return _shape_of(settings.rest_object.name, lines, strand, number)
    if strand.closed:
        raise TendrilError("the rest shape", "curly", "a closed spline can't be curly: choose another rest shape")
    return _helix(strand.vertices, settings.curl_radius * scale, settings.curl_length * scale)


def _shape_of(name: str, lines: Sequence[Polyline], strand: Polyline, number: int) -> Array:
    """The spline of another curve with the same number, resampled at the relative arc lengths of the strand."""
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
    """The rest shape of a net; None for the drawn shape."""
    if settings.rest_shape != "OBJECT":
        return None
    obj = settings.rest_object
    if obj is None or obj.type != "MESH" or len(obj.data.vertices) != strand.control_count:
        cure = f"choose a mesh with {strand.control_count} vertices, like the net"
        raise TendrilError("the rest shape", None if obj is None else obj.name, cure)
    pose = np.array(obj.matrix_world, dtype=np.float64)
    places = read_rows(obj.data)[: strand.control_count].astype(np.float64) @ pose[:3, :3].T * scale
    return np.stack([strand.along(column) for column in places.T], axis=1)


def _helix(vertices: Array, radius: float, pitch: float) -> Array:
    """A helix whose edges have the lengths of those between the vertices."""
    lengths = np.linalg.norm(np.diff(vertices, axis=0), axis=1)
    turn = math.hypot(2.0 * math.pi * radius, pitch)  # arc length of one turn
    if lengths.max() > turn / EDGES_PER_TURN:
        needed = math.ceil(lengths.sum() * EDGES_PER_TURN / turn)
        cure = f"curls of this size need {needed}: subdivide the curve, or make the curls larger"
        raise TendrilError("the number of points", len(vertices), cure)
    # Newton's method for the angle of the helix whose chord has each length.
    rise = pitch / (2.0 * math.pi)
    angles = 2.0 * math.pi * lengths / turn
    for _ in range(8):
        chord = np.sqrt(2.0 * radius**2 * (1.0 - np.cos(angles)) + (rise * angles) ** 2)
        slope = (radius**2 * np.sin(angles) + rise**2 * angles) / chord
        angles -= (chord - lengths) / slope
    phi = np.concatenate([[0.0], np.cumsum(angles)])
    return np.stack([radius * np.cos(phi), radius * np.sin(phi), rise * phi], axis=1)
