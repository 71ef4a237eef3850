"""What the viewport shows of rods beyond their shape, and numbers for the panel."""

from . import drawing


def register() -> None:
    drawing.register()


def unregister() -> None:
    drawing.unregister()
