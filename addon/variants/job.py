"""Bakes one variant of a .blend file in a process of its own: opens the file, sets the values, saves it in the variant's folder,
bakes it on disk there, and measures every frame. The answer is written next to the request.
"""

from __future__ import annotations

import json
import os
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ...core import TendrilError
from ...sweep.numbers import NumbersFile, measure, save_shape
from ...sweep.variants import DONE, FAILED, MISSING, StoppedError, check_running, write_text
from .. import live, memory
from ..baking.errors import BakeError
from ..baking.simulating import bake
from ..bridge.rods import rods_in
from ..bridge.scenes import range_of
from ..cache_paths import path_of
from ..running import Running
from .parameters import find, set_value

if TYPE_CHECKING:
    from ...core import Frame


def main(request: Path) -> None:
    """Works on a request of `sweep/blend_tasks.py`. All errors are in the answer."""
    asked: dict[str, Any] = json.loads(request.read_text(encoding="utf-8"))
    try:
        answer = {"status": DONE, **(_check(asked) if asked["only_check"] else _bake(asked))}
    except TendrilError as error:
        answer = {"status": FAILED, "field": error.field, "value": error.value, "message": error.cure}
        if not asked["only_check"]:
            answer["message"] = str(error)
    except BakeError as error:
        answer = {"status": FAILED, "message": str(error)}
    except StoppedError:
        answer = {"status": MISSING}
    except Exception as error:  # whoever waits for the answer must get one
        traceback.print_exc()
        answer = {"status": FAILED, "message": f"{type(error).__name__}: {' '.join(str(error).split())}"}
    write_text(request.with_name("answer.json"), json.dumps(answer, default=str))


def _check(asked: Mapping[str, Any]) -> dict[str, Any]:
    scene = _open(asked["scene"])
    for path, _ in asked["values"]:
        find(scene, path)
    if not any(rods_in(scene.objects)):
        raise TendrilError("scene", asked["scene"], "it has no rods: add one in Blender first")
    return {}


def _bake(asked: Mapping[str, Any]) -> dict[str, Any]:
    scene = _open(asked["scene"])
    for path, value in asked["values"]:
        set_value(scene, path, tuple(value) if isinstance(value, list) else value)
    if asked["frames"] is not None:
        scene.tendril.use_own_range = True
        scene.tendril.cache_start, scene.tendril.cache_end = asked["frames"]
    live.give_unique_ids(rods_in(bpy.data.objects))
    for obj in rods_in(scene.objects):
        if obj.tendril.baked:
            raise BakeError(f'"{obj.name}" is baked to shape keys: delete the bake first')
    scene.tendril.disk_baked = False
    scene.tendril.bake_to = "DISK"
    folder = Path(asked["folder"])
    blend = folder / Path(asked["scene"]).name
    _save(blend)
    started = time.perf_counter()
    counted = _measured_bake(scene.name, asked)
    _save(blend)
    cache = path_of(bpy.data.scenes[scene.name])
    return {
        "seconds": time.perf_counter() - started,
        "blend": blend.name,
        "cache": "" if cache is None else cache.relative_to(folder).as_posix(),
        **counted,
    }


def _measured_bake(scene_name: str, asked: Mapping[str, Any]) -> dict[str, int]:
    """Bakes the frames that an interrupted bake of the same variant left out, and measures them."""
    scene, tip = bpy.data.scenes[scene_name], int(asked["tip"])
    first = range_of(scene)[0]
    numbers = NumbersFile(Path(asked["folder"]), first)
    kept = _reopen(scene, len(numbers.rows))
    numbers.keep(kept)
    uids = [obj.tendril.uid for obj in rods_in(scene.objects)]
    start = frame = None
    for _ in bake(uids, scene_name):
        if os.getppid() != int(asked["parent"]):  # the sweep was killed: its next run continues this variant
            raise StoppedError
        check_running(str(asked["folder"]), str(asked["run"]))
        running = memory.running_of(bpy.data.scenes[scene_name])
        # The simulation begins after the first frame, or after the frames that exist.
        if running is None or running.frame is None or running.simulation is None:
            continue
        if start is None:
            if running.frame.number != first + max(kept, 1):  # the animation has changed: it began again
                kept = 0
                numbers.keep(0)
            start, described = _measure_first(running, numbers, tip), running.description.scene
        frame = running.frame
        numbers.append(measure(running.simulation, frame, tip, running.seconds or 0.0))
    if start is None or frame is None:
        raise BakeError("No rod of the scene could be simulated")
    save_shape(Path(asked["folder"]), described, start, frame)
    return {"computed": len(numbers.rows) - kept, "not_converged": numbers.not_converged}


def _reopen(scene: bpy.types.Scene, measured: int) -> int:
    """Opens the frames of an interrupted bake, and drops those without numbers. Returns how many are left; the last frame of the
    range is never among them, so that there is one to simulate."""
    numbers = range_of(scene)
    scene.tendril.use_disk_cache = True
    scene.frame_set(numbers[0])  # compares them with the scene
    running = memory.running_of(scene)
    keep = min(measured, len(numbers) - 1)
    if running is None or running.disk is None or running.description.bodies is not None or keep < 2:
        memory.forget(scene, distrust_disk=True)  # the state of Blender's rigid bodies is not on disk
        return 0
    keep = min(keep, len(running.disk.frames))
    running.truncate_after(numbers[0] + keep - 1)
    return keep


def _measure_first(running: Running, numbers: NumbersFile, tip: int) -> Frame:
    """The first frame, which is shown as it is described. Writes its numbers if they are not there."""
    from ...core import Simulation

    described = running.description
    if not 0 <= tip < len(described.scene.entries):
        raise TendrilError("--tip", tip, f"the scene has rods 0 to {len(described.scene.entries) - 1}")
    simulation = Simulation(described.scene, described.frame_rate, threads=1, first_frame=described.first_frame)
    frame = simulation.current()
    if not numbers.rows:
        numbers.append(measure(simulation, frame, tip, 0.0))
    return frame


def _open(file: str) -> bpy.types.Scene:
    try:
        bpy.ops.wm.open_mainfile(filepath=file, load_ui=False, use_scripts=False)
    except RuntimeError as error:
        raise TendrilError("scene", file, f"Blender can't open it ({' '.join(str(error).split())})") from None
    bpy.context.preferences.filepaths.save_version = 0  # no backup of the copy, which is saved twice
    return bpy.context.scene


def _save(blend: Path) -> None:
    try:
        bpy.ops.wm.save_as_mainfile(filepath=str(blend), check_existing=False, relative_remap=True)
    except RuntimeError as error:
        raise TendrilError("file", str(blend), f"it can't be saved ({' '.join(str(error).split())})") from None
