"""Two heavy bodies fall on two trusses (Spillmann and Teschner 2009, Fig. 1).

The paper gives no parameters: the material is that of its other trusses, size and mass are ours. Each truss is held at its two
ends and catches a box; both oscillate until drag has dissipated the motion.
"""

from __future__ import annotations

import math

import numpy as np

from ...core import Body, Box, Frame, Net, Scene, Simulation
from ...core.errors import Array
from .graphs import RADIUS, add_member, as_printed, tubes
from .outcome import BLUE, GREEN, ORANGE, RED, Camera, Moment, Number, Outcome, Plot, Series, Solid

LENGTH, WIDTH, CELLS = 4.0, 0.8, 8
MADE_OF = as_printed(200e6, 200e6, 2e9)
SIZE = (0.5, 0.5, 0.4)  # m, of a box
MASSES = (20.0, 40.0)  # kg
FALL = 0.3  # m
SECONDS, RATE = 2.0, 24


def truss(y: float) -> tuple[Array, Array]:
    """Points and edges of a cross-braced ladder along x, centred at y."""
    points = [(LENGTH * (i / CELLS - 0.5), y + WIDTH * (j - 0.5), 0.0) for i in range(CELLS + 1) for j in range(2)]
    edges: list[tuple[int, int]] = []
    for i in range(CELLS):
        a, b, c, d = 2 * i, 2 * i + 1, 2 * i + 2, 2 * i + 3
        for first, last in ((a, c), (b, d), (a, d), (b, c) if i % 2 else (a, b)):
            add_member(points, edges, first, last, points[first], points[last], 2)
    add_member(points, edges, 2 * CELLS, 2 * CELLS + 1, points[2 * CELLS], points[2 * CELLS + 1], 2)
    return np.array(points), np.array(edges)


def dropped(seconds: float = SECONDS) -> tuple[list[Net], list[Frame]]:
    scene = Scene(drag=1.0, rod_contact=True)
    nets = []
    for k, mass in enumerate(MASSES):
        y = 1.6 * (k - 0.5)
        points, edges = truss(y)
        nets.append(Net.from_edges(points, edges, RADIUS, stiffness=MADE_OF))
        number = scene.add(nets[-1])
        for vertex in np.flatnonzero(np.abs(points[:, 0]) > 0.5 * LENGTH - 1e-9):
            scene.clamp(number, int(vertex))
        height = FALL + 0.5 * SIZE[2] + RADIUS
        scene.add_body(Body(Box(SIZE), mass=mass, position=(0.1, y, height), collides=True, linear_damping=0.5))
    sim = Simulation(scene, frame_rate=RATE)
    return nets, list(sim.frames(1, 1 + round(RATE * seconds)))


def clearance(net: Net, frame: Frame, rod: int, body: int) -> float:
    """Smallest distance of a truss from the box, m, negative inside; measured at eleven points of each segment."""
    x, s = frame.positions(rod), np.linspace(0.0, 1.0, 11)[:, None, None]
    on = ((1.0 - s) * x[net.edges[:, 0]] + s * x[net.edges[:, 1]]).reshape(-1, 3)
    local = (on - frame.body_position(body)) @ frame.body_rotation(body)
    beyond = np.abs(local) - 0.5 * np.array(SIZE)
    outside = np.linalg.norm(np.maximum(beyond, 0.0), axis=1)
    return float(np.where(outside > 0.0, outside, beyond.max(axis=1)).min()) - RADIUS


def run() -> Outcome:
    nets, frames = dropped()
    numbers = []
    heights = np.array([[frame.body_position(k)[2] for frame in frames] for k in range(2)])
    for k, mass in enumerate(MASSES):
        deepest = min(clearance(nets[k], frame, k, k) for frame in frames)
        sag = 0.5 * SIZE[2] + RADIUS - float(heights[k].min())
        numbers += [
            Number.between(f"deepest in the truss, {mass:g} kg", -deepest / RADIUS, -math.inf, 0.1, "radii"),
            Number.between(f"the truss gives way by, {mass:g} kg", sag, 0.005, 1.5, "m"),
            Number.between(
                f"speed at the end, {mass:g} kg", abs(float(frames[-1].body_velocity(k)[2])), 0.0, 0.5, "m/s"
            ),
        ]
    low = heights.min(axis=1)
    numbers += [
        Number.between("the heavier one sinks deeper by", float(low[0] - low[1]), 0.0, math.inf, "m"),
        Number.equal("steps given up", sum(frame.report.failures for frame in frames), 0),
    ]
    moments = []
    for at in (0, 8, 14, -1):
        frame = frames[at]
        drawn = [tube for k in range(2) for tube in tubes(frame, k, nets[k], (BLUE, GREEN)[k], 0.02)]
        solids = [
            Solid(Box(SIZE, position=tuple(frame.body_position(k)), rotation=frame.body_rotation(k)), (ORANGE, RED)[k])
            for k in range(2)
        ]
        moments.append(Moment(f"{frame.time:.2f} s", drawn, solids))
    plot = Plot(
        "The bodies", "s", "m",
        [Series([f.time for f in frames], heights[k], f"{MASSES[k]:g} kg", "-", (ORANGE, RED)[k]) for k in range(2)],
    )  # fmt: skip
    caption = (
        f"Two trusses of {LENGTH:g} m and {CELLS} cells carry boxes of {MASSES[0]:g} and {MASSES[1]:g} kg that fall on them from "
        f"{FALL:g} m. They bounce, and the heavier box sinks deeper."
    )
    return Outcome(numbers, moments, [plot], Camera((0.5, -1.0, 0.4)), columns=4, caption=caption)
