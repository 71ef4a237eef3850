"""Hair, ribbons, plants and nets."""

from __future__ import annotations

import math

import bpy
import numpy as np

from ..grooms import SKIN, curled, hair_material, make_hair, monkey, scalp, scatter
from ..studio import activate, add_rod, curve_object, cylinder, material
from .building import attach, ball, collide, handle, move, rod, stage


def curly_hair(strands: int = 960, guides: int = 100) -> None:
    """Springy curls on a head that nods and turns. Guides are simulated, all other strands follow them."""
    head = collide(monkey(0.18, (0.0, 0.0, 1.4), SKIN))
    curls = curled(scatter(head, strands, scalp), 0.09, 20)
    make_hair("Hair", head, curls, hair_material("Hair", 0.6, 0.7), 4.7e-4, guides, hairs=30)
    nods = [(1 + 4 * k, (0.3 * math.sin(1.3 * k), 0.0, 0.2 * math.sin(0.6 * k))) for k in range(22)]
    move(head, "rotation_euler", nods)
    stage(85, (0.44, -0.6, 1.5), (0.02, 0.02, 1.41), 82.0, ground=None)


def ribbon() -> None:
    """A ribbon on a stick that moves in circles. The visible surface is the section of the rod, so that its twist can be seen."""
    middle, wide, length, long_stick = 1.45, 0.3, 1.2, 0.5
    top = middle + wide
    points = np.linspace((0.0, 0.0, top), (0.0, 0.0, top - length), 60)
    obj = curve_object("Ribbon", "POLY", points, 0.0, (0.75, 0.05, 0.2))
    obj.data.extrude = 0.03
    obj.data.splines[0].points.foreach_set("tilt", np.full(60, 0.5 * math.pi))  # its wide side faces the camera
    settings = {"material": "CUSTOM", "young_modulus": 5e7, "poisson_ratio": 0.3, "density": 900.0, "damping_time": 0.01,
                "strands": 1.0, "section": "RIBBON", "radius": 0.03, "flatness": 0.04, "start_hold": "FREE"}  # fmt: skip
    for key, value in settings.items():
        setattr(obj.tendril, key, value)
    add_rod(obj)
    stick = cylinder("Stick", 0.012, long_stick, (0.6, 0.5, 0.35))
    for vertex in stick.data.vertices:  # moves the origin to the end that is held
        vertex.co.z += 0.5 * long_stick
    stick.rotation_euler = (-0.9, 0.5, 0.0)
    stick.location = points[0]
    attach(obj, stick, "START", use_rotation=True)
    turns = [
        (1 + 3 * k, (wide * math.sin(0.55 * k), 0.15 * math.sin(0.28 * k), middle + wide * math.cos(0.55 * k)))
        for k in range(37)
    ]
    move(stick, "location", turns)
    stage(109, (0.5, -3.8, 1.3), (0.0, -0.2, 1.15))


def climbing_vine() -> None:
    """A shoot in wide turns about a pole grows and curls until it grips the pole."""
    pole = collide(cylinder("Pole", 0.05, 1.6, (0.35, 0.2, 0.08)))
    pole.location = (0.0, 0.0, 0.8)
    angle = np.linspace(0.0, 3.5 * 2.0 * math.pi, 100)
    points = np.stack([0.12 * np.cos(angle), 0.12 * np.sin(angle), 1.05 * angle / angle[-1]], axis=1)
    vine = rod("Vine", points, 0.007, (0.1, 0.35, 0.05), material="VINE", start_hold="CLAMP")
    for name, grown in (("length_factor", 1.15), ("curl_factor", 2.2)):
        setattr(vine.tendril, name, 1.0)
        vine.tendril.keyframe_insert(name, frame=1)
        setattr(vine.tendril, name, grown)
        vine.tendril.keyframe_insert(name, frame=100)
    bpy.context.scene.frame_set(1)
    stage(120, (0.6, -2.4, 0.9), (0.0, 0.0, 0.62))


