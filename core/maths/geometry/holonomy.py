"""Holonomy of parallel transport: the angle by which the Bishop frame of an edge turns when the centerline moves."""

from __future__ import annotations

from ...compile.jit import kernel
from .frames import Vector, any_normal, signed_angle, transport


@kernel
def holonomy(t0: Vector, t1: Vector, s0: Vector, s1: Vector) -> float:
    """rad, angle psi of Bergou et al. 2008, section 6: with t the tangents of two edges and s those after they moved, how far the
    motion turns the Bishop frame of the second edge about its tangent, if the first is carried by parallel transport.

    A vector carried from t0 to s0, s1, t1 and back to t0 has turned by psi about t0. This is the sign of the gradient (9); as
    printed, (8) goes round the loop the other way."""
    u = any_normal(t0)
    w = transport(transport(transport(transport(u, t0, s0), s0, s1), s1, t1), t1, t0)
    return signed_angle(u, w, t0)
