"""Curves sampled from their curvature: the stress-free shapes of curls, ribbons and posters."""

from __future__ import annotations

import numpy as np

from ...core.models.clothoid.series import BOUND, make_terms, sum_element


def sampled(
    kappa: np.ndarray, length: float, edges: int, root: np.ndarray, frame: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Points (edges + 1, 3) and frames (edges + 1, 3, 3: tangent and directors as columns) of a chain of elements of equal length
    with twist and curvatures kappa (K, 3) at their ends, starting at `root` with `frame`. `edges` is a multiple of the number of
    elements."""
    elements = len(kappa) - 1
    per_element, size = edges // elements, length / elements
    points, frames = [root[None]], [frame[None]]
    for k in range(elements):
        arc = np.linspace(0.0, size, per_element + 1)
        x, r = np.zeros((per_element + 1, 3)), np.zeros((per_element + 1, 3, 3))
        x[0], r[0] = points[-1][-1], frames[-1][-1]
        sum_element(kappa[k], kappa[k + 1], size, BOUND, arc, r, x, make_terms()[0])
        points.append(x[1:])
        frames.append(r[1:])
    return np.concatenate(points), np.concatenate(frames)
