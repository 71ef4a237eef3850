"""Settings of the viewport overlay."""

from bpy.props import BoolProperty, EnumProperty, FloatProperty

from ..overlay.drawing import redraw

# .blend files store the number of an item, so it must not change.
_COLOURS = [
    ("NONE", "None", "Rods are not coloured", "NONE", 0),
    ("TENSION", "Tension", "Axial force in N: red for tension, blue for compression", "NONE", 1),
    ("BENDING", "Bending", "Change of curvature relative to the rest shape, in rad/m", "NONE", 2),
    (
        "TWIST",
        "Twist",
        "Change of twist relative to the rest shape, in rad/m: red for right-handed, blue for left-handed",
        "NONE",
        3,
    ),
    ("STRETCH", "Strain", "Axial strain: change of length divided by rest length", "NONE", 4),
]


class OverlaySettings:
    show_overlay: BoolProperty(
        name="Overlay", description="Draw forces, strains, pins and contacts of the rods in the viewport", update=redraw
    )
    overlay_colour: EnumProperty(
        name="Colour",
        description="Quantity that is shown as colour along the rods",
        items=_COLOURS,
        default="TENSION",
        update=redraw,
    )
    overlay_largest: FloatProperty(
        name="Range",
        description="Magnitude at the ends of the colour scale, in the unit of the quantity. Zero uses the largest value "
        "in the frame",
        min=0.0,
        update=redraw,
    )
    overlay_pins: BoolProperty(name="Pins", description="Show the pinned points", default=True, update=redraw)
    overlay_contacts: BoolProperty(name="Contacts", description="Show the contact points", default=True, update=redraw)
    overlay_frames: BoolProperty(
        name="Material Frames",
        description="Show the orientation of the cross-sections as two directors on each segment",
        update=redraw,
    )
