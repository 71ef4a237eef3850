"""Building blocks of the samples: rods, bodies, colliders, attachments, keyframes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ..studio import Vector3, activate, add_rod, box, curve_object, cylinder, finish

Surface = bpy.types.Material


def rod(
    name: str, points: np.ndarray, thickness: float, surface: Surface, kind: str = "POLY", *, look: str = "NONE", **settings: Any
) -> bpy.types.Object:  # fmt: skip
    """A curve that is a rod. Its radius is the visible thickness unless `radius` is among the settings."""
    obj = curve_object(name, kind, points, thickness, surface)
    if look != "NONE":
        settings.setdefault("radius", thickness)
    for key, value in settings.items():
        setattr(obj.tendril, key, value)
    add_rod(obj)
    obj.tendril.look = look
    return obj


def helix(turns: float, per_turn: int, radius: float, pitch: float, top: float) -> np.ndarray:
    """Points of a helix about the z axis that starts at height `top` and descends."""
    angle = np.arange(round(turns * per_turn) + 1) * 2.0 * math.pi / per_turn
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), top - pitch * angle / (2.0 * math.pi)], axis=1)


def ball(name: str, radius: float, location: Vector3, surface: Surface) -> bpy.types.Object:
    bpy.ops.mesh.primitive_uv_sphere_add(radius=radius, segments=48, ring_count=24)
    bpy.ops.object.shade_smooth()
    obj = finish(name, surface)
    obj.location = location
    return obj


def block(name: str, size: Vector3, location: Vector3, surface: Surface, round_by: float = 0.0) -> bpy.types.Object:
    """A box whose size is in its mesh; the scale of the object stays 1. `round_by` is the radius of its visible edges."""
    obj = box(name, size, surface)
    for vertex in obj.data.vertices:
        vertex.co = [c * s for c, s in zip(vertex.co, size, strict=True)]
    obj.scale = (1.0, 1.0, 1.0)
    obj.location = location
    return rounded(obj, round_by) if round_by else obj


def rounded(obj: bpy.types.Object, radius: float) -> bpy.types.Object:
    """Rounds the edges by a modifier; physics goes on with the sharp mesh."""
    bevel = obj.modifiers.new("Rounded", "BEVEL")
    bevel.width, bevel.segments, bevel.harden_normals = radius, 3, False
    obj.data.polygons.foreach_set("use_smooth", [True] * len(obj.data.polygons))
    obj.modifiers.new("Normals", "WEIGHTED_NORMAL")
    return obj


def bar(name: str, radius: float, start: Vector3, end: Vector3, surface: Surface) -> bpy.types.Object:
    """A cylinder from one point to another."""
    from mathutils import Vector

    along = Vector(end) - Vector(start)
    obj = cylinder(name, radius, along.length, surface)
    obj.location = (Vector(start) + Vector(end)) / 2.0
    obj.rotation_euler = along.to_track_quat("Z", "Y").to_euler()
    return obj


def hold(obj: bpy.types.Object, parent: bpy.types.Object) -> bpy.types.Object:
    """Parents the object where it is."""
    bpy.context.view_layer.update()
    obj.parent = parent
    obj.matrix_parent_inverse = parent.matrix_world.inverted()
    return obj


def unseen(obj: bpy.types.Object) -> bpy.types.Object:
    """Hides an object from renders that the backdrop stands for."""
    obj.hide_render, obj.display_type, obj.hide_select = True, "BOUNDS", True
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
