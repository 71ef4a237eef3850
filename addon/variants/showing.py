"""Variants side by side: a collection per variant with copies of the rods that play its frames, and an instance of each in a row.

The copies are curves and meshes with absolute shape keys, as bakes are, so that they play without simulating. Keeping a variant
sets its values in the scene and takes over its frames.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np

from ...core import TendrilError
from ...sweep.variants import DONE, Outcome
from .. import memory
from ..baking.errors import BakeError
from ..baking.shape_keys import make_keys
from ..bridge import curves, rods
from ..bridge.curves import Rows
from ..bridge.points import count
from ..bridge.scenes import first_frame_of
from ..cache_paths import path_of
from ..moments import DiskFrames, copy
from .parameters import set_value, undo_of

COLLECTION = "Tendril Variants"
_MARK = "tendril_variant"  # custom property of everything that is made here, with the folder of its variant


def show_side_by_side(scene: bpy.types.Scene, variants: list[tuple[str, Outcome]], spacing: float) -> int:
    """Replaces what was shown before. Returns the number of variants shown."""
    remove_shown(scene)
    done = [(label, outcome) for label, outcome in variants if outcome.status == DONE]
    if not done:
        raise BakeError("No variant is baked: bake variants first")
    frames = [(label, outcome, _frames_of(outcome)) for label, outcome in done]
    row = bpy.data.collections.new(COLLECTION)
    row[_MARK] = ""
    scene.collection.children.link(row)
    sources = {obj.tendril.uid: obj for obj in rods.rods_in(scene.objects)}
    made = []
    for label, outcome, (first, by_uid) in frames:
        collection = bpy.data.collections.new(f"Variant {label}"[:60])
        collection[_MARK] = Path(outcome.folder).name
        for uid, moments in by_uid.items():
            if uid in sources:
                collection.objects.link(_player(sources[uid], moments, first))
        for obj in _surroundings(scene):
            collection.objects.link(obj)
        made.append((label, collection, outcome))
    step = spacing * max(_width([obj for obj in collection.objects if obj.get(_MARK)]) for _, collection, _ in made)
    for number, (label, collection, outcome) in enumerate(made, 1):
        instance = bpy.data.objects.new(label[:60], None)
        instance[_MARK] = Path(outcome.folder).name
        instance.instance_type, instance.instance_collection = "COLLECTION", collection
        instance.empty_display_size = 0.1 * max(step, 1e-3)
        instance.location.x = number * step
        instance.show_name = True
        row.objects.link(instance)
    return len(made)


def remove_shown(scene: bpy.types.Scene) -> None:
    """Removes all copies, instances and collections that were made here."""
    for obj in [obj for obj in bpy.data.objects if obj.get(_MARK) is not None]:
        data, keys = obj.data, getattr(obj.data, "shape_keys", None)
        action = keys.animation_data.action if keys is not None and keys.animation_data else None
        bpy.data.objects.remove(obj)
        if data is not None and data.users == 0:
            (bpy.data.curves if isinstance(data, bpy.types.Curve) else bpy.data.meshes).remove(data)
        if action is not None and action.users == 0:
            bpy.data.actions.remove(action)
    for collection in [one for one in bpy.data.collections if one.get(_MARK) is not None]:
        bpy.data.collections.remove(collection)


def keep(scene: bpy.types.Scene, outcome: Outcome) -> None:
    """Sets the values of a variant in the scene and takes over its frames. Raises BakeError and changes nothing if that fails."""
    target = path_of(scene)
    source = _cache_of(outcome)
    if scene.tendril.disk_baked or any(obj.tendril.baked for obj in rods.rods_in(scene.objects)):
        raise BakeError("The scene is baked: delete the bake first")
    if target is None or outcome.status != DONE or not source.is_file():
        raise BakeError("The frames of this variant are missing: bake the variants again")
    undo: list[Callable[[], None]] = []
    try:
        for path, value in outcome.values:
            undo.append(undo_of(scene, path))
            set_value(scene, path, value)
        memory.forget(scene)
        copy(source, target)
    except TendrilError as error:
        for restore in reversed(undo):
            restore()
        raise BakeError(str(error)) from None
    scene.tendril.use_disk_cache = True
    memory.trust_disk(scene)
    remove_shown(scene)
    scene.frame_set(first_frame_of(scene))


def _cache_of(outcome: Outcome) -> Path:
    """The cache of a variant. Its record may come with a file of somebody else's: what it names never leads out of its folder."""
    folder = Path(outcome.folder).resolve()
    cache = (folder / str(outcome.contents.get("cache", ""))).resolve()
    return cache if cache.is_relative_to(folder) else folder / "missing"


def _frames_of(outcome: Outcome) -> tuple[int, dict[str, list[Rows]]]:
    """The first frame of a variant, and what its curves show in each frame, by uid."""
    try:
        disk = DiskFrames.to_read(_cache_of(outcome))
        try:
            moments = [disk.moment(number) for number in disk.frames]
            uids = [uid for uid, _ in disk.contents.rods]
            return disk.frames[0], {uid: [moment.rows[uid].copy() for moment in moments] for uid in uids}
        finally:
            disk.close()
    except (TendrilError, IndexError) as error:
        raise BakeError(f"The frames of {Path(outcome.folder).name} can't be read: {error}") from None


def _player(source: bpy.types.Object, frames: list[Rows], first: int) -> bpy.types.Object:
    """A copy of a rod that plays these frames."""
    if source.type == "CURVES":
        data = _strands_as_curve(source)
        frames = [rows[: count(source.data)] for rows in frames]
        player = bpy.data.objects.new(source.name, data)
        player.matrix_world = source.matrix_world
    else:
        player = source.copy()
        player.data = source.data.copy()
        player.animation_data_clear()
    player[_MARK] = source.name
    make_keys(player, frames, list(range(len(frames))), first)
    player.tendril.baked = player.tendril.enabled = False
    if source.type != "CURVES":
        curves.forget_drawn(player.data)
    return player


def _strands_as_curve(source: bpy.types.Object) -> bpy.types.Curve:
    """Hair curves can't have shape keys: a poly spline per strand can."""
    curve = bpy.data.curves.new(source.name, "CURVE")
    curve.dimensions = "3D"
    curve.bevel_depth, curve.bevel_resolution = source.tendril.radius, 0
    for size in curves.strand_sizes(source.data).tolist():
        curve.splines.new("POLY").points.add(size - 1)
    for material in source.data.materials:
        curve.materials.append(material)
    return curve


def _surroundings(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The meshes of the scene other than rods and rigid bodies, so that each variant is seen with its colliders."""
    return [
        obj
        for obj in scene.objects
        if obj.type == "MESH"
        and not obj.tendril.enabled
        and obj.rigid_body is None
        and obj.get(_MARK) is None
        and not obj.hide_render
    ]


def _width(objects: list[bpy.types.Object]) -> float:
    """Largest extent along x of the rods in all their frames."""
    low, high = np.inf, -np.inf
    for obj in objects:
        matrix = np.array(obj.matrix_world)
        for block in obj.data.shape_keys.key_blocks:
            points = np.empty(3 * len(block.data), dtype=np.float32)
            block.data.foreach_get("co", points)
            x = points.reshape(-1, 3) @ matrix[0, :3] + matrix[0, 3]
            low, high = min(low, float(x.min())), max(high, float(x.max()))
    return max(high - low, 0.1)
