"""The models that come with Tendril, one record each, and how a record becomes a block.

A model is a folder with a block class and one record here; nothing else lists models. Importing this module imports no model, and
neither numba nor scipy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ..describe.model import ModelRecord, model_names, model_record, register_model
from ..errors import TendrilError

if TYPE_CHECKING:
    from ..compile.workers import Workers
    from ..describe.scene import Entry, Hold
    from .protocol import ModelBlock

IMPLICIT = ("tr-bdf2", "sdirk2", "backward euler", "midpoint")

# In the order of menus: production models first.
MODELS = (
    ModelRecord(
        name="der",
        label="Standard",
        description="Rod that bends, twists and stretches: ropes, cables, springs and hair",
        block=".elastic.rod_block:RodBlock",
        kernels=".elastic.stepping",
        integrators=IMPLICIT,
        menu_number=0,
        balance=True,
        soft_holds=True,
    ),
    ModelRecord(
        name="net",
        label="Standard",
        description="Elastic segments with joints that transmit bending and twisting. Stable at any stiffness",
        block=".elastic.net_block:NetBlock",
        kernels=".elastic.stepping",
        integrators=IMPLICIT,
        menu_number=0,
        rod_menu=False,
        nets=True,
        breaks=True,
        balance=True,
        soft_holds=True,
        tension="block",
    ),
    ModelRecord(
        name="compact",
        label="Inextensible",
        description="Rod that bends and twists, but never stretches",
        block=".compact.block:CompactBlock",
        kernels=".compact.stepping",
        integrators=("tr-bdf2", "backward euler"),
        menu_number=2,
        net_label="Inextensible",
        net_description="Tree of segments that never stretch. Loops and breaking are not supported",
        nets=True,
        sliding_holds=True,
        soft_holds=True,
        tension="block",
        contact_solvers=("coulomb", "active set"),
    ),
    ModelRecord(
        name="clothoid",
        label="Curls",
        description="Few curved elements that never stretch: "
        "curls, ringlets and tendrils that are held only at the start",
        block=".clothoid.block:ClothoidBlock",
        kernels=".clothoid.stepping",
        integrators=("tr-bdf2", "backward euler", "semi-implicit euler"),
        menu_number=3,
        closed_rods=False,
        elements=True,
        growth=True,
        tension="block",
        attachment_samples=True,
        contact_samples=True,
    ),
    ModelRecord(
        name="der2008",
        label="Discrete Elastic Rods 2008",
        description="Inextensible rod as published (Bergou et al., Discrete Elastic Rods, 2008). It takes many small steps",
        block=".published.der2008.block:Der2008Block",
        kernels=".published.der2008.stepping",
        integrators=IMPLICIT,  # accepted, but its free steps are always those of the paper
        production=False,
        menu_number=1,
        alteration=False,
        tension="unknown",
    ),
    ModelRecord(
        name="corde",
        label="CoRdE 2009",
        description="Explicit model as published (Spillmann and Teschner, Cosserat Nets, 2009). It takes many small steps and "
        "does not break",
        block=".published.corde.block:CordeBlock",
        kernels=".published.corde.stepping",
        integrators=IMPLICIT,  # accepted, but its steps are always those of the paper
        production=False,
        menu_number=1,
        rod_menu=False,
        nets=True,
        constants=True,
        alteration=False,
        tension="block",
    ),
)

for _record in MODELS:
    register_model(_record)


def block_class(record: ModelRecord) -> Callable[..., ModelBlock]:
    """The block class of a model, imported if need be."""
    if not isinstance(record.block, str):
        return record.block
    module, _, name = record.block.partition(":")
    found: Callable[..., ModelBlock] = vars(import_module(module, __package__))[name]
    return found


def kernel_source(record: ModelRecord) -> Path | None:
    """The file whose kernels take longest to compile; None if the model names none."""
    if not record.kernels:
        return None
    if record.kernels.startswith("."):
        return Path(__file__).parent.joinpath(*record.kernels[1:].split(".")).with_suffix(".py")
    spec = find_spec(record.kernels)
    return None if spec is None or spec.origin is None else Path(spec.origin)


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
    """The block of all rods of one model. `holds` come with the number of their rod within the block; `touching`: anything can
    collide with the rods."""
    record = model_record(model)
    if integrator not in record.integrators:
        raise TendrilError("integrator", integrator, f"{model} rods take one of {', '.join(record.integrators)}")
    if not record.closed_rods and any(entry.rod.closed for entry in entries):
        others = model_names(lambda other: other.closed_rods and other.rod_menu)
        raise TendrilError("closed", True, f"{model} rods are open: choose one of {others} for closed ones")
    more = {"touching": touching} if record.contact_samples else {}
    return block_class(record)(entries, holds, integrator=integrator, tolerance=tolerance, workers=workers, **more)
