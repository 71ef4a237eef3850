"""The rods of a scene, packed into one block per model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..compile.workers import Workers
from ..describe.scene import Entry, Scene
from ..errors import Array
from ..models.protocol import ModelBlock, edge_rows, vertex_rows
from ..models.registry import make_block
from .frame import lay_out

Ints = NDArray[np.int64]


class RodBlocks:
    def __init__(
        self,
        scene: Scene,
        entries: Sequence[Entry],
        *,
        integrator: str,
        tolerance: float,
        workers: Workers,
        touching: bool,
    ) -> None:
        """`entries` are those of the scene, adapted to attached bodies; `touching`: rods can collide with something."""
        self._entries = scene.entries
        self.blocks: list[ModelBlock] = []  # one per model, in the order of first use
        self.rods: list[tuple[int, int]] = [(0, 0)] * len(scene.entries)  # per rod id: its block, its number there
        self.hold_ids: list[Ints] = []  # per block: the ids of its holds
        for model in dict.fromkeys(entry.model for entry in scene.entries):
            ids = [k for k, entry in enumerate(scene.entries) if entry.model == model]
            numbers = {rod: k for k, rod in enumerate(ids)}
            holds = [k for k, hold in enumerate(scene.holds) if hold.rod in numbers]
            for rod, k in numbers.items():
                self.rods[rod] = (len(self.blocks), k)
            self.hold_ids.append(np.array(holds, dtype=np.int64))
            self.blocks.append(
                make_block(
                    model,
                    [entries[k] for k in ids],
                    [(numbers[scene.holds[k].rod], scene.holds[k]) for k in holds],
                    integrator=integrator,
                    tolerance=tolerance,
                    workers=workers,
                    touching=touching,
                )
            )
        self.places = lay_out([block for block, _ in self.rods], scene.entries)
        self.vertices = [vertex_rows(block) for block in self.blocks]  # rows of the described vertices
        self.edges = [edge_rows(block, self.entries_of(k)) for k, block in enumerate(self.blocks)]  # rows of directors

    def entries_of(self, number: int) -> list[Entry]:
        """The rods of a block, as described."""
        return [entry for (block, _), entry in zip(self.rods, self._entries, strict=True) if block == number]

    def samples(self) -> tuple[tuple[Array, Array, Array], ...]:
        """Per block: positions and velocities of the described vertices, directors of the described edges."""
        return tuple(
            (block.positions()[rows], block.velocities()[rows], block.directors()[edges])
            for block, rows, edges in zip(self.blocks, self.vertices, self.edges, strict=True)
        )

    def move_holds(self, poses: tuple[Array, Array, Array]) -> None:
        """Sends poses of all holds to the blocks."""
        for block, ids in zip(self.blocks, self.hold_ids, strict=True):
            if len(ids):
                block.move_holds(poses[0][ids], poses[1][ids], poses[2][ids])
