"""Which solver finds the forces of contacts."""

from __future__ import annotations

from ..describe.model import model_names, model_record
from ..describe.scene import Scene
from ..errors import TendrilError

CONTACT = ("coulomb", "active set")


def chosen_contact(name: str, scene: Scene) -> str:
    """The name, if that solver can do this scene."""
    if not isinstance(name, str) or name not in CONTACT:
        raise TendrilError("contact", name, f"choose one of {', '.join(CONTACT)}")
    if name == "coulomb":
        return name
    if any(name not in model_record(entry.model).contact_solvers for entry in scene.entries):
        models = model_names(lambda record: name in record.contact_solvers)
        raise TendrilError("contact", name, f"all rods must be of the model {models}")
    if scene.bodies:
        raise TendrilError("contact", name, f"{name} knows no bodies: leave it out, or them")
    most = max([entry.friction for entry in scene.entries] + [collider.friction for collider in scene.colliders])
    if most > 0.0:
        raise TendrilError("friction", most, "the active set knows no friction: make it 0 for all rods and colliders")
    return name
