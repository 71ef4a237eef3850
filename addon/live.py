"""The running simulations: found by the uid of their object, so that no reference to Blender's data is kept.

What must survive saving and undo (the drawn shape, whether the curve shows it now) lies in the file; what is here can
be lost at any time and is then computed again, from the start frame.
"""

from __future__ import annotations

import functools
import traceback
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import bpy
import numpy as np

from ..core import TendrilError
from .bridge import curves, rods
from .bridge.curves import Rows
from .bridge.rods import Array, Description

if TYPE_CHECKING:
    from ..core import Simulation


@dataclass
class Running:
    description: Description
    simulation: Simulation
    settings: tuple[object, ...]  # as they were when it was made
    pose: Array  # of the object at the last simulated frame
    frames: dict[int, Rows] = field(default_factory=dict)  # what the curve shows, as it is written
    poses: dict[int, Array] = field(default_factory=dict)
    outdated: bool = False
    not_exact_since: int | None = None

    @property
    def last_frame(self) -> int:
        return self.simulation.frame


_running: dict[str, Running] = {}
_status: dict[str, str] = {}  # why a rod does not move as expected
_standing: dict[str, float] = {}  # per scene: the frame it stands at
# Where objects are at the start frame, per object and mode of the depsgraph: a render has poses of its own.
_start_poses: dict[tuple[str, str], Array] = {}


def before_frame_change(scene: bpy.types.Scene) -> None:
    """Looks where objects are as the start frame is left: the user may have moved them while standing there."""
    if _standing.get(scene.name) != scene.frame_start:
        return
    for obj in _moving_rods(scene):
        with _Trouble(obj.tendril.uid):
            _start_poses[obj.tendril.uid, "VIEWPORT"] = rods.pose_of(obj.matrix_world, scene)


