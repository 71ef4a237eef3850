"""Where the frames of a scene are on disk. The name comes from the .blend file, which may be anybody's: it never leads out of the
folder of the file's caches.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import bpy

from ..core import TendrilError

_LONGEST_NAME = 200  # bytes; file systems allow 255, and suffixes follow
# Windows gives these names to devices, whatever follows after a dot.
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def path_of(scene: bpy.types.Scene) -> Path | None:
    """The path of a scene's frames, in the folder of Blender's own caches; None while the file is not saved."""
    if not bpy.data.filepath:
        return None
    blend = Path(bpy.data.filepath)
    return blend.parent / f"blendcache_{blend.stem}" / f"{cache_name(scene)}.tendril"


def cache_name(scene: bpy.types.Scene) -> str:
    """The unique name of a scene's frames on disk: the name that the scene had when they were first written. A stored name that
    could lead to another folder counts as none."""
    taken = {_stored(other) for other in bpy.data.scenes if other != scene}
    name = _stored(scene)
    # A copied scene has the same cache name; the first scene by name keeps it.
    owner = next(other for other in bpy.data.scenes if other == scene or (name and _stored(other) == name))
    if name and owner == scene:
        return name
    plain = bpy.path.clean_name(scene.name)
    name = plain = plain if is_safe(plain) else "Scene"
    number = 1
    while name in taken:
        number += 1
        name = f"{plain}_{number}"
    return name


def is_safe(name: str) -> bool:
    """Whether a name is that of one file in any folder, on every system: no separators, drives, parents or devices."""
    return (
        0 < len(os.fsencode(name)) <= _LONGEST_NAME
        and name.isprintable()
        and not any(mark in name for mark in '/\\:*?"<>|')
        and name == name.strip(". ")
        and _DEVICES.fullmatch(name) is None
    )


def unsafe_name(scene: bpy.types.Scene) -> str:
    """The stored name if it is not used; empty otherwise."""
    name = scene.tendril.cache_name
    return name if name and not is_safe(name) else ""


def check_folder(path: Path) -> None:
    """Raises TendrilError if the folder of a cache is a link, for example from an unpacked archive: it may lead to the caches of
    another project."""
    if path.parent.is_symlink():
        raise TendrilError("cache folder", str(path.parent), "it is a link: replace it by a folder")


def _stored(scene: bpy.types.Scene) -> str:
    name: str = scene.tendril.cache_name
    return name if is_safe(name) else ""
