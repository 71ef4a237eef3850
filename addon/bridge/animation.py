"""Which properties of a data-block are animated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy


def animated_paths(block: Any) -> Iterator[str]:
    """Data paths of the properties of a data-block that keyframes or drivers animate."""
    data = block.animation_data
    if data is not None:
        yield from (driver.data_path for driver in data.drivers)
        yield from (curve.data_path for curve in f_curves(block))


def f_curves(block: Any) -> Iterator[bpy.types.FCurve]:
    """The keyframed curves of a data-block."""
    data = block.animation_data
    action: Any = None if data is None else data.action
    if data is None or action is None:
        return
    if not hasattr(data, "action_slot"):  # up to Blender 4.3
        yield from action.fcurves
        return
    for layer in action.layers:
        for strip in layer.strips:
            bag = strip.channelbag(data.action_slot) if data.action_slot is not None else None
            yield from bag.fcurves if bag is not None else ()
