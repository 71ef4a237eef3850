"""External influences on rods: gravity, loads, force fields, air. All except the loads may change from frame to frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..describe.fields import Field, check_fields
from ..describe.material import swing_drag
from ..describe.scene import RodId, Scene
from ..errors import Array, Flags, not_negative, number, vector, whole
from ..maths.motion import finite_array
from ..models.protocol import WHOLE, FreeSteps, ModelBlock
from .frame import Place
from .goals import Goals
from .soft_holds import SoftHolds


class Surroundings:
    def __init__(
        self,
        scene: Scene,
        blocks: Sequence[ModelBlock],
        vertices: Sequence[NDArray[np.int64]],
        places: Sequence[Place],
        goals: Goals,
        soft: SoftHolds,
    ) -> None:
        """`vertices` are the rows of each block's vertices."""
        self._goals, self._soft = goals, soft
        self.gravity, self.wind = scene.gravity, scene.wind
        self.air_density, self.drag = scene.air_density, scene.drag
        self.forces = [np.zeros((int(block.sample_start[-1]), 3)) for block in blocks]  # N on all sample points
        self._brakes = [np.zeros(len(forces)) for forces in self.forces]  # kg/s, see `FreeSteps`
        self._blocks = blocks
        self._loads = [
            (load.force, places[load.rod].block, vertices[places[load.rod].block][places[load.rod].first + load.vertex])
            for load in scene.loads
        ]
        self._timed = any(callable(force) for force, _, _ in self._loads)
        self._rods: list[tuple[int, slice]] = []  # of each rod: its block, and its sample points there
        counts = [0] * len(blocks)
        for place in places:
            starts = blocks[place.block].sample_start
            k = counts[place.block]
            self._rods.append((place.block, slice(int(starts[k]), int(starts[k + 1]))))
            counts[place.block] += 1
        # Friction of rods that swing on something brakes them in proportion to mass, as air does, but not relative to the wind.
        self._own_drag = [np.zeros(len(block.sample_start) - 1) for block in blocks]  # (R,) 1/s
        self._still = [
            np.zeros_like(forces) for forces in self.forces
        ]  # N: what the wind would do through that drag, undone
        self._swing_drag = [swing_drag(entry.rod.swing_time) for entry in scene.entries]
        self._damping = [1.0] * len(scene.entries)  # factors
        self._anchors = [0.0] * len(scene.entries)  # influences of the holds and attachments of each rod, added up
        for held in [*(hold.rod for hold in scene.holds), *(one.rod for one in scene.attachments)]:
            self._anchors[held] += 1.0
        for rod in range(len(scene.entries)):
            self.damp(rod, 1.0)
        # (samples, 1) factor on gravity; None: 1
        self._gravity_weights: list[Array | None] = [None] * len(blocks)
        self._fields: list[tuple[tuple[int, ...] | None, Array]] = []  # rods, and the rows of their fields
        self._surfaces: list[Field] = []
        self.change(fields=scene.fields)

    @property
    def uneven(self) -> bool:
        """True if forces vary between substeps."""
        return self._timed or self._has_fields or bool(self._goals) or self._soft.active

    @property
    def _has_fields(self) -> bool:
        return bool(self._fields or self._surfaces)

    def change(
        self,
        gravity: ArrayLike | None = None,
        wind: ArrayLike | None = None,
        air_density: float | None = None,
        drag: float | None = None,
        fields: Sequence[Field] | None = None,
        gravity_weights: Mapping[RodId, float] | None = None,
    ) -> None:
        """Changes settings from now on; omitted ones stay. Gravity weights of rods that are not named become 1."""
        new_gravity = self.gravity if gravity is None else vector("gravity", gravity)
        new_wind = self.wind if wind is None else vector("wind", wind)
        new_air = self.air_density if air_density is None else not_negative("air_density", air_density, "kg/m^3")
        new_drag = self.drag if drag is None else not_negative("drag", drag, "1/s")
        new_weights = self._gravity_weights if gravity_weights is None else self._sample_weights(gravity_weights)
        if fields is not None:
            found = check_fields(fields, len(self._rods))
            together: dict[tuple[int, ...] | None, list[Array]] = {}
            for field in found:
                if field.shape != "surface":
                    together.setdefault(None if field.rods is None else tuple(field.rods), []).append(field.numbers())
            self._fields = [(rods, np.concatenate(packed)) for rods, packed in together.items()]
            self._surfaces = [field for field in found if field.shape == "surface"]
        self.gravity, self.wind, self.air_density, self.drag = new_gravity, new_wind, new_air, new_drag
        self._gravity_weights = new_weights

    def _sample_weights(self, of_rods: Mapping[RodId, float]) -> list[Array | None]:
        found: list[Array | None] = [None] * len(self._blocks)
        for rod, weight in of_rods.items():
            block, rows = self._rods[whole("rod", rod, 0, len(self._rods) - 1)]
            of_block = found[block]
            if of_block is None:
                of_block = found[block] = np.ones((len(self.forces[block]), 1))
            of_block[rows] = number("gravity weight", weight)
        return found

    def act(self, time: float, h: float, frame_rate: float = 0.0) -> None:
        """Writes the forces at a time, for a step of length h. Goals move by their way in a frame times `frame_rate` (1/s)."""
        windy = bool(np.any(self.wind)) and any(rates.any() for rates in self._own_drag)
        masses = self._masses() if self._has_fields or windy or self._goals else []
        for block, forces, weights in zip(self._blocks, self.forces, self._gravity_weights, strict=True):
            block.weight(self.gravity, forces, WHOLE if weights is None else weights)
        for force, block_number, row in self._loads:
            # a user's function may return an unusable value: no load then
            f = finite_array(force(time) if callable(force) else force, (3,))
            if f is not None:
                self.forces[block_number][row] += f
        if self._has_fields:
            self._add_fields(h, masses)
        if self._goals:
            self._goals.add_forces(self._blocks, masses, self.forces, h, frame_rate)
        for brakes in self._brakes:
            brakes[:] = 0.0
        if self._soft.active:
            self._soft.add_forces(self.forces, self._brakes, h, frame_rate, self.wind)
        for k, still in enumerate(self._still):
            still[:] = 0.0
            if windy:
                rates = np.repeat(self._own_drag[k], np.diff(self._blocks[k].sample_start))
                still[:] = -(rates * masses[k])[:, None] * self.wind

    def damp(self, rod: RodId, factor: float) -> None:
        """Multiplies the friction of a swinging rod, as described, by a factor."""
        block, rows = self._rods[rod]
        number = int(np.searchsorted(self._blocks[block].sample_start, rows.start, side="right")) - 1
        self._damping[rod] = factor
        # A rod that nothing holds flies: friction within it can't slow it down.
        self._own_drag[block][number] = factor * self._swing_drag[rod] * min(max(self._anchors[rod], 0.0), 1.0)

    def let_go(self, rod: RodId, influence: float = 1.0) -> None:
        """One of the rod's holds or attachments has lost so much influence."""
        self._anchors[rod] -= influence
        self.damp(rod, self._damping[rod])

    def free_steps(self, block: int, h: float, count: int, settling: bool, skip: Flags | None) -> FreeSteps:
        """Steps of a block under what acts on it; `settling`: nothing brakes it."""
        if settling:
            rates = np.zeros_like(self._own_drag[block])
            return FreeSteps(h, count, self.forces[block], self.wind, 0.0, rates, True, skip, self._brakes[block])
        forces, rates = self.forces[block] + self._still[block], self.drag + self._own_drag[block]
        return FreeSteps(h, count, forces, self.wind, self.air_density, rates, False, skip, self._brakes[block])

    def _masses(self) -> list[Array]:
        """(samples,) kg, of all blocks, because rods may grow. Call before gravity is applied: a block remembers the last
        weight it reported."""
        found = []
        for block, forces in zip(self._blocks, self.forces, strict=True):
            block.weight(np.array([1.0, 0.0, 0.0]), forces)
            found.append(forces[:, 0].copy())
        return found

    def _add_fields(self, h: float, masses: Sequence[Array]) -> None:
        # imported here, because most scenes have no fields and need not compile the kernels
        from ..forces.field_kernels import apply_fields

        for number_of_block, (block, forces, mass) in enumerate(zip(self._blocks, self.forces, masses, strict=True)):
            x, v = np.ascontiguousarray(block.positions()), np.ascontiguousarray(block.velocities())
            starts = np.asarray(block.sample_start)
            number_in_rod = np.arange(starts[-1]) - np.repeat(starts[:-1], np.diff(starts))
            for rods, fields in self._fields:
                apply_fields(fields, number_in_rod, x, v, self._masses_of(rods, number_of_block, mass), h, forces)
            for field in self._surfaces:
                _add_surface_field(field, x, v, self._masses_of(field.rods, number_of_block, mass), h, forces)

    def _masses_of(self, rods: Sequence[RodId] | None, block: int, mass: Array) -> Array:
        """Masses of these rods only; fields do not act on points without mass."""
        if rods is None:
            return mass
        chosen = np.zeros_like(mass)
        for rod in rods:
            its_block, rows = self._rods[rod]
            if its_block == block:
                chosen[rows] = mass[rows]
        return chosen


def _add_surface_field(field: Field, x: Array, v: Array, mass: Array, h: float, forces: Array) -> None:
    from ..forces.surface_kernels import apply_surface, balls_around

    vertices, triangles = np.asarray(field.vertices), np.asarray(field.triangles)
    apply_surface(field.numbers()[0], vertices, triangles, balls_around(vertices, triangles), x, v, mass, h, forces)
