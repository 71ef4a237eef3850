"""Rods that are carried along with an object, as a whole or in part: the inertia scale, and objects that teleport.

An object moves by a rotation about a point and a translation. Rods are moved rigidly by a part of it at the start of a frame, and
their holds arrive by simulated motion that makes up the rest. Everything that is prescribed starts where the carried observer sees
it, so that a step is one in the frame of reference of the object: its colliders do not run into the rods that it carries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..describe.model import model_record
from ..describe.rotations import are_rotations, interpolate_rotations
from ..errors import LARGEST_SIZE, Array, Flags, Ints, TendrilError, array, fraction, vector, whole
from ..maths.motion import in_bounds
from ..models.carrying import RigidMotion
from ..models.protocol import MovesRigidly
from .world import World

Samples = tuple[tuple[Array, Array, Array], ...]  # per block: positions, velocities, directors


def part_of_motion(
    translation: ArrayLike, rotation: ArrayLike, about: ArrayLike, linear: Any, angular: Any
) -> RigidMotion:
    """The part of a motion that rods do not feel: all of it but the fractions `linear` and `angular`. Raises TendrilError."""
    shift, pivot = vector("translation", translation), vector("about", about)
    turn = array("rotation", rotation, (3, 3), "give a rotation matrix")
    if not are_rotations(turn):
        raise TendrilError("rotation", rotation, "give a rotation matrix: orthonormal columns, no mirror image")
    if not (in_bounds(shift) and in_bounds(pivot)):
        raise TendrilError("translation", translation, f"stay within {10 * LARGEST_SIZE:g} m of the origin")
    for _ in range(2):  # nearest rotation: errors of the input must not add up from frame to frame
        turn = turn @ (1.5 * np.eye(3) - 0.5 * (turn.T @ turn))
    kept, turned = 1.0 - fraction("linear", linear), 1.0 - fraction("angular", angular)
    own = interpolate_rotations(np.eye(3), turn, turned)
    return RigidMotion(own, pivot - own @ pivot + kept * shift)


class Carried(NamedTuple):
    """What was carried in a frame, and by which motion."""

    motion: RigidMotion
    rows: list[Flags]  # per block: which of the described vertices


def add_velocities(samples: Samples, carried: Sequence[Carried], rate: float) -> None:
    """Adds the velocity of the motion by which rods were carried to their own, relative to it. `rate`: frames per second."""
    for motion, rows in carried:
        for (x, v, _), chosen in zip(samples, rows, strict=True):
            at = x[chosen]
            before = (at - motion.translation) @ motion.rotation
            v[chosen] += (0.5 * rate) * (motion.points(at) - before)


def carry(
    world: World, motion: RigidMotion, rods: Sequence[int] | None, colliders: Sequence[int] | None
) -> Carried | None:
    """Moves rods (None: all), their holds and goals, and colliders (None: all). Raises TendrilError before anything has moved."""
    chosen = _checked(world, rods)
    movers = _numbers("colliders", colliders, len(world.scene.colliders))
    if np.array_equal(motion.rotation, np.eye(3)) and not motion.translation.any():
        return None
    for number, block in enumerate(world.blocks):
        own = np.array([k for rod, (of, k) in enumerate(world.rods.rods) if of == number and chosen[rod]], np.int64)
        if len(own):
            assert isinstance(block, MovesRigidly)
            block.move_rigidly(own, motion)
    world.holds.carry(*motion, _of_rods(chosen, [hold.rod for hold in world.scene.holds]))
    world.holds.goals.carry(*motion, _of_rods(chosen, [goal.rod for goal in world.scene.goals]))
    world.send_holds()
    world.send_holds()  # twice: the first step also begins there
    if world.contact is not None:
        if chosen.all():  # otherwise warm-start forces of others would turn, too
            world.contact.known.turn(motion.rotation)
        world.contact.colliders.carry(*motion, movers)
        world.contact.colliders.put()
        world.contact.colliders.put()
    return Carried(motion, _rows(world, chosen))


def _rows(world: World, chosen: Flags) -> list[Flags]:
    found = [np.zeros(len(rows), np.bool_) for rows in world.rods.vertices]
    for place, meant in zip(world.rods.places, chosen, strict=True):
        found[place.block][place.first : place.end] = meant
    return found


def _numbers(name: str, given: Sequence[int] | None, count: int) -> list[int]:
    return list(range(count)) if given is None else [whole(name, k, 0, count - 1) for k in given]


def _checked(world: World, rods: Sequence[int] | None) -> Flags:
    """(R,) which rods are meant."""
    entries = world.scene.entries
    if world.bodies is not None:
        raise TendrilError("rods", rods, "rods in a scene with rigid bodies can't be carried: bodies would stay behind")
    chosen = np.zeros(len(entries), np.bool_)
    chosen[_numbers("rods", rods, len(entries))] = True
    for model in {entry.model for entry, meant in zip(entries, chosen, strict=True) if meant}:
        block = world.blocks[world.rods.rods[next(k for k, entry in enumerate(entries) if entry.model == model)][0]]
        if not isinstance(block, MovesRigidly):
            raise TendrilError("rods", model_record(model).name, "rods of this model can't be carried")
    return chosen


def _of_rods(chosen: Flags, rods: Sequence[int]) -> Ints:
    """The numbers of those holds or goals that belong to chosen rods."""
    return np.flatnonzero(chosen[np.array(rods, dtype=np.int64)])
