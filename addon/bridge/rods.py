"""A Blender object as a scene of the core: one rod per spline, in world space and in metres."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import Material, Rod, Scene, TendrilError
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
class HeldEnd:
    hold: int
    clamped: bool
    place: Array  # (3,) m, where it is at the start


@dataclass(frozen=True)
class Description:
    """All that the simulation of one object starts from. Holds no reference to Blender's data."""

    scene: Scene
    kinds: tuple[SplineKind, ...]
    rows: Rows  # of the drawn curve, in its own space
    strands: tuple[Strand, ...]  # the k-th is that of the k-th rod
    held_ends: tuple[HeldEnd, ...]
    pose: Array  # (4, 4), see `pose_of`
    first_frame: int
    frame_rate: float
    substeps: int

    @property
    def layout(self) -> tuple[tuple[str, int], ...]:
        return tuple((kind.type, kind.count) for kind in self.kinds)

    @property
    def signature(self) -> tuple[object, ...]:
        """Equal for equal simulations, as far as they are known at the start."""
        return self.scene.fingerprint(), self.kinds, self.first_frame, self.frame_rate, self.substeps

    def shown(self, frame: Frame, pose: Array) -> Rows:
        """The control rows that show a frame on the object, which stands at `pose`."""
        world = np.concatenate([s.controls(frame.positions(k), frame.directors(k)) for k, s in enumerate(self.strands)])
        inverse = np.linalg.inv(pose)
        return (world @ inverse[:3, :3].T + inverse[:3, 3]).astype(np.float32)


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


def describe(obj: bpy.types.Object, scene: bpy.types.Scene, pose: Array, rows: Rows) -> Description:
    """What is simulated for this object: the drawn curve `rows`, at `pose`, with its settings. Raises TendrilError."""
    settings, air, scale = obj.tendril, scene.tendril, metres_per_unit(scene)
    curve = obj.data
    world = rows.astype(np.float64) @ pose[:3, :3].T + pose[:3, 3]
    gravity = np.array(scene.gravity, dtype=np.float64) * scale if scene.use_gravity else np.zeros(3)
    core_scene = Scene(
        gravity,
        air_density=air.air_density,
        wind=np.array(air.wind, dtype=np.float64) * scale,
        drag=air.drag,
    )
    material = material_of(settings)
    kinds = spline_kinds(curve)
    if not kinds:
        raise TendrilError("the curve", "empty", "draw at least one spline")
    strands: list[Strand] = []
    held_ends: list[HeldEnd] = []
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
        rod_id = core_scene.add(rod, model=settings.model)
        held_ends.extend(_hold_ends(core_scene, rod_id, strand, settings))
        strands.append(strand)
        start += kind.rows
    return Description(
        scene=core_scene,
        kinds=kinds,
        rows=rows,
        strands=tuple(strands),
        held_ends=tuple(held_ends),
        pose=pose,
        first_frame=scene.frame_start,
        frame_rate=scene.render.fps / scene.render.fps_base,
        substeps=air.substeps,
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


def held_motion(description: Description, pose: Array) -> Iterator[tuple[int, Array, Array | None]]:
    """Where the held ends are when the object stands at `pose`: hold, position, rotation for a clamp."""
    moved = pose @ np.linalg.inv(description.pose)
    # The nearest rotation: an object that is also scaled or sheared over time turns its clamps without deforming them.
    u, _, v = np.linalg.svd(moved[:3, :3])
    u[:, -1] *= np.sign(np.linalg.det(u @ v))
    for end in description.held_ends:
        yield end.hold, moved[:3, :3] @ end.place + moved[:3, 3], u @ v if end.clamped else None


def _hold_ends(scene: Scene, rod_id: int, strand: Strand, settings: bpy.types.PropertyGroup) -> Iterator[HeldEnd]:
    for where, hold, vertex in (("start", settings.start_hold, 0), ("end", settings.end_hold, -1)):
        if hold == "FREE" or (strand.closed and where == "end"):  # a ring has one seam, not two ends
            continue
        clamped = hold == "CLAMP"
        hold_id = scene.clamp(rod_id, where) if clamped else scene.pin(rod_id, where)
        yield HeldEnd(hold_id, clamped, strand.vertices[vertex].copy())
