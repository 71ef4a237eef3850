"""Tendril and its peers on the same workloads, in one table: `python -m tendril.bench.peers`."""

from __future__ import annotations

import argparse
import json
import os
import platform
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

from . import environment
from .environment import ROOT, PeerError

WORKLOADS = {
    "W1": "cantilever falls to rest, 50 segments, 2 s",
    "W2": "undamped rope swings, 100 segments, 5 s",
    "W3": "1,000 shaken strands of hair, 25 segments each, per frame",
    "W4": "critical twist of Michell's ring, 60 segments",
}
PEERS = {"MuJoCo": "mujoco_workloads", "PyElastica": "pyelastica_workloads"}
HEAD = ("workload", "program", "seconds", "x Tendril", "figures")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tendril.bench.peers", description=__doc__)
    parser.add_argument("workloads", nargs="*", metavar="W", help=f"of {', '.join(WORKLOADS)}; all if none is named")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the table as Markdown, dated")
    options = parser.parse_args()
    unknown = [name for name in options.workloads if name not in WORKLOADS]
    if unknown:
        parser.error(f"there is no workload {unknown[0]}: choose from {', '.join(WORKLOADS)}")
    busy = os.getloadavg()[0]
    if busy > 0.5:
        print(f"Other work is running here (load {busy:.1f}): the times below are too long.")
    results = measure(options.workloads or list(WORKLOADS))
    rows = [row(result, results) for result in results]
    print(plain_table(rows))
    record = {"date": date.today().isoformat(), "cores": os.cpu_count(), "load": busy, "results": results}
    out = ROOT / "out" / "peers.json"
    out.parent.mkdir(exist_ok=True)
    out.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if options.markdown:
        options.markdown.write_text(markdown(rows, {result["workload"] for result in results}), encoding="utf-8")


def measure(workloads: list[str]) -> list[dict[str, Any]]:
    """All programs on all workloads. One that fails has its "error", a sentence, instead of its seconds."""
    missing = ""
    try:
        environment.prepare()
    except PeerError as error:
        missing = f"it could not be installed: {error}"
    results = []
    for workload in workloads:
        results.append(_tendril(workload))
        for program, script in PEERS.items():
            print(f"{workload} on {program} ...", flush=True)
            try:
                if missing:
                    raise PeerError(missing)
                results.append(environment.run(script, workload))
            except PeerError as error:
                results.append({"program": program, "version": "", "workload": workload, "error": str(error)})
    return results


def _tendril(workload: str) -> dict[str, Any]:
    with open(ROOT / "pyproject.toml", "rb") as file:
        version = tomllib.load(file)["project"]["version"]
    result: dict[str, Any] = {"program": "Tendril", "version": version, "workload": workload}
    print(f"{workload} on Tendril ...", flush=True)
    try:
        from ..workloads import run

        return result | run(workload)
    except Exception as error:  # whatever it is, the peers' rows are still worth having
        return result | {"error": " ".join(str(error).split()) or type(error).__name__}


def row(result: dict[str, Any], results: list[dict[str, Any]]) -> tuple[str, ...]:
    name = f"{result['program']} {result['version']}".strip()
    if "error" in result:
        return result["workload"], name, "", "", result["error"]
    ours = [
        other["seconds"]
        for other in results
        if other["workload"] == result["workload"] and other["program"] == "Tendril" and "seconds" in other
    ]
    ratio = f"{result['seconds'] / ours[0]:.3g}" if ours else ""
    remarks = [figure(key, value) for key, value in result.get("figure", {}).items()]
    if "scaled" in result:
        remarks.append(f"scaled {result['scaled']}")
    return result["workload"], name, f"{result['seconds']:.3g}", ratio, "; ".join(remarks)


def figure(key: str, value: float | str) -> str:
    """tip_error_percent, 2.1 -> "tip error 2.1 %"."""
    number = f"{value:.4g}" if isinstance(value, float) else str(value)
    words = key.split("_")
    if "percent" in words:
        words.remove("percent")
        number += " %"
    return f"{' '.join(words)} {number}"


def plain_table(rows: list[tuple[str, ...]]) -> str:
    widths = [max(len(line[column]) for line in (HEAD, *rows)) for column in range(len(HEAD) - 1)]
    lines = []
    for line in (HEAD, *rows):
        cells = [cell.ljust(width) for cell, width in zip(line, widths, strict=False)]
        lines.append("  ".join((*cells, line[-1])).rstrip())
    return "\n".join(lines)


def markdown(rows: list[tuple[str, ...]], workloads: set[str]) -> str:
    lines = [
        f"Measured on {date.today().isoformat()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        "by `make bench-peers`.",
        "",
        *(f"- **{name}**: {what}" for name, what in WORKLOADS.items() if name in workloads),
        "",
        f"| {' | '.join(HEAD).replace('x Tendril', '× Tendril')} |",
        "|---|---|---:|---:|---|",
        *(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in rows),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
