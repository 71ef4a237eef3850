"""The status line of a rod: what it is doing, or what is wrong and where to go."""

from __future__ import annotations

from typing import NamedTuple

import bpy

from . import memory, migration, pace, solver
from .baking.disk import is_baked
from .bridge import attachments, roots, scenes


class Status(NamedTuple):
    icon: str
    text: str
    frame: int | None = None  # a button goes to this frame
    select: bool = False  # a button selects the rods that did not converge


def status_of(obj: bpy.types.Object, scene: bpy.types.Scene) -> Status:
    """One line for a rod object. The first that applies, most urgent first."""
    wrong = _problem(obj, scene)
    if wrong is not None:
        return wrong
    running = memory.running_of(scene)
    if is_baked(obj, scene):
        return Status("CHECKMARK", "Baked to shape keys" if obj.tendril.baked else memory.info(scene))
    if running is None:
        unverified = memory.unverified_of(scene)
        return Status("PLAY", "Ready: press play") if unverified is None else Status("DISK_DRIVE", memory.info(scene))
    why = memory.why_outdated(scene)
    if why:
        return Status("FILE_REFRESH", f"Outdated: {why}", frame=scenes.first_frame_of(scene))
    if memory.is_missing_on_disk(scene):
        return Status("DISK_DRIVE", memory.info(scene), frame=scenes.first_frame_of(scene))
    if running.not_exact_since is not None:
        return Status("ERROR", memory.info(scene), select=bool(memory.affected_rods(scene)))
    playing = pace.pace_of(scene)
    if playing is not None:
        return Status("PLAY", f"Frame {scene.frame_current}: {playing.rate:.3g} fps")
    if running.seconds is not None and scene.frame_current == running.last_frame:
        return Status("PHYSICS", f"Frame {running.last_frame}: {1e3 * running.seconds:.3g} ms")
    return Status("CHECKMARK", memory.info(scene))


def _problem(obj: bpy.types.Object, scene: bpy.types.Scene) -> Status | None:
    """What keeps the rod from moving as expected."""
    rod = obj.tendril
    for message in (migration.problem(rod), solver.problem(), *attachments.lost_targets(obj, scene)):
        if message:
            return Status("ERROR", message)
    modifier = roots.duplicate_deform_modifier(obj) if obj.type == "CURVES" else None
    if modifier:
        return Status("ERROR", f'The modifier "{modifier}" moves the roots a second time: disable it')
    message = memory.status(rod.uid)
    if not message:
        return None
    running, first = memory.running_of(scene), scenes.first_frame_of(scene)
    last = first if running is None else running.last_frame
    elsewhere = scene.frame_current not in (first, last)
    return Status("ERROR", message, frame=last if elsewhere else None)
