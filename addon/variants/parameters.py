"""Settings of a .blend file addressed by path: `scene.tendril.substeps`, `objects["Rope"].tendril.young_modulus`, and, in short,
`Rope.young_modulus` for a setting of a rod and `wind` for one that all rods of the scene share.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple

import bpy

from ...core import TendrilError
from ...sweep.paths import COMPONENTS, Step, match, parse_path, unknown
from ..bridge.rods import MATERIAL_VALUES
from ..bridge.settings import settings_in

LISTED = ("objects", "scenes", "collections", "materials", "worlds", "node_groups")  # of bpy.data


class Place(NamedTuple):
    """A property of Blender's data, or one component of it."""

    owner: Any
    name: str
    component: int | None

    def read(self) -> Any:
        value = getattr(self.owner, self.name)
        return value if self.component is None else value[self.component]


def find(scene: bpy.types.Scene, path: str) -> Place:
    """The property that a path leads to. Raises TendrilError if there is none."""
    owner, steps = _start(scene, path)
    index = None
    if len(steps) > 1 and (isinstance(steps[-1], int) or steps[-1] in COMPONENTS):
        index = steps[-1] if isinstance(steps[-1], int) else COMPONENTS.index(steps[-1])
        steps = steps[:-1]
    for step in steps[:-1]:
        owner = _part(owner, step, path)
    if not steps or isinstance(steps[-1], int):
        raise TendrilError("--set", path, "name a property at its end")
    place = Place(owner, _property_name(owner, steps[-1], path), index)
    value = getattr(owner, place.name)
    if index is not None and (not hasattr(value, "__len__") or isinstance(value, str) or not 0 <= index < len(value)):
        raise TendrilError("--set", path, "it has no such component")
    declared = owner.bl_rna.properties[place.name]
    if declared.type in ("COLLECTION", "POINTER"):
        raise TendrilError("--set", path, "it is no value: name one of its properties")
    if declared.subtype in ("FILE_PATH", "DIR_PATH"):  # an untrusted file may hold such values
        raise TendrilError("--set", path, "it names a file: set it by hand")
    return place


def set_value(scene: bpy.types.Scene, path: str, value: Any) -> None:
    """Sets a property. Raises TendrilError for values that do not fit, which Blender would otherwise clamp silently."""
    place = find(scene, path)
    declared = place.owner.bl_rna.properties[place.name]
    if declared.is_readonly:
        raise TendrilError("--set", path, "it is read-only")
    if declared.type in ("FLOAT", "INT"):
        numbers = value if isinstance(value, (tuple, list)) else [value]
        for number in numbers:
            if isinstance(number, str) or not declared.hard_min <= number <= declared.hard_max:
                cure = f"give a number from {declared.hard_min:g} to {declared.hard_max:g}"
                raise TendrilError(f"--set {path}", value, cure)
        if declared.type == "INT":
            if any(float(number) != round(number) for number in numbers):
                raise TendrilError(f"--set {path}", value, "give a whole number")
            value = int(value) if not isinstance(value, (tuple, list)) else [int(number) for number in value]
    if place.name in MATERIAL_VALUES and getattr(place.owner, "material", "CUSTOM") != "CUSTOM":
        place.owner.material = "CUSTOM"  # it keeps the other values of the material; those of a preset can't be changed
    try:
        if place.component is not None:
            getattr(place.owner, place.name)[place.component] = value
        else:
            setattr(place.owner, place.name, _as_vector(place, value))
    except (TypeError, ValueError) as error:
        raise TendrilError(f"--set {path}", value, " ".join(str(error).split())) from None


def undo_of(scene: bpy.types.Scene, path: str) -> Callable[[], None]:
    """A function that undoes `set_value`. Call it before that."""
    owner, name, _ = find(scene, path)
    value = getattr(owner, name)
    kept = {name: tuple(value) if isinstance(value, bpy.types.bpy_prop_array) else copy(value)}
    if name in MATERIAL_VALUES and hasattr(owner, "material"):
        kept["material"] = owner.material  # last, because it sets the values

    def undo() -> None:
        for one, before in kept.items():
            setattr(owner, one, before)

    return undo


def _as_vector(place: Place, value: Any) -> Any:
    """A number for a vector is its length along its direction."""
    old = place.read()
    if (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and not isinstance(old, str)
        and hasattr(old, "__len__")
    ):
        length = math.sqrt(sum(part * part for part in old))
        direction = [part / length for part in old] if length > 0.0 else [1.0, *[0.0] * (len(old) - 1)]
        return [value * part for part in direction]
    return value


def _start(scene: bpy.types.Scene, path: str) -> tuple[Any, list[Step]]:
    first, *rest = parse_path(path)
    if first == "scene":
        return scene, rest
    if first in LISTED and rest:
        listed = getattr(bpy.data, str(first))
        return _part(listed, rest[0], path), rest[1:]
    if str(first) in bpy.data.objects:
        return bpy.data.objects[str(first)].tendril, rest
    shared = settings_in(scene.tendril)
    try:
        match(str(first), shared, path)
    except TendrilError:
        raise unknown(path, first, [*bpy.data.objects.keys(), "scene", *LISTED, *shared]) from None
    return scene.tendril, [first, *rest]


def _part(owner: Any, step: Step, path: str) -> Any:
    """An item of a collection by its number or name, or the value of a property."""
    if isinstance(owner, bpy.types.bpy_prop_collection):
        if isinstance(step, int):
            if not 0 <= step < len(owner):
                raise TendrilError("--set", path, f"there are {len(owner)} of them, numbered from 0")
            return owner[step]
        if step not in owner:
            raise unknown(path, step, owner.keys())
        return owner[step]
    if isinstance(step, int):
        raise TendrilError("--set", path, "only lists have numbered parts")
    value = getattr(owner, _property_name(owner, step, path))
    if value is None or (not hasattr(value, "bl_rna") and not isinstance(value, bpy.types.bpy_prop_collection)):
        raise TendrilError("--set", path, f"{step} has no parts")
    return value


def _property_name(owner: Any, word: str, path: str) -> str:
    kind = getattr(owner, "bl_rna", None)
    if kind is None:
        raise TendrilError("--set", path, f"{word} is not a property")
    if isinstance(owner, bpy.types.PropertyGroup):
        return match(word, settings_in(owner), path)
    names = kind.properties.keys()
    if word not in names:
        raise unknown(path, word, names)
    return word
