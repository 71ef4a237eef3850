"""Rotations of many bodies at once, as matrices and rotation vectors."""

from __future__ import annotations

import numpy as np

from ...errors import Array


def cross_matrix(w: Array) -> Array:
    """(..., 3, 3) the matrix of w x."""
    out = np.zeros((*w.shape[:-1], 3, 3))
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -w[..., 2], w[..., 1], -w[..., 0]
    out[..., 1, 0], out[..., 2, 0], out[..., 2, 1] = w[..., 2], -w[..., 1], w[..., 0]
    return out


def exponential(w: Array) -> Array:
    """Turns about w by its length, (..., 3) to (..., 3, 3)."""
    square = np.einsum("...i,...i->...", w, w)
    angle = np.sqrt(square)
    small = square < 1e-8
    safe = np.where(small, 1.0, angle)
    a = np.where(small, 1.0 - square / 6.0, np.sin(safe) / safe)
    b = np.where(small, 0.5 - square / 24.0, (1.0 - np.cos(safe)) / (safe * safe))
    k = cross_matrix(w)
    return np.asarray(np.eye(3) + a[..., None, None] * k + b[..., None, None] * (k @ k))


def logarithm(rotation: Array) -> Array:
    """The inverse of `exponential`, of a length below pi."""
    twice = np.stack(
        [
            rotation[..., 2, 1] - rotation[..., 1, 2],
            rotation[..., 0, 2] - rotation[..., 2, 0],
            rotation[..., 1, 0] - rotation[..., 0, 1],
        ],
        axis=-1,
    )
    sine = 0.5 * np.sqrt(np.einsum("...i,...i->...", twice, twice))
    angle = np.arctan2(sine, 0.5 * (np.trace(rotation, axis1=-2, axis2=-1) - 1.0))
    small = sine < 1e-6
    factor = np.where(small, 0.5 + sine * sine / 12.0, 0.5 * angle / np.where(small, 1.0, sine))
    return np.asarray(factor[..., None] * twice)


def logarithm_rate(w: Array) -> Array:
    """How log(exp(d) exp(w)) changes with d at zero: (..., 3, 3)."""
    square = np.einsum("...i,...i->...", w, w)
    angle = np.sqrt(square)
    small = square < 1e-6
    safe = np.where(small, 1.0, angle)
    half = 0.5 * safe
    b = np.where(small, 1.0 / 12.0 + square / 720.0, (1.0 - half / np.tan(half)) / (safe * safe))
    k = cross_matrix(w)
    return np.asarray(np.eye(3) - 0.5 * k + b[..., None, None] * (k @ k))


def orthonormal(rotation: Array) -> Array:
    """The nearest rotation, where round-off has made it not quite one: one step of Newton's method."""
    return np.asarray(1.5 * rotation - 0.5 * rotation @ np.swapaxes(rotation, -1, -2) @ rotation)
