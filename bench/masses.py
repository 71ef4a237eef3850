"""Runs one of the workloads W10 to W17 and prints a line for each frame.

`python -m tendril.bench.masses W10 50 --frames 30` prints processor seconds, the report, the worst overlap in radii of the thinner
rod, crossings and energy of each frame. Overlaps and crossings are found from positions by the checker of the tests, which shares
no code with the solver.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import Scene, Simulation
from ..core.run.warm_up import warm_up
from .mass_scenes import WORKLOADS, heap
from .rows import Line, Row, Timer, growth_line

MOST_SECONDS = 60.0  # on the clock, after which a row of the benchmark stops with the frames it has
OVERLAP = 0.1  # radii
GROWTH_FRAMES = 24

# Workload, sizes, and those of `--full`: (size, worst frame, median frame) with limits in processor seconds.
Case = tuple[str | None, float, float]
LIMITS: dict[str, tuple[str, tuple[Case, ...], tuple[Case, ...]]] = {
    "W10": ("heap of {}", (("50", 1.0, math.inf), ("200", 4.0, math.inf)), (("1000", 20.0, math.inf),)),
    "W11": ("hair of {}", (("300", 0.3, math.inf), ("1000", 1.0, math.inf)), (("5000", 6.0, math.inf),)),
    "W12": (
        "coil, {}",
        tuple((model, 0.5, 0.05) for model in ("der", "net", "compact", "clothoid", "der2008")),
        (("corde", math.inf, math.inf),),  # explicit: its free fall alone takes seconds
    ),
    "W13": ("ply of 19 yarns", ((None, 1.0, math.inf),), ()),
    "W14": ("tangle of {} segments", (("3500", 2.0, math.inf),), (("5000", 2.0, math.inf),)),
    "W15": ("net on a sphere", ((None, 0.3, 0.1),), ()),
    "W16": ("30 clothoids on a box", ((None, 0.2, 0.05),), ()),
    "W17": ("limp hair on head and shoulders", ((None, 0.6, 0.3),), ()),
}
UNDRIVEN = ("W10", "W12", "W14", "W15", "W16")  # no energy is put in
TIGHTER = {"W12": 0.01}  # largest overlap in radii where it is not OVERLAP


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
    scene: Scene,
    frames: int,
    *,
    threads: int | None = None,
    check: bool = True,
    show: bool = False,
    most_seconds: float = math.inf,
) -> list[FrameRecord]:
    """Simulates a scene with default settings; stops early after `most_seconds` on the clock."""
    warm_up({entry.model for entry in scene.entries}, True)
    sim = Simulation(scene, threads=threads)
    state = sim.state()
    sim.step_frame()  # loads compiled code
    sim.restore(state, sim.first_frame)
    follower = _follow(sim) if check else None
    records: list[FrameRecord] = []
    began = time.perf_counter()
    while len(records) < frames and time.perf_counter() - began < most_seconds:
        with Timer() as timer:
            frame = sim.step_frame()
        record = FrameRecord(timer.processor, timer.wall, 0.0, "", 0, 0, 0, frame.report)
        if follower is not None:
            record.seconds -= follower.take_seconds()
            (record.overlap, record.pair, record.deep), record.crossings, record.steps = follower.end_frame(frame)
        records.append(record)
        if show:
            print(line_of(frame.number, record), flush=True)
    return records


def _follow(sim: Simulation) -> Any:
    from ..tests.support.ccd_checker import Checker
    from ..tests.support.snapshots import Follower

    return Follower(sim, Checker(sim.scene))


def line_of(number: int, record: FrameRecord) -> str:
    report = record.report
    more = "".join(f" {name} {getattr(report, name):.3g}" for name in ("overlap",))
    return (
        f"{number:4d} {record.seconds:8.3f} s  iterations {report.iterations:6d} halvings {report.halvings:4d}"
        f" fallbacks {report.fallbacks:4d} failures {report.failures:4d}{more}  overlap {record.overlap:7.4f} r"
        f" deep {record.deep:4d} crossings {record.crossings:3d} ({record.steps} steps)"
        f"  energy {report.energies.total:.5g} J kinetic {report.energies.kinetic:.4g} J"
        f"  {record.pair if record.overlap > 0.1 else ''}"
    ).rstrip()


def summary(records: list[FrameRecord]) -> dict[str, float]:
    seconds = [record.seconds for record in records]
    return {
        "median": float(np.median(seconds)),
        "worst": max(seconds),
        "overlap_radii": max(record.overlap for record in records),
        "crossings": sum(record.crossings for record in records),
        "failures": sum(record.report.failures for record in records),
        "halvings": sum(record.report.halvings for record in records),
        "energy_gain": energy_gain([record.report.energies for record in records]),
    }


def energy_gain(energies: list[Any]) -> float:
    """Largest rise of the total energy above all values before, relative to what there was at first and what gravity did."""
    total, gravity = (np.array([getattr(one, name) for one in energies]) for name in ("total", "gravity"))
    scale = energies[0].kinetic + energies[0].elastic + np.ptp(gravity)
    return float(np.max(total - np.maximum.accumulate(total[[0, *range(len(total) - 1)]])) / max(scale, 1e-300))


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
    records = run(
        scene,
        options.frames or frames,
        threads=options.threads,
        check=not options.no_check,
        show=True,
        most_seconds=options.seconds or math.inf,
    )
    print(", ".join(f"{key.replace('_', ' ')} {value:.4g}" for key, value in summary(records).items()))
    print(f"took {time.perf_counter() - began:.0f} s")
    return 0


# Rows of the benchmark


def _row(name: str) -> Row:
    title, cases, more = LIMITS[name]

    def measure(full: bool) -> Iterator[Line]:
        make, frames = WORKLOADS[name]
        for size, worst, median in (*cases, *more) if full else cases:
            records = run(make(size), frames, most_seconds=MOST_SECONDS)
            figures = summary(records) | {"missing_frames": frames - len(records)}
            limits = {"seconds": worst, "overlap_radii": TIGHTER.get(name, OVERLAP), "missing_frames": 0.0}
            if median < math.inf:
                limits["median"] = median
            if name in UNDRIVEN:
                limits["energy_gain"] = 1e-3
            if max(record.steps for record in records) > 1:  # chords between frames cross where rods do not
                limits["crossings"] = 0.0
            yield Line(f"{name} {title.format(size)}, worst frame", figures.pop("worst"), limits, figures)

    return Row(name, measure, full_only=True)


def heap_growth(full: bool) -> Iterator[Line]:
    """Mean processor seconds of a frame of W10, landing included, for more and more strands."""
    sizes, times = (50, 100, 200, 500, 1000, 2000) if full else (50, 100, 200), []
    for size in sizes:
        records = run(heap(size), GROWTH_FRAMES, check=False, most_seconds=size * MOST_SECONDS / 50.0)
        times.append(float(np.mean([record.seconds for record in records])))
        figures = {"us_per_strand": 1e6 * times[-1] / size, "missing_frames": GROWTH_FRAMES - len(records)}
        yield Line(f"heap of {size}, a frame", times[-1], {"missing_frames": 0.0}, figures)
        if figures["missing_frames"]:
            return  # the landing is not covered, so that growth would mean nothing
    yield growth_line("heap of n, growth", sizes, times, 1.15)


def two_cores(_full: bool) -> Iterator[Line]:
    """Time on the clock of W10 on two threads over that on one."""
    walls = [sum(record.wall for record in run(heap(200), 16, check=False, threads=count)) for count in (1, 2)]
    yield Line(
        "heap of 200 on two threads, 16 frames",
        walls[1],
        {"of_one_thread": 1.0 / 1.6},
        {"of_one_thread": walls[1] / walls[0]},
    )


ROWS = (
    *(_row(name) for name in LIMITS),
    Row("heap growth", heap_growth, full_only=True),
    Row("heap threads", two_cores, full_only=True),
)


if __name__ == "__main__":
    sys.exit(main())
