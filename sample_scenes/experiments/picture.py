"""Picture of an outcome: its moments side by side, with plots and numbers below."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np

from ...core.errors import Array, TendrilError
from .meshes import solid_surface, tube_surface
from .outcome import Camera, Moment, Outcome, Plot, Tube
from .render import View, render, view_axes

WIDTH = 12.0  # inches
DPI = 130
CAPTION_WIDTH = 150  # characters per line
MAX_HEIGHT = 5.0  # inches, of a moment
MIN_ASPECT, MAX_ASPECT = 0.6, 2.4  # width / height of a moment
MARGIN = 0.15  # around the rods, relative to their extent
MUCH_LARGER = 3.0  # a collider larger than the rods by this factor is not fitted into the picture
# Inches: height of a legend row, mean width of a character in it, and width of marker and spacing of an entry.
LEGEND_ROW, LETTER, MARKER = 0.2, 0.072, 0.42
INK, PALE = "#2b2f36", "#7a828e"


def check_installed() -> None:
    """Raises TendrilError if matplotlib is missing; to be called before a long experiment."""
    try:
        with _without_repository():
            import matplotlib.backends.backend_agg
            import matplotlib.figure  # noqa: F401
    except ImportError:
        raise TendrilError("matplotlib", "not installed", "pictures need it: pip install matplotlib") from None


@contextmanager
def _without_repository() -> Iterator[None]:
    """Removes the repository from sys.path: if Tendril is run from its source folder, the folder `packaging/` would shadow the
    package of that name, which matplotlib needs."""
    root = Path(__file__).resolve().parents[2]
    before = sys.path[:]
    sys.path[:] = [entry for entry in before if Path(entry or ".").resolve() != root]
    try:
        yield
    finally:
        sys.path[:] = before


def draw(outcome: Outcome, file: Path, title: str = "", source: str = "") -> None:
    """Writes the picture to a file; the suffix selects the format."""
    check_installed()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    panels = _panels(outcome)
    columns = max(1, outcome.columns)
    rows = [range(first, min(first + columns, len(panels))) for first in range(0, len(panels), columns)]
    heights = [min(WIDTH / sum(panels[k].aspect for k in row), MAX_HEIGHT) for row in rows]
    lines = wrap(outcome.caption, CAPTION_WIDTH)
    share = (WIDTH - 0.3) / max(len(outcome.plots), 1)  # inches, width of a plot with its margins
    legends = max((_legend_rows(plot, share - 1.1) for plot in outcome.plots), default=1)
    head, caption, plot_height = 0.7 + 0.22 * len(lines), 0.42, 3.3 + LEGEND_ROW * legends
    foot = 0.24 * len(outcome.numbers) + 0.25
    height = head + sum(heights) + caption * len(rows) + (plot_height + 0.35) * bool(outcome.plots) + foot
    figure = Figure(figsize=(WIDTH, height), dpi=DPI, facecolor="white")
    FigureCanvasAgg(figure)
    figure.text(0.25 / WIDTH, 1.0 - 0.34 / height, title, size=17, color=INK, weight="bold", va="center")
    figure.text(1.0 - 0.25 / WIDTH, 1.0 - 0.34 / height, source, size=11, color=PALE, va="center", ha="right")
    for number, line in enumerate(lines):
        figure.text(0.25 / WIDTH, 1.0 - (0.7 + 0.22 * number) / height, line, size=10.5, color=PALE, va="center")
    top = height - head
    for row, tall in zip(rows, heights, strict=True):
        widths = [tall * panels[k].aspect for k in row]
        gap = (WIDTH - sum(widths)) / (len(row) + 1)
        left = gap
        for number, wide in zip(row, widths, strict=True):
            axes = figure.add_axes((left / WIDTH, (top - tall) / height, wide / WIDTH, tall / height), frameon=False)
            _show(axes, outcome.moments[number], panels[number], wide, tall)
            figure.text(
                (left + 0.5 * wide) / WIDTH, (top - tall - 0.18) / height, outcome.moments[number].title,
                size=11, color=INK, ha="center", va="center",
            )  # fmt: skip
            left += wide + gap
        top -= tall + caption
    for number, plot in enumerate(outcome.plots):
        axes = figure.add_axes(
            ((0.15 + share * number + 0.75) / WIDTH, (foot + 0.6) / height,
             (share - 1.1) / WIDTH, (plot_height - 0.65 - LEGEND_ROW * legends) / height)
        )  # fmt: skip
        _plot(axes, plot, _legend_rows(plot, share - 1.1))
    for row, number in enumerate(outcome.numbers):
        y = (foot - 0.12 - 0.24 * (row + 0.5)) / height
        colour = "#b3261e" if number.failed else INK
        text = f"{number.name}:  {number.measured}"
        known = number.expected if number.within is None else f"expected {number.expected}"
        known += " (out of tolerance)" if number.failed else ""
        figure.text(0.25 / WIDTH, y, text, size=10.5, color=colour, va="center")
        figure.text(0.5, y, known, size=10.5, color=colour if number.failed else PALE, va="center")
    figure.savefig(file, dpi=DPI)


def _legend_rows(plot: Plot, width: float) -> int:
    """Number of legend rows needed above a plot of this width in inches."""
    labels = [series.label for series in plot.series if series.label]
    if not labels:
        return 1
    for rows in range(1, len(labels)):
        columns = [labels[k : k + rows] for k in range(0, len(labels), rows)]
        if sum(LETTER * max(map(len, column)) + MARKER for column in columns) <= width:
            return rows
    return len(labels)


def _plot(axes: Any, plot: Plot, legend_rows: int) -> None:
    for series in plot.series:
        axes.plot(series.x, series.y, series.style, color=series.colour, label=series.label or None, ms=5.5, lw=1.8)
    if "x" in plot.logarithmic:
        axes.set_xscale("log")
    if "y" in plot.logarithmic:
        axes.set_yscale("log")
    if plot.logarithmic:  # labels of minor ticks would overlap
        axes.minorticks_off()
    axes.set_title(plot.title, size=11.5, color=INK, loc="left", pad=9.6 + 72.0 * LEGEND_ROW * legend_rows)
    axes.set_xlabel(plot.x_label, size=10.5, color=INK)
    axes.set_ylabel(plot.y_label, size=10.5, color=INK)
    axes.tick_params(labelsize=9.5, colors=PALE, labelcolor=INK)
    axes.grid(color="#e7e9ec", lw=0.8)
    axes.set_axisbelow(True)
    for side in axes.spines.values():
        side.set_color("#cfd3d9")
    labels = sum(bool(series.label) for series in plot.series)
    if labels:  # above the axes, where no data can be hidden
        axes.legend(
            loc="lower left", bbox_to_anchor=(-0.01, 0.985), ncol=-(-labels // legend_rows), fontsize=9.5, frameon=False,
            labelcolor=INK, handlelength=1.4, handletextpad=0.5, columnspacing=1.4, borderpad=0.2, labelspacing=0.25,
        )  # fmt: skip


class Panel(NamedTuple):
    view: View
    aspect: float  # width / height
    reach: float  # m, from the centre to the farthest corner of the section shown


def _panels(outcome: Outcome) -> list[Panel]:
    """One panel per moment; moments without a camera of their own share a view that fits all of them."""
    shared = [moment for moment in outcome.moments if moment.camera is None]
    common = _fitted(outcome.camera, shared)
    return [common if moment.camera is None else _fitted(moment.camera, [moment]) for moment in outcome.moments]


def _fitted(camera: Camera, moments: Sequence[Moment]) -> Panel:
    axes = view_axes(camera.eye, camera.up)
    clouds = [_box_of(tube) @ axes.T for moment in moments for tube in moment.tubes]
    rods = float(np.ptp(np.concatenate(clouds), axis=0).max()) if clouds else math.inf
    for moment in moments:
        for solid in moment.solids:
            surface = solid_surface(solid, 1.0, np.zeros(3))
            local = surface.vertices @ axes.T
            if not surface.unbounded and np.ptp(local, axis=0).max() < MUCH_LARGER * rods:
                clouds.append(local)
    points = np.concatenate(clouds) if clouds else np.array([[-1.0] * 3, [1.0] * 3])
    low, high = points.min(axis=0), points.max(axis=0)
    centre = 0.5 * (low + high) @ axes if camera.centre is None else np.asarray(camera.centre, dtype=float)
    across, along = (1.0 + MARGIN) * (high - low)[:2]
    aspect = min(max(across / max(along, 1e-9), MIN_ASPECT), MAX_ASPECT)
    along = max(along, across / aspect) if camera.height is None else camera.height
    return Panel(View(axes, centre, along), aspect, 0.5 * float(np.linalg.norm(high - low)))


def _show(axes: Any, moment: Moment, panel: Panel, width: float, height: float) -> None:
    size = (round(width * DPI), round(height * DPI))
    view = panel.view
    surfaces = [tube_surface(tube) for tube in moment.tubes]
    for solid in moment.solids:
        surface = solid_surface(solid, 2.2 * panel.reach, view.centre)
        if (
            not surface.unbounded or float(surface.normals[0] @ view.axes[2]) > 0.02
        ):  # seen from behind, a plane would hide everything
            surfaces.append(surface)
    thick = [float(np.mean(np.asarray(tube.radius))) for tube in moment.tubes]
    closeness = 2.5 * float(np.median(thick)) if thick else math.inf
    image = render(surfaces, view, size, min(max(closeness, 0.01 * view.height), 0.08 * view.height))
    axes.imshow(image, interpolation="nearest", aspect="auto")
    axes.set_xticks([])
    axes.set_yticks([])


def _box_of(tube: Tube) -> Array:
    """Points of a tube displaced by its radius along all axes, which bound it from all sides."""
    x = np.asarray(tube.points, dtype=float)
    radius = float(np.max(np.asarray(tube.radius)))
    return np.concatenate([x + radius * axis for axis in (*np.eye(3), *-np.eye(3))])
