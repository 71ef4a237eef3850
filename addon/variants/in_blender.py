"""Started by Blender (`blender -b --python in_blender.py -- REQUEST`) or by a Python with the bpy module: bakes a variant.

It is a script and not a module: it first finds the add-on, which is the enabled extension, or else the copy it belongs to.
"""

import importlib
import importlib.util
import sys
from pathlib import Path

import bpy

ROOT = Path(__file__).resolve().parents[2]


def package() -> str:
    """The name by which the add-on is imported, registered."""
    for name in bpy.context.preferences.addons.keys():  # noqa: SIM118 - a collection of Blender, whose items are add-ons
        if name.rpartition(".")[2] == "tendril":
            return str(name)
    if "tendril" not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            "tendril", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
        )
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["tendril"] = module
        spec.loader.exec_module(module)
    sys.modules["tendril"].register()
    return "tendril"


if __name__ == "__main__":
    importlib.import_module(f"{package()}.addon.variants.job").main(Path(sys.argv[sys.argv.index("--") + 1]))
