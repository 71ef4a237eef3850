"""The rows of the benchmark, in the order in which they are measured."""

from __future__ import annotations

from . import (
    blender,
    body_workloads,
    clothoid_workloads,
    compact_workloads,
    contact_workloads,
    masses,
    net_workloads,
    packaged,
    scaling,
    startup,
    workloads,
)
from .rows import Row

ROWS: tuple[Row, ...] = (
    *workloads.ROWS,
    *contact_workloads.ROWS,
    *masses.ROWS,
    *compact_workloads.ROWS,
    *net_workloads.ROWS,
    *clothoid_workloads.ROWS,
    *body_workloads.ROWS,
    *blender.ROWS,
    *scaling.ROWS,
    *startup.ROWS,
    *packaged.ROWS,
)
