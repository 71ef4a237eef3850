"""A strand passes through two springs; a weight pulls its middle down, and the springs slide towards each other and collide (Zhao
et al. 2022, Fig. 14).

Materials, radius, numbers of segments and the time step are the paper's; it gives neither lengths nor loads. One end of the
strand is clamped. The other lies in a frictionless chute of colliders, and a light force along the chute keeps the strand taut.
The weight is a force on one vertex: it is drawn, but does not collide with the springs.
"""

from __future__ import annotations

import math

import numpy as np

from ...core import Frame, Rod, Scene, Simulation, Stiffness
from ...core.describe.shapes import Box, Capsule, Shape, Sphere
from ...core.errors import Array
from ...core.maths.geometry.linking import linking_number
from .outcome import BLUE, GREEN, GREY, ORANGE, RED, Camera, Moment, Number, Outcome, Plot, Series, Solid, Tube
from .overlap import in_itself, of_rods

RADIUS = 0.03  # m, of the strand and of the wire
DENSITY = 0.1  # kg/m3
STRAND, SPRING = 20e6, 2e6  # Pa, Young's modulus and shear modulus
SEGMENTS = 30  # of the strand; a spring has 150
TURNS, PER_TURN = 10, 15
COIL = 0.16  # m, from the axis of a spring to the centreline of its wire
LONG = 1.1  # m, length of a spring
INEXTENSIBLE = 1e5  # N
LENGTH_TOLERANCE = {"der": 1e-3, "compact": 1e-12}  # admissible relative change of the length of the strand
FRICTION = 0.1
DAMPING = 0.005  # s
START, MOUTH, END = -3.0, 3.0, 4.5  # m: start of the strand, mouth of the chute, end of the strand
WEIGHT, PULL = 20.0, 12.0  # N
HUNG = 13  # vertex that carries the weight
LOADED = 0.5  # s, when the full weight is reached
STEP = 0.003  # s
SECONDS = 1.4
FAR = 1e3  # m

ROUND, HEIGHT = 0.3, 0.1  # m: radius of the chute's lip, thickness of its floor
LYING = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))  # axis along y
WIDE, LEFT = 1.4, RADIUS + 0.001  # m: length of the chute; distance of its walls from its centre
MIDDLE = MOUTH + 0.5 * WIDE
FLOOR = Box((WIDE, 0.4, HEIGHT), (MIDDLE, 0.0, -LEFT - 0.5 * HEIGHT))
LIP = Capsule(ROUND, 0.4, (MOUTH, 0.0, -LEFT - ROUND), LYING)
CEILING = Box((WIDE, 0.4, HEIGHT), (MIDDLE, 0.0, LEFT + 0.5 * HEIGHT))
WALLS = tuple(Box((WIDE, 0.1, 2.0 * LEFT), (MIDDLE, side * (LEFT + 0.05), 0.0)) for side in (-1.0, 1.0))


def round_section(modulus: float, stretch: float) -> Stiffness:
    area, inertia = math.pi * RADIUS**2, math.pi * RADIUS**4 / 4.0
    return Stiffness(
        stretch, modulus * inertia, modulus * inertia, modulus * 2.0 * inertia,
        mass_per_length=DENSITY * area, inertia_per_length=2.0 * DENSITY * inertia,
    )  # fmt: skip


def rods() -> list[Rod]:
    """The strand, the left spring and the right spring."""
    strand = np.linspace((START, 0.0, 0.0), (END, 0.0, 0.0), SEGMENTS + 1)
    angle = 2.0 * math.pi * np.arange(TURNS * PER_TURN + 1) / PER_TURN
    inside = COIL * math.cos(math.pi / PER_TURN) - RADIUS  # inner radius of a polygonal coil
    coils = np.stack([LONG * angle / angle[-1], COIL * np.cos(angle), COIL * np.sin(angle) - inside + RADIUS], axis=1)
    wire, area = round_section(SPRING, SPRING * math.pi * RADIUS**2), (-2.3, 2.3 - LONG)
    return [
        Rod.from_points(strand, RADIUS, stiffness=round_section(STRAND, INEXTENSIBLE), damping_time=DAMPING),
        *(Rod.from_points(coils + np.array([x, 0.0, 0.0]), RADIUS, stiffness=wire, damping_time=DAMPING) for x in area),
    ]


def scene_of(all_rods: list[Rod], model: str = "der") -> Scene:
    scene = Scene(rod_contact=True)
    for rod in all_rods:
        scene.add(rod, model, friction=FRICTION)
    scene.clamp(0, "start")
    scene.load(0, "end", (PULL, 0.0, 0.0))
    scene.load(0, HUNG, lambda t: (0.0, 0.0, -WEIGHT * min(1.0, t / LOADED)))
    chute: tuple[Shape, ...] = (FLOOR, LIP, CEILING, *WALLS)
    for shape in chute:
        scene.collide(shape, friction=0.0)
    return scene


