"""Contacts that an iterate takes over from the one before.

A contact keeps two points of two rods apart along a normal. Where edges are nearly parallel, point and normal change much with a
small motion: an iterate that only knows the new ones undoes what those before achieved, and the method goes round in circles. So
contacts that act stay as they are after a few iterations, and what is found to overlap all the same is one more contact of the
same pair of edges. The distance of two points is at least what it is along any direction, so that the old ones demand no less
than what is true.
"""

from __future__ import annotations

import numpy as np

from ..errors import Array
from .arrays import Contacts, Flags, Ints, Samples, thicknesses
from .known_forces import first_keys, numbered_keys, numbers_of_keys

NEW = 0.02  # thicknesses: pairs of edges that overlap by more than they are known to get one more contact
MARGIN = 0.03  # thicknesses: by so much more it keeps them apart, for many contacts of a pair converge slowly
SAME_PLACE, SAME_NORMAL = 0.1, 0.95  # of an edge; cosine: contacts with a collider that differ by less are one
# In edge lengths: how far a thin rod may slide along a collider before its contact is dropped.
OF_EDGE = 0.1
SLANT = 0.05  # sine of the angle between two edges from which on they touch wherever they slide along each other

Kept = Contacts  # copies of some rows


def copy_valid(contacts: Contacts, samples: Samples, thin: Flags, acting: Flags, which: Flags) -> Kept:
    """Copies of the contacts of these rods that act (C,). Those along which the two sides have moved by more than their thickness
    are left out: they no longer say where the surface is."""
    rows, rod = np.flatnonzero(acting), samples.rod
    sides = contacts.edge[rows]
    meant = which[rod[sides[:, 0]]] | (which[rod[sides[:, 1]]] & (sides[:, 1] >= 0))
    drift = across(contacts.drift[rows], contacts.normal[rows])
    lines = (sides[:, 1] >= 0) & np.all(thin[sides], axis=1)
    if lines.any():
        drift[lines] = _sideways(drift[lines], sides[lines], samples)
    edge = sides[:, 0]
    length = np.linalg.norm(samples.now[samples.after[edge]] - samples.now[edge], axis=1)
    most = np.maximum(contacts.arm[rows].sum(axis=1), np.where(sides[:, 1] < 0, OF_EDGE * length, 0.0))
    near = np.sum(drift * drift, axis=1) < most**2
    rows = rows[meant & near]
    return Contacts(*(field[rows] for field in contacts))


def _sideways(drift: Array, edge: Ints, samples: Samples) -> Array:
    """What of the motions (K, 3) of pairs of thin edges is along neither of the two."""
    now, after = samples.now, samples.after
    one, other = (unit_rows(now[after[edge[:, side]]] - now[edge[:, side]]) for side in range(2))
    other = across(other, one)
    slanting = np.sum(other * other, axis=1)[:, None] > SLANT**2
    return across(across(drift, one), np.where(slanting, unit_rows(other), 0.0))


def across(x: Array, direction: Array) -> Array:
    """What of vectors (K, 3) is not along directions."""
    return np.asarray(x - np.sum(x * direction, axis=1)[:, None] * direction)


def unit_rows(x: Array) -> Array:
    size = np.sqrt(np.sum(x * x, axis=1))[:, None]
    return np.asarray(np.divide(x, size, out=np.zeros_like(x), where=size > 0.0))


def freeze_found(contacts: Contacts, count: int, kept: Kept, samples: int) -> Ints:
    """The rows of contacts found at an iterate that remain beside those that are kept. Those of pairs of edges with a kept contact
    only do where they overlap by more than that knows; they get keys of their own."""
    key = contacts.key[:count]
    if not len(kept.key):
        return np.arange(count)
    base, of = np.unique(first_keys(kept.key, samples), return_inverse=True)
    last, least = np.zeros(len(base), np.int64), np.full(len(base), np.inf)
    np.maximum.at(last, of, numbers_of_keys(kept.key, samples))
    np.minimum.at(least, of, kept.gap)
    at = np.minimum(np.searchsorted(base, key), len(base) - 1)
    again = base[at] == key
    thickness = thicknesses(contacts.arm[:count])
    deeper = contacts.gap[:count] < np.minimum(least[at], 0.0) - NEW * thickness
    new = again & (deeper | contacts.crossed[:count])
    rows = np.flatnonzero(new)
    same = _same_contact(contacts, rows, kept, of, at)
    moved = same >= 0
    key[rows[moved]] = kept.key[same[moved]]
    more = rows[~moved]
    key[more] = numbered_keys(key[more], last[at[more]] + 1, samples)
    contacts.gap[more] -= MARGIN * thickness[more]
    return np.flatnonzero(new | ~again)


def _same_contact(contacts: Contacts, rows: Ints, kept: Kept, of: Ints, at: Ints) -> Ints:
    """The kept contact with a collider that each of these rows replaces, or -1: it is nearly at the same point and has nearly the
    same normal. Sweeps would need long to move the force from one to the other."""
    order = np.argsort(of, kind="stable")
    begin, end = (np.searchsorted(of[order], at[rows], side) for side in ("left", "right"))
    same, least = np.full(len(rows), -1), np.full(len(rows), SAME_PLACE)
    for k in range(int(np.max(end - begin, initial=0))):
        has = np.flatnonzero(begin + k < end)
        other, row = order[begin[has] + k], rows[has]
        away = np.abs(contacts.at[row] - kept.at[other]).max(axis=1)
        lean = np.einsum("ij,ij->i", contacts.normal[row], kept.normal[other])
        nearer = (away < least[has]) & (lean > SAME_NORMAL) & (contacts.edge[row, 1] < 0)
        same[has[nearer]], least[has[nearer]] = other[nearer], away[nearer]
    return same
