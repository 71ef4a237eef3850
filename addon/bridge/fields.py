"""The force fields of a scene, as they are in each frame, as those of the core."""

from __future__ import annotations

import zlib

import bpy
import numpy as np

from ...core import Falloff, Field
from .poses import Array, metres_per_unit, nearest_rotation

KINDS = {
    "WIND": "wind",
    "FORCE": "force",
    "VORTEX": "vortex",
    "MAGNET": "magnetic",
    "HARMONIC": "harmonic",
    "TURBULENCE": "turbulence",
    "DRAG": "drag",
}
_SHAPES = {"POINT": "point", "LINE": "line", "PLANE": "plane", "POINTS": "points", "SURFACE": "surface"}
_FALLOFFS = {"SPHERE": "sphere", "TUBE": "tube", "CONE": "cone"}
_SIDES = {"BOTH": "both", "POSITIVE": "positive", "NEGATIVE": "negative"}
# What makes a field, of Blender's settings.
_SETTINGS = (
    *("type", "shape", "strength", "flow", "noise", "seed", "linear_drag", "quadratic_drag", "harmonic_damping"),
    *("rest_length", "size", "use_gravity_falloff", "falloff_type", "falloff_power", "z_direction"),
    *("use_min_distance", "distance_min", "use_max_distance", "distance_max", "radial_falloff", "apply_to_location"),
    *("use_radial_min", "radial_min", "use_radial_max", "radial_max"),
)


def fields_of(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The objects whose fields act on rods."""
    weights = scene.tendril
    among = scene.objects if weights.field_collection is None else weights.field_collection.all_objects
    return [obj for obj in among if obj.field is not None and obj.field.type in KINDS and obj.field.shape in _SHAPES]


def key_of(obj: bpy.types.Object) -> str:
    """Of what is known of a field, among poses."""
    return f"field {obj.name_full}"


def read_fields(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> dict[str, Field]:
    """All of them as they are now, by their keys, each as strong as the weights of the scene leave it."""
    found = {}
    for obj in fields_of(scene):
        evaluated = obj.evaluated_get(depsgraph)
        weight = weight_of(scene, evaluated.field.type)
        if weight != 0.0 and evaluated.is_evaluated and evaluated.field.apply_to_location:
            mesh = _mesh(evaluated, metres_per_unit(scene))
            if mesh is not None:
                found[key_of(obj)] = _field(evaluated, scene, weight, mesh)
    return found


def state_of(field: Field) -> Array:
    """(4, 4) that are the same for the same field: where it is, and a check sum of all else."""
    told = field.numbers().tobytes() + b"".join(
        np.ascontiguousarray(of).tobytes() for of in (field.vertices, field.triangles) if of is not None
    )
    state = np.zeros((4, 4))
    state[:3, 3], state[3] = field.position, (field.strength, field.flow, 0.0, zlib.crc32(told))
    return state


def weight_of(scene: bpy.types.Scene, kind: str) -> float:
    weights = scene.tendril
    return float(weights.field_weight * getattr(weights, f"{KINDS[kind]}_weight"))


def settings_of_fields(scene: bpy.types.Scene) -> tuple[object, ...]:
    """Those that are not animated."""
    shared = scene.tendril
    weights = (shared.field_weight, *(getattr(shared, f"{kind}_weight") for kind in KINDS.values()))
    return (
        weights,
        tuple((obj.name_full, *(() if _is_animated(obj) else _settings_of(obj))) for obj in fields_of(scene)),
    )


def _settings_of(obj: bpy.types.Object) -> tuple[object, ...]:
    place = tuple(value for row in obj.matrix_basis for value in row)
    return (*place, *(getattr(obj.field, name) for name in _SETTINGS))


def _is_animated(obj: bpy.types.Object) -> bool:
    data = obj.animation_data
    return data is not None and (data.action is not None or len(data.drivers) > 0)


def _mesh(obj: bpy.types.Object, scale: float) -> dict[str, Array] | None:
    """What the field of an evaluated object is made of, if it has a shape; None if it has none that acts, as in Blender."""
    shape = obj.field.shape
    if shape not in ("POINTS", "SURFACE"):
        return {}
    if obj.type != "MESH":
        return None
    mesh = obj.to_mesh()
    try:
        mesh.calc_loop_triangles()
        places, normals = (np.empty(3 * len(mesh.vertices), dtype=np.float32) for _ in range(2))
        triangles = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
        mesh.vertices.foreach_get("co", places)
        mesh.vertex_normals.foreach_get("vector", normals)
        mesh.loop_triangles.foreach_get("vertices", triangles)
    finally:
        obj.to_mesh_clear()
    matrix = np.array(obj.matrix_world, dtype=np.float64)
    world = (places.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]) * scale
    if shape == "POINTS":
        return {"vertices": world, "normals": normals.reshape(-1, 3) @ matrix[:3, :3].T} if len(world) else None
    return {"vertices": world, "triangles": triangles.reshape(-1, 3)} if len(triangles) else None


def _field(obj: bpy.types.Object, scene: bpy.types.Scene, weight: float, mesh: dict[str, Array]) -> Field:
    field, scale = obj.field, metres_per_unit(scene)
    matrix = np.array(obj.matrix_world, dtype=np.float64)
    strength = field.strength
    if field.noise > 0.0:  # by chance, but always the same in the same frame
        strength += field.noise * np.random.default_rng((field.seed, scene.frame_current + 2**31)).uniform(-1.0, 1.0)
    damping, rest = 0.0, 0.0
    if field.type == "HARMONIC":
        damping, rest = field.harmonic_damping, field.rest_length * scale
    elif field.type == "DRAG":
        strength, damping = field.quadratic_drag, field.linear_drag * weight
    return Field(
        KINDS[field.type],
        strength * weight,
        matrix[:3, 3] * scale,
        nearest_rotation(matrix[:3, :3]),
        _SHAPES[field.shape],
        flow=field.flow * weight,
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
