"""What is known of the scenes, by ids and without references to Blender's data, and queries on it.

Whatever must survive saving and undo (the drawn shape, and whether the curve shows it) is stored in the file. What is stored here
may be lost at any time; it is then read from disk or computed again.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ..core import TendrilError
from ..core.errors import shorten
from .bridge import relevant, rods, scenes
from .bridge.colliders import ColliderDescription
from .bridge.curves import Rows
from .bridge.poses import Array
from .bridge.rigid_bodies import BodiesDescription
from .cache_paths import path_of, unsafe_name
from .moments import DiskFrames, copy
from .running import Running
from .showing import FrameSource, NotSimulated, UnverifiedFrames

if TYPE_CHECKING:
    from ..core import Simulation

_running: dict[int, Running] = {}  # by the session uid of the scene
_unverified: dict[int, UnverifiedFrames | None] = {}  # of scenes without a running simulation; None: there are none
_status: dict[str, str] = {}  # why a rod does not move as expected, by its uid
_distrusted: set[int] = set()  # scenes whose frames on disk are outdated
current_frames: dict[int, float] = {}  # per scene: its frame after the last event
start_poses: dict[str, dict[str, Array]] = {}  # of a rod and the targets of its attachments at the start frame, by uid
start_problems: dict[str, str] = {}  # the status of a rod at the start frame, by uid
start_colliders: dict[int, dict[str, ColliderDescription]] = {}  # per scene, at the start frame
# Rigid bodies at the start frame, of scenes in which rods act on them; or why they can't be simulated.
start_bodies: dict[int, BodiesDescription | TendrilError] = {}
start_movers: dict[
    int, dict[str, ColliderDescription]
] = {}  # per scene: surfaces of moving bodies that rods don't act on
collider_notes: dict[int, list[str]] = {}  # per scene: warnings about its colliders
disk_notes: dict[int, str] = {}  # per scene: a problem of its cache on disk
name_notes: dict[int, str] = {}  # per scene: the name of its cache in the file was refused
confirmed_exports: set[str] = set()  # export paths that the user has set or confirmed in this session
rendering: set[int] = set()  # scenes that are being rendered
not_rendered: dict[int, set[int]] = {}  # per scene: frames of the last render that were not simulated


def clear() -> None:
    for running in _running.values():
        running.close()
    for by_scene in (_running, _unverified, _distrusted, current_frames, start_colliders, start_bodies, start_movers):
        by_scene.clear()
    for by_rod in (_status, start_poses, start_problems):
        by_rod.clear()
    confirmed_exports.clear()
    for notes_by_scene in (collider_notes, disk_notes, name_notes, rendering, not_rendered):
        notes_by_scene.clear()


def running_of(scene: bpy.types.Scene) -> Running | None:
    return _running.get(scene.session_uid)


IMPLICIT = (
    "Contact, rigid bodies or high stiffness: some steps were implicit, not those that the model's paper publishes"
)


def rod_notes(scene: bpy.types.Scene, uid: str) -> tuple[str, ...]:
    """What users should know about the rods of an object, in sentences."""
    running = running_of(scene)
    if running is None or uid not in running.uids:
        return ()
    part = running.description.parts[uid]
    implicit = (IMPLICIT,) if not running.implicit.isdisjoint(part.ids) else ()
    return (*part.described.notes, *implicit)


def sagging(scene: bpy.types.Scene, uid: str) -> str:
    """Which strands of a sag-free rod sag nevertheless; empty if none do, or that is not known yet."""
    running = running_of(scene)
    if running is None or running.simulation is None or uid not in running.uids:
        return ""
    ids = running.description.parts[uid].ids
    sags = [part for rod, part in running.simulation.sags.items() if rod in ids]
    if not sags:
        return ""
    which = f"{len(sags)} of {len(ids)} strands" if len(ids) > 1 else "The rod"
    return f"{which} can't support the drawn shape, and sag by up to {100.0 * max(sags):.2g} % of their length"


def set_running(scene: bpy.types.Scene, running: Running) -> None:
    forget(scene)
    _running[scene.session_uid] = running


def forget(scene: bpy.types.Scene, distrust_disk: bool = False) -> None:
    """Drops the frames of a scene in memory. With `distrust_disk` its frames on disk are not used any more either."""
    running = _running.pop(scene.session_uid, None)
    _unverified.pop(scene.session_uid, None)
    if running is not None:
        running.close()
    if distrust_disk or (running is not None and running.outdated):
        _distrusted.add(scene.session_uid)


def trust_disk(scene: bpy.types.Scene) -> None:
    _distrusted.discard(scene.session_uid)


def may_read_disk(scene: bpy.types.Scene) -> bool:
    path = path_of(scene)
    trusted = scene.tendril.use_disk_cache and scene.session_uid not in _distrusted
    return (trusted or scene.tendril.disk_baked) and path is not None and path.exists()


def unverified_of(scene: bpy.types.Scene) -> UnverifiedFrames | None:
    """Frames on disk of a scene that was not at its start frame yet."""
    key, path = scene.session_uid, path_of(scene)
    if path is None or not may_read_disk(scene):
        return None
    if key not in _unverified:
        _unverified[key] = None
        with errors_to_disk_note(scene):
            disk = DiskFrames.to_read(path)
            if len(disk.frames):
                _unverified[key] = UnverifiedFrames(disk)
    return _unverified[key]


def frame_source(scene: bpy.types.Scene) -> FrameSource | None:
    """The frames that can be shown."""
    running = running_of(scene)
    return running if running is not None else unverified_of(scene)


def reject_unverified(scene: bpy.types.Scene) -> None:
    """The scene is at its start frame: its frames on disk are used only if they belong to it."""
    _unverified[scene.session_uid] = None


def copy_disk(scene: bpy.types.Scene, old: Path, new: Path) -> None:
    """Copies the frames on disk to another path and continues with the copy. Raises TendrilError."""
    running = running_of(scene)
    _unverified.pop(scene.session_uid, None)
    if running is not None:
        running.close()
    copy(old, new)
    if running is not None:
        running.disk = DiskFrames.of_scene(new, running.description)


def simulation_of(scene: bpy.types.Scene) -> Simulation | None:
    running = running_of(scene)
    return None if running is None else running.simulation


def frames_of(uid: str, scene: bpy.types.Scene) -> dict[int, Rows]:
    """What the curve shows in each frame simulated so far."""
    running = running_of(scene)
    if running is None or uid not in running.uids:
        return {}
    moments = {k: running.moment(k) for k in range(running.first_frame, running.last_frame + 1)}
    return {k: moment.rows[uid] for k, moment in moments.items() if moment is not None and uid in moment.rows}


def not_exact_since(scene: bpy.types.Scene) -> int | None:
    """The first frame in which the solver did not converge, if there is one."""
    running = running_of(scene)
    return None if running is None else running.not_exact_since


def is_outdated(scene: bpy.types.Scene) -> bool:
    return bool(why_outdated(scene))


def why_outdated(scene: bpy.types.Scene) -> str:
    """What has changed since the frames were simulated; empty if nothing has."""
    running = running_of(scene)
    if running is None:
        return ""
    if running.outdated:
        return "a shape or an animation has changed"
    now = scenes.settings_of(scene, taking_part(scene))
    changed = (name for name, old, new in zip(scenes.SETTINGS, running.settings, now, strict=True) if old != new)
    return next((f"{name} have changed" for name in changed), "")


def is_missing_on_disk(scene: bpy.types.Scene) -> bool:
    """Whether frames are in memory alone because they were simulated before the user enabled the disk cache or saved the file.
    They can't be written later, because memory does not hold the state of every frame."""
    running = running_of(scene)
    if running is None or running.disk is not None or not running.writable:
        return False
    return bool(scene.tendril.use_disk_cache) and path_of(scene) is not None


