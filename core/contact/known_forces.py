"""What is known of contacts before their forces are computed, and from one substep to the next."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy import bool_, int8, int64

from ..compile.jit import kernel, part
from ..errors import Array, TendrilError
from ..maths.geometry.frames import Vector
from .arrays import Contacts, Flags, Ints
from .coulomb import Forces

PUSH_OUT = 5.0  # radii per second at which overlaps of the start are taken out
MOST_HALVINGS = 6  # of a substep
LETS_GO = 0.01  # radii: so far apart, a known force has gone


def make_forces(capacity: int) -> Forces:
    return Forces(
        known=np.zeros((capacity, 3)),
        limit=np.zeros(capacity),
        stiffness=np.zeros(capacity),
        target=np.zeros(capacity),
        soft=np.zeros(capacity, bool_),
        matrix=np.zeros((capacity, 6)),
        pressing=np.zeros(capacity),
        curvature=np.zeros((capacity, 15)),
        arm=np.zeros((capacity, 2, 3)),
        slip=np.zeros((capacity, 3)),
        mode=np.zeros(capacity, int8),
        error=np.zeros(capacity),
        pressure=np.zeros(capacity),
        motion=np.zeros(capacity),
        energy=np.zeros(capacity),
    )


MOST_FEATURES = 2**32  # of all colliders
Known = tuple[Ints, Array]  # keys of contacts, and forces (K, 3)


def _turns(keys: Ints, samples: int) -> tuple[Ints, Ints]:
    """Of keys: by how much those of one more contact of the same two things differ, and how many more contacts they are."""
    step = np.where(keys >= 0, samples**2, -samples * MOST_FEATURES)
    return step, np.where(keys >= 0, keys, -1 - keys) // np.abs(step)


def first_keys(keys: Ints, samples: int) -> Ints:
    """The keys that the first contacts of the same pairs of edges, or of edges and colliders, have."""
    step, number = _turns(keys, samples)
    return np.asarray(keys - number * step)


def numbers_of_keys(keys: Ints, samples: int) -> Ints:
    return _turns(keys, samples)[1]


def numbered_keys(first: Ints, number: Ints, samples: int) -> Ints:
    """Keys for further contacts of pairs with these first keys."""
    return np.asarray(first + number * _turns(first, samples)[0])


class KnownForces:
    """What was known of contacts at the end of the last iteration or substep, sorted by key."""

    def __init__(self, rod: Ints, partners: Callable[[Ints], Ints] | None = None, more: int = 0) -> None:
        """`partners` tells, for keys, the body on side B as a rod; -1: none. `more` contacts than others last beyond a frame."""
        self._rod = rod  # of each sample
        self._partners = partners
        self._capacity = 2 * len(rod) + more
        self.keys: Ints = np.zeros(0, int64)
        self.forces: Array = np.zeros((0, 3))
        self.halvings: Ints = np.zeros(int(rod.max(initial=-1)) + 1, int64)  # of a substep with which each rod begins

    def _sides(self, keys: Ints) -> Ints:
        """(K, 2) the rods of contacts with these keys; twice the same if only one took part."""
        n, others = len(self._rod), keys < 0
        first = np.where(others, (-1 - keys) % n, keys // n % n)
        sides = self._rod[np.stack([first, np.where(others, first, keys % n)], axis=1)]
        if self._partners is not None:
            partner = self._partners(keys)
            sides[:, 1] = np.where(partner >= 0, partner, sides[:, 1])
        return np.asarray(sides)

    def edges(self) -> Ints:
        """Those of the first sides."""
        n = len(self._rod)
        return np.asarray(np.where(self.keys < 0, (-1 - self.keys) % n, self.keys // n))

    def rods(self) -> Ints:
        """Those on which a known force acts, some of them more than once."""
        return self._sides(self.keys).ravel()

    def linked(self) -> Ints:
        """(L, 2) rods between which there is a known force."""
        return self._sides(self.keys)

    def put(self, which: Flags, keys: Ints, forces: Array) -> None:
        """These take the place of all known forces on these rods."""
        if not which.all():
            kept = ~self._concern(self.keys, which)
            keys, forces = np.concatenate([self.keys[kept], keys]), np.concatenate([self.forces[kept], forces])
        order = np.argsort(keys, kind="stable")
        self.keys, self.forces = keys[order], forces[order]

    def add_up(self) -> None:
        """Forces of several contacts of a pair of edges become one, that of the pair."""
        base = first_keys(self.keys, len(self._rod))
        if np.any(base != self.keys):
            self.keys, of = np.unique(base, return_inverse=True)
            forces, self.forces = self.forces, np.zeros((len(self.keys), 3))
            np.add.at(self.forces, of, forces)

    def _concern(self, keys: Ints, which: Flags) -> Flags:
        """Whether contacts with these keys are those of these rods."""
        return np.asarray(np.any(which[self._sides(keys)], axis=1))

    def copy(self) -> Known:
        return self.keys, self.forces  # these arrays never change

    def restore(self, known: Known, which: Flags) -> None:
        """What was known earlier of the forces on these rods is what is known."""
        keys, forces = known
        meant = self._concern(keys, which)
        self.put(which, keys[meant], forces[meant])

    def turn(self, rotation: Array) -> None:
        """All rods, and what they touch, have been turned."""
        self.forces = self.forces @ rotation.T

    # What lasts beyond a frame. Forces only save iterations, so that the strongest will do.

    @property
    def state_size(self) -> int:
        return 1 + len(self.halvings) + 4 * self._capacity

    def trim(self) -> None:
        if len(self.keys) > self._capacity:
            strength = np.abs(self.forces).max(axis=1)
            kept = np.sort(np.argsort(-strength, kind="stable")[: self._capacity])
            self.keys, self.forces = self.keys[kept], self.forces[kept]

    def pack(self, out: Array) -> None:
        out[:] = 0.0
        count = len(self.keys)
        out[0] = count
        out[1 : 1 + len(self.halvings)] = self.halvings
        rows = out[1 + len(self.halvings) :].reshape(-1, 4)[:count]
        rows[:, 0] = self.keys
        rows[:, 1:] = self.forces

    def unpack(self, state: Array) -> None:
        """Raises TendrilError for what `pack` can't have made: a state may come from a file that was tampered with."""
        count, samples = state[0], len(self._rod)
        halvings, rows = state[1 : 1 + len(self.halvings)], state[1 + len(self.halvings) :]
        told = rows.reshape(-1, 4)[: int(count) if 0 <= count <= self._capacity else 0]
        keys = told[:, 0]
        sound = np.all((np.abs(keys) < 2.0**53) & (keys == np.floor(keys)) & (keys < float(samples) ** 2))
        sound &= np.all((halvings >= 0.0) & (halvings <= MOST_HALVINGS) & (halvings == np.floor(halvings)))
        if len(told) != count or not sound or np.any(np.diff(keys) < 0.0):
            raise TendrilError("state", float(count), "the contacts in it make no sense: simulate again from the start")
        self.keys = keys.astype(int64)
        self.halvings[:] = halvings
        self.forces = told[:, 1:].copy()


