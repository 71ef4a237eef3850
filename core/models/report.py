"""What stepping kernels count, one row per rod."""

from __future__ import annotations

import numpy as np

from ..errors import Array
from .protocol import Work

# Columns of the report. A model may count more after these.
ITERATIONS, RESIDUAL, HALVINGS, FALLBACKS, FAILURES = range(5)
COLUMNS = 5


def take_work(report: Array) -> Work:
    """The sum over all rods (the largest residual), and a report that begins anew."""
    work = Work(
        iterations=int(report[:, ITERATIONS].sum()),
        residual=float(report[:, RESIDUAL].max()),
        halvings=int(report[:, HALVINGS].sum()),
        fallbacks=int(report[:, FALLBACKS].sum()),
        failures=int(report[:, FAILURES].sum()),
        affected=frozenset(np.flatnonzero(report[:, FAILURES]).tolist()),
    )
    report[:] = 0.0
    return work
