"""Runs one of the workloads W10 to W17 and prints a line for each frame.

`python -m tendril.bench.masses W10 50 --frames 30` prints processor seconds, the report, the worst overlap in radii of the thinner
rod, crossings and energy of each frame. Overlaps and crossings are found from positions by the checker of the tests, which shares
no code with the solver.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import Scene, Simulation
from .mass_scenes import WORKLOADS
from .rows import Timer

# Kernels are compiled in the first frame, which is therefore run twice.


@dataclass
class FrameRecord:
    """Measurements of one frame."""

    seconds: float  # of processor time
    wall: float
    overlap: float  # radii of the thinner rod
    pair: str
    deep: int  # pairs of edges deeper than a tenth of a radius
    crossings: int  # since the frame before; on chords between frames unless the simulation shows its steps
    steps: int  # snapshots that crossings were looked for in
    report: Any


def run(
    scene: Scene, frames: int, *, threads: int | None = None, check: bool = True, show: bool = False
) -> list[FrameRecord]:
    from ..tests.support.ccd_checker import Checker
    from ..tests.support.snapshots import Follower

    sim = Simulation(scene, threads=threads)
    state = sim.state()
    sim.step_frame()  # compiles
    sim.restore(state, sim.first_frame)
    follower = Follower(sim, Checker(scene)) if check else None
    records = []
    for _ in range(frames):
        checking = 0.0 if follower is None else follower.seconds
        with Timer() as timer:
            frame = sim.step_frame()
        checking = 0.0 if follower is None else follower.seconds - checking
        deepest, crossings, steps = (0.0, "", 0), 0, 0
        if follower is not None:
            deepest, crossings, steps = follower.end_frame(frame)
        records.append(
            FrameRecord(
                timer.processor - checking,
                timer.wall,
                deepest[0],
                deepest[1],
                deepest[2],
                crossings,
                steps,
                frame.report,
            )
        )
        if show:
            print(line_of(frame.number, records[-1]), flush=True)
    return records


def line_of(number: int, record: FrameRecord) -> str:
    report = record.report
    more = "".join(
        f" {name} {getattr(report, name):.3g}" for name in ("worst_overlap", "contacts") if hasattr(report, name)
    )
    return (
        f"{number:4d} {record.seconds:8.3f} s  iterations {report.iterations:6d} halvings {report.halvings:4d}"
        f" fallbacks {report.fallbacks:4d} failures {report.failures:4d}{more}  overlap {record.overlap:7.4f} r"
        f" deep {record.deep:4d} crossings {record.crossings:3d} ({record.steps} steps)"
        f"  energy {report.energies.total:.5g} J kinetic {report.energies.kinetic:.4g} J"
        f"  {record.pair if record.overlap > 0.1 else ''}"
    ).rstrip()


def summary(records: list[FrameRecord]) -> dict[str, float]:
    seconds = [record.seconds for record in records]
    energies = np.array([record.report.energies.total for record in records])
    return {
        "median": float(np.median(seconds)),
        "worst": max(seconds),
        "overlap_radii": max(record.overlap for record in records),
        "crossings": sum(record.crossings for record in records),
        "failures": sum(record.report.failures for record in records),
        "halvings": sum(record.report.halvings for record in records),
        "energy_gain": float(np.diff(energies).max(initial=0.0)),
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workload", choices=sorted(WORKLOADS))
    parser.add_argument("size", nargs="?", help="number of rods, segments or cells; for W12 the model")
    parser.add_argument("--frames", type=int, help="by default those of the workload")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--seconds", type=float, help="stop after this time on the clock")
    parser.add_argument("--no-check", action="store_true", help="times only")
    options = parser.parse_args(arguments)
    make, frames = WORKLOADS[options.workload]
    scene = make(options.size)
    vertices = sum(entry.rod.vertex_count for entry in scene.entries)
    print(
        f"{options.workload} {options.size or ''}: {len(scene.entries)} rods, {vertices} vertices, load {os.getloadavg()[0]:.1f}"
    )
    began = time.perf_counter()
    records = run(scene, options.frames or frames, threads=options.threads, check=not options.no_check, show=True)
    print(", ".join(f"{key.replace('_', ' ')} {value:.4g}" for key, value in summary(records).items()))
    print(f"took {time.perf_counter() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
