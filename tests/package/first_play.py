"""First play in a Blender that has just got the package: `python first_play.py SCENE FOLDER [ZIP]`, each scene in its own process.

Run by test_first_play.py. With ZIP the package is installed before. Asserts that nothing is compiled, and prints the time.
"""

import os
import sys
import time
from pathlib import Path

ZIP = sys.argv.pop() if sys.argv[-1].endswith(".zip") else ""
SCENE, FOLDER = sys.argv[-2], Path(sys.argv[-1]).resolve()
os.environ["BLENDER_USER_RESOURCES"] = str(FOLDER / "user")

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from pace import slowness

NAME = "bl_ext.user_default.tendril"
EXTENSIONS = Path(bpy.utils.user_resource("EXTENSIONS"))
COMPILED = EXTENSIONS / ".user" / "user_default" / "tendril" / "numba"


def curve(name, points):
    data = bpy.data.curves.new(name, "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("POLY")
    spline.points.add(len(points) - 1)
    for point, place in zip(spline.points, points, strict=True):
        point.co = (*place, 1.0)
    return make_rod(data, name)


def make_rod(data, name, **settings):
    obj = bpy.data.objects.new(name, data)
    bpy.context.collection.objects.link(obj)
    for other in bpy.context.scene.objects:
        other.select_set(other == obj)
    bpy.context.view_layer.objects.active = obj
    bpy.context.view_layer.update()
    for key, value in settings.items():
        setattr(obj.tendril, key, value)
    assert bpy.ops.tendril.rod_add(fit=False) == {"FINISHED"}
    return obj


def rope():
    return curve("Rope", np.linspace((0.0, 0.0, 0.0), (1.0, 0.0, 0.1), 21))


def rope_and_collider():
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0.8, 0.0, -0.6))
    assert bpy.ops.tendril.collider_add() == {"FINISHED"}
    bpy.context.scene.tendril.rod_contact = True
    return rope()


def hair():
    data = bpy.data.hair_curves.new("Hair")
    strands, points = 50, 10
    data.add_curves([points] * strands)
    places = np.zeros((strands, points, 3), dtype=np.float32)
    places[:, :, 0] = np.linspace(-0.5, 0.5, strands)[:, None] + np.linspace(0.0, 0.1, points)
    places[:, :, 2] = np.linspace(0.0, 0.2, points)
    data.attributes["position"].data.foreach_set("vector", places.ravel())
    return make_rod(data, "Hair", radius=0.002)


def net():
    n = 5
    points = [(0.1 * x, 0.1 * y, 0.0) for y in range(n) for x in range(n)]
    edges = [(r * n + c, r * n + c + 1) for r in range(n) for c in range(n - 1)]
    edges += [(r * n + c, (r + 1) * n + c) for r in range(n - 1) for c in range(n)]
    data = bpy.data.meshes.new("Net")
    data.from_pydata(points, edges, [])
    return make_rod(data, "Net", radius=0.005)


def rope_and_body():
    bpy.ops.rigidbody.world_add()
    bpy.ops.mesh.primitive_cube_add(size=0.2, location=(1.1, 0.0, 0.1))
    body = bpy.context.object
    bpy.ops.rigidbody.object_add()
    body.rigid_body.mass = 0.5
    obj = rope()
    assert bpy.ops.tendril.attachment_add() == {"FINISHED"}
    attachment = obj.tendril.attachments[-1]
    attachment.target, attachment.where = body, "END"
    return obj


def clothoid():
    angle = np.linspace(0.0, 6.0, 40)
    obj = curve("Curl", np.stack([0.05 * np.cos(angle), 0.05 * np.sin(angle), -0.02 * angle], axis=1))
    obj.tendril.model = "clothoid"
    return obj


def points_of(obj):
    if obj.type == "CURVES":
        found = np.zeros(3 * len(obj.data.points), dtype=np.float32)
        obj.data.attributes["position"].data.foreach_get("vector", found)
        return found.reshape(-1, 3)
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    return np.array([vertex.co for vertex in mesh.vertices])


if ZIP:
    done = bpy.ops.extensions.package_install_files(repo="user_default", filepath=ZIP, enable_on_install=True)
    assert done == {"FINISHED"}
    print(f"{SCENE}: installed", flush=True)
    os._exit(0)

bpy.ops.wm.read_factory_settings(use_empty=True)
import addon_utils

addon_utils.extensions_refresh(addon_modules_pending=[NAME])
began = time.perf_counter(), time.process_time()
addon_utils.enable(NAME, refresh_handled=True)
enabling = time.perf_counter() - began[0], time.process_time() - began[1]
assert not {"numba", "scipy"} & set(sys.modules)

obj = globals()[SCENE]()
bpy.context.scene.frame_set(1)
drawn = points_of(obj)
began = time.perf_counter(), time.process_time()
bpy.context.scene.frame_set(2)
first = time.perf_counter() - began[0], time.process_time() - began[1]
slower = slowness()

from numba.core import event

compiled = []


class Listener(event.Listener):
    def on_start(self, happened):
        compiled.append(happened.data["dispatcher"].py_func.__qualname__)

    def on_end(self, happened):
        pass


event.register("numba:compile", Listener())
for frame in range(3, 12):
    bpy.context.scene.frame_set(frame)
assert np.abs(points_of(obj) - drawn).max() > 1e-3, "it does not move"
status = sys.modules[NAME + ".addon.memory"].status(obj.tendril.uid)
assert status == "", status
used = sys.modules[NAME + ".core.compile.kernel_cache"].used
assert used, "no kernel was loaded"
here = [path for path in used if not path.is_relative_to(EXTENSIONS / "user_default" / "tendril")]
files = sorted(COMPILED.rglob("*.nbc"))
print(
    f"{SCENE}: enabled in {enabling[1]:.2f} s, first frame after {first[1]:.2f} s of processor time, {first[0]:.2f} s; "
    f"{len(used)} kernels loaded, {len(files)} compiled",
    flush=True,
)
assert not files, [path.name for path in files]
assert not here, here
assert not compiled, compiled
if os.environ.get("LIMIT"):
    assert first[1] < slower * float(os.environ["LIMIT"]), (first, slower)
print(f"{SCENE}: done", flush=True)
os._exit(0)
