"""Grooms for docs/gallery: more hair than a sample needs, with Cycles in mind. gallery.py renders them."""

from __future__ import annotations

import math

import bpy
import numpy as np
from mathutils import Vector

from ..addon.bridge.hair_shapes import Roots, hair_object, set_visible_radii
from .grooms import (
    DOWN,
    PORCELAIN,
    bust,
    grow,
    hair_material,
    make_hair,
    monkey,
    scalp,
    scatter,
)
from .samples.building import bar, block, collide, move, unseen
from .stage import Look, set_stage
from .studio import finish
from .surfaces import paint, skin, wood

CENTRE = np.array([0.0, 0.01, 0.12])  # of the head


def long_hair() -> None:
    """Long straight hair on a head that shakes: 12,000 strands, 200 guides."""
    head = _head()
    roots = scatter(head, 12_000, scalp)
    rng = np.random.default_rng(1)
    lengths = 0.34 * rng.uniform(0.8, 1.0, len(roots.x))
    out = roots.normal + 0.1 * rng.normal(size=roots.normal.shape)
    side = np.stack([np.sign(roots.x[:, 0]) * 0.5, np.full(len(out), 1.0), np.zeros(len(out))], axis=1)

    def direction(x: np.ndarray, s: float) -> np.ndarray:
        """Up from the skin, aside from the parting, around the head and down."""
        combed = (
            max(0.0, 1.0 - 9.0 * s) * out + max(0.0, 1.0 - 2.6 * s) * 1.7 * side + min(1.0, 0.2 + 2.5 * s) * 1.2 * DOWN
        )
        return _around(x, combed)

    make_hair(
        "Hair",
        head,
        grow(roots, lengths, 24, direction),
        hair_material("Hair", 0.5, 0.75),
        1.1e-4,
        200,
        hairs=50,
        use_follow=True,
        follow_time=0.08,
    )
    _shake(head, 0.1, 0.6)
    set_stage(97, (0.85, -0.75, 1.56), (0.0, 0.03, 1.42), 46.0, Look((0.06, 0.14, 0.3), rim_strength=1.6), ground=0.9)


def fur() -> None:
    """Short fur on a creature that jumps: 24,000 strands, 300 guides."""
    body = monkey(0.18, (0.0, 0.0, 1.4), (0.3, 0.16, 0.1))

    def covered(x: np.ndarray, normal: np.ndarray) -> np.ndarray:
        eyes = np.hypot(np.abs(x[:, 0]) - 0.0226, x[:, 2] - 0.016) < 0.0185
        muzzle = (np.hypot(x[:, 0], x[:, 2] + 0.03) < 0.012) & (x[:, 1] < -0.02)
        return ~((eyes | muzzle) & (x[:, 1] < 0.0))

    roots = scatter(body, 24_000, covered)
    rng = np.random.default_rng(3)
    back = np.array([0.0, 0.8, -0.45])
    noise = 0.25 * rng.normal(size=roots.normal.shape)
    lengths = np.where(roots.x[:, 1] < -0.03, 0.01, 0.026) * rng.uniform(0.6, 1.0, len(roots.x))
    strands = grow(roots, lengths, 8, lambda x, s: roots.normal + (0.3 + 1.2 * s) * back + noise)
    make_hair("Fur", body, strands, hair_material("Fur", 0.3, 0.9, 0.4), 1.1e-4, 300, radius=1.5e-5, hairs=10)
    jumps = [(1 + 3 * k, (0.0, 0.0, 1.35 + 0.07 * abs(math.sin(math.pi * k / 4.0)))) for k in range(33)]
    move(body, "location", jumps)
    bpy.context.scene.tendril.air_density = 1.2
    set_stage(97, (0.3, -0.62, 1.47), (0.01, 0.0, 1.385), 48.0, Look((0.16, 0.3, 0.16), rim_strength=1.5), ground=1.27)


def _head() -> bpy.types.Object:
    bpy.context.scene.tendril.air_density = 1.2
    return collide(bust((0.0, 0.0, 1.4), skin("Porcelain", PORCELAIN)))


def _shake(head: bpy.types.Object, nod: float, turn: float) -> None:
    """Nods and turns by these angles (rad), both with whole periods within 97 frames."""
    phase = 2.0 * math.pi / 24.0
    keys = [(1 + 4 * k, (nod * math.sin(3.0 * phase * k), 0.0, turn * math.sin(2.0 * phase * k))) for k in range(25)]
    move(head, "rotation_euler", keys)


