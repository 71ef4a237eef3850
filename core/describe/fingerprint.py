"""A digest of a scene's description, to check whether a cache belongs to it.

Functions of time count by their values at many times: in every frame of ten seconds at 24 frames per second, and ever more rarely
up to hours.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .recipe import values_of

if TYPE_CHECKING:
    from .scene import Scene

TIMES = np.concatenate([np.arange(241) / 24.0, np.geomspace(10.1, 1e4, 63)])  # s
MOST_CALLS = 300_000  # of all functions of a scene together; each is called at 16 times at least


def fingerprint(scene: Scene) -> str:
    """See `Scene.fingerprint`."""
    digest = hashlib.sha256()
    functions = max(len(functions_of(scene)), 1)
    times = TIMES[:: max(1, min(len(TIMES) // 16, functions * len(TIMES) // MOST_CALLS))]

    def feed(value: object) -> None:
        if isinstance(value, np.ndarray):
            digest.update(str((value.shape, value.dtype.str)).encode() + np.ascontiguousarray(value).tobytes())
        elif callable(value):
            digest.update(b"function")
            for time in times.tolist():
                digest.update(_sample(value, time))
        else:
            digest.update(repr(value).encode())
        digest.update(b";")

    for item in (scene.gravity, scene.air_density, scene.wind, scene.drag, scene.rod_contact):
        feed(item)
    for entry in scene.entries:
        feed(entry.model)
        feed(entry.velocity)
        feed(entry.friction)
        feed(entry.elements)
        feed(entry.sag_free)
        for value in values_of(entry.rod):
            feed(value)
    for place in (*scene.holds, *scene.loads, *scene.goals):
        for value in vars(place).values():
            feed(value)
    for collider in scene.colliders:
        feed(type(collider.shape).__name__)
        for value in (*vars(collider.shape).values(), collider.friction, collider.thickness, collider.path):
            feed(value)
    for field in scene.fields:
        for value in (field.numbers(), field.vertices, field.triangles, field.rods):
            feed(value)
    for body in scene.bodies:
        feed(type(body.shape).__name__)
        for value in (*vars(body.shape).values(), *values_of(body)):
            if value is not body.shape:
                feed(value)
    for attachment in scene.attachments:
        for value in vars(attachment).values():
            feed(value)
    return digest.hexdigest()


def functions_of(scene: Scene) -> list[Callable[[float], Any]]:
    """All functions of time in a scene."""
    found: list[Any] = [function for hold in scene.holds for function in (hold.path, hold.spin)]
    found += [load.force for load in scene.loads]
    found += [collider.path for collider in scene.colliders] + [body.path for body in scene.bodies]
    return [function for function in found if callable(function)]


def _sample(function: Callable[[float], Any], time: float) -> bytes:
    """What a function returns, as bytes. What can't be used by a simulation counts by its type alone."""
    try:
        value = function(time)
        parts = value if isinstance(value, (tuple, list)) and len(value) == 2 else (value,)
        return b"".join(np.asarray(part, dtype=np.float64).tobytes() + b"," for part in parts)
    except Exception as error:  # the function is the user's code
        return type(error).__name__.encode()
