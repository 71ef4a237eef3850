"""Every label and tooltip has a translation in each language that Tendril comes with."""

import ast
from pathlib import Path

import bpy
import pytest
from tendril.addon import operators, panels, properties, translations
from tendril.addon.properties.body import TendrilBody
from tendril.tests.addon.test_panel_pages import MENUS, operator_of, own_properties


def texts_of(prop):
    if prop.is_hidden:
        return
    yield from (prop.name, prop.description)
    if prop.type == "ENUM":
        for item in prop.enum_items:
            yield from (item.name, item.description)


def shown_texts():
    """All that Blender shows of properties, operators, panels and menus."""
    for group in properties._CLASSES:
        for prop in own_properties(group) if group is not TendrilBody else ():
            yield from texts_of(prop)
    for menu in MENUS.values():
        for item in menu(None, None):
            yield from item[1:3]
    for cls in operators.CLASSES:
        if not issubclass(cls, bpy.types.Operator):
            yield cls.bl_label
            continue
        kind = operator_of(cls.bl_idname)
        yield from (kind.name, kind.description)
        for prop in kind.properties:
            if prop.identifier not in ("rna_type", "operator"):
                yield from texts_of(prop)
    for cls in panels._CLASSES:
        if issubclass(cls, bpy.types.Panel):
            yield cls.bl_label


def written_texts():
    """Constant texts of labels and buttons in the code of panels and menus."""
    root = Path(operators.__file__).parents[1]
    for path in (*(root / "panels").glob("*.py"), root / "operators" / "quick.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for keyword in getattr(node, "keywords", ()):
                if keyword.arg in ("text", "heading") and isinstance(keyword.value, ast.Constant):
                    yield keyword.value.value


@pytest.mark.parametrize("code", translations.CODES)
def test_every_text_is_translated(code):
    known = translations.read(code)
    wanted = {text for text in (*shown_texts(), *written_texts()) if text and text.strip()}
    assert len(wanted) > 450
    assert wanted - known.keys() == set()
    assert all(own.strip() for own in known.values())
    changed = sum(english != own for english, own in known.items())
    assert changed > 0.95 * len(known)  # a few names are the same


def test_a_second_registration_is_possible():
    translations.unregister()
    translations.register()
