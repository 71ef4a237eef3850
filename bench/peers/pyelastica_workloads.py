"""The workloads on PyElastica: `python -m tendril.bench.peers.pyelastica_workloads W1`, in the peers' environment."""

from __future__ import annotations

import math
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import elastica
import numpy as np

from . import cases
from .cases import CANTILEVER, HAIR, RING, ROPE, Cord

GRAVITY = np.array([0.0, 0.0, -cases.GRAVITY])
X, Z = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])


class Simulator(elastica.BaseSystemCollection, elastica.Constraints, elastica.Forcing, elastica.Damping):
    def run(self, seconds: float, steps: int, since: float = 0.0) -> None:
        stepper = elastica.PositionVerlet()
        step, moment = seconds / steps, since
        for _ in range(steps):
            moment = stepper.step(self, moment, step)


def straight_rod(cord: Cord, start: np.ndarray, direction: np.ndarray, normal: np.ndarray, **more: Any) -> Any:
    return elastica.CosseratRod.straight_rod(
        more.pop("segments", cord.segments),
        start,
        direction,
        normal,
        more.pop("length", cord.length),
        cord.radius,
        cord.density,
        youngs_modulus=cord.young,
        shear_modulus=cord.shear,
        **more,
    )


def steps_for(seconds: float, cord: Cord) -> int:
    """Smallest stable number of steps. The fastest mode of thin rods is the rotation of a section against shear with the frequency
    2/r sqrt(k G / density); the step may not exceed 2 over it, and 0.85 of that has proved stable."""
    shear_factor = 27.0 / 28.0
    largest = 0.85 * cord.radius * math.sqrt(cord.density / (shear_factor * cord.shear))
    return math.ceil(seconds / largest)


def cantilever() -> dict[str, Any]:
    """W1."""
    seconds = cases.CANTILEVER_SECONDS
    steps = steps_for(seconds, CANTILEVER)

    def build(start: float, edge: float) -> tuple[Simulator, Any]:
        simulator = Simulator()
        rod = straight_rod(CANTILEVER, start * X, X, Z, length=edge * CANTILEVER.segments)
        simulator.append(rod)
        simulator.constrain(rod).using(
            elastica.OneEndFixedBC, constrained_position_idx=(0,), constrained_director_idx=(0,)
        )
        simulator.add_forcing_to(rod).using(elastica.GravityForces, acc_gravity=GRAVITY)
        simulator.dampen(rod).using(
            elastica.AnalyticalLinearDamper,
            uniform_damping_constant=cases.CANTILEVER_DRAG,
            time_step=seconds / steps,
        )
        simulator.finalize()
        return simulator, rod

    def fall(start: float, edge: float) -> tuple[Simulator, Any]:
        simulator, rod = build(start, edge)
        simulator.run(seconds, steps)
        return simulator, rod

    def tip_error(simulator: Simulator, rod: Any) -> float:
        # Runs another 2 s, so that this is the error of the shape at rest.
        simulator.run(seconds, steps)
        out, _, height = rod.position_collection[:, -1]
        return cases.tip_error_percent(out, height)

    build(0.0, CANTILEVER.edge)[0].run(0.01, 100)  # compiles
    least, plain = cases.best_of(3, lambda: fall(0.0, CANTILEVER.edge))
    return {
        "seconds": least,
        "figure": {
            "tip_error_percent": tip_error(*plain),
            "tip_error_percent_if_clamp_is_shifted": tip_error(*fall(*cases.shifted_clamp(CANTILEVER))),
        },
    }


def rope() -> dict[str, Any]:
    """W2."""
    samples = 100
    piece = cases.ROPE_SECONDS / samples
    steps = steps_for(piece, ROPE)

    def build() -> tuple[Simulator, Any]:
        simulator = Simulator()
        rod = straight_rod(ROPE, np.zeros(3), X, Z)
        simulator.append(rod)
        simulator.constrain(rod).using(elastica.FixedConstraint, constrained_position_idx=(0,))
        simulator.add_forcing_to(rod).using(elastica.GravityForces, acc_gravity=GRAVITY)
        simulator.finalize()
        return simulator, rod

    def energy(rod: Any) -> float:
        return cases.rope_energy(rod.position_collection.T, rod.velocity_collection.T, stretches=True)

    def swing() -> tuple[float, Any]:
        simulator, rod = build()
        stretch = 0.0
        for _ in range(samples):
            simulator.run(piece, steps)
            stretch = max(stretch, cases.stretch_of(rod.position_collection.T, ROPE))
        return stretch, rod

    build()[0].run(0.01, 200)  # compiles
    seconds, (stretch, rod) = cases.best_of(2, swing)
    return {"seconds": seconds, "figure": cases.rope_figure(energy(build()[1]), energy(rod), stretch)}


class ClampedRoots(elastica.ConstraintBase):
    """Clamps the roots of all strands in one call: a call per strand would cost more than the simulation."""

    def __init__(self, simulator: Simulator, **more: Any) -> None:
        super().__init__(**more)
        self.block = next(simulator.final_systems())
        self.nodes = self.block.start_idx_in_rod_nodes
        self.elements = self.block.start_idx_in_rod_elems
        self.positions = self.block.position_collection[:, self.nodes].copy()
        self.directors = self.block.director_collection[..., self.elements].copy()

    def constrain_values(self, system: Any, time: float) -> None:
        self.block.position_collection[:, self.nodes] = self.positions
        self.block.director_collection[..., self.elements] = self.directors

    def constrain_rates(self, system: Any, time: float) -> None:
        self.block.velocity_collection[:, self.nodes] = 0.0
        self.block.omega_collection[:, self.elements] = 0.0