def info(scene: bpy.types.Scene) -> str:
    """The line of the cache panel."""
    running = running_of(scene)
    if running is None:
        unverified = _unverified.get(scene.session_uid)
        if unverified is not None:
            return f"{_frames(len(unverified.disk.frames))} {'baked ' * scene.tendril.disk_baked}on disk"
        return "Baked on disk, but the file is missing" if scene.tendril.disk_baked else "No frames in memory"
    text = f"{_frames(running.last_frame - running.first_frame + 1)} {'on disk' if running.disk else 'in memory'}"
    if is_outdated(scene):
        return f"{text}, outdated: go to frame {scenes.first_frame_of(scene)}"
    if is_missing_on_disk(scene):
        return f"{text}, not on disk: play again from frame {scenes.first_frame_of(scene)}"
    if running.not_exact_since is not None:
        return f"{text}, not converged since frame {running.not_exact_since}{_severity(running, scene.frame_current)}"
    return text


def _severity(running: Running, frame: int) -> str:
    """What was given up at a frame, or at the first one that did not converge."""
    number = frame if frame in running.severities else running.not_exact_since
    told = running.severities.get(number) if number is not None else None  # frames of an earlier session have none
    return f" (frame {number}: {told})" if told else ""


def affected_rods(scene: bpy.types.Scene) -> frozenset[str]:
    """Uids of the rods that did not converge at the current frame, or in any frame if all did there."""
    running = running_of(scene)
    if running is None:
        return frozenset()
    everywhere: frozenset[str] = frozenset()
    return running.affected.get(scene.frame_current) or everywhere.union(*running.affected.values())


