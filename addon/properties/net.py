"""Settings of nets: meshes, and curves whose splines are tied together."""

from bpy.props import BoolProperty, EnumProperty

from .kinds import distance, number


class NetSettings:
    net_model: EnumProperty(
        name="Model",
        description="Mechanical model of the net",
        items=[
            (
                "net",
                "Elastic Net",
                "Elastic segments with joints that transmit bending and twisting. Stable at any stiffness",
            ),
            (
                "corde",
                "CoRdE 2009",
                "Explicit model as published in 2009, for comparison. It takes many small steps and does not break",
            ),
            (
                "compact",
                "Inextensible Tree",
                "Tree of segments that never stretch. Loops and breaking are not supported",
            ),
        ],
    )
    tie_splines: BoolProperty(
        name="Tie Splines",
        description="Join splines where they touch or cross, and simulate all splines as one net",
    )
    tie_distance: distance(
        "Distance",
        "Splines closer than this distance are tied, so higher values tie more of them. Zero uses twice the largest radius",
        0.0,
        10.0,
        0.5,
        min=0.0,
    )
    break_force: number(
        "Break Force (N)",
        "Tension above which a segment tears. Higher values make the net stronger, zero disables tearing",
        0.0,
        0.0,
        1e12,
        1e5,
        precision=1,
        step=1000,
    )
    break_moment: number(
        "Break Moment (N m)",
        "Bending or torsional moment above which a joint becomes a hinge. Higher values make joints stronger, zero "
        "disables breaking",
        0.0,
        0.0,
        1e12,
        1e4,
        precision=2,
        step=100,
    )
