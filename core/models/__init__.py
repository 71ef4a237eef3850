"""The rod models. Each is a block behind the protocol of `protocol.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import TendrilError

if TYPE_CHECKING:
    from ..compile.workers import Workers
    from ..describe.scene import Entry, Hold
    from .protocol import ModelBlock

# The integrators of each model; `der2008` and `corde` have their own between, whatever is asked for.
OF_MODEL = {
    "der": ("tr-bdf2", "sdirk2", "backward euler", "midpoint"),
    "der2008": ("sdirk2", "backward euler", "midpoint"),
    "clothoid": ("sdirk2", "backward euler", "semi-implicit euler"),
    "compact": ("sdirk2", "backward euler"),
    "net": ("tr-bdf2", "sdirk2", "backward euler", "midpoint"),
    "corde": ("sdirk2", "backward euler", "midpoint"),
}


def make_block(
    model: str,
    entries: Sequence[Entry],
    holds: Sequence[tuple[int, Hold]],
    *,
    integrator: str,
    tolerance: float,
    workers: Workers,
    touching: bool,
) -> ModelBlock:
    """The block of all rods of one model; `holds` come with the number of their rod within the block; `touching` says whether
    anything can touch them."""
    chosen = OF_MODEL[model]
    if integrator not in chosen:
        raise TendrilError("integrator", integrator, f"{model} rods take one of {', '.join(chosen)}")
    if model == "der":
        from .elastic.rod_block import RodBlock

        return RodBlock(entries, holds, integrator=integrator, tolerance=tolerance, workers=workers)
    if model == "der2008":
        from .published.der2008.block import Der2008Block

        return Der2008Block(entries, holds, integrator=integrator, tolerance=tolerance, workers=workers)
    if model == "compact":
        from .compact.block import CompactBlock

        return CompactBlock(entries, holds, integrator=integrator, tolerance=tolerance, workers=workers)
    if model == "net":
        from .elastic.net_block import NetBlock

        return NetBlock(entries, holds, integrator=integrator, tolerance=tolerance, workers=workers)
    if model == "corde":
        from .published.corde.block import CordeBlock

        return CordeBlock(entries, holds, workers=workers)
    if model == "clothoid":
        from .clothoid.block import ClothoidBlock

        return ClothoidBlock(
            entries, holds, integrator=integrator, tolerance=tolerance, workers=workers, touching=touching
        )
    raise AssertionError(f"Scene.add lets no such model through: {model}")
