"""Blender's force fields in each frame, as fields of the core."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ...core import Falloff, Field
from ...core.describe.fields import KINDS as _CORE_KINDS
from . import relevant
from .meshes import read_mesh
from .poses import Array, metres_per_unit, nearest_rotation

# Blender's types of force fields, by the core's kinds: the same word, with one exception. Blender has no field of a kind that it
# does not list, and the core has no formula for the others.
_OTHER_NAMES = {"magnetic": "MAGNET"}
_BLENDER_TYPES = bpy.types.FieldSettings.bl_rna.properties["type"].enum_items
KINDS = {name: kind for kind in _CORE_KINDS if (name := _OTHER_NAMES.get(kind, kind.upper())) in _BLENDER_TYPES}
WEIGHTS = ("gravity_weight", "field_weight", *(f"{kind}_weight" for kind in KINDS.values()))
_SHAPES = {"POINT": "point", "LINE": "line", "PLANE": "plane", "POINTS": "points", "SURFACE": "surface"}
_FALLOFFS = {"SPHERE": "sphere", "TUBE": "tube", "CONE": "cone"}
_SIDES = {"BOTH": "both", "POSITIVE": "positive", "NEGATIVE": "negative"}
# Blender's settings that define a field.
_SETTINGS = (
    *("type", "shape", "strength", "flow", "noise", "seed", "linear_drag", "quadratic_drag", "harmonic_damping"),
    *("rest_length", "size", "use_gravity_falloff", "falloff_type", "falloff_power", "z_direction"),
    *("use_min_distance", "distance_min", "use_max_distance", "distance_max", "radial_falloff", "apply_to_location"),
    *("use_radial_min", "radial_min", "use_radial_max", "radial_max"),
)


def fields_of(scene: bpy.types.Scene, rods: Iterable[bpy.types.Object] = ()) -> list[bpy.types.Object]:
    """The objects whose fields act on at least one rod."""
    found = dict.fromkeys(_among(scene, scene.tendril.field_collection))
    for obj in rods:
        if obj.tendril.field_collection is not None:
            found.update(dict.fromkeys(_among(scene, obj.tendril.field_collection)))
    return list(found)


def _among(scene: bpy.types.Scene, chosen: bpy.types.Collection | None) -> list[bpy.types.Object]:
    among = relevant.in_scene(scene) if chosen is None else chosen.all_objects
    return [obj for obj in among if obj.field is not None and obj.field.type in KINDS and obj.field.shape in _SHAPES]


def key_of(obj: bpy.types.Object) -> str:
    """The key of a field's state among poses."""
    return f"field {obj.name_full}"


def read_fields(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, rods: Iterable[bpy.types.Object] = ()
) -> dict[str, Field]:
    """All current fields by key, multiplied by the weights of the scene."""
    found = {}
    for obj in fields_of(scene, rods):
        evaluated = obj.evaluated_get(depsgraph)
        weight = weight_of(scene, evaluated.field.type)
        if weight != 0.0 and evaluated.is_evaluated and evaluated.field.apply_to_location:
            mesh = _mesh(evaluated, metres_per_unit(scene))
            if mesh is not None:
                found[key_of(obj)] = weighted(_field(evaluated, scene, mesh), weight)
    return found


def fields_per_rod(
    scene: bpy.types.Scene,
    fields: Mapping[str, Field],
    rods: Mapping[str, bpy.types.Object],
    ids: Mapping[str, Sequence[int]],
) -> list[Field]:
    """Applies the rods' own weights and collections to the fields that were read. `ids` are the rods' ids in the core's scene, by
    the uid of their object."""
    settings = {uid: _own_settings(rods[uid]) for uid in ids if uid in rods}
    if not any(collection or set(weights.values()) != {1.0} for collection, weights in settings.values()):
        return list(fields.values())
    shared = {key_of(obj) for obj in fields_of(scene)}
    together: dict[tuple[str, float], list[int]] = {}  # rods, by field and its weight for them
    for uid, (collection, weights) in settings.items():
        own = shared if collection is None else {key_of(obj) for obj in _among(scene, collection)}
        for key in own & fields.keys():
            together.setdefault((key, weights["field"] * weights[fields[key].kind]), []).extend(ids[uid])
    return [
        weighted(replace(fields[key], rods=chosen), weight)
        for (key, weight), chosen in sorted(together.items())
        if weight != 0.0
    ]


def gravity_weights(rods: Mapping[str, bpy.types.Object], ids: Mapping[str, Sequence[int]]) -> dict[int, float]:
    """Weights of gravity other than 1, by the rods' ids in the core's scene."""
    own = {uid: rods[uid].tendril.gravity_weight for uid in ids if uid in rods}
    return {rod: weight for uid, weight in own.items() if weight != 1.0 for rod in ids[uid]}


