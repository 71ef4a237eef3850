"""The simulator: plain Python, no Blender. See `docs/architecture.md` for its rooms.

Numba and SciPy are imported when a Simulation is first made, not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .body import Body
from .contact.shapes import Box, Capsule, Cone, Cylinder, Hull, Mesh, Plane, Sphere
from .errors import TendrilError
from .forces.fields import Falloff, Field
from .material import Circle, Ellipse, Material, Rectangle, Stiffness
from .net import Corde, Net
from .rod import Rod
from .scene import Elements, Scene

if TYPE_CHECKING:
    from .bodies.outside import BodyEngine, BodyPoses
    from .cache import FrameCache
    from .frame import Frame
    from .models.clothoid.build import fit_elements
    from .simulation import Simulation

__all__ = [
    "Body",
    "BodyEngine",
    "BodyPoses",
    "Box",
    "Capsule",
    "Circle",
    "Cone",
    "Corde",
    "Cylinder",
    "Elements",
    "Ellipse",
    "Falloff",
    "Field",
    "Frame",
    "FrameCache",
    "Hull",
    "Material",
    "Mesh",
    "Net",
    "Plane",
    "Rectangle",
    "Rod",
    "Scene",
    "Simulation",
    "Sphere",
    "Stiffness",
    "TendrilError",
    "fit_elements",
]


def __getattr__(name: str) -> Any:
    if name == "Simulation":
        from .simulation import Simulation

        return Simulation
    if name == "Frame":
        from .frame import Frame

        return Frame
    if name in ("BodyEngine", "BodyPoses"):
        from .bodies import outside

        return getattr(outside, name)
    if name == "FrameCache":
        from .cache import FrameCache

        return FrameCache
    if name == "fit_elements":
        from .models.clothoid.build import fit_elements

        return fit_elements
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
