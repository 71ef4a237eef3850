"""Settings of the soft goal towards the drawn shape."""

from bpy.props import BoolProperty, StringProperty

from .kinds import factor, number


class FollowSettings:
    use_follow: BoolProperty(
        name="Follow Groom",
        description="Draw the rod softly to its drawn shape, which is carried by the object or the surface under its roots, and "
        "follows keyframes of control points",
    )
    follow_strength: factor(
        "Strength",
        "Strength of the pull to the drawn shape. Higher values follow more closely, zero lets go. Animate it to take hold again",
        1.0,
    )
    follow_time: number(
        "Response Time",
        "Time in which the rod follows a sudden motion of the drawn shape. Lower values are stiffer",
        0.1,
        1e-3,
        100.0,
        1.0,
        precision=3,
        step=1,
        subtype="TIME_ABSOLUTE",
    )
    follow_at_end: number(
        "Strength at End",
        "Strength at the end divided by that at the start, linear in between. Zero leaves the tips free",
        0.0,
        0.0,
        100.0,
        1.0,
        precision=3,
        step=1,
    )
    follow_group: StringProperty(
        name="Follow Group", description="Vertex group, or attribute of hair, that multiplies the strength"
    )
    follow_by_weight: BoolProperty(
        name="Strength by Weight",
        description="Multiply the strength at each control point by its goal weight. Set the goal weight in the sidebar in "
        "Edit Mode",
    )
