"""The validation cases as data: what is set up, what mechanics expects, and how well each model must meet it.

Everything is in units of the rod: length, bending stiffness EI and mass per length are 1, so forces count in EI/L2.
Another model joins a case by its name in `models`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from . import theory

Order = tuple[float, float]
SECOND: Order = (1.8, 2.3)
FIRST: Order = (0.8, 1.2)


@dataclass(frozen=True)
class Refinement:
    """The levels on which a model runs a case, and what must come out."""

    levels: tuple[int, ...]  # numbers of segments; of steps per second where the case says so
    tolerance: float  # relative, on the last level
    order: Order | None = SECOND  # limits of the order fitted to the errors of all levels


@dataclass(frozen=True)
class Case:
    number: int
    name: str
    parameters: dict[str, Any]
    expected: dict[str, float]
    models: dict[str, Refinement]
    published: dict[str, str] = field(default_factory=dict)  # expected numbers as the literature prints them
    long: bool = False  # one of a sweep that takes its time

    def error(self, measured: dict[str, float]) -> float:
        """All deviations together, so that one which happens to change its sign does not feign convergence."""
        assert measured.keys() == self.expected.keys()
        return math.hypot(*((measured[key] - value) / (abs(value) or 1.0) for key, value in self.expected.items()))

    def check(self, model: str, measure: Callable[[int], dict[str, float]]) -> None:
        """Asserts error and order of a model; `measure` gives what it finds on a level."""
        refinement = self.models[model]
        errors = [self.error(measure(level)) for level in refinement.levels]
        story = f"{self.name}, {model}: errors {errors} on levels {refinement.levels}"
        assert errors[-1] < refinement.tolerance, story
        if refinement.order is not None:
            low, high = refinement.order
            assert low <= fitted_order(refinement.levels, errors) <= high, story


def fitted_order(levels: Iterable[int], errors: Iterable[float]) -> float:
    """The slope of a straight line through the logarithms."""
    return float(-np.polyfit(np.log(list(levels)), np.log(list(errors)), 1)[0])


def runs(*names: str, cases: tuple[Case, ...] | None = None) -> list[Any]:
    """Parameters (case, model) for a test of the cases whose names begin with one of these; unless given, of those below."""
    found = [case for case in cases or CASES if case.name.startswith(names)]
    assert all(any(case.name.startswith(name) for case in found) for name in names)
    return [
        pytest.param(
            case, model, id=f"{case.number} {case.name}, {model}", marks=[pytest.mark.long] if case.long else []
        )
        for case in found
        for model in case.models
    ]


def of(*models: str) -> Callable[..., dict[str, Refinement]]:
    """The same levels, tolerance and order for these models. Strains of `compact`, sines of half an angle, are farther from the
    angle than those of the others: some of its tolerances are its own."""

    def refined(*levels: int, tolerance: float, order: Order | None = SECOND) -> dict[str, Refinement]:
        return {model: Refinement(levels, tolerance, order) for model in models}

    return refined


_SIXTY_DEGREES = math.radians(60.0)
_BUCKLED = theory.pinned_elastica(_SIXTY_DEGREES)
_HEAVY = theory.heavy_cantilever(1.0)
_CHAIN = theory.catenary(1.0, 1.5)
_WAVES = theory.cantilever_wave_numbers(3)
_LONG = 1000.0  # tension at which a rod between clamps is long: M^2 is off 4 EI T by one part in a hundred

CASES = (
    *(
        Case(
            1,
            f"cantilever, tip load {load:g}",
            {"load": load},
            theory.loaded_cantilever(load)._asdict(),
            of("der", "der2008")(40, 80, 160, tolerance=5e-5) | of("compact")(40, 80, 160, tolerance=7e-5),
            {"x": x, "y": y},
        )
        for load, x, y in (
            (1.0, "0.94357", "0.30172"),
            (2.0, "0.83936", "0.49346"),
            (5.0, "0.61237", "0.71379"),
            (10.0, "0.44500", "0.81061"),
        )
    ),
    *(
        Case(
            1,
            f"cantilever, tip load 5, {name}",
            {"load": 5.0, **options},
            theory.loaded_cantilever(5.0)._asdict(),
            of("der", "der2008", "compact")(40, 80, 160, tolerance=5e-5),
        )
        for name, options in (
            ("uneven mesh", {"uneven": 0.4}),
            ("towards the first director", {"bend": (1.0, 3.0), "director": (0.0, 0.0, 1.0)}),
            ("towards the second director", {"bend": (3.0, 1.0), "director": (0.0, 1.0, 0.0)}),
        )
    ),
    Case(
        2,
        "heavy cantilever, weight 1",
        {"weight": 1.0},
        {"x": _HEAVY.x, "y": _HEAVY.y, "y/x": _HEAVY.y / _HEAVY.x},
        of("der", "der2008", "compact")(40, 80, 160, tolerance=1e-4),
        {"y/x": "0.12456"},
    ),
    Case(
        2,
        "heavy cantilever, light",
        {"weight": 1e-2},
        {"x": 1.0, "y": 1e-2 / 8.0, "y/x": 1e-2 / 8.0},
        of("der", "der2008", "compact")(40, 80, 160, tolerance=1e-4),
    ),
    Case(
        3,
        "end moment",
        {"turn": 2.0 * math.pi},
        {"moment": 2.0 * math.pi, "energy": 2.0 * math.pi**2, "radius": 0.5 / math.pi, "gap": 0.0},
        of("der", "der2008", "compact")(20, 40, 80, tolerance=3e-3),
    ),
    *(
        Case(
            4,
            f"critical load, {ends}",
            {"ends": ends},
            {"load": theory.EULER_LOAD[ends]},
            of("der", "compact")(20, 40, 80, tolerance=tolerance),
        )
        for ends, tolerance in (("pinned", 2e-4), ("cantilever", 5e-5), ("clamped", 1e-3))
    ),
    Case(
        4,
        "buckled between pins",
        {"span": _BUCKLED.span},
        {"load": _BUCKLED.load / math.pi**2, "height": _BUCKLED.height, "end angle": _SIXTY_DEGREES},
        of("der", "compact")(20, 40, 80, tolerance=1e-3),
        {"load": "1.1517", "height": "0.2966"},
    ),
    *(
        Case(
            5,
            f"twisted ring, GJ/EI = {ratio:g}",
            {"twist_to_bend": ratio},
            {"twist": theory.michell_twist(ratio)},
            of("der", "der2008")(30, 60, 120, tolerance=3e-3),
            long=ratio in (0.2, 5.0),
        )
        for ratio in (0.2, 0.5, 1.0, 2.0, 5.0)
    ),
    Case(
        6,
        "twisted rod, no tension",
        {"tension": 0.0},
        {"moment": theory.greenhill_moment(0.0)},
        of("der")(40, 80, 160, tolerance=3e-4),
        {"moment": "8.98682"},
    ),
    *(
        Case(
            6,
            f"twisted rod, tension {tension:g}",
            {"tension": tension},
            {"moment": theory.greenhill_moment(tension)},
            of("der")(*levels, tolerance=2e-3),
            long=tension > _LONG,
        )
        for tension, levels in (
            (10.0, (40, 80, 160)),
            (100.0, (40, 80, 160)),
            (_LONG, (80, 160, 320)),
            (4e3, (160, 320, 640)),
        )
    ),
    Case(
        6,
        "twisted rod, long",
        {"tension": _LONG},
        {"moment": math.sqrt(4.0 * _LONG)},
        of("der")(320, tolerance=1e-2, order=None),
    ),
    *(
        Case(
            7,
            f"localised buckling, {mesh}",
            {"refined": refined},
            {"error": 0.0},
            of("der", "der2008")(*levels, tolerance=tolerance, order=order),
            long=len(levels) > 2,
        )
        for mesh, refined in (("even mesh", False), ("one half refined", True))
        for levels, tolerance, order in (((150, 300), 0.06, (1.7, 2.2)), ((150, 300, 600), 0.02, SECOND))
    ),
    Case(
        8,
        "cantilever modes",
        {},
        {f"mode {k + 1}": b**2 for k, b in enumerate(_WAVES)},
        of("der")(20, 40, 80, tolerance=2e-3),
    ),
    Case(
        8,
        "cantilever swinging",
        {"speed": 0.01},
        {"frequency": _WAVES[0] ** 2, "kept": 1.0},
        of("der")(40, tolerance=1e-3, order=None),
    ),
    Case(
        12,
        "catenary",
        {"span": 1.0, "length": 1.5},
        {"a": _CHAIN.a, "sag": _CHAIN.sag},
        of("der", "compact")(20, 40, 80, tolerance=2e-4),
        {"a": "0.308236", "sag": "0.502633"},
    ),
    Case(
        13,
        "closed rod, jumping",
        {"turns": 1.3, "sideways": 0.0, "speed": 1.0},
        {"change": 0.0},
        of("der", "der2008")(60, tolerance=1e-12, order=None),
    ),
    Case(
        13,
        "closed rod, flung through itself",
        {"turns": 3.0, "sideways": 1.0, "speed": 8.0},
        {"change": 0.0},
        of("der", "der2008")(60, tolerance=1e-12, order=None),
    ),
    Case(
        17,
        "free flight, linear momentum",
        {"inertia": 2e-3, "twist": 6.0},
        {"change": 0.0},
        of("der", "der2008")(192, 1536, tolerance=5e-11, order=None),
    ),
    Case(
        17,
        "free flight, angular momentum",
        {"inertia": 1e-9, "twist": 0.0},
        {"change": 0.0},
        of("der")(192, 384, 768, 1536, tolerance=1e-6)
        # Fast projection is of first order: it dissipates, as the paper says.
        | of("der2008")(768, 1536, 3072, 6144, tolerance=1e-2, order=FIRST),
    ),
    Case(
        17,
        "free flight, spinning",
        {"inertia": 2e-3, "twist": 6.0},
        {"change": 0.0},
        of("der")(192, 384, 768, tolerance=1e-4),
    ),
    Case(
        17,
        "rigid motion",
        {},
        {"energy": 0.0},
        of("der", "der2008")(20, tolerance=1e-12, order=None),
    ),
)
