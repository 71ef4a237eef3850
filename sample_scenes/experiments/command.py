"""What `python -m tendril experiment` does: runs, tells the numbers, draws."""

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
    """Draws into a file, if there is one. The exit code: 1 if a number is not as expected. `model` is that of the rods, where
    there is a choice."""
    if file is not None:  # what can't be drawn or written is said before time is spent
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
    amiss = [number.name for number in outcome.numbers if not number.within]
    if amiss:
        print(f"tendril: {experiment.name}: not as expected: {', '.join(amiss)}", file=sys.stderr)
    return OUT_OF_TOLERANCE if amiss else 0


def report(outcome: Outcome) -> str:
    """The numbers as a table."""

    def verdict(number: Number) -> str:
        if not number.within:
            return "OUT"
        return "ok" if number.expected else ""

    head = ("", "measured", "expected", "")
    return _aligned([head, *((n.name, n.measured, n.expected, verdict(n)) for n in outcome.numbers)])


def _aligned(rows: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
