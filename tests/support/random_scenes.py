"""Random scenes for fuzzing. A scene is a list of plain settings (JSON), so that a failure can be shrunk and kept."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from meshes import grid
from tendril.core import Body, Box, Field, Material, Mesh, Net, Plane, Rod, Scene, Simulation, Sphere, TendrilError
from tendril.core.describe.fields import KINDS
from tendril.core.describe.model import model_records

Settings = dict[str, Any]
CROWD = 12  # rods: the solver of crowds takes over at ten, whatever their model


def random_settings(seed: int) -> Settings:
    """Settings of one scene: everything that is drawn at random is in them."""
    rng = random.Random(seed)
    size = 10 ** rng.uniform(-5, 3)
    rods = [_rod(rng, size) for _ in range(rng.choice([1, 1, 1, 2, 3, CROWD]))]
    if len(rods) < CROWD and rng.random() < 0.1:
        rods[0]["points"] = int(10 ** rng.uniform(1.6, 4.3))  # up to 20,000
    return {
        "seed": seed,
        "substeps": rng.choice([1, 2, 4]),
        "frames": rng.choice([2, 4]),
        "gravity": rng.choice([0.0, 9.81, 1000.0]),
        "rod_contact": rng.random() < 0.5,
        "rods": rods,
        "colliders": [_collider(rng, size) for _ in range(rng.choice([0, 0, 1, 2]))],
        "fields": [_field(rng, size) for _ in range(rng.choice([0, 0, 1]))],
        "bodies": [_body(rng, size) for _ in range(rng.choice([0, 0, 1, 3]))],
    }


def _rod(rng: random.Random, size: float) -> Settings:
    return {
        "model": rng.choice([record.name for record in model_records()]),
        "points": rng.choice([2, 3, 4, 5, 8, 12, 20, 40]),
        "shape": rng.choice(["line", "line", "helix", "zigzag", "knot", "random"]),
        "at": [rng.uniform(-0.3, 0.3) for _ in range(3)],
        "size": size,
        "slenderness": 10 ** rng.uniform(0.7, 4),
        "young": 10 ** rng.uniform(2, 12),
        "density": 10 ** rng.uniform(0, 4.5),
        "damping": rng.choice([0.0, 0.0, 1e-3, 1.0]),
        "velocity": rng.choice([0.0, 0.0, size, 1e3 * size]),
        "hold": rng.choice(["none", "pin", "clamp", "pin ends", "orient"]),
        "motion": rng.choice(["still", "still", "teleport", "spin", "shake", "nan", "raises"]),
        "load": rng.choice(["none", "none", "constant", "nan", "huge"]),
    }


def _collider(rng: random.Random, size: float) -> Settings:
    return {
        "kind": rng.choice(["plane", "sphere", "box", "mesh", "sliver", "degenerate", "huge"]),
        "size": size,
        "at": [rng.uniform(-1, 1), rng.uniform(-1, 1), rng.uniform(-2, -0.1)],
        "motion": rng.choice(["still", "still", "teleport", "spin", "shake", "nan"]),
    }


def _field(rng: random.Random, size: float) -> Settings:
    """Strengths up to overflow: accelerations that are infinite or NaN."""
    return {"kind": rng.choice(KINDS), "strength": rng.choice([1.0, -10.0, 1e6, 1e150, 1e308]), "size": size}


def _body(rng: random.Random, size: float) -> Settings:
    return {
        "mass": 10 ** rng.uniform(-6, 4),
        "size": size,
        "shape": rng.choice(["box", "sphere", "flat"]),
        "at": [rng.uniform(-0.5, 0.5) for _ in range(3)],
        "collides": rng.random() < 0.5,
        "attach": rng.choice(["none", "ball", "weld"]),
    }


def build(settings: Settings) -> Scene:
    """The scene of some settings. What the description refuses with a TendrilError is left out: that is not what is tested here."""
    rng = np.random.default_rng(settings["seed"])
    scene = Scene((0.0, 0.0, -settings["gravity"]), rod_contact=settings["rod_contact"])
    for one in settings["rods"]:
        _add_rod(scene, one, rng)
    for one in settings["colliders"]:
        _add_collider(scene, one)
    for one in settings["fields"]:
        try:
            scene.add_field(Field(one["kind"], strength=one["strength"], size=one["size"]))
        except TendrilError:
            continue
    for one in settings["bodies"]:
        _add_body(scene, one)
    return scene


def _add_rod(scene: Scene, one: Settings, rng: np.random.Generator) -> None:
    size, n = one["size"], one["points"]
    s = np.linspace(0.0, 1.0, n)
    shapes = {
        "line": np.stack([s, 0 * s, 0 * s], 1),
        "helix": np.stack([0.2 * np.cos(12 * s), 0.2 * np.sin(12 * s), 0.5 * s], 1),
        "zigzag": np.stack([s, 0.1 * (np.arange(n) % 2), 0 * s], 1),
        "knot": np.stack([np.sin(6 * s) + 2 * np.sin(12 * s), np.cos(6 * s) - 2 * np.cos(12 * s), -np.sin(18 * s)], 1)
        / 6,
        "random": rng.uniform(-0.5, 0.5, (n, 3)),
    }
    material = Material(one["young"], one["density"], damping_time=one["damping"])
    points, radius = size * (shapes[one["shape"]] + np.array(one["at"])), size / one["slenderness"]
    try:
        if one["model"] in ("net", "corde") and n > 2:
            edges = [(k, k + 1) for k in range(n - 1)] + ([(0, n - 1)] if one["shape"] == "random" else [])
            number = scene.add(Net.from_edges(points, edges, radius, material), one["model"])
        else:
            rod = Rod.from_points(points, radius=radius, material=material)
            number = scene.add(rod, one["model"], velocity=(0.0, one["velocity"], 0.0))
    except TendrilError:
        return
    path = _path(one["motion"], size)
    start = np.asarray(scene.entries[number].rod.points[0])
    try:
        if one["hold"] in ("pin", "pin ends"):
            scene.pin(number, "start", None if path is None else (lambda t: start + path(t)[0]))
            if one["hold"] == "pin ends":
                scene.pin(number, "end")
        elif one["hold"] == "clamp":
            scene.clamp(number, "start", None if path is None else (lambda t: (start + path(t)[0], path(t)[1])))
        elif one["hold"] == "orient":
            scene.orient(number, "start", None if path is None else (lambda t: path(t)[1]))
        loads = {"constant": (0.0, 1.0, 0.0), "nan": lambda t: (math.nan, 0.0, 0.0), "huge": (0.0, 0.0, 1e30)}
        if one["load"] in loads:
            scene.load(number, "end", loads[one["load"]])  # type: ignore[arg-type]
    except TendrilError:
        return


def _path(motion: str, size: float) -> Any:
    """A function of time that returns a displacement and a rotation."""

    def turned(angle: float) -> np.ndarray[Any, Any]:
        c, s = math.cos(angle), math.sin(angle)
        return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])

    def raises(t: float) -> Any:
        if t > 0.05:
            raise RuntimeError("on purpose")
        return np.zeros(3), np.eye(3)

    return {
        "still": None,
        "teleport": lambda t: (np.array([0.0, 10.0 * size * (t > 0.05), 0.0]), np.eye(3)),
        "spin": lambda t: (np.zeros(3), turned(500.0 * t)),
        "shake": lambda t: (np.array([0.0, 0.0, size * math.sin(300.0 * t)]), turned(math.sin(100.0 * t))),
        "nan": lambda t: (np.full(3, math.nan if t > 0.05 else 0.0), np.eye(3)),
        "raises": raises,
    }[motion]


def _add_collider(scene: Scene, one: Settings) -> None:
    size, at = one["size"], one["size"] * np.array(one["at"])
    path = _path(one["motion"], size)
    corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], dtype=float)
    square = [[0, 1, 2], [0, 2, 3]]
    try:
        shape = {
            "plane": lambda: Plane(at),
            "sphere": lambda: Sphere(0.3 * size, at),
            "box": lambda: Box((0.5 * size, 0.4 * size, 0.2 * size), at),
            "mesh": lambda: Mesh(size * corners + at, square),
            "sliver": lambda: Mesh(size * corners * np.array([1.0, 1e-7, 1.0]) + at, square),
            # Triangles without area, twice the same one, and corners at one place
            "degenerate": lambda: Mesh(
                size * np.concatenate([corners, corners[:2], np.zeros((1, 3))]) + at,
                [*square, *square, [0, 4, 1], [0, 6, 2], [4, 5, 1], [3, 2, 0]],
            ),
            "huge": lambda: Mesh(size * grid(100, 0.02)[0] + at, grid(100)[1]),
        }[one["kind"]]()
        origin = np.zeros(3) if isinstance(shape, Mesh) else at
        scene.collide(shape, path=None if path is None else (lambda t: (origin + path(t)[0], path(t)[1])))
    except TendrilError:
        return


def _add_body(scene: Scene, one: Settings) -> None:
    size = one["size"]
    shapes = {
        "box": lambda: Box((0.2 * size,) * 3),
        "sphere": lambda: Sphere(0.15 * size),
        "flat": lambda: Box((0.3 * size, 0.3 * size, 1e-4 * size)),
    }
    try:
        attached = one["attach"] != "none" and scene.entries
        at = np.asarray(scene.entries[0].rod.points[-1]) if attached else size * np.array(one["at"])
        body = Body(shapes[one["shape"]](), mass=one["mass"], position=at, collides=one["collides"])
        number = scene.add_body(body)
        if attached:
            scene.attach(0, "end", number, kind=one["attach"])
    except TendrilError:
        return


def simulate(
    settings: Settings, threads: int = 1, around: Callable[[], AbstractContextManager[None]] = nullcontext
) -> tuple[list[np.ndarray[Any, Any]], list[Any]] | None:
    """States and reports of all frames, each of which is simulated within `around`; None if the scene is refused, with one
    sentence."""
    scene = build(settings)
    try:
        sim = Simulation(scene, substeps=settings["substeps"], threads=threads)
    except TendrilError:
        return None
    states, reports = [sim.state()], []
    for _ in range(settings["frames"]):
        with around():
            reports.append(sim.step_frame().report)
        states.append(sim.state())
    if len(states) > 2:
        again = Simulation(build(settings), substeps=settings["substeps"], threads=threads)
        again.restore(states[1], 2)
        again.step_frame()
        assert again.state().tobytes() == states[2].tobytes(), "a restored simulation goes on differently"
    return states, reports
