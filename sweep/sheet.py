"""The contact sheet of a sweep: a small picture of every variant with its label, all from the same side and at the same scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from ..core.errors import Array, TendrilError
from .numbers import load_shape
from .variants import DONE, Outcome, labels

TILE = 2.4  # inches
LABEL = 0.4  # inches above each picture
HEAD = 0.6  # inches
DPI = 100
MARGIN = 0.08  # around the rods, relative to their extent
MOST_TILES = 400
MOST_SEGMENTS = 20_000  # per picture; of more, every so many are drawn
INK, PALE, WRONG = "#0b6e69", "#c3c8cf", "#b3261e"
VIEW = np.array([0.5, -1.0, 0.35])  # towards the eye


def check_installed() -> None:
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        cure = 'the contact sheet needs it: pip install "tendril[sweep]", or give --no-sheet'
        raise TendrilError("matplotlib", "not installed", cure) from None


def draw(file: Path, outcomes: Sequence[Outcome], title: str) -> None:
    """Writes the picture. Variants that failed show their message."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    shown = outcomes[:MOST_TILES]
    columns = max(1, math.ceil(math.sqrt(1.4 * len(shown))))
    rows = math.ceil(len(shown) / columns)
    width, height = TILE * max(columns, 2), HEAD + rows * (TILE + LABEL)
    figure = Figure(figsize=(width, height), dpi=DPI, facecolor="white")
    FigureCanvasAgg(figure)
    more = f" (the first {MOST_TILES} of {len(outcomes)})" if len(outcomes) > MOST_TILES else ""
    figure.text(0.1 / width, 1.0 - 0.3 / height, title + more, size=13, weight="bold", va="center")
    shapes = [load_shape(Path(one.folder)) if one.status == DONE else None for one in shown]
    flat = [None if shape is None else (project(shape[0]), shape[1]) for shape in shapes]
    box = _common_box([points for points, _ in filter(None, flat)])
    texts = labels([one.values for one in shown])
    for k, (one, text, shape) in enumerate(zip(shown, texts, flat, strict=True)):
        row, column = divmod(k, columns)
        left, bottom = column * TILE + 0.05, height - HEAD - (row + 1) * (TILE + LABEL)
        axes = figure.add_axes((left / width, bottom / height, (TILE - 0.1) / width, TILE / height))
        axes.set(xticks=[], yticks=[], xlim=box[0], ylim=box[1], aspect="equal")
        for spine in axes.spines.values():
            spine.set_color(PALE)
        axes.set_title(fill(text, 34, max_lines=2, placeholder=" ..."), size=8, pad=3)
        if shape is None:
            words = one.message if one.message else one.status
            axes.text(
                0.5, 0.5, fill(f"{one.status}: {words}" if one.message else words, 32, max_lines=9, placeholder=" ..."),
                size=7.5, color=WRONG, ha="center", va="center", transform=axes.transAxes,
            )  # fmt: skip
        else:
            _draw_shape(axes, *shape)
    try:
        figure.savefig(file)
    except OSError as error:
        raise TendrilError("file", str(file), f"the system says: {(error.strerror or str(error)).lower()}") from None


def project(points: Array) -> Array:
    """(..., 2) coordinates to the right and upwards as seen from `VIEW`."""
    towards = VIEW / np.linalg.norm(VIEW)
    right = np.cross([0.0, 0.0, 1.0], towards)
    right /= np.linalg.norm(right)
    return np.asarray(points @ np.stack([right, np.cross(towards, right)], axis=1))


def _common_box(pictures: Sequence[Array]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Limits of a square that contains all rods at their starts and ends."""
    points = np.concatenate([np.zeros((0, 2)), *(flat.reshape(-1, 2) for flat in pictures)])
    points = points[np.isfinite(points).all(axis=1)]
    if not len(points):
        return (-1.0, 1.0), (-1.0, 1.0)
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = 0.5 * (low + high), max(float((high - low).max()), 1e-6) * (0.5 + MARGIN)
    (left, right), (down, up) = zip(middle - half, middle + half, strict=True)
    return (left, right), (down, up)


def _draw_shape(axes: Any, flat: Array, segments: Array) -> None:
    from matplotlib.collections import LineCollection

    chosen = segments[:: max(1, len(segments) // MOST_SEGMENTS)]
    for moment, colour, width in ((0, PALE, 0.8), (1, INK, 1.3)):
        axes.add_collection(LineCollection(flat[moment][chosen], colors=colour, linewidths=width))
