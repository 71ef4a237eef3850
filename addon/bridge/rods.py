"""A Blender object as rods of the core: one per spline, in world space and in metres."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import bpy
import numpy as np

from ...core import Material, Rod, TendrilError
from .attachments import attached_poses, key_of
from .curves import Rows, per_point, spline_kinds
from .poses import Array, metres_per_unit, pose_of
from .shapes import radius_along, rest_shape, stiffness_along
from .strands import SplineKind, Strand, make_strand

if TYPE_CHECKING:
    from ...core import Frame

# Blender's names for what the core calls otherwise.
MATERIALS = {name.upper().replace(" ", "_"): name for name in Material.presets()}
# Control points of at least this goal weight are pinned.
PINNED_FROM = 0.5


@dataclass(frozen=True)
class Held:
    """A vertex that goes where something goes."""

    strand: int
    vertex: int
    clamped: bool
    place: Array  # (3,) m, where it is at the start
    follows: str  # whose pose: the uid of the object, or the key of an attachment


@dataclass(frozen=True)
class RodDescription:
    """What one object brings into the simulation. Holds no reference to Blender's data."""

    kinds: tuple[SplineKind, ...]
    rows: Rows  # of the drawn curve, in its own space
    strands: tuple[Strand, ...]
    rods: tuple[Rod, ...]  # one for each strand
    held: tuple[Held, ...]
    model: str
    friction: float
    pose: Array  # (4, 4) of the object at the start
    start_poses: Mapping[str, Array]  # the same, and those of what it is attached to

    @property
    def layout(self) -> tuple[tuple[str, int], ...]:
        return tuple((kind.type, kind.count) for kind in self.kinds)

    def shown(self, frame: Frame, first_rod: int, pose: Array) -> Rows:
        """The control rows that show a frame on the object, which stands at `pose`."""
        numbers = range(first_rod, first_rod + len(self.strands))
        controls = [
            s.controls(frame.positions(k), frame.directors(k)) for k, s in zip(numbers, self.strands, strict=True)
        ]
        inverse = np.linalg.inv(pose)
        return (np.concatenate(controls) @ inverse[:3, :3].T + inverse[:3, 3]).astype(np.float32)


def rods_in(objects: bpy.types.bpy_prop_collection) -> Iterator[bpy.types.Object]:
    """Rods that can be simulated: those of linked libraries belong to another file."""
    for obj in objects:
        if obj.type == "CURVE" and obj.tendril.enabled and obj.library is None and obj.data.library is None:
            yield obj


def out_of_reach(objects: bpy.types.bpy_prop_collection) -> Iterator[bpy.types.Object]:
    """Rods of this file whose curves are of another."""
    for obj in objects:
        if obj.type == "CURVE" and obj.tendril.enabled and obj.library is None and obj.data.library is not None:
            yield obj


def find(uid: str) -> bpy.types.Object | None:
    return next((obj for obj in rods_in(bpy.data.objects) if obj.tendril.uid == uid), None)


def owners_of_curves() -> dict[bpy.types.Curve, bpy.types.Object]:
    """The rod that moves a curve: the first by name, if several objects share it."""
    owners: dict[bpy.types.Curve, bpy.types.Object] = {}
    for obj in rods_in(bpy.data.objects):
        owners.setdefault(obj.data, obj)
    return owners


def why_not_a_rod(obj: bpy.types.Object | None) -> str | None:
    """Why this object cannot become a rod, in a sentence; None if it can, as far as one sees without simulating."""
    if obj is None:
        return "No object is active: select a curve first"
    if obj.type != "CURVE":
        return f'"{obj.name}" is no curve: rods are made from Curve objects'
    if any(block.library is not None or block.override_library is not None for block in (obj, obj.data)):
        return f'"{obj.name}" is linked from another file: make it local first'
    if obj.mode == "EDIT":
        return f'"{obj.name}" is in Edit Mode: leave it first'
    if obj.tendril.enabled:
        return f'"{obj.name}" is a rod already'
    if obj.data in owners_of_curves():
        return f'"{obj.name}" shares its curve with another rod: make it a single user first'
    if obj.data.shape_keys is not None:
        return f'"{obj.name}" has shape keys, which would hide the simulation: remove them first'
    return None


def poses_of(
    obj: bpy.types.Object, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph
) -> Iterator[tuple[str, Array]]:
    """Where the object stands, by its uid, and what it is attached to. Raises TendrilError for what can't be found."""
    yield obj.tendril.uid, pose_of(obj.evaluated_get(depsgraph).matrix_world, scene)
    yield from attached_poses(obj, scene, depsgraph)


