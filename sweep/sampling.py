"""Which variants a sweep consists of: values per parameter, combined by a grid, at random, or by a Latin hypercube."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.errors import TendrilError, whole

SAMPLINGS = ("grid", "random", "latin")
MOST_VARIANTS = 100_000

Values = tuple[tuple[str, Any], ...]  # of one variant: parameter and value


@dataclass(frozen=True)
class Axis:
    """The values of one parameter: a list, or a range from `low` to `high`, divided evenly or in even ratios (`logarithmic`)."""

    path: str
    listed: tuple[Any, ...] = ()
    low: float = 0.0
    high: float = 0.0
    count: int | None = None  # values of a range in a grid
    logarithmic: bool = False

    def in_grid(self) -> tuple[Any, ...]:
        if self.listed:
            return self.listed
        if self.count is None:
            cure = "a grid needs a number of values: write LOW:HIGH:COUNT, or choose another sampling"
            raise TendrilError(f"--set {self.path}", f"{self.low:g}:{self.high:g}", cure)
        if self.count == 1:
            return (self.low,)
        values = [self.at(k / (self.count - 1)) for k in range(self.count)]
        return (*values[:-1], self.high)  # exactly, whatever round-off does to the logarithm

    def at(self, share: float) -> Any:
        """The value at a place from 0 to 1 along the axis."""
        if self.listed:
            return self.listed[min(int(share * len(self.listed)), len(self.listed) - 1)]
        if self.logarithmic:
            return float(math.exp(math.log(self.low) + share * (math.log(self.high) - math.log(self.low))))
        return float(self.low + share * (self.high - self.low))


def parse_axis(text: str) -> Axis:
    """PATH=VALUE,VALUE,... or PATH=LOW:HIGH, PATH=LOW:HIGH:COUNT, PATH=LOW:HIGH:COUNT:log."""
    path, equals, rest = (part.strip() for part in text.partition("="))
    if not path or not equals or not rest:
        raise TendrilError("--set", text, "write PARAMETER=VALUE,VALUE,... or PARAMETER=LOW:HIGH:COUNT")
    if ":" in rest and "," not in rest:
        return _range(path, rest)
    listed = tuple(parse_value(word) for word in _split(rest))
    return Axis(path, _without_repeats(path, listed))


def _range(path: str, text: str) -> Axis:
    words = [word.strip() for word in text.split(":")]
    logarithmic = words[-1] == "log"
    words = words[:-1] if logarithmic else words
    cure = "write LOW:HIGH, LOW:HIGH:COUNT or LOW:HIGH:COUNT:log, with numbers and a count from 1"
    try:
        low, high = float(words[0]), float(words[1])
        count = int(words[2]) if len(words) > 2 else None
    except (ValueError, IndexError):
        raise TendrilError(f"--set {path}", text, cure) from None
    if len(words) > 3 or not (math.isfinite(low) and math.isfinite(high)) or (count is not None and count < 1):
        raise TendrilError(f"--set {path}", text, cure)
    if logarithmic and (low <= 0.0 or high <= 0.0):
        raise TendrilError(f"--set {path}", text, "even ratios need bounds above zero")
    _check_number(count or 0)
    return Axis(path, (), low, high, count, logarithmic)


def _split(text: str) -> list[str]:
    """At commas outside of brackets, so that values can be vectors such as (0,0,-9.81)."""
    words, depth, start = [], 0, 0
    for k, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            words.append(text[start:k])
            start = k + 1
    return [word.strip() for word in (*words, text[start:])]


def parse_value(word: str) -> Any:
    """A number, a truth value, a tuple; anything else is text."""
    try:
        value = ast.literal_eval(word)
    except (ValueError, SyntaxError, RecursionError, MemoryError):  # the latter two for thousands of brackets or signs
        if not word:
            raise TendrilError("--set", word, "a value is missing before or after a comma") from None
        return word
    return tuple(value) if isinstance(value, list) else value


def _without_repeats(path: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(set(map(repr, values))) < len(values):
        raise TendrilError(f"--set {path}", ",".join(map(str, values)), "give each value once")
    return values


def samples(axes: Sequence[Axis], sampling: str = "grid", count: int | None = None, seed: int = 0) -> list[Values]:
    """The values of all variants. `count` and `seed` are for random and Latin hypercube sampling; the latter puts exactly one
    variant in each of `count` equal parts of every axis."""
    if not axes:
        raise TendrilError("--set", None, "the grid is empty: name at least one parameter with its values")
    paths = [axis.path for axis in axes]
    repeated = next((path for path in paths if paths.count(path) > 1), None)
    if repeated is not None:
        raise TendrilError("--set", repeated, "give all values of a parameter at once")
    if sampling not in SAMPLINGS:
        raise TendrilError("--sampling", sampling, f"choose one of {', '.join(SAMPLINGS)}")
    if sampling == "grid":
        if count is not None:
            raise TendrilError("--samples", count, "a grid has as many variants as combinations: leave it out")
        lists = [axis.in_grid() for axis in axes]
        _check_number(math.prod(map(len, lists)))
        return [tuple(zip(paths, values, strict=True)) for values in itertools.product(*lists)]
    if count is None:
        raise TendrilError("--samples", None, f"{sampling} sampling needs the number of variants")
    _check_number(whole("--samples", count, 1))
    random = np.random.default_rng(whole("--seed", seed, 0))
    shares = random.random((count, len(axes)))
    if sampling == "latin":
        cells = np.stack([random.permutation(count) for _ in axes], axis=1)
        shares = (cells + shares) / count
    return [
        tuple((axis.path, axis.at(share)) for axis, share in zip(axes, row, strict=True)) for row in shares.tolist()
    ]


def _check_number(count: int) -> None:
    if count > MOST_VARIANTS:
        raise TendrilError("the number of variants", count, f"a sweep has at most {MOST_VARIANTS}: give fewer values")
