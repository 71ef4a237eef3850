"""Hair, ribbons, plants and nets."""

from __future__ import annotations

import math

import bpy
import numpy as np

from ..grooms import PORCELAIN, bust, curled, hair_material, locks, make_hair, scalp, scatter
from ..stage import Look, set_stage
from ..studio import activate, add_rod, curve_object, cylinder
from ..surfaces import fibre, paint, skin, stone, two_sided, wood
from .building import attach, ball, bar, collide, handle, move, rod, rounded
from .foliage import add_leaves, add_strands


def curly_hair(strands: int = 900, guides: int = 120, copies: int = 14) -> None:
    """Curls on a head that nods and turns. Guides are simulated, other strands follow them, and copies fill the locks."""
    head = collide(bust((0.0, 0.0, 1.4), skin("Porcelain", PORCELAIN)))
    roots, lock = locks(scatter(head, strands, scalp), 1, 0.0)
    curls = curled(roots, lock, 0.16, 22)
    auburn = hair_material("Hair", 0.62, 0.85)
    hair = make_hair("Hair", head, curls, auburn, 2e-4, guides, hairs=30)
    add_strands(hair, copies, 0.0042, auburn)
    nods = [(1 + 4 * k, (0.22 * math.sin(0.9 * k), 0.0, 0.45 * math.sin(0.5 * k))) for k in range(26)]
    move(head, "rotation_euler", nods)
    set_stage(101, (0.5, -0.95, 1.58), (0.0, 0.02, 1.475), 55.0, Look((0.09, 0.3, 0.32)), ground=1.0)


def ribbon() -> None:
    """A gymnast's ribbon in the wind, on a stick that moves in circles: it draws a spiral, and its two colours show its twist."""
    middle, wide, length, long_stick, n = 1.3, 0.2, 1.9, 0.45, 90
    start = np.array([-0.85, 0.0, middle + wide])
    points = np.linspace(start, start + np.array([length, 0.0, 0.0]), n)
    obj = curve_object("Ribbon", "POLY", points, 0.0, two_sided("Satin", (0.75, 0.02, 0.14), (0.9, 0.5, 0.08)))
    obj.data.extrude = 0.035
    settings = {"material": "CUSTOM", "young_modulus": 5e7, "poisson_ratio": 0.3, "density": 900.0, "damping_time": 0.01,
                "strands": 1.0, "section": "RIBBON", "radius": 0.035, "flatness": 0.01, "start_hold": "FREE"}  # fmt: skip
    for key, value in settings.items():
        setattr(obj.tendril, key, value)
    add_rod(obj)
    bpy.context.scene.tendril.wind = (7.0, 0.0, 0.0)
    stick = cylinder("Stick", 0.011, long_stick, paint("Lacquer", (0.85, 0.8, 0.7), 0.2, 0.6))
    for vertex in stick.data.vertices:  # moves the origin to the end that is held
        vertex.co.z += 0.5 * long_stick
    stick.rotation_euler = (0.0, -2.0, 0.0)
    stick.location = points[0]
    attach(obj, stick, "START", use_rotation=True)
    turns = [(1 + 3 * k, (-0.85, wide * math.sin(0.8 * k), middle + wide * math.cos(0.8 * k))) for k in range(41)]
    move(stick, "location", turns)
    set_stage(120, (0.35, -4.1, 1.05), (0.0, 0.0, 0.68), 41.0, Look((0.05, 0.06, 0.2)), ground=-0.4)