def describe_rod(
    obj: bpy.types.Object, scene: bpy.types.Scene, poses: Mapping[str, Array], rows: Rows
) -> RodDescription:
    """What is simulated for this object: the drawn curve `rows`, with its settings. `poses` are those of the start, see
    `poses_of`; others don't matter. Raises TendrilError."""
    pose = poses[obj.tendril.uid]
    settings, scale = obj.tendril, metres_per_unit(scene)
    world = rows.astype(np.float64) @ pose[:3, :3].T + pose[:3, 3]
    material = material_of(settings)
    kinds = spline_kinds(obj.data)
    if not kinds:
        raise TendrilError("the curve", "empty", "draw at least one spline")
    strands: list[Strand] = []
    rods: list[Rod] = []
    start = 0
    for number, kind in enumerate(kinds):
        try:
            strand = make_strand(kind, world[start : start + kind.rows])
            rod = Rod.from_points(
                strand.vertices,
                radius=radius_along(obj, strand, number, pose, scale),
                material=material,
                closed=strand.closed,
                rest=rest_shape(settings, strand, scale),
                stiffness_scale=stiffness_along(obj, strand, number),
            )
        except TendrilError as error:
            if len(kinds) == 1:
                raise
            raise TendrilError(f"in spline {number + 1}, {error.field}", error.value, error.cure) from None
        strands.append(strand)
        rods.append(rod)
        start += kind.rows
    held = _held(obj, strands, poses)
    return RodDescription(
        kinds=kinds,
        rows=rows,
        strands=tuple(strands),
        rods=tuple(rods),
        held=tuple(held),
        model=settings.model,
        friction=settings.friction,
        pose=pose,
        start_poses={key: poses[key] for key in (obj.tendril.uid, *(hold.follows for hold in held))},
    )


def material_of(settings: bpy.types.PropertyGroup) -> Material:
    if settings.material != "CUSTOM":
        return Material.preset(MATERIALS[settings.material])
    return Material(
        young_modulus=settings.young_modulus,
        density=settings.density,
        poisson_ratio=settings.poisson_ratio,
        damping_time=settings.damping_time,
        strands=settings.strands,
    )


def _held(obj: bpy.types.Object, strands: list[Strand], poses: Mapping[str, Array]) -> list[Held]:
    """All that is held: by attachments, by weight, at the ends. What is named first is stronger."""
    found: dict[tuple[int, int], Held] = {}
    settings = obj.tendril
    for number, attachment in enumerate(settings.attachments):
        key = key_of(settings.uid, number)
        if key not in poses:
            continue
        for strand, vertex in _attached_vertices(attachment, strands):
            if (strand, vertex) in found:
                cure = "another attachment holds the same point: remove one of the two"
                raise TendrilError(f"attachment {number + 1}", attachment.name, cure)
            place = strands[strand].vertices[vertex].copy()
            found[strand, vertex] = Held(strand, vertex, attachment.use_rotation, place, key)
    if settings.pin_by_weight:
        for number, (strand, weights) in enumerate(zip(strands, per_point(obj.data, "weight_softbody"), strict=True)):
            for point in np.flatnonzero(weights >= PINNED_FROM).tolist():
                _hold_if_free(found, number, strand, strand.vertex_of(point), False, settings.uid)
    for number, strand in enumerate(strands):
        for is_end, hold in ((False, settings.start_hold), (True, settings.end_hold)):
            if hold != "FREE" and not (strand.closed and is_end):  # a ring has one seam, not two ends
                vertex = len(strand.vertices) - 1 if is_end else 0
                _hold_if_free(found, number, strand, vertex, hold == "CLAMP", settings.uid)
    return list(found.values())


def _hold_if_free(
    found: dict[tuple[int, int], Held], number: int, strand: Strand, vertex: int, clamped: bool, uid: str
) -> None:
    if (number, vertex) not in found:
        found[number, vertex] = Held(number, vertex, clamped, strand.vertices[vertex].copy(), uid)


def _attached_vertices(attachment: bpy.types.PropertyGroup, strands: list[Strand]) -> Iterator[tuple[int, int]]:
    if attachment.spline >= len(strands):
        raise TendrilError("spline", attachment.spline, f"the last spline of the curve is {len(strands) - 1}")
    for number, strand in enumerate(strands):
        if attachment.spline not in (-1, number):
            continue
        if attachment.where == "START":
            yield number, 0
        elif attachment.where == "END":
            yield number, len(strand.vertices) - 1
        elif attachment.point < strand.control_count:
            yield number, strand.vertex_of(attachment.point)
        else:
            raise TendrilError("point", attachment.point, f"the last point of the spline is {strand.control_count - 1}")
