"""Building blocks of the samples: rods, bodies, colliders, attachments, and a stage with lights and a camera."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ..studio import Colour, Light, Vector3, activate, add_camera, add_lights, add_rod, box, curve_object, finish

WOOD, STEEL, BRICK = (0.3, 0.14, 0.05), (0.55, 0.56, 0.6), (0.45, 0.1, 0.05)


def rod(
    name: str, points: np.ndarray, thickness: float, colour: Colour, kind: str = "POLY", *,
    twists: int = 0, metal: bool = False, **settings: Any,
) -> bpy.types.Object:  # fmt: skip
    """A curve that is a rod. Its radius is the visible thickness unless `radius` is among the settings."""
    obj = curve_object(name, kind, points, thickness, colour, twists, metal)
    for key, value in settings.items():
        setattr(obj.tendril, key, value)
    add_rod(obj)
    return obj


def helix(turns: float, per_turn: int, radius: float, pitch: float, top: float) -> np.ndarray:
    """Points of a helix about the z axis that starts at height `top` and descends."""
    angle = np.arange(round(turns * per_turn) + 1) * 2.0 * math.pi / per_turn
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), top - pitch * angle / (2.0 * math.pi)], axis=1)


def ball(name: str, radius: float, location: Vector3, colour: Colour) -> bpy.types.Object:
    bpy.ops.mesh.primitive_uv_sphere_add(radius=radius, segments=48, ring_count=24)
    bpy.ops.object.shade_smooth()
    obj = finish(name, colour)
    obj.location = location
    return obj


def block(name: str, size: Vector3, location: Vector3, colour: Colour = WOOD) -> bpy.types.Object:
    """A box whose size is in its mesh; the scale of the object stays 1."""
    obj = box(name, size, colour)
    for vertex in obj.data.vertices:
        vertex.co = [c * s for c, s in zip(vertex.co, size, strict=True)]
    obj.scale = (1.0, 1.0, 1.0)
    obj.location = location
    return obj


def collide(obj: bpy.types.Object) -> bpy.types.Object:
    """Makes the object a collider of rods."""
    activate(obj)
    bpy.ops.tendril.collider_add()
    return obj


def body(
    obj: bpy.types.Object, mass: float = 1.0, shape: str = "BOX", kind: str = "ACTIVE", friction: float = 0.6
) -> bpy.types.Object:
    """Makes the object a rigid body of Blender."""
    activate(obj)
    bpy.context.view_layer.update()
    bpy.ops.rigidbody.object_add(type=kind)
    obj.rigid_body.collision_shape = shape
    obj.rigid_body.mass = mass
    obj.rigid_body.friction = friction
    return obj


def attach(what: bpy.types.Object, target: bpy.types.Object, where: str, **settings: Any) -> None:
    activate(what)
    bpy.ops.tendril.attachment_add()
    attachment = what.tendril.attachments[-1]
    attachment.target, attachment.where = target, where
    for name, value in settings.items():
        setattr(attachment, name, value)


def handle(name: str, location: Vector3) -> bpy.types.Object:
    """An empty to which rods can be attached."""
    obj = bpy.data.objects.new(name, None)
    obj.empty_display_size = 0.1
    bpy.context.scene.collection.objects.link(obj)
    obj.location = location
    return obj


def move(obj: bpy.types.Object, path: str, keys: Sequence[tuple[int, Any]]) -> None:
    """Keyframes the property `path` with (frame, value) pairs."""
    for frame, value in keys:
        setattr(obj, path, value)
        obj.keyframe_insert(path, frame=frame)
    setattr(obj, path, keys[0][1])


def stage(frames: int, eye: Vector3, target: Vector3, lens: float = 50.0, ground: float | None = 0.0) -> None:
    """Sets the number of frames and adds lights, a camera directed at the target, and a ground for shadows."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, frames
    if ground is not None:
        floor = block("Ground", (30.0, 30.0, 0.1), (0.0, 0.0, ground - 0.05), (0.2, 0.17, 0.14))
        floor.hide_select = True
    add_lights(
        scene,
        Light((-3.0, -3.5, 5.0), 500.0, 2.0, (1.0, 0.9, 0.78)),
        Light((3.5, -3.0, 2.5), 150.0, 2.5, (0.7, 0.82, 1.0)),
        sky=(0.25, 0.28, 0.33),
    )
    add_camera(scene, eye, target, lens)
