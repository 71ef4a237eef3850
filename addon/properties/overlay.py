"""What the viewport shows of rods beyond their shape."""

from bpy.props import BoolProperty, EnumProperty, FloatProperty

from ..overlay.drawing import redraw

# The numbers are what files keep.
_COLOURS = [
    ("NONE", "None", "Rods are not coloured", "NONE", 0),
    ("TENSION", "Tension", "Pulling force: red where pulled, blue where pushed together", "NONE", 1),
    ("BENDING", "Bending", "How much more the rod is curved than at rest", "NONE", 2),
    ("TWIST", "Twist", "How much the rod is twisted beyond its rest: red to the right, blue to the left", "NONE", 3),
    ("STRETCH", "Strain", "By which part the rod is longer than at rest", "NONE", 4),
]


class OverlaySettings:
    show_overlay: BoolProperty(
        name="Overlay", description="Show in the viewport what the rods of the scene feel", update=redraw
    )
    overlay_colour: EnumProperty(
        name="Colour", description="What rods are coloured by", items=_COLOURS, default="TENSION", update=redraw
    )
    overlay_largest: FloatProperty(
        name="Range",
        description="What the ends of the colours stand for: newtons, radians per metre, or a part of the length. With zero "
        "it is the largest that occurs",
        min=0.0,
        update=redraw,
    )
    overlay_pins: BoolProperty(name="Pins", description="Show where rods are held", default=True, update=redraw)
    overlay_contacts: BoolProperty(
        name="Contacts", description="Show where rods touch something", default=True, update=redraw
    )
    overlay_frames: BoolProperty(
        name="Material Frames",
        description="Show how cross-sections are turned: two directions on each segment",
        update=redraw,
    )
