"""Grooms on a head: thousands of strands drawn by a script, of which a few hundred guides are simulated."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import bpy
import numpy as np

from .studio import Colour, activate, use_nodes

DOWN = np.array([0.0, 0.0, -1.0])
SKIN = (0.55, 0.33, 0.24)


class Roots(NamedTuple):
    """Points on a mesh, in its own space, with outward normals."""

    x: np.ndarray  # (n, 3)
    normal: np.ndarray  # (n, 3)


def monkey(size: float, location: tuple[float, float, float], colour: Colour) -> bpy.types.Object:
    """Suzanne, `size` m wide, smooth, with the size in its mesh."""
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
    skin = bpy.data.materials.new("Skin")
    use_nodes(skin)
    surface = skin.node_tree.nodes["Principled BSDF"]
    surface.inputs["Base Color"].default_value = (*colour, 1.0)
    surface.inputs["Roughness"].default_value = 0.5
    obj.data.materials.append(skin)
    obj.location = location
    bpy.context.view_layer.update()
    return obj


def scatter(
    obj: bpy.types.Object, count: int, chosen: Callable[[np.ndarray, np.ndarray], np.ndarray], seed: int = 0
) -> Roots:
    """Points spread evenly over the triangles whose middles and normals `chosen` accepts."""
    mesh = obj.data
    mesh.calc_loop_triangles()
    x = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", x)
    corners = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
    mesh.loop_triangles.foreach_get("vertices", corners)
    a, b, c = np.moveaxis(x.reshape(-1, 3).astype(np.float64)[corners.reshape(-1, 3)], 1, 0)
    normal = np.cross(b - a, c - a)
    area = np.linalg.norm(normal, axis=1)
    normal /= np.maximum(area, 1e-30)[:, None]
    area = np.where(chosen((a + b + c) / 3.0, normal), area, 0.0)
    rng = np.random.default_rng(seed)
    face = rng.choice(len(area), count, p=area / area.sum())
    u, v = rng.uniform(size=(2, count, 1))
    u, v = np.where(u + v > 1.0, 1.0 - u, u), np.where(u + v > 1.0, 1.0 - v, v)
    return Roots(a[face] + u * (b - a)[face] + v * (c - a)[face], normal[face])


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
    """Top, sides and back of Suzanne's head, 0.18 m wide, without face and ears."""
    back = x[:, 1] > 0.012 - 0.6 * np.maximum(x[:, 2] - 0.025, 0.0)
    return back & (x[:, 2] > -0.02) & (np.abs(x[:, 0]) < 0.062) & (normal[:, 2] > -0.5)


def curled(roots: Roots, length: float, points: int) -> np.ndarray:
    """Helical strands in locks: neighbours share the phase of their curl."""
    rng = np.random.default_rng(2)
    cells = np.floor(roots.x / 0.011).astype(np.int64)
    _, lock = np.unique(cells, axis=0, return_inverse=True)
    lock = lock.ravel()
    phase, lengths = (
        rng.uniform(0.0, 2.0 * math.pi, lock.max() + 1)[lock],
        length * rng.uniform(0.7, 1.0, lock.max() + 1)[lock],
    )
    out = roots.normal
    axis = grow(
        roots, lengths, points, lambda x, s: (1.0 - 0.6 * s) * out + 0.9 * s * DOWN + 0.25 * np.array([0.0, 1.0, 0.0])
    )
    e = np.cross(out, [0.3, 0.2, 0.9])
    e /= np.linalg.norm(e, axis=1, keepdims=True)
    f = np.cross(out, e)
    s = np.linspace(0.0, 1.0, points)
    angle = phase[:, None] + 2.0 * math.pi * 3.0 * s[None]
    wide = 0.007 * np.minimum(1.0, 5.0 * s)[None, :, None]
    curl = np.cos(angle)[..., None] * e[:, None] + np.sin(angle)[..., None] * f[:, None]
    return axis + wide * curl + 0.0015 * s[None, :, None] * rng.normal(size=(len(out), 1, 3))


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
    count, points = strands.shape[:2]
    data = bpy.data.hair_curves.new(name)
    data.add_curves([points] * count)
    data.attributes["position"].data.foreach_set("vector", strands.astype(np.float32).ravel())
    taper = np.linspace(1.0, 0.25, points) * thickness
    data.attributes.new("radius", "FLOAT", "POINT")
    data.attributes["radius"].data.foreach_set("value", np.tile(taper, count).astype(np.float32))
    data.surface = head
    data.materials.append(material)
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    obj.parent = head
    bpy.context.view_layer.update()
    for key, value in {"material": "HUMAN_HAIR", "radius": 4e-5, **settings}.items():
        setattr(obj.tendril, key, value)
    activate(obj)
    bpy.ops.tendril.simulate_guides(count=guides)
    return obj