def _reach(away: np.ndarray) -> np.ndarray:
    """Distance from the head's centre to its surface, an ellipsoid, divided by that of the points."""
    return 1.0 / np.maximum(np.linalg.norm(away / np.array([0.078, 0.102, 0.106]), axis=-1, keepdims=True), 1e-9)


def _around(x: np.ndarray, way: np.ndarray) -> np.ndarray:
    """The direction without its part into the head, near the head."""
    away = x - CENTRE
    normal = away / np.array([0.078, 0.102, 0.106]) ** 2
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    near = np.clip(9.0 * (_reach(away) - 0.93), 0.0, 1.0)  # 1 within the head, 0 well outside
    inwards = np.minimum(np.sum(way * normal, axis=1, keepdims=True), 0.0)
    return way - near * inwards * normal + 0.5 * near * normal


# Ponytail and braid ------------------------------------------------------------------------------------------------

TIE, TIE_AXIS = np.array([0.0, 0.116, 0.168]), np.array([0.0, 0.86, 0.5])  # in the space of the head


def ponytail() -> None:
    """A ponytail on a head that nods and shakes: 15,000 strands are combed back, 7,000 hang from the tie, 16 guides."""
    head = _head()
    blond = hair_material("Hair", 0.3, 0.55)
    _comb_back(head, 16_000, blond)
    roots = scatter(_tie(head, paint("Velvet", (0.42, 0.012, 0.05), 0.6)), 7_000, lambda x, normal: x[:, 0] < 1.0)
    make_hair(
        "Tail", head, _tail(roots.x - TIE, 0.3, 24), blond, 1.1e-4, 16, radius=7e-5, hairs=100, guide_influences=5
    )
    _shake(head, 0.28, 0.5)
    set_stage(97, (1.02, 0.36, 1.5), (0.0, 0.1, 1.445), 50.0, Look((0.34, 0.2, 0.3), rim_strength=1.7), ground=0.95)


def braid() -> None:
    """A braid on a head that shakes: 11,000 strands are combed back, 6,000 are plaited and follow one guide along its axis."""
    head = _head()
    dark = hair_material("Hair", 0.55, 0.9)
    _comb_back(head, 12_000, dark)
    roots = scatter(_tie(head, paint("Velvet", (0.02, 0.2, 0.24), 0.6)), 6_000, lambda x, normal: x[:, 0] < 1.0)
    strands = np.concatenate([_axis(0.34, 48, 0.3)[0][None], _plaited(roots.x - TIE, 0.34, 48)])
    hair = make_hair("Braid", head, strands, dark, 1.2e-4, 1, radius=1e-4, hairs=4000)
    hair.data.attributes.new("guide", "FLOAT", "CURVE")
    hair.data.attributes["guide"].data.foreach_set("value", np.eye(1, len(strands), dtype=np.float32).ravel())
    hair.tendril.guide_group = "guide"
    _shake(head, 0.16, 0.75)
    set_stage(97, (0.66, 0.9, 1.53), (0.0, 0.075, 1.435), 51.0, Look((0.5, 0.33, 0.12), rim_strength=1.7), ground=0.95)


def _comb_back(head: bpy.types.Object, count: int, material: bpy.types.Material, points: int = 14) -> None:
    """Strands from the scalp over the head to the tie, which are not simulated."""
    rng = np.random.default_rng(5)
    roots = scatter(head, count, lambda x, normal: scalp(x + np.array([0.0, 0.0, 0.012]), normal), seed=5)
    kept = scalp(roots.x + np.array([0.0, 0.0, 0.003]) * rng.normal(size=(count, 1)), roots.normal)  # a soft hairline
    roots = Roots(roots.x[kept], roots.normal[kept])
    count = len(roots.x)
    s = np.linspace(0.0, 1.0, points)
    start, stop = _unit(roots.x - CENTRE), _unit(TIE - CENTRE)
    angle = np.arccos(np.clip(start @ stop, -1.0, 1.0))[:, None, None]
    way = _unit(np.sin((1.0 - s)[:, None] * angle) * start[:, None] + np.sin(s[:, None] * angle) * stop)
    skull = np.array([[_distance(head, u) for u in strand] for strand in way])
    lift = 0.001 + rng.uniform(0.0, 0.006, (count, 1)) * np.sqrt(s)
    x = CENTRE + (skull + lift)[..., None] * way
    x[:, 0] = roots.x
    gathered = (np.clip((s - 0.7) / 0.3, 0.0, 1.0) ** 2)[:, None]
    within = 0.01 * np.cbrt(rng.uniform(size=(count, 1, 1))) * _unit(rng.normal(size=(count, 1, 3)))
    obj = hair_object("Combed", head, (1.0 - gathered) * x + gathered * (TIE + within))
    set_visible_radii(obj.data, np.full(count * points, 1.2e-4))
    obj.data.materials.append(material)
    bpy.context.scene.collection.objects.link(obj)


