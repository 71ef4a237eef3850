"""Curves for the tests, and ways to look at them."""

import bpy
import numpy as np
from tendril.addon import memory
from tendril.addon.bridge.curves import read_rows


def line(count=12, length=1.0, y=0.0):
    """Points along x with a gentle wave, so that nothing is special about them."""
    s = np.linspace(0.0, 1.0, count)
    return np.stack([length * s, y + 0.05 * np.sin(5.0 * s), 0.03 * np.cos(4.0 * s)], axis=1)


def ring(count=16, radius=0.3, x=0.0, y=0.0):
    a = np.arange(count) * 2.0 * np.pi / count
    return np.stack([x + radius * np.cos(a), y + radius * np.sin(a), 0.02 * np.sin(3.0 * a)], axis=1)


def add_spline(curve, kind, points, cyclic=False, handles="AUTO", resolution=6):
    points = np.asarray(points, dtype=np.float32)
    spline = curve.splines.new(kind)
    spline.resolution_u = resolution
    spline.use_cyclic_u = cyclic
    if kind == "BEZIER":
        spline.bezier_points.add(len(points) - 1)
        for point, place in zip(spline.bezier_points, points.tolist(), strict=True):
            point.co = place
            point.handle_left_type = point.handle_right_type = handles
    else:
        spline.points.add(len(points) - 1)
        spline.points.foreach_set("co", np.hstack([points, np.ones((len(points), 1), dtype=np.float32)]).ravel())
        spline.order_u = min(4, len(points))
        spline.use_endpoint_u = not cyclic
    return spline


def make_curve(*splines, name="Rope"):
    """A curve object, active, from (kind, points) or (kind, points, cyclic)."""
    curve = bpy.data.curves.new(name, "CURVE")
    curve.dimensions = "3D"
    for spline in splines or (("POLY", line()),):
        add_spline(curve, *spline)
    obj = bpy.data.objects.new(name, curve)
    bpy.context.collection.objects.link(obj)
    activate(obj)
    bpy.context.view_layer.update()  # Blender computes automatic handles here
    return obj


def make_rod(*splines, name="Rope", **settings):
    obj = make_curve(*splines, name=name)
    for key, value in settings.items():
        setattr(obj.tendril, key, value)
    assert bpy.ops.tendril.rod_add(fit=False) == {"FINISHED"}
    return obj


def activate(obj):
    for other in bpy.context.scene.objects:
        other.select_set(other == obj)
    bpy.context.view_layer.objects.active = obj


MIXED = (
    ("POLY", line(y=0.0)),
    ("BEZIER", line(4, y=0.4)),
    ("NURBS", line(7, y=0.8)),
    ("POLY", ring(x=0.5, y=1.5), True),
    ("BEZIER", ring(4, x=0.5, y=2.5), True),
    ("NURBS", ring(8, x=0.5, y=3.5), True),
)


def play(obj, last, first=None):
    """What the curve holds in each frame, played one after the other."""
    scene = bpy.context.scene
    shown = {}
    for frame in range(scene.frame_start if first is None else first, last + 1):
        scene.frame_set(frame)
        assert memory.status(obj.tendril.uid) == ""
        shown[frame] = read_rows(obj.data)
    return shown


def status(obj):
    return memory.status(obj.tendril.uid)


def evaluated_points(obj):
    """The points Blender draws, in the object's own space."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    points = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", points)
    evaluated.to_mesh_clear()
    return points.reshape(-1, 3)


def make_mesh(name="Floor", size=2.0, height=0.0, at=(0.0, 0.0, -0.2), collide=True, cuts=1):
    """A box if it has a height, else a square, with its top at `at`."""
    bpy.ops.mesh.primitive_cube_add() if height else bpy.ops.mesh.primitive_grid_add(
        x_subdivisions=cuts, y_subdivisions=cuts
    )
    obj = bpy.context.object
    obj.name = name
    points = np.empty(3 * len(obj.data.vertices), dtype=np.float32)
    obj.data.vertices.foreach_get("co", points)
    points = points.reshape(-1, 3) * np.array([size / 2, size / 2, height / 2], dtype=np.float32)
    points[:, 2] -= height / 2
    obj.data.vertices.foreach_set("co", points.ravel())
    obj.location = at
    bpy.context.view_layer.update()
    if collide:
        assert bpy.ops.tendril.collider_add() == {"FINISHED"}
    return obj
