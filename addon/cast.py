"""Who takes part in a scene, for as long as Blender says of nothing that it has changed.

To find out, all objects are looked at; in a scene where only rods move that is done once. Kept are places in the scene's list of
objects, no references to Blender's data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import bpy

from . import memory
from .running import Running


@dataclass(frozen=True)
class Cast:
    running: Running
    everybody: int  # objects in the file
    here: int  # and in the scene
    rods: tuple[tuple[str, int], ...]  # that take part: uid, and place among those of the scene
    fields: bool  # whether there may be some


_casts: dict[int, Cast] = {}  # by the session uid of the scene


def forget() -> None:
    """Something was changed: everybody is looked at again."""
    _casts.clear()


def is_changed(depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether something was, since the last frame or by coming to this one: data and collections of objects count as well. To be
    asked before rods are shown, which counts, too. What other add-ons move after a frame is evaluated is not told, so that
    where objects stand is always read."""
    return bool(depsgraph.id_type_updated("OBJECT"))


def recall(scene: bpy.types.Scene) -> tuple[Cast, dict[str, bpy.types.Object]] | None:
    """The cast and its rods by uid, if there is one."""
    cast = _casts.get(scene.session_uid)
    if cast is None:
        return None
    here = scene.objects[:]
    if len(here) == cast.here and len(bpy.data.objects) == cast.everybody and cast.running is memory.running_of(scene):
        return cast, {uid: here[place] for uid, place in cast.rods}
    forget()
    return None


def keep(scene: bpy.types.Scene, running: Running, rods: Mapping[str, bpy.types.Object]) -> None:
    """For the next frame, if all of them are well."""
    if not any(memory.status(uid) for uid in rods):
        places = {obj: place for place, obj in enumerate(scene.objects)}
        found = tuple((uid, places[obj]) for uid, obj in rods.items())
        fields = any(obj.field is not None and obj.field.type != "NONE" for obj in places)
        _casts[scene.session_uid] = Cast(running, len(bpy.data.objects), len(places), found, fields)
