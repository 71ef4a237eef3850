"""Settings for comparisons with the papers: integrator, contact solver, kind of elements, constants of CoRdE."""

from bpy.props import EnumProperty, IntProperty

from .kinds import number


class ResearchScene:
    """Shared by all rods of a scene."""

    integrator: EnumProperty(
        name="Integrator",
        description="Time integration of all rods. Each model has some of the schemes, and published models have their own",
        # .blend files store the number of an item, so it must not change.
        items=[
            ("tr-bdf2", "TR-BDF2", "Second order, keeps swing and spin of stiff rods", "NONE", 0),
            (
                "sdirk2",
                "SDIRK2",
                "Second order, but first order on stiff rods. Not for Inextensible and Curls",
                "NONE",
                1,
            ),
            ("backward euler", "Backward Euler", "First order, takes most energy out", "NONE", 2),
            (
                "midpoint",
                "Implicit Midpoint",
                "Second order, conserves energy and needs many substeps. Not for Inextensible and Curls",
                "NONE",
                3,
            ),
            (
                "semi-implicit euler",
                "Semi-Implicit Euler",
                "First order, linear in the new velocities: the step of Super Space Clothoids. For Curls only",
                "NONE",
                4,
            ),
        ],
    )
    contact_solver: EnumProperty(
        name="Contact Solver",
        description="How contact forces are found",
        items=[
            ("coulomb", "Coulomb", "Contact with friction, for all models", "NONE", 0),
            (
                "active set",
                "Active Set",
                "Contact forces are unknowns of each iteration (Zhao et al., 2022, appendix B). For Inextensible without rigid "
                "bodies, and with a friction of zero for all rods and colliders",
                "NONE",
                1,
            ),
        ],
    )


class ResearchSettings:
    """Of a rod."""

    element_kind: EnumProperty(
        name="Element Shape",
        description="Curvature within an element of the model Curls",
        items=[
            (
                "CLOTHOID",
                "Clothoid",
                "Curvature and twist change evenly along an element: super space clothoids",
                "NONE",
                0,
            ),
            ("HELIX", "Helix", "Curvature and twist are constant in an element: super helices", "NONE", 1),
        ],
    )
    corde_alpha: number(
        "Ghost Inertia",
        "Factor α on the rotational inertia of the frames across the rod. Lower values are more accurate and need more steps",
        0.01,
        1e-9,
        1e6,
        1.0,
        precision=4,
        step=1,
    )
    corde_kappa: number(
        "Alignment κ (N)",
        "Stiffness of the constraint that aligns frames with segments. Zero uses the axial stiffness",
        0.0,
        0.0,
        1e15,
        1e6,
        precision=3,
        step=100,
    )
    corde_gamma_t: number(
        "Friction γt (kg m/s)",
        "Internal friction of stretching",
        0.0,
        0.0,
        1e9,
        100.0,
        precision=4,
        step=1,
    )
    corde_gamma_r: number(
        "Friction γr (kg m³/s)",
        "Internal friction of bending and twisting",
        0.0,
        0.0,
        1e9,
        10.0,
        precision=6,
        step=1,
    )
    corde_inertia: number(
        "Frame Inertia (kg m)",
        "Rotational inertia per length of the frames across the rod, before it is multiplied by the ghost inertia. Zero uses that "
        "of the cross-section",
        0.0,
        0.0,
        1e9,
        1.0,
        precision=6,
        step=1,
    )
    corde_step: number(
        "Longest Step",
        "Longest time step of the model. Zero uses the longest stable one",
        0.0,
        0.0,
        1.0,
        0.01,
        precision=6,
        step=0.1,
        subtype="TIME_ABSOLUTE",
    )
    corde_substeps: IntProperty(
        name="Frame Substeps",
        description="Steps of the frames per step of the points. Zero uses as few as are stable",
        default=0,
        min=0,
        max=1_000_000,
        soft_max=200,
    )
