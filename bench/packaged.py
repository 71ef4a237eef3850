"""Start-up of the packaged zip of this platform and Python: with its precompiled kernels, cold, and compiled for this machine.

Each run is a process of its own with the package's core, unpacked, and an empty or given cache of compiled code.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .rows import Line, Row

SCRIPT = """
import hashlib, json, sys, time
import numpy as np
clock = time.process_time; start = clock()
from numba.core import event
compiled = []
class Listener(event.Listener):
    def on_start(self, happened): compiled.append(1)
    def on_end(self, happened): pass
event.register("numba:compile", Listener())
from tendril.core import Material, Mesh, Rod, Scene, Simulation
rope = Material.preset("nylon rope")
contact = sys.argv[1] == "contact"
if contact:
    scene = Scene(air_density=1.2, rod_contact=True)
    for k in range(3):
        points = np.linspace((0.2 * k, -0.5, 0.1 + 0.05 * k), (0.3, 0.5, 0.1 + 0.05 * k), 31)
        scene.add(Rod.from_points(points, 0.01, rope))
    scene.collide(Mesh([(-2, -2, 0), (2, -2, 0), (0, 2, 0), (0, 0, -1)], [(0, 1, 2), (1, 0, 3), (2, 1, 3), (0, 2, 3)]))
else:
    scene = Scene(air_density=1.2)
    for k in range(100):
        rod = scene.add(Rod.from_points(np.linspace((0, 0.1 * k, 0), (1, 0.1 * k, 0), 101), 0.005, rope))
        scene.clamp(rod, "start")
simulation = Simulation(scene)
simulation.step_frame()
first = clock() - start
start = clock()
for _ in range(24 if contact else 58):
    simulation.step_frame()
bits = hashlib.sha256(np.ascontiguousarray(simulation.state()).tobytes()).hexdigest()
print(json.dumps({"first": first, "compiled": len(compiled), "rest": clock() - start, "bits": bits}))
"""


def measure(folder: Path, cache: Path, scene: str) -> dict[str, Any]:
    """Runs a scene with the package in a folder."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    environment |= {"PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, scene], env=environment, capture_output=True, text=True, check=True, cwd=folder
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _packaged(_full: bool) -> Iterator[Line]:
    from ..packaging.package import package_here  # late: it needs bpy

    package = package_here(f"{sys.version_info[0]}.{sys.version_info[1]}")
    if not package.exists():
        print("  no package in out/packages: run make package-here first")
        return
    with tempfile.TemporaryDirectory() as temporary:
        cold, ready = Path(temporary, "cold"), Path(temporary, "ready")
        with zipfile.ZipFile(package) as archive:
            archive.extractall(ready / "tendril", [n for n in archive.namelist() if not n.startswith("wheels/")])
        shutil.copytree(ready, cold)
        shutil.rmtree(cold / "tendril" / "core" / "kernels", ignore_errors=True)
        for scene in ("free", "contact"):
            text = "25 frames with contact" if scene == "contact" else "100 ropes of 100 segments"
            first = measure(ready, Path(temporary, "empty"), scene)
            compiled = measure(cold, Path(temporary, "host"), scene)
            again = measure(cold, Path(temporary, "host"), scene)
            differs = int(first["bits"] != again["bits"])
            yield Line(
                f"{text}: first frame, precompiled", first["first"], {"compiled": 0, "seconds": 3.0},
                {"compiled": first["compiled"]},
            )  # fmt: skip
            yield Line(f"{text}: first frame, cold", compiled["first"], None, {"compiled": compiled["compiled"]})
            yield Line(f"{text}: first frame, compiled for this machine", again["first"])
            yield Line(
                f"{text}: other frames, precompiled", first["rest"], {"bits_differ": 0}, {"bits_differ": differs}
            )
            yield Line(f"{text}: other frames, compiled for this machine", again["rest"])


ROWS = (Row("packaged start", _packaged),)