def _unit(x: np.ndarray) -> np.ndarray:
    return np.asarray(x / np.linalg.norm(x, axis=-1, keepdims=True))


def _distance(head: bpy.types.Object, way: np.ndarray) -> float:
    """From the centre of the head to its surface in a direction."""
    hit, place, _, _ = head.ray_cast(CENTRE.tolist(), way.tolist())
    return math.dist(place, CENTRE) if hit else 0.1


def _tie(head: bpy.types.Object, surface: bpy.types.Material, radius: float = 0.014) -> bpy.types.Object:
    """Adds a band around hair. Returns the disc within it, in the space of the head."""
    bpy.ops.mesh.primitive_torus_add(major_radius=radius, minor_radius=0.4 * radius, major_segments=48)
    bpy.ops.object.shade_smooth()
    ring = finish("Tie", surface)
    ring.parent, ring.location = head, TIE
    ring.rotation_euler = Vector(TIE_AXIS).to_track_quat("Z", "Y").to_euler()
    angle = np.linspace(0.0, 2.0 * math.pi, 25)[:-1, None]
    across = np.cos(angle) * np.array([1.0, 0.0, 0.0]) + np.sin(angle) * np.cross(_unit(TIE_AXIS), [1.0, 0.0, 0.0])
    mesh = bpy.data.meshes.new("Roots")
    mesh.from_pydata((TIE + 0.95 * radius * across).tolist(), [], [tuple(range(len(angle)))])
    disc = bpy.data.objects.new("Roots", mesh)
    disc.parent, disc.hide_render = head, True
    bpy.context.scene.collection.objects.link(disc)
    return disc


