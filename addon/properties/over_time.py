"""Settings of a rod that can be animated during the simulation."""

from .kinds import factor, number


def _animated_factor(name: str, description: str, least: float, largest: float, shown: float = 10.0) -> object:
    return number(name, description, 1.0, least, largest, shown, soft_min=0.0, precision=2, step=1)


class OverTimeSettings:
    stiffness_factor: _animated_factor(
        "Stiffness",
        "Bending and torsional stiffness relative to the type: 1 is that of the type. Higher values make the rod stiffer",
        1e-4,
        1e4,
        4.0,
    )
    damping_factor: _animated_factor(
        "Damping",
        "Damping relative to the type: 1 is that of the type. Higher values make swings and vibrations end sooner",
        0.0,
        1e4,
        4.0,
    )
    length_factor: _animated_factor(
        "Growth",
        "Factor for the length and the mass, relative to the value at the start frame. Higher values make the rod longer",
        1e-3,
        1e3,
    )
    curl_factor: _animated_factor(
        "Curl",
        "Factor for the curvature of the rest shape: 0 is straight, -1 curls in the opposite direction",
        -1e3,
        1e3,
    )
    pin_influence: factor(
        "Pin Influence",
        "How firmly the pins of this object hold: 1 is rigid, 0 lets go, and anything between is a spring. Animate it to release "
        "the rod, or to take hold of it again",
        1.0,
    )
