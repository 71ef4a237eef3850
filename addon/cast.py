"""Who takes part in a scene, for as long as Blender says of nothing that it has changed.

To find out, all objects are looked at; in a scene where only rods move that is done once. Kept are places in the scene's list of
objects, no references to Blender's data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import bpy

from . import memory
from .bridge import scenes
from .bridge.curves import Written
from .bridge.poses import Array
from .running import Running


@dataclass
class Cast:
    running: Running
    everybody: int  # objects in the file
    here: int  # and in the scene
    rods: tuple[tuple[str, int], ...]  # that take part: uid, and place among those of the scene
    fields: bool  # whether there may be some
    first: int  # frame of the simulation
    last: float
    written: dict[str, Written]  # to the curves, per uid
    poses: dict[str, Array] | None = None  # where things stood when they were last looked at


_casts: dict[int, Cast] = {}  # by the session uid of the scene


def forget() -> None:
    """Something was changed: everybody is looked at again."""
    _casts.clear()


def look_again(_settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """The update of a property."""
    forget()


def is_changed(depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether something was, since the last frame or by coming to this one: data and collections of objects count as well. To be
    asked before rods are shown, which counts, too."""
    return bool(depsgraph.id_type_updated("OBJECT"))


def recall(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph
) -> tuple[Cast, dict[str, bpy.types.Object], bool] | None:
    """The cast, its rods by uid, and whether all is as it was at the last frame; if there is one, and it is of this frame.

    What handlers of others do after a frame is evaluated is not told, so with them nothing is sure to be as it was."""
    cast = _casts.get(scene.session_uid)
    if cast is None:
        return None
    here = scene.objects[:]
    if (
        is_changed(depsgraph)
        or len(here) != cast.here
        or len(bpy.data.objects) != cast.everybody
        or cast.running is not memory.running_of(scene)
    ):
        forget()
        return None
    quiet = _only_ours() and not depsgraph.id_type_updated("SCENE")
    if not quiet:
        if scene.tendril.disk_baked:
            return None
        cast.first, cast.last = scenes.first_frame_of(scene), scenes.last_frame_of(scene)
        cast.fields = _has_fields(scene, here, (here[place] for _, place in cast.rods))
    if scene.frame_current <= cast.first:
        forget()
        return None
    return cast, {uid: here[place] for uid, place in cast.rods}, quiet


def keep(scene: bpy.types.Scene, running: Running, rods: Mapping[str, bpy.types.Object]) -> None:
    """For the next frame, if all of them are well."""
    first = scenes.first_frame_of(scene)
    if scene.frame_current > first and not any(memory.status(uid) for uid in rods):
        places = {obj: place for place, obj in enumerate(scene.objects)}
        found = tuple((uid, places[obj]) for uid, obj in rods.items())
        _casts[scene.session_uid] = Cast(
            running=running,
            everybody=len(bpy.data.objects),
            here=len(places),
            rods=found,
            fields=_has_fields(scene, places, rods.values()),
            first=first,
            last=scenes.last_frame_of(scene),
            written={uid: {} for uid in rods},
        )


def _has_fields(scene: bpy.types.Scene, objects: Iterable[bpy.types.Object], rods: Iterable[bpy.types.Object]) -> bool:
    """Whether there may be force fields; those of a collection that was chosen need not be in the scene."""
    return any(chosen.tendril.field_collection is not None for chosen in (scene, *rods)) or any(
        obj.field is not None and obj.field.type != "NONE" for obj in objects
    )


def _only_ours() -> bool:
    """Whether nobody but us does something as frames change."""
    handlers = bpy.app.handlers
    return len(handlers.frame_change_post) == 1 == len(handlers.frame_change_pre)
