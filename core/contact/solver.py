"""A substep in which rods touch: Newton's method on all rods that push each other, with Coulomb's law at every contact."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy import bool_, int8, int64

from ..errors import Array
from ..geometry.frames import Vector
from ..jit import kernel, part
from ..models.protocol import ModelBlock, Pushes
from ..workers import Workers
from .arrays import Contacts, Flags, Ints
from .colliders import ColliderMotion
from .coulomb import APART, Forces, across_rods, learn, push, relative_motion
from .detection import Detection, pack_samples

MOST_ITERATIONS = 25
DEBUG = False
MOST_SHORTENINGS = 12
SMALLEST_SIZE = 0.01  # of a step along Newton's direction
SETTLED = (
    0.1  # segment lengths, and relative to the largest error: when the next step is shorter, the known forces follow
)
LETS_GO = 0.1  # radii
TOLERABLE = 0.05  # errors, in radii and segment lengths, of a step that is not worth being halved
DEBUG = False
TOLERANCE = 2e-3  # of gap and slip at contacts, in radii
DOUBT = 0.1  # of forces, relative
STIFFNESS = 30.0  # of contacts, times that of what they push; any number works, this one fast where contacts are few
MORE_STIFFNESS = 4.0  # where errors don't shrink by as much in an iteration
MOST_STIFFNESS = 1e4
PUSH_OUT = 5.0  # radii per second at which overlaps of the start are taken out
MOST_SOLVES = 60  # iterations of conjugate gradients
LINEAR_TOLERANCE = 1e-2  # of the linear system, relative


class ContactSolver:
    def __init__(
        self,
        blocks: Sequence[ModelBlock],
        friction: Sequence[Array],
        colliders: ColliderMotion,
        between_rods: bool,
        tolerance: float,
        workers: Workers,
    ) -> None:
        self.colliders = colliders
        self._blocks = blocks
        self._tolerance = tolerance
        samples = pack_samples(blocks, friction)
        self.detection = Detection(samples, colliders, between_rods, workers)
        n = len(samples.after)
        sizes = [int(block.sample_start[-1]) for block in blocks]
        self._rows = [slice(end - size, end) for size, end in zip(sizes, np.cumsum(sizes).tolist(), strict=True)]
        counts = [len(block.sample_start) - 1 for block in blocks]
        self._rods = [slice(end - size, end) for size, end in zip(counts, np.cumsum(counts).tolist(), strict=True)]
        self._coupled = np.zeros(sum(counts), bool_)
        self._base = np.zeros((n, 3))
        self._turns = np.zeros(n)
        self._mobility = np.zeros((n, 6))
        self._steps = np.zeros((n, 4))
        self._given = np.zeros((n, 4))
        self._pushes = Pushes(np.zeros((n, 4)), np.zeros((n, 28)), np.zeros(n, bool_))
        self._forces = _make_forces(256)
        # What was known at the end of the last iteration or substep, sorted by key.
        self.keys: Ints = np.zeros(0, int64)
        self.known: Array = np.zeros((0, 3))
        self.stiffness = STIFFNESS
        self.iterations = 0
        self.solves = 0

    # The substep --------------------------------------------------------------------------------------------------

    def step(self, h: float, free: Callable[[list[Flags]], None], air_density: float, careful: bool) -> bool:
        """Moves everything by h. `free` takes the free step of all rods but those to skip. False if that did not work out;
        the blocks are then where the attempt left them, and their saved states where it began. With `careful` the slow way is
        tried where the quick one fails."""
        samples = self.detection.samples
        for block, rows in zip(self._blocks, self._rows, strict=True):
            samples.start[rows] = block.positions()
            block.save()
        self._h, self._air_density = h, air_density
        self._coupled[:] = False
        self._coupled[samples.rod[_samples_of(self.keys, len(samples.after))]] = True
        free([self._coupled[rods] for rods in self._rods])
        known = self.memory()
        self._begin(self._coupled)
        if not self._solve():
            if not careful:
                return False
            # Once more, from where the rods were.
            self.keys, self.known, self.stiffness = known
            self._begin(self._coupled, still=True)
            if not self._solve():
                return False
        self._finish(creep=False)
        return True

    def give_up(self) -> None:
        """After a step that failed: rods that touch stay where they were (but for what is held), without speed."""
        self._begin(self._coupled, still=True)
        self._finish(creep=True)

    def _begin(self, which: Flags, still: bool = False) -> None:
        for block, rows, rods in zip(self._blocks, self._rows, self._rods, strict=True):
            chosen = np.flatnonzero(which[rods])
            if len(chosen):
                block.begin(chosen, self._h, self._air_density, still)
                block.probe(chosen, self._mobility[rows])

    def _finish(self, creep: bool) -> None:
        for block, chosen in self._chosen(self._coupled):
            block.finish(chosen, creep)

    def _chosen(self, which: Flags) -> list[tuple[ModelBlock, Ints]]:
        pairs = [(b, np.flatnonzero(which[rods])) for b, rods in zip(self._blocks, self._rods, strict=True)]
        return [(block, chosen) for block, chosen in pairs if len(chosen)]

    def _solve(self) -> bool:
        """Newton's method. True if it converged.

        No iterate passes through another rod on the way from the one before: steps are shortened so that rods overlap at most,
        and contact does the rest. What passed through a collider is brought back by its contact there. A step is good if the
        energy falls or if the next one is shorter (see Newton's method of `der`); whenever steps have become short, the contact
        forces follow."""
        samples, forces = self.detection.samples, self._forces
        self._base[:] = samples.start
        self.stiffness = STIFFNESS
        energy = length = last_error = np.inf
        size = 1.0
        iteration = 0
        self._look()
        while True:
            if self._couple_more():
                energy = length = np.inf
                self._base[:] = samples.start
                self._look()
                continue
            if not self._coupled.any():
                return True
            self._shorten()
            count, contacts, forces = self.detection.count, self.detection.contacts, self._forces
            error, crossed, here = self._push()
            here += self._linearise()
            longest = max(block.longest_step(chosen) for block, chosen in self._chosen(self._coupled))
            doubt, motion = self._doubts()
            if DEBUG:
                import sys

                print(
                    f"   h {self._h:.2e} it {iteration} longest {longest:.2e} energy {here:.8g} size {size:.3g} error {error:.2e} doubt {doubt:.2e} motion {motion:.2e} crossed {contacts.crossed[:count].sum()} count {count} active {(forces.mode[:count] > 0).sum()} fmax {np.abs(forces.known[:count]).max(initial=0):.3g} k {forces.stiffness[:count].max(initial=0):.2e} solves {self.solves}",
                    file=sys.stderr,
                )
            if iteration == MOST_ITERATIONS or not longest < 1e9:
                return not crossed and error < TOLERABLE and longest < TOLERABLE
            iteration += 1
            self.iterations += 1
            if not (longest <= 0.9 * length or here <= energy) and size > SMALLEST_SIZE:
                size *= 0.5
                for block, chosen in self._chosen(self._coupled):
                    block.retreat(chosen, np.full(len(block.sample_start) - 1, 0.5))
                self._look()
                continue
            if longest <= self._tolerance and error <= TOLERANCE and doubt <= DOUBT and not crossed:
                self._learn()
                for block, chosen in self._chosen(self._coupled):
                    block.move(chosen)
                return True
            energy, length, size = here, longest, 1.0
            if longest <= SETTLED and motion <= SETTLED:
                # Known forces follow, and with them the energy changes.
                self._learn()
                energy = length = np.inf
                if error > max(0.25 * last_error, TOLERANCE):
                    self.stiffness = min(self.stiffness * MORE_STIFFNESS, MOST_STIFFNESS)
                last_error = error
            self._base[:] = samples.now
            self._move()
            self._look()

    def _move(self) -> None:
        """Moves all coupled rods by their steps. Those that press on others go no farther than they are thick: what the linear system
        knows of the others' surfaces does not reach farther."""
        count, contacts, samples = self.detection.count, self.detection.contacts, self.detection.samples
        pressing = (contacts.edge[:count, 1] >= 0) & (self._forces.mode[:count] != APART)
        most = np.full(len(self._coupled), np.inf)
        rods = samples.rod[contacts.edge[:count][pressing]]
        thickness = contacts.arm[:count][pressing].sum(axis=1)
        np.minimum.at(most, rods[:, 0], thickness)
        np.minimum.at(most, rods[:, 1], thickness)
        for block, rows, of_block in zip(self._blocks, self._rows, self._rods, strict=True):
            chosen = np.flatnonzero(self._coupled[of_block])
            if not len(chosen):
                continue
            block.move(chosen)
            limited = np.flatnonzero(most[of_block] < np.inf)
            if len(limited):
                way = np.abs(block.positions() - self._base[rows]).max(axis=1)
                ways = np.maximum.reduceat(way, block.sample_start[:-1])
                sizes = np.minimum(most[of_block] / np.maximum(ways, 1e-300), 1.0)
                shorter = limited[sizes[limited] < 1.0]
                if len(shorter):
                    block.retreat(shorter, sizes)

    def _push(self) -> tuple[float, bool, float]:
        """Forces of all contacts at the iterate: the largest error in radii, whether something passed through, the energy."""
        count, contacts, forces, pushes = self.detection.count, self.detection.contacts, self._forces, self._pushes
        samples = self.detection.samples
        prepare(contacts, count, samples.after, self._mobility, self.stiffness, self._h, self.keys, self.known, forces)
        pushes.force[:] = 0.0
        pushes.stiffness[:] = 0.0
        pushes.touched[:] = False
        energy = push(contacts, count, samples, self._turns, forces, pushes)
        arm = contacts.arm[:count, 0] + contacts.arm[:count, 1]
        error = float((forces.error[:count] / arm).max(initial=0.0))
        return error, bool(contacts.crossed[:count].any()), energy

    def _doubts(self) -> tuple[float, float]:
        """How far forces are from where they will be, relative to the own or a tenth of the strongest on the rod; and how far
        Newton's step moves contacts, relative to their errors, at most."""
        count, contacts, forces = self.detection.count, self.detection.contacts, self._forces
        samples = self.detection.samples
        for block, rows in zip(self._blocks, self._rows, strict=True):
            block.sample_steps(block.step_vector(), self._steps[rows])
        relative_motion(contacts, count, samples.after, forces, self._steps)
        pressure, rods = forces.pressure[:count], samples.rod[contacts.edge[:count, 0]]
        strongest = np.zeros(len(self._coupled))
        np.maximum.at(strongest, rods, pressure)
        scale = np.maximum(np.maximum(pressure, 0.1 * strongest[rods]), 1e-300)
        error, motion = forces.error[:count], forces.motion[:count]
        doubt = forces.stiffness[:count] * np.maximum(error, motion) / scale
        return float(doubt.max(initial=0.0)), float(motion.max(initial=0.0) / max(error.max(initial=0.0), 1e-300))

    def _learn(self) -> None:
        """The forces at the iterate become the known ones."""
        count, contacts = self.detection.count, self.detection.contacts
        learn(contacts, count, self._forces)
        known, keys = self._forces.known[:count], contacts.key[:count]
        acting = np.flatnonzero(np.any(known != 0.0, axis=1))
        order = acting[np.argsort(keys[acting], kind="stable")]
        self.keys, self.known = keys[order], known[order]

    def _shorten(self) -> None:
        """Takes rods that passed through each other back along their way to where they just overlap."""
        samples = self.detection.samples
        for attempt in range(MOST_SHORTENINGS):
            count, contacts = self.detection.count, self.detection.contacts
            through = contacts.crossed[:count] & (contacts.edge[:count, 1] >= 0)
            if not through.any():
                return
            part = np.ones(len(self._coupled))
            reached = contacts.reached[:count][through] if attempt < MOST_SHORTENINGS - 1 else 0.0
            rods = samples.rod[contacts.edge[:count][through]]
            np.minimum.at(part, rods[:, 0], reached)
            np.minimum.at(part, rods[:, 1], reached)
            part[~self._coupled] = 1.0
            for block, of_block in zip(self._blocks, self._rods, strict=True):
                chosen = np.flatnonzero(part[of_block] < 1.0)
                if len(chosen):
                    block.retreat(chosen, part[of_block])
            self._look()

    def _look(self) -> None:
        samples = self.detection.samples
        for block, rows in zip(self._blocks, self._rows, strict=True):
            samples.now[rows] = block.positions()
            self._turns[rows] = block.turns()
        self.detection.look(self._base)
        if len(self._forces.error) < len(self.detection.contacts.gap):
            self._forces = _make_forces(len(self.detection.contacts.gap))

    def _couple_more(self) -> bool:
        """Rods that took a free step and ran into something take part from now on. True if there are any."""
        count, contacts, samples = self.detection.count, self.detection.contacts, self.detection.samples
        meets = (contacts.gap[:count] < 0.0) | contacts.crossed[:count]
        edges = contacts.edge[:count][meets].ravel()
        rods = samples.rod[edges[edges >= 0]]
        new = np.zeros_like(self._coupled)
        new[rods] = True
        new &= ~self._coupled
        if not new.any():
            return False
        self._coupled |= new
        self._begin(new)
        return True

    # What lasts ---------------------------------------------------------------------------------------------------

    @property
    def state_size(self) -> int:
        return 2 + 4 * self._capacity

    @property
    def _capacity(self) -> int:
        """How many contact forces are kept beyond a frame: they only save iterations, so that the strongest will do."""
        return 2 * len(self.detection.samples.after)

    def trim(self) -> None:
        if len(self.keys) > self._capacity:
            strength = np.abs(self.known).max(axis=1)
            kept = np.sort(np.argsort(-strength, kind="stable")[: self._capacity])
            self.keys, self.known = self.keys[kept], self.known[kept]

    def pack_state(self, out: Array) -> None:
        out[:] = 0.0
        count = len(self.keys)
        out[0], out[1] = count, self.stiffness
        rows = out[2:].reshape(-1, 4)[:count]
        rows[:, 0] = self.keys
        rows[:, 1:] = self.known

    def unpack_state(self, state: Array) -> None:
        self.stiffness = float(state[1])
        rows = state[2:].reshape(-1, 4)[: int(state[0])]
        self.keys = rows[:, 0].astype(int64)
        self.known = rows[:, 1:].copy()

    def memory(self) -> tuple[Ints, Array, float]:
        return self.keys, self.known, self.stiffness

    def recall(self, memory: tuple[Ints, Array, float]) -> None:
        """Takes all rods back to where the last step began, and contact to what it knew then."""
        self.keys, self.known, self.stiffness = memory
        for block in self._blocks:
            block.recall()

    # The linear system ---------------------------------------------------------------------------------------------

    def _linearise(self) -> float:
        """Newton's step of all coupled rods: each by itself, then together by conjugate gradients. Returns the rods' potential.

        The matrix is that of the rods with their contacts' stiffness (B, factored) and what couples the two sides of contacts (C).
        """
        potential = 0.0
        for block, rows in zip(self._blocks, self._rows, strict=True):
            chosen = np.flatnonzero(self._coupled[self._rods[self._blocks.index(block)]])
            if len(chosen):
                pushes = Pushes(*(array[rows] for array in self._pushes))
                potential += block.linearise(chosen, pushes)
        count, contacts = self.detection.count, self.detection.contacts
        linking = (contacts.edge[:count, 1] >= 0) & (self._forces.mode[:count] != APART)
        if not linking.any():
            return potential
        linked = np.zeros_like(self._coupled)
        linked[self.detection.samples.rod[contacts.edge[:count][linking].ravel()]] = True
        chosen = self._chosen(linked)
        d = [block.step_vector() for block in self._blocks]
        r = self._couple(d)
        for x in r:
            np.negative(x, out=x)
        z = self._inverse(chosen, r)
        p, bp = [x.copy() for x in z], [x.copy() for x in r]
        product = _dot(r, z)
        goal = LINEAR_TOLERANCE**2 * product
        for _ in range(MOST_SOLVES):
            if not product > goal:
                break
            self.solves += 1
            q = self._couple(p)
            for x, y in zip(q, bp, strict=True):
                x += y
            curvature = _dot(p, q)
            if not curvature > 0.0:
                if DEBUG:
                    print("    negative curvature", self.solves, curvature, product)
                break
            step = product / curvature
            for x, y in zip(d, p, strict=True):
                x += step * y
            for x, y in zip(r, q, strict=True):
                x -= step * y
            z = self._inverse(chosen, r)
            old, product = product, _dot(r, z)
            ratio = product / old
            for x, y in zip(p, z, strict=True):
                x *= ratio
                x += y
            for x, y in zip(bp, r, strict=True):
                x *= ratio
                x += y
        return potential

    def _couple(self, vectors: list[Array]) -> list[Array]:
        """C times a vector."""
        for block, rows, x in zip(self._blocks, self._rows, vectors, strict=True):
            block.sample_steps(x, self._steps[rows])
        self._given[:] = 0.0
        across_rods(
            self.detection.contacts, self.detection.count, self.detection.samples.after, self._forces, self._steps,
            self._given,
        )  # fmt: skip
        out = [np.empty_like(x) for x in vectors]
        for block, rows, x in zip(self._blocks, self._rows, out, strict=True):
            block.generalized_pushes(self._given[rows], x)
        return out

    def _inverse(self, chosen: list[tuple[ModelBlock, Ints]], vectors: list[Array]) -> list[Array]:
        out = [x.copy() for x in vectors]
        places = {id(block): k for k, block in enumerate(self._blocks)}
        for block, rods in chosen:
            block.solve_linearised(rods, out[places[id(block)]])
        return out


def _dot(a: list[Array], b: list[Array]) -> float:
    return float(sum(np.dot(x, y) for x, y in zip(a, b, strict=True)))


def _make_forces(capacity: int) -> Forces:
    return Forces(
        known=np.zeros((capacity, 3)),
        stiffness=np.zeros(capacity),
        target=np.zeros(capacity),
        matrix=np.zeros((capacity, 6)),
        curvature=np.zeros((capacity, 15)),
        arm=np.zeros((capacity, 2, 3)),
        slip=np.zeros((capacity, 3)),
        mode=np.zeros(capacity, int8),
        error=np.zeros(capacity),
        pressure=np.zeros(capacity),
        motion=np.zeros(capacity),
    )


def _samples_of(keys: Ints, n: int) -> Ints:
    """The samples whose edges took part in contacts with these keys."""
    others = keys < 0
    return np.concatenate([keys[~others] // n, keys[~others] % n, (-1 - keys[others]) % n])


@part
def _mobility(mobility: Array, i: int, n: Vector) -> float:
    x, y, z = n
    return (
        mobility[i, 0] * x * x
        + mobility[i, 2] * y * y
        + mobility[i, 5] * z * z
        + 2.0 * (mobility[i, 1] * x * y + mobility[i, 3] * x * z + mobility[i, 4] * y * z)
    )


@kernel
def prepare(
    contacts: Contacts,
    count: int,
    after: Ints,
    mobility: Array,
    stiffness: float,
    h: float,
    keys: Ints,
    known: Array,
    forces: Forces,
) -> None:
    """What is known of each contact before forces are computed. Contacts that nothing can change are taken out."""
    edge, at, normal = contacts.edge, contacts.at, contacts.normal
    for k in range(count):
        n = (normal[k, 0], normal[k, 1], normal[k, 2])
        give = 0.0  # m/N: how far the surfaces move apart
        for side in range(2):
            e = edge[k, side]
            if e >= 0:
                s = at[k, side]
                give += (1.0 - s) * _mobility(mobility, e, n) + s * _mobility(mobility, after[e], n)
        if not give > 0.0:
            contacts.gap[k] = np.inf
            contacts.crossed[k] = False
            give = 1.0
        thickness = contacts.arm[k, 0] + contacts.arm[k, 1]
        forces.target[k] = min(0.0, contacts.before[k] + PUSH_OUT * h * thickness)
        forces.stiffness[k] = stiffness / give
        low, high = 0, len(keys)
        while low < high:
            middle = (low + high) // 2
            if keys[middle] < contacts.key[k]:
                low = middle + 1
            else:
                high = middle
        found = low < len(keys) and keys[low] == contacts.key[k]
        pressed = 0.0
        for c in range(3):
            forces.known[k, c] = known[low, c] if found else 0.0
            pressed += forces.known[k, c] * normal[k, c]
        # A force that is known lets go within the reach of what is found at all.
        forces.stiffness[k] = max(forces.stiffness[k], pressed / (LETS_GO * thickness))
