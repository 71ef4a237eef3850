"""Hair of clothoids on a head that shakes: 100 stylised curls of one to four elements, and 662 strands of four, smooth or curly.
They touch the head and each other, with friction."""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np
from tendril.core import Rod, Scene, Simulation, Sphere, Stiffness
from tendril.core.inspection import acting_contacts
from tendril.sample_scenes.experiments.clothoids import drawn
from tendril.sample_scenes.experiments.overlap import of_many

HEAD = 0.1  # m
FRICTION = 0.2  # the paper's
FRAMES_PER_SECOND, SUBSTEPS = 24.0, 4  # steps of 10.4 ms; the paper's are of 11 to 33
SHAKES, PERIOD, SWAY = 0.5, 1.0, math.radians(25.0)  # the head begins to shake; s; how far it turns to either side
EACH = 6  # drawn edges of an element
DAMPING = 0.02  # s


class Style(NamedTuple):
    name: str
    strands: int
    radius: float  # m
    length: tuple[float, float]  # shortest, longest
    bend: float  # N m2
    mass: float  # kg/m
    curl: tuple[float, float]  # natural curvature at root and tip, 1/m
    twist: float  # natural, 1/m
    shares: tuple[float, ...]  # of strands that have 1, 2, 3 ... elements

    def elements(self) -> list[int]:
        ends = np.round(np.cumsum(self.shares) * self.strands).astype(int)
        return [int(np.searchsorted(ends, k, side="right")) + 1 for k in range(self.strands)]


STYLISED = Style("100 curls", 100, 2e-3, (0.22, 0.32), 2e-5, 4e-3, (15.0, 80.0), 12.0, (0.65, 0.2, 0.1, 0.05))
SMOOTH = Style("smooth", 662, 5e-4, (0.18, 0.24), 2e-6, 2e-4, (9.0, 9.0), 0.0, (0.0, 0.0, 0.0, 1.0))
CURLY = Style("curly", 662, 5e-4, (0.18, 0.24), 2e-6, 2e-4, (60.0, 90.0), 25.0, (0.0, 0.0, 0.0, 1.0))


def turn(t: float) -> np.ndarray:
    """The rotation of the head: it begins gently."""
    since = max(t - SHAKES, 0.0)
    angle = SWAY * math.sin(2.0 * math.pi * since / PERIOD) * min(since / (0.25 * PERIOD), 1.0)
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def strands(style: Style) -> list[tuple[Rod, int]]:
    """Rods and their elements; roots all over the upper part of the head, as evenly as sunflower seeds, each strand outwards."""
    rng, rods = np.random.default_rng(7), []
    made_of = Stiffness(1e3, style.bend, style.bend, 0.8 * style.bend, style.mass, 0.5 * style.mass * style.radius**2)
    for k, count in enumerate(rng.permutation(style.elements())):
        height = 1.0 - 1.05 * (k + 0.5) / style.strands
        around = math.pi * (3.0 - math.sqrt(5.0)) * k
        across = math.sqrt(1.0 - height**2)
        outwards = np.array([across * math.cos(around), across * math.sin(around), height])
        side = np.cross(outwards, [0.0, 0.0, 1.0])
        side /= max(float(np.linalg.norm(side)), 1e-9)
        # A smooth strand bends downwards; a curl in any direction.
        spin = 0.0 if style.twist == 0.0 else rng.uniform(0.0, 2.0 * math.pi)
        first = math.cos(spin) * side + math.sin(spin) * np.cross(outwards, side)
        frame = np.stack([outwards, first, np.cross(outwards, first)], axis=1)
        bends = np.linspace(*style.curl, int(count) + 1) * rng.uniform(0.85, 1.15)
        way = -1.0 if style.twist == 0.0 or rng.random() < 0.5 else 1.0
        kappa = np.stack([np.full(count + 1, way * style.twist), bends, 0.0 * bends], axis=1)
        length = rng.uniform(*style.length)
        root = (HEAD + 1.02 * style.radius) * outwards
        edges = EACH * int(count)
        curled, frames = drawn(kappa, length, edges, root, frame)
        directors = 0.5 * (frames[1:, :, 1] + frames[:-1, :, 1])
        rod = Rod.from_points(curled, radius=style.radius, stiffness=made_of, director=directors, damping_time=DAMPING)
        rods.append((rod, int(count)))
    return rods


