"""Building blocks of the benchmark: rows, timers, and sweeps over sizes with the exponent of their growth."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np


class Line(NamedTuple):
    """One printed result."""

    name: str
    seconds: float
    limits: dict[str, float] | None = None  # largest admissible value of `seconds` or of a figure, by its name
    figures: dict[str, Any] = {}  # noqa: RUF012


class Row(NamedTuple):
    """One unit of the benchmark, chosen by its name with `--only`. `measure(full)` yields its lines."""

    name: str
    measure: Callable[[bool], Iterable[Line]]
    full_only: bool = False  # takes minutes, therefore left out unless `--full` is given


class Timer:
    """Wall-clock and processor time of a `with` block, in s. Processor time is summed over threads, but does not count other
    programs on the machine."""

    wall: float
    processor: float

    def __enter__(self) -> Timer:
        self.wall, self.processor = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_exception: object) -> None:
        self.processor = time.process_time() - self.processor
        self.wall = time.perf_counter() - self.wall


def sweep(
    name: str, sizes: Sequence[int], seconds_of: Callable[[int], float], limit: float, unit: str
) -> Iterator[Line]:
    """A line for each size, `name` formatted with it, then one with the exponent of growth, which may not exceed the limit."""
    times = []
    for size in sizes:
        times.append(seconds_of(size))
        yield Line(name.format(size), times[-1], None, {f"us_per_{unit}": 1e6 * times[-1] / size})
    yield growth_line(f"{name.format('n')}, growth", sizes, times, limit)


def growth_line(name: str, sizes: Sequence[float], seconds: Sequence[float], limit: float) -> Line:
    return Line(name, seconds[-1], {"exponent": limit}, {"exponent": exponent(sizes, seconds)})


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """p of seconds ~ size^p: least-squares slope over the three largest sizes, where constant costs matter least."""
    return float(np.polyfit(np.log(sizes[-3:]), np.log(seconds[-3:]), 1)[0])


def least_seconds(times: int, work: Callable[[], object]) -> float:
    """Shortest wall-clock time of several runs of the same work."""
    return _least(times, work, time.perf_counter)


def least_processor_seconds(times: int, work: Callable[[], object]) -> float:
    """Shortest processor time of several runs, summed over threads. Sweeps use it: other programs on the machine do not change it,
    so that the exponent of growth can be trusted."""
    return _least(times, work, time.process_time)


def _least(times: int, work: Callable[[], object], clock: Callable[[], float]) -> float:
    least = math.inf
    for _ in range(times):
        start = clock()
        work()
        least = min(least, clock() - start)
    return least
