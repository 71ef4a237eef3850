"""Experiments of the papers, as scenes: twist that buckles rods, perversions, a torque transducer, a chain, a ringlet, a cage.

Sizes are those of things on a table; what decides the shape is as in the papers. There is no gravity where they have none.
"""

from __future__ import annotations

import math

import bpy
import numpy as np

from ..stage import Look, set_stage
from ..studio import Colour, add_rod, curve_object, cylinder
from ..surfaces import metal, paint, wood
from .building import attach, ball, bar, block, body, collide, helix, hold, move, rod, rounded, unseen


def twist_buckling(segments: int = 150, turns: float = 12.0, shortening: float = 0.135) -> None:
    """Fig. 7 of Discrete Elastic Rods with fewer turns: a twisted rod between two chucks, which approach each other. It buckles
    into a helix whose amplitude is largest in the middle."""
    length, height = 9.29 / 5.0, 0.42
    x = np.linspace(-0.5 * length, 0.5 * length, segments + 1)
    # Without a small deviation a perfectly straight rod would stay straight.
    aside = 2e-4 * np.exp(-((5.0 * x) ** 2)) * np.sin(12.0 * (x + 0.5 * length))
    points = np.stack([x, aside, np.full_like(x, height)], axis=1)
    line = rod("Rod", points, 0.009, _striped("Rubber", (0.8, 0.1, 0.05), (0.95, 0.85, 0.7)), radius=0.009,
               rest_shape="STRAIGHT", start_hold="FREE", bending_stiffness=1.345e-2, torsional_stiffness=0.789e-2,
               axial_stiffness=5e4, initial_twist=turns * 2.0 * math.pi, use_tilt=True)  # fmt: skip
    _weightless(drag=4.0)
    steel, iron = metal("Steel", (0.6, 0.61, 0.63), 0.2), paint("Cast Iron", (0.05, 0.07, 0.09), 0.4)
    for where, side in (("START", -1.0), ("END", 1.0)):
        chuck = rounded(bar("Chuck", 0.045, (side * 0.5 * length, 0.0, height), (side * (0.5 * length + 0.14), 0.0, height),
                            steel), 0.008)  # fmt: skip
        start = tuple(chuck.location)
        stand = rounded(block("Stand", (0.1, 0.14, height), (start[0] + 0.02 * side, 0.0, 0.5 * height), iron), 0.01)
        hold(stand, chuck)
        attach(line, chuck, where, use_rotation=True)
        move(chuck, "location", [(12, start), (84, (start[0] - 0.5 * side * shortening, 0.0, height))])
    set_stage(120, (0.25, -2.9, 0.8), (0.0, 0.0, 0.36), 47.0, Look((0.1, 0.28, 0.3)))


def michell_ring(segments: int = 60) -> None:
    """Fig. 8: rings with twist. Below 2π√3 EI/GJ the first stays flat; above it the other two leave their plane. They are of the
    model *Inextensible*."""
    radius, bending, ratio = 0.22, 2e-2, 0.8
    critical = 2.0 * math.pi * math.sqrt(3.0) / ratio
    angle = 2.0 * math.pi * np.arange(segments) / segments
    colours = ((0.02, 0.25, 0.6), (0.85, 0.45, 0.03), (0.7, 0.05, 0.06))
    for k, (share, colour) in enumerate(zip((0.9, 1.1, 1.5), colours, strict=True)):
        points = radius * np.stack([np.cos(angle), np.sin(angle), 2e-3 * np.cos(2.0 * angle)], axis=1)
        points += np.array([0.62 * (k - 1), 0.0, 0.35])
        ring = rod("Ring", points, 0.012, paint("Ring", colour, 0.3, 0.5), radius=0.012, rest_shape="STRAIGHT",
                   start_hold="FREE", model="compact", bending_stiffness=bending, torsional_stiffness=ratio * bending,
                   initial_twist=share * critical)  # fmt: skip
        ring.data.splines[0].use_cyclic_u = True
    _weightless(drag=0.5)
    bpy.context.scene.tendril.rod_contact = True
    set_stage(144, (0.1, -2.0, 1.3), (0.0, 0.0, 0.33), 46.0, Look((0.6, 0.44, 0.26)))


