"""A loose overhand knot is pulled tight by 200 N, and then by up to 20,000 N (Zhao et al. 2022, Figs. 13 and 15).

Material, radius, forces, 100 segments and the time step are the paper's; it does not give length and friction. One end is pinned
and reacts with the force that acts on the other: with two free ends the knot, which weighs a few grams, would be accelerated
away.
"""

from __future__ import annotations

import math
import time

import numpy as np

from ...core import Frame, Rod, Scene, Simulation, Stiffness
from ...core.errors import Array
from ...core.maths.geometry.knots import is_trefoil
from .outcome import BLUE, RED, Camera, Moment, Number, Outcome, Plot, Series, Tube
from .overlap import in_itself

SEGMENTS = 100
LENGTH = 5.2  # m
RADIUS = 0.03  # m
MODULUS = 20e6  # Pa, Young's modulus and shear modulus
DENSITY = 0.1  # kg/m3
INEXTENSIBLE = 1e8  # N; the rod of the paper is inextensible
LENGTH_TOLERANCE = {
    "der": 1e-3,
    "compact": 1e-12,
}  # admissible relative change of length, for nearly and exactly inextensible rods
FRICTION = 0.1
STEP = 0.003  # s
WEAK, STRONG = 200.0, 20_000.0  # N
# s in which the weak force is reached; applied at once it would fling the rod, which weighs a gram. A compact rod pulled as
# slowly as the other would, with these long steps, slip out of its own loop before it closes.
RAMP = {"der": 0.1, "compact": 0.03}
TIGHT, GROWN, SECONDS = 0.24, 0.6, 0.69  # s: end of the weak force; strong force reached; end
LAST = 0.03  # s, in which it must be at rest


def loose_knot() -> Array:
    """An open trefoil (A. R. Shastri's polynomials) with its ends on the x axis."""
    t = np.linspace(-2.05, 2.05, 20_001)
    curve = np.stack([t**3 - 3.0 * t, t**4 - 4.0 * t**2, 1.2 * (t**5 / 5.0 - 2.0 * t)], axis=1)
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
    at = np.linspace(0.0, along[-1], SEGMENTS + 1)
    points = np.stack([np.interp(at, along, curve[:, axis]) for axis in range(3)], axis=1)
    points *= LENGTH / np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
    x = (points[-1] - points[0]) / np.linalg.norm(points[-1] - points[0])
    z = np.cross(x, (0.0, 1.0, 0.0))
    z /= np.linalg.norm(z)
    return np.asarray((points - 0.5 * (points[0] + points[-1])) @ np.stack([x, np.cross(z, x), z], axis=1))


def pull(t: float, model: str = "der") -> float:
    """Pulling force at time t, N."""
    grown = min(max((t - TIGHT) / (GROWN - TIGHT), 0.0), 1.0)
    return float(WEAK * min(t / RAMP[model], 1.0) * (STRONG / WEAK) ** grown)


def simulation(threads: int | None = None, model: str = "der", contact: str = "coulomb") -> tuple[Rod, Simulation]:
    area, inertia = math.pi * RADIUS**2, math.pi * RADIUS**4 / 4.0
    bend = MODULUS * inertia
    stiffness = Stiffness(
        INEXTENSIBLE, bend, bend, 2.0 * bend, mass_per_length=DENSITY * area, inertia_per_length=2.0 * DENSITY * inertia
    )
    rod = Rod.from_points(loose_knot(), RADIUS, stiffness=stiffness, rest="straight")
    scene = Scene(gravity=(0.0, 0.0, 0.0), rod_contact=True)
    scene.add(rod, model, friction=FRICTION if contact == "coulomb" else 0.0)
    scene.pin(0, "start")
    scene.load(0, "end", lambda t: (pull(t, model), 0.0, 0.0))
    return rod, Simulation(scene, 1.0 / STEP, substeps=1, threads=threads, contact=contact)


def span(frame: Frame) -> float:
    x = frame.positions(0)
    return float(np.linalg.norm(x[-1] - x[0]))


