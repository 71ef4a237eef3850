"""Start-up and memory: time to the first frame with and without compiled code, and allocations of a step."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import numpy as np

from ..core.models.protocol import FreeSteps
from .rows import Line, Row
from .scaling import one_rod

FIRST_FRAME = """
import time; start = time.perf_counter()
import numpy as np
from tendril.core import Material, Rod, Scene, Simulation
points = np.linspace((0, 0, 0), (1, 0, 0), 51)
scene = Scene(); rope = scene.add(Rod.from_points(points, 0.005, Material.preset('nylon rope')))
scene.clamp(rope, 'start')
Simulation(scene).step_frame()
print(time.perf_counter() - start)
"""


def first_frame(cold: bool) -> float:
    """Seconds from the start of the import to the end of the first frame, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ)
        if cold:
            environment["NUMBA_CACHE_DIR"] = folder
        command = [sys.executable, "-c", FIRST_FRAME]
        result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(result.stdout.split()[-1])


def allocations_of_a_step() -> int:
    """Allocations by numba's runtime in 19 steps: those of a call with twenty steps minus those of a call with one."""
    from numba.core.runtime import _nrt_python, rtsys

    sim = one_rod(200)
    sim.step_frame()
    block, forces, wind = sim.blocks[0], np.zeros((201, 3)), np.zeros(3)
    _nrt_python.memsys_enable_stats()
    counts = []
    for steps in (1, 20):
        before = rtsys.get_allocation_stats().alloc
        block.free_steps(FreeSteps(1e-3, steps, forces, wind, 0.0, np.zeros(1)))
        counts.append(rtsys.get_allocation_stats().alloc - before)
    return int(counts[1] - counts[0])


def _allocations(_full: bool) -> Iterator[Line]:
    yield Line("allocations of 19 steps", 0.0, {"allocations": 0}, {"allocations": allocations_of_a_step()})


def _warm(_full: bool) -> Iterator[Line]:
    first_frame(cold=False)  # compiles if necessary
    yield Line("first frame after import, kernels compiled before", first_frame(cold=False))


def _cold(_full: bool) -> Iterator[Line]:
    yield Line("first frame after import, kernels compiled now", first_frame(cold=True))


ADD_ON = """
import bpy, time; start = time.process_time()
import tendril.addon
print(time.process_time() - start)
"""


def add_on_import() -> float:
    """Processor time in s, the least of some processes; the first one may write the compiled Python files."""
    times = []
    for _ in range(5):
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        result = subprocess.run(
            [sys.executable, "-c", ADD_ON], env=environment, capture_output=True, text=True, check=True
        )
        times.append(float(result.stdout.split()[-1]))
    return min(times)


def _add_on(_full: bool) -> Iterator[Line]:
    yield Line("import of the add-on", add_on_import(), {"seconds": 0.1})


ROWS = (
    Row("allocations", _allocations),
    Row("first frame", _warm),
    Row("compiling", _cold),
    Row("add-on import", _add_on),
)
