"""Two installed copies of Tendril: the one that is enabled first is registered, the other shows a message."""

from __future__ import annotations

import sys

import bpy

_ROOT = __package__.rpartition(".")[0]


def other_copy() -> str:
    """The name of another package that has already registered Tendril; empty if there is none."""
    panel = getattr(bpy.types, "TENDRIL_PT_rod", None)
    root = "" if panel is None else panel.__module__.partition(".addon.")[0]
    return root if root != _ROOT else ""


def problem(other: str) -> str:
    version = getattr(sys.modules.get(f"{other}.core.compile.version"), "VERSION", "another version")
    place = other.split(".")[1] if other.startswith("bl_ext.") else other
    return f'Tendril {version} is already enabled from "{place}": disable that copy, then disable and enable this one'
