"""The simulator: plain Python, no Blender. See `docs/architecture.md` for its rooms.

Numba and SciPy are imported when a Simulation is first made, not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .contact.shapes import Box, Capsule, Cylinder, Mesh, Plane, Sphere
from .errors import TendrilError
from .material import Circle, Ellipse, Material, Stiffness
from .net import Corde, Net
from .rod import Rod
from .scene import Scene

if TYPE_CHECKING:
    from .cache import FrameCache
    from .simulation import Frame, Simulation

__all__ = [
    "Box",
    "Capsule",
    "Circle",
    "Corde",
    "Cylinder",
    "Ellipse",
    "Frame",
    "FrameCache",
    "Material",
    "Mesh",
    "Net",
    "Plane",
    "Rod",
    "Scene",
    "Simulation",
    "Sphere",
    "Stiffness",
    "TendrilError",
]


def __getattr__(name: str) -> Any:
    if name in ("Simulation", "Frame"):
        from . import simulation

        return getattr(simulation, name)
    if name == "FrameCache":
        from .cache import FrameCache

        return FrameCache
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