def after_frame_change(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    previous = _standing.get(scene.name)
    stand(scene)
    give_unique_ids()
    owners = rods.owners_of_curves()
    for obj in _moving_rods(scene):
        with _Trouble(obj.tendril.uid):
            owner = owners[obj.data]
            if owner != obj:
                raise Unable(f'The curve belongs to the rod "{owner.name}" too: make it a single user')
            _visit(obj, scene, depsgraph, came_from_start=previous == scene.frame_start)


def clear() -> None:
    for memory in (_running, _status, _standing, _start_poses):
        memory.clear()


def after_load() -> None:
    clear()
    for scene in bpy.data.scenes:
        stand(scene)


def after_undo(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Undo brings back the curve of another moment; it has to show the frame the scene stands at."""
    stand(scene)
    after_frame_change(scene, depsgraph)


def stand(scene: bpy.types.Scene) -> None:
    """Notes the frame the scene stands at. Needed where it got there without a frame change."""
    _standing[scene.name] = scene.frame_current_final


def forget(uid: str) -> None:
    _running.pop(uid, None)
    _status.pop(uid, None)


def status(uid: str) -> str:
    return _status.get(uid, "")


def frames_of(uid: str) -> dict[int, Rows]:
    """What the curve shows in each frame simulated so far."""
    running = _running.get(uid)
    return {} if running is None else running.frames


def not_exact_since(uid: str) -> int | None:
    """The first frame for which the solver did not find the motion as exactly as it should, if there is one."""
    running = _running.get(uid)
    return None if running is None else running.not_exact_since


def simulation_of(uid: str) -> Simulation | None:
    running = _running.get(uid)
    return None if running is None else running.simulation


def info(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """The line of the cache panel."""
    running = _running.get(obj.tendril.uid)
    if running is None:
        return "Nothing in memory"
    count = len(running.frames)
    text = f"{count} frame{'s' if count != 1 else ''} in memory"
    if running.outdated or running.settings != settings_of(obj, scene):
        return f"{text}, outdated: go to frame {scene.frame_start}"
    if running.not_exact_since is not None:
        return f"{text}, not exact since frame {running.not_exact_since}"
    return text


def settings_of(obj: bpy.types.Object, scene: bpy.types.Scene) -> tuple[object, ...]:
    """All settings that make a difference, quick enough for drawing a panel."""
    rod, air, render = obj.tendril, scene.tendril, scene.render
    material: tuple[object, ...] = (rod.material,)
    if rod.material == "CUSTOM":
        material += (rod.young_modulus, rod.poisson_ratio, rod.density, rod.damping_time, rod.strands)
    units = scene.unit_settings
    return (
        (rod.model, rod.radius, rod.rest_shape, rod.start_hold, rod.end_hold, *material),
        (air.substeps, air.air_density, air.drag, *air.wind),
        (scene.use_gravity, *scene.gravity, units.system, units.scale_length),
        (scene.frame_start, render.fps, render.fps_base),
    )


def give_unique_ids() -> None:
    """A duplicated object brings the uid of its original along; the later one by name gets its own."""
    seen = {""}
    for obj in rods.rods_in(bpy.data.objects):
        if obj.tendril.uid in seen:
            obj.tendril.uid = uuid.uuid4().hex
        seen.add(obj.tendril.uid)


class Unable(Exception):
    """A rod is not simulated now, for a reason that is no error; said in one sentence."""


class _Trouble:
    """Turns what goes wrong with one rod into its status: a frame change must never fail."""

    def __init__(self, uid: str) -> None:
        self.uid = uid

    def __enter__(self) -> None:
        _status.pop(self.uid, None)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, (TendrilError, Unable)):
            _status[self.uid] = str(error)
        elif isinstance(error, Exception):
            _status[self.uid] = f"Unexpected {type(error).__name__}, see the console: {error}"
            traceback.print_exception(error)
        return error is None or isinstance(error, Exception)


def _moving_rods(scene: bpy.types.Scene) -> Iterator[bpy.types.Object]:
    return (obj for obj in rods.rods_in(scene.objects) if not obj.tendril.baked)


def _visit(
    obj: bpy.types.Object, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, came_from_start: bool
) -> None:
    uid, frame, first = obj.tendril.uid, scene.frame_current, scene.frame_start
    between_frames = scene.frame_subframe > 0.0
    if obj.mode == "EDIT":
        raise Unable("The curve is in Edit Mode: it moves when you leave it")
    if obj.data.shape_keys is not None:
        raise Unable("The curve has shape keys, which hide the simulation: remove them")
    _take_edits(obj)
    pose = rods.pose_of(obj.evaluated_get(depsgraph).matrix_world, scene)
    if frame <= first:
        _show_drawn(obj)
        if frame == first and not between_frames:
            _start_poses[uid, depsgraph.mode] = pose
            _check(uid, rods.describe(obj, scene, pose, curves.drawn_rows(obj.data)))
    elif came_from_start and (uid, depsgraph.mode) in _start_poses:
        start_pose = _start_poses[uid, depsgraph.mode]
        description = rods.describe(obj, scene, start_pose, curves.drawn_rows(obj.data))
        if not _check(uid, description) and frame == first + 1 and not between_frames:
            _running[uid] = _start(description, settings_of(obj, scene))
    running = _running.get(uid)
    if running is not None:
        if running.description.layout != curves.layout(obj.data):
            raise Unable(f"The curve has other points than were simulated: go to frame {first}")
        if frame == running.last_frame + 1 and not between_frames:
            _step(running, pose)
        _show(obj, running, frame, scene.frame_subframe, pose)
    elif frame > first:
        raise Unable(f"Not simulated yet: play from frame {first}")


def _take_edits(obj: bpy.types.Object) -> None:
    """What is changed while the curve shows its drawn shape is drawn. So are points added or removed at any time."""
    kept_fits = curves.drawn_rows(obj.data) is not None
    if not kept_fits or (obj.tendril.shows_drawn and not curves.is_as_drawn(obj.data)):
        curves.keep_drawn(obj.data)
        obj.tendril.shows_drawn = True
        if obj.tendril.uid in _running:
            _running[obj.tendril.uid].outdated = True


def _check(uid: str, description: Description) -> bool:
    """True if the simulation in memory is still that of the description; if not, it is dropped."""
    running = _running.get(uid)
    if running is not None and not running.outdated and running.description.signature == description.signature:
        return True
    _running.pop(uid, None)
    return False


def _start(description: Description, settings: tuple[object, ...]) -> Running:
    _choose_kernel_cache()
    from ..core import Simulation  # late: it imports numba and SciPy

    simulation = Simulation(
        description.scene,
        description.frame_rate,
        substeps=description.substeps,
        first_frame=description.first_frame,
    )
    drawn = simulation.current()
    for k, strand in enumerate(description.strands):
        strand.bind(drawn.directors(k))
    running = Running(description, simulation, settings, description.pose)
    running.frames[description.first_frame] = description.rows
    running.poses[description.first_frame] = description.pose
    return running


def _step(running: Running, pose: Array) -> None:
    if not np.array_equal(pose, running.pose):
        for hold, position, rotation in rods.held_motion(running.description, pose):
            running.simulation.move(hold, position=position, rotation=rotation)
        running.pose = pose
    frame = running.simulation.step_frame()
    running.frames[frame.number] = running.description.shown(frame, pose)
    running.poses[frame.number] = pose
    if not frame.report.converged and running.not_exact_since is None:
        running.not_exact_since = frame.number


def _show(obj: bpy.types.Object, running: Running, frame: int, subframe: float, pose: Array) -> None:
    """Writes a frame in memory to the curve; beyond them, the last one."""
    shown = min(max(frame, running.description.first_frame), running.last_frame)
    rows = running.frames[shown]
    if subframe > 0.0 and shown == frame and frame + 1 in running.frames:
        rows = rows + np.float32(subframe) * (running.frames[frame + 1] - rows)
    elif shown == running.description.first_frame >= frame:
        _show_drawn(obj)
        return
    if subframe == 0.0 and shown == frame and not np.array_equal(pose, running.poses[shown]):
        running.outdated = True  # the object's animation has changed since
    if not np.all(np.isfinite(rows)):
        raise TendrilError(f"frame {shown}", rows, "it is not finite and was not shown: please report this scene")
    curves.free_handles(obj.data)
    curves.write_rows(obj.data, rows)
    obj.tendril.shows_drawn = False
    if shown < frame:
        raise Unable(f"Simulated up to frame {shown}: go on from there")


def _show_drawn(obj: bpy.types.Object) -> None:
    if not obj.tendril.shows_drawn:
        curves.restore_drawn(obj.data)
        obj.tendril.shows_drawn = True


@functools.cache
def _choose_kernel_cache() -> None:
    """Compiled kernels of an installed extension lie in its own folder, which survives upgrades."""
    root = __package__.rpartition(".")[0]
    if root.startswith("bl_ext."):
        from ..core import jit

        jit.set_cache_folder(bpy.utils.extension_path_user(root, path="numba", create=True))
