"""Sag-free rods: their drawn shape is in equilibrium under gravity when the simulation begins.

A block finds the natural shape for which a given shape is in equilibrium (`Balances`). Where that equilibrium would be unstable, or
the natural shape curls too tightly, the material can't support the drawn shape. We then look for a shape near it that can be
supported: the drawn shape, as its own natural shape, sags under a part of gravity, and the rest of gravity is balanced by
natural curvature. Without the balance that shape is the one the rod would sag to anyway, so the search always succeeds; bisection
finds the smallest part that must be left to sag.
"""

from __future__ import annotations

import numpy as np

from ..describe.scene import RodId, Scene
from ..errors import Array, Flags, Ints, TendrilError
from ..models.elastic.balance import LEAST_SQUARE
from ..models.protocol import Balances, FreeSteps, ModelBlock
from .world import World

BISECTIONS = 5
MOST_STEPS = 60  # to find a state of rest
LONG = 100.0  # s: a step so long that it ends at rest
STILL = 1e-5  # lengths of a rod: it is at rest if a long step moves it by less


def balance_rods(world: World) -> dict[RodId, float]:
    """Changes the natural shape of all sag-free rods. Returns those that sag nevertheless, and how far their points move at most,
    as a fraction of the rod's length. Raises TendrilError for rods that nothing clamps."""
    sags: dict[RodId, float] = {}
    entries = world.scene.entries
    _check_holds(world.scene)
    for number, block in enumerate(world.blocks):
        ids = [rod for rod, (of, _) in enumerate(world.rods.rods) if of == number]
        chosen = np.array([k for k, rod in enumerate(ids) if entries[rod].sag_free], dtype=np.int64)
        if not len(chosen):
            continue
        assert isinstance(block, Balances), "the registry says so"
        lengths = np.array([entries[rod].rod.length for rod in ids])
        way = _balance_block(block, world.around.gravity, chosen, lengths)
        sags.update({ids[k]: float(part) for k, part in zip(chosen, way, strict=True) if part > 0.0})
    return sags


def _check_holds(scene: Scene) -> None:
    clamped = {hold.rod for hold in scene.holds if hold.holds_frame and hold.holds_position}
    for rod, entry in enumerate(scene.entries):
        if entry.sag_free and rod not in clamped:  # pins let it turn about the line between them
            raise TendrilError("sag_free", True, f"nothing supports rod {rod}: clamp one of its points")


def _balance_block(block: ModelBlock, gravity: Array, chosen: Ints, lengths: Array) -> Array:
    """(k,) how far the chosen rods sag, as a fraction of their lengths (R,)."""
    assert isinstance(block, Balances)
    weight = np.zeros((int(block.sample_start[-1]), 3))
    block.weight(gravity, weight)
    squares = LEAST_SQUARE * float(np.linalg.norm(gravity)) / lengths
    good = block.balance(chosen, weight, squares)
    sag = np.zeros(len(chosen))
    if good.all():
        return sag
    sag[~good] = _support_in_part(block, chosen[~good], weight, squares, lengths)
    return sag


def _support_in_part(block: ModelBlock, chosen: Ints, weight: Array, squares: Array, lengths: Array) -> Array:
    """Bisection for the smallest part of the weight that must be left to sag, for each rod."""
    assert isinstance(block, Balances)
    drawn = block.copy(chosen)
    start = block.positions().copy()
    least, most = np.zeros(len(chosen)), np.ones(len(chosen))  # the part that sags: too small; sufficient
    for step in range(BISECTIONS + 1):
        part = most if step == BISECTIONS else 0.5 * (least + most)
        block.restore(chosen, drawn)
        block.balance(chosen, 0.0 * weight, squares)  # the drawn shape is natural
        _come_to_rest(block, chosen, _parts(block, chosen, part) * weight, lengths)
        good = block.balance(chosen, weight, squares)
        if step < BISECTIONS:
            least, most = np.where(good, least, part), np.where(good, part, most)
    moved = np.linalg.norm(block.positions() - start, axis=1)
    starts = block.sample_start
    way = np.array([moved[starts[r] : starts[r + 1]].max() for r in chosen]) / lengths[chosen]
    block.restore(chosen, drawn)
    if not good.all():  # even where it sags to; its natural shape is the drawn one
        block.balance(chosen[~good], 0.0 * weight, squares)
    return np.asarray(way)


def _parts(block: ModelBlock, chosen: Ints, part: Array) -> Array:
    """(N, 1) the part of each rod, at its sample points."""
    of_rods = np.zeros(len(block.sample_start) - 1)
    of_rods[chosen] = part
    return np.repeat(of_rods, np.diff(block.sample_start))[:, None]


def _come_to_rest(block: ModelBlock, chosen: Ints, forces: Array, lengths: Array) -> None:
    """Ever longer steps, each from rest, until a long one moves nothing."""
    skip: Flags = np.ones(len(lengths), dtype=np.bool_)
    skip[chosen] = False
    still = np.repeat(STILL * lengths, np.diff(block.sample_start))
    rates, h = np.zeros(len(lengths)), 0.01
    for _ in range(MOST_STEPS):
        before = block.positions().copy()
        block.stop()
        block.free_steps(FreeSteps(h, 1, forces, np.zeros(3), 0.0, rates, True, skip))
        smooth = block.take_work().failures == 0
        if smooth and h > LONG and np.all(np.abs(block.positions() - before).max(axis=1) < still):
            break
        h = min(3.0 * h, 10.0 * LONG) if smooth else max(0.1 * h, 1e-3)
    block.stop()
