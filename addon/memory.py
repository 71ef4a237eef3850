"""What is known of the scenes, by ids, so that no reference to Blender's data is kept; and questions about it.

What must survive saving and undo (the drawn shape, whether the curve shows it now) lies in the file; what is here can be lost at
any time and is then read from disk or computed again.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ..core import TendrilError
from .bridge import rods, scenes
from .bridge.colliders import ColliderDescription
from .bridge.curves import Rows
from .bridge.poses import Array
from .bridge.rigid_bodies import BodiesDescription
from .moments import DiskFrames, copy, path_of
from .running import Running
from .showing import Recorded, Shown, Unable

if TYPE_CHECKING:
    from ..core import Simulation

_running: dict[int, Running] = {}  # by the session uid of the scene
_recorded: dict[int, Recorded | None] = {}  # frames on disk of scenes that do not run; None: there are none
_status: dict[str, str] = {}  # why a rod does not move as expected, by its uid
_distrusted: set[int] = set()  # scenes whose frames on disk are outdated
standing: dict[int, float] = {}  # per scene: the frame it stands at
start_poses: dict[str, dict[str, Array]] = {}  # where a rod and what it is attached to are at the start frame, by uid
start_troubles: dict[str, str] = {}  # what was wrong with a rod there, by uid
start_colliders: dict[int, dict[str, ColliderDescription]] = {}  # the same of colliders, per scene
# Rigid bodies at the start frame, of scenes in which rods pull on them; or why they can't be.
start_bodies: dict[int, BodiesDescription | TendrilError] = {}
start_movers: dict[int, dict[str, ColliderDescription]] = {}  # the surfaces of those that rods don't pull on, per scene
collider_notes: dict[int, list[str]] = {}  # per scene: what is to be said of its colliders
disk_notes: dict[int, str] = {}  # per scene: what is to be said of its cache on disk
rendering: set[int] = set()  # scenes that are being rendered
not_rendered: dict[int, set[int]] = {}  # per scene: frames of the last render that were not simulated


def clear() -> None:
    for running in _running.values():
        running.close()
    for memory in (_running, _recorded, _status, _distrusted, standing, start_poses, start_troubles, start_colliders):
        memory.clear()
    for notes_of_scenes in (start_bodies, start_movers, collider_notes, disk_notes, rendering, not_rendered):
        notes_of_scenes.clear()


def running_of(scene: bpy.types.Scene) -> Running | None:
    return _running.get(scene.session_uid)


def keep(scene: bpy.types.Scene, running: Running) -> None:
    forget(scene)
    _running[scene.session_uid] = running


def forget(scene: bpy.types.Scene, distrust_disk: bool = False) -> None:
    """The frames of a scene in memory; with `distrust_disk` those on disk don't count any more either."""
    running = _running.pop(scene.session_uid, None)
    _recorded.pop(scene.session_uid, None)
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


def recorded_of(scene: bpy.types.Scene) -> Recorded | None:
    """Frames on disk, for a scene that was not at its start frame yet."""
    key = scene.session_uid
    if not may_read_disk(scene):
        return None
    if key not in _recorded:
        _recorded[key] = None
        with told_of_disk(scene):
            disk = DiskFrames.to_read(path_of(scene))
            if len(disk.frames):
                _recorded[key] = Recorded(disk)
    return _recorded[key]


def shown_of(scene: bpy.types.Scene) -> Shown | None:
    """The frames that can be shown."""
    running = running_of(scene)
    return running if running is not None else recorded_of(scene)


def read_no_record(scene: bpy.types.Scene) -> None:
    """The scene is known now: frames on disk are taken as its own, or not at all."""
    _recorded[scene.session_uid] = None


def move_disk(scene: bpy.types.Scene, old: Path, new: Path) -> None:
    """The frames on disk are to be found, and gone on with, at another place, too. Raises TendrilError."""
    running = running_of(scene)
    _recorded.pop(scene.session_uid, None)
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
    """The first frame for which the solver did not find the motion as exactly as it should, if there is one."""
    running = running_of(scene)
    return None if running is None else running.not_exact_since


