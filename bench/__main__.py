"""`make bench`: the workloads, how time grows, what starting costs; as a table and as out/bench.json.

Each time is also given in runs of a fixed reference kernel in the same process, so that machines can be compared. Ends with code 1
if something takes longer, or is less accurate, than its limit.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..core import Material, Rod, Scene, Simulation
from . import (
    blender,
    body_workloads,
    clothoid_workloads,
    compact_workloads,
    contact_workloads,
    net_workloads,
    workloads,
)
from .reference import reference_seconds

SEGMENTS = [200 * 2**k for k in range(7)]  # in one rod
RODS = [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10240]  # of 25 segments


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tendril bench", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/bench.json"))
    parser.add_argument("--quick", action="store_true", help="the workloads alone")
    options = parser.parse_args(arguments)
    unit = reference_seconds()
    rows: list[dict[str, Any]] = []
    missed: list[str] = []

    def add(name: str, seconds: float, limits: dict[str, float] | None = None, **figures: Any) -> None:
        rows.append({"name": name, "seconds": seconds, "reference_runs": seconds / unit, **figures})
        if limits:
            rows[-1]["limits"] = limits
            missed.extend(
                f"{name}: {key} {rows[-1][key]:.4g}, at most {most:g}"
                for key, most in limits.items()
                if not rows[-1][key] <= most
            )
        remarks = ", ".join(
            f"{key.replace('_', ' ')} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
            for key, value in figures.items()
        )
        print(f"{name:44} {1e3 * seconds:11.2f} ms {seconds / unit:11.1f} ref   {remarks}", flush=True)

    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"one run of the reference kernel: {1e3 * unit:.3f} ms\n")
    for name, work in workloads.WORKLOADS.items():
        result = workloads.run(name)
        add(f"{name} {work.__doc__.split(':')[1].split(',')[0].strip()}", result["seconds"], **result["figure"])
    seconds, figure = workloads.best_of(2, workloads.swinging_rope_finely)
    add("W2 with the energy kept", seconds, **figure)
    for name, work in contact_workloads.CONTACT_WORKLOADS.items():
        seconds, figure = workloads.best_of(contact_workloads.TIMES.get(name, 1), work)
        title = (work.__doc__ or "").split(":")[1].split(",")[0].strip()
        add(f"{name} {title}", seconds, contact_workloads.LIMITS[name], **figure)
    for name, seconds, limits, figure in (
        *compact_workloads.table(),
        *net_workloads.rows(),
        *clothoid_workloads.rows(),
        *body_workloads.rows(),
        *blender.rows(),
    ):
        add(name, seconds, limits, **figure)
    if not options.quick:
        for name, seconds, figure in contact_scaling():
            limits = {"growth": contact_workloads.MOST_GROWTH} if "growth" in figure else None
            add(name, seconds, limits, **figure)
        for number, seconds in step_times("segments in one rod", SEGMENTS, one_rod):
            add(f"a step, {number} segments in one rod", seconds, per_segment_us=1e6 * seconds / number)
        for number, seconds in step_times("rods", RODS, many_rods):
            add(f"a step, {number} rods of 25 segments", seconds, per_rod_us=1e6 * seconds / number)
        print(f"arrays allocated by 19 steps more: {allocations_of_a_step()}")
        add("first frame after import, warm cache", first_frame(cold=False))
        add("first frame after import, cold cache", first_frame(cold=True))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"reference_seconds": unit, "rows": rows}, indent=1))
    print(f"\nwritten to {options.out}")
    for miss in missed:
        print(f"over its limit: {miss}", file=sys.stderr)
    return 1 if missed else 0


def contact_scaling() -> Iterator[tuple[str, float, dict[str, float]]]:
    """Frames of hair that lies on a plane, ever more of it; and the same number of strands, ever more of them lying.

    `growth` is that of time per doubling, from the row before."""
    lying = [(contact_workloads.STRANDS[-3], part) for part in contact_workloads.LYING]
    for cases in ([(count, 1.0) for count in contact_workloads.STRANDS], lying):
        before: tuple[float, int] | None = None
        for count, part in cases:
            seconds, contacts = contact_workloads.lying_hair(count, part)
            figure: dict[str, float] = {"contacts": contacts, "per_contact_us": 1e6 * seconds / max(contacts, 1)}
            if before is not None:
                figure["growth"] = contact_workloads.growth(*before, seconds, contacts)
            before = seconds, contacts
            yield f"a frame, {part * count:g} of {count} strands lying", seconds, figure


def one_rod(segments: int) -> Simulation:
    """A cable that hangs in waves between two pins, its segments always of the same length."""
    s = 0.02 * np.arange(segments + 1)
    points = np.stack([s, 0.002 * np.sin(20.0 * s), np.zeros_like(s)], axis=1)
    scene = Scene()
    scene.pin(scene.add(Rod.from_points(points, radius=5e-3, material=Material(1e7, 1000.0, 0.5))), (0, segments))
    return Simulation(scene, substeps=1)


def many_rods(count: int) -> Simulation:
    scene = Scene()
    s = 0.01 * np.arange(26)
    material = Material.preset("human hair")
    for k in range(count):
        points = np.stack([s, np.full(26, 1e-3 * k), 0.1 * s], axis=1)
        scene.clamp(scene.add(Rod.from_points(points, radius=40e-6, material=material)), "start")
    return Simulation(scene, substeps=1)


def step_times(what: str, sizes: list[int], make: Any) -> list[tuple[int, float]]:
    """Seconds of a frame of one step for each size: the least of several, all from the same state."""
    times = []
    for size in sizes:
        sim = make(size)
        state = sim.state()
        least = np.inf
        for _ in range(5 if size < 5000 else 3):
            sim.restore(state, sim.first_frame)
            start = time.perf_counter()
            sim.step_frame()
            least = min(least, time.perf_counter() - start)
        times.append((size, least))
    growth = [b / a for (_, a), (_, b) in itertools.pairwise(times)]
    print(f"growth of a step's time per doubling of {what}: {', '.join(f'{g:.2f}' for g in growth)}")
    return times


def allocations_of_a_step() -> int:
    """How often numba's runtime is asked for memory by a step: a call of twenty steps less a call of one."""
    from numba.core.runtime import _nrt_python, rtsys

    sim = one_rod(200)
    sim.step_frame()
    block, forces, still = sim.blocks[0], np.zeros((201, 3)), np.zeros(3)
    _nrt_python.memsys_enable_stats()
    counts = []
    for steps in (1, 20):
        before = rtsys.get_allocation_stats().alloc
        block.free_steps(1e-3, steps, forces, still, 0.0, 0.0, False)
        counts.append(rtsys.get_allocation_stats().alloc - before)
    return int(counts[1] - counts[0])


def first_frame(cold: bool) -> float:
    """Seconds from the start of Python's import to the first frame, in a process of its own."""
    code = (
        "import time; start = time.perf_counter()\n"
        "import numpy as np\n"
        "from tendril.core import Material, Rod, Scene, Simulation\n"
        "points = np.linspace((0, 0, 0), (1, 0, 0), 51)\n"
        "scene = Scene(); rope = scene.add(Rod.from_points(points, 0.005, Material.preset('nylon rope')))\n"
        "scene.clamp(rope, 'start')\n"
        "Simulation(scene).step_frame()\n"
        "print(time.perf_counter() - start)\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ)
        if cold:
            environment["NUMBA_CACHE_DIR"] = folder
        result = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
        )
    return float(result.stdout.split()[-1])


if __name__ == "__main__":
    sys.exit(main())
