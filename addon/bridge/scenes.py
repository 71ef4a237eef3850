"""Converts a Blender scene with all its rods to one scene of the core."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import Scene, TendrilError
from . import roots, turns
from .attachments import settings_of_attachments
from .changes import (
    ENVIRONMENT,
    FACTORS,
    constant_factors,
    environment,
    has_constant_environment,
    key_of_factors,
    turning,
)
from .colliders import ColliderDescription, clear_of_roots, settings_of_colliders
from .descriptions import RodDescription
from .fields import fields_of, settings_of_fields
from .fields import key_of as key_of_field
from .inertia import Inertia, inertia_of
from .poses import Array, moved_since, nearest_rotation
from .profiles import settings_of_profiles
from .rigid_bodies import BodiesDescription, pushes, settings_of_bodies
from .rods import MATERIAL_VALUES
from .settings import settings_in


@dataclass(frozen=True)
class Followers:
    """Holds of one kind that follow the same pose."""

    holds: NDArray[np.int64]  # in the core's scene
    clamped: bool
    loose: bool  # only the frame is held, not the position
    places: Array  # (k, 3) m, at the start
    tangents: Array  # (k, 3) of the rod there
    roots: NDArray[np.int64]  # (k,) index of the point on the surface of each; -1: none


@dataclass(frozen=True)
class Part:
    """A rod object in the simulation."""

    described: RodDescription
    first_rod: int  # id in the core's scene; the ids of its rods are consecutive
    holds: tuple[int, ...]  # ids of `described.held`, then of `described.riding`
    ties: tuple[int, ...]  # ids of `described.pulling`
    goals: tuple[int, ...] = ()  # ids of the goals of its rods

    @cached_property
    def ids(self) -> range:
        """Ids of its rods in the core's scene."""
        return range(self.first_rod, self.first_rod + len(self.described.rods))

    @cached_property
    def followers(self) -> Mapping[str, tuple[Followers, ...]]:
        """The holds that follow each pose, by its key."""
        found: dict[tuple[str, bool, bool], list[int]] = {}
        for k, held in enumerate(self.described.held):
            found.setdefault((held.follows, held.clamped, held.loose), []).append(k)
        groups: dict[str, tuple[Followers, ...]] = {}
        for (key, clamped, loose), members in found.items():
            group_held = [self.described.held[k] for k in members]
            group = Followers(
                np.array([self.holds[k] for k in members]),
                clamped,
                loose,
                np.array([one.place for one in group_held]),
                np.array([self.described.tangent(one) for one in group_held]),
                np.array([one.root for one in group_held]),
            )
            groups[key] = (*groups.get(key, ()), group)
        return groups


