"""Two copies of Tendril, of one version or of two: the one that is enabled first works, the other says so and does nothing."""

from __future__ import annotations

import sys

import bpy

_ROOT = __package__.rpartition(".")[0]


def other_copy() -> str:
    """The name of the package that has registered Tendril already, if it is another one than this."""
    panel = getattr(bpy.types, "TENDRIL_PT_rod", None)
    root = "" if panel is None else panel.__module__.partition(".addon.")[0]
    return root if root != _ROOT else ""


def trouble(other: str) -> str:
    version = getattr(sys.modules.get(f"{other}.core.compile.version"), "VERSION", "another version")
    place = other.split(".")[1] if other.startswith("bl_ext.") else other
    return f'Tendril {version} is enabled already, from "{place}": disable it there, then disable and enable this one'
