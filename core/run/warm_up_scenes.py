"""Small scenes that use the kernels of a model: what `warm_up.py` runs, and what packages are compiled from.

They follow from the record of a model, so that a new model, or one that can do more, needs nothing here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..describe.body import Body
from ..describe.fields import Field
from ..describe.material import Material
from ..describe.model import ModelRecord
from ..describe.net import Net
from ..describe.rod import Rod
from ..describe.scene import Scene
from ..describe.shapes import Box, Mesh

if TYPE_CHECKING:
    from ..contact.bodies.outside import BodyPoses
    from ..errors import Array
    from .simulation import Simulation

FRAMES = 3
MANY = 8  # more rods than a small scene has
SIDES = [(0, 1, 2), (1, 0, 3), (2, 1, 3), (0, 2, 3)]


def simulations(record: ModelRecord, contact: bool, bodies: bool) -> Iterator[Simulation]:
    """Simulations that use all kernels of a model, to be stepped; with `contact` those of collisions, with `bodies` those of rigid
    bodies."""
    from .simulation import Simulation  # late: it imports numba

    yield Simulation(small_scene(record, contact, bodies), 24.0, substeps=2, threads=1)
    if contact:  # many rods have a solver of their own
        yield Simulation(crowd(record), 24.0, substeps=2, threads=1)
    if bodies:
        scene = small_scene(record, contact, bodies)
        yield Simulation(scene, 24.0, substeps=2, threads=1, engine=StillBodies(scene))


def run(simulation: Simulation, record: ModelRecord) -> None:
    """Steps some frames and does what may be done to a running simulation."""
    x, y, z = simulation.current().positions(0)[0]
    if len(simulation.scene.entries) < MANY:
        z = 0.0  # down into the floor: what is buried has kernels of its own. In a crowd that would take seconds
    for frame in range(FRAMES):
        simulation.move(0, position=(x, y + 0.001 * frame, z))
        if simulation.scene.colliders:
            simulation.move_collider(0, vertices=_floor(0.001 * frame))
        if frame == 1:
            if record.alteration:
                simulation.alter(0, stiffness=1.1)
            if record.growth:
                simulation.grow(0, length=1.01)
        simulation.step_frame()
        simulation.strains()
    simulation.energies()
    simulation.restore(simulation.state(), simulation.frame)
    simulation.release(0)
    simulation.step_frame()


def small_scene(record: ModelRecord, contact: bool, bodies: bool) -> Scene:
    """Two crossing rods above a floor, the upper one about to fall on the lower one, and far above them one that is like the upper
    one, because rods of a kind are stepped side by side; a net if the model has nets."""
    material = Material.preset("nylon rope")
    scene = Scene(air_density=1.2, wind=(0.1, 0.0, 0.0), rod_contact=contact)
    scene.add_field(Field("turbulence", strength=0.01))
    along = np.linspace(0.0, 0.3, 7)
    for height, (x, y) in ((0.011, (1.0, 0.0)), (0.0325, (0.0, 1.0)), (1.0, (0.0, 1.0))):
        points = np.stack([x * along + 0.1 * y, y * along - 0.1 * y, np.full(7, height)], axis=1)
        lower = height < 0.02
        straight = Rod.from_points(points, radius=0.01, material=material)
        rod = scene.add(straight, record.name, sag_free=lower and record.balance)
        if lower:
            scene.clamp(rod, "start")
    if record.closed_rods:
        angle = np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False)
        ring = np.stack([1.0 + 0.2 * np.cos(angle), 0.2 * np.sin(angle), np.full(8, 0.02)], axis=1)
        scene.add(Rod.from_points(ring, radius=0.01, material=material, closed=True), record.name)
    if record.nets:
        star = [(0.0, 1.0, 0.02), (0.1, 1.0, 0.02), (0.2, 1.1, 0.02), (0.2, 0.9, 0.02), (-0.1, 1.0, 0.02)]
        scene.add(Net.from_edges(star, [(0, 1), (1, 2), (1, 3), (4, 0)], radius=0.01, material=material), record.name)
    if bodies:
        # A box that hangs on the upper rod, and, where there is contact, one that lies on the floor.
        body = scene.add_body(Body(Box((0.05, 0.05, 0.05)), mass=0.1, position=(0.1, 0.23, 0.06), collides=contact))
        scene.attach(1, "end", body)
        scene.add_body(Body(Box((0.05, 0.05, 0.05)), mass=0.1, position=(-0.2, 0.2, 0.026), collides=contact))
    if contact:
        scene.collide(Mesh(_floor(0.0), SIDES))
        scene.collide(Box((0.1, 0.1, 0.1), position=(0.3, 0.2, 0.0)))
    return scene


def crowd(record: ModelRecord) -> Scene:
    """As few rods as count as many, in two layers across each other, about to fall on a floor."""
    from ..contact.crowd_solver import CROWD

    scene, material = Scene(rod_contact=True), Material.preset("nylon rope")
    scene.collide(Mesh(_floor(0.0), SIDES))
    along = np.linspace(-0.1, 0.1, 4)
    for k in range(CROWD):
        points = np.full((4, 3), 0.03 * (k // 2) - 0.06)
        points[:, k % 2], points[:, 2] = along, 0.011 + 0.022 * (k % 2)
        rod = scene.add(Rod.from_points(points, radius=0.01, material=material), record.name)
        if k == 0:
            scene.clamp(rod, "start")
    return scene


class StillBodies:
    """An outside engine whose bodies stay where they are."""

    def __init__(self, scene: Scene) -> None:
        from ..contact.bodies.outside import BodyPoses

        count = len(scene.bodies)
        still = np.zeros((count, 3))
        positions = np.array([body.position for body in scene.bodies], float)
        self._poses = BodyPoses(positions, np.tile(np.eye(3), (count, 1, 1)), still, still.copy())

    def step(self, _h: float, _forces: Array, _torques: Array) -> BodyPoses:
        return self._poses

    def rewind(self, _exchanges: int) -> None:
        pass


def _floor(height: float) -> list[tuple[float, float, float]]:
    """The corners of a tetrahedron with a horizontal top face."""
    return [(-1.0, -1.0, height), (1.0, -1.0, height), (0.0, 1.0, height), (0.0, 0.0, height - 1.0)]
