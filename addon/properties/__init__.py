"""What people set, per object and per scene. SI units: lengths are shown in the units of the scene.

A file holds what belongs together. Groups that Blender knows have CLASSES, and put themselves on objects and scenes in register();
the others are bases of these.
"""

import inspect

import bpy

from .. import participants
from . import attachment, body, collider, rod, scene

_CLASSES = (*attachment.CLASSES, *rod.CLASSES, *scene.CLASSES, *collider.CLASSES, *body.CLASSES)
_PLACED = (rod, scene, collider, body)


def register() -> None:
    for cls in _CLASSES:
        _complete(cls)
        bpy.utils.register_class(cls)
    for part in _PLACED:
        part.register()


def _complete(cls: type) -> None:
    """All that people set can be set in a library override as well, and is saved with it. Where a script sets it Blender tells
    nobody, unless there is somebody to be told."""
    for base in cls.__mro__:
        for declared in inspect.get_annotations(base).values():
            if not isinstance(declared, bpy.props._PropertyDeferred):
                continue
            many, given = declared.function is bpy.props.CollectionProperty, declared.keywords
            given["override"] = {"LIBRARY_OVERRIDABLE", "USE_INSERTION"} if many else {"LIBRARY_OVERRIDABLE"}
            if not many and "HIDDEN" not in given.get("options", ()):
                given.setdefault("update", participants.invalidate_on_update)


def unregister() -> None:
    for part in reversed(_PLACED):
        part.unregister()
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
