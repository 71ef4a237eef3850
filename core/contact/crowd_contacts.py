"""Contacts between many rods, found a few times in a step and kept in between (see `crowd_solver.py`)."""

from __future__ import annotations

import math

import numpy as np

from ..compile.jit import kernel, part
from ..compile.workers import Workers
from ..errors import Array
from ..maths.geometry.closest import blend, closest_on_segment, closest_on_segments, minus
from ..maths.geometry.frames import Vector, any_normal, cross, dot
from .arrays import DEEP, Contacts, Flags, Ints, Samples
from .colliders import ColliderMotion
from .detection import Detection
from .kept_contacts import Kept, copy_valid, freeze_found
from .known_forces import find_key
from .passages import (
    NOTHING_PASSED,
    Passages,
    Passed,
    beside_passages,
    cancel_returns,
    find_passages,
    make_passages,
    remember,
)
from .rod_contacts import is_tip, point, unit_or

_ALONG = 0.99  # cosine of the angle from where on something is taken to lie along a rod
_SIDE_BY_SIDE = 0.28  # radii by which two edges may diverge that touch at two points
_SHORT = 0.05  # of an edge: along less they touch at one
FAST, CROSSING = 0.75, 0.2  # see `needed_halvings`
REACH = 1.0  # of the last step of the iterate: so far from colliders contacts are found
APART = 3.0  # thicknesses: edges that begin nearer to each other know their side
THIN = 0.05  # thickness per edge length below which rods meet as lines, whose sides are known however fast they are


