"""Menus of rod models, from the records of the core: models that are registered later appear as well."""

from __future__ import annotations

import functools
import zlib
from typing import Any

import bpy

from ...core.describe.model import ModelRecord, model_records

Item = tuple[str, str, str, str, int]

_FIRST_DERIVED = 1000  # numbers of models that have none are above


def rod_models(_rod: Any, _context: bpy.types.Context | None) -> list[Item]:
    """Models offered for single rods."""
    return _items(model_records())[0]


def net_models(_rod: Any, _context: bpy.types.Context | None) -> list[Item]:
    """Models offered for nets."""
    return _items(model_records())[1]


@functools.cache  # Blender keeps no reference to the strings
def _items(records: tuple[ModelRecord, ...]) -> tuple[list[Item], list[Item]]:
    rods = {one: (one.name, one.label, one.description, "NONE", _number(one)) for one in records if one.rod_menu}
    nets = {
        one: (one.name, one.net_label or one.label, one.net_description or one.description, "NONE", _number(one))
        for one in records
        if one.nets
    }
    return _with_heading(rods), _with_heading(nets)


def _with_heading(found: dict[ModelRecord, Item]) -> list[Item]:
    """Models for research come last, below a heading: an item without an identifier."""
    research = [item for record, item in found.items() if not record.production]
    heading: list[Item] = [("", "Research", "", "NONE", -1)] if research else []
    return [*(item for record, item in found.items() if record.production), *heading, *research]


def _number(record: ModelRecord) -> int:
    """What .blend files store. It must not change, nor depend on the order in which models are registered."""
    if record.menu_number is not None:
        return record.menu_number
    return _FIRST_DERIVED + zlib.crc32(record.name.encode()) % 2**30
