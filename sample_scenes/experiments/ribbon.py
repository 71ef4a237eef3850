"""A ribbon of two rods and struts falls on the ground: with torsional stiffness it folds regularly, without it tangles.

86 points, 127 segments, size, material and friction are those of Spillmann and Teschner 2009, Fig. 15, with stiffnesses as
printed; the initial position is ours: it hangs with its lower end at the ground. The regularity of the pile is measured by its
struts, which are parallel in regular folds: |mean of exp(2 i φ)| over the directions φ of the struts on the ground is 1 if they
are parallel and 0 if they are random.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ...core import Net, Plane, Scene, Simulation
from ...core.errors import Array
from .graphs import RADIUS, as_printed, tubes
from .outcome import BLUE, GREEN, Camera, Moment, Number, Outcome, Plot, Series, Solid

LENGTH, WIDTH, RUNGS = 24.0, 1.0, 43
STIFF = as_printed(0.2e6, 0.2e6, 5e6)
LOOSE = dataclasses.replace(STIFF, twist=1e-6 * STIFF.twist)
DAMPING = 0.02  # s
DRAG = 0.1  # 1/s
SECONDS = 4.0
LOW = 0.6  # m, height below which a strut counts as lying on the ground


def ribbon(stiffness: object) -> Net:
    z = np.linspace(0.0, LENGTH, RUNGS)
    zero = np.zeros(RUNGS)
    sway = 1e-2 * np.sin(0.7 * z)
    points = np.concatenate([np.stack([zero + x, sway, z + RADIUS], axis=1) for x in (-0.5 * WIDTH, 0.5 * WIDTH)])
    edges = [(k, k + 1) for k in range(RUNGS - 1)] + [(RUNGS + k, RUNGS + k + 1) for k in range(RUNGS - 1)]
    edges += [(k, RUNGS + k) for k in range(RUNGS)]
    straight = points * (1.0, 0.0, 1.0)
    return Net.from_edges(points, edges, RADIUS, stiffness=stiffness, damping_time=DAMPING, rest=straight)  # type: ignore[arg-type]


def fall(stiffness: object, seconds: float = SECONDS) -> tuple[Net, list[Array], list[int]]:
    net = ribbon(stiffness)
    scene = Scene(rod_contact=True, drag=DRAG)
    k = scene.add(net, friction=0.6)
    scene.collide(Plane(), friction=0.6)
    sim = Simulation(scene)
    frames = list(sim.frames(1, 1 + round(24 * seconds)))
    return net, [frame.positions(k) for frame in frames], [frame.report.failures for frame in frames]


def order(x: Array) -> float:
    """Order parameter of the directions of the struts on the ground, from 0 to 1."""
    left, right = x[:RUNGS], x[RUNGS:]
    low = 0.5 * (left + right)[:, 2] < LOW
    d = (right - left)[low, :2]
    if len(d) < 3:
        return 1.0
    phi = np.arctan2(d[:, 1], d[:, 0])
    weight = np.linalg.norm(d, axis=1)
    return float(abs((weight * np.exp(2j * phi)).sum()) / (np.linalg.norm(right - left, axis=1)[low]).sum())


@dataclasses.dataclass(frozen=True)
class _Snapshot:
    x: Array

    def positions(self, _: int) -> Array:
        return self.x


def run() -> Outcome:
    found = {"with torsion": fall(STIFF), "without": fall(LOOSE)}
    numbers = []
    for name, (_, shapes, failures) in found.items():
        numbers.append(Number.equal(f"steps given up, {name}", sum(failures), 0))
        deepest = max(0.0, max(RADIUS - float(x[:, 2].min()) for x in shapes)) / RADIUS
        numbers.append(Number.between(f"deepest in the ground, {name}", deepest, 0.0, 0.05, "radii"))
    regular, tangled = (order(found[name][1][-1]) for name in found)
    numbers.append(
        Number.between("order of the struts, with torsion", regular, 0.95, 1.0, "", "paper: coils regularly")
    )
    numbers.append(Number.between("order of the struts, without", tangled, 0.0, 0.8, "", "paper: chaotic loops"))
    moments = [
        Moment(f"{k / 24:.1f} s, {name}", tubes(_Snapshot(shapes[k]), 0, net, colour, 0.05), [Solid(Plane())])
        for (name, (net, shapes, _)), colour in zip(found.items(), (BLUE, GREEN), strict=True)
        for k in (round(24 * 0.5 * SECONDS), round(24 * SECONDS))
    ]
    times = np.arange(len(found["without"][1])) / 24.0
    series = [
        Series(times, [order(x) for x in shapes], name, "-", colour)
        for (name, (_, shapes, _)), colour in zip(found.items(), (BLUE, GREEN), strict=True)
    ]
    plot = Plot("Order of the struts on the ground", "time (s)", "", series)
    caption = (
        f"A ribbon of {LENGTH:g} m by {WIDTH:g} m with {RUNGS} struts falls on the ground, with torsional stiffness and with a "
        "millionth of it: it lies in folds, or in a tangle."
    )
    return Outcome(numbers, moments, [plot], Camera((0.5, -1.0, 0.35)), columns=4, caption=caption)
