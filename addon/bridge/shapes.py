"""How thick and how stiff a rod is along its way, and the shape it was made in."""

from __future__ import annotations

import math

import bpy
import numpy as np

from ...core import TendrilError
from .curves import per_point
from .poses import Array
from .strands import Strand

# A weight of zero would make a rod without stiffness, which it can't be.
LEAST_STIFFNESS = 1e-3
# A curl is made of at least this many edges a turn.
EDGES_PER_TURN = 6


def radius_along(obj: bpy.types.Object, strand: Strand, number: int, pose: Array, scale: float) -> float | Array:
    """In metres: one for the whole rod, or one for each vertex."""
    if obj.tendril.radius_from == "GIVEN":
        return obj.tendril.radius * scale
    if obj.data.bevel_depth <= 0.0:
        raise TendrilError("the bevel depth", obj.data.bevel_depth, "give the curve a bevel, or its rod a radius")
    size = obj.data.bevel_depth * float(np.cbrt(abs(np.linalg.det(pose[:3, :3]))))
    return size * strand.along(per_point(obj.data, "radius")[number])


def stiffness_along(obj: bpy.types.Object, strand: Strand, number: int) -> Array:
    """What multiplies the stiffness against bending and twisting at each vertex."""
    edges = np.diff(strand.vertices, axis=0)
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(edges, axis=1))])
    factors = 1.0 + (obj.tendril.stiffness_at_end - 1.0) * way / max(way[-1], 1e-30)
    if obj.tendril.stiffness_by_weight:
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