def status(uid: str) -> str:
    return _status.get(uid, "")


def set_status(uids: Iterable[str], message: str) -> None:
    _status.update(dict.fromkeys(uids, message))


def clear_status(uids: Iterable[str]) -> None:
    for uid in uids:
        _status.pop(uid, None)


def why_not_started(uid: str, first: int) -> str:
    """The status of a rod in a scene without a simulation, after its start frame."""
    problem = start_problems.get(uid)
    return f"{problem}. Then play from frame {first}" if problem else f"Not simulated yet: play from frame {first}"


def notes(scene: bpy.types.Scene) -> list[str]:
    """Warnings about the colliders of a scene, one sentence each."""
    running = running_of(scene)
    described = () if running is None else running.description.colliders.values()
    return [*collider_notes.get(scene.session_uid, []), *(one.note for one in described if one.note)]


def disk_note(scene: bpy.types.Scene) -> str:
    return disk_notes.get(scene.session_uid) or name_notes.get(scene.session_uid, "")


def refuse_unsafe_name(scene: bpy.types.Scene) -> None:
    """Forgets a name from the file that would place the cache of the scene in another folder."""
    name = unsafe_name(scene)
    if name:
        message = (
            f"The file names its disk cache {shorten(name)}, which is not a plain file name: the name was not used"
        )
        name_notes[scene.session_uid] = message
        print(f"Tendril: {message}")
        if scene.library is None:
            scene.tendril.cache_name = ""


def confirm_export_path(shared: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Update callback: a path that is set in this session needs no confirmation, unlike one that was stored in the file."""
    confirmed_exports.add(shared.export_path)


class errors_to_status:
    """Context manager that turns exceptions into the status of rods: a frame change must never fail."""

    def __init__(self, uids: Iterable[str]) -> None:
        self._uids = uids

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, _trace: object) -> bool:
        if isinstance(error, (TendrilError, NotSimulated)):
            set_status(self._uids, str(error))
        elif isinstance(error, Exception):
            traceback.print_exception(error)
            set_status(self._uids, f"Unexpected {type(error).__name__}, see the console: {error}")
        return error is None or isinstance(error, Exception)


@contextmanager
def errors_to_disk_note(scene: bpy.types.Scene) -> Iterator[None]:
    """Turns problems of the cache on disk into a line of its panel."""
    disk_notes.pop(scene.session_uid, None)
    try:
        yield
    except TendrilError as error:
        disk_notes[scene.session_uid] = str(error)


def taking_part(scene: bpy.types.Scene) -> dict[str, bpy.types.Object]:
    """The rods that are simulated, by uid. Baked rods are included only if others that still move may collide with them, or were
    simulated together with them: the frames of those are still valid."""
    running = running_of(scene)
    kept = () if running is None or running.outdated else running.uids
    found, moving, together = {}, False, {}
    for obj in rods.rods_in(relevant.in_scene(scene)):
        settings = obj.tendril
        found[settings.uid] = obj
        moving = moving or not settings.baked
        if not settings.baked or settings.uid in kept:
            together[settings.uid] = obj
    if not moving:
        return {}
    return found if scene.tendril.rod_contact else together


def _frames(count: int) -> str:
    return f"{count} frame{'s' if count != 1 else ''}"
