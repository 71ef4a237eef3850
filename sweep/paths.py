"""Parameters addressed by path: `rods[0].material.young`, `colliders[1].friction`, `scene.wind[0]`, `simulation.substeps`.

Descriptions are immutable, so a value is set by making everything on its path again, which also validates it. A part of a path may
be the beginning of a name if that is unambiguous: `young` for `young_modulus`.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..core.describe.recipe import recipe_of
from ..core.describe.scene import Entry, Scene
from ..core.describe.shapes import Collider
from ..core.errors import TendrilError

Step = str | int  # an attribute, or the index of an item
EVERY = -1  # the index of `[*]`
COMPONENTS = ("x", "y", "z")
# Parts of a finished scene, by the first word of a path.
LISTS = {"rods": "entries", "bodies": "bodies", "colliders": "colliders", "fields": "fields"}
OF_SCENE = ("gravity", "air_density", "wind", "drag", "rod_contact")
OF_SIMULATION = ("substeps", "integrator", "tolerance", "contact")

_STEP = re.compile(r"\.?(?P<name>[A-Za-z_]\w*)|\[(?P<index>\d+|\*)\]|\[(?P<quote>['\"])(?P<key>.*?)(?P=quote)\]")


def parse_path(text: str) -> list[Step]:
    """`rods[0].material.young` is ["rods", 0, "material", "young"]."""
    steps: list[Step] = []
    at = 0
    while at < len(text):
        found = _STEP.match(text, at)
        if found is None or (at == 0 and found["name"] is None) or (at == 0 and text.startswith(".")):
            raise TendrilError("--set", text, "write a name followed by .name or [number] parts")
        if found["name"] is not None:
            if at > 0 and text[at] != ".":
                raise TendrilError("--set", text, "write a name followed by .name or [number] parts")
            steps.append(found["name"])
        elif found["key"] is not None:
            steps.append(found["key"])
        else:
            steps.append(EVERY if found["index"] == "*" else int(found["index"]))
        at = found.end()
    if not steps:
        raise TendrilError("--set", text, "name a parameter")
    return steps


def belongs_to_scene(path: str) -> bool:
    """Whether a path leads to a part of a finished scene or to the simulation, not to a name of the scene's file."""
    first = parse_path(path)[0]
    return first in LISTS or first in ("scene", "simulation")


def set_in_scene(scene: Scene, path: str, value: Any) -> None:
    """Sets a parameter of a finished scene."""
    first, *rest = parse_path(path)
    if first == "scene":
        first, *rest = rest or [""]
        if first in LISTS:
            return set_in_scene(scene, path.partition(".")[2], value)
    if first in LISTS:
        _set_in_list(getattr(scene, LISTS[str(first)]), rest, path, value)
        return None
    name = match(str(first), OF_SCENE, path)
    changed = replaced(getattr(scene, name), rest, value, path)
    setattr(scene, name, getattr(Scene(**{name: changed}), name))
    return None


def simulation_option(path: str, value: Any) -> tuple[str, Any]:
    """The keyword argument of `Simulation` that a path `simulation.NAME` sets."""
    steps = parse_path(path)
    if len(steps) != 2:
        raise unknown(path, steps[0], OF_SIMULATION)
    return match(str(steps[1]), OF_SIMULATION, path), value


def _set_in_list(items: list[Any], steps: Sequence[Step], path: str, value: Any) -> None:
    if len(steps) < 2 or not isinstance(steps[0], int):
        raise TendrilError("--set", path, "name one of them and a parameter, such as [0].friction, or [*] for all")
    if steps[0] >= len(items) or not items:
        raise TendrilError("--set", path, f"the scene has {len(items)} of them, numbered from 0")
    chosen = range(len(items)) if steps[0] == EVERY else [steps[0]]
    for k in chosen:
        items[k] = replaced(items[k], steps[1:], value, path)


def replaced(owner: Any, steps: Sequence[Step], value: Any, path: str) -> Any:
    """What `owner` is with `value` at the end of the steps. Raises TendrilError for an unknown name or an unfit value."""
    if not steps:
        return _fitting(owner, value, path)
    first, rest = steps[0], steps[1:]
    if isinstance(owner, Entry):
        return _replaced_entry(owner, first, rest, value, path)
    if isinstance(owner, Collider):
        return _replaced_collider(owner, first, rest, value, path)
    if isinstance(owner, Mapping):
        key = match(str(first), [str(one) for one in owner], path)
        return {**owner, key: replaced(owner[key], rest, value, path)}
    if isinstance(owner, (tuple, list, np.ndarray)):
        return _replaced_item(owner, first, rest, value, path)
    recipe = recipe_of(owner)
    if recipe is not None:
        given = recipe.arguments()
        name = match(str(first), given, path)
        changes = {name: replaced(given[name], rest, value, path)}
        return recipe.changed(**changes, **_excluded(name, given))
    if dataclasses.is_dataclass(owner) and not isinstance(owner, type):
        fields = [field.name for field in dataclasses.fields(owner) if field.init]
        name = match(str(first), fields, path)
        return dataclasses.replace(owner, **{name: replaced(getattr(owner, name), rest, value, path)})
    raise TendrilError("--set", path, f"a {type(owner).__name__} has no parts such as {first}")


