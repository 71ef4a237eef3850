"""The Blender add-on: everything that uses bpy. It contains no physics."""

from __future__ import annotations

from . import (
    bodies,
    copies,
    handlers,
    live,
    memory,
    operators,
    overlay,
    panels,
    preferences,
    preset_menu,
    properties,
    solver,
    translations,
)

_PARTS = (translations, properties, operators, preset_menu, panels, overlay, handlers)

_registered = False


def register() -> None:
    global _registered
    other = copies.other_copy()
    preferences.register(other)
    if other:
        print(copies.problem(other))
        return
    for part in _PARTS:
        part.register()
    _registered = True


def unregister() -> None:
    global _registered
    if _registered:
        solver.unregister()
        bodies.release_all()
        for part in reversed(_PARTS):
            part.unregister()
        memory.clear()
        live.before_replacement()
        _registered = False
    preferences.unregister()