class CrowdDetection(Detection):
    """Contacts that stay through a step, until they are found again or the two sides have slid apart."""

    def __init__(
        self, samples: Samples, joined: Ints, colliders: ColliderMotion, between_rods: bool, workers: Workers
    ) -> None:
        super().__init__(samples, joined, colliders, between_rods, workers)
        self.passed, self._passages = NOTHING_PASSED, make_passages(256)
        self._least_margin, self._rod_margin = self._margin.copy(), self._margin.copy()
        after, along = samples.after, samples.along
        end = np.where(
            after > np.arange(len(after)), along[after], samples.length
        )  # the last edge of a ring ends at its length
        self.thin = (after >= 0) & (2.0 * samples.radius < THIN * (end - along))

    def forget(self, which: Flags) -> None:
        """As in `Detection`; what comes next begins where rods are now."""
        super().forget(which)
        self.start_step()

    def reach(self, moved: Array) -> None:
        """How far from colliders contacts are found when the iterate has moved by `moved` (N, 3). The next step may be as long, and
        what it would run into has to be known: otherwise a contact that one step opens is lost, and the next step runs into it
        again."""
        way = np.sqrt(np.einsum("ij,ij->i", moved, moved))
        self._margin[:] = self._least_margin + REACH * np.maximum(way, way[self.samples.after])

    def look(self, base: Array, which: Flags) -> None:
        """As in `Detection`, but for `base`: passages count on the straight way from the start of the step."""
        super().look(self.samples.start, which)
        self.contacts.drift[: self.count] = 0.0
        self._note_passed()

    def _rod_contacts(self, pairs: Ints, base: Array, contacts: Contacts) -> int:
        count = find_passages(pairs, len(pairs), self.samples, self._passages)
        if count > len(self._passages.pair):
            self._passages = make_passages(count + count // 2)
            find_passages(pairs, len(pairs), self.samples, self._passages)
        cancel_returns(pairs, count, self.samples.rod, self.thin, self._passages)
        beside = beside_passages(pairs, self._passages, count, self.thin, self.samples)
        return crowd_contacts(
            pairs,
            len(pairs),
            self.samples,
            self.passed,
            beside,
            self._passages,
            count,
            self.thin,
            self._rod_margin,
            contacts,
            0,
        )

    def near(self) -> Ints:
        """(L, 2) rods whose boxes overlap: they may have come near each other on their ways."""
        rods = self.samples.rod[self._candidates[0]]
        return np.unique(rods[rods[:, 0] != rods[:, 1]], axis=0) if len(rods) else rods

    def keep(self, acting: Flags, which: Flags) -> Kept:
        """Copies of contacts of these rods that act (C,), for `add_kept`."""
        return copy_valid(self.contacts, self.samples, self.thin, acting, which)

    def add_kept(self, kept: Kept, freeze: bool) -> None:
        """Adds contacts of `keep` that were not found again. `freeze`: also those that were, with the points and normals they had;
        what is found there anew is added if it overlaps, as one more contact of the same pair of edges."""
        if freeze:
            self._stay(freeze_found(self.contacts, self.count, kept, len(self.samples.after)))
        gone = np.isin(kept.key, self.contacts.key[: self.count], invert=True)
        more = int(np.count_nonzero(gone))
        if not more:
            return
        if self.count + more > len(self.contacts.gap):
            self.make_room(2 * (self.count + more))
        for field, old in zip(self.contacts, kept, strict=True):
            field[self.count : self.count + more] = old[gone]
        self.contacts.crossed[self.count : self.count + more] = False
        self.count += more

    def leave_out(self, rods: Flags) -> None:
        """Forgets the contacts of these rods."""
        edge, rod = self.contacts.edge[: self.count], self.samples.rod
        stay = np.flatnonzero(~rods[rod[edge[:, 0]]] & ~((edge[:, 1] >= 0) & rods[rod[edge[:, 1]]]))
        self._stay(stay)

    def _stay(self, rows: Ints) -> None:
        """Only these contacts remain."""
        for field in self.contacts:
            field[: len(rows)] = field[rows]
        self.count = len(rows)

    def start_step(self) -> None:
        """A new step begins: nothing has passed through anything yet."""
        self.passed = NOTHING_PASSED

    def _note_passed(self) -> None:
        """The contacts of all passages stay, also where later iterates are far from them."""
        contacts, count, samples = self.contacts, self.count, self.samples
        edge, crossed = contacts.edge[:count], contacts.crossed[:count] & (contacts.edge[:count, 1] >= 0)
        rows = np.flatnonzero(crossed)
        if len(rows):
            self.passed = remember(self.passed, edge[rows], contacts.at[rows], contacts.normal[rows], samples)


@part
def _side_by_side(a0: Vector, a1: Vector, b0: Vector, b1: Vector, radius: float) -> bool:
    """Whether the shorter of two segments is so nearly parallel to the other that, in between, it comes no nearer than at its
    ends, but for a fiftieth of a radius."""
    u, v = minus(a1, a0), minus(b1, b0)
    n = cross(u, v)
    return bool(dot(n, n) < (_SIDE_BY_SIDE * radius) ** 2 * max(dot(u, u), dot(v, v)))


@part
def _is_next(samples: Samples, e: int, s: float) -> bool:
    """Whether a point of an edge is the beginning of the next edge."""
    return bool(s == 1.0 and not samples.last[e])


@part
def _ends_of_overlap(a0: Vector, a1: Vector, b0: Vector, b1: Vector) -> tuple[float, float, float, float]:
    """Parameters on both segments of the two ends of the part along which they lie side by side."""
    s, s2 = closest_on_segment(b0, a0, a1), closest_on_segment(b1, a0, a1)
    low, high = min(s, s2), max(s, s2)
    return low, closest_on_segment(blend(a0, a1, low), b0, b1), high, closest_on_segment(blend(a0, a1, high), b0, b1)


@kernel
def crowd_contacts(
    pairs: Ints, count: int, samples: Samples, passed: Passed, beside: Passed, passages: Passages, passing: int, thin: Flags,
    margin: Array,
    contacts: Contacts, written: int,
) -> int:  # fmt: skip
    """Adds the contacts of pairs of edges to the rows from `written` on; returns the new number of rows.

    Whether they pass through each other is judged on their straight way from `start` to `now`.

    Rows beyond the capacity are counted, not written. Two edges of one rod whose nearest points are less than a half circle
    of the rod's own radius apart along it can't touch: a rod does not bend more than its thickness lets it.
    """
    start, now, after, radius = samples.start, samples.now, samples.after, samples.radius
    along, length, rod, friction = samples.along, samples.length, samples.rod, samples.friction
    capacity, n = len(contacts.gap), len(after)
    next_passage = 0
    for k in range(count):
        i, j = pairs[k, 0], pairs[k, 1]
        a0, a1, b0, b1 = point(now, i), point(now, after[i]), point(now, j), point(now, after[j])
        reach = radius[i] + radius[j]
        o0, o1, p0, p1 = point(start, i), point(start, after[i]), point(start, j), point(start, after[j])
        crossed, s, t, side = False, 0.0, 0.0, (0.0, 0.0, 0.0)
        while next_passage < passing and passages.pair[next_passage] < k:
            next_passage += 1
        if next_passage < passing and passages.pair[next_passage] == k and passages.counts[next_passage]:
            crossed, side = True, point(passages.normal, next_passage)
            s, t = passages.at[next_passage, 0], passages.at[next_passage, 1]
        points, s2, t2, far, known = 1, 0.0, 0.0, False, -1
        if not crossed:
            s, t = closest_on_segments(a0, a1, b0, b1)
            w = minus(blend(a0, a1, s), blend(b0, b1, t))
            far = dot(w, w) > (reach + margin[i] + margin[j]) ** 2
            if far:
                known = find_key(passed.key, i * n + j)
                if known < 0:
                    continue
                s, t, side = passed.at[known, 0], passed.at[known, 1], point(passed.normal, known)
            elif _side_by_side(a0, a1, b0, b1, min(radius[i], radius[j])):
                # The nearest point would jump from one end of where they lie side by side to the other: there is one at each.
                s, t, s2, t2 = _ends_of_overlap(a0, a1, b0, b1)
                points = 2 if abs(s2 - s) > _SHORT else 1
        s0, t0 = closest_on_segments(o0, o1, p0, p1)
        next_to = find_key(beside.key, i * n + j) if thin[i] and thin[j] and not (crossed or far) else -1
        sided = False
        if next_to >= 0:
            # The two have slid on from where they passed to these edges, unless these were near each other before.
            w0 = minus(blend(o0, o1, s0), blend(p0, p1, t0))
            sided = dot(w0, point(beside.normal, next_to)) > 0.0 or dot(w0, w0) > (APART * reach) ** 2
        for piece in range(points):
            if piece == 1:
                s, t = s2, t2
            if not crossed and known < 0 and (_is_next(samples, i, s) or _is_next(samples, j, t)):
                continue  # the next edge begins there, and is as near
            if rod[i] == rod[j]:
                end_i = along[after[i]] if after[i] > i else length[i]
                end_j = along[after[j]] if after[j] > j else length[j]
                apart = abs(along[i] + s * (end_i - along[i]) - along[j] - t * (end_j - along[j]))
                if min(apart, length[i] - apart) < 0.5 * math.pi * reach:
                    continue
            w = minus(blend(a0, a1, s), blend(b0, b1, t))
            if crossed or far:
                normal = side
            else:
                if points == 2 and dot(w, w) > (reach + margin[i] + margin[j]) ** 2:
                    continue
                along_a, along_b = unit_or(minus(a1, a0), (1.0, 0.0, 0.0)), unit_or(minus(b1, b0), (1.0, 0.0, 0.0))
                normal = unit_or(w, unit_or(cross(along_a, along_b), any_normal(along_a)))
                if sided and dot(normal, point(beside.normal, next_to)) < 0.0:
                    normal = (-normal[0], -normal[1], -normal[2])
                # Of rods that lie in each other, edges that are not beside but behind each other don't push.
                behind = abs(dot(along_a, along_b)) > _ALONG and abs(dot(normal, along_a)) > _ALONG
                if behind and not (is_tip(samples, i, s) or is_tip(samples, j, t)):
                    continue
            if points == 2:
                s0, t0 = s, t
            w0 = minus(blend(o0, o1, s0), blend(p0, p1, t0))
            before = math.sqrt(dot(w0, w0)) - reach
            near = before < margin[i] + margin[j] and not crossed and known < 0
            upright = unit_or(w0, normal) if near else normal
            if written < capacity:
                contacts.edge[written, 0], contacts.edge[written, 1] = i, j
                contacts.at[written, 0], contacts.at[written, 1] = s, t
                contacts.normal[written, 0], contacts.normal[written, 1], contacts.normal[written, 2] = normal
                contacts.rubbing_at[written, 0], contacts.rubbing_at[written, 1] = (s0, t0) if near else (s, t)
                contacts.upright[written, 0], contacts.upright[written, 1], contacts.upright[written, 2] = upright
                contacts.rolling[written] = 0.0
                contacts.gap[written] = dot(normal, w) - reach
                contacts.before[written] = before
                contacts.deep[written] = before < -DEEP * radius[i]
                contacts.arm[written, 0], contacts.arm[written, 1] = radius[i], radius[j]
                for c in range(3):
                    contacts.slide[written, c] = 0.0
                contacts.friction[written] = math.sqrt(friction[i] * friction[j])
                contacts.key[written] = i * n + j if piece == 0 else j * n + i
                contacts.crossed[written] = crossed
            written += 1
    return written


@kernel
def follow_motion(contacts: Contacts, count: int, after: Ints, moved: Array) -> None:
    """Gaps change as sample points are displaced by `moved` (N, 3), with the contacts' points and normals as they were found."""
    for k in range(count):
        for side in range(2):
            e = contacts.edge[k, side]
            if e < 0 or after[e] < 0:
                continue
            s, f = contacts.at[k, side], after[e]
            sign = 1.0 if side == 0 else -1.0
            for c in range(3):
                way = sign * ((1.0 - s) * moved[e, c] + s * moved[f, c])
                contacts.gap[k] += contacts.normal[k, c] * way
                contacts.drift[k, c] += way


@kernel
def needed_halvings(contacts: Contacts, count: int, samples: Samples, thin: Flags, halvings: Ints) -> None:
    """How often a step must be halved so that rods that meet approach each other by no more than a linear gap can follow: a part
    of their thickness, and where edges cross also of how far they reach across each other. Raises halvings (R,) to that."""
    start, now, after, rod = samples.start, samples.now, samples.after, samples.rod
    for k in range(count):
        if not (contacts.gap[k] < 0.0 or contacts.crossed[k]):
            continue
        approach = 0.0
        for c in range(3):
            way = -contacts.slide[k, c]
            for side in range(2):
                e, t = contacts.edge[k, side], contacts.at[k, side]
                if e >= 0:
                    f = after[e]
                    moved = (1.0 - t) * (now[e, c] - start[e, c]) + t * (now[f, c] - start[f, c])
                    way += (1.0 - 2.0 * side) * moved
            approach -= contacts.normal[k, c] * way
        thickness = contacts.arm[k, 0] + contacts.arm[k, 1]
        reach = FAST * thickness + CROSSING * _across(contacts, k, samples)
        if not approach > reach or thin[contacts.edge[k, 0]]:
            continue
        more = math.ceil(math.log2(approach / reach))
        for side in range(2):
            if contacts.edge[k, side] >= 0:
                r = rod[contacts.edge[k, side]]
                halvings[r] = max(halvings[r], more)


@part
def _across(contacts: Contacts, k: int, samples: Samples) -> float:
    """How far the shorter of two edges reaches across the other; of an edge on a collider its length."""
    e, o = contacts.edge[k, 0], contacts.edge[k, 1]
    if o < 0:
        return edge_length(samples, e)
    u = minus(point(samples.now, samples.after[e]), point(samples.now, e))
    v = minus(point(samples.now, samples.after[o]), point(samples.now, o))
    n = cross(u, v)
    return math.sqrt(dot(n, n) / max(dot(u, u), dot(v, v), 1e-300))


@part
def edge_length(samples: Samples, e: int) -> float:
    """Length of the edge after a sample point at the iterate."""
    u = minus(point(samples.now, samples.after[e]), point(samples.now, e))
    return math.sqrt(dot(u, u))
