"""Grooms on a head: thousands of strands drawn by a script, of which a few hundred guides are simulated."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import bpy
import numpy as np

from ..addon.bridge import hair_shapes
from ..addon.bridge.hair_shapes import Roots
from .studio import Colour, activate, use_nodes
from .surfaces import paint, skin

DOWN, BACK = np.array([0.0, 0.0, -1.0]), np.array([0.0, 1.0, 0.0])
PORCELAIN = (0.78, 0.66, 0.56)
EYE = (0.0232, -0.043, 0.0158)  # of Suzanne, 0.18 m wide


def monkey(size: float, location: tuple[float, float, float], colour: Colour) -> bpy.types.Object:
    """Suzanne, `size` m wide, smooth, with the size in its mesh and dark eyes."""
    bpy.ops.mesh.primitive_monkey_add()
    obj = bpy.context.active_object
    modifier = obj.modifiers.new("Smooth", "SUBSURF")
    modifier.levels = modifier.render_levels = 1
    bpy.ops.object.modifier_apply(modifier="Smooth")
    points = np.empty(3 * len(obj.data.vertices), dtype=np.float32)
    obj.data.vertices.foreach_get("co", points)
    width = float(np.ptp(points.reshape(-1, 3)[:, 0]))
    obj.data.vertices.foreach_set("co", points * np.float32(size / width))
    obj.data.update()
    bpy.ops.object.shade_smooth()
    obj.data.materials.append(skin("Skin", colour))
    obj.data.materials.append(paint("Eyes", (0.012, 0.008, 0.006), 0.06, 1.0))
    for polygon in obj.data.polygons:
        x, y, z = polygon.center
        if math.dist((abs(x), y, z), EYE) < 0.0150:
            polygon.material_index = 1
    obj.location = location
    bpy.context.view_layer.update()
    return obj


# Outline of a head and neck, metres above the chin: foremost and hindmost y, half the width. It looks along -y.
OUTLINE = np.array([
    (-0.125, -0.062, 0.104, 0.082), (-0.118, -0.062, 0.104, 0.082), (-0.105, -0.036, 0.082, 0.060), (-0.070, -0.022, 0.074, 0.052),
    (-0.030, -0.022, 0.073, 0.051), (-0.012, -0.036, 0.074, 0.051), (-0.002, -0.072, 0.076, 0.050), (0.014, -0.088, 0.080, 0.056),
    (0.045, -0.089, 0.089, 0.064), (0.070, -0.088, 0.098, 0.069), (0.100, -0.087, 0.105, 0.074), (0.130, -0.092, 0.108, 0.077),
    (0.160, -0.088, 0.105, 0.075), (0.185, -0.074, 0.094, 0.067), (0.205, -0.050, 0.073, 0.051), (0.218, -0.022, 0.044, 0.031),
    (0.223, 0.010, 0.012, 0.001),
])  # fmt: skip


def bust(location: tuple[float, float, float], surface: bpy.types.Material, around: int = 48) -> bpy.types.Object:
    """A head without features of anybody, on a neck, as hairdressers have them. It turns about the middle of its neck."""
    from scipy.interpolate import PchipInterpolator

    levels = np.concatenate([np.linspace(-0.125, 0.2, 44), 0.223 - 0.023 * np.linspace(1.0, 0.0, 9)[1:] ** 2])
    front, back, half = PchipInterpolator(OUTLINE[:, 0], OUTLINE[:, 1:])(levels).T[:, :, None]
    angle = np.linspace(0.0, 2.0 * math.pi, around, endpoint=False)
    x = half * np.sin(angle)
    y = 0.5 * (front + back) - 0.5 * (back - front) * np.cos(angle)
    z = np.broadcast_to(levels[:, None], x.shape)
    facing = np.clip(np.cos(angle), 0.0, 1.0)  # 1 in front
    bridge = np.interp(levels, [0.066, 0.074, 0.08, 0.118, 0.13], [0.0, 0.022, 0.023, 0.006, 0.0])[:, None]
    y = y - bridge * np.exp(-((x / 0.0115) ** 2)) * facing
    for height, much in ((0.05, 0.004), (0.039, 0.0045)):  # lips
        y = y - much * np.exp(-((x / 0.018) ** 2) - ((z - height) / 0.0055) ** 2) * facing
    sockets = np.exp(-(((np.abs(x) - 0.031) / 0.016) ** 2) - ((z - 0.108) / 0.012) ** 2)
    y = y + 0.0085 * sockets * facing
    points = np.stack([x, y, z], axis=2).reshape(-1, 3)
    rows, k = len(levels), np.arange(around)
    quads = [
        (a, b, b + around, a + around)
        for r in range(rows - 1)
        for a, b in zip((r * around + k).tolist(), (r * around + (k + 1) % around).tolist(), strict=True)
    ]
    mesh = bpy.data.meshes.new("Head")
    mesh.from_pydata(
        rounded_off(points).tolist(), [], [*quads, tuple(k[::-1].tolist()), tuple((k + (rows - 1) * around).tolist())]
    )
    mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    mesh.materials.append(surface)
    obj = bpy.data.objects.new("Head", mesh)
    obj.location = location
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.update()
    return obj


def rounded_off(x: np.ndarray) -> np.ndarray:
    """Positions on a grid of 4 µm: files with them compress to half the size."""
    return np.round(x * 2.0**18) / 2.0**18


def scatter(
    obj: bpy.types.Object, count: int, chosen: Callable[[np.ndarray, np.ndarray], np.ndarray], seed: int = 0
) -> Roots:
    """Roots spread evenly over the triangles whose centres and normals `chosen` accepts."""
    roots = hair_shapes.scatter(obj.data, count, np.random.default_rng(seed), chosen)
    assert roots is not None, f"no part of {obj.name} was chosen"
    return roots


def grow(
    roots: Roots, lengths: np.ndarray, points: int, direction: Callable[[np.ndarray, float], np.ndarray]
) -> np.ndarray:
    """(n, points, 3) strands that follow `direction`, given positions (n, 3) and the relative arc length."""
    x = np.empty((len(roots.x), points, 3))
    x[:, 0] = roots.x
    for k in range(1, points):
        way = direction(x[:, k - 1], (k - 0.5) / (points - 1))
        way = way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-12)
        x[:, k] = x[:, k - 1] + way * (lengths / (points - 1))[:, None]
    return x


def scalp(x: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Where hair grows on the head of `bust`: above a line from the forehead past the temples to the neck."""
    line = np.interp(x[:, 1], [-0.09, -0.06, -0.03, 0.0, 0.04, 0.1], [0.178, 0.17, 0.14, 0.1, 0.05, 0.025])
    return x[:, 2] > line


