"""The core knows nothing of Blender: no file imports it, and all of it runs where it can't be imported."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
import tendril.core

CORE = Path(tendril.core.__file__).resolve().parent
BLENDER = {"bpy", "bpy_extras", "bmesh", "mathutils", "bgl", "blf", "gpu", "aud", "freestyle", "addon_utils", "idprop"}


def imported(source):
    """All that a file imports, wherever in it. A relative import that leaves the core is named in full."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            yield "." * node.level + module
            yield from ("." * node.level + module + "." * bool(module) + alias.name for alias in node.names)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in ("__import__", "import_module"):
                yield str(node.args[0].value)


def of_blender(name):
    parts = name.lstrip(".").split(".")
    return parts[0] in BLENDER or "addon" in parts


FILES = sorted(path.relative_to(CORE).as_posix() for path in CORE.rglob("*.py"))


@pytest.mark.parametrize("file", FILES)
def test_no_file_imports_blender_or_the_addon(file):
    assert [name for name in imported((CORE / file).read_text()) if of_blender(name)] == []


@pytest.mark.parametrize(
    "source",
    [
        "import bpy",
        "import numpy, bpy.types as t",
        "from mathutils import Vector",
        "def f():\n    from bpy.types import Object",
        "try:\n    import bmesh\nexcept ImportError:\n    pass",
        "from .. import addon",
        "from ..addon.bridge import curves",
        "import importlib\nimportlib.import_module('bpy')",
        "__import__('bpy')",
    ],
)
def test_the_scan_sees_every_way_to_import(source):
    assert any(of_blender(name) for name in imported(source))


WITHOUT_BLENDER = """
import importlib, pkgutil, sys

BLENDER = set(sys.argv[1].split())

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in BLENDER or name.startswith("tendril.addon"):
            raise AssertionError(f"the core imports {name}")

sys.meta_path.insert(0, Refuse())

import tendril
import tendril.core

names = [module.name for module in pkgutil.walk_packages(tendril.core.__path__, "tendril.core.")]
for name in names:
    importlib.import_module(name)

import numpy as np
from tendril.core import Material, Rod, Scene, Simulation

points = np.zeros((9, 3))
points[:, 0] = np.linspace(0.0, 1.0, 9)
scene = Scene()
rod = scene.add(Rod.from_points(points, radius=0.01, material=Material.preset("rubber")))
scene.clamp(rod, "start")
for frame in Simulation(scene).frames(1, 6):
    pass
assert frame.number == 6
assert frame.positions(rod)[-1, 2] < -0.01
assert not BLENDER & set(sys.modules)
print(*names)
"""


def test_all_of_the_core_runs_where_blender_cannot_be_imported():
    command = [sys.executable, "-c", WITHOUT_BLENDER, " ".join(BLENDER)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stderr
    files = {"tendril.core." + file.removesuffix(".py").replace("/", ".") for file in FILES}
    expected = {name.removesuffix(".__init__") for name in files} - {"tendril.core"}
    assert expected - {"tendril.core.__init__"} == set(result.stdout.split())
