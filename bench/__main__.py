"""`make bench`: measures the workloads, the growth of time with size, and start-up; prints a table and writes out/bench.json.

Each time is also given in runs of a fixed reference kernel timed in the same process, so that machines can be compared. Ends with
code 1 if a time or a figure exceeds its limit.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

from .reference import reference_seconds
from .rows import Line, Row
from .table import ROWS

BUSY = 0.5  # load average above which wall-clock times are too long to be compared


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tendril bench", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/bench.json"), metavar="FILE")
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="measure this row only; may be repeated"
    )
    parser.add_argument(
        "--full", action="store_true", help="larger sizes and long rows: up to an hour instead of ten minutes"
    )
    parser.add_argument("--list", action="store_true", help="print the names of the rows and stop")
    options = parser.parse_args(arguments)
    if options.list:
        print("\n".join(row.name + (" (with --full)" if row.full_only else "") for row in ROWS))
        return 0
    unknown = set(options.only) - {row.name for row in ROWS}
    if unknown:
        parser.error(f"there is no row {sorted(unknown)[0]!r}; --list prints all names")
    return run(chosen(options.only, options.full), options.full, options.out)


def chosen(only: list[str], full: bool) -> list[Row]:
    """The rows named, or without names all that do not need `full`."""
    return [row for row in ROWS if (row.name in only if only else full or not row.full_only)]


def run(rows: list[Row], full: bool, out: Path) -> int:
    unit = reference_seconds()
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"one run of the reference kernel: {1e3 * unit:.3f} ms")
    if load > BUSY:
        print(f"Other programs are running on this machine (load {load:.1f}), so wall-clock times are too long.")
    began = time.perf_counter()
    entries: list[dict[str, Any]] = []
    for number, row in enumerate(rows):
        print(f"\n[{number + 1}/{len(rows)}, {_clock(time.perf_counter() - began)}] {row.name}", flush=True)
        wall, processor = time.perf_counter(), _processor_seconds()
        for line in row.measure(full):
            entries.append(_entry(row, line, unit))
            print(f"  {_text(line, unit)}", flush=True)
        wall, processor = time.perf_counter() - wall, _processor_seconds() - processor
        print(f"  took {wall:.1f} s and {processor:.1f} s of processor time", flush=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({"reference_seconds": unit, "load": load, "rows": entries}, indent=1))
    missed = [text for entry in entries for text in _missed(entry)]
    print(f"\n{len(rows)} rows in {_clock(time.perf_counter() - began)}, written to {out}")
    for text in missed:
        print(f"limit exceeded: {text}", file=sys.stderr)
    if missed and load > BUSY:
        print("The machine was busy: repeat these rows with --only when it is idle.", file=sys.stderr)
    return 1 if missed else 0


def _entry(row: Row, line: Line, unit: float) -> dict[str, Any]:
    entry = {"row": row.name, "name": line.name, "seconds": line.seconds, "reference_runs": line.seconds / unit}
    return entry | line.figures | ({"limits": line.limits} if line.limits else {})


def _missed(entry: dict[str, Any]) -> list[str]:
    return [
        f"{entry['name']}: {key} {entry[key]:.4g}, at most {most:g} (row {entry['row']})"
        for key, most in entry.get("limits", {}).items()
        if not entry[key] <= most
    ]


def _text(line: Line, unit: float) -> str:
    figures = ", ".join(
        f"{key.replace('_', ' ')} {value:.4g}" if isinstance(value, float) else f"{key.replace('_', ' ')} {value}"
        for key, value in line.figures.items()
    )
    return f"{line.name:48} {1e3 * line.seconds:11.2f} ms {line.seconds / unit:11.1f} ref   {figures}".rstrip()


def _processor_seconds() -> float:
    """Of this process and the processes it has started and waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


if __name__ == "__main__":
    sys.exit(main())