def weighted(field: Field, weight: float) -> Field:
    """The field multiplied by a weight. The damping of a harmonic field is a ratio of critical damping and does not change."""
    if weight == 1.0:
        return field
    damping = field.damping * weight if field.kind == "drag" else field.damping
    return replace(field, strength=field.strength * weight, flow=field.flow * weight, damping=damping)


def _own_settings(obj: bpy.types.Object) -> tuple[bpy.types.Collection | None, dict[str, float]]:
    own = obj.tendril
    return own.field_collection, {kind: getattr(own, f"{kind}_weight") for kind in ("field", *KINDS.values())}


def state_of(field: Field) -> Array:
    """A field as (4, 4) numbers that are equal for equal fields: its position and strength, and a checksum of all else."""
    told = field.numbers().tobytes() + b"".join(
        np.ascontiguousarray(of).tobytes() for of in (field.vertices, field.triangles) if of is not None
    )
    state = np.zeros((4, 4))
    state[:3, 3], state[3] = field.position, (field.strength, field.flow, 0.0, zlib.crc32(told))
    return state


def weight_of(scene: bpy.types.Scene, kind: str) -> float:
    weights = scene.tendril
    return float(weights.field_weight * getattr(weights, f"{KINDS[kind]}_weight"))


def settings_of_fields(scene: bpy.types.Scene, rods: Iterable[bpy.types.Object]) -> tuple[object, ...]:
    """Settings of the fields that are not animated."""
    shared, rods = scene.tendril, list(rods)
    weights = (shared.field_weight, *(getattr(shared, f"{kind}_weight") for kind in KINDS.values()))
    own = (obj.tendril.field_collection for obj in rods)
    return (
        weights,
        tuple("" if chosen is None else chosen.name_full for chosen in own),
        tuple((obj.name_full, *(() if _is_animated(obj) else _settings_of(obj))) for obj in fields_of(scene, rods)),
    )


def _settings_of(obj: bpy.types.Object) -> tuple[object, ...]:
    place = tuple(value for row in obj.matrix_basis for value in row)  # type: ignore[attr-defined]
    return (*place, *(getattr(obj.field, name) for name in _SETTINGS))


def _is_animated(obj: bpy.types.Object) -> bool:
    data = obj.animation_data
    return data is not None and (data.action is not None or len(data.drivers) > 0)


def _mesh(obj: bpy.types.Object, scale: float) -> dict[str, Any] | None:
    """The mesh of a field of shape POINTS or SURFACE, as arguments of Field; None if the field has no effect without one."""
    shape = obj.field.shape
    if shape not in ("POINTS", "SURFACE"):
        return {}
    if obj.type != "MESH":
        return None
    mesh = read_mesh(obj, scale, with_normals=shape == "POINTS")
    if shape == "POINTS":
        return {"vertices": mesh.vertices, "normals": mesh.normals} if len(mesh.vertices) else None
    return {"vertices": mesh.vertices, "triangles": mesh.triangles} if len(mesh.triangles) else None


def _field(obj: bpy.types.Object, scene: bpy.types.Scene, mesh: dict[str, Any]) -> Field:
    field, scale = obj.field, metres_per_unit(scene)
    matrix = np.array(obj.matrix_world, dtype=np.float64)
    strength = field.strength
    if field.noise > 0.0:  # random, but the same for each frame
        strength += field.noise * np.random.default_rng((field.seed, scene.frame_current + 2**31)).uniform(-1.0, 1.0)
    damping, rest = 0.0, 0.0
    if field.type == "HARMONIC":
        damping, rest = field.harmonic_damping, field.rest_length * scale
    elif field.type == "DRAG":
        strength, damping = field.quadratic_drag, field.linear_drag
    return Field(
        KINDS[field.type],
        strength,
        matrix[:3, 3] * scale,
        nearest_rotation(matrix[:3, :3]),
        _SHAPES[field.shape],
        flow=field.flow,
        damping=damping,
        rest_length=rest,
        size=field.size * scale,
        seed=field.seed,
        gravitation=field.use_gravity_falloff,
        falloff=_FALLOFFS[field.falloff_type],
        side=_SIDES[field.z_direction],
        distance=_falloff(
            field.falloff_power,
            field.distance_min * scale if field.use_min_distance else 0.0,
            field.distance_max * scale if field.use_max_distance else np.inf,
        ),
        radial=_falloff(
            field.radial_falloff,
            field.radial_min if field.use_radial_min else 0.0,
            field.radial_max if field.use_radial_max else np.inf,
        ),
        **mesh,
    )


def _falloff(power: float, least: float, most: float) -> Falloff:
    return Falloff(float(power), float(least), float(most))
