"""Test of the package from installation to removal: `python journey.py STEP FOLDER [ZIP]`, each step in a process of its own.

Run by test_journey.py in several versions of Blender, and by packaging/window in those that pip does not offer for this Python.
"""

import os
import sys
import time
import tomllib
from pathlib import Path

STEP, FOLDER = sys.argv[-3:-1] if sys.argv[-1].endswith(".zip") else sys.argv[-2:]
FOLDER = Path(FOLDER).resolve()
FOLDER.mkdir(parents=True, exist_ok=True)
os.environ["BLENDER_USER_RESOURCES"] = str(FOLDER / "user")

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from pace import slowness

NAME = "bl_ext.user_default.tendril"
BLEND = str(FOLDER / "rope.blend")
EXTENSIONS = Path(bpy.utils.user_resource("EXTENSIONS"))
COMPILED = EXTENSIONS / ".user" / "user_default" / "tendril" / "numba"
# Limits in s of processor time of an idle machine.
ENABLE_LIMIT = 0.2
START_LIMIT = 1.5


class Stopwatch:
    """Wall-clock and processor time of a `with` block, in s."""

    def __enter__(self):
        self.start = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_):
        self.wall, self.processor = time.perf_counter() - self.start[0], time.process_time() - self.start[1]

    def __str__(self):
        return f"{self.processor:.2f} s of processor time, {self.wall:.2f} s"


