"""A Blender object as rods of the core: one per spline, in world space and in metres."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import Material, Rod, TendrilError
from .curves import Rows, spline_kinds
from .strands import SplineKind, Strand, make_strand

if TYPE_CHECKING:
    from ...core import Frame

Array = NDArray[np.float64]

# Below it, single precision can't hold the coordinates of what is seen any more.
SMALLEST_SCALE = 1e-9
# Blender's names for what the core calls otherwise.
MATERIALS = {name.upper().replace(" ", "_"): name for name in Material.presets()}
REST_SHAPES = {"AS_DRAWN": "as drawn", "STRAIGHT": "straight"}


@dataclass(frozen=True)
class Held:
    """A vertex that goes where the object goes."""

    strand: int
    vertex: int
    clamped: bool
    place: Array  # (3,) m, where it is at the start


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
    pose: Array  # (4, 4) at the start, see `pose_of`

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


def pose_of(matrix_world: object, scene: bpy.types.Scene) -> Array:
    """From the object's own space to world space in metres (4, 4)."""
    pose = np.array(matrix_world, dtype=np.float64)
    pose[:3] *= metres_per_unit(scene)
    axes = np.linalg.norm(pose[:3, :3], axis=0)
    if not np.all(np.isfinite(pose)) or axes.min() < SMALLEST_SCALE or abs(np.linalg.det(pose[:3, :3] / axes)) < 1e-9:
        raise TendrilError("the object's scale", 0.0, "it is flat along an axis: give it a scale above zero")
    return pose


def metres_per_unit(scene: bpy.types.Scene) -> float:
    units = scene.unit_settings
    return 1.0 if units.system == "NONE" else float(units.scale_length)


def describe_rod(obj: bpy.types.Object, scene: bpy.types.Scene, pose: Array, rows: Rows) -> RodDescription:
    """What is simulated for this object: the drawn curve `rows`, at `pose`, with its settings. Raises TendrilError."""
    settings, scale = obj.tendril, metres_per_unit(scene)
    world = rows.astype(np.float64) @ pose[:3, :3].T + pose[:3, 3]
    material = material_of(settings)
    kinds = spline_kinds(obj.data)
    if not kinds:
        raise TendrilError("the curve", "empty", "draw at least one spline")
    strands: list[Strand] = []
    rods: list[Rod] = []
    held: list[Held] = []
    start = 0
    for number, kind in enumerate(kinds):
        try:
            strand = make_strand(kind, world[start : start + kind.rows])
            rod = Rod.from_points(
                strand.vertices,
                radius=settings.radius * scale,
                material=material,
                closed=strand.closed,
                rest=REST_SHAPES[settings.rest_shape],
            )
        except TendrilError as error:
            if len(kinds) == 1:
                raise
            raise TendrilError(f"in spline {number + 1}, {error.field}", error.value, error.cure) from None
        held.extend(_held_ends(number, strand, settings))
        strands.append(strand)
        rods.append(rod)
        start += kind.rows
    model, friction = settings.model, settings.friction
    return RodDescription(kinds, rows, tuple(strands), tuple(rods), tuple(held), model, friction, pose)


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


def moved_since(start: Array, pose: Array) -> tuple[Array, Array]:
    """The way from one pose to another (4, 4), and the rotation of it (3, 3)."""
    moved = pose @ np.linalg.inv(start)
    # The nearest rotation: an object that is also scaled or sheared over time turns its clamps without deforming them.
    u, _, v = np.linalg.svd(moved[:3, :3])
    u[:, -1] *= np.sign(np.linalg.det(u @ v))
    return moved, u @ v


def _held_ends(number: int, strand: Strand, settings: bpy.types.PropertyGroup) -> Iterator[Held]:
    for is_end, hold in ((False, settings.start_hold), (True, settings.end_hold)):
        if hold == "FREE" or (strand.closed and is_end):  # a ring has one seam, not two ends
            continue
        vertex = len(strand.vertices) - 1 if is_end else 0
        yield Held(number, vertex, hold == "CLAMP", strand.vertices[vertex].copy())
