"""The start frame of a simulation: its inputs are read there, and compared with those of the frames that exist."""

from __future__ import annotations

import bpy

from ..core import TendrilError
from . import memory, solver
from .bridge import colliders, curves, describing, rigid_bodies, rods, scenes
from .bridge.scenes import SceneDescription
from .cache_paths import cache_name, path_of
from .memory import errors_to_disk_note, errors_to_status
from .moments import DiskFrames
from .participants import Objects
from .running import Running


def read_inputs(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, objects: Objects) -> None:
    """Stores where rods, the targets of their attachments, colliders and rigid bodies are at the start frame."""
    for uid, obj in objects.items():
        with errors_to_status([uid]):
            memory.start_poses[uid] = describing.start_poses_of(obj, scene, depsgraph)
    found, notes = colliders.read_colliders(scene, depsgraph)
    memory.start_colliders[scene.session_uid] = found
    memory.collider_notes[scene.session_uid] = notes
    memory.start_bodies.pop(scene.session_uid, None)
    pushed = rods.pushed_bodies(scene)
    if pushed:
        pulled, substeps = rods.pulled_bodies(scene), scene.tendril.substeps
        read: rigid_bodies.BodiesDescription | TendrilError
        try:
            read = rigid_bodies.read_bodies(scene, depsgraph, substeps, pushed, pulled)
            memory.start_movers[scene.session_uid] = colliders.read_moving(scene, depsgraph)
        except TendrilError as error:
            read = error  # raised when the scene is described
        memory.start_bodies[scene.session_uid] = read


def select_frames(scene: bpy.types.Scene, objects: Objects) -> SceneDescription | None:
    """Describes the scene as it was at the start frame. Drops frames in memory that belong to another description or should be on
    disk, and opens frames on disk that belong to this one."""
    description = None
    with errors_to_status(objects):
        description = describe(scene, objects)
    memory.start_problems.update({uid: memory.status(uid) for uid in objects})
    running = memory.running_of(scene)
    if running is not None and (
        description is None
        or running.outdated
        or running.description.signature != description.signature
        or memory.is_missing_on_disk(scene)
    ):
        memory.forget(scene)
        running = None
    path = path_of(scene)
    if running is None and description is not None and path is not None and memory.may_read_disk(scene):
        memory.reject_unverified(scene)
        with errors_to_disk_note(scene):
            disk = DiskFrames.of_scene(path, description)
            if len(disk.frames):
                running = _new_running(scene, description, objects)
                running.disk = disk
                memory.set_running(scene, running)
            else:
                disk.close()
    return description


def is_unchanged(scene: bpy.types.Scene) -> bool:
    """Whether the frames in memory belong to the scene as it would start now. Animations are compared during playback."""
    running = memory.running_of(scene)
    description = describe(scene, memory.taking_part(scene))
    return running is not None and description is not None and running.description.signature == description.signature


def describe(scene: bpy.types.Scene, objects: Objects) -> SceneDescription | None:
    """A rod that can't be described is left out, with the reason as its status. None if no rod is left. Raises TendrilError."""
    described = {}
    for uid, obj in objects.items():
        if uid in memory.start_poses:
            with errors_to_status([uid]):
                poses, rows = memory.start_poses[uid], curves.drawn_rows(obj.data)
                assert rows is not None, "edits are accepted before a rod is described"
                described[uid] = describing.describe_rod(obj, scene, poses, rows)
    if not described:
        return None
    key = scene.session_uid
    bodies = memory.start_bodies.get(key)
    if isinstance(bodies, TendrilError):
        raise bodies
    movers = memory.start_movers.get(key, {})
    return scenes.describe_scene(scene, objects, described, memory.start_colliders.get(key, {}), bodies, movers)


def start(scene: bpy.types.Scene, description: SceneDescription, objects: Objects) -> None:
    """Starts a simulation at the start frame, and its cache on disk if the user wants one."""
    solver.require(description, scene)
    running = _new_running(scene, description, objects)
    running.start(scene)
    memory.set_running(scene, running)
    memory.trust_disk(scene)
    if scene.tendril.use_disk_cache:
        with errors_to_disk_note(scene):
            running.start_disk(scenes.require_saved(path_of(scene)))
            scene.tendril.cache_name = cache_name(scene)


def _new_running(scene: bpy.types.Scene, description: SceneDescription, objects: Objects) -> Running:
    left_out = {uid: memory.status(uid) for uid in objects if memory.status(uid)}
    taking_part = memory.taking_part(scene)
    settings, fixed = (scenes.settings_of(scene, taking_part, live) for live in (True, False))
    return Running(description, settings, fixed, left_out)
