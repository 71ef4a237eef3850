"""A digest of a scene's description, to check whether a cache belongs to it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .scene import Scene


def fingerprint(scene: Scene) -> str:
    """See `Scene.fingerprint`."""
    digest = hashlib.sha256()

    def feed(value: object) -> None:
        if isinstance(value, np.ndarray):
            digest.update(str((value.shape, value.dtype.str)).encode() + np.ascontiguousarray(value).tobytes())
        elif callable(value):
            digest.update(b"function")
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
        for value in vars(entry.rod).values():
            feed(value)
    for place in (*scene.holds, *scene.loads):
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
        for value in (*vars(body.shape).values(), *vars(body).values()):
            if value is not body.shape:
                feed(value)
    for attachment in scene.attachments:
        for value in vars(attachment).values():
            feed(value)
    return digest.hexdigest()