def climbing_vine() -> None:
    """A shoot in wide turns about a pole grows and curls until it grips the pole."""
    pole = collide(cylinder("Pole", 0.05, 1.6, wood("Bark", ((0.08, 0.035, 0.015), (0.3, 0.16, 0.07)), axis=2)))
    pole.location = (0.0, 0.0, 0.8)
    angle = np.linspace(0.0, 3.5 * 2.0 * math.pi, 100)
    points = np.stack([0.12 * np.cos(angle), 0.12 * np.sin(angle), 1.05 * angle / angle[-1]], axis=1)
    vine = rod(
        "Vine", points, 0.008, paint("Stem", (0.1, 0.32, 0.04), 0.45), material="VINE", radius=0.007, start_hold="CLAMP"
    )
    add_leaves(vine, 0.062, 17, 0.02, paint("Leaf", (0.09, 0.34, 0.03), 0.4, Subsurface_Weight=0.1))
    for name, grown in (("length_factor", 1.15), ("curl_factor", 2.2)):
        setattr(vine.tendril, name, 1.0)
        vine.tendril.keyframe_insert(name, frame=1)
        setattr(vine.tendril, name, grown)
        vine.tendril.keyframe_insert(name, frame=100)
    bpy.context.scene.frame_set(1)
    pot = rounded(cylinder("Pot", 0.17, 0.26, stone("Clay", ((0.4, 0.14, 0.06), (0.62, 0.27, 0.14)), 20.0, 0.1)), 0.015)
    for vertex in pot.data.vertices:
        if vertex.co.z < 0.0:
            vertex.co.x, vertex.co.y = 0.72 * vertex.co.x, 0.72 * vertex.co.y
    pot.location = (0.0, 0.0, -0.14)
    soil = cylinder("Soil", 0.155, 0.01, stone("Soil", ((0.02, 0.012, 0.008), (0.09, 0.055, 0.035)), 40.0))
    soil.location = (0.0, 0.0, -0.008)
    set_stage(120, (0.7, -2.4, 0.8), (0.0, 0.0, 0.4), 46.0, Look((0.22, 0.47, 0.48)), ground=-0.27)


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
    for key, value in {"material": "NYLON_ROPE", "radius": 0.005, "pin_group": "Pins"}.items():
        setattr(net.tendril, key, value)
    mesh.materials.append(fibre("Cord", (0.75, 0.66, 0.48)))
    add_rod(net)
    net.tendril.look = "ROPE"
    pine = wood("Pine", ((0.2, 0.09, 0.03), (0.5, 0.29, 0.12)), axis=2)
    for x in (-0.62, 0.62):
        for y in (-0.62, 0.62):
            rounded(bar("Pole", 0.03, (x, y, 0.0), (x, y, 1.08), pine), 0.01)
    float_ = collide(ball("Ball", 0.2, (0.1, 0.05, 0.5), paint("Buoy", (0.85, 0.16, 0.02), 0.2, 0.7)))
    move(float_, "location", [(1, (0.1, 0.05, 0.5)), (36, (0.1, 0.05, 1.25)), (72, (0.1, 0.05, 0.4))])
    set_stage(96, (1.35, -2.75, 1.9), (0.0, 0.0, 0.82), 42.0, Look((0.04, 0.22, 0.36)))


def tree_in_wind(levels: int = 4) -> None:
    """Branches tied together into one tree sway in a turbulent wind."""
    rng = np.random.default_rng(5)
    curve = bpy.data.curves.new("Tree", "CURVE")
    curve.dimensions, curve.bevel_depth, curve.use_fill_caps = "3D", 0.034, True
    growing = [(np.zeros(3), np.array([0.0, 0.0, 1.0]), 0.8, 1.0, levels)]
    while growing:
        start, along, length, thick, level = growing.pop(0)
        end = _branch(curve, start, along, length, thick, 4 + min(level, 3), clamp=level == levels)
        side = np.cross(along, rng.standard_normal(3))
        side /= np.linalg.norm(side)
        for lean, shrink in ((0.42, 0.8), (-0.7, 0.7)) if level else ():
            way = math.cos(lean) * along + math.sin(lean) * side
            growing.append((end, way / np.linalg.norm(way), shrink * length, 0.7 * thick, level - 1))
    curve.materials.append(wood("Bark", ((0.05, 0.025, 0.012), (0.2, 0.11, 0.06)), axis=2))
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
    add_leaves(obj, 0.15, 3, 0.9, paint("Leaf", (0.75, 0.2, 0.02), 0.45, Subsurface_Weight=0.1))
    bpy.context.scene.tendril.wind = (9.0, 0.0, 0.0)
    eddies = handle("Eddies", (0.0, 0.0, 1.5))
    activate(eddies)
    bpy.ops.object.forcefield_toggle()
    eddies.field.type, eddies.field.strength, eddies.field.size = "TURBULENCE", 12.0, 1.0
    move(eddies, "location", [(1, (0.0, 0.0, 1.5)), (121, (20.0, 0.0, 1.5))])
    hill = ball("Hill", 3.0, (0.0, 0.0, -2.93), stone("Grass", ((0.05, 0.1, 0.015), (0.16, 0.26, 0.04)), 5.0))
    hill.scale.z = 0.98
    set_stage(
        120, (0.6, -5.4, 1.5), (0.2, 0.0, 1.32), 38.0, Look((0.18, 0.42, 0.6), key=(1.0, 0.82, 0.55)), ground=-1.0
    )


def _branch(
    curve: bpy.types.Curve, start: np.ndarray, along: np.ndarray, length: float, thick: float, count: int, clamp: bool
) -> np.ndarray:
    """Adds a straight branch and returns its end. The first point of the trunk is clamped, by its weight."""
    spline = curve.splines.new("POLY")
    positions = start + np.linspace(0.0, length, count)[:, None] * along
    spline.points.add(count - 1)
    spline.points.foreach_set("co", np.hstack([positions, np.ones((count, 1))]).ravel())
    spline.points.foreach_set("radius", np.linspace(thick, 0.75 * thick, count))
    spline.points.foreach_set("weight_softbody", np.zeros(count))
    spline.points[0].weight_softbody = float(clamp)
    return positions[-1]
