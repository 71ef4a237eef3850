"""Conversion of shapes to quaternions and natural strains, shared by rods and nets."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...errors import Array, TendrilError
from ...maths.geometry.quaternions import from_frame, relative
from ...maths.geometry.swing_twist import bending_and_twist
from .arrays import Arrays

TAUT = 1e-6  # relative amount by which the distance of two holds may exceed the length of the rod between them


def quaternions(tangents: Array, directors: Array) -> Array:
    return np.array([from_frame(tuple(t), tuple(d)) for t, d in zip(tangents, directors, strict=True)])


def strain(a: ArrayLike, b: ArrayLike) -> Array:
    """Strain of an element from frame a to frame b."""
    return np.array(bending_and_twist(relative(tuple(np.asarray(a)), tuple(np.asarray(b))), 0.0))


def put_strains(b: Arrays, row: int, before: Array | None, middle: ArrayLike | None, after: Array | None) -> None:
    """Natural strains of the elements at a vertex, from the frames of its edges and its prescribed frame, if any."""
    if middle is None:
        middle = after
    elif after is not None:
        b.rods.rest[row, 1] = strain(middle, after)
    if before is not None and middle is not None:
        b.rods.rest[row, 0] = strain(before, middle)


def raise_distance(i: int, j: int, apart: float, length: float) -> None:
    """Raises the error for two held vertices at an impossible distance."""
    cure = f"the compact rod between them is {length:.6g} m long and does not stretch: hold them at another distance"
    raise TendrilError(f"the distance of the held vertices {i} and {j}", apart, cure)
