"""Targets of a rod's attachments in each frame: other objects, bones, vertices and surfaces of meshes."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
import numpy as np

from ...core import TendrilError
from . import roots
from .animation import animated_paths
from .poses import Array, rigid_pose, scaled
from .settings import settings_in

# With a lower influence what can't hold softly is released.
RELEASE_THRESHOLD = 0.5


def key_of(uid: str, number: int) -> str:
    """The key of the pose of an attachment's target."""
    return f"{uid} attachment {number}"


def attached_poses(
    obj: bpy.types.Object, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph
) -> Iterator[tuple[str, Array]]:
    """The current poses of the targets of a rod's attachments. Raises TendrilError for a target that can't be found."""
    for number, attachment in enumerate(obj.tendril.attachments):
        key = key_of(obj.tendril.uid, number)
        path = f"attachments[{number}].influence"
        if attachment.target is None or is_without_influence(obj, path, attachment.influence):
            continue
        if is_on_surface(attachment):
            yield from roots.poses(key, attachment.target, scene, depsgraph)
        else:
            yield key, _pose(attachment, scene, depsgraph)


def end_attachment(settings: bpy.types.PropertyGroup, where: str) -> bpy.types.PropertyGroup | None:
    """The attachment of all ends of a rod at the `where` START or END, which the main panel shows."""
    return next((one for one in settings.attachments if one.where == where and one.spline == -1), None)


def keep_end_attachment(settings: bpy.types.PropertyGroup, where: str, hold: str) -> None:
    """Adds an attachment for an end that is to be attached, and removes it from an end that is not any more."""
    found = end_attachment(settings, where)
    if hold == "ATTACH" and found is None:
        new = settings.attachments.add()
        new.where, new.name = where, where.capitalize()
    elif hold != "ATTACH" and found is not None:
        settings.attachments.remove(list(settings.attachments).index(found))


def is_on_surface(attachment: bpy.types.PropertyGroup) -> bool:
    """Whether it follows the points of a mesh that are nearest at the start frame."""
    target = attachment.target
    return attachment.use_surface and target is not None and target.type == "MESH"


def influences(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> dict[str, float]:
    """Influences, which may be animated, by key: of attachments, of the pins of the object itself, and that of its cut."""
    settings = obj.tendril
    uid = settings.uid
    found = {uid: settings.pin_influence, roots.key_of(uid): settings.pin_influence}
    found[key_of_cut(uid)] = settings.cut_influence
    if len(settings.attachments):
        attachments = obj.evaluated_get(depsgraph).tendril.attachments
        found.update((key_of(uid, k), item.influence) for k, item in enumerate(attachments))
    return found


def is_without_influence(obj: bpy.types.Object, path: str, influence: float) -> bool:
    """Whether an influence with this path among the settings of a rod is 0 throughout: nothing is held by it."""
    return influence == 0.0 and f"tendril.{path}" not in animated_paths(obj)


def key_of_cut(uid: str) -> str:
    """The key by which a rod is cut: it is released from itself."""
    return f"{uid} cut"


def settings_of_attachments(obj: bpy.types.Object) -> tuple[object, ...]:
    """Without the influence, which may be animated."""
    return tuple(
        tuple(_value(attachment, name) for name in settings_in(attachment) if name != "influence")
        for attachment in obj.tendril.attachments
    )


def lost_targets(obj: bpy.types.Object, scene: bpy.types.Scene) -> list[str]:
    """A sentence for each attachment that holds nothing, for example because its target was deleted."""
    found = []
    for attachment in obj.tendril.attachments:
        if attachment.target is None:
            found.append(f'The attachment "{attachment.name}" has no target and holds nothing: choose one or remove it')
        elif attachment.target.name not in scene.objects:
            found.append(
                f'The target "{attachment.target.name}" of "{attachment.name}" is not in the scene: add it again'
            )
    return found


def _value(attachment: bpy.types.PropertyGroup, name: str) -> object:
    value = getattr(attachment, name)
    return value.session_uid if isinstance(value, bpy.types.ID) else value


def _pose(attachment: bpy.types.PropertyGroup, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> Array:
    target = attachment.target.evaluated_get(depsgraph)
    matrix = np.array(target.matrix_world, dtype=np.float64)
    if target.type == "ARMATURE" and attachment.bone:
        bone = target.pose.bones.get(attachment.bone)
        if bone is None:
            raise TendrilError("bone", attachment.bone, f'"{target.name}" has no bone of this name: choose another')
        matrix = matrix @ np.array(bone.matrix, dtype=np.float64)
    elif target.type == "MESH" and attachment.vertex >= 0:
        matrix = _frame_of_vertex(target, matrix, attachment.vertex)
    return rigid_pose(scaled(matrix, scene), f'the scale of "{target.name}"')


def _frame_of_vertex(target: bpy.types.Object, matrix: Array, vertex: int) -> Array:
    """A frame at a vertex of an evaluated mesh, aligned with the first face at this vertex: it follows the deformation."""
    mesh = target.to_mesh()
    try:
        if vertex >= len(mesh.vertices):
            last = len(mesh.vertices) - 1
            raise TendrilError("vertex", vertex, f'the last vertex of "{target.name}" is {last}: choose another')
        corners = np.empty(len(mesh.loops), dtype=np.int32)
        mesh.loops.foreach_get("vertex_index", corners)
        at = np.flatnonzero(corners == vertex)
        place = np.array(mesh.vertices[vertex].co, dtype=np.float64)
        frame = np.eye(4)
        frame[:3, 3] = matrix[:3, :3] @ place + matrix[:3, 3]
        frame[:3, :3] = matrix[:3, :3]
        if len(at):
            starts = np.empty(len(mesh.polygons), dtype=np.int32)
            mesh.polygons.foreach_get("loop_start", starts)
            face = mesh.polygons[int(np.searchsorted(starts, at[0], side="right")) - 1]
            around = list(face.vertices)
            here = around.index(vertex)
            ends = [np.array(mesh.vertices[around[(here + step) % len(around)]].co) for step in (1, -1)]
            along, across = (matrix[:3, :3] @ (end - place) for end in ends)
            normal = np.cross(along, across)
            if np.linalg.norm(normal) > 1e-12 * np.linalg.norm(along) * np.linalg.norm(across):
                frame[:3, :3] = np.stack([along, np.cross(normal, along), normal], axis=1)
                frame[:3, :3] /= np.linalg.norm(frame[:3, :3], axis=0)
        return frame
    finally:
        target.to_mesh_clear()
