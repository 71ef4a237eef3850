"""Everything that touches Blender. No physics."""

from __future__ import annotations

from . import handlers, live, operators, panels, properties

_PARTS = (properties, operators, panels, handlers)


def register() -> None:
    for part in _PARTS:
        part.register()


def unregister() -> None:
    for part in reversed(_PARTS):
        part.unregister()
    live.clear()
