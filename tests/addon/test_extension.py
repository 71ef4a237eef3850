"""The package as Blender installs it."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import bpy
from tendril.packaging.package import TOOL, build
from tendril.packaging.targets import all_targets

ROOT = Path(__file__).resolve().parents[2]


# The module of Blender 4.2 crashes at exit when a property with an update function was ever registered.
LEAVE = "\nimport os; sys.stdout.flush(); os._exit(0)"


def run(*arguments, settings=None):
    environment = dict(os.environ)
    if settings:
        environment["BLENDER_USER_RESOURCES"] = str(settings)
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


LATE = {
    *("numba", "scipy", "importlib.metadata", "concurrent.futures", "subprocess", "zipfile", "csv"),
    *("tendril.core.run.simulation", "tendril.core.contact.bodies.outside", "tendril.sweep"),
}


def test_enabling_is_quick_because_the_solver_is_loaded_late(tmp_path):
    """As are all modules that take long to import and that few sessions need."""
    script = (
        "import sys, bpy; before = set(sys.modules); import tendril; tendril.register(); tendril.unregister();"
        f"print(sorted({LATE} & (set(sys.modules) - before)))"
    )
    assert run("-c", script + LEAVE, settings=tmp_path).strip().endswith("[]")


def test_it_can_be_disabled_and_enabled_again():
    import tendril

    before = len(bpy.app.handlers.frame_change_post)
    for _ in range(3):
        tendril.unregister()
        assert not hasattr(bpy.types.Object, "tendril")
        assert not hasattr(bpy.types, "TENDRIL_PT_rod")
        assert len(bpy.app.handlers.frame_change_post) == before - 1
        tendril.register()
    assert len(bpy.app.handlers.frame_change_post) == before


INSTALL = """
import sys
import bpy
bpy.ops.extensions.package_install_files(repo="user_default", filepath=sys.argv[1], enable_on_install=True)
name = "bl_ext.user_default.tendril"
curve = bpy.data.curves.new("Rope", "CURVE")
spline = curve.splines.new("POLY")
spline.points.add(9)
for k, point in enumerate(spline.points):
    point.co = (0.1 * k, 0, 0, 1)
obj = bpy.data.objects.new("Rope", curve)
bpy.context.collection.objects.link(obj)
bpy.context.view_layer.objects.active = obj
print(bpy.ops.tendril.rod_add())
sys.modules[name + ".addon.solver"].choose_cache()
print("kernels in", sys.modules[name + ".core.compile.cache_folder"].cache_folder())
bpy.ops.preferences.addon_disable(module=name)
print("left", [m for e in dir(bpy.app.handlers) if isinstance(m := getattr(bpy.app.handlers, e), list) and m
               and any(name in f.__module__ for f in m)])
"""


def test_a_package_is_valid_and_installs(tmp_path):
    run(TOOL, "validate", ROOT)
    archive = build(all_targets()[0], [], tmp_path)
    with zipfile.ZipFile(archive) as package:
        names = package.namelist()
    assert "addon/live.py" in names
    assert "core/run/simulation.py" in names
    settings = tmp_path / "settings"
    said = run("-c", INSTALL + LEAVE, archive, settings=settings)
    assert "{'FINISHED'}" in said
    assert f"kernels in {settings}" in said
    assert "left []" in said
