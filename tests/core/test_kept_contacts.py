"""Contacts that an iterate takes over: which stay, and when a pair of edges gets one more."""

from __future__ import annotations

import numpy as np
from numpy import int64
from tendril.core.contact.arrays import Contacts, Samples
from tendril.core.contact.detection import make_contacts
from tendril.core.contact.kept_contacts import MARGIN, copy_valid, freeze_found
from tendril.core.contact.known_forces import KnownForces

RADIUS = 1e-3
N = 4  # two rods of one edge


def crossing_rods(angle: float) -> Samples:
    """A rod along x, and above it one at an angle to it."""
    ends = np.array([(-1.0, 0.0, 0.0), (1.0, 0.0, 0.0)])
    other = np.array([(-np.cos(angle), -np.sin(angle), 2e-3), (np.cos(angle), np.sin(angle), 2e-3)])
    points = np.concatenate([ends, other])
    return Samples(
        start=points,
        now=points.copy(),
        after=np.array([1, -1, 3, -1], int64),
        last=np.array([True, False, True, False]),
        rod=np.array([0, 0, 1, 1], int64),
        along=np.array([0.0, 2.0, 0.0, 2.0]),
        length=np.full(N, np.inf),
        radius=np.full(N, RADIUS),
        friction=np.zeros(N),
    )


def contact(gap: float = 0.0, drift: tuple[float, float, float] = (0.0, 0.0, 0.0), key: int = 2) -> Contacts:
    """Between edges 0 and 2, with the key of the pair."""
    contacts = make_contacts(1)
    contacts.edge[0], contacts.arm[0], contacts.normal[0] = (0, 2), RADIUS, (0.0, 0.0, -1.0)
    contacts.gap[0], contacts.drift[0], contacts.key[0] = gap, drift, key
    contacts.crossed[0] = False
    return contacts


def is_valid(drift: tuple[float, float, float], angle: float, thin: bool = True) -> bool:
    all_rods, flags = np.ones(2, np.bool_), np.full(N, thin)
    kept = copy_valid(contact(drift=drift), crossing_rods(angle), flags, np.ones(1, np.bool_), all_rods)
    return len(kept.key) == 1


def test_thin_rods_that_cross_may_slide_along_each_other() -> None:
    far = 5.0 * RADIUS
    assert is_valid((far, far, 0.0), angle=1.0)
    assert not is_valid((far, far, 0.0), angle=1.0, thin=False), "thick ones have another point of contact then"
    assert is_valid((far, 0.0, 0.0), angle=0.01)
    assert not is_valid((0.0, far, 0.0), angle=0.01), "side by side they may have slid off each other"
    assert is_valid((0.0, 0.0, far), angle=0.01), "what is along the normal is no sliding"


def found_beside(gap_found: float, gap_kept: float, crossed: bool = False) -> Contacts:
    found, kept = contact(gap_found), contact(gap_kept)
    found.crossed[0] = crossed
    rows = freeze_found(found, 1, kept, N)
    return Contacts(*(field[rows] for field in found))


def test_a_pair_that_overlaps_in_spite_of_its_contact_gets_one_more() -> None:
    assert not len(found_beside(0.0, 0.0).key)
    new = found_beside(-0.5 * RADIUS, 0.0)
    assert new.key.tolist() == [2 + N**2]
    assert new.gap[0] == -0.5 * RADIUS - MARGIN * 2.0 * RADIUS
    assert not len(found_beside(-0.5 * RADIUS, -0.5 * RADIUS).key), "the one that is kept knows"
    assert len(found_beside(0.0, 0.0, crossed=True).key) == 1


def test_numbers_of_contacts_of_a_pair_differ() -> None:
    found, kept = contact(-0.5 * RADIUS), contact(key=2 + 2 * N**2)
    freeze_found(found, 1, kept, N)
    assert found.key[0] == 2 + 3 * N**2


def test_forces_of_a_pair_add_up_after_a_step() -> None:
    known = KnownForces(np.array([0, 0, 1, 1], int64))
    keys, forces = np.array([-3, 2, 2 + N**2, 2 + 2 * N**2, 8]), np.eye(3)[[0, 0, 1, 2, 0]]
    known.put(np.ones(2, np.bool_), keys, forces)
    assert known.linked().tolist() == [[1, 1], [0, 1], [1, 0], [0, 1], [0, 1]]
    known.add_up()
    assert known.keys.tolist() == [-3, 2, 8]
    assert known.forces.tolist() == [[1.0, 0.0, 0.0], [1.0, 1.0, 1.0], [1.0, 0.0, 0.0]]
