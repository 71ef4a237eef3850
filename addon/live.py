"""Frame changes: the inputs of the simulation are read, the simulation advances by a frame, and the curves show it."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from contextlib import suppress

import bpy

from ..core import Field, TendrilError
from . import (
    bodies,
    breaking,
    edits,
    inputs,
    memory,
    migration,
    pace,
    participants,
    rendering,
    restarting,
    solver,
    starting,
)
from .bridge import bullet, changes, colliders, relevant, rigid_bodies, rods, scenes
from .bridge.fields import read_fields
from .bridge.poses import Array
from .memory import errors_to_disk_note, errors_to_status, running_of
from .participants import Objects, Participants
from .running import Running
from .showing import NotSimulated, check_showable, display_at, show, show_drawn

# Objects in the file from which on frames are predicted: a second evaluation of so many takes about a millisecond.
MANY_OBJECTS = 300


def before_frame_change(scene: bpy.types.Scene) -> None:
    """Reads the inputs of the simulation when the scene leaves the start frame, because the user may have moved objects there. On
    the way back to the start frame, rigid bodies return to their original transforms."""
    first = scenes.first_frame_of(scene)
    leaves_start = memory.current_frames.get(scene.session_uid) == first
    if scene.frame_current > first and not leaves_start:
        _show_early(scene, first)
        return
    if bullet.is_hidden(scene):
        return
    if scene.frame_current <= first and not memory.rendering:
        bodies.restore_all(scene)
    if not leaves_start or memory.rendering or scene.tendril.disk_baked:
        return
    relevant.invalidate()  # a script may have made a collider that was not evaluated yet
    objects = memory.taking_part(scene)
    # The depsgraph of the last evaluation: this handler must not evaluate anything.
    depsgraph = next((layer.depsgraph for layer in scene.view_layers if layer.depsgraph is not None), None)
    if objects and depsgraph is not None:
        with errors_to_status(objects):
            starting.read_inputs(scene, depsgraph, objects)


def _show_early(scene: bpy.types.Scene, first: int) -> None:
    """Shows a frame before Blender evaluates the scene, if it exists or can be predicted. Shown afterwards, it makes Blender
    evaluate the scene a second time, which takes long if there are thousands of objects. All checks and messages come afterwards
    in any case."""
    running, frame = running_of(scene), scene.frame_current
    if running is None or running.outdated or not first < frame <= running.last_frame + 1:
        return
    if memory.rendering or scene.frame_subframe != 0.0 or scene.tendril.disk_baked or bullet.is_hidden(scene):
        return
    last, is_new = scenes.last_frame_of(scene), frame > running.last_frame
    if is_new and (frame > last or running.simulation is None or relevant.count_in_file() < MANY_OBJECTS):
        return
    showable = _accept_edits_of(scene, running)
    if running.outdated or (is_new and not running.predict()):
        return
    display = display_at(running, frame, 0.0, first, last)
    for uid, obj in showable.items():
        with suppress(TendrilError, NotSimulated):
            show(obj, uid, display)


def _accept_edits_of(scene: bpy.types.Scene, running: Running) -> Objects:
    """The rods of a simulation that can show frames. If the user has edited one, the frames are outdated."""
    found = list(rods.rods_in(relevant.in_file()))
    uids, showable = {obj.tendril.uid for obj in found}, Objects()
    if len(uids) < len(found):  # a copy still has the frame that its original showed
        give_unique_ids(found)
        uids = {obj.tendril.uid for obj in found}
    own = rods.owners_of_curves(found)
    for uid, obj in memory.taking_part(scene).items():
        if uid in running.uids and not obj.tendril.baked:
            with suppress(TendrilError, NotSimulated):
                check_showable(obj, own[obj.data])
                if edits.accept(obj, uids):
                    running.outdated = True
                    participants.invalidate()  # its record says that the curve shows a frame
                else:
                    showable[uid] = obj
    return showable


def after_frame_change(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    known = running_of(scene)
    last = None if known is None else known.last_frame
    _show_current_frame(scene, depsgraph)
    running = running_of(scene)
    if running is None:
        return
    # A prediction that was not looked at, because no rod takes part any more or an input can't be read.
    running.confirm(False)
    if depsgraph.mode != "RENDER":
        is_new = running is not known or running.last_frame != last
        pace.note(scene, (running.seconds or 0.0) if is_new else 0.0)
        pace.redraw_panels()
        restarting.check(scene)


def _show_current_frame(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """The path of every frame. Change detection comes first: it finds the participants in the cache or collects them again, and
    decides which inputs have to be read. The rest is the same in both cases."""
    if depsgraph.id_type_updated("COLLECTION"):
        relevant.invalidate()
    if depsgraph.mode == "RENDER":
        if not bullet.is_hidden(scene):
            rendering.show_frame(scene)
        return
    frame, subframe, unchanged = scene.frame_current, scene.frame_subframe, False
    recalled = participants.recall(scene, depsgraph)
    if recalled is not None:
        known, objects, unchanged = recalled
        record_frame(scene)
        unchanged = (
            unchanged
            and known.poses_complete
            and subframe == 0.0
            and not known.may_have_fields
            and known.running is not None
            and known.running.has_constant_inputs
        )
        if not unchanged:
            known.poses_complete = known.inputs_set = False
            known.poses = _read_poses(scene, depsgraph, objects)
    else:
        collected = _collect(scene, depsgraph)
        if collected is None:
            return
        known, objects, may_store = collected
    with errors_to_status(objects):
        if known.running is not None and subframe == 0.0:
            _advance(known.running, scene, depsgraph, known, objects, unchanged)
        _show(scene, known, objects, frame, subframe)
    if any(map(memory.status, objects)):
        participants.invalidate()
    elif recalled is None and may_store:
        participants.store(scene, known, objects)


def after_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """The depsgraph has changed: the user may have entered Edit Mode."""
    participants.invalidate()
    relevant.invalidate_after(depsgraph)
    layer = bpy.context.view_layer
    active = layer.objects.active if layer is not None else None
    if active is not None and active.mode in edits.EDITING:
        running = running_of(scene)
        if edits.show_drawn_while_editing(rods.rods_in(relevant.in_scene(scene))) and running is not None:
            running.outdated = True


def accept_edits() -> None:
    """Stores edits of all rods, before the file is saved."""
    for scene in bpy.data.scenes:
        own = {obj.tendril.uid: obj for obj in rods.rods_in(relevant.in_scene(scene))}
        uids = {obj.tendril.uid for obj in rods.own_rods_in(relevant.in_file())}
        _accept_joined(scene, uids)
        for uid, obj in own.items():
            if obj.mode not in edits.EDITING and not obj.tendril.baked:
                with errors_to_status([uid]):
                    running = running_of(scene)
                    if edits.accept(obj, uids):
                        participants.invalidate()
                        if running is not None:
                            running.outdated = True


def _accept_joined(scene: bpy.types.Scene, uids: set[str]) -> None:
    layer = bpy.context.view_layer
    if layer is not None and bpy.context.scene == scene:
        edits.accept_joined(layer.objects.active, uids)


def before_replacement() -> None:
    """Before undo, and before another file is opened: references to objects become invalid."""
    relevant.invalidate()
    participants.invalidate()


def after_load() -> None:
    before_replacement()
    memory.clear()
    pace.forget()
    edits.forget()
    bullet.invalidate()
    migration.migrate(rods.rods_in(bpy.data.objects))
    edits.record_present(rods.rods_in(bpy.data.objects))
    for scene in bpy.data.scenes:
        memory.refuse_unsafe_name(scene)
        record_frame(scene)


def after_undo(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Undo restores the curve of an earlier time; it has to show the current frame of the scene."""
    bullet.invalidate()
    before_replacement()
    record_frame(scene)
    edits.show_drawn_while_editing(rods.rods_in(relevant.in_scene(scene)))
    own = [obj for obj in rods.rods_in(relevant.in_file()) if obj.mode not in edits.EDITING]
    edits.forget_notes(obj.tendril.uid for obj in own)
    memory.start_problems.clear()
    edits.record_present(own)
    after_frame_change(scene, depsgraph)