def simulation(style: Style, friction: float = FRICTION, threads: int | None = None) -> tuple[list[Rod], Simulation]:
    scene, rods = Scene(rod_contact=True), strands(style)
    for rod, elements in rods:
        hair = scene.add(rod, "clothoid", elements=elements, friction=friction)
        scene.clamp(hair, "start", lambda t, x=rod.points[0]: (turn(t) @ x, turn(t)))
    scene.collide(Sphere(HEAD), friction=friction, path=lambda t: ((0.0, 0.0, 0.0), turn(t)))
    sim = Simulation(scene, FRAMES_PER_SECOND, substeps=SUBSTEPS, contact="gauss-seidel", threads=threads)
    return [rod for rod, _ in rods], sim


class Moved(NamedTuple):
    moments: list[tuple[float, list[np.ndarray]]]
    in_head: float  # radii of a strand, the deepest of all frames
    deep: (
        float  # of the places where strands overlap at the end, the part where by more than a tenth of their thickness
    )
    deepest: float  # thicknesses, at the end
    failures: int
    pressing: int  # contacts with other strands that act at the end
    steepest: float  # tangential over normal force at the head
    sticking: float  # the part of contacts with the head where friction is less than it can be
    filled: int  # cubes of a centimetre that have hair in them
    lag: np.ndarray  # (frames, 2) time; how far tips move against the head in a frame, in lengths
    seconds: float  # of processor time per frame


def move(style: Style, frames: int, shown: tuple[int, ...] = (), threads: int | None = None) -> Moved:
    rods, sim = simulation(style, threads=threads)
    block = sim.blocks[0]
    lengths = np.array([rod.length for rod in rods])
    moments, in_head, failures, lag, seconds = [], -math.inf, 0, [], 0.0
    before = np.array([sim.current().positions(k)[-1] for k in range(len(rods))])
    for k in range(1, frames + 1):
        start = time.process_time()
        frame = sim.step_frame()
        seconds += time.process_time() - start
        failures += frame.report.failures
        points = block.positions()
        in_head = max(in_head, float(1.0 + (HEAD - np.linalg.norm(points, axis=1).min()) / style.radius))
        x = [frame.positions(i) for i in range(len(rods))]
        tips = np.array([p[-1] for p in x])
        stiff = before @ (turn(k / FRAMES_PER_SECOND) @ turn((k - 1) / FRAMES_PER_SECOND).T).T
        lag.append((frame.time, float(np.median(np.linalg.norm(tips - stiff, axis=1) / lengths))))
        before = tips
        if k in shown:
            moments.append((frame.time, x))
    overlaps = of_many(points, block.sample_start, style.radius) / (2.0 * style.radius)
    acting = acting_contacts(sim)
    assert sim._contact is not None
    on_head = acting.rods[:, 1] < 0
    forces = sim._contact.known.forces[on_head]
    normal = acting.points[on_head] / np.linalg.norm(acting.points[on_head], axis=1)[:, None]
    pressed = np.einsum("ij,ij->i", forces, normal)
    slope = np.linalg.norm(forces - pressed[:, None] * normal, axis=1) / np.maximum(pressed, 1e-300)
    return Moved(
        moments=moments,
        in_head=in_head,
        deep=float(np.mean(overlaps > 0.1)) if len(overlaps) else 0.0,
        deepest=float(overlaps.max(initial=0.0)),
        failures=failures,
        pressing=int((~on_head).sum()),
        steepest=float(np.quantile(slope, 0.95)) if len(slope) else 0.0,
        sticking=float(np.mean(slope < 0.95 * FRICTION)) if len(slope) else 1.0,
        filled=len(np.unique(np.floor(points / 0.01).astype(int), axis=0)),
        lag=np.array(lag),
        seconds=seconds / frames,
    )
