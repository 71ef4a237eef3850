"""How thick and how stiff a rod is along its way, and the shape it was made in."""

from __future__ import annotations

import math

import bpy
import numpy as np

from ...core import Circle, Ellipse, Rectangle, TendrilError
from . import points
from .curves import per_point, strand_sizes
from .poses import Array
from .strands import Strand

# A weight of zero would make a rod without stiffness, which it can't be.
LEAST_STIFFNESS = 1e-3
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


def radius_along(obj: bpy.types.Object, strand: Strand, number: int, pose: Array, scale: float) -> float | Array:
    """In metres: one for the whole rod, or one for each vertex."""
    if obj.tendril.radius_from == "GIVEN":
        return constant_radius(obj.tendril, scale)
    size = float(np.cbrt(abs(np.linalg.det(pose[:3, :3]))))
    if obj.type == "CURVES":
        radii = points.weights(obj, "radius")
        if radii is None:
            raise TendrilError("the radius of the hair", None, "give its points a radius, or its rods")
        return size * strand.along(np.split(radii, np.cumsum(strand_sizes(obj.data))[:-1])[number])
    if obj.data.bevel_depth <= 0.0:
        raise TendrilError("the bevel depth", obj.data.bevel_depth, "give the curve a bevel, or its rod a radius")
    return size * obj.data.bevel_depth * strand.along(per_point(obj.data, "radius")[number])


def stiffness_along(obj: bpy.types.Object, strand: Strand, number: int) -> Array:
    """What multiplies the stiffness against bending and twisting at each vertex."""
    edges = np.diff(strand.vertices, axis=0)
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(edges, axis=1))])
    factors = 1.0 + (obj.tendril.stiffness_at_end - 1.0) * way / max(way[-1], 1e-30)
    if obj.type == "CURVE" and obj.tendril.stiffness_by_weight:
        weights = strand.along(per_point(obj.data, "weight_softbody")[number])
        factors = factors * np.maximum(weights, LEAST_STIFFNESS)
    return factors


def rest_shape(settings: bpy.types.PropertyGroup, strand: Strand, scale: float) -> str | Array:
    """The natural shape, in the core's words."""
    if settings.rest_shape == "AS_DRAWN":
        return "as drawn"
    if settings.rest_shape == "STRAIGHT":
        return "straight"
    if strand.closed:
        raise TendrilError("the rest shape", "curly", "a ring has no free end to curl: choose another")
    return _helix(strand.vertices, settings.curl_radius * scale, settings.curl_length * scale)


def _helix(vertices: Array, radius: float, pitch: float) -> Array:
    """A helix with edges as long as those between the vertices."""
    lengths = np.linalg.norm(np.diff(vertices, axis=0), axis=1)
    turn = math.hypot(2.0 * math.pi * radius, pitch)  # arc length of one
    if lengths.max() > turn / EDGES_PER_TURN:
        needed = math.ceil(lengths.sum() * EDGES_PER_TURN / turn)
        raise TendrilError("the number of points", len(vertices), f"curls as small as these need {needed} of them")
    # The angle over which a helix gets a chord of each length, from the chord of the angle by Newton's method.
    rise = pitch / (2.0 * math.pi)
    angles = 2.0 * math.pi * lengths / turn
    for _ in range(8):
        chord = np.sqrt(2.0 * radius**2 * (1.0 - np.cos(angles)) + (rise * angles) ** 2)
        slope = (radius**2 * np.sin(angles) + rise**2 * angles) / chord
        angles -= (chord - lengths) / slope
    phi = np.concatenate([[0.0], np.cumsum(angles)])
    return np.stack([radius * np.cos(phi), radius * np.sin(phi), rise * phi], axis=1)
