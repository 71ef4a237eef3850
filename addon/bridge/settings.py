"""The properties that people set, enumerated."""

from __future__ import annotations

from typing import Any

import bpy

_names: dict[str, tuple[str, ...]] = {}  # by the identifier of the property group


def settings_in(group: bpy.types.PropertyGroup) -> tuple[str, ...]:
    """Names of the properties of a group that people set. Hidden properties are state of the add-on, and those that are
    not saved are views of others."""
    kind: Any = group.bl_rna
    if kind.identifier not in _names:
        inherited = bpy.types.PropertyGroup.bl_rna.properties
        own = (one for one in kind.properties if one.identifier not in inherited)
        _names[kind.identifier] = tuple(one.identifier for one in own if not (one.is_hidden or one.is_skip_save))
    return _names[kind.identifier]
