"""Generators that simulate many frames, and baking of the result. A window can show progress and cancel between steps.

Each frame is simulated and shown as in playback, so the bake is identical to it. References to Blender data are looked
up again in each step, because they can become invalid between steps.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import NamedTuple

import bpy

from ...core import TendrilError
from .. import memory, starting
from ..bridge.rods import is_rod
from ..bridge.scenes import range_of
from ..running import Running
from . import bodies, disk, exporting, shape_keys
from .errors import BakeError


def _make_shape_keys(uids: list[str], scene: bpy.types.Scene) -> None:
    shape_keys.make_bakes(uids, scene)
    bodies.make_keyframes(scene)


# Per bake target: the function that stores the frames, and the one that explains why it cannot.
STORES: dict[str, Callable[[list[str], bpy.types.Scene], None]] = {
    "SHAPE_KEYS": _make_shape_keys,
    "DISK": disk.make_bake,
    "ALEMBIC": exporting.export,
    "USD": exporting.export,
}
_PROBLEMS: dict[str, Callable[[bpy.types.Object, bpy.types.Scene], str | None]] = {
    "SHAPE_KEYS": shape_keys.why_not_bakeable,
    "DISK": disk.why_not_bakeable,
    "ALEMBIC": exporting.why_not_bakeable,
    "USD": exporting.why_not_bakeable,
}


class Plan(NamedTuple):
    """What a bake of several rods does with each of them."""

    uids: list[str]  # baked to the target of the scene
    on_disk: list[str]  # baked on disk, because the target does not support them
    notes: list[str]  # what goes elsewhere or is left out, and why, in one sentence each


def plan(objects: list[bpy.types.Object], scene: bpy.types.Scene) -> Plan:
    """Chooses a target for each rod. Raises BakeError if none of them can be baked."""
    made, first_problem = Plan([], [], []), None
    for obj in objects:
        problem = why_not_bakeable(obj, scene)
        first_problem = first_problem or problem
        if problem is None:
            made.uids.append(obj.tendril.uid)
        elif obj.type == "CURVES" and scene.tendril.bake_to == "SHAPE_KEYS" and _can_be_on_disk(obj, scene):
            made.on_disk.append(obj.tendril.uid)
            made.notes.append(f'"{obj.name}" is a hair object, which can\'t have shape keys: baked on disk')
        else:
            made.notes.append(f"Not baked: {problem}")
    if not made.uids and not made.on_disk:
        raise BakeError(first_problem or "There is no rod to bake: select a rod first")
    return made


def _can_be_on_disk(obj: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    return _general_problem(obj, scene) is None and disk.why_not_bakeable(obj, scene) is None


def why_not_bakeable(obj: bpy.types.Object | None, scene: bpy.types.Scene) -> str | None:
    """Message why this object cannot be baked to the target of the scene; None if it can."""
    return _general_problem(obj, scene) or _PROBLEMS[scene.tendril.bake_to](obj, scene)


def _general_problem(obj: bpy.types.Object | None, scene: bpy.types.Scene) -> str | None:
    if not is_rod(obj):
        return "There is no rod to bake: select a rod first"
    if obj.library is not None or obj.data.library is not None:
        return f'"{obj.name}" is linked from another file: make it local first'
    if obj.mode == "EDIT":
        return f'"{obj.name}" is in Edit Mode: switch to Object Mode first'
    if obj.tendril.baked:
        return f'"{obj.name}" is already baked: delete the bake first'
    if len(range_of(scene)) < 2:
        return "The frame range has only one frame: set the end after the start"
    return None


def store(uids: list[str], scene: bpy.types.Scene) -> None:
    """Bakes the cached frames of all given rods, or of none of them if it raises BakeError."""
    try:
        STORES[scene.tendril.bake_to](uids, scene)
    except TendrilError as error:
        raise BakeError(str(error)) from error


def bake(uids: list[str], scene_name: str, on_disk: Sequence[str] = ()) -> Generator[float, None, int | None]:
    """Simulates all frames of the scene once and bakes the given rods, and those of `on_disk` to the disk cache. Yields the
    progress from 0 to 1 and returns the first inaccurate frame, if any. If the generator is closed early, the rods stay unbaked and
    the next bake reuses the frames."""
    scene = bpy.data.scenes[scene_name]
    if scene.tendril.disk_baked:  # all frames are available
        store(uids, scene)
        return None
    frame, subframe = scene.frame_current, scene.frame_subframe
    needs_disk = disk.is_needed(scene) or bool(on_disk)
    used_disk, scene.tendril.use_disk_cache = scene.tendril.use_disk_cache, needs_disk
    try:
        if not _are_reusable(memory.running_of(scene), scene, needs_disk):
            memory.forget(scene, distrust_disk=True)
        yield from _simulate([*uids, *on_disk], scene_name)
        not_exact_since = memory.not_exact_since(bpy.data.scenes[scene_name])
        if uids:
            store(uids, bpy.data.scenes[scene_name])
        if on_disk:
            disk.make_bake([*on_disk], bpy.data.scenes[scene_name])
    except BaseException:
        bpy.data.scenes[scene_name].tendril.use_disk_cache = used_disk
        raise
    finally:
        bpy.data.scenes[scene_name].frame_set(frame, subframe=subframe)
    return not_exact_since


def calculate(scene_name: str, until: int) -> Generator[float, None, int | None]:
    """Simulates up to a frame, continuing from the cached frames, and stays at it. Yields and returns the same as `bake`."""
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
    """Deletes the cached frames after `frame` and shows it. Yields and returns the same as `bake`.

    If no restartable state is stored for `frame`, the frames since the latest stored state are simulated again."""
    scene = bpy.data.scenes[scene_name]
    running = memory.running_of(scene)
    if running is None:
        raise BakeError(f"The cache is empty: play from frame {range_of(scene)[0]} first")
    if not running.first_frame <= frame <= running.last_frame:
        raise BakeError(
            f"Frame {frame} is not simulated: choose one from {running.first_frame} to {running.last_frame}"
        )
    if not starting.is_unchanged(scene):
        raise BakeError(
            f"All cached frames are outdated, because settings or shapes were changed: play from frame {running.first_frame}"
        )
    try:
        running.truncate_after(frame)
    except TendrilError as error:
        raise BakeError(str(error)) from error
    return _calculate(scene_name, running.last_frame, frame)


def _simulate(uids: list[str], scene_name: str) -> Generator[float, None, None]:
    numbers = range_of(bpy.data.scenes[scene_name])
    number, cached = numbers[0], True
    while number in numbers:
        scene = bpy.data.scenes[scene_name]
        scene.frame_set(number)
        running = memory.running_of(scene)
        if cached and running is not None and running.outdated:  # the cached frames belong to another animation
            memory.forget(scene, distrust_disk=True)
            number, cached = numbers[0], False
            continue
        for uid in uids:
            if memory.status(uid):
                raise BakeError(f"Frame {number} could not be simulated: {memory.status(uid)}")
        yield (number - numbers[0]) / (len(numbers) - 1)
        number += 1


def _are_reusable(running: Running | None, scene: bpy.types.Scene, needs_disk: bool) -> bool:
    """Whether a bake can start from the cached frames. Whether they match the animation is checked during the simulation."""
    if running is None or running.first_frame != range_of(scene)[0] or running.last_frame > range_of(scene)[-1]:
        return False
    on_disk = running.disk is not None and running.disk.frames.stop > running.last_frame
    return on_disk or not needs_disk