def plectoneme(segments: int = 96) -> None:
    """Fig. 9: the ends of a slack rubber cord are turned, and it winds about itself."""
    span, leg, height, turns, thick = 0.5, 0.2, 1.0, 12.0, 0.01
    points = _hanging(span, leg, segments) + np.array([0.0, 0.0, height])
    line = rod("Cord", points, thick, _striped("Rubber", (0.03, 0.1, 0.35), (0.9, 0.7, 0.2)), radius=thick,
               rest_shape="STRAIGHT", start_hold="FREE", material="CUSTOM", young_modulus=1e6, poisson_ratio=0.49,
               density=1100.0, damping_time=0.02, strands=1.0, friction=0.1, use_tilt=True)  # fmt: skip
    shared = bpy.context.scene.tendril
    shared.rod_contact, shared.drag = True, 2.0
    brass = metal("Brass", (0.75, 0.47, 0.15), 0.2)
    block("Beam", (1.0, 0.12, 0.06), (0.0, 0.0, height + 0.1), wood("Oak"), 0.01)
    for where, side in (("START", -1.0), ("END", 1.0)):
        spindle = rounded(cylinder("Spindle", 0.022, 0.24, brass), 0.004)
        spindle.location = (0.5 * side * span, 0.0, height + 0.115)
        knob = rounded(block("Knob", (0.16, 0.024, 0.02), (0.5 * side * span, 0.0, height + 0.23), brass), 0.006)
        hold(knob, spindle)
        attach(line, spindle, where, use_rotation=True)
        move(spindle, "rotation_euler", [(1, (0.0, 0.0, 0.0)), (100, (0.0, 0.0, math.pi * turns))])
    set_stage(120, (0.4, -2.0, 0.95), (0.0, 0.0, 0.87), 58.0, Look((0.35, 0.12, 0.05)), ground=0.45)


def perversion(coils: int = 6, per_coil: int = 24) -> None:
    """Fig. 2: a tendril that was wound to a coil is held straight. As its ends approach each other without turning, one half winds
    to the right and the other to the left, with a perversion between them."""
    radius, height = 0.055, 0.45
    rest = helix(coils, per_coil, radius, 0.0, 0.0)
    length = float(np.linalg.norm(np.diff(rest, axis=0), axis=1).sum())
    natural = curve_object("Natural Shape", "POLY", rest, 0.0, paint("Natural", (0.5, 0.5, 0.5)))
    natural.hide_render = natural.hide_viewport = True
    x = np.linspace(-0.5 * length, 0.5 * length, len(rest))
    # The seed of the two helices, a fifth of a millimetre wide, makes the perversion form in the middle.
    phase, seed = 8.0 * np.pi * np.abs(x) / length, 2e-4 * np.cos(np.pi * x / length) ** 2
    points = np.stack([x, seed * np.sin(phase) * np.sign(x), height + seed * np.cos(phase)], axis=1)
    tendril = rod("Tendril", points, 0.01, paint("Stem", (0.12, 0.36, 0.05), 0.4, 0.3), radius=0.01, rest_shape="OBJECT",
                  rest_object=natural, start_hold="FREE", material="CUSTOM", density=500.0, bending_stiffness=0.2,
                  torsional_stiffness=0.15)  # fmt: skip
    _weightless(drag=3.0)
    bark = wood("Bark", ((0.08, 0.035, 0.015), (0.3, 0.16, 0.07)), axis=2)
    for where, side in (("START", -1.0), ("END", 1.0)):
        place = (0.5 * side * length, 0.0, height)
        stake = rounded(bar("Stake", 0.025, (place[0], 0.0, -0.1), (place[0], 0.0, 0.62), bark), 0.008)
        attach(tendril, stake, where, use_rotation=True)
        start = tuple(stake.location)
        move(stake, "location", [(6, start), (130, (start[0] - 0.32 * side * length, 0.0, start[2]))])
    set_stage(150, (0.25, -2.7, 0.75), (0.0, 0.0, 0.4), 42.0, Look((0.2, 0.42, 0.5)))


def torque_transducer(segments: int = 40) -> None:
    """Fig. 6: a twisted rod between a heavy and a light body, which oscillate against each other."""
    length, height = 0.8, 0.45
    points = np.linspace((-0.5 * length, 0.0, height), (0.5 * length, 0.0, height), segments + 1)
    line = rod("Shaft", points, 0.01, _striped("Rubber", (0.05, 0.3, 0.12), (0.9, 0.85, 0.7)), radius=0.01, start_hold="FREE",
               material="CUSTOM", young_modulus=2e7, poisson_ratio=0.45, density=1100.0, damping_time=0.0, strands=1.0,
               initial_twist=math.pi, use_tilt=True)  # fmt: skip
    _weightless(drag=0.0)
    steel, red = metal("Steel", (0.45, 0.46, 0.48), 0.25), paint("Lacquer", (0.7, 0.04, 0.03), 0.25, 0.5)
    heavy = block("Heavy", (0.1, 0.36, 0.36), (-0.5 * length - 0.05, 0.0, height), steel)
    light = block("Light", (0.06, 0.3, 0.05), (0.5 * length + 0.03, 0.0, height), red)
    for part, mass, where in ((heavy, 20.0, "START"), (light, 0.4, "END")):
        body(part, mass)
        part.rigid_body.linear_damping = part.rigid_body.angular_damping = 0.0
        rounded(part, 0.01)
        attach(line, part, where, use_rotation=True)
    set_stage(120, (0.75, -1.9, 1.0), (0.0, 0.0, 0.4), 44.0, Look((0.05, 0.1, 0.24)))


