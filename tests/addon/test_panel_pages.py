"""docs/panels has a page for every panel, with all that it draws, as Blender names it; and all that can be set has a tooltip."""

import ast
import re
from pathlib import Path

import bpy
import pytest
import tendril
from tendril.addon import operators, properties
from tendril.addon.properties.body import TendrilBody
from tendril.addon.properties.models import net_models, rod_models
from tendril.tests.addon.building import activate, make_rod
from tendril.tests.addon.test_hair import make_hair
from tendril.tests.addon.test_nets import make_net
from tendril.tests.addon.test_panels import Layout, all_panels, draw

DOCS = Path(tendril.__file__).resolve().parent / "docs"
UNITS = {"DISTANCE": "m", "TIME_ABSOLUTE": "s", "VELOCITY": "m/s"}
LARGEST_PICTURE = 60_000  # bytes
MENUS = {"model": rod_models, "net_model": net_models}
KEYED = " \N{BLACK DIAMOND}"  # behind the name of what can be keyframed


def page_of(cls):
    return DOCS / "panels" / f"{re.sub(r'[^a-z]+', '_', cls.bl_label.lower()).strip('_')}.md"


def rows_of(page):
    """What the tables of settings say: name, unit, default."""
    lines = (line.split("|")[1:4] for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("|"))
    return {tuple(cell.strip() for cell in cells) for cells in lines}


def default_of(prop):
    if prop.type == "BOOLEAN":
        return "on" if prop.default else "off"
    if prop.identifier in MENUS:  # Blender knows the items of a menu that can grow only while it is drawn
        return next(item[1] for item in MENUS[prop.identifier](None, None) if item[4] == 0)
    if prop.type == "ENUM":
        return prop.enum_items[prop.default].name
    if prop.type in ("STRING", "POINTER"):
        return "none"
    return f"{prop.default_array[0] if prop.is_array else prop.default:.6g}"


def unit_of(prop):
    _, _, named = prop.name.partition(" (")
    return named.removesuffix(")") or UNITS.get(prop.subtype)


def operator_of(name):
    group, _, function = name.partition(".")
    return getattr(getattr(bpy.ops, group), function).get_rna_type()


class Noting(Layout):
    """Takes down properties themselves, and whether they have a dot to keyframe them by; of operators their names."""

    def take_down(self, name, data):
        self.drawn.append((data.bl_rna.properties[name], self.use_property_decorate))

    def template_curve_mapping(self, *_arguments, **_options):
        """Not a property of the add-on."""

    template_list = template_curve_mapping

    def operator(self, name, text=None, **_options):
        if text != "":
            self.drawn.append((operator_of(name), False))
        return self


def situations():
    """Everything that makes panels draw something else."""
    shared = bpy.context.scene.tendril
    mesh = bpy.data.objects.new("Body", bpy.data.meshes.new("Body"))
    bones = bpy.data.objects.new("Bones", bpy.data.armatures.new("Bones"))
    for obj in (mesh, bones):
        bpy.context.collection.objects.link(obj)
    activate(mesh)
    bpy.ops.tendril.collider_add()
    yield
    bpy.ops.rigidbody.object_add(type="ACTIVE")
    rope = make_rod(name="Rope").tendril
    yield
    rope.model, rope.young_modulus, rope.end_hold = "clothoid", 2e11, "ATTACH"
    yield
    rope.end_hold = "FREE"
    rope.section, rope.pin_by_weight, rope.use_profiles = "RIBBON", True, True
    rope.id_data.modifiers.new("Hook", "HOOK")
    bpy.ops.tendril.attachment_add()
    shared.use_own_range, rope.attachments[0].where = True, "POINT"
    for rope.rest_shape, rope.attachments[0].target, shared.bake_to in (
        ("OBJECT", None, "DISK"),
        ("CURLY", bones, "USD"),
        ("CURLY", mesh, "SHAPE_KEYS"),
    ):
        yield
    chosen = bpy.context.scene.tendril_variants
    axis = chosen.axes.add()
    axis.path, axis.values = "Rope.radius", "0.01:0.02"
    chosen.sampling = "latin"
    yield
    rope.tie_splines = True
    yield
    rope.baked = True
    yield
    make_net(net_model="corde")
    yield
    make_hair(stiffness_random=0.1)
    yield


