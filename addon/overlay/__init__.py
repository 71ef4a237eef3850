"""Viewport overlay, and the statistics shown in the panel."""

from . import drawing


def register() -> None:
    drawing.register()


def unregister() -> None:
    drawing.unregister()
