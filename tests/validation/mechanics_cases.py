"""Validation cases 25 to 33 as data: vibrations, waves, buckling, a bend in space, beam frames, a plectoneme, a gyroscope.

Units are those of `cases.py` unless a case says otherwise. Levels are numbers of segments; of elements for clothoids. Each
tolerance is about twice the error measured on the last level.
"""

from __future__ import annotations

import math
from typing import Any

from . import theory
from .cases import Case, of, runs

RING_WAVES = (2, 3, 4)
_BEND = theory.Arc(radius=100.0, angle=math.radians(45.0), bend=1e7 / 12.0, twist=5e6 / 6.0, load=600.0)
_CHAIN = theory.chain_frequencies(2)
_SECTION = {"stretch": 1e4, "bend": 1.0, "twist": 0.6}
_DISC = {"mass": 0.5, "gravity": 9.81, "arm": 0.02, "inertia": 2.5e-3, "spin": 50.0}
HIGHER = (3.0, 6.0)  # clothoids converge faster than segments

CASES = (
    Case(
        25,
        "free ring, in-plane modes",
        {"stretch": 1e5, "steps": 192},  # steps per period
        {f"{waves} waves": theory.ring_frequency(waves) for waves in RING_WAVES},
        of("der", "net", "der2008")(30, 60, 120, tolerance=5e-3) | of("compact")(30, 60, 120, tolerance=8e-3),
        {"2 waves": "2.683", "3 waves": "7.589", "4 waves": "14.552"},
    ),
    Case(
        26,
        "heavy column",
        {"near": (0.97, 0.99), "stretch": {"corde": 1e4}},
        {"load": theory.heavy_column()},
        of("der", "net", "compact", "der2008")(20, 40, 80, tolerance=2e-4)
        | of("clothoid")(2, 4, 6, tolerance=1.2e-4, order=HIGHER)
        | of("corde")(10, 20, tolerance=3e-3),
        {"load": "7.837"},
    ),
    Case(
        27,
        "bend of 45 degrees",
        _BEND._asdict(),
        dict(zip("xyz", theory.arc_tip(_BEND), strict=True)),
        of("der", "net", "der2008")(20, 40, 80, tolerance=1.5e-4)
        | of("compact")(20, 40, 80, tolerance=3e-4)
        | of("clothoid")(2, 4, 8, tolerance=6e-6, order=HIGHER),
        {"x": "15.685", "y": "47.151", "z": "53.469"},
    ),
    Case(
        28,
        "strip that buckles sideways",
        {"near": (0.99, 0.998), "strong": 1e5},
        {"load": theory.lateral_buckling()},
        of("der", "net", "compact", "der2008")(80, tolerance=2e-4, order=None)
        | of("clothoid")(2, 4, 6, tolerance=5e-4, order=HIGHER),
        {"load": "4.0126"},
    ),
    Case(
        29,
        "hanging chain",
        {"bend": 1e-8, "stretch": 1e6, "steps": 384},
        {f"mode {k + 1}": value for k, value in enumerate(_CHAIN)},
        of("der", "net", "compact", "der2008")(20, 40, 80, tolerance=1.5e-3)
        | of("clothoid")(4, 8, tolerance=4e-5, order=None),
    ),
    Case(
        29,
        "hanging chain, explicit steps",
        {"bend": 1e-5, "stretch": 1e3, "steps": 192},
        {f"mode {k + 1}": value for k, value in enumerate(_CHAIN)},
        of("corde")(40, tolerance=4e-3, order=None),
        long=True,
    ),
    Case(
        30,
        "axial wave",
        {"stiffness": 4.0, "inertia": 1.0, "steps": 640},
        {"speed": math.sqrt(4.0)},
        of("der", "net", "corde")(5, 10, 20, tolerance=6e-4),
    ),
    Case(
        30,
        "torsional wave",
        {"stiffness": 3.0, "inertia": 0.5, "steps": 640},
        {"speed": math.sqrt(3.0 / 0.5)},
        of("der", "net", "compact", "corde")(5, 10, 20, tolerance=6e-4)
        | of("clothoid")(2, 4, tolerance=5e-5, order=HIGHER),
    ),
    # `corde` is left out: its joints reach half a segment into each beam, so it converges only to first order.
    Case(
        31,
        "grillage of 3 x 3 beams",
        {**_SECTION, "load": 1e-4},
        {"error": 0.0},
        of("net")(4, 8, 16, tolerance=1.3e-3),  # segments from joint to joint
    ),
    Case(
        31,
        "T-junction in torsion",
        {**_SECTION, "load": 1e-4},
        {"error": 0.0},
        of("net", "compact")(8, 16, 32, tolerance=9e-4),
    ),
    *(
        Case(
            32,
            f"plectoneme, {per_turn} segments per turn",
            {"angle": math.radians(25.0), "radius": 0.01, "bend": 1.0, "twist": 0.8},
            {"angle": math.radians(25.0)},
            of(*models)(per_turn, tolerance=1e-2, order=None),
            long=per_turn > 16,
        )
        for per_turn, models in ((16, ("der",)), (24, ("der", "net")))
    ),
    Case(
        33,
        "gyroscope on a string",
        _DISC,
        {"precession": theory.precession(**_DISC)},
        of("der", "net")(96, tolerance=1e-4, order=None)  # steps per second
        | of("compact", "clothoid")(240, tolerance=2.5e-3, order=None),  # backward Euler where bodies are attached
    ),
)


def mechanics_runs(*names: str) -> list[Any]:
    return runs(*names, cases=CASES)


def of_model(value: Any, model: str, otherwise: float) -> float:
    """A stiffness that explicit models need lower than the others, because stretching waves limit their time step."""
    return float(value.get(model, otherwise))