def fishing_net(cells: int = 12) -> None:
    """A net pinned at its four corners; a ball rises into it from below and sinks back."""
    n = cells + 1
    at = np.linspace(-0.6, 0.6, n)
    points = [(float(x), float(y), 1.0) for y in at for x in at]
    edges = [(r * n + c, r * n + c + 1) for r in range(n) for c in range(cells)]
    edges += [(r * n + c, (r + 1) * n + c) for r in range(cells) for c in range(n)]
    mesh = bpy.data.meshes.new("Net")
    mesh.from_pydata(points, edges, [])
    net = bpy.data.objects.new("Net", mesh)
    bpy.context.scene.collection.objects.link(net)
    net.vertex_groups.new(name="Pins").add([0, cells, n * n - n, n * n - 1], 1.0, "REPLACE")
    for key, value in {"material": "NYLON_ROPE", "radius": 0.004, "pin_group": "Pins"}.items():
        setattr(net.tendril, key, value)
    add_rod(net)
    skin = net.modifiers.new("Cords", "SKIN")
    for vertex in mesh.skin_vertices[0].data:
        vertex.radius = (0.006, 0.006)
    skin.use_smooth_shade = True
    mesh.materials.append(material("Net", (0.05, 0.35, 0.4)))
    float_ = collide(ball("Ball", 0.2, (0.1, 0.05, 0.5), (0.8, 0.3, 0.02)))
    move(float_, "location", [(1, (0.1, 0.05, 0.5)), (36, (0.1, 0.05, 1.25)), (72, (0.1, 0.05, 0.4))])
    stage(96, (1.2, -3.0, 1.7), (0.0, 0.0, 0.85))


def tree_in_wind() -> None:
    """Branches tied together into one tree sway in a turbulent wind."""
    rng = np.random.default_rng(5)
    curve = bpy.data.curves.new("Tree", "CURVE")
    curve.dimensions, curve.bevel_depth, curve.use_fill_caps = "3D", 0.03, True

    def branch(start: np.ndarray, along: np.ndarray, length: float, thick: float, level: int) -> None:
        spline = curve.splines.new("POLY")
        count = 4 + level
        positions = start + np.linspace(0.0, length, count)[:, None] * along
        spline.points.add(count - 1)
        spline.points.foreach_set("co", np.hstack([positions, np.ones((count, 1))]).ravel())
        spline.points.foreach_set("radius", np.linspace(thick, 0.75 * thick, count))
        spline.points.foreach_set("weight_softbody", np.zeros(count))
        if level == 3:
            spline.points[0].weight_softbody = 1.0
        if level == 0:
            return
        side = np.cross(along, rng.standard_normal(3))
        side /= np.linalg.norm(side)
        for lean, shrink in ((0.4, 0.8), (-0.7, 0.7)):
            way = math.cos(lean) * along + math.sin(lean) * side
            branch(positions[-1], way / np.linalg.norm(way), shrink * length, 0.7 * thick, level - 1)

    branch(np.zeros(3), np.array([0.0, 0.0, 1.0]), 0.8, 1.0, 3)
    curve.materials.append(material("Tree", (0.25, 0.14, 0.06)))
    obj = bpy.data.objects.new("Tree", curve)
    bpy.context.scene.collection.objects.link(obj)
    activate(obj)
    settings = {"material": "CUSTOM", "young_modulus": 1.5e8, "poisson_ratio": 0.3, "density": 600.0, "damping_time": 0.01,
                "strands": 1.0, "tie_splines": True,
                "tie_distance": 0.005, "radius_from": "CURVE", "pin_by_weight": True, "clamp_pins": True,
                "start_hold": "FREE"}  # fmt: skip
    for key, value in settings.items():
        setattr(obj.tendril, key, value)
    add_rod(obj)
    bpy.context.scene.tendril.wind = (9.0, 0.0, 0.0)
    eddies = handle("Eddies", (0.0, 0.0, 1.5))
    activate(eddies)
    bpy.ops.object.forcefield_toggle()
    eddies.field.type, eddies.field.strength, eddies.field.size = "TURBULENCE", 12.0, 1.0
    move(eddies, "location", [(1, (0.0, 0.0, 1.5)), (121, (20.0, 0.0, 1.5))])
    stage(120, (0.5, -5.2, 1.4), (0.3, 0.0, 1.15))
