"""What happens when a frame changes: the scene is looked at, the simulation goes on by a frame, the curves show it."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping

import bpy

from ..core import TendrilError
from . import bodies, cast, memory, migration, rendering, solver
from .bridge import attachments, bullet, changes, colliders, curves, describing, rigid_bodies, rods, scenes
from .bridge.fields import felt_fields, gravity_weights, read_fields
from .bridge.poses import Array
from .bridge.scenes import SceneDescription
from .cast import Cast
from .memory import forget, running_of, told_at, told_of_disk
from .moments import DiskFrames, cache_name, path_of
from .running import Running
from .showing import Unable, check_showable, show, show_drawn, take_edits, write

Objects = dict[str, bpy.types.Object]  # by uid


def before_frame_change(scene: bpy.types.Scene) -> None:
    """Looks where things are as the start frame is left: the user may have moved them while standing there. Where it is come back
    to, rigid bodies stand as they did."""
    first = scenes.first_frame_of(scene)
    leaves_start = memory.standing.get(scene.session_uid) == first
    if (scene.frame_current > first and not leaves_start) or bullet.is_hidden(scene):
        return
    if scene.frame_current <= first and not memory.rendering:
        bodies.put_back(scene)
    if not leaves_start or memory.rendering or scene.tendril.disk_baked:
        return
    objects = memory.taking_part(scene)
    # As things were last evaluated: nothing is evaluated here.
    depsgraph = next((layer.depsgraph for layer in scene.view_layers if layer.depsgraph is not None), None)
    if objects and depsgraph is not None:
        with told_at(objects):
            _look_at_start(scene, depsgraph, objects)


def after_frame_change(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    rendered = depsgraph.mode == "RENDER"
    recalled = None if rendered else cast.recall(scene, depsgraph)
    if recalled is not None:
        stand(scene)
        with told_at(recalled[1]):
            _visit_again(scene, depsgraph, *recalled)
        return
    if bullet.is_hidden(scene):
        return
    if rendered:
        rendering.show_frame(scene)
        return
    came_from_start = memory.standing.get(scene.session_uid) == scenes.first_frame_of(scene)
    stand(scene)
    changed = cast.is_changed(depsgraph)
    own = list(rods.own_rods_in(bpy.data.objects))
    everybody = [obj for obj in own if obj.data.library is None]
    migration.migrate(everybody)  # of another file, some may have been appended
    give_unique_ids(everybody)
    if scene.tendril.disk_baked:
        rendering.show_there(scene)
        return
    objects = memory.taking_part(scene)
    memory.hush(objects)
    for obj in own if len(own) > len(everybody) else ():
        if obj.data.library is not None:
            memory.tell([obj.tendril.uid], "The curve is linked from another file: make a library override of it, too")
    if objects:
        with told_at(objects):
            _visit(scene, depsgraph, objects, rods.owners_of_curves(everybody), came_from_start)
        running = running_of(scene)
        if not changed and running is not None and not any(obj.tendril.baked for obj in objects.values()):
            cast.keep(scene, running, objects)


def after_load() -> None:
    memory.clear()
    cast.forget()
    bullet.lose()
    migration.migrate(rods.rods_in(bpy.data.objects))
    for scene in bpy.data.scenes:
        stand(scene)


def after_undo(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Undo brings back the curve of another moment; it has to show the frame the scene stands at."""
    bullet.lose()
    cast.forget()
    stand(scene)
    after_frame_change(scene, depsgraph)


def stand(scene: bpy.types.Scene) -> None:
    """Notes the frame the scene stands at. Needed where it got there without a frame change."""
    memory.standing[scene.session_uid] = scene.frame_current_final


def still_fits(scene: bpy.types.Scene) -> bool:
    """Whether the frames in memory are of the scene as it would begin now. Its animation is looked at when it is played."""
    running, objects = memory.running_of(scene), memory.taking_part(scene)
    description = _describe(scene, objects)
    return running is not None and description is not None and running.description.signature == description.signature


def give_unique_ids(everybody: Iterable[bpy.types.Object]) -> None:
    """A duplicated object brings the uid of its original along; the later one by name gets its own. For all rods of the file."""
    marked = [obj.tendril for obj in everybody]
    for scene in bpy.data.scenes:
        if scene.rigidbody_world is not None:
            marked += [obj.tendril_body for obj in rigid_bodies.dynamic_bodies(scene)]
    seen = {""}
    for mark in marked:
        uid = mark.uid
        if uid in seen:
            uid = mark.uid = uuid.uuid4().hex
        seen.add(uid)


