"""User settings of objects and scenes. Values are in SI units; Blender displays lengths in scene units.

Each module holds one topic. Modules with property groups list them in CLASSES and attach them to bpy.types.Object or
bpy.types.Scene in register(); the other modules define base classes of these groups.
"""

import inspect

import bpy

from .. import participants
from . import attachment, body, collider, rod, scene, variants

_CLASSES = (*attachment.CLASSES, *rod.CLASSES, *scene.CLASSES, *collider.CLASSES, *body.CLASSES, *variants.CLASSES)
_MODULES = (rod, scene, collider, body, variants)


def register() -> None:
    for cls in _CLASSES:
        _add_common_options(cls)
        bpy.utils.register_class(cls)
    for module in _MODULES:
        module.register()


def _add_common_options(cls: type) -> None:
    """Makes every property overridable in library overrides and reports its changes.

    Blender sends no notification when a script sets a property without an update callback."""
    for base in cls.__mro__:
        for declared in inspect.get_annotations(base).values():
            if not isinstance(declared, bpy.props._PropertyDeferred):
                continue
            is_collection, options = declared.function is bpy.props.CollectionProperty, declared.keywords
            options["override"] = {"LIBRARY_OVERRIDABLE", "USE_INSERTION"} if is_collection else {"LIBRARY_OVERRIDABLE"}
            if not is_collection and "HIDDEN" not in options.get("options", ()):
                options.setdefault("update", participants.invalidate_on_update)


def unregister() -> None:
    for module in reversed(_MODULES):
        module.unregister()
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
