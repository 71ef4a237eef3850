"""Functions of time that users write: whatever they do, the stepping loop goes on.

A function that raises or returns something unusable leaves its object where it was (a load then acts with no force), and is
reported once.
"""

from __future__ import annotations

import copy
import os
import traceback
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from ..describe.rotations import are_rotations
from ..describe.scene import Scene
from ..describe.shapes import Mesh
from ..maths.motion import finite_array, in_bounds

Function = Callable[[float], Any]
Check = Callable[[Any], bool]
T = TypeVar("T")

_PLAIN = (np.ndarray, tuple, list, float, int, np.floating, np.integer)


class Callbacks:
    """Collects what went wrong in the functions of a scene, each of them once."""

    def __init__(self) -> None:
        self._told: set[str] = set()
        self._new: list[str] = []
        self.first_error: tuple[str, Exception] | None = None

    def tell(self, name: str, text: str) -> None:
        if name not in self._told:
            self._told.add(name)
            self._new.append(f"{name} {text}")

    def take(self) -> tuple[str, ...]:
        """Messages since the last call."""
        messages, self._new = tuple(self._new), []
        return messages

    def guarded(self, function: Function | None, name: str, check: Check | None = None) -> Function | None:
        """The function, returning None instead of raising. What fails `check` is reported, too; None is not: it means no change."""
        if function is None:
            return None
        call = function

        def guard(time: float) -> Any:
            try:
                value = call(time)
            except Exception as error:  # the function is the user's code
                self.first_error = self.first_error or (name, error)
                self.tell(name, f"raised {describe_error(error)}: nothing moves there")
                return None
            if value is not None and type(value) not in _PLAIN:
                try:
                    value = np.asarray(value, dtype=np.float64)
                except Exception:  # converting a value may run the user's code
                    self.tell(name, UNUSABLE)
                    return None
            if value is not None and check is not None and not check(value):
                self.tell(name, UNUSABLE)
            return value

        return guard

    def guard_scene(self, scene: Scene) -> Scene:
        """A copy of the scene whose functions never raise."""
        result = copy.copy(scene)
        result.holds = [
            _with(
                hold,
                path=self.guarded(hold.path, hold_name(k, "path")),
                spin=self.guarded(hold.spin, hold_name(k, "spin")),
            )
            if hold.path is not None or hold.spin is not None
            else hold
            for k, hold in enumerate(scene.holds)
        ]
        result.loads = [
            _with(load, force=self.guarded(load.force, f"force of load {k}", _is_force))
            if callable(load.force)
            else load
            for k, load in enumerate(scene.loads)
        ]
        result.colliders = [
            _with(one, path=self.guarded(one.path, f"path of collider {k}", _pose_or_mesh(one.shape)))
            if one.path is not None
            else one
            for k, one in enumerate(scene.colliders)
        ]
        result.bodies = [
            _with(body, path=self.guarded(body.path, f"path of body {k}", _is_pose)) if body.path is not None else body
            for k, body in enumerate(scene.bodies)
        ]
        return result


UNUSABLE = "returned a value that can't be used: nothing moves there"


def describe_error(error: Exception) -> str:
    """Type, message and place of an error, on one line."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    try:
        text = " ".join(str(error).split())[:200]
    except Exception:  # an exception is the user's code as well
        text = ""
    return f"{type(error).__name__}{text and ': ' + text} (line {place.lineno} of {os.path.basename(place.filename)})"


def hold_name(hold: int, what: str) -> str:
    return f"{what} of hold {hold}"


def _with(described: T, **changes: Any) -> T:
    """A copy of a frozen record. Its fields are not validated again: they are as its constructor left them."""
    result = copy.copy(described)
    for name, value in changes.items():
        object.__setattr__(result, name, value)
    return result


def _is_force(value: Any) -> bool:
    return finite_array(value, (3,)) is not None


def _is_pose(value: Any) -> bool:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        return False
    position, rotation = finite_array(value[0], (3,)), finite_array(value[1], (3, 3))
    return position is not None and rotation is not None and bool(in_bounds(position) and are_rotations(rotation))


def _pose_or_mesh(shape: Any) -> Check:
    if not isinstance(shape, Mesh):
        return _is_pose
    wanted: Sequence[int] = np.shape(shape.vertices)

    def check(value: Any) -> bool:
        points = finite_array(value, tuple(wanted))
        return bool(np.all(in_bounds(points))) if points is not None else _is_pose(value)

    return check
