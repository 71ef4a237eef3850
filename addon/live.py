"""The running simulations, one per scene: found by ids, so that no reference to Blender's data is kept.

What must survive saving and undo (the drawn shape, whether the curve shows it now) lies in the file; what is here can
be lost at any time and is then computed again, from the start frame.
"""

from __future__ import annotations

import traceback
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import bpy

from ..core import TendrilError
from .bridge import attachments, colliders, curves, rods, scenes
from .bridge.colliders import ColliderDescription
from .bridge.curves import Rows
from .bridge.poses import Array
from .bridge.scenes import SceneDescription
from .running import Running, start
from .showing import Unable, check_showable, show, show_drawn, take_edits

if TYPE_CHECKING:
    from ..core import Simulation

_running: dict[int, Running] = {}  # by the session uid of the scene
_status: dict[str, str] = {}  # why a rod does not move as expected, by its uid
_standing: dict[int, float] = {}  # per scene: the frame it stands at
# Where a rod and what it is attached to are at the start frame, by uid and mode of the depsgraph: a render has poses of
# its own.
_start_poses: dict[tuple[str, str], dict[str, Array]] = {}
# The same of colliders, per scene and mode.
_start_colliders: dict[tuple[int, str], dict[str, ColliderDescription]] = {}
_notes: dict[int, list[str]] = {}  # per scene: what is to be said of its colliders


def before_frame_change(scene: bpy.types.Scene) -> None:
    """Looks where objects are as the start frame is left: the user may have moved them while standing there."""
    if _standing.get(scene.session_uid) != scene.frame_start:
        return
    objects = _taking_part(scene)
    # As things were last evaluated. Nothing is evaluated here: this may be the thread of a render.
    depsgraph = next((layer.depsgraph for layer in scene.view_layers if layer.depsgraph is not None), None)
    if not objects or depsgraph is None:
        return
    for uid, obj in objects.items():
        with _told_at([uid]):
            _start_poses[uid, depsgraph.mode] = dict(rods.poses_of(obj, scene, depsgraph))
    with _told_at(objects):
        _look_at_colliders(scene, depsgraph)


