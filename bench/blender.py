"""What Blender costs around the core, in the bpy module: `python -m tendril.bench.blender` prints a JSON row per line.

A process of its own, without a window: handlers, evaluation and all, but nothing is drawn. Every frame is timed in several runs and
the least time counts, because the machine may be busy with other things.
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

AROUND = {"around_percent": 10.0}
PLAYBACK = {"frame_ms": 1e3 / 60.0}
KEYS = {"seconds": 1.0}

Row = tuple[str, float, dict[str, float], dict[str, Any]]  # name, seconds, limits, figures


def rows() -> Iterator[Row]:
    """From a process of its own: Blender changes what it runs in."""
    command = [sys.executable, "-m", __spec__.name if __name__ == "__main__" else __name__]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        if line.startswith('["'):
            yield tuple(json.loads(line))


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="tendril-bench-") as folder:
        os.environ["BLENDER_USER_RESOURCES"] = folder
        import bpy
        import tendril

        for work in (rope_around, hair_around, hair_playback, shape_keys):
            bpy.ops.wm.read_factory_settings(use_empty=True)
            tendril.register()
            for row in work(Path(folder)):
                print(json.dumps(row), flush=True)
            tendril.unregister()  # a handler that is left at the end crashes some Blenders


def rope_around(_folder: Path) -> Iterator[Row]:
    """A rope, drawn level, that swings down from its pinned end."""
    make_rope(101)
    yield around("Blender around a rope of 100 segments, a frame", frames=100, runs=30)


def hair_around(_folder: Path) -> Iterator[Row]:
    """Hair whose roots are shaken, 4 substeps."""
    hair = make_hair(1_000, 26)
    for frame in range(1, 26):
        hair.location.x = 0.02 * np.sin(2.0 * np.pi * (frame - 1) / 24)
        hair.keyframe_insert("location", frame=frame)
    yield around("Blender around 1,000 strands of 25 segments, a frame", frames=20, runs=2)


def hair_playback(folder: Path) -> Iterator[Row]:
    """Frames that are there, in memory and on disk."""
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
        yield f"playback of 10,000 strands of 25 points from {name}", seconds, PLAYBACK, {"frame_ms": 1e3 * seconds}


def shape_keys(_folder: Path) -> Iterator[Row]:
    """Frames that were simulated before, made shape keys, and the file plays on."""
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
    yield "250 frames of 200 points made shape keys", min(times), KEYS, {}


def around(name: str, frames: int, runs: int) -> Row:
    """What a frame takes beyond the core's part of it; and what of that Blender takes outside the add-on's handlers, to evaluate
    what was moved. Every other run leaves the handlers alone, so that looking at them does not count."""
    import bpy

    from ..addon import live, memory
    from ..core import Simulation

    core, beside, blender = (np.full(frames, np.inf) for _ in range(3))
    for run in range(2 * runs):
        memory.clear()
        for frame in (1, 2, 3):  # where all is made and compiled
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
            core, beside = np.minimum(core, inside), np.minimum(beside, whole - inside)
    total = float(core.sum() + beside.sum())
    figures = {
        "core_ms": 1e3 * float(core.mean()),
        "around_percent": 100.0 * float(beside.sum()) / total,
        "blender_alone_percent": 100.0 * float(blender.sum()) / total,
    }
    return name, total / frames, AROUND, figures


@contextmanager
def timed(owner: Any, name: str) -> Iterator[list[float]]:
    """The seconds of each call of a function."""
    plain, seconds = getattr(owner, name), []

    def measured(*given: Any) -> Any:
        start = time.perf_counter()
        result = plain(*given)
        seconds.append(time.perf_counter() - start)
        return result

    setattr(owner, name, measured)
    try:
        yield seconds
    finally:
        setattr(owner, name, plain)


def each_frame(frames: range) -> Iterator[float]:
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
    places = np.zeros((points, 4), dtype=np.float32)
    places[:, 0], places[:, 3] = np.linspace(0.0, 2.0, points), 1.0
    spline = curve.splines.new("POLY")
    spline.points.add(points - 1)
    spline.points.foreach_set("co", places.ravel())
    return _made_a_rod("Rope", curve, radius=0.005)


def make_hair(strands: int, points: int) -> Any:
    import bpy

    data = bpy.data.hair_curves.new("Hair")
    data.add_curves([points] * strands)
    places = np.zeros((strands, points, 3), dtype=np.float32)
    places[..., 2] = -np.linspace(0.0, 0.25, points)
    places[..., 0] = 0.01 * (np.arange(strands) % 100)[:, None]
    places[..., 1] = 0.01 * (np.arange(strands) // 100)[:, None]
    data.attributes["position"].data.foreach_set("vector", places.ravel())
    return _made_a_rod("Hair", data, radius=4e-5, material="HUMAN_HAIR", start_hold="CLAMP")


def _made_a_rod(name: str, data: Any, **settings: Any) -> Any:
    import bpy

    obj = bpy.data.objects.new(name, data)
    bpy.context.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    for key, value in settings.items():
        setattr(obj.tendril, key, value)
    bpy.ops.tendril.rod_add()
    return obj


if __name__ == "__main__":
    main()
