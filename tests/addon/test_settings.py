"""Enumerates all properties of the add-on, so that a new one that is forgotten somewhere fails here."""

import bpy
import pytest
from tendril.addon import memory, preset_menu, properties
from tendril.addon.bridge import changes, fields, scenes
from tendril.addon.bridge.settings import settings_in
from tendril.addon.properties.material import MaterialSettings
from tendril.addon.properties.models import net_models, rod_models
from tendril.addon.properties.shape import ShapeSettings
from tendril.addon.properties.type import TypeSettings
from tendril.core import Field
from tendril.tests.addon.building import make_mesh, make_rod

# Settings of a scene that do not change the simulation: where frames are kept and what is drawn over the viewport.
NO_EFFECT = {
    *("cache_start", "cache_end", "use_own_range"),  # their effect is tested below
    *("look", "auto_restart"),  # what rods look like, and when they begin anew
    *("use_disk_cache", "bake_to", "key_step", "key_tolerance", "export_path"),
    *("show_overlay", "overlay_colour", "overlay_largest", "overlay_pins", "overlay_contacts", "overlay_frames"),
}
# Settings of a rod that belong to one object and not to a preset: names in the file, and what is drawn on it.
NOT_IN_PRESETS = {
    *("rest_object", "stiffness_group", "radius_group", "mass_group", "segment_length", "use_tilt", "use_attributes"),
    *("look", "use_profiles", "radius_by_weight", "mass_by_weight", "stiffness_random", "random_seed"),
}

MODEL_MENUS = {"model": rod_models, "net_model": net_models}


def groups():
    """Each property group with a function that makes one in use."""

    def attachment(rod):
        bpy.context.view_layer.objects.active = rod
        bpy.ops.tendril.attachment_add()
        return rod.tendril.attachments[0]

    def collider(_rod):
        return make_mesh().tendril_collider

    return {
        "TendrilRod": lambda rod: rod.tendril,
        "TendrilScene": lambda rod: bpy.context.scene.tendril,
        "TendrilAttachment": attachment,
        "TendrilCollider": collider,
    }


def names_of(group):
    inherited = bpy.types.PropertyGroup.bl_rna.properties
    return [one.identifier for one in group.bl_rna.properties if one.identifier not in inherited]


def changed(group, name):
    """Another value of a property."""
    kind, value = group.bl_rna.properties[name], getattr(group, name)
    if kind.type == "BOOLEAN":
        return not value
    if kind.type == "ENUM":
        items = [item.identifier for item in kind.enum_items]
        if not items:  # a menu whose items are computed
            items = [item[0] for item in MODEL_MENUS[name](None, None)]
        return next(item for item in items if item != value)
    if kind.type == "STRING":
        return "other"
    if kind.type in ("INT", "FLOAT"):
        if kind.is_array:
            return [1.0] * kind.array_length
        larger = 2 * abs(value) + 1
        return larger if larger <= kind.hard_max else kind.hard_min
    if kind.fixed_type.identifier == "Collection":
        return bpy.data.collections.new("Another")
    return bpy.data.objects.new("Another", None)


def test_every_group_is_enumerated():
    registered = {cls.__name__ for cls in properties._CLASSES}
    hidden_only = {"TendrilBody"}
    of_variants = {
        "TendrilVariants",
        "TendrilVariantAxis",
    }  # which say what other scenes are made of, not what this one is
    assert registered == {*groups(), *hidden_only, *of_variants}
    body = make_rod().tendril_body
    assert all(body.bl_rna.properties[name].is_hidden or name == "action" for name in names_of(body))


@pytest.mark.parametrize("kind", groups())
def test_a_change_of_any_setting_counts(kind):
    """Frames simulated before it are outdated; or the setting is listed as one without effect. Hidden properties are state of the
    add-on and not settings."""
    rod, scene = make_rod(material="CUSTOM"), bpy.context.scene
    floor = make_mesh(collide=False)
    floor.modifiers.new("Collision", "COLLISION")
    with bpy.context.temp_override(object=floor, active_object=floor):
        bpy.ops.object.forcefield_toggle()
    floor.field.type = "WIND"
    group = groups()[kind](rod)
    missed = []
    for name in settings_in(group):
        if group.bl_rna.properties[name].type == "COLLECTION":
            continue  # its elements are a group of their own
        before, value = scenes.settings_of(scene, memory.taking_part(scene)), getattr(group, name)
        value = tuple(value) if getattr(group.bl_rna.properties[name], "is_array", False) else value
        setattr(group, name, changed(group, name))
        counts = scenes.settings_of(scene, memory.taking_part(scene)) != before
        if counts == (name in NO_EFFECT):
            missed.append(name)
        setattr(group, name, value)
    assert missed == [], "settings that do not count, or count and are listed as without effect"


def test_an_own_start_frame_makes_frames_outdated():
    rod, scene = make_rod(), bpy.context.scene
    assert rod
    for frame in (1, 2):
        scene.frame_set(frame)
    scene.tendril.cache_start = 3
    assert not memory.is_outdated(scene)
    scene.tendril.use_own_range = True
    assert memory.is_outdated(scene)


def test_presets_have_all_of_material_and_shape():
    declared = {*TypeSettings.__annotations__, *MaterialSettings.__annotations__, *ShapeSettings.__annotations__}
    visible = {name for name in settings_in(make_rod().tendril) if name in declared}
    assert {*preset_menu.SETTINGS} == visible - NOT_IN_PRESETS


def test_every_kind_of_field_has_a_weight_and_is_known_to_the_core():
    rod = make_rod().tendril
    for group in (rod, bpy.context.scene.tendril):
        weights = {name for name in settings_in(group) if name.endswith("_weight") and not name.endswith("by_weight")}
        assert weights == {*fields.WEIGHTS}
    assert {*fields.WEIGHTS} <= {*changes.FACTORS}
    for kind in fields.KINDS.values():
        assert Field(kind, 1.0).kind == kind
