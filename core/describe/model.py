"""Records of the rod models: all that a scene, the simulation and a user interface know of a model without importing its code.

This module holds the table of records. `models/registry.py` fills it with the models that come with Tendril; `register_model` adds
others at run time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from ..errors import TendrilError

DEFAULT_ROD_MODEL = "der"
DEFAULT_NET_MODEL = "net"


@dataclass(frozen=True)
class ModelRecord:
    """What one rod model is and what it supports. Features not listed here (holds, force fields, air, caching) every model has.

    Modules are named relative to `core/models` with a leading dot, or absolutely."""

    name: str  # what `Scene.add` takes
    label: str  # for menus
    description: str  # for menus: one sentence
    block: str | Callable[..., Any]  # the block class (see models/protocol.py), or "module:class" to import it late
    integrators: tuple[str, ...]  # those that `Simulation` may be asked for
    production: bool = True  # False: kept for research and comparison
    kernels: str = ""  # module whose kernels take longest to compile; empty: none
    menu_number: int | None = None  # stored in .blend files, unique within each menu; None: derived from the name
    net_label: str = ""  # label and description in the menu for nets, if they differ
    net_description: str = ""
    rod_menu: bool = True  # offered for single rods (every model accepts them)

    nets: bool = False  # accepts a Net
    closed_rods: bool = True
    elements: bool = False  # discretised into `Elements`, not into the drawn edges
    constants: bool = False  # has constants of its own, `Corde`
    sliding_holds: bool = False  # vertices can be held on a line: `Scene.slide`
    soft_holds: bool = False  # `Simulation.set_influence`; the block has the capability `Engages`
    alteration: bool = True  # `Simulation.alter`; the block has the capability `Alters`
    breaks: bool = False  # rods and nets of it can break and be cut; the block has the capability `Breaks`
    balance: bool = False  # sag-free rest shapes; the block has the capability `Balances`
    growth: bool = False  # `Simulation.grow`; the block has the capability `Grows`
    # Tension of edges: axial stiffness times stretch; measured by the block (capability `MeasuresStrains`); or not known.
    tension: Literal["stretch", "block", "unknown"] = "stretch"
    attachment_samples: bool = False  # the block itself resolves the rod near attached bodies: `Entry.tied`
    contact_samples: bool = False  # the block takes `touching`: it has more sample points where contact is possible
    contact_solvers: tuple[str, ...] = ("coulomb",)


_records: dict[str, ModelRecord] = {}


def register_model(record: ModelRecord) -> None:
    """Adds a model, so that scenes, simulations and menus offer it. A name can be registered once."""
    if not isinstance(record, ModelRecord):
        raise TendrilError("record", record, "give a ModelRecord")
    if not isinstance(record.name, str) or not record.name:
        raise TendrilError("name", record.name, "give the model a name")
    if record.name in _records:
        raise TendrilError("name", record.name, "choose another one: a model of this name is registered")
    _records[record.name] = record


def unregister_model(name: str) -> None:
    """Removes a model that `register_model` added."""
    _records.pop(name, None)


def model_record(name: object) -> ModelRecord:
    """The record of a model. Raises TendrilError if there is no such model."""
    if not isinstance(name, str) or name not in _records:
        raise TendrilError("model", name, f"choose one of {', '.join(_records)}")
    return _records[name]


def model_records() -> tuple[ModelRecord, ...]:
    """All models, in the order in which they were registered."""
    return tuple(_records.values())


def model_names(supports: Callable[[ModelRecord], bool]) -> str:
    """The names of the models with a feature, for messages: "der, net"."""
    return ", ".join(record.name for record in _records.values() if supports(record))


def known_integrators() -> tuple[str, ...]:
    """Integrators that at least one model has."""
    return tuple(dict.fromkeys(name for record in _records.values() for name in record.integrators))
