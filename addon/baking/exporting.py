"""Alembic and USD: every spline as a polyline, as Blender draws it, in world space and with its thickness.

Blender exports the shape keys of curves not at all, and curves that a handler moves as if they stood still. So a scene is made for
the export alone, with hair curves that a handler moves and whose data has an animated property: these are written in every frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import bpy
import numpy as np
from numpy.typing import NDArray

from .. import memory
from ..bridge import curves, rods
from ..bridge.poses import metres_per_unit
from ..bridge.scenes import range_of
from ..bridge.shapes import radius_along
from ..bridge.strands import polylines
from ..showing import Shown
from .errors import BakeError

EXTENSIONS = {"ALEMBIC": ".abc", "USD": ".usdc"}
_FORMATS = {"ALEMBIC": (".abc",), "USD": (".usdc", ".usda", ".usd", ".usdz")}
_ANIMATED = "tendril_frame"


def path_for(scene: bpy.types.Scene) -> Path:
    """Where the file goes. Without a name of the user's it lies beside the .blend and is called like it."""
    shared = scene.tendril
    name = shared.export_path or f"//{Path(bpy.data.filepath).stem}_rods"
    path = Path(bpy.path.abspath(name))
    return (
        path
        if path.suffix.lower() in _FORMATS[shared.bake_to]
        else path.with_name(path.name + EXTENSIONS[shared.bake_to])
    )


def why_not(obj: bpy.types.Object, scene: bpy.types.Scene) -> str | None:
    target = scene.tendril.bake_to
    if obj.type == "MESH":
        return f'"{obj.name}" is a mesh: bake it to shape keys, which Blender exports by itself'
    if not getattr(bpy.app.build_options, target.lower()):
        return f"This Blender can't write {target.title()}: choose another target"
    if not bpy.data.filepath and not Path(bpy.path.abspath(scene.tendril.export_path)).is_absolute():
        return "The file has no place yet: save it first, or choose where to export to"
    return None


def export(uids: list[str], scene: bpy.types.Scene) -> None:
    """Writes the frames that are there, in the range of the scene, to the file the scene names."""
    frames, path = memory.shown_of(scene), path_for(scene)
    numbers = [] if frames is None else [k for k in range_of(scene) if frames.moment(k) is not None]
    if not numbers or numbers != list(range(range_of(scene)[0], numbers[-1] + 1)):
        raise BakeError("The rods were changed, or not simulated from the start: play from there")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BakeError(f'The folder "{path.parent}" can\'t be made: {error.strerror}') from error
    with _stage(scene, numbers) as stage:
        shown = [group for uid in uids for group in _groups(rods.find(uid), scene, frames, numbers)]
        for group in shown:
            group.enter(stage)
        with _moved_by_frames(stage, shown):
            _write(stage, path, scene.tendril.bake_to, numbers)
    if not path.exists():
        raise BakeError(f'Blender could not write "{path}"')


class _Group:
    """The open, or the closed, splines of a rod: Blender refuses both in one object."""

    def __init__(
        self,
        name: str,
        points: Callable[[int], list[NDArray[np.float64]]],
        radii: list[NDArray[np.float64]],
        closed: bool,
    ) -> None:
        self._name, self._points, self._radii, self._closed = name, points, radii, closed

    def enter(self, stage: bpy.types.Scene) -> None:
        self._data = bpy.data.hair_curves.new(self._name)
        self._data.add_curves([len(radii) for radii in self._radii])
        if hasattr(self._data, "set_types"):  # before Blender 4.5 the lines are rounded a little
            self._data.set_types(type="POLY")
        cyclic = self._data.attributes.new("cyclic", "BOOLEAN", "CURVE")
        cyclic.data.foreach_set("value", np.full(len(self._radii), self._closed))
        radius = self._data.attributes.new("radius", "FLOAT", "POINT")
        radius.data.foreach_set("value", np.concatenate(self._radii).astype(np.float32))
        stage.collection.objects.link(bpy.data.objects.new(self._name, self._data))
        for frame in (stage.frame_start, stage.frame_end):
            self._data[_ANIMATED] = float(frame)
            self._data.keyframe_insert(f'["{_ANIMATED}"]', frame=frame)

    def show(self, frame: int) -> None:
        places = np.concatenate(self._points(frame)).astype(np.float32)
        self._data.attributes["position"].data.foreach_set("vector", places.ravel())
        self._data.update_tag()


