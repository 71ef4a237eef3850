"""Contact without friction as Zhao et al. 2022 have it (appendix B): an active set of contacts that press, in every iteration.

Contacts are not springs here. Newton's method has their forces as unknowns, found together with its step: the least ones that keep
every gap from closing, to first order (12). How far each force opens each gap, N^T A^-1 N (14), takes a solve per contact, which
all share one factor. For rods of the model `compact` alone, all of them together: right for a few rods, not for a head of hair.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..compile.jit import kernel
from ..compile.workers import Workers
from ..errors import Array
from ..maths.linalg.complementarity import solve_lcp
from ..models.compact.block import CompactBlock
from ..models.protocol import ModelBlock, Pushes
from .arrays import Contacts, Ints
from .colliders import ColliderMotion
from .coulomb import clear, resist_tilt
from .islands import NOISE, SETTLED, SMALLEST_SIZE, TOLERABLE, TOLERABLE_STEP, TOLERANCE
from .known_forces import prepare
from .solver import FEW_ITERATIONS, ContactSolver

SHARE = 1e-4  # of what a step promises to gain, it must
SHORTER = 0.9  # times the last step: then a step is good whatever it gains
FEW_MORE = 1e-4  # of the thickness: contacts that close by no more are left to the next iteration
MOST_ROUNDS = 6  # in which contacts are taken in, in one iteration
ENOUGH = 5  # iterations, the paper's limit: then what is left to move, up to SETTLED, is left to the next step
EXACT = 1e-9  # of the thickness: by so much gaps may close, as the linear system has it


class ActiveSetSolver(ContactSolver):
    def __init__(
        self,
        blocks: Sequence[ModelBlock],
        colliders: ColliderMotion,
        between_rods: bool,
        tolerance: float,
        workers: Workers,
    ) -> None:
        frictionless = [np.zeros(len(block.sample_start) - 1) for block in blocks]
        super().__init__(blocks, frictionless, colliders, between_rods, tolerance, workers)
        assert len(blocks) == 1
        assert isinstance(blocks[0], CompactBlock)
        self._block = blocks[0]
        self._tolerance = tolerance
        self._force = np.zeros(256)  # N, of each contact, and
        self._next = np.zeros(256)  # after Newton's step
        self._given = np.zeros((len(self.detection.samples.after), 4))
        self._motion = np.zeros_like(self._given)
        self._vector, self._alone = np.zeros((2, self._block.generalized_size))

    def _solve(self, most_iterations: int, last: bool) -> None:
        """Newton's method on all coupled rods together. A step is good if the merit function (11) falls, the potential plus the
        largest force times what overlaps, or if it is shorter than the one before."""
        samples = self.detection.samples
        self._active[:] = self._coupled
        self._base[:] = samples.start
        self._look(self._which)
        iteration, size, largest_force = 0, 1.0, 0.0
        base_energy, base_overlap, base_slope, base_length = np.inf, 0.0, 0.0, np.inf
        while True:
            self._meet()
            if not self._active.any():
                return
            solved = self._linearise_with_forces()
            energy, overlap, deepest = float(self._potential[self._active].sum()), *self._overlaps()
            length = float(self._longest[self._active].max())
            clear_of_others = not self.detection.contacts.crossed[: self.detection.count].any()
            tolerable = clear_of_others and deepest < TOLERABLE and length < TOLERABLE_STEP * self._tolerance
            if (iteration == most_iterations and not tolerable) or not length < 1e9 or not solved:
                self._fail(self._active.copy())
                return
            passable = last and 2 * iteration >= most_iterations and deepest < TOLERABLE and length < SETTLED
            if iteration == most_iterations or (passable and clear_of_others):
                self._active[:] = False
                return
            iteration += 1
            self.iterations += 1
            self._easy[self._active] = iteration <= FEW_ITERATIONS
            merit, before = energy + largest_force * overlap, base_energy + largest_force * base_overlap
            falls = merit <= before + SHARE * size * base_slope + NOISE * abs(merit)
            if falls or length <= SHORTER * base_length or size <= SMALLEST_SIZE:
                slope = float(self._slope[self._active].sum()) + self._foreseen()
                self._take_forces()
                count = self.detection.count
                largest_force = max(largest_force, 2.0 * float(self._force[:count].max(initial=0.0)))
                base_energy, base_overlap, base_length, size = energy, overlap, length, 1.0
                base_slope = min(slope - largest_force * overlap, 0.0)
                near = self._tolerance if iteration < ENOUGH else SETTLED
                done = clear_of_others and length <= near and deepest <= TOLERANCE
                self._move(self._active)
                self._look(self._active)
                if done:
                    self._active[:] = False
            else:
                size *= 0.5
                self._retreat(np.full(len(self._active), 0.5), self._active)
                self._look(self._active)

    def _push(self) -> None:
        """The known forces of all contacts at the iterate."""
        count, contacts, samples, pushes = (
            self.detection.count,
            self.detection.contacts,
            self.detection.samples,
            self._pushes,
        )
        prepare(
            contacts, count, samples.after, samples.rod, self._mobility, self._stiffness, self._h, self.known.keys,
            self.known.forces, self._limit_keys, self._limits, self._most_lets_go,
            self._recovered, self._forces,
        )  # fmt: skip
        if len(self._force) < count:
            self._force, self._next = np.zeros((2, 2 * count))
        self._force[:count] = np.linalg.norm(self._forces.known[:count], axis=1)
        clear(self._looked_at, samples.rod, pushes)
        press(contacts, count, samples.after, self._force, pushes.force)
        roll(contacts, count, self._force, pushes)
        self._pressing = np.flatnonzero((contacts.edge[:count, 1] >= 0) & (contacts.gap[:count] < np.inf))
        self._linked = samples.rod[contacts.edge[self._pressing]]

    def _linearise_with_forces(self) -> bool:
        """Newton's step of all rods, with the forces of contacts after it. False if there are no such forces."""
        chosen, block, samples = np.flatnonzero(self._active), self._block, self.detection.samples
        contacts, count = self.detection.contacts, self.detection.count
        block.linearise(chosen, self._pushes, self._potential)
        self._alone[:] = block.step_vector()
        near = self._active[samples.rod[contacts.edge[:count, 0]]] & (contacts.gap[:count] < np.inf)
        gap = np.where(near, contacts.gap[:count] - self._forces.target[:count], np.inf)
        solved = self._find_forces(chosen, gap)
        block.measure_steps(chosen, self._longest, self._slope)
        return solved

    def _find_forces(self, chosen: Ints, gap: Array) -> bool:
        """Adds to Newton's step of the rods by themselves what the forces of contacts add to it, and writes those.

        Contacts are taken in as they turn out to be violated: most never are. False if there is no solution."""
        contacts, count = self.detection.contacts, len(gap)
        force = self._force[:count]
        opened = self._openings()
        taken = np.flatnonzero(((force > 0.0) | (gap + opened < 0.0)) & (gap < np.inf))
        response, thickness = np.zeros((0, 0)), contacts.arm[:count].sum(axis=1)
        self._next[:count] = 0.0
        for _ in range(MOST_ROUNDS):
            if not len(taken):
                return True
            rows, weights, response = self._respond(taken, response)
            new = force[taken]
            r = gap[taken] + opened[taken] - response @ new
            scratch = np.zeros((len(taken) + 3, len(taken)))
            if not solve_lcp(response, r, EXACT * float(thickness.max()), new, scratch):
                return False
            self._next[taken] = new
            self._push_columns(chosen, rows, weights, new - force[taken])
            violated = gap + self._openings() < -FEW_MORE * thickness
            violated[taken] = False
            if not violated.any():
                return True
            taken = np.concatenate([taken, np.flatnonzero(violated)])
        return True

    def _respond(self, taken: Ints, known: Array) -> tuple[Ints, Array, Array]:
        """N as rows and weights, and N^T A^-1 N, of which a part may be known."""
        samples, width = self.detection.samples, len(taken)
        rows, weights, response = np.full((width, 4), -1), np.zeros((width, 4, 3)), np.zeros((width, width))
        columns(self.detection.contacts, taken, samples.after, rows, weights)
        response[: len(known), : len(known)] = known
        self._block.respond(samples.rod, rows, weights, len(known), response)
        return rows, weights, response

    def _push_columns(self, chosen: Ints, rows: Ints, weights: Array, sizes: Array) -> None:
        """Newton's step is that of the rods by themselves, and what U times `sizes` adds to it."""
        self._given[:] = 0.0
        put(rows, weights, sizes, self._given)
        self._block.generalized_pushes(chosen, self._given, self._vector)
        self._block.solve_linearised(chosen, self._vector)
        np.add(self._alone, self._vector, out=self._block.step_vector())

    def _openings(self) -> Array:
        """By how much Newton's step opens each contact."""
        count = self.detection.count
        out = np.zeros(count)
        self._block.sample_steps(np.flatnonzero(self._active), self._block.step_vector(), self._linear.steps)
        opening(self.detection.contacts, count, self.detection.samples.after, self._linear.steps, out)
        return out

    def _overlaps(self) -> tuple[float, float]:
        """The sum of all in metres, and the deepest in thicknesses."""
        contacts, count = self.detection.contacts, self.detection.count
        depth = np.maximum(self._forces.target[:count] - contacts.gap[:count], 0.0)
        return float(depth.sum()), float((depth / contacts.arm[:count].sum(axis=1)).max(initial=0.0))

    def _foreseen(self) -> float:
        """What the known forces do along Newton's step: the potential's own slope is without them."""
        count = self.detection.count
        return float(self._force[:count] @ self._openings())

    def _take_forces(self) -> None:
        """The forces after Newton's step become the known ones."""
        contacts, count = self.detection.contacts, self.detection.count
        acting = np.flatnonzero(self._next[:count] > 0.0)
        self.known.put(self._looked_at, contacts.key[acting].copy(), self._next[acting, None] * contacts.normal[acting])
        self._force[:count] = self._next[:count]


