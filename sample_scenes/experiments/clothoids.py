"""Curves drawn by their curvature: what curls, ribbons and posters are like by nature."""

from __future__ import annotations

import numpy as np

from ...core.models.clothoid.series import BOUND, make_terms, sum_element


def drawn(
    kappa: np.ndarray, length: float, edges: int, root: np.ndarray, frame: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Points (edges + 1, 3) and frames (edges + 1, 3, 3: tangent and directors as columns) of a chain of elements of equal length
    with twist and curvatures kappa (K, 3) at their ends, from a root with a frame. Edges are a multiple of elements."""
    elements = len(kappa) - 1
    each, size = edges // elements, length / elements
    points, frames = [root[None]], [frame[None]]
    for k in range(elements):
        at = np.linspace(0.0, size, each + 1)
        x, r = np.zeros((each + 1, 3)), np.zeros((each + 1, 3, 3))
        x[0], r[0] = points[-1][-1], frames[-1][-1]
        sum_element(kappa[k], kappa[k + 1], size, BOUND, at, r, x, make_terms()[0])
        points.append(x[1:])
        frames.append(r[1:])
    return np.concatenate(points), np.concatenate(frames)
