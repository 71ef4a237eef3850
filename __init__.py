"""Tendril: elastic rods that bend and twist, in Blender and in plain Python.

In Blender this package is the extension; elsewhere it is the Python package `tendril`, whose core needs no Blender.
"""

from __future__ import annotations


def register() -> None:
    from . import addon

    addon.register()


def unregister() -> None:
    from . import addon

    addon.unregister()
