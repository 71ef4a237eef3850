"""Rods that are carried along with an object instead of feeling its motion: the inertia scale, and objects that teleport."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import bpy
import numpy as np

from . import roots
from .poses import Array, metres_per_unit, nearest_rotation, pose_of, rigid_pose, same, scaled

if TYPE_CHECKING:
    from ...core import Simulation
    from .scenes import Part, SceneDescription

Poses = Mapping[str, Array]  # by key

OBJECT = "inertia object"  # the key of the chosen object among poses

# Paths of settings of the scene that may be animated.
PATHS = ("tendril.linear_inertia", "tendril.angular_inertia", "tendril.teleport_distance")


class Inertia(NamedTuple):
    """Settings of the scene."""

    linear: float
    angular: float
    teleport: float  # m; 0: objects never teleport


PHYSICAL = Inertia(1.0, 1.0, 0.0)


def inertia_of(scene: bpy.types.Scene) -> Inertia:
    shared = scene.tendril
    distance = shared.teleport_distance * metres_per_unit(scene)
    return Inertia(shared.linear_inertia, shared.angular_inertia, distance)


def _key_of_surface(uid: str) -> str:
    """The key of the object that hair grows on."""
    return f"{uid} surface"


def carrier_poses(
    obj: bpy.types.Object, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph
) -> Iterator[tuple[str, Array]]:
    """Poses of what may carry a rod, besides those of its attachments. Raises TendrilError if one can't be used."""
    chosen, surface = scene.tendril.inertia_object, roots.surface_of(obj)
    if chosen is not None:
        pose = scaled(chosen.evaluated_get(depsgraph).matrix_world, scene)
        yield OBJECT, rigid_pose(pose, f'the scale of the inertia object "{chosen.name}"')
    if surface is not None:
        yield _key_of_surface(obj.tendril.uid), pose_of(surface.evaluated_get(depsgraph).matrix_world, scene)


def carrier_keys(uid: str) -> tuple[str, str]:
    return OBJECT, _key_of_surface(uid)


def carry(
    simulation: Simulation,
    description: SceneDescription,
    inertia: Inertia,
    before: Poses,
    poses: Poses,
    moving: Sequence[int],
) -> None:
    """Carries rods along with the motion of objects from one frame to the next. `moving` are the colliders that move in this frame.
    Rigid bodies can't be carried, so that in a scene with them nothing is."""
    if description.bodies is not None:
        return
    if OBJECT not in before or OBJECT not in poses:
        for part in description.parts.values():
            key = _carrier_of(part)
            if key in before and key in poses and is_teleport(inertia, before[key], poses[key]):
                simulation.carry(*_motion(before[key], poses[key]), rods=part.ids, colliders=[], jump=True)
        return
    start, end = before[OBJECT], poses[OBJECT]
    moved = [part for part in description.parts.values() if not _stays(part, before, poses)]
    rods = [rod for part in moved for rod in part.ids]
    if is_teleport(inertia, start, end):
        simulation.carry(*_motion(start, end), rods=rods, colliders=[], jump=True)
    elif not same(start, end) and inertia[:2] != PHYSICAL[:2]:
        # If all rods are carried, the frame is one in the frame of reference of the object, in which everything moves.
        colliders = None if len(moved) == len(description.parts) else moving
        simulation.carry(
            *_motion(start, end), linear=inertia.linear, angular=inertia.angular, rods=rods, colliders=colliders
        )


def is_teleport(inertia: Inertia, start: Array, end: Array) -> bool:
    """Whether positions (4, 4) or vertices (n, 3) have moved too far for one frame."""
    if not inertia.teleport > 0.0:
        return False
    moved = end[:3, 3] - start[:3, 3] if start.shape == (4, 4) else (end - start).mean(axis=0)
    return float(np.linalg.norm(moved)) > inertia.teleport


def _carrier_of(part: Part) -> str:
    """The key of the object that the roots of a rod are attached to; its own without attachments."""
    surface, held = _key_of_surface(part.described.uid), part.described.held
    if surface in part.described.start_poses:
        return surface
    return held[0].follows if held else part.described.uid


def _stays(part: Part, before: Poses, poses: Poses) -> bool:
    """Whether a rod is attached to something that does not move in this frame, such as a curtain to its rail."""
    keys = {held.follows for held in part.described.held}
    return any(key in before and key in poses and same(before[key], poses[key]) for key in keys)


def _motion(start: Array, end: Array) -> tuple[Array, Array, Array]:
    """Translation, rotation, and the point that it is about."""
    turn = nearest_rotation(end[:3, :3]) @ nearest_rotation(start[:3, :3]).T
    return end[:3, 3] - start[:3, 3], turn, start[:3, 3]