def locks(roots: Roots, each: int, spread: float, seed: int = 0) -> tuple[Roots, np.ndarray]:
    """So many roots about each root, within the distance `spread`, and the lock that each belongs to."""
    rng = np.random.default_rng(seed)
    shift = spread * rng.normal(size=(len(roots.x), each, 3)) / 1.7
    shift -= np.sum(shift * roots.normal[:, None], axis=2, keepdims=True) * roots.normal[:, None]
    return (
        Roots((roots.x[:, None] + shift).reshape(-1, 3), np.repeat(roots.normal, each, axis=0)),
        np.repeat(np.arange(len(roots.x)), each),
    )


def curled(
    roots: Roots, lock: np.ndarray, length: float, points: int, turns: float = 4.0, wide: float = 0.008
) -> np.ndarray:
    """Helical strands that stand off the head and then hang down; those of a lock share length and phase."""
    rng = np.random.default_rng(2)
    count = int(lock.max()) + 1
    phase = rng.uniform(0.0, 2.0 * math.pi, count)[lock]
    lengths = (length * rng.uniform(0.7, 1.0, count))[lock]
    lean = (0.3 * rng.normal(size=(count, 3)))[lock]
    # Above the forehead it is combed aside and back.
    front = np.clip((0.01 - roots.x[:, 1:2]) / 0.05, 0.0, 1.0)
    aside = front * (1.1 * BACK + np.sign(roots.x[:, :1]) * np.array([0.9, 0.0, 0.0]))

    def direction(x: np.ndarray, s: float) -> np.ndarray:
        standing = max(0.0, 1.0 - 1.6 * s) * roots.normal + (1.0 - s) * (0.35 * lean + 0.25 * BACK + 1.3 * aside)
        return standing + min(1.0, 2.2 * s) * 1.1 * DOWN

    axis = grow(roots, lengths, points, direction)
    s = np.linspace(0.0, 1.0, points)
    angle = phase[:, None] + 2.0 * math.pi * turns * s[None] * np.where(lock % 2 == 0, 1.0, -1.0)[:, None]
    along = np.gradient(axis, axis=1)
    along /= np.linalg.norm(along, axis=2, keepdims=True)
    e = np.cross(along, [0.31, 0.93, 0.2])
    e /= np.linalg.norm(e, axis=2, keepdims=True)
    out = np.minimum(1.0, 4.0 * s)[None, :, None] * wide
    curl = np.cos(angle)[..., None] * e + np.sin(angle)[..., None] * np.cross(along, e)
    stray = 0.0025 * s[None, :, None] * rng.normal(size=(len(lock), 1, 3))
    return axis + out * curl + stray


def hair_material(name: str, melanin: float, redness: float, roughness: float = 0.3) -> bpy.types.Material:
    result = bpy.data.materials.new(name)
    use_nodes(result)
    nodes, links = result.node_tree.nodes, result.node_tree.links
    hair = nodes.new("ShaderNodeBsdfHairPrincipled")
    hair.parametrization = "MELANIN"
    for key, value in {"Melanin": melanin, "Melanin Redness": redness, "Roughness": roughness, "Random Color": 0.3,
                       "Random Roughness": 0.2}.items():  # fmt: skip
        if key in hair.inputs:
            hair.inputs[key].default_value = value
    links.new(hair.outputs[0], nodes["Material Output"].inputs["Surface"])
    return result


def make_hair(
    name: str, head: bpy.types.Object, strands: np.ndarray, material: bpy.types.Material, thickness: float, guides: int,
    **settings: Any,
) -> bpy.types.Object:  # fmt: skip
    """Hair on a head, of which so many guides are simulated. `thickness` is the visible radius (m) at the root."""
    obj = hair_shapes.hair_object(name, head, rounded_off(strands))
    taper = np.linspace(1.0, 0.25, strands.shape[1]) * thickness
    hair_shapes.set_visible_radii(obj.data, np.tile(taper, len(strands)))
    obj.data.materials.append(material)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.update()
    for key, value in {"material": "HUMAN_HAIR", "radius": 4e-5, **settings}.items():
        setattr(obj.tendril, key, value)
    activate(obj)
    bpy.ops.tendril.simulate_guides(count=guides)
    return obj
