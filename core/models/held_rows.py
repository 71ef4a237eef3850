"""Holds of rods whose prescribed motion is one row per vertex: where they are, and how they move these rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import Array, Ints
from .held_frames import Holds


class HeldRows:
    """A hold moves a vertex with its frame; that of an edge, both ends and the frame, about the middle of the edge."""

    def __init__(
        self, holds: Holds, kinds: Sequence[str], rows: Sequence[int], after: Ints, x: Array, sense: Array | float = 1.0
    ) -> None:
        """`rows` (H,): the held vertex, or the start of the held edge; `after` (H,): its end; x (N, 3): initial positions; `sense`:
        -1 where the model's edge runs against the described one."""
        self.row = np.array(rows, dtype=np.int64)
        self.is_edge = np.array([kind == "edge" for kind in kinds], dtype=np.bool_)
        self.holds_frame = np.array([kind not in ("pin", "slide") for kind in kinds], dtype=np.bool_)
        self.holds_position = np.array([kind != "orient" for kind in kinds], dtype=np.bool_)
        self._holds, self._after, self._sense = holds, after, sense
        # What the rotation of a hold applies to: the frame, and for an edge also half of it, from its middle to its end.
        self._tangent, self._director = holds.tangent[1, self.row].copy(), holds.director[1, self.row].copy()
        self._half_edge = 0.5 * (x[after] - x[self.row]) if len(self.row) else np.zeros((0, 3))

    def positions(self, x: Array) -> Array:
        """(H, 3) where the holds are at the start: the vertex, or the middle of the edge."""
        return np.asarray(np.where(self.is_edge[:, None], x[self.row] + self._half_edge, x[self.row]))

    def move(self, positions: Array, rotations: Array, spins: Array) -> None:
        """See `ModelBlock.move_holds`."""
        holds, rows, edge = self._holds, self.row, self.is_edge
        for array in holds:
            array[0] = array[1]
        half = np.einsum("hij,hj->hi", rotations, self._half_edge)
        holds.position[1, rows] = np.where(edge[:, None], positions - half, positions)
        holds.position[1, self._after[edge]] = (positions + half)[edge]
        holds.tangent[1, rows] = np.einsum("hij,hj->hi", rotations, self._tangent)
        holds.director[1, rows] = np.einsum("hij,hj->hi", rotations, self._director)
        holds.spin[1, rows] = spins * self._sense