def after_frame_change(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    came_from_start = _standing.get(scene.session_uid) == scene.frame_start
    stand(scene)
    give_unique_ids()
    objects = _taking_part(scene)
    for uid in objects:
        _status.pop(uid, None)
    with _told_at(objects):
        _visit(scene, depsgraph, objects, came_from_start)


def clear() -> None:
    for memory in (_running, _status, _standing, _start_poses, _start_colliders, _notes):
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
    _standing[scene.session_uid] = scene.frame_current_final


def forget(scene: bpy.types.Scene) -> None:
    """The frames of a scene; they are simulated again from the start."""
    _running.pop(scene.session_uid, None)


def forget_rod(uid: str) -> None:
    """What is known of a rod that is no rod any more. The others go on: at the start frame it is missed."""
    _status.pop(uid, None)


def status(uid: str) -> str:
    return _status.get(uid, "")


def notes(scene: bpy.types.Scene) -> list[str]:
    """What is to be said of the colliders of a scene, a sentence each."""
    return _notes.get(scene.session_uid, [])


def running_of(scene: bpy.types.Scene) -> Running | None:
    return _running.get(scene.session_uid)


def simulation_of(scene: bpy.types.Scene) -> Simulation | None:
    running = running_of(scene)
    return None if running is None else running.simulation


def frames_of(uid: str, scene: bpy.types.Scene) -> dict[int, Rows]:
    """What the curve shows in each frame simulated so far."""
    running = running_of(scene)
    moments = {} if running is None else running.moments
    return {number: moment.rows[uid] for number, moment in moments.items() if uid in moment.rows}


def not_exact_since(scene: bpy.types.Scene) -> int | None:
    """The first frame for which the solver did not find the motion as exactly as it should, if there is one."""
    running = running_of(scene)
    return None if running is None else running.not_exact_since


def info(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """The line of the cache panel."""
    running = running_of(scene)
    if running is None:
        return "Nothing in memory"
    count = len(running.moments)
    text = f"{count} frame{'s' if count != 1 else ''} in memory"
    if running.outdated or running.settings != scenes.settings_of(scene, _taking_part(scene)):
        return f"{text}, outdated: go to frame {scene.frame_start}"
    if running.not_exact_since is not None:
        return f"{text}, not exact since frame {running.not_exact_since}"
    return text


def give_unique_ids() -> None:
    """A duplicated object brings the uid of its original along; the later one by name gets its own."""
    seen = {""}
    for obj in rods.rods_in(bpy.data.objects):
        if obj.tendril.uid in seen:
            obj.tendril.uid = uuid.uuid4().hex
        seen.add(obj.tendril.uid)


@contextmanager
def _told_at(uids: Iterable[str]) -> Iterator[None]:
    """Turns what goes wrong into the status of rods: a frame change must never fail."""
    try:
        yield
    except (TendrilError, Unable) as error:
        _status.update(dict.fromkeys(uids, str(error)))
    except Exception as error:
        traceback.print_exception(error)
        message = f"Unexpected {type(error).__name__}, see the console: {error}"
        _status.update(dict.fromkeys(uids, message))


def _taking_part(scene: bpy.types.Scene) -> dict[str, bpy.types.Object]:
    """The rods to be simulated, by uid. Baked ones are needed only for what still moves and runs into them."""
    found = {obj.tendril.uid: obj for obj in rods.rods_in(scene.objects)}
    moving = {uid: obj for uid, obj in found.items() if not obj.tendril.baked}
    return found if moving and scene.tendril.rod_contact else moving


def _visit(
    scene: bpy.types.Scene,
    depsgraph: bpy.types.Depsgraph,
    objects: dict[str, bpy.types.Object],
    came_from_start: bool,
) -> None:
    frame, subframe, first = scene.frame_current, scene.frame_subframe, scene.frame_start
    poses: dict[str, Array] = {}
    able: dict[str, bpy.types.Object] = {}
    owners = rods.owners_of_curves() if objects else {}
    for uid, obj in objects.items():
        with _told_at([uid]):
            for key, pose in rods.poses_of(obj, scene, depsgraph):
                poses[key] = pose
            check_showable(obj, owners[obj.data])
            if take_edits(obj) and running_of(scene) is not None:
                _running[scene.session_uid].outdated = True
            able[uid] = obj
    if frame <= first:
        for obj in able.values():
            if not obj.tendril.baked:
                show_drawn(obj)
        if frame == first and subframe == 0.0:
            for uid, obj in able.items():
                _start_poses[uid, depsgraph.mode] = dict(rods.poses_of(obj, scene, depsgraph))
            _look_at_colliders(scene, depsgraph)
            _keep_if_same(scene, _describe(scene, able, depsgraph.mode))
    elif came_from_start:
        description = _describe(scene, able, depsgraph.mode)
        if not _keep_if_same(scene, description) and description and frame == first + 1 and subframe == 0.0:
            settings = scenes.settings_of(scene, objects)
            left_out = {uid: _status[uid] for uid in able if uid in _status}
            _running[scene.session_uid] = start(description, settings, left_out)
    running = running_of(scene)
    if running is not None and subframe == 0.0:
        if running.description.colliders:
            poses.update(colliders.poses_of_colliders(scene, depsgraph))
        running.compare(frame, poses)
        if frame == running.last_frame + 1:
            _step(running, scene, depsgraph, objects, poses)
    for uid, obj in able.items():
        if uid not in _status and not obj.tendril.baked:
            with _told_at([uid]):
                show(obj, running, frame, subframe, first)


def _step(
    running: Running,
    scene: bpy.types.Scene,
    depsgraph: bpy.types.Depsgraph,
    objects: dict[str, bpy.types.Object],
    poses: dict[str, Array],
) -> None:
    places, lost = colliders.moved_colliders(scene, depsgraph, running.description.colliders)
    said = _notes.setdefault(scene.session_uid, [])
    said += [note for note in lost if note not in said]
    for uid, obj in objects.items():
        with _told_at([uid]):
            if uid in running.description.parts:
                running.release(uid, attachments.let_go(obj, depsgraph))
    running.step(poses, places)


def _look_at_colliders(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    found, said = colliders.read_colliders(scene, depsgraph)
    _start_colliders[scene.session_uid, depsgraph.mode] = found
    _notes[scene.session_uid] = said


def _describe(scene: bpy.types.Scene, objects: dict[str, bpy.types.Object], mode: str) -> SceneDescription | None:
    """The scene as it is at the start frame. A rod that can't be described is left out and told why."""
    described = {}
    for uid, obj in objects.items():
        if (uid, mode) in _start_poses:
            with _told_at([uid]):
                poses = _start_poses[uid, mode]
                described[uid] = rods.describe_rod(obj, scene, poses, curves.drawn_rows(obj.data))
    if not described:
        return None
    return scenes.describe_scene(scene, described, _start_colliders.get((scene.session_uid, mode), {}))


def _keep_if_same(scene: bpy.types.Scene, description: SceneDescription | None) -> bool:
    """True if the simulation in memory is still that of the description; if not, it is dropped."""
    running = running_of(scene)
    same = (
        running is not None
        and description is not None
        and not running.outdated
        and running.description.signature == description.signature
    )
    if not same:
        forget(scene)
    return same
