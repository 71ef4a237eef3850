"""Inputs of the simulation other than poses that may be animated: gravity, air, force fields, and factors of a rod's properties."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import bpy
import numpy as np

from ...core import Field
from .attachments import released
from .fields import WEIGHTS, state_of
from .poses import Array, metres_per_unit

# Paths of scene settings that may be animated. Animated values are not part of the description, which is made at one frame.
_ENVIRONMENT_PATHS = ("gravity", "tendril.wind", "tendril.air_density", "tendril.drag", "tendril.gravity_weight")


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
) -> dict[str, Array]:
    """Current values of the watched inputs, packed into arrays (4, 4) like poses. Stored with each frame, they reveal a change of
    the animation."""
    found = {}
    for key in watched:
        state = np.zeros(16)
        uid = key.removesuffix(key_of_factors(""))
        if key in fields:
            state = state_of(fields[key])
        elif key == ENVIRONMENT:
            now = environment(scene)
            state[:8] = (*now["gravity"], *now["wind"], now["air_density"], now["drag"])
        elif uid in rods:
            state[: len(FACTORS)] = [getattr(rods[uid].tendril, name) for name in FACTORS]
            state[-1] = zlib.crc32(" ".join(sorted(released(rods[uid], depsgraph))).encode())
        found[key] = state.reshape(4, 4)
    return found


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
    return not any(path in _ENVIRONMENT_PATHS for path in animated_paths(scene))


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
FACTORS = ("stiffness_factor", "damping_factor", "length_factor", "curl_factor", "pin_influence", *WEIGHTS)


def constant_factors(obj: bpy.types.Object) -> tuple[float | None, ...]:
    """Factors and influences of attachments that are not animated, as part of the description; None for animated ones."""
    animated = {path.removeprefix("tendril.") for path in animated_paths(obj)}
    settings = obj.tendril
    found = {name: getattr(settings, name) for name in FACTORS}
    found.update((f"attachments[{k}].influence", item.influence) for k, item in enumerate(settings.attachments))
    return tuple(None if name in animated else value for name, value in found.items())


def key_of_length(uid: str) -> str:
    """The key of a rod's length factor at the start frame among poses."""
    return f"{uid} length"


def animated_paths(block: bpy.types.Object | bpy.types.Scene) -> Iterator[str]:
    """Data paths of the properties that keyframes or drivers animate."""
    data = block.animation_data
    if data is None:
        return
    yield from (driver.data_path for driver in data.drivers)
    action: Any = data.action
    if action is None:
        return
    if not hasattr(data, "action_slot"):  # up to Blender 4.3
        yield from (curve.data_path for curve in action.fcurves)
        return
    for layer in action.layers:
        for strip in layer.strips:
            bag = strip.channelbag(data.action_slot) if data.action_slot is not None else None
            yield from (curve.data_path for curve in (bag.fcurves if bag is not None else ()))
