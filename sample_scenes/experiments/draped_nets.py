"""A coarse and a dense net, tied at every crossing, fall over spheres (Spillmann and Teschner 2009, Fig. 16).

They have as many points and segments as the paper's nets: 0.8 K and 0.9 K, 1.2 K and 1.5 K. Size, material and spheres are not
given in the paper.
"""

from __future__ import annotations

import numpy as np

from ...core import Frame, Material, Net, Plane, Scene, Simulation, Sphere
from .graphs import grid, tubes
from .outcome import BLUE, GREEN, Camera, Moment, Number, Outcome, Solid

WIDTH, RADIUS = 2.4, 0.008
MATERIAL = Material(2e6, 1000.0, damping_time=0.01)
SPHERES = (Sphere(0.35, (-0.4, -0.3, 0.0)), Sphere(0.3, (0.45, 0.35, 0.0)))
GROUND = -0.6
SECONDS = 1.5
NETS = {"coarse": (9, 6), "dense": (20, 2)}  # knots on a side, segments between two knots


def throw(knots: int, between: int, seconds: float = SECONDS) -> tuple[Net, list[Frame]]:
    points, edges = grid(knots, knots, between, WIDTH)
    points[:, 2] = 0.42
    net = Net.from_edges(points, edges, RADIUS, MATERIAL)
    scene = Scene(rod_contact=True, drag=0.3)
    k = scene.add(net, velocity=(0.6, 0.0, -0.5), friction=0.4)
    for sphere in SPHERES:
        scene.collide(sphere, friction=0.4)
    scene.collide(Plane((0.0, 0.0, GROUND)), friction=0.4)
    sim = Simulation(scene)
    frames = list(sim.frames(1, 1 + round(24 * seconds)))
    assert k == 0
    return net, frames


def deepest(net: Net, frame: Frame) -> float:
    """Deepest penetration of a sphere or the ground, in radii, measured at eleven points of each segment."""
    x = frame.positions(0)
    s = np.linspace(0.0, 1.0, 11)[:, None, None]
    on = ((1.0 - s) * x[net.edges[:, 0]] + s * x[net.edges[:, 1]]).reshape(-1, 3)
    depth = GROUND + RADIUS - float(on[:, 2].min())
    for sphere in SPHERES:
        away = float(np.linalg.norm(on - np.asarray(sphere.position), axis=1).min())
        depth = max(depth, sphere.radius + RADIUS - away)
    return depth / RADIUS


def run() -> Outcome:
    numbers, moments = [], []
    for (name, (knots, between)), colour in zip(NETS.items(), (BLUE, GREEN), strict=True):
        net, frames = throw(knots, between)
        last = frames[-1].positions(0)
        lengths = np.linalg.norm(last[net.edges[:, 1]] - last[net.edges[:, 0]], axis=1)
        numbers += [
            Number(f"points and segments, {name}", f"{net.vertex_count}, {net.edge_count}"),
            Number.between(f"deepest in anything, {name}", max(deepest(net, f) for f in frames), -10.0, 0.1, "radii"),
            Number.equal(f"steps given up, {name}", sum(f.report.failures for f in frames), 0),
            Number.between(f"highest point, {name}", float(last[:, 2].max()), 0.2, 0.5, "m", "it hangs on the spheres"),
            Number.between(f"lowest point, {name}", float(last[:, 2].min()), GROUND, -0.2, "m", "and down beside them"),
            Number.between(f"longest stretch, {name}", float((lengths / net.rest_lengths - 1.0).max()), 0.0, 0.1),
        ]
        for k in (len(frames) // 3, -1):
            solids = [*(Solid(sphere) for sphere in SPHERES), Solid(Plane((0.0, 0.0, GROUND)))]
            moments.append(Moment(f"{frames[k].time:.2f} s, {name}", tubes(frames[k], 0, net, colour, 0.012), solids))
    caption = (
        f"Nets of {WIDTH:g} m with {NETS['coarse'][0]} and {NETS['dense'][0]} knots on a side, strands of radius {RADIUS:g} m, "
        f"E = {MATERIAL.young_modulus:g} Pa, fall on two spheres and the ground, and touch these and themselves."
    )
    return Outcome(numbers, moments, [], Camera((0.5, -1.0, 0.6)), columns=2, caption=caption)
