"""Two remarks of a thesis on Discrete Elastic Rods: its parameters are redundant, and three constraints keep lengths (Kirsch 2012,
sections 6.2 and 6.3).

Scaling bending and twisting stiffness by the same factor λ scales all accelerations by λ: the same motion takes 1/√λ of the time.
(Remark 6.1 has λ itself, which is right for the velocities of one step, not for the motion.) Only the ratio of both matters.

The three constraints are e² − l², e²/l − l and (e²/l − l) / 2 for an edge of length e that should be l. They differ by a factor
per edge, under which a step of Newton's method does not change; the condition of its system does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...core import Rod, Scene, Simulation, Stiffness
from ...core.errors import Array
from .outcome import BLUE, GREY, ORANGE, Camera, Moment, Number, Outcome, Plot, Series, Tube

BEND, TWIST, SEGMENTS = 0.02, 0.015, 40
SCALES = (0.25, 16.0, 1000.0)
RATE, FRAMES = 5.0, 36
MODEL = "der2008"

EDGES, SHORTEST, LONGEST = 40, 0.004, 0.4  # of the uneven rod that is projected; m
DISTURBED = 0.02  # of an edge: how far vertices are off


def released(scale: float, rate: float, ratio: float = 1.0) -> tuple[Rod, list[Array]]:
    """Positions per frame of a naturally straight rod that is released from a twisted helix, clamped at its start and with the
    frame of its end held. `scale` multiplies its stiffness, `ratio` the torsional one alone."""
    angle = np.linspace(0.0, 3.0 * math.pi, SEGMENTS + 1)
    points = np.stack([0.1 * angle, 0.2 * np.cos(angle), 0.2 * np.sin(angle)], axis=1)
    stiffness = Stiffness(1e4 * scale, BEND * scale, BEND * scale, TWIST * scale * ratio, 1.0, 1e-4)
    rod = Rod.from_points(points, 0.01, stiffness=stiffness, rest="straight", twist=6.0)
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    scene.add(rod, MODEL)
    scene.clamp(0, "start")
    scene.orient(0, "end")
    sim = Simulation(scene, frame_rate=rate, substeps=1, threads=1)
    return rod, [frame.positions(0).copy() for frame in sim.frames(1, 1 + FRAMES)]


def apart(some: list[Array], others: list[Array]) -> float:
    """Largest distance of two motions, relative to the length of the motion's path."""
    moved = max(float(np.abs(x - some[0]).max()) for x in some)
    return max(float(np.abs(x - y).max()) for x, y in zip(some, others, strict=True)) / moved


class Constraint(NamedTuple):
    name: str
    weight: Callable[[Array], Array]  # of e² − l², per edge, as a function of l


CONSTRAINTS = (
    Constraint("Bergou et al. 2008", np.ones_like),
    Constraint("Goldenthal et al. 2007", lambda length: 1.0 / length),
    Constraint("Goldenthal 2010", lambda length: 0.5 / length),
)


def uneven() -> tuple[Array, Array]:
    """Disturbed vertices and the lengths that edges should have. Vertex 0 is held."""
    rng = np.random.default_rng(4)
    lengths = np.geomspace(SHORTEST, LONGEST, EDGES)
    turns = rng.uniform(-0.3, 0.3, EDGES).cumsum()
    along = np.stack([np.cos(turns), np.sin(turns), np.zeros(EDGES)], axis=1) * lengths[:, None]
    off = DISTURBED * lengths[:, None] * rng.standard_normal((EDGES, 3))
    return np.vstack([np.zeros(3), np.cumsum(along, axis=0) + off]), lengths


class Projected(NamedTuple):
    points: list[Array]  # before and after each iteration
    stretch: Array  # largest relative stretch, likewise
    condition: float  # of the first system


