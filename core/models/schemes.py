"""The integrators, as records in a table.

Every implicit stage of a scheme is a backward Euler step of the same length g h from a point (q*, v*), so that all stages share one
kind of matrix (a singly diagonally implicit Runge-Kutta scheme). With k_j = (v_j, a_j) the derivatives of earlier stages, the point
of stage i is y + g h sum_j carried[i][j] k_j: the Butcher tableau's row below its diagonal, divided by g. Schemes whose first stage
is explicit also carry k_0, the derivative at the start of the step.

- Backward Euler: one stage of length h. First order, L-stable; it takes most energy out.
- SDIRK2 (Alexander 1977): y1 = y + g h f(y1), y' = y + (1 - g) h f(y1) + g h f(y'), with g = 1 - 1/sqrt(2). Second order, L-stable.
- TR-BDF2 (Bank et al. 1985): the trapezoidal rule to 2 g h, then BDF2 to h; both stages are of the same length g h. Second order,
  L-stable, and with its explicit first stage of stage order two: it stays second order on stiff springs, where SDIRK2 drops to
  first order and drains the motion. It needs the acceleration at the start of the step, see `elastic/start.py`. A failed step is
  halved twice before backward Euler replaces it.
- Implicit midpoint: a backward Euler step to the middle of the step, extrapolated to its end. Second order, keeps energy.
- Semi-implicit Euler (Casati and Bertails-Descoubes 2013, section 7.2) is linear in the new velocities and has no stages.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

GAMMA = 1.0 - math.sqrt(0.5)
# In the second stage of TR-BDF2 y* = BDF2_WEIGHT y_1 - (BDF2_WEIGHT - 1) y_0.
BDF2_WEIGHT = 0.5 * (1.0 + math.sqrt(2.0))
START = 1.0 / 16.0  # of a step: the short backward Euler steps that estimate the acceleration where it is not known


class Scheme(NamedTuple):
    name: str
    length: float  # of an implicit stage, in steps
    ends: tuple[float, ...] = (1.0,)  # the part of the step that is over at the end of each stage
    carried: tuple[tuple[float, ...], ...] = ((),)  # of each stage: weights of earlier stages' derivatives, in lengths
    explicit: tuple[float, ...] = ()  # of each stage: what is added to the weight of the derivative at the step's start
    extrapolated: bool = False  # the step goes twice as far as its last stage
    watched: bool = False  # a step that gains energy from nowhere is rejected, see `ladder.py`
    fall_back: str = ""  # the scheme to try where this one fails
    shortest: float = 1.0  # failed steps are halved down to this part before the fall-back is tried


TABLE = (
    Scheme("backward euler", 1.0),
    Scheme(
        "sdirk2", GAMMA, (GAMMA, 1.0), ((), ((1.0 - GAMMA) / GAMMA,)), watched=True, fall_back="backward euler"
    ),
    Scheme(
        "tr-bdf2", GAMMA, (2.0 * GAMMA, 1.0), ((), (BDF2_WEIGHT,)), explicit=(1.0, BDF2_WEIGHT - 1.0), watched=True,
        fall_back="backward euler", shortest=0.25,
    ),
    Scheme("midpoint", 0.5, (0.5,), extrapolated=True, watched=True, fall_back="tr-bdf2"),
    Scheme("semi-implicit euler", 1.0, fall_back="backward euler"),
)  # fmt: skip


class Stage(NamedTuple):
    """One implicit stage of a coupled step: a backward Euler step of length g h from a shifted start, see `Scheme`."""

    end: float = 1.0  # the part of the step that is over at its end
    carried: float = 0.0  # weight of the derivative at the end of the stage before; zero: this is the first stage
    explicit: float = 0.0  # what is added to the weight of the derivative at the step's start


WHOLE_STEP = Stage()  # that of backward Euler


def stages_of(scheme: Scheme) -> tuple[Stage, ...]:
    """The stages of a scheme of at most two, in order."""
    assert len(scheme.ends) <= 2
    explicit = scheme.explicit or (0.0,) * len(scheme.ends)
    carried = [weights[-1] if weights else 0.0 for weights in scheme.carried]
    return tuple(Stage(*row) for row in zip(scheme.ends, carried, explicit, strict=True))


NUMBER = {scheme.name: number for number, scheme in enumerate(TABLE)}
BACKWARD_EULER, SDIRK2, TR_BDF2 = NUMBER["backward euler"], NUMBER["sdirk2"], NUMBER["tr-bdf2"]
SEMI_IMPLICIT = NUMBER["semi-implicit euler"]

# The table as arrays, for kernels; the first index is the scheme's number.
_MOST = max(len(scheme.ends) for scheme in TABLE)
STAGES = np.array([len(scheme.ends) for scheme in TABLE])
LENGTH = np.array([scheme.length for scheme in TABLE])
ENDS = np.array([scheme.ends + (1.0,) * (_MOST - len(scheme.ends)) for scheme in TABLE])
CARRIED = np.zeros((len(TABLE), _MOST, _MOST))
EXPLICIT = np.array([scheme.explicit + (0.0,) * (_MOST - len(scheme.explicit)) for scheme in TABLE])
SHORTEST = np.array([scheme.shortest for scheme in TABLE])
EXTRAPOLATED = np.array([scheme.extrapolated for scheme in TABLE])
WATCHED = np.array([scheme.watched for scheme in TABLE])
FALL_BACK = np.array([NUMBER.get(scheme.fall_back, -1) for scheme in TABLE])
for _number, _scheme in enumerate(TABLE):
    for _stage, _weights in enumerate(_scheme.carried):
        CARRIED[_number, _stage, : len(_weights)] = _weights
