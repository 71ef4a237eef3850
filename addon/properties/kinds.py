"""Constructors for recurring kinds of properties, which keep precision, step and subtype consistent."""

from typing import Any

from bpy.props import FloatProperty

from ...core.describe.scene import DEFAULT_FRICTION


def distance(name: str, description: str, default: float, largest: float, soft_largest: float, **more: Any) -> Any:
    """A length in scene units, with a precision and step suitable for hair."""
    return FloatProperty(
        name=name,
        description=description,
        default=default,
        max=largest,
        soft_max=soft_largest,
        precision=4,
        step=0.1,
        subtype="DISTANCE",
        **more,
    )


def number(
    name: str, description: str, default: float, least: float, largest: float, soft_largest: float, **more: Any
) -> Any:
    """A number in the unit given in its name."""
    return FloatProperty(
        name=name, description=description, default=default, min=least, max=largest, soft_max=soft_largest, **more
    )


def factor(name: str, description: str, default: float) -> Any:
    """A factor between 0 and 1."""
    return FloatProperty(name=name, description=description, default=default, min=0.0, max=1.0, subtype="FACTOR")


def friction() -> Any:
    """The friction coefficient of a surface."""
    return number(
        "Friction",
        "Friction coefficient of the surface: ice 0.05, wood 0.4, rubber 1. Higher values reduce sliding, and a pair of "
        "surfaces uses the geometric mean of both values",
        DEFAULT_FRICTION,
        0.0,
        100.0,
        2.0,
        precision=2,
        step=1,
    )
