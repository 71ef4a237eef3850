"""The objects that can matter to rods: rods themselves, colliders, force fields and rigid bodies.

A scene may have any number of other objects, and looking at each of them in every frame would take longer than to simulate a rope.
So they are looked at once, and again when the depsgraph reports something that may have changed the result. References to objects
are kept until then; they are dropped before undo and before another file is opened.
"""

from __future__ import annotations

from collections.abc import Iterable

import bpy

KINDS = ("CURVE", "CURVES", "MESH")  # types of objects that can be rods

_of_scenes: dict[int, list[bpy.types.Object]] = {}  # by the session uid of the scene
_of_file: list[bpy.types.Object] | None = None
_count = 0  # of all objects in the file


def in_scene(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """In the order of the scene. The same list as before, unless something has changed."""
    found = _of_scenes.get(scene.session_uid)
    if found is None or not _exist(found):
        found = _of_scenes[scene.session_uid] = [obj for obj in scene.objects if is_relevant(obj)]
    return found


def in_file() -> list[bpy.types.Object]:
    global _of_file, _count
    if _of_file is None or not _exist(_of_file):
        _of_file = [obj for obj in bpy.data.objects if is_relevant(obj)]
        _count = len(bpy.data.objects)
    return _of_file


def count_in_file() -> int:
    """Number of all objects in the file, relevant or not. Blender counts them anew each time, which takes long."""
    in_file()
    return _count


def invalidate() -> None:
    global _of_file
    _of_file = None
    _of_scenes.clear()


def invalidate_after(depsgraph: bpy.types.Depsgraph) -> None:
    """Call it after each evaluation."""
    if depsgraph.id_type_updated("COLLECTION"):
        invalidate()
        return
    known = None
    for update in depsgraph.updates if depsgraph.id_type_updated("OBJECT") else ():
        if isinstance(update.id, bpy.types.Object):
            obj: bpy.types.Object = update.id.original  # type: ignore[assignment]
            if known is None:
                known = set(_of_file or ()).union(*_of_scenes.values())
            if is_relevant(obj) != (obj in known):
                invalidate()
                return


def is_relevant(obj: bpy.types.Object) -> bool:
    return bool(
        (obj.type in KINDS and obj.tendril.enabled)
        or obj.rigid_body is not None
        or (obj.field is not None and obj.field.type != "NONE")
        or any(modifier.type == "COLLISION" for modifier in obj.modifiers)
    )


def _exist(objects: Iterable[bpy.types.Object]) -> bool:
    try:
        for obj in objects:
            obj.session_uid  # noqa: B018
    except ReferenceError:  # a script has removed it
        return False
    return True
