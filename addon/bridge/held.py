"""Holds of a rod: attachments, pinned points, ends, and roots of hair on a surface."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import TendrilError
from . import points, roots
from .attachments import is_on_surface, is_without_influence, key_of
from .curves import per_point, strand_sizes
from .descriptions import Held
from .poses import Array
from .rigid_bodies import key_of as key_of_body
from .strands import Polyline

# Control points with at least this weight are pinned.
PIN_THRESHOLD = 0.5


def find_held(
    obj: bpy.types.Object,
    strands: Sequence[Polyline],
    poses: Mapping[str, Array],
    moving: Collection[bpy.types.Object],
    numbers: NDArray[np.int64] | None = None,
) -> list[Held]:
    """All held vertices. If a vertex is held several times, attachments take precedence over pins by weight, and these over ends.
    `moving` are the rigid bodies that move with the rods; `numbers` those of the strands, if not all are simulated."""
    found: dict[tuple[int, int], Held] = {}
    settings = obj.tendril
    for number, attachment in enumerate(settings.attachments):
        key = key_of(settings.uid, number)
        if key not in poses:
            continue
        for seat, (index, vertex) in enumerate(attached_vertices(attachment, strands)):
            if not (attachment.use_position or attachment.use_rotation):
                continue
            if (index, vertex) in found:
                cure = "another attachment holds the same point: remove one of them"
                raise TendrilError(f"attachment {number + 1}", attachment.name, cure)
            place = strands[index].vertices[vertex].copy()
            held = Held(index, vertex, attachment.use_rotation, place, key, loose=not attachment.use_position)
            if is_on_surface(attachment):
                held = replace(held, root=seat)
            if attachment.target in moving:
                if held.loose:
                    raise TendrilError(
                        f"attachment {number + 1}", attachment.name, "a rigid body needs Position: enable it"
                    )
                held = replace(held, body=key_of_body(attachment.target), pulls=attachment.use_pull)
            found[index, vertex] = held
    if is_without_influence(obj, "pin_influence", settings.pin_influence):
        return list(found.values())
    every = list(pin_weights(obj))
    chosen = every if numbers is None or not every else [every[k] for k in numbers]
    for number, (strand, weights) in enumerate(zip(strands, chosen, strict=False)):
        for point in np.flatnonzero(weights >= PIN_THRESHOLD).tolist():
            _hold_if_free(found, number, strand, strand.vertex_of(point), settings.clamp_pins, settings.uid)
    if obj.type == "MESH":  # it has no ends
        return list(found.values())
    on_surface = roots.key_of(settings.uid) in poses and settings.start_hold in ("PIN", "CLAMP")
    for number, strand in enumerate(strands if on_surface else []):
        if (number, 0) not in found:
            place, clamped = strand.vertices[0].copy(), settings.start_hold == "CLAMP"
            root = number if numbers is None else int(numbers[number])
            found[number, 0] = Held(number, 0, clamped, place, roots.key_of(settings.uid), root)
    for number, strand in enumerate(strands):
        for is_end, hold in ((False, settings.start_hold), (True, settings.end_hold)):
            if hold in ("PIN", "CLAMP", "ORIENT") and not (
                strand.closed and is_end
            ):  # a closed spline has no second end
                vertex = len(strand.vertices) - 1 if is_end else 0
                if (number, vertex) not in found:
                    place = strand.vertices[vertex].copy()
                    found[number, vertex] = Held(
                        number, vertex, hold != "PIN", place, settings.uid, loose=hold == "ORIENT"
                    )
    return list(found.values())


def pin_weights(obj: bpy.types.Object) -> Iterable[Array]:
    """Pin weights of the control points of each spline; a mesh counts as one spline."""
    settings = obj.tendril
    if obj.type == "CURVE":
        return per_point(obj.data, "weight_softbody") if settings.pin_by_weight else ()
    if not settings.pin_group:
        return ()
    weights = points.weights(obj, settings.pin_group)
    if weights is None:
        raise TendrilError(
            "pin group", settings.pin_group, f'"{obj.name}" has no group or attribute of this name: choose another'
        )
    return [weights] if obj.type == "MESH" else np.split(weights, np.cumsum(strand_sizes(obj.data))[:-1])


def _hold_if_free(
    found: dict[tuple[int, int], Held], number: int, strand: Polyline, vertex: int, clamped: bool, uid: str
) -> None:
    if (number, vertex) not in found:
        found[number, vertex] = Held(number, vertex, clamped, strand.vertices[vertex].copy(), uid)


def attached_vertices(attachment: bpy.types.PropertyGroup, strands: Sequence[Polyline]) -> Iterator[tuple[int, int]]:
    if attachment.spline >= len(strands):
        raise TendrilError("spline", attachment.spline, f"the last spline of the curve is {len(strands) - 1}")
    for number, strand in enumerate(strands):
        if attachment.spline not in (-1, number):
            continue
        if attachment.where == "START":
            yield number, 0
        elif attachment.where == "END":
            yield number, len(strand.vertices) - 1
        elif attachment.point < strand.control_count:
            yield number, strand.vertex_of(attachment.point)
        else:
            raise TendrilError("point", attachment.point, f"the last point of the spline is {strand.control_count - 1}")
