"""Random scenes to break contact with: rods thrown at each other and at thin, moving meshes, at 1 to 50 m/s.

What no simulator could solve is left out: nothing overlaps at the start, no mesh runs over a vertex that is pinned, or into
another mesh. Meshes that push pinned rods go to and fro instead of leaving.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation
from tendril.core import Material, Rod, Scene
from tendril.core.describe.shapes import Mesh

RATE = 24.0
SUBSTEPS = 4
FASTEST_TURN = 48.0  # rad/s: half a radian in a substep
ROOM = 0.03  # m between surfaces at the start
SAMPLED = 0.02  # m, how densely surfaces are sampled to see what overlaps
MATERIALS = {
    "soft rubber": Material(1e6, 1000.0, poisson_ratio=0.49, damping_time=5e-3),
    "rubber": Material.preset("rubber"),
    "nylon rope": Material.preset("nylon rope"),
    "fishing line": Material.preset("fishing line"),
    "steel cable": Material.preset("steel cable"),
    "spring steel": Material.preset("spring steel"),
}

Vertices = Callable[[float], np.ndarray]


@dataclass(frozen=True)
class StressScene:
    scene: Scene
    frames: int
    driven: bool  # something is moved: energy may grow
    fastest: float  # m/s, of all that is thrown or moved
    story: str


@dataclass(frozen=True)
class Surface:
    """A mesh over time. `pose` is what its path gives; `at` all its vertices."""

    kind: str
    motion: str
    vertices: np.ndarray
    triangles: np.ndarray
    path: Callable[[float], object] | None
    at: Vertices
    speed: float

    @property
    def solid(self) -> bool:
        return self.kind != "sheet"


@dataclass
class Thrown:
    points: np.ndarray
    radius: float
    velocity: np.ndarray
    closed: bool


def stress_scene(seed: int) -> StressScene:
    rng = np.random.default_rng([seed, 7])
    frames = int(rng.integers(8, 17))
    pinned = rng.random() < 0.4
    moves = rng.random() < 0.75
    surfaces = _surfaces(rng, frames / RATE, pinned, moves)
    gravity = (0.0, 0.0, -9.81) if rng.random() < 0.8 or pinned else (0.0, 0.0, 0.0)  # something must move
    scene = Scene(gravity=gravity, rod_contact=True)
    story = [f"seed {seed}: {frames} frames"]
    fastest, driven = 0.0, False
    for surface in surfaces:
        friction = _friction(rng)
        thickness = float(rng.choice([0.0, 0.002]))
        scene.collide(
            Mesh(surface.vertices, surface.triangles), friction=friction, thickness=thickness, path=surface.path
        )
        fastest = max(fastest, surface.speed)
        driven = driven or surface.path is not None
        story.append(f"{surface.kind} {surface.motion} {surface.speed:.0f} m/s mu {friction:.2f}")
    taken: list[np.ndarray] = []  # of pins, over time
    placed: list[Thrown] = []
    rods = int(rng.integers(1, 7))
    for attempt in range(50):
        if attempt >= rods and placed:
            break
        thrown = _place(rng, placed, surfaces, pinned)
        if thrown is None:
            continue
        placed.append(thrown)
        name = str(rng.choice(list(MATERIALS)))
        friction = _friction(rng)
        rest = "straight" if not thrown.closed and rng.random() < 0.5 else "as drawn"
        made = Rod.from_points(thrown.points, thrown.radius, MATERIALS[name], closed=thrown.closed, rest=rest)
        story.append(
            f"{name} {made.edge_count}{' closed' if thrown.closed else ''} r {1e3 * thrown.radius:.0f} mm "
            f"{np.linalg.norm(thrown.velocity):.0f} m/s mu {friction:.2f}"
        )
        pins = _pins(rng, thrown, surfaces, frames / RATE, taken) if pinned else {}
        velocity = np.tile(np.zeros(3) if pins else thrown.velocity, (len(thrown.points), 1))
        number = scene.add(made, velocity=velocity, friction=friction)
        for vertex, path in pins.items():
            scene.pin(number, vertex, path)
            driven = driven or path is not None
            story[-1] += f" {'moved' if path else 'pinned'} at {vertex}"
            fastest = max(fastest, 0.0 if path is None else _speed(lambda t, p=path: p(t)[None], frames / RATE))
        if not pins:
            fastest = max(fastest, float(np.linalg.norm(thrown.velocity)))
    return StressScene(scene, frames, driven, fastest, "; ".join(story))


def _friction(rng: np.random.Generator) -> float:
    return float(rng.choice([0.0, 0.3, 1.0, float(rng.uniform(0.0, 1.0))]))


def _speed(at: Vertices, duration: float) -> float:
    times = np.linspace(0.0, duration, 400)
    x = np.array([at(t) for t in times])
    return float(np.linalg.norm(np.diff(x, axis=0), axis=2).max() / times[1])


# Rods --------------------------------------------------------------------------------------------------------------


def _place(rng: np.random.Generator, placed: list[Thrown], surfaces: list[Surface], pinned: bool) -> Thrown | None:
    """A rod on its way to the middle of the scene, clear of everything; None if there is no room."""
    for _ in range(30):
        thrown = _throw(rng, pinned)
        line = _fine(thrown.points, thrown.closed)
        clear = all(
            _distance(line, _fine(other.points, other.closed)) > thrown.radius + other.radius + ROOM for other in placed
        )
        for surface in surfaces:
            x = surface.at(0.0)
            middle = x.mean(axis=0)
            if surface.solid:
                clear = clear and _distance(line, middle[None]) > _size(x) + thrown.radius + ROOM
            else:
                clear = clear and _distance(line, _surface_points(x, surface.triangles)) > thrown.radius + ROOM
        if clear:
            return thrown
    return None


def _throw(rng: np.random.Generator, pinned: bool) -> Thrown:
    segments = int(rng.integers(5, 41))
    length = rng.uniform(0.3, 1.5)
    radius = min(10.0 ** rng.uniform(math.log10(0.002), math.log10(0.02)), 0.8 * length / segments)
    closed = bool(rng.random() < 0.25 and segments >= 8 and length > 20.0 * radius)
    along = np.linspace(0.0, 1.0, segments + 1)
    if closed:
        turn = 2.0 * np.pi * along[:-1]
        wave = rng.uniform(0.0, 0.15) * np.sin(2.0 * turn + rng.uniform(0.0, 6.0))
        points = np.stack([np.cos(turn), np.sin(turn), wave], axis=1) * length / (2.0 * np.pi)
    else:
        points = np.zeros((segments + 1, 3))
        points[:, 0] = length * (along - 0.5)
        if rng.random() < 0.5:
            points[:, 1] = rng.uniform(0.0, 0.15) * length * np.sin(np.pi * rng.uniform(0.5, 2.5) * along)
            points[:, 2] = rng.uniform(0.0, 0.1) * length * np.cos(np.pi * rng.uniform(0.5, 2.5) * along)
    speed = 10.0 ** rng.uniform(0.0, math.log10(50.0))
    velocity = speed * _direction(rng)
    meets = rng.uniform(0.02, 0.2)  # s, when it is in the middle of the scene
    aim = rng.uniform(-0.15, 0.15, 3)
    far = rng.uniform(0.0, 0.3) * _direction(rng) if pinned else -velocity * meets
    return Thrown(points @ Rotation.random(random_state=rng).as_matrix().T + aim + far, float(radius), velocity, closed)


def _pins(
    rng: np.random.Generator, thrown: Thrown, surfaces: list[Surface], duration: float, taken: list[np.ndarray]
) -> dict[int, Callable[[float], np.ndarray] | None]:
    """Vertices that are held, and how they move. What a mesh or another pin would run over is left free."""
    last = len(thrown.points) - 1
    choices: list[tuple[int, ...]] = [(), (0,), (last,), (0, last), (last // 2,)]
    if thrown.closed:
        choices = [(), (0,), (0, last // 2)]
    chosen = choices[int(rng.integers(len(choices)))]
    moves = rng.random() < 0.3
    reach, speed, way = rng.uniform(0.05, 0.3), rng.uniform(1.0, 20.0), _direction(rng)
    times = np.linspace(0.0, duration, 32 * math.ceil(duration * RATE))
    pins: dict[int, Callable[[float], np.ndarray] | None] = {}
    for vertex in chosen:
        begin = thrown.points[vertex]
        path = _to_and_fro(begin, reach * way, speed / reach) if moves else None
        where = np.array([path(t) for t in times]) if path else np.tile(begin, (len(times), 1))
        clear = all(np.linalg.norm(where - other, axis=1).min() > 0.1 for other in taken)
        for surface in surfaces:
            for t, x in zip(times, where, strict=True):
                if not clear:
                    break
                near = _surface_points(surface.at(t), surface.triangles)
                clear = float(np.linalg.norm(near - x, axis=1).min()) > 0.12
        if clear:
            pins[vertex] = path
            taken.append(where)
    return pins


def _to_and_fro(begin: np.ndarray, way: np.ndarray, rate: float) -> Callable[[float], np.ndarray]:
    return lambda t: begin + way * math.sin(rate * t)


# Meshes ------------------------------------------------------------------------------------------------------------


def _surfaces(rng: np.random.Generator, duration: float, pinned: bool, moves: bool) -> list[Surface]:
    found: list[Surface] = []
    for _ in range(int(rng.choice([0, 1, 1, 1, 2]))):
        surface = _surface(rng, duration, pinned, moves and (not found or rng.random() < 0.5))
        if all(_stay_apart(surface, other, duration) for other in found):
            found.append(surface)
    return found


def _stay_apart(a: Surface, b: Surface, duration: float) -> bool:
    """With room for all rods between them."""
    for t in np.linspace(0.0, duration, 400):
        x, y = a.at(t), b.at(t)
        if np.linalg.norm(x.mean(axis=0) - y.mean(axis=0)) < _size(x) + _size(y) + 0.3:
            return False
    return True


def _surface(rng: np.random.Generator, duration: float, pinned: bool, moves: bool) -> Surface:
    kind = str(rng.choice(["sheet", "sheet", "box", "sphere"]))
    if kind == "sheet":
        x, triangles = _sheet(rng.uniform(0.3, 1.0), rng.uniform(0.3, 1.0), int(rng.integers(1, 9)))
    elif kind == "box":
        x, triangles = _box(rng.uniform(0.05, 0.5, 3))
    else:
        x, triangles = _sphere(rng.uniform(0.1, 0.4), int(rng.integers(0, 3)))
    x = x @ Rotation.random(random_state=rng).as_matrix().T
    home = rng.uniform(-0.2, 0.2, 3) if pinned or not moves else rng.uniform(-0.1, 0.1, 3)
    motion = str(rng.choice(["slides", "slides", "swings", "turns", "deforms"])) if moves else "stands"
    if pinned and motion == "slides":
        motion = "swings"
    speed = 10.0 ** rng.uniform(0.0, math.log10(50.0))
    direction, axis = _direction(rng), _direction(rng)
    if motion == "stands":
        return Surface(kind, motion, x + home, triangles, None, lambda t: x + home, 0.0)
    if motion == "deforms":
        vertices = _deforming(rng, kind, x, home, speed)
        return Surface(kind, motion, vertices(0.0), triangles, vertices, vertices, _speed(vertices, duration))
    rate = min(speed / _size(x), FASTEST_TURN)
    reach = rng.uniform(0.05, 0.3)
    meets = rng.uniform(0.02, 0.2)
    tumbles = 0.3 * rate if rng.random() < 0.5 else 0.0

    def path(t: float) -> tuple[np.ndarray, np.ndarray]:
        if motion == "slides":
            return home + direction * speed * (t - meets), Rotation.from_rotvec(axis * tumbles * t).as_matrix()
        if motion == "swings":
            turn = Rotation.from_rotvec(axis * tumbles * t).as_matrix()
            return home + direction * reach * math.sin(min(speed / reach, 150.0) * t), turn
        return home, Rotation.from_rotvec(axis * rate * t).as_matrix()

    def at(t: float) -> np.ndarray:
        position, rotation = path(t)
        return np.asarray(x @ rotation.T + position)

    return Surface(kind, motion, x, triangles, path, at, _speed(at, duration))


def _deforming(rng: np.random.Generator, kind: str, x: np.ndarray, home: np.ndarray, speed: float) -> Vertices:
    """A sheet in waves, a body that breathes and shears."""
    direction, across = _direction(rng), _direction(rng)
    if kind == "sheet":
        _, _, axes = np.linalg.svd(x)
        direction, across = axes[0], axes[2]
    height = rng.uniform(0.02, 0.08)
    rate = min(speed / (height if kind == "sheet" else 0.2 * _size(x)), 150.0)
    length = rng.uniform(0.5, 1.0)

    def vertices(t: float) -> np.ndarray:
        if kind == "sheet":
            wave = height * np.sin(2.0 * np.pi / length * (x @ direction) - rate * t)
            return np.asarray(x + home + wave[:, None] * across)
        shear = 0.3 * math.sin(0.7 * rate * t) * (x @ direction)[:, None] * (across - direction * (across @ direction))
        return np.asarray(x * (1.0 + 0.2 * math.sin(rate * t)) + shear + home)

    return vertices


def _sheet(width: float, height: float, cells: int) -> tuple[np.ndarray, np.ndarray]:
    u, v = np.meshgrid(np.linspace(-0.5, 0.5, cells + 1), np.linspace(-0.5, 0.5, cells + 1), indexing="ij")
    points = np.stack([width * u, height * v, np.zeros_like(u)], axis=2).reshape(-1, 3)
    first = (np.arange(cells)[:, None] * (cells + 1) + np.arange(cells)).ravel()
    a, b, c, d = first, first + cells + 1, first + cells + 2, first + 1
    return points, np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


def _box(size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * size
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return corners, _outwards(corners, np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]))


def _sphere(radius: float, divisions: int) -> tuple[np.ndarray, np.ndarray]:
    """An icosahedron, its triangles divided in four again and again."""
    g = 0.5 * (1.0 + math.sqrt(5.0))
    corners = np.array([p for a in (-1.0, 1.0) for b in (-g, g) for p in ((0.0, a, b), (a, b, 0.0), (b, 0.0, a))])
    apart = np.linalg.norm(corners[:, None] - corners, axis=2)
    near = (apart > 1.0) & (apart < 2.1)
    triangles = [
        (i, j, k) for i in range(12) for j in range(i) for k in range(j) if near[i, j] and near[j, k] and near[k, i]
    ]
    points = [np.asarray(p) for p in corners]
    for _ in range(divisions):
        middles: dict[tuple[int, int], int] = {}

        def middle(i: int, j: int, middles: dict[tuple[int, int], int] = middles) -> int:
            key = (min(i, j), max(i, j))
            if key not in middles:
                middles[key] = len(points)
                points.append(0.5 * (points[i] + points[j]))
            return middles[key]

        finer = []
        for i, j, k in triangles:
            ij, jk, ki = middle(i, j), middle(j, k), middle(k, i)
            finer += [(i, ij, ki), (ij, j, jk), (ki, jk, k), (ij, jk, ki)]
        triangles = finer
    x = np.array(points)
    x *= radius / np.linalg.norm(x, axis=1)[:, None]
    return x, _outwards(x, np.array(triangles))


def _outwards(x: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    a, b, c = (x[triangles[:, k]] for k in range(3))
    inwards = np.einsum("ij,ij->i", np.cross(b - a, c - a), a + b + c) < 0.0
    return np.where(inwards[:, None], triangles[:, ::-1], triangles)


# Distances ---------------------------------------------------------------------------------------------------------


def _direction(rng: np.random.Generator) -> np.ndarray:
    x = rng.standard_normal(3)
    return np.asarray(x / np.linalg.norm(x))


def _size(x: np.ndarray) -> float:
    return float(np.linalg.norm(x - x.mean(axis=0), axis=1).max())


def _distance(a: np.ndarray, b: np.ndarray) -> float:
    return float(cKDTree(b).query(a)[0].min())


def _fine(points: np.ndarray, closed: bool) -> np.ndarray:
    """Points along a polyline."""
    ends = np.roll(points, -1, axis=0) if closed else points[1:]
    begins = points[: len(ends)]
    count = max(2, math.ceil(np.linalg.norm(ends - begins, axis=1).max() / SAMPLED))
    s = np.linspace(0.0, 1.0, count + 1)[:, None, None]
    return np.asarray(((1.0 - s) * begins + s * ends).reshape(-1, 3))


def _weights(count: int) -> np.ndarray:
    return np.array([(i, j, count - i - j) for i in range(count + 1) for j in range(count + 1 - i)]) / count


def _surface_points(x: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    sides = np.linalg.norm(x[triangles] - x[np.roll(triangles, 1, axis=1)], axis=2)
    weights = _weights(max(1, math.ceil(sides.max() / SAMPLED)))
    return np.asarray(np.einsum("wk,fkc->fwc", weights, x[triangles]).reshape(-1, 3))
