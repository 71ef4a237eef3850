"""Which strands of a hair object are simulated, and what the others follow, from its settings."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import TendrilError
from ...core.describe.bundle import usable_strands
from .bundle import Bundle
from .children import Children, Ints
from .curves import strand_sizes
from .poses import Array, metres_per_unit


def simulated_strands(obj: bpy.types.Object, world: Array, sizes: NDArray[np.integer[Any]]) -> Ints | None:
    """Numbers of the strands that are simulated; None for all. Strands that can't be rods are not, if others can."""
    from ...core.maths.geometry.guides import spread_guides

    settings = obj.tendril
    good = np.flatnonzero(usable_strands(world, sizes))
    if not len(good):
        return None  # the description then says what is wrong
    if settings.use_guides:
        starts = np.cumsum(sizes) - sizes
        if settings.guide_group:
            marked = good[per_strand(obj, settings.guide_group, "the guides")[good] > 0.5]
            if not len(marked):
                cure = "mark some strands with a value above 0.5, or clear the name to spread guides evenly"
                raise TendrilError("the guides", settings.guide_group, cure)
            return marked
        return good[spread_guides(world[starts[good]], settings.guide_count)]
    return None if len(good) == len(sizes) else good


def per_strand(obj: bpy.types.Object, name: str, field: str) -> Array:
    """(S,) values of an attribute of curves; of an attribute of points, those at the roots. Raises TendrilError."""
    attribute = obj.data.attributes.get(name)
    known = ("FLOAT", "INT", "BOOLEAN", "INT8")
    if attribute is None or attribute.data_type not in known or attribute.domain not in ("CURVE", "POINT"):
        cure = f'"{obj.name}" has no attribute of numbers with this name: choose another'
        raise TendrilError(field, name, cure)
    values = np.empty(len(attribute.data), dtype=np.float32 if attribute.data_type == "FLOAT" else np.int32)
    if attribute.data_type == "BOOLEAN":
        values = np.empty(len(attribute.data), dtype=np.bool_)
    attribute.data.foreach_get("value", values)
    if attribute.domain == "POINT":
        sizes = strand_sizes(obj.data)
        values = values[np.minimum(np.cumsum(sizes) - sizes, len(values) - 1)]
    return values.astype(np.float64)


def children_of(obj: bpy.types.Object, scene: bpy.types.Scene, world: Array, bundle: Bundle) -> Children | None:
    """The strands that are not simulated; None if all are."""
    sizes, settings = strand_sizes(obj.data), obj.tendril
    if len(bundle.numbers) == len(sizes):
        return None
    scale = metres_per_unit(scene)
    reach = settings.guide_reach * scale if settings.use_guides and settings.guide_reach > 0.0 else np.inf
    clumps = None
    if settings.use_guides and settings.clump_group:
        clumps = per_strand(obj, settings.clump_group, "the clumps").astype(np.int64)
    found = Children(world, sizes, bundle, settings.guide_influences if settings.use_guides else 1, reach, clumps)
    notes = []
    useless = len(sizes) - int(usable_strands(world, sizes).sum())
    if useless:
        some = "1 strand has" if useless == 1 else f"{useless} strands have"
        notes.append(f"{some} no length or coincident points and can't be simulated: they follow their neighbours")
    if found.lost:
        some = "1 strand has" if found.lost == 1 else f"{found.lost} strands have"
        notes.append(f"{some} no guide within {settings.guide_reach:g} and move rigidly with their roots")
    found.notes = tuple(notes)
    return found
