"""How a description was made: the arguments that the user gave, from which it can be made again with one of them changed.

Rods, nets, bodies and materials keep derived values (stiffnesses, masses), not what they were derived from. Parameter sweeps need
the latter: twice the density is another mass per length, but the same material otherwise.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, ParamSpec, TypeVar

_RECIPE = "_recipe"  # the attribute that holds it; no part of the description's value

P = ParamSpec("P")
T = TypeVar("T")


class Recipe(NamedTuple):
    """A function and the arguments it was called with."""

    make: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    def arguments(self) -> dict[str, Any]:
        """All arguments by name, with defaults for those that were not given."""
        bound = inspect.signature(self.make).bind(*self.args, **self.kwargs)
        bound.apply_defaults()
        return dict(bound.arguments)

    def changed(self, **changes: Any) -> Any:
        """The result of the same call with other values for some arguments."""
        return self.make(**(self.arguments() | changes))


def remembers(make: Callable[P, T]) -> Callable[P, T]:
    """Decorator of a function: its results remember the arguments."""

    @functools.wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> T:
        result = make(*args, **kwargs)
        object.__setattr__(result, _RECIPE, Recipe(made, args, kwargs))
        return result

    return made


def remembers_arguments(kind: type[T]) -> type[T]:
    """Decorator of a class: its objects remember the arguments of the constructor."""
    initialise = kind.__init__

    @functools.wraps(initialise)
    def remembering(self: T, *args: Any, **kwargs: Any) -> None:
        initialise(self, *args, **kwargs)
        object.__setattr__(self, _RECIPE, Recipe(kind, args, kwargs))

    kind.__init__ = remembering  # type: ignore[assignment, method-assign]
    return kind


def recipe_of(described: object) -> Recipe | None:
    """How it was made; None if it remembers nothing."""
    return vars(described).get(_RECIPE) if hasattr(described, "__dict__") else None


def values_of(described: object) -> list[Any]:
    """The values of a description, without its recipe."""
    return [value for name, value in vars(described).items() if name != _RECIPE]