def _visit(
    scene: bpy.types.Scene,
    depsgraph: bpy.types.Depsgraph,
    objects: Objects,
    owners: Mapping[bpy.types.ID, bpy.types.Object],
    came_from_start: bool,
) -> None:
    frame, whole = scene.frame_current, scene.frame_subframe == 0.0
    first, last = scenes.first_frame_of(scene), scenes.last_frame_of(scene)
    poses: dict[str, Array] = {}
    able: Objects = {}
    running = running_of(scene)
    for uid, obj in objects.items():
        with told_at([uid]):
            poses.update(rods.poses_of(obj, scene, depsgraph))
            check_showable(obj, owners[obj.data])
            if take_edits(obj) and running is not None:
                running.outdated = True
            able[uid] = obj
    if frame <= first:
        for obj in able.values():
            if not obj.tendril.baked:
                show_drawn(obj)
        if frame == first and whole:
            _look_at_start(scene, depsgraph, able)
            _compare_at_start(scene, able)
    elif came_from_start:
        description = _compare_at_start(scene, able)
        if running_of(scene) is None and description is not None and frame == first + 1 and whole:
            _begin(scene, description, able)
    running = running_of(scene)
    if running is not None and whole:
        _go_on(running, scene, depsgraph, objects, poses)
    shown = memory.shown_of(scene)
    for uid, obj in able.items():
        if not memory.status(uid) and not obj.tendril.baked:
            with told_at([uid]):
                if shown is None and frame > first:
                    raise Unable(memory.why_not_begun(uid, first))
                show(obj, shown, frame, scene.frame_subframe, first, last)
    bodies.show(scene, shown, frame, scene.frame_subframe)


def _visit_again(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, known: Cast, objects: Objects, quiet: bool
) -> None:
    """As `_visit`, after a frame since which nothing was changed; `quiet` if nothing can have moved either."""
    running, frame, subframe = known.running, scene.frame_current, scene.frame_subframe
    quiet = quiet and subframe == 0.0 and known.poses is not None and running.is_alone and not known.fields
    if quiet:
        _go_on_quietly(running, scene, frame, known)
    else:
        known.poses = {}
        for uid, obj in objects.items():
            with told_at([uid]):
                known.poses.update(rods.poses_of(obj, scene, depsgraph))
        if subframe == 0.0:
            _go_on(running, scene, depsgraph, objects, known.poses, known)
    moment = running.moments.get(frame) if quiet else None
    for uid, obj in objects.items():
        if not memory.status(uid):
            with told_at((uid,)):
                written = known.written[uid]
                if moment is not None and written:
                    write(obj.data, frame, moment.rows[uid], written)
                else:
                    show(obj, running, frame, subframe, known.first, known.last, written)
    if running.engine is not None:
        bodies.show(scene, running, frame, subframe)
    if any(map(memory.status, objects)):
        cast.forget()


def _look_at_start(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, objects: Objects) -> None:
    """Where rods, what they are attached to and colliders are at the start frame."""
    for uid, obj in objects.items():
        with told_at([uid]):
            memory.start_poses[uid] = describing.start_poses_of(obj, scene, depsgraph)
    found, said = colliders.read_colliders(scene, depsgraph)
    memory.start_colliders[scene.session_uid] = found
    memory.collider_notes[scene.session_uid] = said
    memory.start_bodies.pop(scene.session_uid, None)
    pushed = rods.pushed_bodies(scene)
    if pushed:
        pulled, substeps = rods.pulled_bodies(scene), scene.tendril.substeps
        try:
            read = rigid_bodies.read_bodies(scene, depsgraph, substeps, pushed, pulled)
            memory.start_movers[scene.session_uid] = colliders.read_moving(scene, depsgraph)
        except TendrilError as error:
            read = error  # told when it is needed
        memory.start_bodies[scene.session_uid] = read


def _compare_at_start(scene: bpy.types.Scene, objects: Objects) -> SceneDescription | None:
    """The scene as it is at the start frame. Frames in memory that are not of it, or should be on disk, are dropped;
    frames on disk that are of it are taken."""
    description = None
    with told_at(objects):
        description = _describe(scene, objects)
    memory.start_troubles.update({uid: memory.status(uid) for uid in objects})
    running = running_of(scene)
    if running is not None and (
        description is None
        or running.outdated
        or running.description.signature != description.signature
        or memory.belongs_on_disk(scene)
    ):
        forget(scene)
        running = None
    if running is None and description is not None and memory.may_read_disk(scene):
        memory.read_no_record(scene)
        with told_of_disk(scene):
            disk = DiskFrames.of_scene(path_of(scene), description)
            if len(disk.frames):
                memory.keep(scene, _new(scene, description, objects))
                running_of(scene).disk = disk
            else:
                disk.close()
    return description


