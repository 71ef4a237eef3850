"""A Blender scene as one scene of the core: all its rods together, so that they can touch each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np

from ...core import Scene, TendrilError
from .attachments import settings_of_attachments
from .colliders import ColliderDescription, settings_of_colliders
from .poses import Array, metres_per_unit, moved_since
from .rods import RodDescription


@dataclass(frozen=True)
class Part:
    """A rod object in the simulation of its scene."""

    described: RodDescription
    first_rod: int  # in the core's scene; its splines follow one another
    holds: tuple[int, ...]  # in the core's scene, one for each that is described


@dataclass(frozen=True)
class SceneDescription:
    """All that the simulation of a scene starts from. Holds no reference to Blender's data."""

    scene: Scene
    parts: Mapping[str, Part]  # by the uid of the object
    colliders: Mapping[str, ColliderDescription]  # the k-th is the k-th of the core's scene
    first_frame: int
    frame_rate: float
    substeps: int

    @property
    def signature(self) -> tuple[object, ...]:
        """Equal for equal simulations, as far as they are known at the start."""
        kinds = tuple((uid, part.described.kinds) for uid, part in self.parts.items())
        return self.scene.fingerprint(), kinds, self.first_frame, self.frame_rate, self.substeps


def describe_scene(
    scene: bpy.types.Scene, rods: Mapping[str, RodDescription], colliders: Mapping[str, ColliderDescription]
) -> SceneDescription:
    """The rods, by their uids, with what all rods of the scene share. Raises TendrilError."""
    shared, scale = scene.tendril, metres_per_unit(scene)
    core_scene = Scene(
        np.array(scene.gravity, dtype=np.float64) * scale if scene.use_gravity else np.zeros(3),
        air_density=shared.air_density,
        wind=np.array(shared.wind, dtype=np.float64) * scale,
        drag=shared.drag,
        rod_contact=shared.rod_contact,
    )
    for collider in colliders.values():
        core_scene.collide(collider.shape, friction=collider.friction, thickness=collider.thickness)
    return SceneDescription(
        scene=core_scene,
        parts={uid: _add(core_scene, described) for uid, described in rods.items()},
        colliders=colliders,
        first_frame=first_frame_of(scene),
        frame_rate=scene.render.fps / scene.render.fps_base,
        substeps=shared.substeps,
    )


def first_frame_of(scene: bpy.types.Scene) -> int:
    return scene.tendril.cache_start if scene.tendril.use_own_range else scene.frame_start


def last_frame_of(scene: bpy.types.Scene) -> float:
    """After it nothing moves any more. Without a range of its own the simulation has no end."""
    return scene.tendril.cache_end if scene.tendril.use_own_range else math.inf


def range_of(scene: bpy.types.Scene) -> range:
    """The frames to bake."""
    last = scene.tendril.cache_end if scene.tendril.use_own_range else scene.frame_end
    return range(first_frame_of(scene), last + 1)


def saved(path: Path | None) -> Path:
    if path is None:
        raise TendrilError("the disk cache", None, "save the file first: the cache lies beside it")
    return path


def settings_of(scene: bpy.types.Scene, rods: Mapping[str, bpy.types.Object]) -> tuple[object, ...]:
    """All settings that make a difference, quick enough for drawing a panel."""
    shared, render, units = scene.tendril, scene.render, scene.unit_settings
    return (
        (shared.substeps, shared.air_density, shared.drag, *shared.wind, shared.rod_contact),
        settings_of_colliders(scene),
        (scene.use_gravity, *scene.gravity, units.system, units.scale_length),
        (first_frame_of(scene), render.fps, render.fps_base),
        tuple((uid, *_settings_of_rod(obj.tendril), settings_of_attachments(obj)) for uid, obj in rods.items()),
    )


def held_motion(part: Part, key: str, pose: Array) -> Iterator[tuple[int, Array, Array | None]]:
    """Where holds of a rod are when what they follow stands at `pose`: hold, position, rotation for a clamp."""
    moved, rotation = moved_since(part.described.start_poses[key], pose)
    for hold, held in zip(part.holds, part.described.held, strict=True):
        if held.follows == key:
            yield hold, moved[:3, :3] @ held.place + moved[:3, 3], rotation if held.clamped else None


def _add(scene: Scene, described: RodDescription) -> Part:
    ids = [scene.add(rod, model=described.model, friction=described.friction) for rod in described.rods]
    holds = []
    for held in described.held:
        hold = scene.clamp if held.clamped else scene.pin
        holds.append(hold(ids[held.strand], held.vertex))
    return Part(described, ids[0], tuple(holds))


def _settings_of_rod(rod: bpy.types.PropertyGroup) -> tuple[object, ...]:
    material: tuple[object, ...] = (rod.material,)
    if rod.material == "CUSTOM":
        material += (rod.young_modulus, rod.poisson_ratio, rod.density, rod.damping_time, rod.strands)
    holds = (rod.start_hold, rod.end_hold, rod.pin_by_weight)
    shape = (rod.radius_from, rod.radius, rod.rest_shape, rod.curl_radius, rod.curl_length)
    return (rod.model, rod.friction, *shape, rod.stiffness_at_end, rod.stiffness_by_weight, *holds, *material)
