"""The numbers of a variant, a row per frame, and the tables of a whole sweep."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import Array, TendrilError
from ..core.store.archive import save_arrays
from .variants import DONE, NUMBERS, SHAPE, Outcome, write_text

if TYPE_CHECKING:
    from ..core import Frame, Scene, Simulation

COLUMNS = (
    *("frame", "time", "tip_x", "tip_y", "tip_z", "kinetic", "stretch", "bend", "twist", "gravity", "total"),
    *("peak_tension", "contacts", "overlap", "converged", "seconds"),
)


def measure(simulation: Simulation, frame: Frame, tip: int, seconds: float) -> list[Any]:
    """A row of `COLUMNS`, in SI units; overlap in radii, `seconds` the run time of the frame. Unknown values are empty."""
    from ..core.run.inspection import acting_contacts

    rods = range(len(simulation.scene.entries))
    strains = simulation.strains()
    known = [strains.tension(rod).max() for rod in rods if strains.knows_tension(rod)]
    place = frame.positions(tip)[-1].tolist() if rods else ["", "", ""]
    e = frame.report.energies
    energies = (e.kinetic, e.stretch, e.bend, e.twist, e.gravity, e.total)
    touching = len(acting_contacts(simulation).points)
    peak = float(max(known)) if known else ""
    converged = int(frame.report.converged)
    return [
        frame.number,
        frame.time,
        *place,
        *energies,
        peak,
        touching,
        frame.report.overlap,
        converged,
        round(seconds, 6),
    ]


class NumbersFile:
    """`numbers.csv` of one variant. Rows are written as frames are computed, so that a kill loses at most one."""

    def __init__(self, folder: Path, first: int) -> None:
        self.path = folder / NUMBERS
        self.first = first
        self.rows = _read_rows(self.path, first)

    def keep(self, count: int) -> None:
        """Drops all but the first `count` rows."""
        self.rows = self.rows[:count]
        write_text(self.path, _csv([COLUMNS, *self.rows]))

    @property
    def not_converged(self) -> int:
        """Number of frames in which the solver did not converge."""
        return sum(row[COLUMNS.index("converged")] == "0" for row in self.rows)

    def append(self, row: Sequence[Any]) -> None:
        self.rows.append([str(value) for value in row])
        try:
            with self.path.open("a", encoding="utf-8", newline="") as file:
                file.write(_csv([row]))
        except OSError as error:
            cure = f"the system says: {(error.strerror or str(error)).lower()}"
            raise TendrilError("file", str(self.path), cure) from None


def _read_rows(path: Path, first: int) -> list[list[str]]:
    """The rows of consecutive frames from the first one on, up to one that was cut off."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file))
    except (OSError, ValueError):
        return []
    rows = lines[1:] if lines and tuple(lines[0]) == COLUMNS else []
    good = (len(row) == len(COLUMNS) and row[0] == str(first + k) for k, row in enumerate(rows))
    return rows[: next((k for k, fits in enumerate(good) if not fits), len(rows))]


def save_shape(folder: Path, scene: Scene, first: Frame, last: Frame) -> None:
    """Positions of all rods in the first and the last frame, and the segments between them, for the contact sheet."""
    starts, ends, segments = [np.zeros((0, 3))], [np.zeros((0, 3))], [np.zeros((0, 2), np.int64)]
    count = 0
    for rod, entry in enumerate(scene.entries):
        starts.append(first.positions(rod))
        ends.append(last.positions(rod))
        segments.append(count + np.array([entry.rod.ends(edge) for edge in range(entry.rod.edge_count)], np.int64))
        count += entry.rod.vertex_count
    points = np.stack([np.concatenate(starts), np.concatenate(ends)]).astype(np.float32)
    save_arrays(folder / SHAPE, {"points": points, "segments": np.concatenate(segments)})


def load_shape(folder: Path) -> tuple[Array, Array] | None:
    """(2, n, 3) positions and (m, 2) segments; None if the file is missing or damaged."""
    try:
        with np.load(folder / SHAPE) as read:
            return read["points"], read["segments"]
    except (OSError, ValueError, KeyError):
        return None


def write_tables(out: Path, outcomes: Sequence[Outcome]) -> None:
    """`numbers.csv`, with a row per variant and frame, and `variants.csv`, with a row per variant and its extremes."""
    paths = [path for path, _ in outcomes[0].values] if outcomes else []
    long: list[Sequence[Any]] = [("variant", *paths, *COLUMNS)]
    short: list[Sequence[Any]] = [("variant", *paths, "status", *SUMMARY, "run_seconds", "not_converged", "message")]
    for one in outcomes:
        folder = Path(one.folder)
        values = [value for _, value in one.values]
        rows = _read_all(folder) if one.status == DONE else []
        long += [(folder.name, *values, *row) for row in rows]
        short.append(
            (folder.name, *values, one.status, *_summary(rows), round(one.seconds, 3), one.not_converged, one.message)
        )
    write_text(out / NUMBERS, _csv(long))
    write_text(out / "variants.csv", _csv(short))


SUMMARY = ("frames", "tip_x", "tip_y", "tip_z", "total", "peak_tension", "contacts", "overlap")
_LARGEST = ("peak_tension", "contacts", "overlap")  # over all frames; the others are those of the last frame


def _summary(rows: Sequence[Sequence[str]]) -> list[Any]:
    if not rows:
        return [0, *[""] * (len(SUMMARY) - 1)]
    told: list[Any] = [len(rows)]
    for name in SUMMARY[1:]:
        column = [row[COLUMNS.index(name)] for row in rows]
        told.append(max((float(value) for value in column if value), default="") if name in _LARGEST else column[-1])
    return told


def _read_all(folder: Path) -> list[list[str]]:
    try:
        with (folder / NUMBERS).open(encoding="utf-8", newline="") as file:
            return list(csv.reader(file))[1:]
    except OSError:
        return []


def _csv(rows: Sequence[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