def run(model: str = "der") -> Outcome:
    rod, sim = simulation(model=model)
    frames, seconds = [sim.current()], []
    for _ in range(round(SECONDS / STEP)):
        start = time.process_time()
        frames.append(sim.step_frame())
        seconds.append(time.process_time() - start)
    return outcome_of(rod, frames, float(np.mean(seconds)), model)


def outcome_of(rod: Rod, frames: list[Frame], seconds: float, model: str) -> Outcome:
    """Numbers and picture of all frames; `seconds` is the processor time of one."""
    times = np.array([frame.time for frame in frames])
    spans = np.array([span(frame) for frame in frames])
    lengths = np.array([np.linalg.norm(np.diff(frame.positions(0), axis=0), axis=1).sum() for frame in frames])
    weak = int(np.flatnonzero(times <= TIGHT)[-1])
    samples = [frame for k, frame in enumerate(frames) if k % 10 == 0] + [frames[-1]]
    last = round(LAST / STEP)
    ways = [_motion(frames[k - last : k + 1]) / RADIUS for k in (weak, len(frames) - 1)]

    numbers = [
        Number.equal("samples at which it is a trefoil", sum(is_trefoil(f.positions(0), False) for f in samples), len(samples)),
        Number.between(
            "length changes by", float(np.abs(lengths / LENGTH - 1.0).max()), 0.0, LENGTH_TOLERANCE[model], says="inextensible"
        ),
        Number("taken up by the knot at 200 N", LENGTH - spans[weak], "m"),
        Number.between("at 20,000 N", LENGTH - spans[-1], 0.0, 0.5 * (LENGTH - spans[weak]), "m", "much tighter"),
        *(
            Number.between(f"moves in the last {LAST:g} s of {force:,.0f} N", way, 0.0, 0.1, "radii", "still")
            for force, way in zip((WEAK, STRONG), ways, strict=True)
        ),
        Number.between("overlaps itself at the end", in_itself(frames[-1].positions(0), RADIUS) / RADIUS, -1, 0.02, "radii"),
        Number("mean processor time of a step", 1e3 * seconds, "ms"),
    ]  # fmt: skip
    shown = [0, 2, weak, *(int(np.flatnonzero(times >= t)[0]) for t in (_when(1000.0), _when(4000.0))), len(frames) - 1]
    moments = [
        Moment(
            f"{times[k]:.2f} s, {pull(times[k], model):,.0f} N",
            [Tube.of(frames[k], 0, rod)],
            camera=_camera(frames[k], tall),
        )
        for k, tall in zip(shown, (1.1, 1.1, 1.1, 0.6, 0.6, 0.6), strict=True)
    ]
    growth = Plot("Distance of the ends", "time (s)", "m", [Series(times, spans, "", "-", BLUE)])
    force = Plot(
        "Length taken up by the knot",
        "pull (N)",
        "m",
        [Series([pull(t) for t in times[weak:]], LENGTH - spans[weak:], "", "-", RED)],
    )
    caption = (
        f"A rod of {LENGTH:g} m, radius {RADIUS:g} m, {SEGMENTS} segments, E = G = {MODULUS:g} Pa, friction {FRICTION:g}, is drawn "
        f"tight by {WEAK:g} to {STRONG:,.0f} N in steps of {1e3 * STEP:g} ms: a trefoil throughout, and at rest under both forces."
    )
    return Outcome(numbers, moments, [growth, force], Camera(), columns=3, caption=caption)


def _when(force: float) -> float:
    return TIGHT + (GROWN - TIGHT) * math.log(force / WEAK) / math.log(STRONG / WEAK)


def _motion(frames: list[Frame]) -> float:
    """Largest distance of a vertex from its final position, m. The distance of the ends would not reveal a trembling knot."""
    x = np.array([frame.positions(0) for frame in frames])
    return float(np.linalg.norm(x - x[-1], axis=2).max())


def _camera(frame: Frame, tall: float) -> Camera:
    """Camera with the knot in the centre."""
    x = frame.positions(0)
    bent = np.linalg.norm(x[2:] - 2.0 * x[1:-1] + x[:-2], axis=1)
    centre = (bent[:, None] * x[1:-1]).sum(axis=0) / bent.sum()
    return Camera((0.2, -1.0, 0.5), centre=(float(centre[0]), float(centre[1]), float(centre[2])), height=tall)