@part
def _mobility(mobility: Array, i: int, n: Vector) -> float:
    """How far a force along n moves sample i along n, m/N."""
    x, y, z = n
    return float(
        mobility[i, 0] * x * x
        + mobility[i, 2] * y * y
        + mobility[i, 5] * z * z
        + 2.0 * (mobility[i, 1] * x * y + mobility[i, 3] * x * z + mobility[i, 4] * y * z)
    )


@part
def find_key(keys: Ints, key: int) -> int:
    """Where a key is in a sorted array; -1: nowhere."""
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < len(keys) and keys[low] == key else -1


@kernel
def prepare(
    contacts: Contacts,
    count: int,
    after: Ints,
    rod: Ints,
    mobility: Array,
    stiffness: Array,
    h: float,
    keys: Ints,
    known: Array,
    limit_keys: Ints,
    limits: Array,
    most_lets_go: float,
    recovered: float,
    forces: Forces,
) -> None:
    """What is known of each contact before forces are computed. Friction is limited by the normal force that is known, or by that
    in `limits` where the contact's key is among the `limit_keys`. `stiffness` (R,) is that of a rod's contacts, times that of what
    they push. Overlaps of up to `recovered` thicknesses are to be gone after the step, deeper ones come out slowly. Contacts that
    nothing can change are taken out."""
    edge, at, normal = contacts.edge, contacts.at, contacts.normal
    for k in range(count):
        n = (normal[k, 0], normal[k, 1], normal[k, 2])
        give = 0.0  # m/N: how far the surfaces move apart
        of_bodies = after[edge[k, 0]] < 0
        if of_bodies:
            give = contacts.give[k]
        for side in range(2):
            e = edge[k, side]
            if e >= 0 and not of_bodies:
                s = at[k, side]
                give += (1.0 - s) * _mobility(mobility, e, n) + s * _mobility(mobility, after[e], n)
        if not give > 0.0:
            contacts.gap[k] = np.inf
            contacts.crossed[k] = False
            give = 1.0
        thickness = contacts.arm[k, 0] + contacts.arm[k, 1]
        forces.soft[k] = contacts.deep[k]
        level = stiffness[rod[edge[k, 0]]]
        if edge[k, 1] >= 0:
            level = max(level, stiffness[rod[edge[k, 1]]])
        forces.stiffness[k] = level / give
        _recall(contacts, k, max(PUSH_OUT * h, recovered), keys, known, not forces.soft[k], forces)
        if of_bodies and contacts.rebound[k] > 0.0:
            forces.target[k] = contacts.rebound[k]
        pressed = 0.0
        for c in range(3):
            pressed += forces.known[k, c] * contacts.upright[k, c]
        row = find_key(limit_keys, contacts.key[k])
        forces.limit[k] = max(limits[row] if row >= 0 else pressed, 0.0)
        # A force that is known lets go within the reach of what is found at all.
        lets_go = min(pressed / (LETS_GO * thickness), most_lets_go * forces.stiffness[k])
        forces.stiffness[k] = max(forces.stiffness[k], lets_go)


@part
def _recall(
    contacts: Contacts, k: int, recovered: float, keys: Ints, known: Array, wanted: bool, forces: Forces
) -> None:
    """Writes the gap that a contact is to have, and the force that is known (if it is wanted) or none."""
    thickness = contacts.arm[k, 0] + contacts.arm[k, 1]
    forces.target[k] = min(0.0, contacts.before[k] + recovered * thickness)
    row = find_key(keys, contacts.key[k]) if wanted else -1
    for c in range(3):
        forces.known[k, c] = known[row, c] if row >= 0 else 0.0


@kernel
def recall_forces(
    contacts: Contacts, count: int, h: float, recovered: float, keys: Ints, known: Array, forces: Forces
) -> None:
    """What is known of contacts that need no stiffness: their targets and forces. See `prepare`."""
    for k in range(count):
        _recall(contacts, k, max(PUSH_OUT * h, recovered), keys, known, True, forces)