def projected(constraint: Constraint, iterations: int = 6) -> Projected:
    """Fast projection in the metric of the masses, which belong to half of the neighbouring edges."""
    x, lengths = uneven()
    mass = np.repeat(0.5 * (lengths + np.append(lengths[1:], 0.0)), 3)
    weight = constraint.weight(lengths)
    points, stretch, conditions = [x.copy()], [], []
    for k in range(iterations + 1):
        edges = np.diff(x, axis=0)
        c = weight * (np.einsum("ij,ij->i", edges, edges) - lengths**2)
        stretch.append(float(np.abs(np.linalg.norm(edges, axis=1) / lengths - 1.0).max()))
        if k == iterations:
            break
        gradient = np.zeros((EDGES, EDGES, 3))  # without the held vertex
        rows = np.arange(EDGES)
        gradient[rows, rows] = 2.0 * weight[:, None] * edges
        gradient[rows[1:], rows[:-1]] = -2.0 * weight[1:, None] * edges[1:]
        j = gradient.reshape(EDGES, -1)
        system = (j / mass) @ j.T
        conditions.append(float(np.linalg.cond(system)))
        x[1:] -= (j.T @ np.linalg.solve(system, c) / mass).reshape(-1, 3)
        points.append(x.copy())
    return Projected(points, np.array(stretch), conditions[0])


def run() -> Outcome:
    rod, motion = released(1.0, RATE)
    same = [apart(motion, released(scale, RATE * math.sqrt(scale))[1]) for scale in SCALES]
    linear = apart(motion, released(4.0, 4.0 * RATE)[1])
    ratio = apart(motion, released(1.0, RATE, ratio=4.0)[1])
    found = {one.name: projected(one) for one in CONSTRAINTS}
    first, _, last = found.values()
    equal = max(apart(first.points, one.points) for one in found.values())
    numbers = [
        Number.between(f"motions differ: stiffness × {scale:g}, time / √{scale:g}", value, 0.0, 1e-6, says="none")
        for scale, value in zip(SCALES, same, strict=True)
    ]
    numbers += [
        Number.between("motions differ: stiffness × 4, time / 4", linear, 0.1, math.inf, says="not Remark 6.1's λ"),
        Number.between("motions differ: torsional stiffness × 4 alone", ratio, 0.01, math.inf, says="the ratio matters"),
        Number.between("iterates of the three constraints differ", equal, 0.0, 1e-9, says="none"),
        Number.between("stretch after four iterations", float(first.stretch[4]), 0.0, 1e-7),
        Number.between(
            "condition, e² − l² over (e²/l − l) / 2", first.condition / last.condition, 2.0, math.inf,
            says="the normalised one is better",
        ),
    ]  # fmt: skip
    moments = [
        Moment(f"frame {k}", [Tube(motion[k], rod.radii)], camera=Camera((0.2, -1.0, 0.3))) for k in (0, 8, 16, FRAMES)
    ]
    plots = [
        Plot(
            "Tip, over frames whose length is ∝ 1/√λ", "frame", "height (m)",
            [
                Series(range(FRAMES + 1), [x[-1, 2] for x in motion], "λ = 1", "-", GREY),
                Series(range(FRAMES + 1), [x[-1, 2] for x in released(16.0, 4.0 * RATE)[1]], "λ = 16", "o", BLUE),
            ],
        ),
        Plot(
            "Fast projection of an uneven rod", "iteration", "largest relative stretch",
            [
                Series(range(7), one.stretch + 1e-17, name, style, colour)
                for (name, one), style, colour in zip(found.items(), ("-", "--", "o"), (GREY, ORANGE, BLUE), strict=True)
            ],
            logarithmic="y",
        ),
    ]  # fmt: skip
    caption = (
        f"{MODEL}: a stiffness λ times as large only makes the same motion √λ times as fast. Three constraints on the lengths of "
        "edges lead to the same iterates; the normalised one has a better condition."
    )
    return Outcome(numbers, moments, plots, caption=caption)
