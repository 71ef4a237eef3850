"""Which objects are rods, and their poses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import bpy

from ...core import Material
from ...core.describe.model import DEFAULT_NET_MODEL, DEFAULT_ROD_MODEL, model_records
from . import relevant, roots
from .animation import animated_paths
from .attachments import RELEASE_THRESHOLD, attached_poses
from .inertia import carrier_poses
from .poses import Array, pose_of
from .relevant import KINDS
from .rigid_bodies import dynamic_bodies, pulled, pushes, world_of

# The core's names of the materials, by their identifiers in Blender.
MATERIALS = {name.upper().replace(" ", "_"): name for name in Material.presets()}
# Properties of a rod that a material sets, and the user for a custom material. The core's Material has the same names.
MATERIAL_VALUES = ("young_modulus", "poisson_ratio", "density", "damping_time", "strands")

Owners = Mapping[bpy.types.ID, bpy.types.Object]  # the rod that moves a curve, by the curve


def is_rod(obj: bpy.types.Object | None) -> bool:
    return obj is not None and obj.type in KINDS and obj.tendril.enabled


def is_net(obj: bpy.types.Object) -> bool:
    """Whether a rod object is simulated as a net."""
    return obj.type == "MESH" or (obj.type == "CURVE" and obj.tendril.tie_splines)


def uses_elements(obj: bpy.types.Object) -> bool:
    """Whether the number of elements of the rod can be chosen."""
    chosen = obj.tendril.model  # empty if the model is not registered
    return not is_net(obj) and any(record.elements for record in model_records() if record.name == chosen)


def can_break(obj: bpy.types.Object) -> bool:
    """Whether a rod breaks by force or moment, or is cut at a keyframe."""
    settings = obj.tendril
    is_cut = settings.cut_influence < RELEASE_THRESHOLD or "tendril.cut_influence" in animated_paths(obj)
    return settings.break_force > 0.0 or settings.break_moment > 0.0 or is_cut


def model_of(obj: bpy.types.Object) -> str:
    """The core's model of a rod object. Of the model Standard, rods that break are computed as nets of one chain."""
    settings = obj.tendril
    if is_net(obj):
        return settings.net_model
    return DEFAULT_NET_MODEL if settings.model == DEFAULT_ROD_MODEL and can_break(obj) else settings.model


def is_sag_free_possible(obj: bpy.types.Object) -> bool:
    """Whether the drawn shape is the rest shape, and the model can balance gravity with it."""
    settings = obj.tendril
    chosen = model_of(obj)
    balances = any(record.balance for record in model_records() if record.name == chosen)
    return balances and settings.rest_shape == "AS_DRAWN"


def rods_in(objects: Iterable[bpy.types.Object]) -> Iterator[bpy.types.Object]:
    """Rods that can be simulated. Objects and curves of linked libraries can't."""
    for obj in own_rods_in(objects):
        if obj.data.library is None:
            yield obj


def own_rods_in(objects: Iterable[bpy.types.Object]) -> Iterator[bpy.types.Object]:
    """Rods whose object belongs to this file; their curves may belong to another one."""
    for obj in objects:
        if obj.type in KINDS and obj.tendril.enabled and obj.library is None:
            yield obj


def pushed_bodies(scene: bpy.types.Scene) -> set[bpy.types.Object]:
    """The rigid bodies that rods of the scene act on. If there is one, all dynamic bodies are simulated with the rods."""
    if world_of(scene) is None or scene.rigidbody_world.point_cache.is_baked:
        return set()
    moving = any(not obj.tendril.baked for obj in rods_in(relevant.in_scene(scene)))
    return set(dynamic_bodies(scene)) if moving and pushes(scene) else pulled_bodies(scene)


def pulled_bodies(scene: bpy.types.Scene) -> set[bpy.types.Object]:
    """The rigid bodies that rods are attached to and act on."""
    moving = (obj for obj in rods_in(relevant.in_scene(scene)) if not obj.tendril.baked)
    return {item.target for obj in moving for item in obj.tendril.attachments if pulled(item, scene)}


def bodies_that_move(scene: bpy.types.Scene) -> set[bpy.types.Object]:
    """The rigid bodies that are simulated with the rods."""
    return set(dynamic_bodies(scene)) if pushed_bodies(scene) else set()


def find(uid: str) -> bpy.types.Object | None:
    return next((obj for obj in rods_in(relevant.in_file()) if obj.tendril.uid == uid), None)


def has_shape_keys(obj: bpy.types.Object) -> bool:
    return getattr(obj.data, "shape_keys", None) is not None  # hair has no such attribute


def owners_of_curves(rods: Iterable[bpy.types.Object]) -> Owners:
    """The rod that moves each curve: the first by name, if several objects share it. Pass all rods of the file."""
    owners: dict[bpy.types.ID, bpy.types.Object] = {}
    for obj in rods:
        owners.setdefault(obj.data, obj)
    return owners


def why_not_a_rod(obj: bpy.types.Object | None) -> str | None:
    """Why this object can't become a rod, in one sentence; None if it can, as far as is known without simulating."""
    if obj is None:
        return "No object is active: select a curve first"
    if obj.type not in KINDS:
        return f'"{obj.name}" is not a curve: rods are made of curves, hair and the edges of meshes'
    if any(block.library is not None or block.override_library is not None for block in (obj, obj.data)):
        return f'"{obj.name}" is linked from another file: make it local first'
    if obj.mode == "EDIT":
        return f'"{obj.name}" is in Edit Mode: leave Edit Mode first'
    if obj.tendril.enabled:
        return f'"{obj.name}" is a rod already'
    if obj.data in owners_of_curves(rods_in(bpy.data.objects)):
        return f'"{obj.name}" shares its curve with another rod: make it single-user first'
    if has_shape_keys(obj):
        return f'"{obj.name}" has shape keys, which would hide the simulation: remove them first'
    return None


def poses_of(
    obj: bpy.types.Object, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph
) -> Iterator[tuple[str, Array]]:
    """Poses of the object, by its uid, and of the targets of its attachments. Raises TendrilError if one can't be found."""
    settings = obj.tendril
    uid = settings.uid
    yield uid, pose_of(obj.evaluated_get(depsgraph).matrix_world, scene)
    if len(settings.attachments):
        yield from attached_poses(obj, scene, depsgraph)
    surface = roots.surface_of(obj)
    if surface is not None:
        yield from roots.poses(roots.key_of(uid), surface, scene, depsgraph)
    yield from carrier_poses(obj, scene, depsgraph)
