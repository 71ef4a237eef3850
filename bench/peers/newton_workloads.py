"""The workloads on newton's rods: `python -m tendril.bench.peers.newton_workloads W1`, in the environment of newton, on the CPU.

A rod is a chain of capsules joined by rod joints, solved by vertex block descent (`SolverVBD`). Steps and iterations are those of
newton's own rod examples, 600 steps a second with 5 iterations, unless more are needed for the motion to be right.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import newton
import numpy as np
import warp as wp

from . import cases
from .cases import Cord

wp.config.quiet = True
wp.set_device("cpu")


class World:
    """Rods, and what they fall on, with a step of fixed length."""

    def __init__(self, rate: float, iterations: int, gravity: float = -cases.GRAVITY) -> None:
        self.builder = newton.ModelBuilder(gravity=(0.0, 0.0, gravity))
        self.builder.rigid_gap = 0.0
        self.rate, self.iterations = rate, iterations
        self.rods: list[tuple[list[int], float]] = []  # bodies, and half the length of a capsule

    def add(self, cord: Cord, points: np.ndarray, friction: float = 0.0) -> list[int]:
        rod = newton.Rod(
            points, radius=cord.radius, stretch_rigidity=cord.stretch, shear_rigidity=0.9 * cord.shear * cord.area,
            bend_rigidity=cord.bend, twist_rigidity=cord.twist,
        )  # fmt: skip
        config = newton.ModelBuilder.ShapeConfig(density=self._density(cord), mu=friction, ke=1e5, kd=0.0)
        bodies, _ = self.builder.add_rod(rod=rod, cfg=config)
        self.rods.append((bodies, 0.5 * float(np.linalg.norm(points[1] - points[0]))))
        return bodies

    @staticmethod
    def _density(cord: Cord) -> float:
        """Capsules overlap at the joints: their density is such that the mass of the rod is right."""
        capsule = cord.area * cord.edge + 4.0 / 3.0 * math.pi * cord.radius**3
        return cord.density * cord.area * cord.edge / capsule

    def clamp(self, body: int) -> None:
        """A body without mass is not moved by the solver."""
        self.builder.body_mass[body] = self.builder.body_inv_mass[body] = 0.0
        self.builder.body_inertia[body] = self.builder.body_inv_inertia[body] = wp.mat33(0.0)

    def start(self, contacts: bool = False) -> None:
        self.builder.color()
        self.model = self.builder.finalize()
        self.pipeline = newton.CollisionPipeline(self.model, contact_matching="sticky") if contacts else None
        self.contacts = self.pipeline.contacts() if self.pipeline else None
        self.solver = newton.solvers.SolverVBD(
            self.model, iterations=self.iterations, rigid_body_contact_buffer_size=256, rigid_contact_history=contacts
        )
        self.now, self.after = self.model.state(), self.model.state()
        self.control = self.model.control()

    def step(self) -> None:
        self.now.clear_forces()
        if self.pipeline is not None:
            self.pipeline.collide(self.now, self.contacts)
        self.solver.step(self.now, self.after, self.control, self.contacts, 1.0 / self.rate)
        self.now, self.after = self.after, self.now

    def run(self, seconds: float, damping: float = 0.0) -> None:
        kept = math.exp(-damping / self.rate)
        for _ in range(round(seconds * self.rate)):
            self.step()
            if damping:
                self.now.body_qd.numpy()[:] *= kept

    def points(self, rod: int = 0) -> np.ndarray:
        """Ends of the capsules of a rod; where two meet, the point between them."""
        bodies, half = self.rods[rod]
        pose = self.now.body_q.numpy()[bodies]
        along = _axes(pose[:, 3:]) * half
        low, high = pose[:, :3] - along, pose[:, :3] + along
        return np.concatenate([low[:1], 0.5 * (high[:-1] + low[1:]), high[-1:]])


def _axes(quaternions: np.ndarray) -> np.ndarray:
    x, y, z, w = quaternions.T
    return np.stack([2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)], axis=1)


def straight(start: Sequence[float], end: Sequence[float], segments: int) -> np.ndarray:
    return np.linspace(start, end, segments + 1)


def cantilever() -> dict[str, Any]:
    """W1, clamped by its first capsule. 600 steps of 10 iterations: with fewer the tip is off by several per cent."""
    cord = cases.CANTILEVER

    def fallen(start: float, edge: float) -> World:
        world = World(600.0, 10)
        world.clamp(world.add(cord, straight((start, 0, 0), (start + edge * cord.segments, 0, 0), cord.segments))[0])
        world.start()
        return world

    world = fallen(0.0, cord.edge)
    world.step()  # loads kernels
    seconds, _ = cases.best_of(1, lambda: world.run(cases.CANTILEVER_SECONDS, cases.CANTILEVER_DRAG))
    world.run(cases.CANTILEVER_SECONDS, cases.CANTILEVER_DRAG)
    out, _, height = world.points()[-1]
    return {"seconds": seconds, "figure": {"tip_error_percent": cases.tip_error_percent(float(out), float(height))}}


def rope() -> dict[str, Any]:
    """W2, pinned by a ball joint at the start of its first capsule."""
    cord = cases.ROPE
    world = World(600.0, 10)
    bodies = world.add(cord, straight((0, 0, 0), (cord.length, 0, 0), cord.segments))
    world.builder.add_joint_ball(
        parent=-1, child=bodies[0], parent_xform=wp.transform_identity(),
        child_xform=wp.transform(wp.vec3(0.0, 0.0, -0.5 * cord.edge), wp.quat_identity()),
    )  # fmt: skip
    world.start()
    world.step()
    before = cases.rope_energy(world.points(), np.zeros((cord.segments + 1, 3)), stretches=True)
    stretch = 0.0

    def swing() -> None:
        nonlocal stretch
        for _ in range(round(cases.ROPE_SECONDS * cases.FRAMES_PER_SECOND)):
            world.run(1.0 / cases.FRAMES_PER_SECOND)
            stretch = max(stretch, cases.stretch_of(world.points(), cord))

    seconds, _ = cases.best_of(1, swing)
    first = world.points()
    world.step()
    after = cases.rope_energy(first, (world.points() - first) * world.rate, stretches=True)
    return {"seconds": seconds, "figure": cases.rope_figure(before, after, stretch)}


def hair() -> dict[str, Any]:
    """W3: 100 strands, whose first capsules are moved. 600 steps of 10 iterations."""
    cord, strands, frames = cases.HAIR, 100, 12
    world = World(600.0, 10)
    roots = []
    for k in range(strands):
        points = straight((0, 1e-3 * k, 0), (0, 1e-3 * k, -cord.length), cord.segments)
        roots.append(world.add(cord, points)[0])
        world.clamp(roots[-1])
    world.start()
    world.step()
    moment, stretch = 0.0, 0.0

    def shake() -> None:
        nonlocal moment
        for _ in range(round(world.rate / cases.FRAMES_PER_SECOND)):
            moment += 1.0 / world.rate
            x = cases.SHAKE_AMPLITUDE * math.sin(2.0 * math.pi * cases.SHAKE_FREQUENCY * moment)
            world.now.body_q.numpy()[roots, 0] = x
            world.step()

    spent = 0.0
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
    """W5 with 600 steps of 5 iterations, as in newton's pile of cables; one second of it, because it takes minutes."""
    cord, simulated = cases.DROPPED, 1.0
    world = World(600.0, 5)
    world.add(cord, cases.dropped_points(), cases.DROPPED_FRICTION)
    config = newton.ModelBuilder.ShapeConfig(mu=cases.DROPPED_FRICTION, ke=1e5, kd=0.0)
    turned = wp.quat_from_axis_angle(wp.vec3(1.0, 0.0, 0.0), 0.5 * math.pi)
    for x, z in cases.CYLINDERS:
        world.builder.add_shape_cylinder(
            -1, xform=wp.transform(wp.vec3(x, 0.0, z), turned), radius=cases.CYLINDER_RADIUS,
            half_height=0.5 * cases.CYLINDER_LENGTH, cfg=config,
        )  # fmt: skip
    world.start(contacts=True)
    world.step()
    deepest, spent = 0.0, 0.0
    for _ in range(round(simulated * cases.FRAMES_PER_SECOND)):
        seconds, _ = cases.best_of(1, lambda: world.run(1.0 / cases.FRAMES_PER_SECOND))
        spent += seconds
        deepest = max(deepest, cases.dropped_penetration(world.points()))
    return {
        "seconds": spent * cases.DROPPED_SECONDS / simulated,
        "figure": {"penetration_radii": deepest},
        "scaled": f"from {simulated:g} s to {cases.DROPPED_SECONDS:g} s",
    }


def heap() -> dict[str, Any]:
    """The heap with 600 steps of 5 iterations, as in newton's pile of cables."""
    world = World(600.0, 5)
    for points in cases.heap_points():
        world.add(cases.STRAND, points, cases.HEAP_FRICTION)
    world.builder.add_ground_plane(cfg=newton.ModelBuilder.ShapeConfig(mu=cases.HEAP_FRICTION, ke=1e5, kd=0.0))
    world.start(contacts=True)
    world.step()
    spent, worst = 0.0, 0.0
    for _ in range(cases.HEAP_FRAMES):
        seconds, _ = cases.best_of(1, lambda: world.run(1.0 / cases.FRAMES_PER_SECOND))
        spent += seconds
        strands = [world.points(k) for k in range(cases.HEAP_STRANDS)]
        worst = max(worst, cases.heap_overlap(strands))
    return {"seconds": spent / cases.HEAP_FRAMES, "figure": cases.heap_figure(strands, worst)}


if __name__ == "__main__":
    workloads = {"W1": cantilever, "W2": rope, "W3": hair, "W5": dropped, "heap": heap}
    cases.report("newton", newton.__version__, workloads)