def record_frame(scene: bpy.types.Scene) -> None:
    """Stores the current frame of the scene, to detect when it leaves the start frame. Call it also where the frame was reached
    without a frame change."""
    memory.current_frames[scene.session_uid] = scene.frame_current_final


def give_unique_ids(objects: Iterable[bpy.types.Object]) -> None:
    """A duplicated object has the uid of its original; the later one by name gets a new one. Pass all rods of the file."""
    groups = [obj.tendril for obj in objects]
    for scene in bpy.data.scenes:
        if scene.rigidbody_world is not None:
            groups += [obj.tendril_body for obj in rigid_bodies.dynamic_bodies(scene)]
    seen = {""}
    for group in groups:
        uid = group.uid
        if uid in seen:
            group.uid = uuid.uuid4().hex
            edits.note_copy(uid, group.uid)
            uid = group.uid
        seen.add(uid)


def _collect(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> tuple[Participants, Objects, bool] | None:
    """Searches the file for the participants, checks them, reads their poses and handles the start frame. Returns them, their
    objects, and whether they may be cached; None if nothing is to be simulated."""
    if bullet.is_hidden(scene):
        return None
    first, frame = scenes.first_frame_of(scene), scene.frame_current
    leaves_start = memory.current_frames.get(scene.session_uid) == first
    record_frame(scene)
    memory.refuse_unsafe_name(scene)  # the scene may have been appended from another file
    changed = participants.is_changed(depsgraph)
    own = list(rods.own_rods_in(relevant.in_file()))
    usable = [obj for obj in own if obj.data.library is None]
    migration.migrate(usable)  # objects may have been appended from a file of an older version
    give_unique_ids(usable)
    if scene.tendril.disk_baked:
        rendering.show_existing(scene)
        return None
    _accept_joined(scene, {obj.tendril.uid for obj in own})
    objects = memory.taking_part(scene)
    memory.clear_status(objects)
    for obj in own if len(own) > len(usable) else ():
        if obj.data.library is not None:
            message = "The curve is linked from another file: make a library override of the curve as well"
            memory.set_status([obj.tendril.uid], message)
    if not objects:
        return None
    baked = frozenset(uid for uid, obj in objects.items() if obj.tendril.baked)
    known = Participants(running_of(scene), first, scenes.last_frame_of(scene), {}, baked)
    with errors_to_status(objects):
        showable = _check(scene, depsgraph, known, objects, rods.owners_of_curves(usable), leaves_start)
        _handle_start(scene, depsgraph, known, showable, leaves_start)
    known.running = running_of(scene)
    return known, objects, not changed and known.running is not None and not baked and frame > first


def _check(
    scene: bpy.types.Scene,
    depsgraph: bpy.types.Depsgraph,
    known: Participants,
    objects: Objects,
    owners: rods.Owners,
    leaves_start: bool,
) -> Objects:
    """Reads the poses of all objects and accepts edits of their curves. Returns those that can show frames."""
    showable: Objects = {}
    owners_uids = {obj.tendril.uid for obj in owners.values()}
    for uid, obj in objects.items():
        with errors_to_status([uid]):
            known.poses.update(rods.poses_of(obj, scene, depsgraph))
            check_showable(obj, owners[obj.data])
            if edits.accept(obj, owners_uids) and known.running is not None:
                known.running.outdated = True
            showable[uid] = obj
            if leaves_start:
                edits.forget_notes([uid])
            if edits.note_of(uid):
                raise NotSimulated(edits.note_of(uid))
    return showable


def _handle_start(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, known: Participants, objects: Objects, leaves_start: bool
) -> None:
    """At the start frame and before it rods show their drawn shape. As the scene leaves it, a simulation starts if none fits."""
    frame, whole = scene.frame_current, scene.frame_subframe == 0.0
    if frame <= known.first:
        for uid, obj in objects.items():
            if uid not in known.baked:
                show_drawn(obj)
                breaking.mark(obj)
        if frame == known.first and whole:
            starting.read_inputs(scene, depsgraph, objects)
            starting.select_frames(scene, objects)
    elif leaves_start:
        description = starting.select_frames(scene, objects)
        if running_of(scene) is None and description is not None and frame == known.first + 1 and whole:
            starting.start(scene, description, objects)


def _read_poses(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, objects: Objects) -> dict[str, Array]:
    poses: dict[str, Array] = {}
    for uid, obj in objects.items():
        with errors_to_status([uid]):
            poses.update(rods.poses_of(obj, scene, depsgraph))
    return poses


def _advance(
    running: Running,
    scene: bpy.types.Scene,
    depsgraph: bpy.types.Depsgraph,
    known: Participants,
    objects: Objects,
    unchanged: bool,
) -> None:
    """Simulates the current frame of the scene if it is the next one; if it exists, its inputs are compared with the current ones.
    If `unchanged`, no input is read: all are as at the previous frame."""
    frame, poses = scene.frame_current, known.poses
    fields: dict[str, Field] = {}
    if not unchanged:
        if running.description.colliders:
            poses.update(colliders.poses_of_colliders(scene, depsgraph))
        if known.may_have_fields:
            fields = read_fields(scene, depsgraph, objects.values())
        if running.description.watched:
            watched, first = running.description.watched, running.first_frame
            poses.update(changes.watched_states(watched, scene, depsgraph, objects, fields, first))
        known.poses_complete, known.inputs_set = True, False
    read = None
    if running.prediction is not None:
        if not (unchanged and known.inputs_set):
            read = _read_inputs(running, scene, depsgraph, known, objects, fields)
        running.confirm(read is None or inputs.are_as_before(running, read))
    running.detect_changes(frame, poses)
    if frame > known.last:
        return
    if running.simulation is None:
        if frame == running.last_frame < known.last:
            solver.require(running.description, scene)
            described = running.description.colliders
            running.resume(scene, colliders.moved_colliders(scene, depsgraph, described)[0])
    elif frame == running.last_frame + 1:
        steady = known.inputs_set
        if not known.inputs_set:
            read = read or _read_inputs(running, scene, depsgraph, known, objects, fields)
            steady = inputs.are_as_before(running, read)
            inputs.apply(running, read)
            known.inputs_set = True
        running.step(poses)
        running.steady_frames = running.steady_frames + 1 if steady else min(running.steady_frames, 0)
    if frame == running.last_frame and running.needs_writing:
        with errors_to_disk_note(scene):
            running.write()


def _read_inputs(
    running: Running,
    scene: bpy.types.Scene,
    depsgraph: bpy.types.Depsgraph,
    known: Participants,
    objects: Objects,
    fields: dict[str, Field],
) -> inputs.Inputs:
    # A collider whose pose is the same may still deform, unless the depsgraph reports no change.
    return inputs.read(running, scene, depsgraph, known.poses, objects, fields, may_deform=not known.is_cached)


def _show(scene: bpy.types.Scene, known: Participants, objects: Objects, frame: int, subframe: float) -> None:
    source = memory.frame_source(scene) if known.running is None else known.running
    display = display_at(source, frame, subframe, known.first, known.last)
    for uid, obj in objects.items():
        if not memory.status(uid) and uid not in known.baked:
            with errors_to_status((uid,)):
                if source is None and frame > known.first:
                    raise NotSimulated(memory.why_not_started(uid, known.first))
                show(obj, uid, display, known.control_points.get(uid))
    bodies.show(scene, display)
