"""What may change while a rod moves."""

from .kinds import factor, number


def _times(name: str, description: str, least: float, largest: float) -> object:
    return number(name, f"{description}. Animate it", 1.0, least, largest, 10.0, soft_min=0.0, precision=3, step=1)


class OverTimeSettings:
    stiffness_factor: _times("Stiffness", "Multiplies the stiffness against bending and twisting", 1e-4, 1e4)
    damping_factor: _times("Damping", "Multiplies the inner friction", 0.0, 1e4)
    length_factor: _times(
        "Growth", "The rod gets longer, and heavier, as this grows over its value at the start frame", 1e-3, 1e3
    )
    curl_factor: _times(
        "Curl", "Multiplies the curvature of the rest shape: 0 is straight, -1 curls the other way", -1e3, 1e3
    )
    pin_influence: factor(
        "Pin Influence",
        "Below a half the pins of this object let go. Animate it to release the rod on the way; then it stays free",
        1.0,
    )
