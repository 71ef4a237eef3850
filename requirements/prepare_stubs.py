"""Makes the installed fake-bpy stubs usable for mypy: `python prepare_stubs.py FOLDER`.

mypy searches MYPYPATH for packages by their own names and not for `bpy-stubs`, so each stub package gets a link without the suffix.
The stubs describe Blender without add-ons: properties that Tendril registers on Blender's types are added to them.
"""

import re
import sys
from pathlib import Path

# Lines to add per class. Classes with __getattr__ have subclasses with more attributes, which mypy can't tell apart.
_ANY = ("def __getattr__(self, name: str) -> Any: ...", "def __setattr__(self, name: str, value: Any) -> None: ...")
ADDED = {
    "Object": ("tendril: Any", "tendril_body: Any", "tendril_collider: Any"),
    "Scene": ("tendril: Any", "tendril_variants: Any"),
    "PropertyGroup": _ANY,
    "Node": _ANY,
    "Modifier": _ANY,
    "Property": _ANY,
}
# Attributes whose class, or whether they are None, depends on other attributes.
UNTYPED = {
    "Object": ("data", "animation_data", "collision", "field", "rigid_body", "rigid_body_constraint"),
    "ID": ("library",),
    "Scene": ("rigidbody_world",),
    "ViewLayer": ("depsgraph",),
}
# Attributes that are never None where Tendril uses them: in operators, panels and menus.
REQUIRED = {
    "Context": ("collection", "preferences", "scene", "view_layer", "window_manager", "workspace"),
    "Panel": ("layout",),
    "Menu": ("layout",),
    "UIPopupMenu": ("layout",),
}
MARK = "# Prepared for Tendril.\n"


def main(folder: Path) -> None:
    for stubs in folder.glob("*-stubs"):
        link = folder / stubs.name.removesuffix("-stubs")
        if not link.is_symlink():
            link.symlink_to(stubs.name)
    types = folder / "bpy-stubs" / "types" / "__init__.pyi"
    text = types.read_text()
    if not text.startswith(MARK):
        types.write_text(MARK + prepared(text))


def prepared(text: str) -> str:
    for name, lines in ADDED.items():
        start, _ = _body(text, name)
        text = text[:start] + "".join(f"    {line}\n" for line in lines) + text[start:]
    for name, attributes in UNTYPED.items():
        for attribute in attributes:
            declared = rf"(    (?:def )?{attribute}(?:: |\(self\) -> ))(?:\([^)]*\)|[^:\n]*)"
            text = _replaced(text, name, declared, r"\1Any")
    for name, attributes in REQUIRED.items():
        for attribute in attributes:
            text = _replaced(text, name, rf"(    (?:def )?{attribute}\b.*) \| None", r"\1")
    # Operators return sets of literals, which every function would have to declare.
    return "from typing import Any\n" + text.replace("set[bpy.stub_internal.rna_enums.OperatorReturnItems]", "set[str]")


def _replaced(text: str, name: str, pattern: str, replacement: str) -> str:
    start, end = _body(text, name)
    body, count = re.subn("^" + pattern, replacement, text[start:end], flags=re.M)
    assert count == 1, f"{pattern} is found {count} times in the stubs of {name}"
    return text[:start] + body + text[end:]


def _body(text: str, name: str) -> tuple[int, int]:
    """From the line after the head of a class to the next class."""
    head = re.search(rf"^class {name}\([^)]*\):\n", text, flags=re.M)
    assert head, f"The stubs have no class {name}"
    end = text.find("\nclass ", head.end())
    return head.end(), end if end > 0 else len(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
