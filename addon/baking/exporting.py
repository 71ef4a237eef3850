"""Export to Alembic and USD. Splines become polylines in world space, sampled as Blender draws them and with their radius.
A mesh net is exported as a mesh if it has faces, otherwise as polylines along its edges.

Blender's exporters ignore the shape keys of curves and write data that is changed by a handler only once. The export
therefore uses a temporary scene with hair curves and meshes that a frame handler moves. A keyframed custom property on
their data makes the exporters write them in every frame.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import bpy
import numpy as np
from numpy.typing import NDArray

from .. import memory
from ..bridge import curves, nets, points, rods
from ..bridge.bundle import Bundle
from ..bridge.curves import Rows
from ..bridge.poses import metres_per_unit
from ..bridge.scenes import range_of
from ..bridge.shapes import ALL, constant_radius, radius_along
from ..bridge.strands import polylines
from ..showing import FrameSource
from .errors import BakeError

EXTENSIONS = {"ALEMBIC": ".abc", "USD": ".usdc"}
_FORMATS = {"ALEMBIC": (".abc",), "USD": (".usdc", ".usda", ".usd", ".usdz")}
_KEYFRAMED_PROPERTY = "tendril_frame"


def path_for(scene: bpy.types.Scene) -> Path:
    """Path of the exported file. The default is next to the .blend file and named after it."""
    shared = scene.tendril
    name = shared.export_path or f"//{Path(bpy.data.filepath).stem}_rods"
    path = Path(bpy.path.abspath(name))
    return (
        path
        if path.suffix.lower() in _FORMATS[shared.bake_to]
        else path.with_name(path.name + EXTENSIONS[shared.bake_to])
    )


def why_not_bakeable(obj: bpy.types.Object, scene: bpy.types.Scene) -> str | None:
    """Message why the scene cannot be exported; None if it can."""
    target = scene.tendril.bake_to
    if not getattr(bpy.app.build_options, target.lower()):
        return f"This build of Blender does not support {target.title()}: choose another target"
    if not bpy.data.filepath and not Path(bpy.path.abspath(scene.tendril.export_path)).is_absolute():
        return "The .blend file is not saved yet: save it first or set an absolute export path"
    outside = unconfirmed_path(scene)
    if outside is not None:
        return f'The file exports to "{outside}", which is outside of its folder: set the path again to confirm it'
    return None


def unconfirmed_path(scene: bpy.types.Scene) -> Path | None:
    """The path of the exported file, if it was stored in the .blend file, lies outside of the folder of that file, and the user
    has not seen it yet."""
    if scene.tendril.bake_to not in EXTENSIONS or scene.tendril.export_path in memory.confirmed_exports:
        return None
    path = Path(os.path.realpath(path_for(scene)))
    inside = bool(bpy.data.filepath) and path.is_relative_to(os.path.realpath(Path(bpy.data.filepath).parent))
    return None if inside else path


def export(uids: list[str], scene: bpy.types.Scene) -> None:
    """Exports the cached frames within the range of the scene. Raises BakeError."""
    frames, path = memory.frame_source(scene), path_for(scene)
    numbers = [] if frames is None else [k for k in range_of(scene) if frames.moment(k) is not None]
    if not numbers or numbers != list(range(range_of(scene)[0], numbers[-1] + 1)):
        raise BakeError("The rods were changed or not simulated from the start frame: play from there")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BakeError(f'The folder "{path.parent}" could not be created: {error.strerror}') from error
    with _temporary_scene(scene, numbers) as temporary:
        objects = [one for uid in uids for one in _export_objects(rods.find(uid), scene, frames, numbers)]
        for one in objects:
            one.create(temporary)
        with _frame_handler(temporary, objects):
            _write(temporary, path, scene.tendril.bake_to, numbers)
    if not path.exists():
        raise BakeError(f'Blender could not write "{path}": check the path and its permissions')


class _ExportObject(Protocol):
    """An object of the temporary scene."""

    def create(self, scene: bpy.types.Scene) -> None: ...

    def show(self, frame: int) -> None: ...


def _link(scene: bpy.types.Scene, name: str, data: bpy.types.ID) -> None:
    """Adds an object with this data and keyframes its custom property."""
    scene.collection.objects.link(bpy.data.objects.new(name, data))
    for frame in (scene.frame_start, scene.frame_end):
        data[_KEYFRAMED_PROPERTY] = float(frame)
        data.keyframe_insert(f'["{_KEYFRAMED_PROPERTY}"]', frame=frame)


class _Mesh:
    """Export object of a mesh net with faces."""

    def __init__(self, obj: bpy.types.Object, points: Callable[[int], NDArray[np.float64]]) -> None:
        self._obj, self._points = obj, points

    def create(self, scene: bpy.types.Scene) -> None:
        drawn = self._obj.data
        self._data = bpy.data.meshes.new(self._obj.name)
        faces = [tuple(face.vertices) for face in drawn.polygons]
        self._data.from_pydata(np.zeros((len(drawn.vertices), 3)).tolist(), nets.edges_of(drawn).tolist(), faces)
        _link(scene, self._obj.name, self._data)

    def show(self, frame: int) -> None:
        self._data.vertices.foreach_set("co", self._points(frame).astype(np.float32).ravel())
        self._data.update()
        self._data.update_tag()


class _Polylines:
    """Export object of either the open or the closed splines of a rod; Blender does not export both in one object."""

    def __init__(
        self,
        name: str,
        points: Callable[[int], list[NDArray[np.float64]]],
        radii: list[NDArray[np.float64]],
        closed: bool,
        whole: Callable[[int], list[NDArray[np.float64]]] | None = None,
    ) -> None:
        """`whole` gives, for rods that can break, factors on the radii in a frame: 0 beside a torn segment."""
        self._name, self._points, self._radii, self._closed = name, points, radii, closed
        self._whole = whole

    def create(self, scene: bpy.types.Scene) -> None:
        self._data = bpy.data.hair_curves.new(self._name)
        self._data.add_curves([len(radii) for radii in self._radii])
        if hasattr(self._data, "set_types"):  # before Blender 4.5, curves are smoothed slightly
            self._data.set_types(type="POLY")
        cyclic = self._data.attributes.new("cyclic", "BOOLEAN", "CURVE")
        cyclic.data.foreach_set("value", np.full(len(self._radii), self._closed))
        radius = self._data.attributes.new("radius", "FLOAT", "POINT")
        radius.data.foreach_set("value", np.concatenate(self._radii).astype(np.float32))
        _link(scene, self._name, self._data)

    def show(self, frame: int) -> None:
        positions = np.concatenate(self._points(frame)).astype(np.float32)
        self._data.attributes["position"].data.foreach_set("vector", positions.ravel())
        if self._whole is not None:
            radii = np.concatenate(self._radii) * np.concatenate(self._whole(frame))
            self._data.attributes["radius"].data.foreach_set("value", radii.astype(np.float32))
        self._data.update_tag()


def _export_objects(
    obj: bpy.types.Object, scene: bpy.types.Scene, frames: FrameSource, numbers: list[int]
) -> Iterator[_ExportObject]:
    """The export objects of a rod. Raises BakeError if frames are missing."""
    uid, scale = obj.tendril.uid, metres_per_unit(scene)
    if not all(uid in frames.moment(k).rows for k in numbers):
        raise BakeError(f'"{obj.name}" was not simulated in all frames: play from frame {numbers[0]}')

    def world(frame: int) -> NDArray[np.float64]:
        """Control points in world space and scene units; rows of attributes may follow."""
        moment = frames.moment(frame)
        pose = moment.poses[uid]
        return (moment.rows[uid].astype(np.float64) @ pose[:3, :3].T + pose[:3, 3]) / scale

    def rows(frame: int) -> Rows:
        return frames.moment(frame).rows[uid]

    start = frames.moment(numbers[0])
    if obj.type == "MESH":
        yield from _of_mesh(obj, world, rows)
    elif obj.type == "CURVES":
        count, sizes = points.count(obj.data), curves.strand_sizes(obj.data)
        bundle = Bundle(start.rows[uid][:count].astype(np.float64), sizes, 0.0)
        radii = bundle.at_points(
            radius_along(obj, bundle, ALL, start.poses[uid], scale) / scale * np.ones(len(bundle.vertices))
        )
        along = np.split(radii, np.cumsum(sizes)[:-1])
        yield _Polylines(f"{obj.name} Rods", lambda frame: [world(frame)[:count]], along, False)
    else:
        yield from _of_splines(obj, world, rows, start.poses[uid], numbers[0], scale)


def _of_splines(
    obj: bpy.types.Object,
    world: Callable[[int], NDArray[np.float64]],
    rows: Callable[[int], Rows],
    pose: NDArray[np.float64],
    first: int,
    scale: float,
) -> Iterator[_ExportObject]:
    kinds = curves.spline_kinds(obj.data)
    strands = list(polylines(kinds, world(first)))
    names, sizes = curves.columns(obj.data), [kind.count for kind in kinds]
    radii = [radius_along(obj, strand, k, pose, scale) / scale for k, strand in enumerate(strands)]
    for closed in (False, True):
        chosen = [k for k, strand in enumerate(strands) if strand.closed == closed]

        def lines(frame: int, chosen: list[int] = chosen) -> list[NDArray[np.float64]]:
            splines = list(polylines(kinds, world(frame)))
            return [splines[k].vertices for k in chosen]

        def whole(frame: int, chosen: list[int] = chosen) -> list[NDArray[np.float64]]:
            thick = curves.column_of(rows(frame), names, "radius", sum(sizes)) > 0.0
            parts = np.split(thick.astype(np.float64), np.cumsum(sizes)[:-1])
            return [np.asarray(strands[k].along(parts[k])) for k in chosen]

        if chosen:
            along = [np.broadcast_to(radii[k], len(strands[k].vertices)) for k in chosen]
            name = f"{obj.name} {'Rings' if closed else 'Rods'}"
            yield _Polylines(name, lines, along, closed, whole if "radius" in names else None)


def _of_mesh(
    obj: bpy.types.Object, world: Callable[[int], NDArray[np.float64]], rows: Callable[[int], Rows]
) -> Iterator[_ExportObject]:
    from ...core.models.elastic.topology import find_chains  # late: it imports numba

    settings, count = obj.tendril, points.count(obj.data)
    if len(obj.data.polygons):
        yield _Mesh(obj, lambda frame: world(frame)[:count])
        return
    chains, _ = find_chains(nets.edges_of(obj.data), np.zeros(count, dtype=np.bool_))
    indices = [np.array(chain.vertices) for chain in chains]
    factors = points.weights(obj, settings.radius_group) if settings.radius_group else None
    radii = constant_radius(settings, 1.0) * (np.ones(count) if factors is None else factors)

    def lines(frame: int) -> list[NDArray[np.float64]]:
        positions = world(frame)
        return [positions[chain] for chain in indices]

    edges = nets.edges_of(obj.data)

    def whole(frame: int) -> list[NDArray[np.float64]]:
        torn = edges[points.broken_edges(obj.data, rows(frame))]
        pairs = {(int(a), int(b)) for a, b in (*torn, *torn[:, ::-1])}
        found = []
        for chain in indices:
            apart = np.array([pair in pairs for pair in zip(chain[:-1].tolist(), chain[1:].tolist(), strict=True)])
            thick = np.ones(len(chain))
            thick[:-1][apart] = thick[1:][apart] = 0.0
            found.append(thick)
        return found

    along = [radii[chain] for chain in indices]
    yield _Polylines(f"{obj.name} Rods", lines, along, False, whole if points.marks_broken(obj.data) else None)


@contextmanager
def _temporary_scene(scene: bpy.types.Scene, numbers: list[int]) -> Iterator[bpy.types.Scene]:
    """A scene with the frame range, frame rate and units of `scene`. It is removed afterwards with all its objects."""
    temporary = bpy.data.scenes.new("Tendril Export")
    temporary.frame_start, temporary.frame_end = numbers[0], numbers[-1]
    temporary.render.fps, temporary.render.fps_base = scene.render.fps, scene.render.fps_base
    temporary.unit_settings.system = scene.unit_settings.system
    temporary.unit_settings.scale_length = scene.unit_settings.scale_length
    try:
        yield temporary
    finally:
        for obj in list(temporary.collection.objects):
            data, action = obj.data, obj.data.animation_data.action if obj.data.animation_data else None
            bpy.data.objects.remove(obj)
            (bpy.data.meshes if isinstance(data, bpy.types.Mesh) else bpy.data.hair_curves).remove(data)
            if action is not None:
                bpy.data.actions.remove(action)
        bpy.data.scenes.remove(temporary)


@contextmanager
def _frame_handler(temporary: bpy.types.Scene, objects: list[_ExportObject]) -> Iterator[None]:
    """Installs a handler that moves the objects at each frame change of the temporary scene."""
    name, numbers = temporary.name, range(temporary.frame_start, temporary.frame_end + 1)

    def show(scene: bpy.types.Scene, _depsgraph: object) -> None:
        if scene.name == name and scene.frame_current in numbers:
            for one in objects:
                one.show(scene.frame_current)

    bpy.app.handlers.frame_change_post.append(show)
    try:
        yield
    finally:
        bpy.app.handlers.frame_change_post.remove(show)


def _write(temporary: bpy.types.Scene, path: Path, target: str, numbers: list[int]) -> None:
    with bpy.context.temp_override(scene=temporary, view_layer=temporary.view_layers[0]):
        temporary.view_layers[0].update()
        try:
            if target == "ALEMBIC":
                bpy.ops.wm.alembic_export(
                    filepath=str(path), start=numbers[0], end=numbers[-1], as_background_job=False
                )
            else:
                bpy.ops.wm.usd_export(filepath=str(path), export_animation=True, export_materials=False)
        except RuntimeError as error:
            raise BakeError(f'"{path}" could not be written: {error}') from error
