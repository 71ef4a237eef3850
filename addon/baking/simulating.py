"""Many frames in a row, and then stored. Works step by step, so that a window can show progress and stop it.

Every frame is simulated and shown as in playback; what is stored is what was shown. Blender's data is looked up anew in each step,
because it may have moved in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Generator

import bpy

from ...core import TendrilError
from .. import memory, starting
from ..bridge.rods import is_rod
from ..bridge.scenes import range_of
from ..running import Running
from . import bodies, disk, exporting, shape_keys
from .errors import BakeError


def _make_keys(uids: list[str], scene: bpy.types.Scene) -> None:
    shape_keys.make_all(uids, scene)
    bodies.make_all(scene)


# What makes frames stay, and what hinders it: per target.
STORES: dict[str, Callable[[list[str], bpy.types.Scene], None]] = {
    "SHAPE_KEYS": _make_keys,
    "DISK": disk.keep,
    "ALEMBIC": exporting.export,
    "USD": exporting.export,
}
_PROBLEMS: dict[str, Callable[[bpy.types.Object, bpy.types.Scene], str | None]] = {
    "SHAPE_KEYS": shape_keys.why_not,
    "DISK": disk.why_not,
    "ALEMBIC": exporting.why_not,
    "USD": exporting.why_not,
}


def why_not_bakeable(obj: bpy.types.Object | None, scene: bpy.types.Scene) -> str | None:
    """Why this rod can't be baked as the scene wants it, in a sentence."""
    if not is_rod(obj):
        return "No rod is active: select one first"
    if obj.library is not None or obj.data.library is not None:
        return f'"{obj.name}" is linked from another file: make it local first'
    if obj.mode == "EDIT":
        return f'"{obj.name}" is in Edit Mode: leave it first'
    if obj.tendril.baked:
        return f'"{obj.name}" is baked already: delete the bake first'
    if len(range_of(scene)) < 2:
        return "The scene has no second frame: set its end after its start"
    return _PROBLEMS[scene.tendril.bake_to](obj, scene)


def store(uids: list[str], scene: bpy.types.Scene) -> None:
    """Makes the frames that are there stay, of all these rods or of none. Raises BakeError."""
    try:
        STORES[scene.tendril.bake_to](uids, scene)
    except TendrilError as error:
        raise BakeError(str(error)) from error


def bake(uids: list[str], scene_name: str) -> Generator[float, None, int | None]:
    """Simulates from the first to the last frame of the scene, and stores the frames of these rods. Gives its progress, 0 to 1,
    and in the end the frame since which the motion is not exact, if there is one. Closing it early leaves unbaked rods, and frames
    from which the next bake goes on."""
    scene = bpy.data.scenes[scene_name]
    if scene.tendril.disk_baked:  # all is there to be exported
        store(uids, scene)
        return None
    frame, subframe = scene.frame_current, scene.frame_subframe
    used_disk, scene.tendril.use_disk_cache = scene.tendril.use_disk_cache, disk.is_needed(scene)
    try:
        if not _are_of_use(memory.running_of(scene), scene):
            memory.forget(scene, distrust_disk=True)
        yield from _simulate(uids, scene_name)
        not_exact_since = memory.not_exact_since(bpy.data.scenes[scene_name])
        store(uids, bpy.data.scenes[scene_name])
    except BaseException:
        bpy.data.scenes[scene_name].tendril.use_disk_cache = used_disk
        raise
    finally:
        bpy.data.scenes[scene_name].frame_set(frame, subframe=subframe)
    return not_exact_since


def calculate(scene_name: str, until: int) -> Generator[float, None, int | None]:
    """Simulates up to a frame and stays there, beginning with what is there already. Gives as `bake` does."""
    scene = bpy.data.scenes[scene_name]
    running, first = memory.running_of(scene), range_of(scene)[0]
    if running is None or memory.is_outdated(scene):
        begin = first
    else:
        begin = min(max(running.last_frame, first), until)
    return _calculate(scene_name, begin, until)


def _calculate(scene_name: str, begin: int, until: int) -> Generator[float, None, int | None]:
    for number in range(begin, until + 1):
        bpy.data.scenes[scene_name].frame_set(number)
        yield (number - begin + 1) / (until - begin + 1)
    return memory.not_exact_since(bpy.data.scenes[scene_name])


def resume(scene_name: str, frame: int) -> Generator[float, None, int | None]:
    """Keeps the frames up to this one, which is shown in the end, and forgets the others. Gives as `bake` does.

    There may be no state to go on from at this very frame: then the last frames before it are simulated once more."""
    scene = bpy.data.scenes[scene_name]
    running = memory.running_of(scene)
    if running is None:
        raise BakeError(f"No frames are there to go on from: play from frame {range_of(scene)[0]}")
    if not running.first_frame <= frame <= running.last_frame:
        raise BakeError(
            f"Frame {frame} is not simulated: choose one from {running.first_frame} to {running.last_frame}"
        )
    if not starting.is_unchanged(scene):
        raise BakeError(f"Settings or shapes were changed, so that no frame fits: go to frame {running.first_frame}")
    try:
        running.truncate_after(frame)
    except TendrilError as error:
        raise BakeError(str(error)) from error
    return _calculate(scene_name, running.last_frame, frame)


def _simulate(uids: list[str], scene_name: str) -> Generator[float, None, None]:
    numbers = range_of(bpy.data.scenes[scene_name])
    number, known = numbers[0], True
    while number in numbers:
        scene = bpy.data.scenes[scene_name]
        scene.frame_set(number)
        running = memory.running_of(scene)
        if known and running is not None and running.outdated:  # what was there is of another animation
            memory.forget(scene, distrust_disk=True)
            number, known = numbers[0], False
            continue
        for uid in uids:
            if memory.status(uid):
                raise BakeError(f"Frame {number} could not be simulated: {memory.status(uid)}")
        yield (number - numbers[0]) / (len(numbers) - 1)
        number += 1


def _are_of_use(running: Running | None, scene: bpy.types.Scene) -> bool:
    """Whether the frames that are there may begin a bake. Whether they still fit is seen on the way."""
    if running is None or running.first_frame != range_of(scene)[0] or running.last_frame > range_of(scene)[-1]:
        return False
    on_disk = running.disk is not None and running.disk.frames.stop > running.last_frame
    return on_disk or not disk.is_needed(scene)