def install():
    """Installs and enables the package, makes a curve a rod, plays, bakes, saves, disables."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    done = bpy.ops.extensions.package_install_files(repo="user_default", filepath=sys.argv[-1], enable_on_install=True)
    assert done == {"FINISHED"}
    assert hasattr(bpy.types.Object, "tendril")
    rope = make_rope("Rope")
    drawn = points(rope)
    with Stopwatch() as first:
        bpy.context.scene.frame_set(2)
    print(f"first frame in {first}")
    play(3, 24)
    assert np.abs(points(rope) - drawn).max() > 0.1
    check_bundled()
    last = points(rope)
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    bpy.context.scene.frame_set(24)
    assert np.abs(evaluated(rope) - last).max() < 1e-5
    make_rope("Not baked")
    assert bpy.ops.wm.save_as_mainfile(filepath=BLEND) == {"FINISHED"}
    np.save(FOLDER / "last.npy", last)
    assert not list(COMPILED.rglob("*.nbc")), f"compiled in {COMPILED}, though the package is compiled"
    assert bpy.ops.preferences.addon_disable(module=NAME) == {"FINISHED"}
    assert not hasattr(bpy.types.Object, "tendril")
    left = [handler for handlers in all_handlers() for handler in handlers if NAME in handler.__module__]
    assert not left


def again():
    """Reopens the file: baked rods play without the add-on; when it is enabled again, the others are simulated without a delay."""
    bpy.ops.wm.open_mainfile(filepath=BLEND)
    rope, other = bpy.data.objects["Rope"], bpy.data.objects["Not baked"]
    assert not hasattr(rope, "tendril")
    bpy.context.scene.frame_set(24)
    assert np.abs(evaluated(rope) - np.load(FOLDER / "last.npy")).max() < 1e-5
    import addon_utils  # a module of Blender, available after bpy has been imported

    addon_utils.extensions_refresh(addon_modules_pending=[NAME])  # unpacks the wheels, as at the first activation
    with Stopwatch() as enabling:
        addon_utils.enable(NAME, refresh_handled=True)  # as at the start of Blender
    print(f"enabled in {enabling}")
    assert enabling.processor < slowness() * ENABLE_LIMIT
    assert not {"numba", "scipy"} & set(sys.modules)
    assert rope.tendril.baked
    assert other.tendril.enabled
    bpy.context.scene.frame_set(1)
    drawn = points(other)
    with Stopwatch() as starting:
        bpy.context.scene.frame_set(2)
    print(f"started in {starting}")
    if (FOLDER / "began").exists():  # the first time, Python compiles numba's modules to bytecode
        assert starting.processor < slowness() * START_LIMIT
    (FOLDER / "began").touch()
    play(3, 5)
    assert np.abs(points(other) - drawn).max() > 1e-3
    bpy.ops.wm.save_mainfile()


def upgrade():
    """Installs a newer version over the one in use: files remain, and nothing is compiled."""
    bpy.ops.wm.open_mainfile(filepath=BLEND)
    assert bpy.ops.preferences.addon_enable(module=NAME) == {"FINISHED"}
    other = bpy.data.objects["Not baked"]
    play(1, 3)
    done = bpy.ops.extensions.package_install_files(repo="user_default", filepath=sys.argv[-1], enable_on_install=True)
    assert done == {"FINISHED"}
    version = tomllib.loads((EXTENSIONS / "user_default" / "tendril" / "blender_manifest.toml").read_text())["version"]
    assert version == "99.0.0"
    with Stopwatch() as starting:
        play(1, 3)
    print(f"upgraded, then started in {starting}")
    assert starting.processor < slowness() * START_LIMIT
    assert other.tendril.enabled
    assert not list(COMPILED.rglob("*.nbc"))
    assert bpy.ops.preferences.addon_disable(module=NAME) == {"FINISHED"}


def uninstall():
    """Uninstalls the package: no files remain, and the .blend file still opens and plays baked rods."""
    repos = bpy.context.preferences.extensions.repos
    number = next(k for k, repo in enumerate(repos) if repo.module == "user_default")
    assert bpy.ops.extensions.package_uninstall(repo_index=number, pkg_id="tendril") == {"FINISHED"}
    left = [path for path in EXTENSIONS.rglob("*") if path.is_file() and is_ours(path.relative_to(EXTENSIONS))]
    assert not left, left[:10]
    bpy.ops.wm.open_mainfile(filepath=BLEND)
    bpy.context.scene.frame_set(24)
    assert np.abs(evaluated(bpy.data.objects["Rope"]) - np.load(FOLDER / "last.npy")).max() < 1e-5


def make_rope(name):
    curve = bpy.data.curves.new(name, "CURVE")
    curve.dimensions = "3D"
    spline = curve.splines.new("POLY")
    spline.points.add(20)
    for k, point in enumerate(spline.points):
        point.co = (0.05 * k, 0.0, 0.0, 1.0)
    rope = bpy.data.objects.new(name, curve)
    bpy.context.collection.objects.link(rope)
    bpy.context.view_layer.objects.active = rope
    bpy.context.scene.frame_end = 24
    bpy.context.scene.frame_set(1)
    assert bpy.ops.tendril.rod_add(fit=False) == {"FINISHED"}
    return rope


def play(first, last):
    for frame in range(first, last + 1):
        bpy.context.scene.frame_set(frame)


def points(obj):
    return np.array([point.co[:3] for point in obj.data.splines[0].points])


def evaluated(obj):
    """Evaluated points, including shape keys."""
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    return np.array([vertex.co for vertex in mesh.vertices])


def check_bundled():
    """Asserts that the compiler comes from the package and NumPy from Blender."""
    for name in ("numba", "llvmlite"):
        assert Path(sys.modules[name].__file__).is_relative_to(EXTENSIONS), sys.modules[name].__file__
    assert not Path(np.__file__).is_relative_to(EXTENSIONS)
    print(f"Blender {bpy.app.version_string}, NumPy {np.__version__}, numba {sys.modules['numba'].__version__}")


def all_handlers():
    found = (getattr(bpy.app.handlers, event) for event in dir(bpy.app.handlers))
    return [handlers for handlers in found if isinstance(handlers, list)]


def is_ours(path):
    return any(part.lower().startswith(("tendril", "numba", "llvmlite", "scipy")) for part in path.parts)


{"install": install, "again": again, "upgrade": upgrade, "uninstall": uninstall}[STEP]()
print(f"{STEP}: done", flush=True)
os._exit(0)  # some Blender versions crash or hang at a regular exit of the interpreter
