"""From a scene to what solves its contacts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np

from ..compile.workers import Workers
from ..describe.model import model_record
from ..describe.scene import Scene
from ..describe.shapes import Mesh
from ..errors import Array
from ..models.protocol import ModelBlock
from .bodies.block import Around
from .colliders import ColliderMotion
from .crowd_solver import CrowdSolver, is_crowd
from .few_solver import FewSolver
from .solver import ContactSolver

if TYPE_CHECKING:
    from .bodies.simulated import SimulatedBodies


def _are_production(scene: Scene) -> bool:
    """Whether all models are for work. Those for comparison have their own errors, which are asserted with one solver."""
    return all(model_record(model).production for model in {entry.model for entry in scene.entries})


def make_contact(
    scene: Scene,
    rod_blocks: Sequence[ModelBlock],
    rods: Sequence[tuple[int, int]],
    bodies: SimulatedBodies | None,
    around: Callable[[], Around],
    tolerance: float,
    workers: Workers,
    contact: str,
) -> ContactSolver:
    """`rods` are block and number there of each rod. Bodies are one more block, the last. `contact` is that of `choice.py`."""
    colliders = ColliderMotion(scene.colliders)
    if contact == "active set":
        from .active_set import ActiveSetSolver

        return ActiveSetSolver(rod_blocks, colliders, scene.rod_contact, tolerance, workers)
    friction: list[Array] = [np.zeros(len(block.sample_start) - 1) for block in rod_blocks]
    for (block_number, k), entry in zip(rods, scene.entries, strict=True):
        friction[block_number][k] = entry.friction
    if bodies is None and is_crowd(rod_blocks, scene.rod_contact and _are_production(scene)):
        return CrowdSolver(rod_blocks, friction, colliders, scene.rod_contact, tolerance, workers)
    blocks, touching = list(rod_blocks), None
    if bodies is not None:
        touching = bodies.touching(around)
        blocks.append(cast(ModelBlock, touching))
        friction.append(np.zeros(len(scene.bodies)))
    surfaces = [] if bodies is None else bodies.colliders()
    if surfaces:
        colliders = ColliderMotion([*scene.colliders, *surfaces])
    for number, surface in enumerate(surfaces, len(scene.colliders)):
        if isinstance(surface.shape, Mesh):
            # What a rod that begins inside is pushed out of would not feel it: so nothing is inside.
            colliders.meshes.solid[colliders.mesh_of(number)[0]] = False
    tied = None if bodies is None or touching is None else (bodies.steps, touching)
    made = None
    if bodies is not None and touching is not None and surfaces:
        made = partial(bodies.surfaces, touching, scene.colliders, colliders, workers)
    return FewSolver(blocks, friction, colliders, scene.rod_contact, tolerance, workers, tied, made)
