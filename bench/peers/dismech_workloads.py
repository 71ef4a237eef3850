"""The workloads on dismech-newton: `python -m tendril.bench.peers.dismech_workloads W1`, in its environment, on the CPU.

Rods are implicit discrete elastic rods with contact and friction, solved by strain-space ADMM (`DiSMechSolver`) with its default
of 10 iterations.
"""

from __future__ import annotations

import importlib.metadata
import math
from typing import Any

import newton
import numpy as np
import warp as wp
from warp._src.codegen import Struct

from . import cases
from .cases import Cord

# Version 0.1.0.post4 annotates functions with `Slots | None`, which only Python 3.14 leaves unevaluated: elsewhere it can't be
# imported unless structs of warp accept it.
Struct.__or__ = lambda self, _other: self

import dismech_newton  # noqa: E402

wp.config.quiet = True
wp.set_device("cpu")


class World:
    def __init__(self, rate: float, **options: Any) -> None:
        self.builder = newton.ModelBuilder(gravity=(0.0, 0.0, -cases.GRAVITY))
        self.rate, self.options = rate, options
        self.first: list[int] = []  # particle of each rod
        self.count = 0

    def add(self, cord: Cord, points: np.ndarray, friction: float | None = None) -> list[int]:
        rod = newton.Rod(
            points, radius=cord.radius, stretch_rigidity=cord.stretch, shear_rigidity=0.9 * cord.shear * cord.area,
            bend_rigidity=cord.bend, twist_rigidity=cord.twist,
        )  # fmt: skip
        self.first.append(self.builder.particle_count)
        self.count = len(points)
        config = newton.ModelBuilder.ShapeConfig(density=cord.density, mu=friction or 0.0)
        touching = friction is not None
        return dismech_newton.add_rod(self.builder, rod, cfg=config, collide=touching, proxies=touching)

    def start(self) -> None:
        self.builder.color()
        self.model = self.builder.finalize()
        self.solver = dismech_newton.DiSMechSolver(self.model, **self.options)
        self.now, self.after = self.model.state(), self.model.state()

    def step(self) -> None:
        self.solver.step(self.now, self.after, None, None, 1.0 / self.rate)
        self.now, self.after = self.after, self.now

    def run(self, seconds: float, damping: float = 0.0) -> None:
        kept = math.exp(-damping / self.rate)
        for _ in range(round(seconds * self.rate)):
            self.step()
            if damping:
                self.now.dismech.qd.numpy()[:] *= kept

    def points(self, rod: int = 0) -> np.ndarray:
        return self.now.particle_q.numpy()[self.first[rod] : self.first[rod] + self.count].copy()

    def velocities(self) -> np.ndarray:
        return self.now.particle_qd.numpy()[: self.count].copy()


def cantilever() -> dict[str, Any]:
    """W1: 96 steps a second, as many as Tendril takes; clamped by its first edge."""
    cord = cases.CANTILEVER

    def made(start: float, edge: float) -> World:
        world = World(96.0, self_contact=False)
        edges = world.add(cord, np.linspace((start, 0, 0), (start + edge * cord.segments, 0, 0), cord.segments + 1))
        dismech_newton.fix_segment(world.builder, edge=edges[0])
        world.start()
        world.step()  # loads kernels
        return world

    def tip_error(world: World) -> float:
        world.run(cases.CANTILEVER_SECONDS, cases.CANTILEVER_DRAG)
        out, _, height = world.points()[-1]
        return cases.tip_error_percent(float(out), float(height))

    world = made(0.0, cord.edge)
    seconds, _ = cases.best_of(1, lambda: world.run(cases.CANTILEVER_SECONDS, cases.CANTILEVER_DRAG))
    shifted = made(*cases.shifted_clamp(cord))
    shifted.run(cases.CANTILEVER_SECONDS, cases.CANTILEVER_DRAG)
    figure = {"tip_error_percent": tip_error(world), "tip_error_percent_if_clamp_is_shifted": tip_error(shifted)}
    return {"seconds": seconds, "figure": figure}


