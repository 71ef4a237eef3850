"""Kinds of properties that come up again and again, so that all of one kind look and behave alike."""

from typing import Any

from bpy.props import FloatProperty

from ...core.describe.body import DEFAULT_FRICTION


def distance(name: str, description: str, default: float, largest: float, soft_largest: float, **more: Any) -> Any:
    """A length in units of the scene, fine enough for hair."""
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
    """A number, in the unit that its name says."""
    return FloatProperty(
        name=name, description=description, default=default, min=least, max=largest, soft_max=soft_largest, **more
    )


def factor(name: str, description: str, default: float) -> Any:
    """Between nothing and all."""
    return FloatProperty(name=name, description=description, default=default, min=0.0, max=1.0, subtype="FACTOR")


def friction() -> Any:
    return number(
        "Friction",
        "Coefficient of friction of the surface. Between two surfaces it is the root of the product of "
        "theirs: ice 0.05, wood 0.4, rubber 1",
        DEFAULT_FRICTION,
        0.0,
        100.0,
        2.0,
        precision=2,
        step=1,
    )
