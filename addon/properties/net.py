"""Nets: meshes, and curves whose splines are tied together."""

from bpy.props import BoolProperty, EnumProperty

from .kinds import distance, number


class NetSettings:
    net_model: EnumProperty(
        name="Model",
        description="How the net is computed",
        items=[
            ("net", "Elastic Net", "Joints carry bending and twist; calm at any stiffness"),
            ("corde", "CoRdE 2009", "As first published: many short steps, no breaking. For comparison"),
            (
                "compact",
                "Inextensible Tree",
                "Never stretches, whatever pulls on it; without loops, and without breaking",
            ),
        ],
    )
    tie_splines: BoolProperty(
        name="Tie Splines",
        description="Splines that touch or cross each other are joined there, and all together are one net",
    )
    tie_distance: distance(
        "Distance",
        "Splines are tied where they are nearer than this; zero is twice the radius, the largest if it varies",
        0.0,
        10.0,
        0.5,
        min=0.0,
    )
    break_force: number(
        "Break Force (N)",
        "A segment that is pulled harder breaks, and carries nothing any more. Zero never breaks",
        0.0,
        0.0,
        1e12,
        1e5,
        precision=1,
        step=1000,
    )
    break_moment: number(
        "Break Moment (N m)",
        "A segment that is bent or twisted harder at a joint comes loose there, like a hinge. Zero never breaks",
        0.0,
        0.0,
        1e12,
        1e4,
        precision=2,
        step=100,
    )