def rope() -> dict[str, Any]:
    """W2: 384 steps a second of implicit Euler. The midpoint rule (theta = 1/2) explodes, with Gauss-Newton steps, too."""
    cord = cases.ROPE
    world = World(384.0, self_contact=False)
    world.add(cord, np.linspace((0, 0, 0), (cord.length, 0, 0), cord.segments + 1))
    world.builder.particle_flags[0] &= ~newton.ParticleFlags.ACTIVE
    world.start()
    world.step()
    before = cases.rope_energy(world.points(), world.velocities(), stretches=True)
    stretch = 0.0

    def swing() -> None:
        nonlocal stretch
        for _ in range(round(cases.ROPE_SECONDS * cases.FRAMES_PER_SECOND)):
            world.run(1.0 / cases.FRAMES_PER_SECOND)
            stretch = max(stretch, cases.stretch_of(world.points(), cord))

    seconds, _ = cases.best_of(1, swing)
    after = cases.rope_energy(world.points(), world.velocities(), stretches=True)
    return {"seconds": seconds, "figure": cases.rope_figure(before, after, stretch)}


def hair() -> dict[str, Any]:
    """W3: 100 strands whose first edges are moved, 96 steps a second."""
    cord, strands, frames = cases.HAIR, 100, 12
    world = World(96.0, self_contact=False)
    for k in range(strands):
        edges = world.add(cord, np.linspace((0, 1e-3 * k, 0), (0, 1e-3 * k, -cord.length), cord.segments + 1))
        dismech_newton.fix_segment(world.builder, edge=edges[0])
    world.start()
    world.step()
    held = np.concatenate([[first, first + 1] for first in world.first])
    moment, stretch, spent = 0.0, 0.0, 0.0

    def shake() -> None:
        nonlocal moment
        for _ in range(round(world.rate / cases.FRAMES_PER_SECOND)):
            moment += 1.0 / world.rate
            x = cases.SHAKE_AMPLITUDE * math.sin(2.0 * math.pi * cases.SHAKE_FREQUENCY * moment)
            world.now.dismech.q.numpy()[3 * held] = x  # held unknowns are prescribed here
            world.step()

    for _ in range(frames):
        seconds, _ = cases.best_of(1, shake)
        spent += seconds
        stretch = max(stretch, *(cases.stretch_of(world.points(k), cord) for k in (0, strands // 3)))
    return {
        "seconds": spent / frames * cases.STRANDS / strands,
        "figure": {"stretch_percent": 100.0 * stretch},
        "scaled": f"from {strands} strands to {cases.STRANDS}",
    }


def dropped() -> dict[str, Any]:
    """W5: 240 steps a second."""
    cord = cases.DROPPED
    world = World(240.0, friction=cases.DROPPED_FRICTION)
    world.add(cord, cases.dropped_points(), cases.DROPPED_FRICTION)
    turned = wp.quat_from_axis_angle(wp.vec3(1.0, 0.0, 0.0), 0.5 * math.pi)
    config = newton.ModelBuilder.ShapeConfig(mu=cases.DROPPED_FRICTION)
    for x, z in cases.CYLINDERS:
        world.builder.add_shape_cylinder(
            -1, xform=wp.transform(wp.vec3(x, 0.0, z), turned), radius=cases.CYLINDER_RADIUS,
            half_height=0.5 * cases.CYLINDER_LENGTH, cfg=config,
        )  # fmt: skip
    world.start()
    world.step()
    deepest, spent = 0.0, 0.0
    for _ in range(round(cases.DROPPED_SECONDS * cases.FRAMES_PER_SECOND)):
        seconds, _ = cases.best_of(1, lambda: world.run(1.0 / cases.FRAMES_PER_SECOND))
        spent += seconds
        deepest = max(deepest, cases.dropped_penetration(world.points()))
    return {"seconds": spent, "figure": {"penetration_radii": deepest}}


def heap() -> dict[str, Any]:
    """The heap: 960 steps a second. With 240 strands fly apart, with three times the iterations, too."""
    world = World(960.0, friction=cases.HEAP_FRICTION)
    for points in cases.heap_points():
        world.add(cases.STRAND, points, cases.HEAP_FRICTION)
    world.builder.add_ground_plane(cfg=newton.ModelBuilder.ShapeConfig(mu=cases.HEAP_FRICTION))
    world.start()
    world.step()
    spent, worst = 0.0, 0.0
    for _ in range(cases.HEAP_FRAMES):
        seconds, _ = cases.best_of(1, lambda: world.run(1.0 / cases.FRAMES_PER_SECOND))
        spent += seconds
        strands = [world.points(k) for k in range(cases.HEAP_STRANDS)]
        worst = max(worst, cases.heap_overlap(strands))
    return {"seconds": spent / cases.HEAP_FRAMES, "figure": cases.heap_figure(strands, worst)}


if __name__ == "__main__":
    version = importlib.metadata.version("dismech-newton")
    workloads = {"W1": cantilever, "W2": rope, "W3": hair, "W5": dropped, "heap": heap}
    cases.report("dismech-newton", version, workloads)
