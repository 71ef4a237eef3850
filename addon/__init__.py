"""Everything that touches Blender. No physics."""

from __future__ import annotations

from . import handlers, memory, operators, panels, preset_menu, properties

_PARTS = (properties, operators, preset_menu, panels, handlers)


def register() -> None:
    for part in _PARTS:
        part.register()


def unregister() -> None:
    for part in reversed(_PARTS):
        part.unregister()
    memory.clear()
