"""Stiffnesses given directly, and initial twist: for research, where no material applies."""

import math

from bpy.props import FloatProperty

from .kinds import number


class StiffnessSettings:
    bending_stiffness: number(
        "Bending Stiffness (N m²)",
        "Bending stiffness EI of the cross-section; of a flat one, across its width. Zero uses that of the material",
        0.0,
        0.0,
        1e12,
        10.0,
        precision=6,
        step=1,
    )
    bending_stiffness_2: number(
        "Flat Bending Stiffness (N m²)",
        "Bending stiffness EI of a flat cross-section towards its flat side. Zero uses that of the material",
        0.0,
        0.0,
        1e12,
        10.0,
        precision=6,
        step=1,
    )
    torsional_stiffness: number(
        "Torsional Stiffness (N m²)",
        "Torsional stiffness GJ of the cross-section. Zero uses that of the material",
        0.0,
        0.0,
        1e12,
        10.0,
        precision=6,
        step=1,
    )
    axial_stiffness: number(
        "Axial Stiffness (N)",
        "Axial stiffness EA of the cross-section. Zero uses that of the material",
        0.0,
        0.0,
        1e15,
        1e6,
        precision=3,
        step=100,
    )
    initial_twist: FloatProperty(
        name="Initial Twist",
        description="Angle by which the rod is twisted from its start to its end when the simulation starts, evenly and on top of "
        "the rest shape. Of a cyclic spline, the angle by which one face of the cut was turned before it was glued together",
        default=0.0,
        soft_min=-40.0 * math.pi,
        soft_max=40.0 * math.pi,
        step=1000,
        precision=2,
        subtype="ANGLE",
    )
