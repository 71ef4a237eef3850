"""Attachments of rods to bodies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import Array, TendrilError
from .body import Body
from .net import Net
from .rod import Rod
from .shapes import position_vector

KINDS = ("weld", "ball", "swivel")


@dataclass(frozen=True, eq=False)
class Attachment:
    """kind: "ball" ties a point of the rod to a point of the body; "swivel" also the direction of the edge; "weld" the edge's
    whole frame."""

    rod: int
    body: int
    kind: str
    edge: int
    at: float  # position on the edge: 0 at its start, 1 at its end
    point: Array  # (3,) m, in body coordinates


def make_attachment(
    rod: int,
    described: Rod | Net,
    body: int,
    target: Body,
    edge: int,
    vertex: int | None,
    point: ArrayLike | None,
    kind: str,
) -> Attachment:
    """At a vertex of the edge, or without one at its middle."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise TendrilError("kind", kind, f"choose one of {', '.join(KINDS)}")
    first, last = described.ends(edge)
    at = 0.5 if vertex is None else 0.0 if vertex == first else 1.0
    start, end = described.points[first], described.points[last]
    here = (1.0 - at) * start + at * end
    if point is None:
        own = target.to_body(here)
    else:
        own = position_vector("point", point)
        if np.linalg.norm(target.to_world(own) - here) > 0.5 * np.linalg.norm(end - start):
            raise TendrilError("point", point, "give a point near the rod, in body coordinates, or omit it")
    own.flags.writeable = False
    return Attachment(rod, body, kind, edge, at, own)