@kernel
def press(contacts: Contacts, count: int, after: Ints, force: Array, out: Array) -> None:
    """Adds forces (C,) along the normals of contacts to those of the sample points, out (N, 4)."""
    for k in range(count):
        if force[k] == 0.0:
            continue
        for side in range(2):
            e = contacts.edge[k, side]
            if e < 0:
                continue
            s, size = contacts.at[k, side], force[k] if side == 0 else -force[k]
            for c in range(3):
                out[e, c] += size * (1.0 - s) * contacts.normal[k, c]
                out[after[e], c] += size * s * contacts.normal[k, c]


@kernel
def roll(contacts: Contacts, count: int, force: Array, pushes: Pushes) -> None:
    """Adds what keeps a rod from tilting where it presses on a collider: its lowest point moves to the side that comes down."""
    for k in range(count):
        if force[k] > 0.0 and contacts.rolling[k] > 0.0:
            e = contacts.edge[k, 0]
            n = (contacts.normal[k, 0], contacts.normal[k, 1], contacts.normal[k, 2])
            pushes.touched[e] = True
            resist_tilt(pushes.stiffness[e], n, force[k] / contacts.rolling[k])


@kernel
def opening(contacts: Contacts, count: int, after: Ints, steps: Array, out: Array) -> None:
    """Adds by how much `steps` (N, 4) of the sample points open contacts."""
    for k in range(count):
        for side in range(2):
            e = contacts.edge[k, side]
            if e < 0:
                continue
            s, sign = contacts.at[k, side], 1.0 if side == 0 else -1.0
            for c in range(3):
                way = (1.0 - s) * steps[e, c] + s * steps[after[e], c]
                out[k] += sign * contacts.normal[k, c] * way


@kernel
def columns(contacts: Contacts, taken: Ints, after: Ints, rows: Ints, weights: Array) -> None:
    """Which sample points a unit force at each of these contacts pushes, and with what."""
    for m in range(len(taken)):
        k = taken[m]
        for side in range(2):
            e = contacts.edge[k, side]
            if e < 0:
                continue
            rows[m, 2 * side], rows[m, 2 * side + 1] = e, after[e]
            s, sign = contacts.at[k, side], 1.0 if side == 0 else -1.0
            for c in range(3):
                weights[m, 2 * side, c] = sign * (1.0 - s) * contacts.normal[k, c]
                weights[m, 2 * side + 1, c] = sign * s * contacts.normal[k, c]


@kernel
def put(rows: Ints, weights: Array, sizes: Array, out: Array) -> None:
    """Adds U times sizes (C,) to the forces on sample points."""
    for c in range(len(rows)):
        for s in range(4):
            if rows[c, s] >= 0:
                for k in range(3):
                    out[rows[c, s], k] += sizes[c] * weights[c, s, k]
