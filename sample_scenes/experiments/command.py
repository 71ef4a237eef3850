"""The command `python -m tendril experiment`: runs an experiment, prints its numbers and draws its picture."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from . import TABLE, Experiment
from .outcome import Number, Outcome
from .picture import check_installed, draw

OUT_OF_TOLERANCE = 1


def describe() -> str:
    """The table of experiments."""
    return _aligned([(experiment.name, experiment.title, experiment.source) for experiment in TABLE.values()])


def perform(experiment: Experiment, file: Path | None, model: str | None = None) -> int:
    """Runs an experiment and draws its picture if `file` is given. Returns the exit code: 1 if a number is out of tolerance."""
    if file is not None:  # reports missing packages and unwritable folders before the experiment is run
        check_installed()
        file.parent.mkdir(parents=True, exist_ok=True)
    title = experiment.title if model is None else f"{experiment.title}, {model}"
    print(f"{title} ({experiment.source})", flush=True)
    started = time.perf_counter()
    outcome = experiment.run() if model is None else experiment.run(model)
    seconds = time.perf_counter() - started
    print(f"\n{report(outcome)}\n", flush=True)
    if file is not None:
        draw(outcome, file, title, experiment.source)
        print(f"{file}, ", end="")
    print(f"{seconds:.1f} s")
    outside = [number.name for number in outcome.numbers if number.failed]
    if outside:
        print(f"tendril: {experiment.name}: out of tolerance: {', '.join(outside)}", file=sys.stderr)
    return OUT_OF_TOLERANCE if outside else 0


def report(outcome: Outcome) -> str:
    """The numbers as a table."""

    def verdict(number: Number) -> str:
        return "" if number.within is None else "ok" if number.within else "OUT"

    head = ("", "measured", "expected", "")
    return _aligned([head, *((n.name, n.measured, n.expected, verdict(n)) for n in outcome.numbers)])


def _aligned(rows: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
