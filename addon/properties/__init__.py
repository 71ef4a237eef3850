"""What people set, per object and per scene. SI units: lengths are shown in the units of the scene.

A file holds what belongs together. Groups that Blender knows have CLASSES, and put themselves on objects and scenes in register();
the others are bases of these.
"""

import inspect

import bpy

from . import attachment, body, collider, rod, scene

_CLASSES = (*attachment.CLASSES, *rod.CLASSES, *scene.CLASSES, *collider.CLASSES, *body.CLASSES)
_PLACED = (rod, scene, collider, body)


def register() -> None:
    for cls in _CLASSES:
        _make_overridable(cls)
        bpy.utils.register_class(cls)
    for part in _PLACED:
        part.register()


def _make_overridable(cls: type) -> None:
    """All that people set can be set in a library override as well, and is saved with it."""
    for base in cls.__mro__:
        for declared in inspect.get_annotations(base).values():
            if isinstance(declared, bpy.props._PropertyDeferred):
                insertion = {"USE_INSERTION"} if declared.function is bpy.props.CollectionProperty else set()
                declared.keywords["override"] = {"LIBRARY_OVERRIDABLE"} | insertion


def unregister() -> None:
    for part in reversed(_PLACED):
        part.unregister()
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
