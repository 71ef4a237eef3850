"""Translations of labels and tooltips: one file per language, named by its code, with the English text as the key.

Blender looks up what panels, menus and tooltips show when the user has chosen this language. A text that is missing stays English.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import bpy

# Blender's codes of a language: those of older versions had a country.
CODES = {"de": ("de", "de_DE")}
_CONTEXTS = ("*", "Operator")  # of labels in general, and of operators

Texts = dict[str, str]  # by the English text


def read(code: str) -> Texts:
    texts: Texts = json.loads(Path(__file__).with_name(f"{code}.json").read_text(encoding="utf-8"))
    return texts


def register() -> None:
    languages: Any = {  # the stubs know no contexts
        name: {(context, english): own for english, own in read(code).items() for context in _CONTEXTS}
        for code, names in CODES.items()
        for name in names
    }
    bpy.app.translations.register(__package__, languages)


def unregister() -> None:
    bpy.app.translations.unregister(__package__)