def _axis(length: float, points: int, bend: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A line that leaves the tie along its axis and bends down within the part `bend` of its length: points and two normals."""
    s = (np.arange(points - 1) + 0.5) / (points - 1)
    turned = np.clip(s / bend, 0.0, 1.0)[:, None]
    along = _unit((1.0 - turned) * TIE_AXIS + turned * (DOWN + np.array([0.0, 0.06, 0.0])))
    x = TIE + np.vstack([np.zeros(3), np.cumsum(along * length / (points - 1), axis=0)])
    tangent = _unit(np.gradient(x, axis=0))
    side = np.broadcast_to([1.0, 0.0, 0.0], x.shape)
    return x, side, np.cross(tangent, side)


def _tail(offset: np.ndarray, length: float, points: int) -> np.ndarray:
    """Strands of a ponytail from their offsets at the tie: it spreads, and tapers to its tip."""
    rng = np.random.default_rng(6)
    count = len(offset)
    a, b = offset[:, 0], offset @ np.cross(_unit(TIE_AXIS), [1.0, 0.0, 0.0])
    s = np.linspace(0.0, 1.0, points)[None] * rng.uniform(0.8, 1.0, (count, 1)) ** 1.5
    wide = np.interp(s, [0.0, 0.12, 0.4, 0.75, 1.0], [1.0, 1.5, 2.2, 1.5, 0.6])
    lock = np.floor(40.0 * (np.arctan2(b, a) / (2.0 * math.pi) + 0.5)).astype(int)
    phase = rng.uniform(0.0, 2.0 * math.pi, 41)[lock][:, None]
    wave = 0.0035 * s * np.stack([np.sin(9.0 * s + phase), np.cos(8.0 * s + 2.0 * phase)])
    stray = 0.002 * s * rng.normal(size=(2, count, 1))
    out = np.stack([a[:, None] * wide, b[:, None] * wide]) + wave + stray
    return _about_axis(out, s, length, points)


def _plaited(offset: np.ndarray, length: float, points: int, crossings: float = 4.6) -> np.ndarray:
    """Strands of a braid of three from their offsets at the tie: each plait runs in a figure of eight around the axis."""
    rng = np.random.default_rng(7)
    count = len(offset)
    s = np.linspace(0.0, 1.0, points)[None] * rng.uniform(0.96, 1.0, (count, 1))
    phase = 2.0 * math.pi * (crossings * s + rng.integers(0, 3, (count, 1)) / 3.0)
    wide = np.interp(s, [0.0, 0.06, 0.5, 0.86, 0.9, 1.0], [0.2, 1.0, 0.95, 0.65, 0.15, 0.1])
    within = 0.0095 * np.sqrt(rng.uniform(size=(count, 1)) * wide)
    angle = rng.uniform(0.0, 2.0 * math.pi, (count, 1))
    across = 0.0145 * wide * np.sin(phase) + within * np.cos(angle)
    deep = 0.0085 * wide * np.sin(2.0 * phase) + within * np.sin(angle)
    fan = np.interp(s, [0.0, 0.9, 1.0], [0.0, 0.0, 0.008]) * rng.normal(size=(2, count, 1))
    out = np.stack([across, deep]) + fan
    return _about_axis(out, s, length, points)


def _about_axis(out: np.ndarray, s: np.ndarray, length: float, points: int) -> np.ndarray:
    """Strands at the distances `out` (2, n, points) from the axis of a tail, at relative arc lengths `s`."""
    x, side, up = _axis(length, 4 * points, 0.3)
    places = np.linspace(0.0, 1.0, len(x))
    centre, e1, e2 = (np.stack([np.interp(s, places, of[:, k]) for k in range(3)], axis=2) for of in (x, side, up))
    return np.asarray(centre + out[0][..., None] * e1 + out[1][..., None] * e2)


# Broom -------------------------------------------------------------------------------------------------------------


def broom() -> None:
    """A broom sweeps the floor: 10,000 straws, 100 guides in contact with it."""
    handle = bar("Broom", 0.013, (0.0, 0.0, -0.8), (0.0, 0.0, 0.5), wood("Ash", axis=2))
    for vertex in handle.data.vertices:  # moves the origin to the hand
        vertex.co.z -= 0.15
    handle.location, handle.rotation_euler = (0.0, 0.0, 1.3), (0.0, 0.0, 0.0)
    rng = np.random.default_rng(8)
    count, points, length = 10_000, 14, 0.36
    r, angle = np.sqrt(rng.uniform(size=count)), rng.uniform(0.0, 2.0 * math.pi, count)
    thick, wide = r * np.cos(angle), r * np.sin(angle)
    s = np.linspace(0.0, 1.0, points)[None] * rng.uniform(0.93, 1.0, (count, 1))
    fan = np.interp(s, [0.0, 0.15, 0.4, 1.0], [0.022, 0.032, 0.075, 0.125])
    deep = np.interp(s, [0.0, 0.15, 0.4, 1.0], [0.022, 0.024, 0.024, 0.036])
    stray = 0.008 * s**2 * rng.normal(size=(2, count, 1))
    drop = -0.78 - length * s * (1.0 - 0.05 * wide[:, None] ** 2)
    strands = np.stack([thick[:, None] * deep + stray[0], wide[:, None] * fan + stray[1], drop], axis=2)
    straw = paint("Straw", (0.78, 0.47, 0.13), 0.55)
    make_hair("Straw", handle, strands, straw, 5e-4, 100, radius=3.5e-4, hairs=20)
    for height, radius in ((-0.795, 0.025), (-0.81, 0.026), (-0.825, 0.027)):
        bpy.ops.mesh.primitive_torus_add(major_radius=radius, minor_radius=0.008, location=(0.0, 0.0, height))
        bpy.ops.object.shade_smooth()
        finish("Cord", paint("Cord", (0.55, 0.02, 0.03), 0.5)).parent = handle
    floor = collide(unseen(block("Floor", (3.0, 3.0, 0.1), (0.0, 0.0, -0.05), paint("Floor", (0.5, 0.5, 0.5)))))
    floor.tendril_collider.friction = 0.4
    reach, phase = 0.78 + length, 2.0 * math.pi / 16.0
    place, turn = [], []
    for k in range(33):
        lean = -0.3 * math.sin(phase * k)
        lifted = 0.012 + 0.04 * math.cos(phase * k)
        place.append((1 + 3 * k, (0.0, 0.0, reach * math.cos(lean) + lifted)))
        turn.append((1 + 3 * k, (0.0, lean, 0.0)))
    move(handle, "location", place)
    move(handle, "rotation_euler", turn)
    set_stage(97, (1.15, -1.25, 0.55), (0.0, 0.0, 0.26), 52.0, Look((0.1, 0.28, 0.3)))
