"""What is known of contacts before their forces are computed, and from one substep to the next."""

from __future__ import annotations

import numpy as np
from numpy import bool_, int8

from ..errors import Array
from ..geometry.frames import Vector
from ..jit import kernel, part
from .arrays import Contacts, Ints
from .coulomb import Forces

PUSH_OUT = 5.0  # radii per second at which overlaps of the start are taken out
LETS_GO = 0.01  # radii: so far apart, a known force has gone


def make_forces(capacity: int) -> Forces:
    return Forces(
        known=np.zeros((capacity, 3)),
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


def sides_of(keys: Ints, n: int) -> Ints:
    """(K, 2) the samples whose edges took part in each of the contacts with these keys; twice the same if one did."""
    others = keys < 0
    first = np.where(others, (-1 - keys) % n, keys // n)
    return np.stack([first, np.where(others, first, keys % n)], axis=1)


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
    forces: Forces,
) -> None:
    """What is known of each contact before forces are computed. `stiffness` (R,) is that of a rod's contacts, times that of what
    they push. Contacts that nothing can change are taken out."""
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
        forces.soft[k] = contacts.deep[k]
        level = stiffness[rod[edge[k, 0]]]
        if edge[k, 1] >= 0:
            level = max(level, stiffness[rod[edge[k, 1]]])
        forces.stiffness[k] = level / give
        low, high = 0, len(keys)
        while low < high:
            middle = (low + high) // 2
            if keys[middle] < contacts.key[k]:
                low = middle + 1
            else:
                high = middle
        found = low < len(keys) and keys[low] == contacts.key[k] and not forces.soft[k]
        pressed = 0.0
        for c in range(3):
            forces.known[k, c] = known[low, c] if found else 0.0
            pressed += forces.known[k, c] * contacts.upright[k, c]
        # A force that is known lets go within the reach of what is found at all.
        forces.stiffness[k] = max(forces.stiffness[k], pressed / (LETS_GO * thickness))