@dataclass(frozen=True)
class SceneDescription:
    """All inputs of a simulation at its start, without references to Blender's data."""

    scene: Scene
    parts: Mapping[str, Part]  # by the uid of the object
    colliders: Mapping[str, ColliderDescription]  # in the order of the core's scene
    first_frame: int
    frame_rate: float
    substeps: int
    fields: tuple[object, ...]  # settings of force fields that are not animated
    watched: tuple[str, ...]  # keys of animated inputs, see `changes.watched_states`
    bodies: BodiesDescription | None = None  # if rods act on rigid bodies
    time_scale: float | None = 1.0  # None if it may be animated
    integrator: str = "tr-bdf2"
    contact: str = "coulomb"
    effort: int = 5000
    inertia: tuple[str, Inertia | None] = ("", None)  # name of the chosen object, and settings; None if animated

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Keys of all poses that are stored with a frame."""
        of_rods = (key for part in self.parts.values() for key in part.described.start_poses)
        return tuple(dict.fromkeys((*of_rods, *self.colliders, *self.watched)))  # rods may share what carries them

    @property
    def pace_of_bodies(self) -> float:
        """Time scale of the rigid body world, which applies to the rods as well."""
        return self.bodies.time_scale if self.bodies else 1.0

    @cached_property
    def measured(self) -> bool:
        """Whether a rod shows strains as attributes."""
        return any(part.described.measured for part in self.parts.values())

    @cached_property
    def signature(self) -> tuple[object, ...]:
        """Equal for equal simulations. Animated inputs are not part of it."""
        kinds = tuple(
            (
                uid,
                part.described.kinds,
                part.described.constant,
                part.described.identity,
                tuple(one.body for one in part.described.riding),
            )
            for uid, part in self.parts.items()
        )
        bodies = None if self.bodies is None else self.bodies.signature
        times = self.first_frame, self.frame_rate, self.substeps, self.time_scale, self.inertia
        solver = self.integrator, self.contact, self.effort
        return self.scene.fingerprint(), kinds, *times, self.fields, bodies, *solver


def describe_scene(
    scene: bpy.types.Scene,
    objects: Mapping[str, bpy.types.Object],
    rods: Mapping[str, RodDescription],
    colliders: Mapping[str, ColliderDescription],
    bodies: BodiesDescription | None = None,
    movers: Mapping[str, ColliderDescription] = MappingProxyType({}),
) -> SceneDescription:
    """Describes the rods, given by the uids of their objects, and the settings of the scene. Raises TendrilError."""
    shared = scene.tendril
    # Animated settings are passed frame by frame.
    core_scene = Scene(
        **(environment(scene) if has_constant_environment(scene) else {}), rod_contact=shared.rod_contact
    )
    colliders = {key: clear_of_roots(collider, rods.values()) for key, collider in colliders.items()}
    for collider in colliders.values():
        core_scene.collide(collider.shape, friction=collider.friction, thickness=collider.thickness)
    if not pushes(scene) and not any(described.pulling for described in rods.values()):
        bodies = None
    if bodies is not None:
        for key, collider in movers.items():
            path = bodies.movers[key]
            core_scene.collide(collider.shape, friction=collider.friction, thickness=collider.thickness, path=path)
    numbers = {key: core_scene.add_body(body) for key, body in bodies.described.items()} if bodies else {}
    frame_rate = scene.render.fps / scene.render.fps_base
    described_objects = [objects[uid] for uid in rods]
    parts = {uid: _add(core_scene, described, numbers, bodies) for uid, described in rods.items()}
    description = SceneDescription(
        scene=core_scene,
        parts=parts,
        colliders=colliders,
        first_frame=first_frame_of(scene),
        # The time scale of the rigid body world applies to the rods as well.
        frame_rate=frame_rate / bodies.time_scale if bodies else frame_rate,
        substeps=bodies.exchanges if bodies else shared.substeps,
        bodies=bodies,
        integrator=shared.integrator,
        contact=shared.contact_solver,
        effort=shared.effort,
        time_scale=shared.time_scale if has_constant_environment(scene) else None,
        inertia=(_inertia_object(scene), inertia_of(scene) if has_constant_environment(scene) else None),
        fields=settings_of_fields(scene, described_objects),
        watched=(
            *(key_of_field(obj) for obj in fields_of(scene, described_objects)),
            *(() if has_constant_environment(scene) else (ENVIRONMENT,)),
            *(key_of_factors(uid) for uid, rod in rods.items() if None in rod.constant),
            *(key for uid, rod in rods.items() for key in turning(objects[uid], rod.start_poses)),
        ),
    )
    _ = description.signature  # now: paths of rigid bodies tell where they are, and they move later
    return description


def first_frame_of(scene: bpy.types.Scene) -> int:
    shared = scene.tendril
    return shared.cache_start if shared.use_own_range else scene.frame_start - shared.pre_roll


def last_frame_of(scene: bpy.types.Scene) -> float:
    """The last frame in which anything moves. Without an own range the simulation has no end."""
    return scene.tendril.cache_end if scene.tendril.use_own_range else math.inf


def range_of(scene: bpy.types.Scene) -> range:
    """The frames to bake."""
    last = scene.tendril.cache_end if scene.tendril.use_own_range else scene.frame_end
    return range(first_frame_of(scene), last + 1)


def require_saved(path: Path | None) -> Path:
    if path is None:
        raise TendrilError("the disk cache", None, "save the file first: the cache is stored next to it")
    return path


# What the parts of `settings_of` are called.
SETTINGS = (
    "settings of the simulation",
    "force fields",
    "colliders",
    "rigid bodies",
    "units",
    "frame range or rate",
    "settings of rods",
)


def settings_of(scene: bpy.types.Scene, rods: Mapping[str, bpy.types.Object], live: bool = True) -> tuple[object, ...]:
    """All settings that affect the simulation; without `live`, only those that a running simulation can't take over. Fast enough to
    be called when a panel is drawn."""
    shared, render, units = scene.tendril, scene.render, scene.unit_settings
    return (
        (
            (shared.substeps, shared.rod_contact, pushes(scene), _inertia_object(scene)),
            (shared.integrator, shared.contact_solver, shared.effort),
            *(_environment_settings(scene) if live else ()),
        ),
        settings_of_fields(scene, rods.values()),
        settings_of_colliders(scene),
        settings_of_bodies(scene),
        (units.system, units.scale_length),
        (first_frame_of(scene), render.fps, render.fps_base),
        tuple(
            (uid, *_settings_of_rod(obj.tendril), constant_factors(obj) if live else (), settings_of_attachments(obj))
            for uid, obj in rods.items()
        ),
    )


def hold_targets(
    part: Part, key: str, poses: Mapping[str, Array]
) -> Iterator[tuple[NDArray[np.int64], Array | None, Array | None]]:
    """The holds of a rod that follow the pose with this key, their positions unless these are free, and rotations for clamps."""
    described = part.described
    for group in part.followers.get(key, ()):
        if group.roots[0] >= 0:
            now, start = poses[roots.all_of(key)][group.roots], described.surface_frames[key][group.roots]
            rotations = now[:, :3, :3] @ np.swapaxes(start[:, :3, :3], 1, 2)
            offsets = group.places - start[:, :3, 3]
            positions = np.einsum("kij,kj->ki", rotations, offsets) + now[:, :3, 3]
        else:
            moved, rotation = moved_since(described.start_poses[key], poses[key])
            positions = group.places @ moved[:3, :3].T + moved[:3, 3]
            rotations = np.broadcast_to(rotation, (len(positions), 3, 3))
        yield group.holds, None if group.loose else positions, rotations if group.clamped else None


def hold_turns(
    part: Part, key: str, before: Mapping[str, Array], poses: Mapping[str, Array]
) -> Iterator[tuple[NDArray[np.int64], Array]]:
    """The clamps of a rod that follow the pose with this key, and the whole turns that they make in a frame besides the shortest
    rotation between its poses. Nothing if turns are not counted, see `turns`."""
    now = poses.get(turns.key_of(key))
    if now is None:
        return
    start = part.described.start_poses[key]
    rotations = moved_since(start, before.get(key, start))[1], moved_since(start, poses[key])[1]
    first = before.get(turns.key_of(key), np.zeros_like(now))
    for group in part.followers.get(key, ()):
        if group.clamped and group.roots[0] < 0:
            whole = turns.whole_turns(first, now, rotations, nearest_rotation(start[:3, :3]), group.tangents)
            if np.any(whole):
                yield group.holds, whole


def _add(scene: Scene, described: RodDescription, numbers: Mapping[str, int], bodies: BodiesDescription | None) -> Part:
    clamped = {held.strand for held in described.held if held.clamped and not held.loose} if described.sag_free else ()
    ids = [
        scene.add(
            rod,
            model=described.model,
            friction=described.friction,
            elements=described.elements,
            sag_free=number in clamped,
        )
        for number, rod in enumerate(described.rods)
    ]
    holds = []
    for held in described.held:
        hold = scene.orient if held.loose else scene.clamp if held.clamped else scene.pin
        holds.append(hold(ids[held.strand], held.vertex))
    ties = [
        scene.attach(ids[one.strand], one.vertex, numbers[one.body], kind="weld" if one.clamped else "ball")
        for one in described.pulling
    ]
    if bodies is not None:
        for held in described.riding:
            hold = scene.clamp if held.clamped else scene.pin
            path = bodies.movers[held.body].rider(held.place, held.clamped)
            holds.append(hold(ids[held.strand], held.vertex, path=path))
    goals = [
        scene.follow(rod, strength, described.follow_time) for rod, strength in zip(ids, described.follow, strict=False)
    ]
    return Part(described, ids[0], tuple(holds), tuple(ties), tuple(goals))


def _environment_settings(scene: bpy.types.Scene) -> tuple[object, ...]:
    if not has_constant_environment(scene):
        return ()
    shared = scene.tendril
    return (
        (scene.use_gravity, *scene.gravity[:], shared.gravity_weight),
        (shared.air_density, shared.drag, *shared.wind, shared.time_scale),
        inertia_of(scene),
    )


def _inertia_object(scene: bpy.types.Scene) -> str:
    chosen = scene.tendril.inertia_object
    return "" if chosen is None else chosen.name_full


# Settings of a rod that are compared in another way than by their values: what a preset sets (only custom values count), curves of
# profiles, attachments and force fields (see their modules), and factors, which may be animated.
# The look changes no frame.
_COMPARED_ELSEWHERE = {
    *MATERIAL_VALUES,
    "use_profiles",
    "attachments",
    "field_collection",
    "look",
    "cut_influence",
    *FACTORS,
}


def _settings_of_rod(rod: bpy.types.PropertyGroup) -> tuple[object, ...]:
    material = tuple(getattr(rod, name) for name in MATERIAL_VALUES) if rod.material == "CUSTOM" else ()
    plain = (getattr(rod, name) for name in settings_in(rod) if name not in _COMPARED_ELSEWHERE)
    return (*plain, *settings_of_profiles(rod), *material)
