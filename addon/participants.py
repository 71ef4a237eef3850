"""Change detection: a cache of the objects that take part in a scene's simulation.

Finding the participants means looking at all objects that can matter (`bridge/relevant.py`). The cache is valid until the depsgraph
reports a change of an object, so a scene in which only rods move is searched once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import bpy

from . import memory
from .bridge import relevant, scenes
from .bridge.curves import ControlPoints
from .bridge.poses import Array
from .running import Running

Objects = dict[str, bpy.types.Object]  # by uid


@dataclass
class Participants:
    """What takes part in the simulation of a scene at its current frame."""

    running: Running | None
    first: int  # frame of the simulation
    last: float
    poses: dict[str, Array]  # at the current frame, by key
    baked: frozenset[str] = frozenset()  # uids of rods that show a bake and not the simulation
    may_have_fields: bool = True
    poses_complete: bool = False  # poses are those of the last frame change, with all colliders and watched states
    inputs_set: bool = False  # the simulation has the inputs that belong to the poses
    is_cached: bool = False  # the depsgraph reports no change of any object since the previous frame
    # Below: set when the record enters the cache.
    relevant: list[bpy.types.Object] = field(default_factory=list)  # as `relevant.in_scene` gave them
    indices: tuple[tuple[str, int], ...] = ()  # uid of each rod, and its index among these
    control_points: dict[str, ControlPoints] = field(default_factory=dict)  # by uid, see `curves.write_rows`


_cache: dict[int, Participants] = {}  # by the session uid of the scene


def invalidate() -> None:
    _cache.clear()


def invalidate_on_update(_settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Update callback of properties."""
    relevant.invalidate()
    invalidate()


def is_changed(depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether an object, its data or a collection changed since the previous frame or by changing the frame. Call it before rods
    are shown, which is a change as well."""
    return bool(depsgraph.id_type_updated("OBJECT"))


def recall(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph
) -> tuple[Participants, dict[str, bpy.types.Object], bool] | None:
    """The cached participants, their objects by uid, and whether all inputs of the simulation are as at the previous frame. None
    if the cache has no valid record; the caller then collects the participants again.

    The depsgraph does not report changes that handlers of other add-ons make after evaluation. If there are such handlers, poses
    and settings count as changed."""
    cached = _cache.get(scene.session_uid)
    if cached is None:
        return None
    objects = relevant.in_scene(scene)
    if is_changed(depsgraph) or objects is not cached.relevant or cached.running is not memory.running_of(scene):
        invalidate()
        return None
    unchanged = _has_no_foreign_handlers() and not depsgraph.id_type_updated("SCENE")
    if not unchanged:
        if scene.tendril.disk_baked:
            return None
        cached.first, cached.last = scenes.first_frame_of(scene), scenes.last_frame_of(scene)
        cached.may_have_fields = _may_have_fields(scene, objects, (objects[index] for _, index in cached.indices))
    if scene.frame_current <= cached.first:
        invalidate()
        return None
    return cached, {uid: objects[index] for uid, index in cached.indices}, unchanged


def store(scene: bpy.types.Scene, known: Participants, rods: Objects) -> None:
    """Caches the participants for the next frame."""
    known.relevant = relevant.in_scene(scene)
    indices = {obj: index for index, obj in enumerate(known.relevant)}
    known.indices = tuple((uid, indices[obj]) for uid, obj in rods.items())
    known.may_have_fields = _may_have_fields(scene, indices, rods.values())
    known.control_points = {uid: {} for uid in rods}
    known.is_cached = True
    _cache[scene.session_uid] = known


def _may_have_fields(
    scene: bpy.types.Scene, objects: Iterable[bpy.types.Object], rods: Iterable[bpy.types.Object]
) -> bool:
    """Whether force fields may act on the rods. Those of a chosen collection need not be in the scene."""
    settings = (scene.tendril, *(obj.tendril for obj in rods))
    return any(one.field_collection is not None for one in settings) or any(
        obj.field is not None and obj.field.type != "NONE" for obj in objects
    )


def _has_no_foreign_handlers() -> bool:
    """Whether Tendril's are the only handlers of frame changes."""
    handlers = bpy.app.handlers
    return len(handlers.frame_change_post) == 1 == len(handlers.frame_change_pre)