# Arguments of which only one can be given: setting one removes the other.
_EXCLUSIVE = {"shear_modulus": "poisson_ratio", "mass": "density"}


def _excluded(name: str, given: Mapping[str, Any]) -> dict[str, None]:
    both = _EXCLUSIVE | {other: one for one, other in _EXCLUSIVE.items()}
    other = both.get(name)
    return {other: None} if other is not None and given.get(other) is not None else {}


def _replaced_entry(entry: Entry, first: Step, rest: Sequence[Step], value: Any, path: str) -> Entry:
    options: dict[str, Any] = {
        "model": entry.model,
        "velocity": entry.velocity,
        "friction": entry.friction,
        "elements": entry.elements,
    }
    recipe = recipe_of(entry.rod)
    names = [*options, *(recipe.arguments() if recipe else ())]
    name = match(str(first), names, path)
    rod = entry.rod
    if name in options:
        options[name] = replaced(options[name], rest, value, path)
    else:
        rod = replaced(rod, [name, *rest], value, path)
    scratch = Scene()
    scratch.add(rod, **options)
    return scratch.entries[0]


def _replaced_collider(one: Collider, first: Step, rest: Sequence[Step], value: Any, path: str) -> Collider:
    options: dict[str, Any] = {
        "shape": one.shape,
        "friction": one.friction,
        "thickness": one.thickness,
        "path": one.path,
    }
    name = match(str(first), [name for name in options if name != "path"], path)
    options[name] = replaced(options[name], rest, value, path)
    scratch = Scene()
    scratch.collide(options.pop("shape"), **options)
    return scratch.colliders[0]


def _replaced_item(owner: Any, first: Step, rest: Sequence[Step], value: Any, path: str) -> Any:
    if first in COMPONENTS and len(owner) == 3:
        first = COMPONENTS.index(str(first))
    if not isinstance(first, int) or first >= len(owner):
        raise TendrilError("--set", path, f"give an index from 0 to {len(owner) - 1} there")
    items = [*owner]
    chosen = range(len(items)) if first == EVERY else [first]
    for k in chosen:
        items[k] = replaced(items[k], rest, value, path)
    return np.array(items) if isinstance(owner, np.ndarray) else type(owner)(items)


def _fitting(old: Any, new: Any, path: str) -> Any:
    """The new value, if it can take the place of the old one. A number for a vector is its length along the old direction."""
    vector = isinstance(old, (np.ndarray, tuple, list)) and np.shape(old) == (3,)
    number = isinstance(new, (int, float)) and not isinstance(new, bool)
    if vector and number:
        direction = np.asarray(old, dtype=np.float64)
        length = float(np.linalg.norm(direction))
        return new * (direction / length if length > 0.0 else np.array([1.0, 0.0, 0.0]))
    if isinstance(old, bool) != isinstance(new, bool) and isinstance(old, (bool, int, float, str)):
        raise TendrilError(f"--set {path}", new, f"it replaces {old!r}: give a value of that kind")
    if isinstance(old, str) != isinstance(new, str) and isinstance(old, (int, float, str)):
        raise TendrilError(f"--set {path}", new, f"it replaces {old!r}: give a value of that kind")
    return new


def match(word: str, names: Iterable[str], path: str) -> str:
    """The name that a word is, or the only one that it begins."""
    known = list(names)
    if word in known:
        return word
    begun = [name for name in known if name.startswith(word)] if word else []
    if len(begun) == 1:
        return begun[0]
    raise unknown(path, word, begun or known)


def unknown(path: str, word: Step, known: Iterable[str]) -> TendrilError:
    names = list(known)
    near = difflib.get_close_matches(str(word), names, n=3) or names[:12]
    told = f"there is no {word}" if not any(name.startswith(str(word)) for name in names) else f"{word} is ambiguous"
    return TendrilError("--set", path, f"{told}: choose from {', '.join(near)}" if near else told)