class ShakenGravity(elastica.NoForces):
    """Gravity on all strands in one call, in the frame of the roots, whose acceleration acts as a body force."""

    def __init__(self, simulator: Simulator) -> None:
        super().__init__()
        self.block = next(simulator.final_systems())
        self.mass = self.block.mass.copy()
        self.mass[self.block.ghost_nodes_idx] = 0.0  # the gaps between strands

    def apply_forces(self, system: Any, time: float = 0.0) -> None:
        acceleration = GRAVITY - cases.root_acceleration(time) * X
        self.block.external_forces += acceleration[:, None] * self.mass


def hair() -> dict[str, Any]:
    """W3, with strands thickened to 1 mm at the same EI, GJ and mass: the stable step of real strands of 40 µm is so short that a
    frame would take hours."""
    thinner = HAIR.radius / 1e-3
    cord = replace(HAIR, radius=1e-3, young=HAIR.young * thinner**4, density=HAIR.density * thinner**2)
    frame = 1.0 / cases.FRAMES_PER_SECOND

    def build(strands: int) -> tuple[Simulator, list[Any]]:
        simulator = Simulator()
        rods = [straight_rod(cord, 0.01 * number * X, -Z, X) for number in range(strands)]
        simulator.extend(rods)
        simulator.constrain(rods[0]).using(ClampedRoots, simulator=simulator)
        simulator.add_forcing_to(rods[0]).using(ShakenGravity, simulator=simulator)
        simulator.finalize()
        return simulator, rods

    steps = steps_for(frame, cord)
    lone, (strand,) = build(1)
    stretch = 0.0
    for number in range(cases.FRAMES_PER_SECOND):
        lone.run(frame, steps, since=number * frame)
        stretch = max(stretch, cases.stretch_of(strand.position_collection.T, cord))
    measured = 100
    simulator, _ = build(cases.STRANDS)
    seconds, _ = cases.best_of(2, lambda: simulator.run(frame * measured / steps, measured))
    return {
        "seconds": seconds * steps / measured,
        "figure": {
            "stretch_percent": 100.0 * stretch,
            "seconds_if_not_thickened": seconds * steps_for(frame, HAIR) / measured,
        },
        "scaled": f"from {measured} steps to the {steps} of a frame; strands thickened to 1 mm at the same EI and mass",
    }


def ring() -> dict[str, Any]:
    """W4, from the forces and torques of PyElastica's rod; its last two nodes and last element are held."""
    last = RING.segments
    points = cases.ring_points()
    tangents = np.diff(points, axis=0) / RING.edge
    size = 3 * (last - 2) + 3 * (last - 1)

    def twisted(twist: float) -> Any:
        angles = twist * np.arange(last + 1)[:, None] / last
        first = np.cos(angles) * Z + np.sin(angles) * np.cross(tangents, Z)
        directors = np.stack([first, np.cross(tangents, first), tangents]).transpose(0, 2, 1)
        return straight_rod(
            RING,
            points[0],
            tangents[0],
            first[0],
            segments=last + 1,
            length=RING.edge * (last + 1),
            position=points.T.copy(),
            directors=directors.copy(),
        )

    def move(rod: Any, motion: np.ndarray) -> None:
        shifts, turns = motion[: 3 * (last - 2)].reshape(3, -1), motion[3 * (last - 2) :].reshape(3, -1)
        rod.position_collection[:, 2:-2] += shifts
        directors = rod.director_collection[..., 1:-1]
        rod.director_collection[..., 1:-1] -= np.cross(turns[:, None, :], directors, axis=0)

    def stiffness(twist: float) -> np.ndarray:
        rod = twisted(twist)

        def load(motion: np.ndarray) -> np.ndarray:
            positions, directors = rod.position_collection.copy(), rod.director_collection.copy()
            move(rod, motion)
            rod.compute_internal_forces_and_torques(0.0)
            rod.position_collection[:], rod.director_collection[:] = positions, directors
            return np.concatenate([rod.internal_forces[:, 2:-2].ravel(), rod.internal_torques[:, 1:-1].ravel()])

        # Twist causes a shear force in the ring: three Newton iterations find the equilibrium of the sections.
        compliance = np.linalg.pinv(cases.differences(load, size), rcond=1e-9)
        for _ in range(3):
            move(rod, compliance @ load(np.zeros(size)))
            left, _, right = np.linalg.svd(rod.director_collection.T)
            rod.director_collection[:] = (left @ right).T
        return cases.differences(load, size)

    twisted(1.0).compute_internal_forces_and_torques(0.0)  # compiles
    seconds, ratio = cases.best_of(1, lambda: cases.critical_ratio(stiffness))
    return {"seconds": seconds, "figure": {"critical_ratio": ratio}}


if __name__ == "__main__":
    cases.report("PyElastica", version("pyelastica"), {"W1": cantilever, "W2": rope, "W3": hair, "W4": ring})
