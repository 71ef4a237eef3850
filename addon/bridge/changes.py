"""Inputs of the simulation other than poses that may be animated: gravity, air, force fields, and factors of a rod's properties."""

from __future__ import annotations

import re
import zlib
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

import bpy
import numpy as np

from ...core import Field
from . import turns
from .animation import animated_paths, f_curves
from .attachments import influences, is_on_surface, key_of
from .curves import Rows, drawn_rows
from .fields import WEIGHTS, state_of
from .inertia import PATHS, inertia_of
from .poses import Array, metres_per_unit

# Paths of scene settings that may be animated. Animated values are not part of the description, which is made at one frame.
_ENVIRONMENT_PATHS = ("gravity", "tendril.wind", "tendril.air_density", "tendril.drag", "tendril.gravity_weight")
_ART_PATHS = ("tendril.time_scale", *PATHS)


ENVIRONMENT = "surroundings"  # the key of gravity and air among poses


def key_of_factors(uid: str) -> str:
    """The key of a rod's factors among poses."""
    return f"{uid} factors"


def watched_states(
    watched: Iterable[str],
    scene: bpy.types.Scene,
    depsgraph: bpy.types.Depsgraph,
    rods: Mapping[str, bpy.types.Object],
    fields: Mapping[str, Field],
    first: int,
) -> dict[str, Array]:
    """Current values of the watched inputs of a simulation that starts at the frame `first`, packed into arrays (4, 4) like poses.
    Stored with each frame, they reveal a change of the animation."""
    found = {}
    targets = {key: target for obj in rods.values() for key, target in _targets(obj)}
    for key in watched:
        state = np.zeros(16)
        uid = key.removesuffix(key_of_factors(""))
        if key in fields:
            state = state_of(fields[key])
        elif key == ENVIRONMENT:
            now = environment(scene)
            state[:9] = (*now["gravity"], *now["wind"], now["air_density"], now["drag"], scene.tendril.time_scale)
            state[9:12] = inertia_of(scene)
        elif key in targets:
            state = turns.angles(*targets[key], depsgraph, first, scene.frame_current).ravel()
        elif uid in rods:
            state[: len(FACTORS)] = [getattr(rods[uid].tendril, name) for name in FACTORS]
            digest = zlib.crc32(np.array([*influences(rods[uid], depsgraph).values()]).tobytes())
            shape = animated_rows(rods[uid], scene.frame_current)
            state[-1] = digest if shape is None else zlib.crc32(shape.tobytes(), digest)
        found[key] = state.reshape(4, 4)
    return found


def turning(obj: bpy.types.Object, keys: Container[str]) -> list[str]:
    """Keys of the turns of what a rod follows, for those `keys` of poses that keyframes rotate."""
    return [
        key for key, target in _targets(obj) if key.removesuffix(turns.key_of("")) in keys and turns.can_turn(*target)
    ]


def _targets(obj: bpy.types.Object) -> Iterator[tuple[str, tuple[bpy.types.Object, str]]]:
    """Objects and bones that a rod follows, by the keys of their turns."""
    uid = obj.tendril.uid
    yield turns.key_of(uid), (obj, "")
    for number, one in enumerate(obj.tendril.attachments):
        if one.target is not None and not is_on_surface(one):
            yield turns.key_of(key_of(uid, number)), (one.target, one.bone if one.target.type == "ARMATURE" else "")


def environment(scene: bpy.types.Scene) -> dict[str, Any]:
    """Gravity and air as arguments of the core's Scene, in SI units."""
    shared, scale = scene.tendril, metres_per_unit(scene)
    factor = scale * shared.gravity_weight
    x, y, z = scene.gravity[:]
    wind = shared.wind
    return {
        "gravity": (factor * x, factor * y, factor * z) if scene.use_gravity else (0.0, 0.0, 0.0),
        "air_density": shared.air_density,
        "wind": (scale * wind[0], scale * wind[1], scale * wind[2]),
        "drag": shared.drag,
    }


def has_constant_environment(scene: bpy.types.Scene) -> bool:
    """Whether gravity and air are not animated."""
    return not any(path in (*_ENVIRONMENT_PATHS, *_ART_PATHS) for path in animated_paths(scene))


_POINT = re.compile(r"splines\[(\d+)\]\.(bezier_points|points)\[(\d+)\]\.(co|handle_left|handle_right)$")
_PLACES = {"handle_left": 0, "co": 1, "handle_right": 2}  # rows of a Bezier point


def has_animated_points(obj: bpy.types.Object) -> bool:
    """Whether control points of a curve are keyframed."""
    return obj.type == "CURVE" and any(_POINT.match(curve.data_path) for curve in f_curves(obj.data))


def animated_rows(obj: bpy.types.Object, frame: float) -> Rows | None:
    """The drawn rows of a curve with its keyframed control points where they are at a frame; None if none is keyframed."""
    if not has_animated_points(obj):
        return None
    kept = drawn_rows(obj.data)
    assert kept is not None, "edits are accepted before a rod is described"
    rows, starts, start = kept.copy(), [], 0
    for spline in obj.data.splines:
        starts.append(start)
        start += 3 * len(spline.bezier_points) if spline.type == "BEZIER" else len(spline.points)
    for curve in f_curves(obj.data):
        found = _POINT.match(curve.data_path)
        if found is None or curve.array_index > 2 or int(found[1]) >= len(starts):
            continue
        number, place = int(found[3]), _PLACES[found[4]]
        row = starts[int(found[1])] + (3 * number + place if found[2] == "bezier_points" else number)
        if row < start:
            rows[row, curve.array_index] = curve.evaluate(frame)
    return rows


def factors(obj: bpy.types.Object, start_length: float) -> dict[str, float]:
    """Factors on the described properties of a rod, as arguments of the core's `Simulation.alter`."""
    settings = obj.tendril
    return {
        "stiffness": settings.stiffness_factor,
        "damping": settings.damping_factor,
        "length": settings.length_factor / start_length,
        "curl": settings.curl_factor,
    }


# Settings of rods that may be animated.
FACTORS = (
    "stiffness_factor",
    "damping_factor",
    "length_factor",
    "curl_factor",
    "pin_influence",
    "follow_strength",
    *WEIGHTS,
)


def constant_factors(obj: bpy.types.Object) -> tuple[float | None, ...]:
    """Factors and influences of attachments that are not animated, as part of the description; None for animated ones."""
    animated = {path.removeprefix("tendril.") for path in animated_paths(obj)}
    settings = obj.tendril
    found = {name: getattr(settings, name) for name in FACTORS}
    found["cut_influence"] = settings.cut_influence
    found.update((f"attachments[{k}].influence", item.influence) for k, item in enumerate(settings.attachments))
    if has_animated_points(obj):
        found["points"], animated = 0.0, {*animated, "points"}
    return tuple(None if name in animated else value for name, value in found.items())


def key_of_length(uid: str) -> str:
    """The key of a rod's length factor at the start frame among poses."""
    return f"{uid} length"
