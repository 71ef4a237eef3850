"""Overhead of Blender and the add-on around the core: `python -m tendril.bench.blender` prints one JSON line per result.

Runs in the bpy module without a window, in a process of its own: handlers and evaluation take part, drawing does not. Every frame
is timed in several runs and the shortest time counts, because other programs may be running.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .rows import Line, Row

OVERHEAD_LIMIT = {"overhead_percent": 10.0}
PLAYBACK_LIMIT = {"frame_ms": 1e3 / 60.0}
SHAPE_KEYS_LIMIT = {"seconds": 1.0}


def measure(_full: bool) -> Iterator[Line]:
    """Runs this module in a process of its own, because bpy changes signal handlers and global settings."""
    command = [sys.executable, "-m", __spec__.name if __name__ == "__main__" else __name__]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        if line.startswith('["'):
            yield Line(*json.loads(line))


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="tendril-bench-") as folder:
        os.environ["BLENDER_USER_RESOURCES"] = folder
        import bpy
        import tendril

        for work in (rope_overhead, hair_overhead, hair_playback, shape_keys):
            bpy.ops.wm.read_factory_settings(use_empty=True)
            tendril.register()
            for line in work(Path(folder)):
                print(json.dumps(line), flush=True)
            tendril.unregister()  # some Blender versions crash at exit if a handler is still registered


def rope_overhead(_folder: Path) -> Iterator[Line]:
    """A horizontal rope that swings down from its pinned end."""
    make_rope(101)
    yield overhead("Blender with a rope of 100 segments, a frame", frames=100, runs=30)


def hair_overhead(_folder: Path) -> Iterator[Line]:
    """Hair whose roots are shaken, 4 substeps."""
    hair = make_hair(1_000, 26)
    for frame in range(1, 26):
        hair.location.x = 0.02 * np.sin(2.0 * np.pi * (frame - 1) / 24)
        hair.keyframe_insert("location", frame=frame)
    yield overhead("Blender with 1,000 strands of 25 segments, a frame", frames=20, runs=2)


def hair_playback(folder: Path) -> Iterator[Line]:
    """Playback of cached frames, from memory and from disk."""
    import bpy

    from ..addon import memory

    scene, frames = bpy.context.scene, range(2, 8)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "hair.blend"))
    scene.tendril.use_disk_cache, scene.tendril.substeps = True, 1
    make_hair(10_000, 25)
    for frame in (1, *frames):
        scene.frame_set(frame)

    def play() -> float:
        return float(np.median(list(each_frame(frames))))

    for name, forget in (("memory", lambda: None), ("disk", memory.clear)):
        forget()
        scene.frame_set(frames[-1])
        seconds = min(play() for _ in range(5))
        title = f"playback of 10,000 strands of 25 points from {name}"
        yield Line(title, seconds, PLAYBACK_LIMIT, {"frame_ms": 1e3 * seconds})


def shape_keys(_folder: Path) -> Iterator[Line]:
    """Conversion of cached frames to shape keys."""
    import bpy

    scene = bpy.context.scene
    scene.frame_end = 250
    make_rope(200)
    for frame in range(1, 251):
        scene.frame_set(frame)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        bpy.ops.tendril.cache_to_bake()
        times.append(time.perf_counter() - start)
        bpy.ops.tendril.bake_delete()
    yield Line("250 frames of 200 points converted to shape keys", min(times), SHAPE_KEYS_LIMIT)


def overhead(name: str, frames: int, runs: int) -> Line:
    """Time of a frame beyond `Simulation.step_frame`, and the part of it outside the add-on's handlers, in which Blender evaluates
    the objects that moved. The handlers are timed in every other run only, so that timing them does not count as overhead."""
    import bpy

    from ..addon import live, memory
    from ..core import Simulation

    core, outside, blender = (np.full(frames, np.inf) for _ in range(3))
    for run in range(2 * runs):
        memory.clear()
        for frame in (1, 2, 3):  # builds the simulation and compiles
            bpy.context.scene.frame_set(frame)
        with ExitStack() as stack:
            inside = stack.enter_context(timed(Simulation, "step_frame"))
            handlers = [
                stack.enter_context(timed(live, name))
                for name in ("before_frame_change", "after_frame_change")
                if run % 2 == 0
            ]
            whole = np.array(list(each_frame(range(4, 4 + frames))))
        if handlers:
            blender = np.minimum(blender, whole - np.sum(handlers, axis=0))
        else:
            core, outside = np.minimum(core, inside), np.minimum(outside, whole - inside)
    total = float(core.sum() + outside.sum())
    figures = {
        "core_ms": 1e3 * float(core.mean()),
        "overhead_percent": 100.0 * float(outside.sum()) / total,
        "blender_alone_percent": 100.0 * float(blender.sum()) / total,
    }
    return Line(name, total / frames, OVERHEAD_LIMIT, figures)


@contextmanager
def timed(owner: Any, name: str) -> Iterator[list[float]]:
    """Repositions a function by one that is timed; yields the list of the seconds of its calls."""
    original, seconds = getattr(owner, name), []

    def measured(*given: Any) -> Any:
        start = time.perf_counter()
        result = original(*given)
        seconds.append(time.perf_counter() - start)
        return result

    setattr(owner, name, measured)
    try:
        yield seconds
    finally:
        setattr(owner, name, original)


def each_frame(frames: range) -> Iterator[float]:
    """Seconds of `frame_set` for each frame."""
    import bpy

    scene = bpy.context.scene
    for frame in frames:
        start = time.perf_counter()
        scene.frame_set(frame)
        yield time.perf_counter() - start


def make_rope(points: int) -> Any:
    import bpy

    curve = bpy.data.curves.new("Rope", "CURVE")
    curve.dimensions = "3D"
    positions = np.zeros((points, 4), dtype=np.float32)
    positions[:, 0], positions[:, 3] = np.linspace(0.0, 2.0, points), 1.0
    spline = curve.splines.new("POLY")
    spline.points.add(points - 1)
    spline.points.foreach_set("co", positions.ravel())
    return _add_rod("Rope", curve, radius=0.005)


def make_hair(strands: int, points: int) -> Any:
    import bpy

    data = bpy.data.hair_curves.new("Hair")
    data.add_curves([points] * strands)
    positions = np.zeros((strands, points, 3), dtype=np.float32)
    positions[..., 2] = -np.linspace(0.0, 0.25, points)
    positions[..., 0] = 0.01 * (np.arange(strands) % 100)[:, None]
    positions[..., 1] = 0.01 * (np.arange(strands) // 100)[:, None]
    data.attributes["position"].data.foreach_set("vector", positions.ravel())
    return _add_rod("Hair", data, radius=4e-5, material="HUMAN_HAIR", start_hold="CLAMP")


def _add_rod(name: str, data: Any, **settings: Any) -> Any:
    import bpy

    obj = bpy.data.objects.new(name, data)
    bpy.context.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    for key, value in settings.items():
        setattr(obj.tendril, key, value)
    bpy.ops.tendril.rod_add(fit=False)
    return obj


ROWS = (Row("blender", measure),)

if __name__ == "__main__":
    main()