def is_outdated(scene: bpy.types.Scene) -> bool:
    running = running_of(scene)
    return running is not None and (
        running.outdated or running.settings != scenes.settings_of(scene, taking_part(scene))
    )


def belongs_on_disk(scene: bpy.types.Scene) -> bool:
    """Whether frames are in memory alone because they were simulated before the user wanted them on disk, or before there was a
    place for them. With no state of each of them they can't be written now."""
    running = running_of(scene)
    if running is None or running.disk is not None or not running.writable:
        return False
    return bool(scene.tendril.use_disk_cache) and path_of(scene) is not None


def info(scene: bpy.types.Scene) -> str:
    """The line of the cache panel."""
    running = running_of(scene)
    if running is None:
        recorded = _recorded.get(scene.session_uid)
        if recorded is not None:
            return f"{_frames(len(recorded.disk.frames))} {'baked ' * scene.tendril.disk_baked}on disk"
        return "Baked on disk, and not found there" if scene.tendril.disk_baked else "Nothing in memory"
    text = f"{_frames(running.last_frame - running.first_frame + 1)} {'on disk' if running.disk else 'in memory'}"
    if is_outdated(scene):
        return f"{text}, outdated: go to frame {scenes.first_frame_of(scene)}"
    if belongs_on_disk(scene):
        return f"{text}, not on disk: play again from frame {scenes.first_frame_of(scene)}"
    if running.not_exact_since is not None:
        return f"{text}, not exact since frame {running.not_exact_since}"
    return text


def status(uid: str) -> str:
    return _status.get(uid, "")


def tell(uids: Iterable[str], message: str) -> None:
    _status.update(dict.fromkeys(uids, message))


def why_not_begun(uid: str, first: int) -> str:
    """What is said of a rod in a scene without a simulation, beyond its start frame."""
    trouble = start_troubles.get(uid)
    return f"{trouble}. Then play from frame {first}" if trouble else f"Not simulated yet: play from frame {first}"


def hush(uids: Iterable[str]) -> None:
    for uid in uids:
        _status.pop(uid, None)


def notes(scene: bpy.types.Scene) -> list[str]:
    """What is to be said of the colliders of a scene, a sentence each."""
    return collider_notes.get(scene.session_uid, [])


def disk_note(scene: bpy.types.Scene) -> str:
    return disk_notes.get(scene.session_uid, "")


class told_at:
    """Turns what goes wrong into the status of rods: a frame change must never fail."""

    def __init__(self, uids: Iterable[str]) -> None:
        self._uids = uids

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, _trace: object) -> bool:
        if isinstance(error, (TendrilError, Unable)):
            tell(self._uids, str(error))
        elif isinstance(error, Exception):
            traceback.print_exception(error)
            tell(self._uids, f"Unexpected {type(error).__name__}, see the console: {error}")
        return error is None or isinstance(error, Exception)


@contextmanager
def told_of_disk(scene: bpy.types.Scene) -> Iterator[None]:
    """Turns what goes wrong with the cache on disk into a line of its panel."""
    disk_notes.pop(scene.session_uid, None)
    try:
        yield
    except TendrilError as error:
        disk_notes[scene.session_uid] = str(error)


def taking_part(scene: bpy.types.Scene) -> dict[str, bpy.types.Object]:
    """The rods to be simulated, by uid. Baked ones are needed only for what still moves and runs into them."""
    found, moving = {}, {}
    for obj in rods.rods_in(scene.objects):
        settings = obj.tendril
        found[settings.uid] = obj
        if not settings.baked:
            moving[settings.uid] = obj
    return found if moving and scene.tendril.rod_contact else moving


def _frames(count: int) -> str:
    return f"{count} frame{'s' if count != 1 else ''}"