def _describe(scene: bpy.types.Scene, objects: Objects) -> SceneDescription | None:
    """A rod that can't be described is left out and told why."""
    described = {}
    for uid, obj in objects.items():
        if uid in memory.start_poses:
            with told_at([uid]):
                poses = memory.start_poses[uid]
                described[uid] = describing.describe_rod(obj, scene, poses, curves.drawn_rows(obj.data))
    if not described:
        return None
    read = memory.start_bodies.get(scene.session_uid)
    if isinstance(read, TendrilError):
        raise read
    key = scene.session_uid
    movers = memory.start_movers.get(key, {})
    return scenes.describe_scene(scene, objects, described, memory.start_colliders.get(key, {}), read, movers)


def _new(scene: bpy.types.Scene, description: SceneDescription, objects: Objects) -> Running:
    left_out = {uid: memory.status(uid) for uid in objects if memory.status(uid)}
    return Running(description, scenes.settings_of(scene, memory.taking_part(scene)), left_out)


def _begin(scene: bpy.types.Scene, description: SceneDescription, objects: Objects) -> None:
    solver.require(description, scene)
    running = _new(scene, description, objects)
    running.begin(scene)
    memory.keep(scene, running)
    memory.trust_disk(scene)
    if scene.tendril.use_disk_cache:
        with told_of_disk(scene):
            running.begin_on_disk(scenes.saved(path_of(scene)))
            scene.tendril.cache_name = cache_name(scene)


def _go_on(
    running: Running,
    scene: bpy.types.Scene,
    depsgraph: bpy.types.Depsgraph,
    objects: Objects,
    poses: dict[str, Array],
    unchanged: Cast | None = None,
) -> None:
    """To the frame the scene stands at, if it is the next; with a cast, nothing but places was changed since the last."""
    frame, known = scene.frame_current, running.description.colliders
    if known:
        poses.update(colliders.poses_of_colliders(scene, depsgraph))
    has_fields = unchanged is None or unchanged.fields
    fields = read_fields(scene, depsgraph, objects.values()) if has_fields else {}
    if running.description.watched:
        poses.update(changes.states(running.description.watched, scene, depsgraph, objects, fields))
    running.compare(frame, poses)
    if frame > scenes.last_frame_of(scene):
        return
    if running.simulation is None and frame == running.last_frame < scenes.last_frame_of(scene):
        solver.require(running.description, scene)
        running.resume(scene, colliders.moved_colliders(scene, depsgraph, known)[0])
    elif running.simulation is not None and frame == running.last_frame + 1:
        places, lost = {}, []
        if known and not (unchanged and running.stand_still(known, poses)):
            places, lost = colliders.moved_colliders(scene, depsgraph, known)
        said = memory.collider_notes.setdefault(scene.session_uid, [])
        said += [note for note in lost if note not in said]
        ids = {uid: part.ids for uid, part in running.description.parts.items()}
        felt = felt_fields(scene, fields, objects, ids) if fields else []
        running.surround({**changes.around(scene), "fields": felt, "gravity_weights": gravity_weights(objects, ids)})
        for uid, obj in objects.items():
            with told_at([uid]):
                part = running.description.parts.get(uid)
                if part is not None:
                    running.release(uid, attachments.let_go(obj, depsgraph))
                    running.alter(uid, changes.factors(obj, part.described.start_length))
        running.step(poses, places, rigid_bodies.fixed_poses(scene, depsgraph) if running.engine else {})
        _write(running, scene)


def _go_on_quietly(running: Running, scene: bpy.types.Scene, frame: int, known: Cast) -> None:
    """As `_go_on`, if nothing is as it was not at the last frame, and nothing is to be read again."""
    running.compare(frame, known.poses)
    if frame == running.last_frame + 1 and frame <= known.last:
        running.advance(known.poses)
        _write(running, scene)


def _write(running: Running, scene: bpy.types.Scene) -> None:
    if running.writes:
        with told_of_disk(scene):
            running.write()
