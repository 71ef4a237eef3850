"""Settings of hair in which only guides are simulated."""

from bpy.props import BoolProperty, IntProperty, StringProperty

from .kinds import distance


class GuideSettings:
    use_guides: BoolProperty(
        name="Guides",
        description="Simulate only some strands, the guides. All others follow the guides around them, in their material "
        "frames: the drawn shape is preserved",
    )
    guide_count: IntProperty(
        name="Count",
        description="Number of guides, spread evenly over the roots. Higher values follow motion in more detail and are slower",
        default=300,
        min=1,
        max=1_000_000,
        soft_max=5000,
    )
    guide_group: StringProperty(
        name="Guide Attribute",
        description="Attribute that marks the guides with values above 0.5, on curves or at root points. Empty: guides are spread "
        "evenly",
    )
    guide_influences: IntProperty(
        name="Influences",
        description="Number of nearest guides that a strand follows. Higher values make neighbours move more alike",
        default=3,
        min=1,
        max=16,
        soft_max=6,
    )
    guide_reach: distance(
        "Reach",
        "Largest distance between the root of a strand and those of its guides. Strands without a guide move rigidly with "
        "their roots; zero: no limit",
        0.0,
        100.0,
        1.0,
        min=0.0,
    )
    clump_group: StringProperty(
        name="Clump Attribute",
        description="Attribute with the number of the clump that a strand belongs to. The strands of a clump follow the same "
        "guides and stay together",
    )
