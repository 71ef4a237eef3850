"""Runs Tendril and other programs (peers) on the same workloads and prints one table: `python -m tendril.bench.peers`.

A peer that cannot be installed, or fails, has the reason in its row instead of a time. Ends with code 1 if Tendril itself fails.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from datetime import date
from pathlib import Path
from typing import Any

from ...core.compile.version import VERSION
from . import environment
from .environment import ROOT, Peer, PeerError

WORKLOADS = {
    "W1": "cantilever falls to rest, 50 segments, 2 s",
    "W2": "undamped rope swings, 100 segments, 5 s",
    "W3": "1,000 shaken strands of hair, 25 segments each, per frame",
    "W4": "critical twist of Michell's ring, 60 segments",
    "W5": "rope of 150 segments falls on three cylinders and touches itself, 3 s",
    "heap": "20 strands of 25 segments fall on each other and on a floor, per frame",
}
FREE, TOUCHING = ("W1", "W2", "W3"), ("W5", "heap")
PEERS = (
    Peer("MuJoCo", "mujoco_workloads", "classic", (*FREE, "W4")),
    Peer("PyElastica", "pyelastica_workloads", "classic", (*FREE, "W4")),
    Peer("newton", "newton_workloads", "newton", (*FREE, *TOUCHING)),
    Peer("dismech-newton", "dismech_workloads", "dismech", (*FREE, *TOUCHING)),
    Peer("Blender cloth", "blender_workloads", "", ("W1", "W2", "W5"), arguments=("cloth",)),
    Peer("Blender particle hair", "blender_workloads", "", ("W3",), arguments=("particle hair",)),
    *(
        Peer(f"Blender {kind}", "blender_workloads", "blender", ("W3",), "3.13", (kind,))
        for kind in ("Hair Dynamics", "Hair Dynamics (100 substeps)")
    ),
)
HEAD = ("workload", "program", "seconds", "x Tendril", "figures")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tendril.bench.peers", description=__doc__)
    parser.add_argument("workloads", nargs="*", metavar="W", help=f"one of {', '.join(WORKLOADS)}; default: all")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the table to this file, as Markdown")
    options = parser.parse_args()
    unknown = [name for name in options.workloads if name not in WORKLOADS]
    if unknown:
        parser.error(f"there is no workload {unknown[0]}: choose from {', '.join(WORKLOADS)}")
    busy = os.getloadavg()[0]
    if busy > 0.5:
        print(
            f"Other programs are running on this machine (load {busy:.1f}): processor times may be a little too long."
        )
    results = measure(options.workloads or list(WORKLOADS))
    rows = [row(result, results) for result in results]
    print(plain_table(rows))
    record = {"date": date.today().isoformat(), "cores": os.cpu_count(), "load": busy, "results": results}
    out = ROOT / "out" / "peers.json"
    out.parent.mkdir(exist_ok=True)
    out.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if options.markdown:
        options.markdown.write_text(markdown(rows, {result["workload"] for result in results}), encoding="utf-8")
    return 1 if any("error" in result for result in results if result["program"] == "Tendril") else 0


def measure(workloads: list[str]) -> list[dict[str, Any]]:
    """Results of all programs on all workloads. A program that failed has the key "error", a sentence, instead of "seconds"."""
    missing = environment.prepare(PEERS)
    for name, reason in missing.items():
        print(f"{name}: {reason}", flush=True)
    results = []
    for workload in workloads:
        results.append(_tendril(workload))
        for peer in PEERS:
            if workload not in peer.workloads:
                continue
            print(f"{workload} on {peer.name} ...", flush=True)
            try:
                if peer.name in missing:
                    raise PeerError(missing[peer.name])
                results.append(environment.run(peer, workload))
            except PeerError as error:
                results.append({"program": peer.name, "version": "", "workload": workload, "error": str(error)})
    return results


def _tendril(workload: str) -> dict[str, Any]:
    result: dict[str, Any] = {"program": "Tendril", "version": VERSION, "workload": workload}
    print(f"{workload} on Tendril ...", flush=True)
    try:
        return result | _on_processor(tendril_run(workload))
    except Exception as error:  # any failure: the rows of the peers are still worth having
        return result | {"error": " ".join(str(error).split()) or type(error).__name__}


def tendril_run(workload: str) -> dict[str, Any]:
    from .. import contact_workloads, workloads

    touching = {"W5": contact_workloads.rope_on_cylinders, "heap": contact_workloads.heap_on_floor}
    return workloads.run(workload, work=touching.get(workload))


def _on_processor(result: dict[str, Any]) -> dict[str, Any]:
    """The result with processor time, as the peers are measured. The frame times among the figures are those of the clock."""
    figure = {key: value for key, value in result["figure"].items() if not key.endswith("_frame")}
    return {**result, "seconds": figure.pop("processor_seconds"), "figure": figure}


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
        f"load {os.getloadavg()[0]:.1f}, by `make bench-peers`. Seconds are processor time, summed over threads.",
        "",
        *(f"- **{name}**: {what}" for name, what in WORKLOADS.items() if name in workloads),
        "",
        f"| {' | '.join(HEAD).replace('x Tendril', '× Tendril')} |",
        "|---|---|---:|---:|---|",
        *(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in rows),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
