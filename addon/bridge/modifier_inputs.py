"""Inputs of geometry nodes modifiers, which are custom properties up to Blender 5.1 and properties of their own since."""

from __future__ import annotations

from typing import Any


def inputs_called(modifier: Any, name: str) -> list[Any]:
    """The inputs of this name in the interface of the node group."""
    every = modifier.node_group.interface.items_tree
    return [item for item in every if item.item_type == "SOCKET" and item.in_out == "INPUT" and item.name == name]


def set_input(modifier: Any, identifier: str, value: Any) -> None:
    if hasattr(modifier, "properties"):
        getattr(modifier.properties.inputs, identifier).value = value
    else:
        modifier[identifier] = value


def get_input(modifier: Any, identifier: str) -> Any:
    if hasattr(modifier, "properties"):
        return getattr(modifier.properties.inputs, identifier).value
    return modifier[identifier]