def _groups(obj: bpy.types.Object, scene: bpy.types.Scene, frames: Shown, numbers: list[int]) -> Iterator[_Group]:
    uid, kinds, scale = obj.tendril.uid, curves.spline_kinds(obj.data), metres_per_unit(scene)
    if not all(uid in frames.moment(k).rows for k in numbers):
        raise BakeError(f'"{obj.name}" was not simulated in all frames: play from frame {numbers[0]}')

    def lines(frame: int) -> list[NDArray[np.float64]]:
        moment = frames.moment(frame)
        pose = moment.poses[uid]
        world = moment.rows[uid].astype(np.float64) @ pose[:3, :3].T + pose[:3, 3]
        return [strand.vertices / scale for strand in polylines(kinds, world)]

    start = frames.moment(numbers[0])
    strands = list(polylines(kinds, start.rows[uid].astype(np.float64)))
    radii = [radius_along(obj, strand, k, start.poses[uid], scale) / scale for k, strand in enumerate(strands)]
    for closed in (False, True):
        chosen = [k for k, strand in enumerate(strands) if strand.closed == closed]
        if chosen:
            along = [np.broadcast_to(radii[k], len(strands[k].vertices)) for k in chosen]
            name = f"{obj.name} {'Rings' if closed else 'Rods'}"
            yield _Group(name, lambda frame, chosen=chosen: [lines(frame)[k] for k in chosen], along, closed)


@contextmanager
def _stage(scene: bpy.types.Scene, numbers: list[int]) -> Iterator[bpy.types.Scene]:
    """A scene with the times and units of another. What is put into it is gone afterwards."""
    stage = bpy.data.scenes.new("Tendril Export")
    stage.frame_start, stage.frame_end = numbers[0], numbers[-1]
    stage.render.fps, stage.render.fps_base = scene.render.fps, scene.render.fps_base
    stage.unit_settings.system = scene.unit_settings.system
    stage.unit_settings.scale_length = scene.unit_settings.scale_length
    try:
        yield stage
    finally:
        for obj in list(stage.collection.objects):
            data, action = obj.data, obj.data.animation_data.action if obj.data.animation_data else None
            bpy.data.objects.remove(obj)
            bpy.data.hair_curves.remove(data)
            if action is not None:
                bpy.data.actions.remove(action)
        bpy.data.scenes.remove(stage)


@contextmanager
def _moved_by_frames(stage: bpy.types.Scene, shown: list[_Group]) -> Iterator[None]:
    name, numbers = stage.name, range(stage.frame_start, stage.frame_end + 1)

    def show(scene: bpy.types.Scene, _depsgraph: object) -> None:
        if scene.name == name and scene.frame_current in numbers:
            for group in shown:
                group.show(scene.frame_current)

    bpy.app.handlers.frame_change_post.append(show)
    try:
        yield
    finally:
        bpy.app.handlers.frame_change_post.remove(show)


def _write(stage: bpy.types.Scene, path: Path, target: str, numbers: list[int]) -> None:
    with bpy.context.temp_override(scene=stage, view_layer=stage.view_layers[0]):
        stage.view_layers[0].update()
        try:
            if target == "ALEMBIC":
                bpy.ops.wm.alembic_export(
                    filepath=str(path), start=numbers[0], end=numbers[-1], as_background_job=False
                )
            else:
                bpy.ops.wm.usd_export(filepath=str(path), export_animation=True, export_materials=False)
        except RuntimeError as error:
            raise BakeError(f'"{path}" could not be written: {error}') from error
