"""Rigid motion of the state of rods: a block that is carried goes on exactly as it would have gone on, seen from elsewhere."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import Array


class RigidMotion(NamedTuple):
    """x to R x + t."""

    rotation: Array  # (3, 3)
    translation: Array  # (3,) m

    def points(self, x: Array) -> Array:
        """Positions (..., 3)."""
        return np.asarray(x @ self.rotation.T + self.translation)

    def vectors(self, v: Array) -> Array:
        """Velocities, forces and directors (..., 3)."""
        return np.asarray(v @ self.rotation.T)

    def frames(self, frames: Array) -> Array:
        """Rotations (..., 3, 3) whose columns are axes."""
        return np.asarray(self.rotation @ frames)

    def quaternions(self, q: Array) -> Array:
        """Quaternions (..., 4) w x y z of frames. All get the same factor, so that their signs relative to each other stay."""
        w, v = q[..., :1], q[..., 1:]
        turn = _quaternion(self.rotation)
        axis = turn[1:]
        scalar = turn[0] * w - (v @ axis)[..., None]
        return np.concatenate([scalar, turn[0] * v + w * axis + np.cross(axis, v)], axis=-1)


def _quaternion(m: Array) -> Array:
    """w x y z of a rotation, from its largest component (Shepperd 1978)."""
    trace = m[0, 0] + m[1, 1] + m[2, 2]
    squares = np.array([trace, m[0, 0], m[1, 1], m[2, 2]])
    products = np.array(
        [
            [1.0 + trace, m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]],
            [m[2, 1] - m[1, 2], 1.0 + 2.0 * m[0, 0] - trace, m[0, 1] + m[1, 0], m[0, 2] + m[2, 0]],
            [m[0, 2] - m[2, 0], m[0, 1] + m[1, 0], 1.0 + 2.0 * m[1, 1] - trace, m[1, 2] + m[2, 1]],
            [m[1, 0] - m[0, 1], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1], 1.0 + 2.0 * m[2, 2] - trace],
        ]
    )
    row = products[int(np.argmax(squares))]
    return np.asarray(row / np.linalg.norm(row))