@pytest.fixture
def drawn():
    """Per panel: the properties it draws, with whether they have a dot, and the operators."""
    found = {cls: {} for cls in all_panels()}
    for _ in situations():
        for cls, taken in found.items():
            noted = []
            draw(cls, Noting(noted))
            taken.update({what.identifier: (what, keyed) for what, keyed in noted})
    return found


def test_every_panel_has_a_page_with_a_picture():
    index = (DOCS / "addon.md").read_text(encoding="utf-8")
    for cls in all_panels():
        page = page_of(cls)
        assert f"(panels/{page.name})" in index, page.name
        assert f"({page.stem}.png)" in page.read_text(encoding="utf-8"), page.name
    assert sorted(page.name for page in (DOCS / "panels").glob("*.md")) == sorted(page_of(c).name for c in all_panels())
    for picture in (DOCS / "panels").glob("*.png"):
        assert picture.stat().st_size < LARGEST_PICTURE, picture.name


def test_pages_name_all_that_panels_draw(drawn):
    missing = []
    for cls, taken in drawn.items():
        page = page_of(cls)
        rows, text = rows_of(page), page.read_text(encoding="utf-8")
        for what, keyed in taken.values():
            if isinstance(what, bpy.types.Property):
                units = {row[1] for row in rows if row[0] == what.name + KEYED * keyed and row[2] == default_of(what)}
                if not units or unit_of(what) not in {None, *units}:
                    missing.append(
                        f"{page.name}: {what.name}, {unit_of(what) or 'any unit'}, {default_of(what)}, {keyed=}"
                    )
            elif f"**{what.name}**" not in text:
                missing.append(f"{page.name}: button {what.name}")
    assert not missing, "\n".join(missing)


def test_panels_draw_all_that_there_is(drawn):
    seen = {what.identifier for taken in drawn.values() for what, _ in taken.values()}
    groups = [cls for cls in properties._CLASSES if cls is not TendrilBody]  # which people don't set
    there = {prop.identifier for group in groups for prop in own_properties(group) if not prop.is_hidden}
    assert len(there) > 80
    views = {"thickness": "radius", "young_mpa": "young_modulus", "young_gpa": "young_modulus"}
    assert {*views} <= seen
    assert there - seen == {"attachments", "axes", *views.values()}  # lists, and what is shown in another unit


def own_properties(cls):
    return [prop for prop in cls.bl_rna.properties if prop.is_runtime]


def test_everything_has_a_tooltip_as_blenders_are():
    wrong, seen = [], 0
    settings = [prop for group in properties._CLASSES for prop in own_properties(group)]
    settings += [prop for owner in (bpy.types.Object, bpy.types.Scene) for prop in own_properties(owner)]
    choices = [item for prop in settings if prop.type == "ENUM" for item in prop.enum_items]
    buttons = [operator_of(cls.bl_idname) for cls in operators.CLASSES if issubclass(cls, bpy.types.Operator)]
    told = [(what.identifier, what.name, what.description) for what in (*settings, *choices, *buttons)]
    told += [item[:3] for menu in MENUS.values() for item in menu(None, None) if item[0]]
    for identifier, name, tip in told:
        seen += 1
        if not tip or tip.endswith(".") or tip == name or not (tip[0].isupper() or tip[0].isdigit()):
            wrong.append(f"{identifier}: {tip!r}")
    assert seen > 120
    assert not wrong, "\n".join(wrong)


def test_pictures_of_panels_show_objects_that_exist():
    """packaging/in_window_pictures.py runs in a window only, so that nothing else notices a renamed object of a sample."""
    root = DOCS.parent
    tree = ast.parse((root / "packaging" / "in_window_pictures.py").read_text(encoding="utf-8"))
    subjects = next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "SUBJECTS"
    )
    assert set(subjects) == {cls.bl_label for cls in all_panels()}
    for sample, name in set(subjects.values()):
        with bpy.data.libraries.load(str(root / "sample_scenes" / f"{sample}.blend")) as (found, _):
            assert name in found.objects, (sample, name)
