"""Settings of the Variants panel. They are apart from those of the simulation, because they do not change its frames."""

import bpy
from bpy.props import CollectionProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty


class TendrilVariantAxis(bpy.types.PropertyGroup):
    """Setting that differs between variants, with its values"""

    path: StringProperty(
        name="Setting",
        description="Path of the setting, as the context menu of a setting copies it (Copy Full Data Path), or in short: "
        "Rope.radius for a setting of the rod Rope, wind for one that all rods share",
    )
    values: StringProperty(
        name="Values",
        description="Values separated by commas, or a range as LOW:HIGH:COUNT. LOW:HIGH:COUNT:log has even ratios",
    )


class TendrilVariants(bpy.types.PropertyGroup):
    """Variants of the simulation"""

    axes: CollectionProperty(
        name="Settings", description="Settings that differ between variants, with their values", type=TendrilVariantAxis
    )
    active_axis: IntProperty(
        name="Active Setting", description="Index of the setting that is selected in the list", options={"HIDDEN"}
    )
    sampling: EnumProperty(
        name="Sampling",
        description="How the values of several settings are combined",
        items=(
            ("grid", "Grid", "Every combination of the values"),
            ("random", "Random", "Random values between the bounds of each range"),
            ("latin", "Latin Hypercube", "Random values that cover each range evenly"),
        ),
    )
    samples: IntProperty(name="Count", description="Number of variants", default=9, min=1, max=1000)
    seed: IntProperty(name="Seed", description="Start of the random numbers. Other seeds give other values", min=0)
    workers: IntProperty(
        name="Processes",
        description="Number of Blenders that bake variants at the same time. Each needs memory for the whole file",
        default=2,
        min=1,
        max=64,
    )
    spacing: FloatProperty(
        name="Spacing",
        description="Distance between variants that are shown side by side, in widths of the rods. Higher values keep them "
        "farther apart",
        default=1.3,
        min=0.0,
        soft_max=5.0,
    )


CLASSES = (TendrilVariantAxis, TendrilVariants)


def register() -> None:
    bpy.types.Scene.tendril_variants = PointerProperty(description=TendrilVariants.__doc__, type=TendrilVariants)


def unregister() -> None:
    del bpy.types.Scene.tendril_variants