def open_chain(links: int = 6, segments: int = 28) -> None:
    """Fig. 10: the ends of a chain of open links are pulled apart until links open and slip off."""
    radius, thick, height = 0.1, 0.012, 0.62
    opening, pitch = 0.26, 0.165
    angle = np.linspace(0.5 * opening, 2.0 * math.pi - 0.5 * opening, segments + 1)
    surfaces = (metal("Copper", (0.8, 0.36, 0.2), 0.25), metal("Silver", (0.75, 0.76, 0.78), 0.2))
    made = []
    for k in range(links):
        points = np.zeros((len(angle), 3))
        points[:, 0] = pitch * (k - 0.5 * (links - 1)) - radius * np.sin(angle)
        points[:, 1 + (k + 1) % 2] = radius * np.cos(angle)
        points[:, 2] += height
        made.append(rod("Link", points, thick, surfaces[k % 2], radius=thick, start_hold="FREE", friction=0.2, material="CUSTOM",
                        density=400.0, damping_time=3e-3, bending_stiffness=0.6, torsional_stiffness=0.6,
                        axial_stiffness=6e4))  # fmt: skip
    shared = bpy.context.scene.tendril
    shared.rod_contact, shared.drag, shared.substeps = True, 1.0, 8
    for link, side in ((made[0], -1.0), (made[-1], 1.0)):
        x = np.array([point.co[0] for point in link.data.splines[0].points])
        held = int(np.argmax(side * x))
        place = tuple(link.data.splines[0].points[held].co[:3])
        peg = ball("Peg", 0.03, place, paint("Peg", (0.05, 0.05, 0.06), 0.3, 0.5))
        attach(link, peg, "POINT", point=held)
        move(
            peg,
            "location",
            [(1, place), (24, (0.75 * place[0], 0.0, place[2])), (100, (1.7 * place[0], 0.0, place[2]))],
        )
    unseen(collide(block("Floor", (6.0, 6.0, 0.1), (0.0, 0.0, -0.05), surfaces[0])))
    set_stage(130, (0.25, -2.9, 0.75), (0.0, 0.0, 0.42), 50.0, Look((0.1, 0.13, 0.2)))


def ringlets(turns: int = 6, elements: int = 4) -> None:
    """Curls of the model *Curls*: each is a few elements whose curvature changes evenly along them."""
    for k, (x, colour) in enumerate(((-0.4, (0.7, 0.05, 0.12)), (0.0, (0.85, 0.5, 0.08)), (0.4, (0.05, 0.3, 0.5)))):
        curl = rod("Ringlet", _ringlet(turns, 14) + np.array([x, 0.0, 1.0]), 0.009, paint("Ribbon", colour, 0.25, 0.6),
                   model="clothoid", elements=elements, radius=0.004, start_hold="CLAMP", material="CUSTOM",
                   young_modulus=3e8, poisson_ratio=0.4, density=900.0, damping_time=0.01, strands=1.0)  # fmt: skip
        peg = rounded(cylinder("Peg", 0.03, 0.06, metal("Gold", (0.9, 0.65, 0.25), 0.2)), 0.01)
        peg.location = (x, 0.0, 1.03)
        curl.parent = peg
        bpy.context.view_layer.update()
        curl.matrix_parent_inverse = peg.matrix_basis.inverted()
        late = 2.0 * math.pi * k / 3.0
        move(peg, "location", [(1 + 4 * j, (x, 0.0, 1.03 + 0.05 * (math.sin(0.7 * j - late) + math.sin(late))))
                               for j in range(28)])  # fmt: skip
    set_stage(109, (0.4, -2.4, 0.9), (-0.06, 0.0, 0.76), 60.0, Look((0.5, 0.3, 0.38)), ground=0.2)


