"""Rotation matrices: validation and interpolation."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import Array


def rotation_about(axis: Array, angle: Array) -> Array:
    """(..., 3, 3) rotations about unit axes (..., 3) by angles (...), by Rodrigues' formula."""
    x, y, z = np.moveaxis(np.asarray(axis, dtype=np.float64), -1, 0)
    zero = np.zeros_like(x)
    k = np.stack([np.stack([zero, -z, y], -1), np.stack([z, zero, -x], -1), np.stack([-y, x, zero], -1)], -2)
    s, c = np.sin(angle)[..., None, None], np.cos(angle)[..., None, None]
    return np.asarray(np.eye(3) + s * k + (1.0 - c) * (k @ k))


def interpolate_rotations(start: Array, end: Array, at: float) -> Array:
    """Interpolates from start to end (..., 3, 3) along the shortest rotation at a constant rate."""
    turn = end @ np.swapaxes(start, -1, -2)
    twice_sine = np.stack(
        [turn[..., 2, 1] - turn[..., 1, 2], turn[..., 0, 2] - turn[..., 2, 0], turn[..., 1, 0] - turn[..., 0, 1]], -1
    )
    sine = 0.5 * np.linalg.norm(twice_sine, axis=-1)
    cosine = 0.5 * (np.trace(turn, axis1=-2, axis2=-1) - 1.0)
    angle = np.arctan2(sine, cosine)
    # Near half a turn the axis follows best from the symmetric part, cos + (1 - cos) a a^T, except for its sign.
    symmetric = 0.5 * (turn + np.swapaxes(turn, -1, -2)) - cosine[..., None, None] * np.eye(3)
    column = np.argmax(np.diagonal(symmetric, axis1=-2, axis2=-1), axis=-1)
    half_turn = np.take_along_axis(symmetric, column[..., None, None], axis=-1)[..., 0]
    backwards = np.einsum("...i,...i->...", half_turn, twice_sine) < 0.0
    half_turn = np.where(backwards[..., None], -half_turn, half_turn)
    axis = np.where((cosine > -0.5)[..., None], twice_sine, half_turn)
    length = np.linalg.norm(axis, axis=-1)
    unit = np.where((length > 0.0)[..., None], axis / np.where(length > 0.0, length, 1.0)[..., None], [1.0, 0.0, 0.0])
    small = (sine <= 1e-6) & (cosine > 0.0)
    moved = rotation_about(unit, at * np.where(small, 0.0, angle)) @ start
    return np.asarray(np.where(small[..., None, None], start + at * (end - start), moved))


def are_rotations(matrices: Array) -> Any:
    """Whether matrices (..., 3, 3) are rotations up to round-off."""
    m = np.clip(matrices, -2.0, 2.0)  # large entries would overflow, and are invalid anyway
    product = np.einsum("...ki,...kj->...ij", m, m)
    return (np.abs(product - np.eye(3)).max(axis=(-1, -2)) <= 1e-4) & (np.linalg.det(m) > 0.0)
