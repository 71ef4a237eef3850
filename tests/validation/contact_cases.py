"""Contact and friction as data: what is set up and what mechanics expects. In SI units; another model joins by its name."""

from __future__ import annotations

import math
from typing import Any

from .cases import Case, of, runs

GRAVITY = 9.81


def incline_acceleration(slope: float, friction: float) -> float:
    """Of what slides down a slope (rad)."""
    return GRAVITY * (math.sin(slope) - friction * math.cos(slope))


def capstan(friction: float, wrap: float) -> float:
    """How many times stronger one pulls a rope that is wound around something by an angle than the other end does (Euler)."""
    return math.exp(friction * wrap)


def loose_knot_tension(bend: float, radius: float) -> float:
    """At the ends of a rod with a loose overhand knot, frictionless and thin, whose loop has this radius.

    All along a rod without friction EI curvature^2 / 2 + tension is the same; the loop is a circle, which needs no tension, and the
    ends are straight (Audoly, Clauvelin and Neukirch, 2007)."""
    return 0.5 * bend / radius**2


def rolled_speed(spin: float, radius: float, gyration: float) -> float:
    """Of what was spinning when it was laid on the ground, once it rolls: angular momentum about the line of contact stays."""
    return spin * radius * gyration**2 / (radius**2 + gyration**2)


CASES = (
    *(
        Case(
            14,
            f"capstan, {name}",
            {"wrap": wrap, "friction": 0.3},
            {"ratio": capstan(0.3, wrap)},
            of("der", "der2008")(*levels, tolerance=1e-2),
            {"ratio": published},
        )
        for name, wrap, published, levels in (
            ("half a turn", math.pi, "2.566", (20, 40)),
            ("a full turn", 2.0 * math.pi, "6.586", (40, 80)),  # with edges twice as long it sticks and slips
        )
    ),
    *(
        Case(
            15,
            f"incline, friction {friction:g}, slope {past:g} degrees beyond",
            {"friction": friction, "slope": math.atan(friction) + math.radians(past)},
            {"acceleration": incline_acceleration(math.atan(friction) + math.radians(past), friction)},
            of("der", "der2008")(96, tolerance=2e-2, order=None),
        )
        for friction in (0.1, 0.3, 0.8)
        for past in (0.5, 5.0)
    ),
    *(
        Case(
            15,
            f"incline, friction {friction:g}, slope half a degree below",
            {"friction": friction, "slope": math.atan(friction) - math.radians(0.5)},
            {"acceleration": 0.0},
            of("der", "der2008")(96, tolerance=1e-5, order=None),
        )
        for friction in (0.1, 0.3, 0.8)
    ),
    Case(
        16,
        "loose trefoil",
        {"tension": loose_knot_tension(1.0, 1.0)},
        {"radius": 1.0},
        of("der")(1, tolerance=3e-2, order=None),  # extrapolated to an infinitely thin rod
        long=True,
    ),
)


def contact_runs(*names: str) -> list[Any]:
    return runs(*names, cases=CASES)
