"""Which map takes the points of a shape to those of another one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Points from which on a fitting map is no coincidence
_FEWEST_SIMILAR, _FEWEST_AFFINE = 3, 6


def affine_map(before: NDArray[np.float64], after: NDArray[np.float64], limit: float) -> NDArray[np.float64] | None:
    """(4, 3) affine map that takes all points from one shape to the other; None if there is none. Directions in which the points do
    not extend turn with the others, as little as possible, and are scaled like them."""
    centre, goal = before.mean(axis=0), after.mean(axis=0)
    similar = _similarity(before - centre, after - goal, limit)
    if similar is not None:
        return np.concatenate([similar, (goal - centre @ similar)[None]])
    if len(before) < _FEWEST_AFFINE:
        return None
    matrix = np.linalg.lstsq(before - centre, after - goal, rcond=1e-6)[0]
    if np.abs((before - centre) @ matrix + goal - after).max() > limit:
        return None
    # A straight or flat shape leaves the map open in the other directions.
    axes, sizes, _ = np.linalg.svd((before - centre).T, full_matrices=True)
    known = int((sizes > 1e-6 * sizes[0]).sum())
    missing = axes[:, known:].T
    turned = missing
    if known == 1:  # by the smallest rotation of the straight line
        line, image = axes[:, 0], axes[:, 0] @ matrix
        image = image / max(float(np.linalg.norm(image)), 1e-30)
        turned = missing - np.outer(missing @ image, line + image) / max(1.0 + float(line @ image), 1e-6)
    elif known == 2:
        normal = np.cross(axes[:, 0] @ matrix, axes[:, 1] @ matrix)
        turned = normal[None] / max(float(np.linalg.norm(normal)), 1e-30)
        turned = turned if float(turned[0] @ missing[0]) >= 0.0 else -turned
    scale = float(np.linalg.norm(after - goal)) / max(float(np.linalg.norm(before - centre)), 1e-30)
    matrix = matrix + scale * missing.T @ turned
    return np.concatenate([matrix, (goal - centre @ matrix)[None]])


def _similarity(before: NDArray[np.float64], after: NDArray[np.float64], limit: float) -> NDArray[np.float64] | None:
    """(3, 3) the least rotation or reflection, with a scale, between centred points; None if there is none or points are on a line.
    Also known across points that are next to flat, where a general map is not."""
    left, sizes, right = np.linalg.svd(before.T @ after)
    if len(before) < _FEWEST_SIMILAR or sizes[1] <= 1e-6 * sizes[0]:
        return None
    scale = float(np.linalg.norm(after)) / max(float(np.linalg.norm(before)), 1e-30)
    maps = [scale * (left * (1.0, 1.0, sign)) @ right for sign in (1.0, -1.0)]
    fitting = [one for one in maps if np.abs(before @ one - after).max() <= limit]
    return max(fitting, key=np.trace, default=None)
