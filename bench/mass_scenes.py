"""Scenes of the workloads with masses of rods in contact, W10 to W17. Nothing overlaps at the start.

Sizes and settings that a workload does not state are chosen here once: materials are presets, friction is that of the workload or
the default, and everything else has its default.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..core import Box, Material, Mesh, Net, Plane, Rod, Scene, Sphere
from ..core.errors import Array
from ..sample_scenes.experiments.graphs import grid

HEAD = 0.1  # m, radius
CLEARANCE = 0.5  # radii between a root and the surface of a head
GOLDEN_ANGLE = math.pi * (1.0 + math.sqrt(5.0))
TURNS, LOOK_AHEAD = 16, 6  # of a random path: ways tried, and steps seen ahead
SHARPEST = 0.2  # turn of a random path in a step, in each direction


def heap(count: int = 50, seed: int = 0) -> Scene:
    """W10: strands of 25 segments, 30 cm, r = 2 mm, nylon, fall 30 cm in crossed layers of ten into a bowl."""
    scene = Scene(rod_contact=True)
    scene.collide(bowl(0.2), friction=0.4)
    for points in crossed_layers(count, 0.3, 25, spacing=0.018, layer=0.01, bottom=0.1, seed=seed):
        scene.add(Rod.from_points(points, 2e-3, Material.preset("nylon rope")), friction=0.4)
    return scene


def crossed_layers(
    count: int, length: float, segments: int, *, spacing: float, layer: float, bottom: float, seed: int
) -> list[Array]:
    """Straight strands in layers of ten, along x and y in turn, each a little out of line."""
    random = np.random.default_rng(seed)
    along = np.linspace(-0.5 * length, 0.5 * length, segments + 1)[:, None]
    strands = []
    for k in range(count):
        row, column = divmod(k, 10)
        angle = 0.5 * math.pi * (row % 2) + random.uniform(-0.02, 0.02)
        direction = np.array([math.cos(angle), math.sin(angle), random.uniform(-0.01, 0.01)])
        across = np.array([-math.sin(angle), math.cos(angle), 0.0])
        shift = spacing * (column - 4.5) + random.uniform(-1e-3, 1e-3)
        middle = shift * across + (0.0, 0.0, bottom + layer * row)
        strands.append(middle + along * direction)
    return strands


def bowl(radius: float, around: int = 32, rings: int = 10) -> Mesh:
    """The lower half of a sphere about the origin, an open mesh."""
    turn = 2.0 * math.pi * np.arange(around) / around
    points = [(0.0, 0.0, -radius)]
    for ring in range(1, rings + 1):
        angle = 0.5 * math.pi * ring / rings
        out, z = radius * math.sin(angle), -radius * math.cos(angle)
        points += [(out * math.cos(a), out * math.sin(a), z) for a in turn]
    triangles = [(0, 1 + (k + 1) % around, 1 + k) for k in range(around)]
    for ring in range(rings - 1):
        low = 1 + ring * around
        for k in range(around):
            a, b = low + k, low + (k + 1) % around
            triangles += [(a, b, b + around), (a, b + around, a + around)]
    return Mesh(np.array(points), np.array(triangles))


def hair(count: int = 300, radius: float = 50e-6) -> Scene:
    """W11: strands of 20 segments, 20 cm, r = 50 um, on a head of 10 cm that turns by 40 degrees to either side at 1.5 Hz."""
    scene = Scene(rod_contact=True)

    def turn(t: float) -> Array:
        return about_z(math.radians(40.0) * math.sin(2.0 * math.pi * 1.5 * t))

    scene.collide(Sphere(HEAD), friction=0.3, path=lambda t: ((0.0, 0.0, 0.0), turn(t)))
    for points in radial_strands(count, 0.2, 20, radius):
        rod = scene.add(Rod.from_points(points, radius, Material.preset("human hair")), friction=0.3)
        scene.clamp(rod, "start", lambda t, x=points[0]: (turn(t) @ x, turn(t)))
    return scene


def radial_strands(count: int, length: float, segments: int, radius: float, lowest: float = 0.0) -> list[Array]:
    """Straight strands that stand on the part of a head about the origin above `lowest` (-1: all of it), evenly spread."""
    place = np.arange(count) + 0.5
    up, around = 1.0 - (1.0 - lowest) * place / count, GOLDEN_ANGLE * place
    flat = np.sqrt(1.0 - up**2)
    out = np.stack([np.cos(around) * flat, np.sin(around) * flat, up], axis=1)
    along = HEAD + (1.0 + CLEARANCE) * radius + np.linspace(0.0, length, segments + 1)
    return [along[:, None] * direction for direction in out]


def about_z(angle: float) -> Array:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def about_x(angle: float) -> Array:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def coil(model: str = "der", segments: int = 300) -> Scene:
    """W12: a rope of 3 m, r = 5 mm, falls end first on a floor and coils."""
    scene = Scene(rod_contact=True)
    scene.collide(Plane())
    s = np.linspace(0.0, 3.0, segments + 1)
    points = np.stack([0.004 * np.sin(2.0 * s), 0.004 * np.cos(3.0 * s), 0.05 + s], axis=1)
    rope = Material.preset("nylon rope")
    if model in ("net", "corde"):
        edges = np.stack([np.arange(segments), np.arange(1, segments + 1)], axis=1)
        scene.add(Net.from_edges(points, edges, 5e-3, rope), model)
    else:
        elements = 16 if model == "clothoid" else None  # four, the default, are too few for a coil
        scene.add(Rod.from_points(points, 5e-3, rope, rest="straight"), model, elements=elements)
    return scene


def ply(segments: int = 60) -> Scene:
    """W13: 19 parallel yarns of 30 cm, r = 1 mm, are twisted two turns in two seconds by their ends, half at each."""
    radius, length, gap = 1e-3, 0.3, 1.1
    scene = Scene(rod_contact=True)
    along = np.linspace(0.0, length, segments + 1)
    for x, y in hexagon(2, 2.0 * radius * gap):
        points = np.stack([np.full_like(along, x), np.full_like(along, y), along], axis=1)
        yarn = scene.add(Rod.from_points(points, radius, Material.preset("nylon rope")))
        for where, point, way in (("start", points[0], -1.0), ("end", points[-1], 1.0)):

            def path(t: float, point: Array = point, way: float = way) -> tuple[Array, Array]:
                turn = about_z(way * math.pi * min(t, 2.0))
                return turn @ point, turn

            scene.clamp(yarn, where, path)
    return scene


def hexagon(rings: int, spacing: float) -> Array:
    """(n, 2) points of a hexagonal lattice within a hexagon: 1, 7, 19, 37 for 0 to 3 rings."""
    points = [
        (spacing * (i + 0.5 * j), spacing * math.sqrt(0.75) * j)
        for i in range(-rings, rings + 1)
        for j in range(-rings, rings + 1)
        if abs(i + j) <= rings
    ]
    return np.array(points)


def tangle(segments: int = 3500, seed: int = 1) -> Scene:
    """W14: one rope, r = 3 mm, drawn along a random path that does not overlap itself, settles on a floor."""
    scene = Scene(rod_contact=True)
    scene.collide(Plane())
    points = random_path(segments, 0.01, clearance=0.011, size=0.04 * segments ** (1.0 / 3.0), seed=seed)
    points[:, 2] += 0.02 - points[:, 2].min()
    scene.add(Rod.from_points(points, 3e-3, Material.preset("nylon rope")))
    return scene


def random_path(segments: int, step: float, *, clearance: float, size: float, seed: int) -> Array:
    """A smooth random path in a cube about the origin that keeps `clearance` from all but its own last points.

    Of several random bends each step takes the one with the most room ahead; without room it goes back some points."""
    random = np.random.default_rng(seed)
    points, directions = np.zeros((segments + 1, 3)), np.zeros((segments + 1, 3))
    directions[0] = (1.0, 0.0, 0.0)
    behind = math.ceil(2.0 * clearance / step) + 1  # points that are near because they are close along the path
    last, stuck = 0, 0
    while last < segments:
        turns = SHARPEST * random.uniform(-1.0, 1.0, (TURNS, 1, 3))
        ways = directions[last] + turns * np.arange(1, LOOK_AHEAD + 1)[:, None]
        ways /= np.linalg.norm(ways, axis=2)[:, :, None]
        ahead = points[last] + step * np.cumsum(ways, axis=1)
        steps = free_steps(ahead, points[: max(last - behind, 0)], clearance, 0.5 * size)
        best = int(steps.argmax())
        if steps[best] == 0:
            stuck += 1
            last = max(last - 5 * (1 + stuck % 20), 0)
            continue
        points[last + 1], directions[last + 1] = ahead[best, 0], ways[best, 0]
        last += 1
    return points


def free_steps(ahead: Array, taken: Array, clearance: float, half: float) -> Array:
    """How many of the points (turns, steps, 3) ahead are in the cube and clear of those taken, before the first that is not."""
    free = (np.abs(ahead) <= half).all(axis=2)
    reach = clearance + float(np.abs(ahead - ahead[:1, :1]).max())
    near = taken[(np.abs(taken - ahead[0, 0]) <= reach).all(axis=1)]
    apart = np.linalg.norm(ahead[:, :, None] - near, axis=3).min(axis=2, initial=np.inf)
    return np.asarray(np.logical_and.accumulate(free & (apart >= clearance), axis=1).sum(axis=1))


def net_on_sphere(cells: int = 20) -> Scene:
    """W15: a net of 20 x 20 cells, 1 m wide, r = 2 mm, is caught on a sphere."""
    points, edges = grid(cells + 1, cells + 1, 1, 1.0)
    points[:, 2] += 0.31
    points[:, :2] += (0.013, 0.007)  # not centred
    scene = Scene(rod_contact=True)
    scene.collide(Sphere(0.25))
    scene.add(Net.from_edges(points, edges, 2e-3, Material.preset("nylon rope")))
    return scene


def strands_on_box(count: int = 30, model: str = "clothoid") -> Scene:
    """W16: strands of 30 cm, r = 1 mm, fall in crossed layers on a box and hang over its edges."""
    scene = Scene(rod_contact=True)
    scene.collide(Box((0.2, 0.2, 0.1), (0.0, 0.0, -0.05)))
    for points in crossed_layers(count, 0.3, 30, spacing=0.018, layer=0.008, bottom=0.02, seed=0):
        scene.add(Rod.from_points(points, 1e-3, Material.preset("nylon rope")), model)
    return scene


def limp_hair(count: int = 600, contact: bool = False, radius: float = 40e-6, some: slice = slice(None)) -> Scene:
    """W17: strands of 20 segments, 30 cm, r = 40 um, with a twentieth of the stiffness of hair, on a head and shoulders that are
    meshes; the head nods by 20 degrees at 1 Hz. Only colliders are touched unless `contact`. `some`: only these strands of them."""
    scene = Scene(rod_contact=contact)
    neck = np.array([0.0, 0.0, -HEAD])

    def nod(t: float) -> tuple[Array, Array]:
        turn = about_x(math.radians(20.0) * math.sin(2.0 * math.pi * t))
        return neck - turn @ neck, turn

    scene.collide(ball(HEAD, (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)), friction=0.3, path=nod)
    scene.collide(ball(1.0, (0.22, 0.12, 0.09), (0.0, 0.0, -0.25)), friction=0.3)
    for points in radial_strands(count, 0.3, 20, radius)[some]:
        strand = Rod.from_points(points, radius, Material.preset("human hair"), stiffness_scale=0.05)
        rod = scene.add(strand, friction=0.3)

        def path(t: float, x: Array = points[0]) -> tuple[Array, Array]:
            shift, turn = nod(t)
            return shift + turn @ x, turn

        scene.clamp(rod, "start", path)
    return scene


def ball(radius: float, axes: tuple[float, float, float], centre: tuple[float, float, float]) -> Mesh:
    """A closed mesh of an ellipsoid: 24 meridians and 16 rings, with normals outwards."""
    around, rings = 24, 16
    points = [(0.0, 0.0, -1.0)]
    for ring in range(1, rings):
        angle = math.pi * ring / rings
        for a in 2.0 * math.pi * np.arange(around) / around:
            points.append((math.sin(angle) * math.cos(a), math.sin(angle) * math.sin(a), -math.cos(angle)))
    points.append((0.0, 0.0, 1.0))
    triangles = [(0, 1 + (k + 1) % around, 1 + k) for k in range(around)]
    for ring in range(rings - 2):
        low = 1 + ring * around
        for k in range(around):
            a, b = low + k, low + (k + 1) % around
            triangles += [(a, b, b + around), (a, b + around, a + around)]
    last, low = len(points) - 1, len(points) - 1 - around
    triangles += [(last, low + k, low + (k + 1) % around) for k in range(around)]
    return Mesh(radius * np.array(points) * axes + np.array(centre), np.array(triangles))


def with_count(make: Callable[..., Scene], default: int) -> Callable[[str | None], Scene]:
    return lambda size: make(default if size is None else int(size))


# Workload: scene for a size (a number of rods, segments or cells; for W12 a model), and the frames that are measured.
WORKLOADS: dict[str, tuple[Callable[[str | None], Scene], int]] = {
    "W10": (with_count(heap, 50), 36),
    "W11": (with_count(hair, 300), 36),
    "W12": (lambda model: coil(model or "der"), 36),
    "W13": (lambda _size: ply(), 52),
    "W14": (with_count(tangle, 3500), 30),
    "W15": (with_count(net_on_sphere, 20), 36),
    "W16": (with_count(strands_on_box, 30), 36),
    "W17": (with_count(limp_hair, 600), 36),
}