def passes_through(strand: Array, spring: Array) -> float:
    """Winding number of the spring about the strand. Both are closed far away: the strand behind the scene, the spring by two
    radial lines from its ends."""
    behind = np.array([[FAR, 0.0, 0.0], [FAR, -FAR, 0.0], [-FAR, -FAR, 0.0], [-FAR, 0.0, 0.0]])
    out = [
        tip + 0.1 * FAR * (tip - turn) / np.linalg.norm(tip - turn)
        for tip, turn in ((spring[-1], spring[-PER_TURN:].mean(axis=0)), (spring[0], spring[:PER_TURN].mean(axis=0)))
    ]
    return linking_number(np.vstack([strand, behind]), np.vstack([spring, *out]))


def apart(frame: Frame) -> float:
    """Distance between the centres of the springs, m."""
    left, right = (frame.positions(k).mean(axis=0) for k in (1, 2))
    return float(np.linalg.norm(right - left))


def deepest(frame: Frame) -> float:
    """Largest overlap of any two rods or of a rod with itself, m."""
    x = [frame.positions(k) for k in range(3)]
    of_two = (of_rods(x[i], RADIUS, x[j], RADIUS) for i, j in ((0, 1), (0, 2), (1, 2)))
    return max(0.0, *of_two, *(in_itself(x[k], RADIUS) for k in range(3)))


def run(model: str = "der") -> Outcome:
    all_rods = rods()
    sim = Simulation(scene_of(all_rods, model), 1.0 / STEP, substeps=1)
    frames = list(sim.frames(1, 1 + round(SECONDS / STEP)))
    times = np.array([frame.time for frame in frames])
    distance = np.array([apart(frame) for frame in frames])
    between = np.array([-of_rods(frame.positions(1), RADIUS, frame.positions(2), RADIUS) for frame in frames])
    deep = np.array([deepest(frame) for frame in frames[1:]])
    wound = [
        [passes_through(frame.positions(0), frame.positions(k)) for k in (1, 2)] for frame in (frames[0], frames[-1])
    ]
    ends = np.array([frame.positions(0)[-1] for frame in frames])
    wall = max(0.0, float(np.abs(ends[:, 1:]).max()) - (LEFT - RADIUS))
    stretch = max(_stretch(frame.positions(0)) for frame in frames)
    met = int(np.flatnonzero(between < 0.01 * RADIUS)[0]) if (between < 0.01 * RADIUS).any() else len(frames) - 1

    numbers = [
        *(
            Number.near(
                f"turns of the {side} spring about the strand", wound[1][k], wound[0][k], 1e-6, says="as before"
            )
            for k, side in ((0, "left"), (1, "right"))
        ),
        Number.between("distance of the springs, of that at the start", float(distance.min() / distance[0]), 0.0, 0.5),
        Number.between("least gap between them", float(between.min() / RADIUS), -0.02, 0.02, "radii", "they collide"),
        Number.between("deepest overlap, at any step", float(deep.max() / RADIUS), 0.0, 0.02, "radii"),
        Number.between("the end sits in a wall of the chute by", wall / RADIUS, 0.0, 0.02, "radii"),
        Number("the end slides in by", float(ends[0, 0] - ends[-1, 0]), "m"),
        Number.between("stretch of the strand", stretch, 0.0, LENGTH_TOLERANCE[model]),
    ]
    shown = [0, round(0.45 / STEP), (round(0.45 / STEP) + met) // 2, met]
    words = ["begins", "the weight pulls the strand down", "the springs slide", "they collide"]
    moments = [_moment(frames[k], all_rods, f"{times[k]:.2f} s: {word}") for k, word in zip(shown, words, strict=True)]
    plot = Plot(
        "Springs", "time (s)", "m",
        [
            Series(times, distance, "from middle to middle", "-", BLUE),
            Series(times, between, "gap between them", "-", RED),
        ],
    )  # fmt: skip
    sag = Plot(
        "Strand", "time (s)", "m",
        [
            Series(times, [-frame.positions(0)[HUNG, 2] for frame in frames], "sag where the weight hangs", "-", GREEN),
            Series(times, ends[0, 0] - ends[:, 0], "way of the end in the chute", "-", ORANGE),
        ],
    )  # fmt: skip
    caption = (
        f"A weight of {WEIGHT:g} N pulls down a strand (E = {STRAND:g} Pa) that passes through two springs of {TURNS} turns (E = "
        f"{SPRING:g} Pa). They slide towards each other and collide. Friction {FRICTION:g}, steps of {1e3 * STEP:g} ms."
    )
    return Outcome(numbers, moments, [plot, sag], Camera((0.25, -1.0, 0.3)), columns=2, caption=caption)


def _stretch(points: Array) -> float:
    return float(np.abs(np.linalg.norm(np.diff(points, axis=0), axis=1) * SEGMENTS / (END - START) - 1.0).max())


def _moment(frame: Frame, all_rods: list[Rod], title: str) -> Moment:
    tubes = [Tube.of(frame, k, all_rods[k], colour) for k, colour in enumerate((BLUE, ORANGE, GREEN))]
    at = frame.positions(0)[HUNG]
    ball = Sphere(0.2, at - (0.0, 0.0, 0.9))
    tubes.append(Tube([at, at - (0.0, 0.0, 0.8)], 0.012, GREY))
    # The front wall and the ceiling are left out because they would hide the strand.
    return Moment(title, tubes, [Solid(FLOOR), Solid(LIP), Solid(WALLS[1]), Solid(ball, RED)])
