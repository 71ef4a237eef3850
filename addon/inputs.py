"""Inputs of a simulation that may have changed since the previous frame: read from Blender and passed to the simulation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import bpy
from mathutils import Matrix

from ..core import Field
from . import memory
from .bridge import attachments, changes, colliders, rigid_bodies
from .bridge.curves import Rows
from .bridge.fields import fields_per_rod, gravity_weights
from .bridge.inertia import Inertia, inertia_of
from .bridge.poses import Array
from .memory import errors_to_status
from .running import Running


class Inputs(NamedTuple):
    """At the end of a frame. What is missing stays as it was."""

    poses: Mapping[str, Array]  # by key
    vertices: Mapping[str, Array]  # of colliders, by key
    environment: Mapping[str, Any]  # gravity, air and force fields
    influences: Mapping[str, Mapping[str, float]]  # of what holds a rod, by key, by its uid
    factors: Mapping[str, Mapping[str, float]]  # on properties of rods, by uid
    # Rods that are drawn to a shape, by uid: that shape (None: the drawn one), and how strongly.
    goals: Mapping[str, tuple[Rows | None, float]]
    fixed: Mapping[str, Matrix]  # rigid bodies that no force moves
    inertia: Inertia


def read(
    running: Running,
    scene: bpy.types.Scene,
    depsgraph: bpy.types.Depsgraph,
    poses: Mapping[str, Array],
    objects: Mapping[str, bpy.types.Object],
    fields: dict[str, Field],
    may_deform: bool = True,
) -> Inputs:
    """`poses` and `fields` are those of the frame. Unless colliders `may_deform`, those with unchanged poses are not read."""
    described, vertices = running.description.colliders, dict[str, Array]()
    if described and (may_deform or not running.is_unmoved(described, poses)):
        vertices, new_notes = colliders.moved_colliders(scene, depsgraph, described)
        notes = memory.collider_notes.setdefault(scene.session_uid, [])
        notes += [note for note in new_notes if note not in notes]
    ids = {uid: part.ids for uid, part in running.description.parts.items()}
    environment = {
        **changes.environment(scene),
        "time_scale": scene.tendril.time_scale,
        "fields": fields_per_rod(scene, fields, objects, ids) if fields else [],
        "gravity_weights": gravity_weights(objects, ids),
    }
    influences, factors = dict[str, Mapping[str, float]](), dict[str, Mapping[str, float]]()
    goals = dict[str, tuple[Rows | None, float]]()
    for uid, obj in objects.items():
        with errors_to_status([uid]):
            part = running.description.parts.get(uid)
            if part is not None:
                influences[uid] = attachments.influences(obj, depsgraph)
                factors[uid] = changes.factors(obj, part.described.start_length)
                if part.goals:
                    goals[uid] = changes.animated_rows(obj, scene.frame_current), obj.tendril.follow_strength
    fixed = rigid_bodies.fixed_poses(scene, depsgraph) if running.engine else {}
    return Inputs(poses, vertices, environment, influences, factors, goals, fixed, inertia_of(scene))


def apply(running: Running, inputs: Inputs) -> None:
    """Passes the inputs to the simulation, for its next step."""
    running.set_environment(inputs.environment)
    for uid in inputs.factors:
        with errors_to_status([uid]):
            running.hold(uid, inputs.influences[uid])
            running.alter(uid, inputs.factors[uid])
            if uid in inputs.goals:
                running.follow(uid, inputs.poses, *inputs.goals[uid])
    running.carry(inputs.inertia, inputs.poses, inputs.vertices)
    running.move(inputs.poses, inputs.vertices, inputs.fixed)


def are_as_before(running: Running, inputs: Inputs) -> bool:
    """Whether the inputs equal those of the simulation's last step, so that `apply` would change nothing."""
    return (
        running.engine is None
        and not inputs.goals
        and running.has_environment(inputs.environment)
        and all(running.has_influences(uid, influences) for uid, influences in inputs.influences.items())
        and all(running.has_factors(uid, factors) for uid, factors in inputs.factors.items())
        and running.is_unmoved(running.description.keys, inputs.poses)
        and all(running.has_vertices(key, now) for key, now in inputs.vertices.items())
    )