def twisted_cage(ribs: int = 4, segments: int = 14) -> None:
    """Fig. 13 of Cosserat Nets: a cage of rods, joined at its poles, is twisted and let back. It is of the model *CoRdE 2009*."""
    points, edges = [(0.0, 0.0, -1.0), (0.0, 0.0, 1.0)], []
    for rib in range(ribs):
        around, last = 2.0 * math.pi * rib / ribs, 0
        for s in range(1, segments):
            along = math.pi * s / segments
            points.append((math.sin(along) * math.cos(around), math.sin(along) * math.sin(around), -math.cos(along)))
            edges.append((last, len(points) - 1))
            last = len(points) - 1
        edges.append((last, 1))
    size, height = 0.35, 0.5
    mesh = bpy.data.meshes.new("Cage")
    mesh.from_pydata([(size * x, size * y, size * z + height) for x, y, z in points], edges, [])
    mesh.materials.append(paint("Cane", (0.8, 0.5, 0.16), 0.35, 0.4))
    cage = bpy.data.objects.new("Cage", mesh)
    bpy.context.scene.collection.objects.link(cage)
    cage.vertex_groups.new(name="Pins").add([0], 1.0, "REPLACE")
    for key, value in {"material": "CUSTOM", "young_modulus": 2e6, "density": 800.0, "damping_time": 0.01, "strands": 1.0,
                       "radius": 0.01, "pin_group": "Pins", "clamp_pins": True, "net_model": "corde"}.items():  # fmt: skip
        setattr(cage.tendril, key, value)
    add_rod(cage)
    cage.tendril.look = "CABLE"
    _weightless(drag=1.0)
    brass = metal("Brass", (0.75, 0.47, 0.15), 0.2)
    rounded(bar("Foot", 0.05, (0.0, 0.0, 0.0), (0.0, 0.0, height - size), brass), 0.01)
    knob = rounded(cylinder("Knob", 0.05, 0.05, brass), 0.01)
    knob.location = (0.0, 0.0, height + size + 0.02)
    grip = rounded(block("Grip", (0.24, 0.03, 0.03), (0.0, 0.0, height + size + 0.06), brass), 0.008)
    hold(grip, knob)
    attach(cage, knob, "POINT", point=1, use_rotation=True)
    turn = math.radians(200.0)
    move(
        knob,
        "rotation_euler",
        [(1, (0.0, 0.0, 0.0)), (60, (0.0, 0.0, turn)), (80, (0.0, 0.0, turn)), (120, (0.0, 0.0, 0.0))],
    )
    set_stage(130, (0.7, -2.1, 0.95), (0.0, 0.0, 0.5), 45.0, Look((0.05, 0.2, 0.22)))


def _weightless(drag: float) -> None:
    scene = bpy.context.scene
    scene.use_gravity = False
    scene.tendril.air_density, scene.tendril.drag = 0.0, drag


def _hanging(span: float, leg: float, segments: int) -> np.ndarray:
    """A cord that hangs in a half circle between two vertical legs, with vertices at equal distances."""
    arc = 0.5 * math.pi * span
    s = np.linspace(0.0, 2.0 * leg + arc, segments + 1)
    angle = np.clip(s - leg, 0.0, arc) / (0.5 * span)
    down = np.minimum(s, leg) - np.maximum(s - leg - arc, 0.0)
    return np.stack([-0.5 * span * np.cos(angle), 0.0 * s, -down - 0.5 * span * np.sin(angle)], axis=1)


def _ringlet(turns: int, per_turn: int) -> np.ndarray:
    """A helix that becomes narrower downwards. It begins vertically below its peg."""
    t = np.linspace(0.0, 1.0, turns * per_turn + 1)
    angle = 2.0 * math.pi * turns * t
    wide = 0.07 - 0.03 * t
    return np.stack([wide * np.cos(angle) - 0.07, wide * np.sin(angle), -0.5 * t], axis=1)


def _striped(name: str, colour: Colour, stripe: Colour) -> bpy.types.Material:
    """A stripe along a bevelled curve, which shows its twist: texture coordinates run along it and around it."""
    result = paint(name, colour, 0.35, 0.4)
    nodes, links = result.node_tree.nodes, result.node_tree.links
    place, parts, ramp = (nodes.new(f"ShaderNode{kind}") for kind in ("TexCoord", "SeparateXYZ", "ValToRGB"))
    ramp.color_ramp.interpolation = "CONSTANT"
    for element, value, where in zip(ramp.color_ramp.elements, (colour, stripe), (0.0, 0.65), strict=True):
        element.color, element.position = (*value, 1.0), where
    links.new(place.outputs["UV"], parts.inputs[0])
    links.new(parts.outputs[1], ramp.inputs[0])
    links.new(ramp.outputs[0], nodes["Principled BSDF"].inputs["Base Color"])
    return result
