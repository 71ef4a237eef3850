"""The simulator, independent of Blender. `docs/architecture.md` describes its packages.

Numba and SciPy are imported when a Simulation is first created.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .describe.body import Body
from .describe.fields import Falloff, Field
from .describe.material import Circle, Ellipse, Material, Rectangle, Stiffness
from .describe.model import ModelRecord, register_model
from .describe.net import Corde, Net
from .describe.rod import Rod
from .describe.scene import Elements, Scene
from .describe.shapes import Box, Capsule, Cone, Cylinder, Hull, Mesh, Plane, Sphere
from .errors import TendrilError
from .models import registry as _registry  # noqa: F401 - registers the models that come with Tendril

if TYPE_CHECKING:
    from .contact.bodies.outside import BodyEngine, BodyPoses
    from .models.clothoid.build import fit_elements
    from .run.frame import Frame
    from .run.simulation import Simulation
    from .store.cache import FrameCache

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
    "ModelRecord",
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
    "register_model",
]


def __getattr__(name: str) -> Any:
    if name == "Simulation":
        from .run.simulation import Simulation

        return Simulation
    if name == "Frame":
        from .run.frame import Frame

        return Frame
    if name in ("BodyEngine", "BodyPoses"):
        from .contact.bodies import outside

        return vars(outside)[name]
    if name == "FrameCache":
        from .store.cache import FrameCache

        return FrameCache
    if name == "fit_elements":
        from .models.clothoid.build import fit_elements

        return fit_elements
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
