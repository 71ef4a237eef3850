"""All families of crowded scenes, and their numbering."""

from __future__ import annotations

from collections.abc import Callable

from . import crushed, hair, heaps, ropes
from .drawing import Crowd, Draw

FAMILIES: tuple[Callable[[Draw], Crowd], ...] = (
    heaps.straight,
    heaps.curly,
    heaps.closed,
    heaps.thin,
    heaps.sizes,
    heaps.one_model,
    heaps.mixed_models,
    heaps.explicit,
    heaps.with_bodies,
    heaps.net_on_things,
    hair.turning,
    hair.nodding,
    hair.jumping,
    hair.curly,
    hair.clothoids,
    hair.inextensible,
    ropes.coil,
    ropes.ply,
    ropes.braid,
    ropes.weave,
    ropes.chain_mail,
    ropes.through_rings,
    ropes.tangle,
    ropes.dragged_bundle,
    crushed.pushed_together,
    crushed.flattened,
    crushed.impossible,
)


def crowd(number: int, jitter: int = 0, small: bool = True) -> Crowd:
    """Scene `number`, whose families follow each other, with the displacements of run `jitter` (0: none)."""
    return FAMILIES[number % len(FAMILIES)](Draw(number, jitter, small))
