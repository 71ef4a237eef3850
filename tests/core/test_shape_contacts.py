"""Contacts of rods with convex shapes: lowest points of hollow edges, first-order consistency, and passages of whatever is fast."""

from __future__ import annotations

import numpy as np
import pytest
from meshes import rods
from scipy.spatial.transform import Rotation
from tendril.core.contact.arrays import Contacts, Samples, Shapes
from tendril.core.contact.detection import make_contacts
from tendril.core.contact.shape_contacts import HOLLOW, shape_contacts
from tendril.core.maths.geometry.convex import BOX, CAPSULE, CYLINDER, PLANE, SPHERE

KINDS = pytest.mark.parametrize(
    "kind", [PLANE, SPHERE, CAPSULE, BOX, CYLINDER], ids=["plane", "sphere", "capsule", "box", "cylinder"]
)
SIZES = np.array([[0.0, 0.0, 0.0], [0.3, 0.0, 0.0], [0.1, 0.3, 0.0], [0.3, 0.2, 0.1], [0.2, 0.15, 0.0]])
RADIUS = 0.01
THICKNESS = 0.003
SKIN = RADIUS + THICKNESS


def colliders(
    kind: int,
    size: np.ndarray,
    position: np.ndarray,
    rotation: np.ndarray,
    thickness: float = 0.0,
) -> Shapes:
    """`position` (2, S, 3), `rotation` (2, S, 3, 3)."""
    count = position.shape[1]
    return Shapes(
        kind=np.full(count, kind),
        size=np.broadcast_to(size, (count, 3)).copy(),
        position=np.ascontiguousarray(position),
        rotation=np.ascontiguousarray(rotation),
        thickness=np.full(count, thickness),
        friction=np.full(count, 0.9),
        feature=2 * np.arange(count),
    )


def room(capacity: int) -> Contacts:
    """Rows of what no kernel writes."""
    contacts = make_contacts(capacity)
    for array in contacts:
        array.fill(np.nan if array.dtype == np.float64 else -7)
    return contacts


def contacts_of(samples: Samples, shapes: Shapes, pairs: np.ndarray, margin: float) -> Contacts:
    contacts = room(3 * len(pairs))
    margins = np.full(len(samples.after), margin)
    count = shape_contacts(pairs, len(pairs), samples, shapes, margins, contacts, 0)
    return Contacts(*(array[:count] for array in contacts))


def poses(count: int, rng: np.random.Generator, shift: float, turn: float) -> tuple[np.ndarray, np.ndarray]:
    position = rng.uniform(-1.0, 1.0, (1, count, 3)) + np.array([0.0, 1.0])[:, None, None] * rng.uniform(
        -shift, shift, (count, 3)
    )
    first = Rotation.random(count, random_state=int(rng.integers(2**31)))
    second = Rotation.from_rotvec(rng.uniform(-turn, turn, (count, 3))) * first
    return position, np.stack([first.as_matrix(), second.as_matrix()])


def to_world(shapes: Shapes, when: int, local: np.ndarray) -> np.ndarray:
    """Points (S, ..., 3), those of each shape in its frame."""
    return np.einsum("sij,s...j->s...i", shapes.rotation[when], local) + shapes.position[when].reshape(
        -1, *[1] * (local.ndim - 2), 3
    )


def depth(kind: int, size: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Signed distance of points (..., 3) in the shape's frame, by the textbook."""
    x, y, z = np.moveaxis(p, -1, 0)
    if kind == PLANE:
        return z
    if kind == SPHERE:
        return np.linalg.norm(p, axis=-1) - size[0]
    if kind == CAPSULE:
        return np.sqrt(x**2 + y**2 + np.maximum(np.abs(z) - size[1], 0.0) ** 2) - size[0]
    q = np.abs(p) - size if kind == BOX else np.stack([np.hypot(x, y) - size[0], np.abs(z) - size[1]], axis=-1)
    return np.linalg.norm(np.maximum(q, 0.0), axis=-1) + np.minimum(q.max(axis=-1), 0.0)


def seen(shapes: Shapes, when: int, k: np.ndarray, p: np.ndarray) -> np.ndarray:
    """World points (n, ..., 3) in the frames of shapes k (n,)."""
    position = shapes.position[when, k].reshape(len(k), *[1] * (p.ndim - 2), 3)
    return np.einsum("nji,n...j->n...i", shapes.rotation[when, k], p - position)


def scene(kind: int, count: int, rng: np.random.Generator, motion: float) -> tuple[Samples, Shapes, np.ndarray]:
    """As many shapes as rods of three samples, rod i near shape i; everything moves up to `motion`."""
    position, rotation = poses(count, rng, motion, motion)
    shapes = colliders(kind, SIZES[kind], position, rotation, THICKNESS)
    local = rng.uniform(-0.4, 0.4, (count, 3, 3))
    flat = count // 4  # lie level but for what makes their lowest point move
    local[:flat, 1:, 2] = local[:flat, :1, 2] + HOLLOW * RADIUS * rng.uniform(-1.5, 1.5, (flat, 2))
    start = to_world(shapes, 0, local)
    now = to_world(shapes, 1, local + rng.uniform(-motion, motion, local.shape))
    edges = (3 * np.arange(count)[:, None] + [0, 1]).ravel()
    return rods(start, now, RADIUS), shapes, np.stack([edges, edges // 3], axis=1)


def shape_of(contacts: Contacts) -> np.ndarray:
    return contacts.edge[:, 0] // 3


def ends_of(samples: Samples, contacts: Contacts, points: np.ndarray) -> np.ndarray:
    """The rod's point of each contact."""
    e = contacts.edge[:, 0]
    s = contacts.at[:, :1]
    return (1.0 - s) * points[e] + s * points[samples.after[e]]


def sunk(samples: Samples, shapes: Shapes, p: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Distances of points (..., 3) at s of edges that are a little hollow, in the shape's frame."""
    return depth(int(shapes.kind[0]), shapes.size[0], p) - HOLLOW * samples.radius[0] * s * (1.0 - s)


def lowest(samples: Samples, shapes: Shapes, pairs: np.ndarray, when: int) -> np.ndarray:
    """The gap of each pair at the start or the end of the substep: edges are sampled densely, then again where they are lowest."""
    e, k = pairs.T
    skin = samples.radius[0] + shapes.thickness[0]
    points = (samples.start, samples.now)[when]
    ends = seen(shapes, when, k, np.stack([points[e], points[samples.after[e]]], axis=1))
    low, high = np.zeros((len(e), 1)), np.ones((len(e), 1))
    for _ in range(11):  # each narrows it down to a twentieth
        s = low + (high - low) * np.linspace(0.0, 1.0, 41)
        values = sunk(samples, shapes, (1.0 - s)[..., None] * ends[:, :1] + s[..., None] * ends[:, 1:], s)
        best = values.argmin(axis=1)[:, None]
        low, high = (np.take_along_axis(s, np.clip(best + side, 0, 40), axis=1) for side in (-1, 1))
    return values.min(axis=1) - skin


@KINDS
def test_gaps_are_the_least_of_dense_sampling(kind: int) -> None:
    """One contact for each pair that is near enough, and none for any other."""
    samples, shapes, pairs = scene(kind, 600, np.random.default_rng(1), 0.0)
    margin = 0.05
    contacts = contacts_of(samples, shapes, pairs, margin)
    gaps = lowest(samples, shapes, pairs, 1)
    near = gaps < margin
    assert np.abs(gaps - margin).min() > 1e-12  # none is too close to call
    assert 0.1 < near.mean() < 0.99
    assert np.array_equal(contacts.edge[:, 0], pairs[near, 0])
    assert np.abs(contacts.gap - gaps[near]).max() < 1e-12
    assert not contacts.crossed.any()
    s = contacts.at[:, 0]
    p = seen(shapes, 1, shape_of(contacts), ends_of(samples, contacts, samples.now)[:, None])[:, 0]
    assert np.abs(contacts.gap + SKIN - sunk(samples, shapes, p, s)).max() < 1e-14
    assert [(s == 0.0).any(), (s == 1.0).any(), ((s > 0.0) & (s < 1.0)).any()] == [True] * 3
    assert np.abs(np.linalg.norm(contacts.normal, axis=1) - 1.0).max() < 1e-14


def still() -> tuple[np.ndarray, np.ndarray]:
    """Poses of one shape."""
    return np.zeros((2, 1, 3)), np.broadcast_to(np.eye(3), (2, 1, 3, 3))


def test_the_lowest_point_moves_along_with_the_tilt() -> None:
    """Of an edge on a plane it goes evenly from one end to the other, and the gap with it: nothing jumps."""
    rise = np.linspace(-3.0, 3.0, 1201) * HOLLOW * RADIUS
    line = np.zeros((len(rise), 2, 3))
    line[:, 1, 0] = 0.1
    line[:, 0, 2], line[:, 1, 2] = RADIUS - 0.5 * rise, RADIUS + 0.5 * rise
    shapes = colliders(PLANE, SIZES[PLANE], *still())
    pairs = np.stack([2 * np.arange(len(rise)), 0 * rise.astype(int)], axis=1)
    contacts = contacts_of(rods(line, line, RADIUS), shapes, pairs, 0.01)
    assert len(contacts.gap) == len(rise)
    s = contacts.at[:, 0]
    assert np.abs(s - np.clip(0.5 - 0.5 * rise / (HOLLOW * RADIUS), 0.0, 1.0)).max() < 1e-8
    assert np.abs(contacts.gap - (rise * (s - 0.5) - HOLLOW * RADIUS * s * (1.0 - s))).max() < 1e-14
    assert s[600] == 0.5
    assert (np.diff(s) <= 0.0).all()
    assert np.diff(s).min() > -0.0026  # in as many steps as it takes
    assert s[[0, -1]].tolist() == [1.0, 0.0]


@KINDS
def test_pairs_have_one_key(kind: int) -> None:
    samples, shapes, pairs = scene(kind, 400, np.random.default_rng(2), 0.0)
    shapes = shapes._replace(feature=shapes.feature + 10)
    contacts = contacts_of(samples, shapes, pairs, 10.0)
    n = len(samples.after)
    e, k = pairs.T
    assert np.array_equal(contacts.key, -1 - ((2 * k + 11) * n + e))  # with such a margin all have a contact
    assert np.array_equal(contacts.edge, np.stack([e, np.full(len(e), -1)], axis=1))
    assert (contacts.at[:, 1] == 0.0).all()
    assert (contacts.arm == [RADIUS, 0.0]).all()
    assert np.allclose(contacts.friction, 0.6)


@KINDS
def test_gap_before_and_slide_are_those_of_the_motion(kind: int) -> None:
    samples, shapes, pairs = scene(kind, 500, np.random.default_rng(3), 1e-4)
    contacts = contacts_of(samples, shapes, pairs, 0.1)
    assert not contacts.crossed.any()
    overlap = contacts.gap < 0.0
    assert 0.1 < overlap.mean() < 0.9
    of_edge = np.full(len(samples.after), np.nan)
    of_edge[pairs[:, 0]] = lowest(samples, shapes, pairs, 0)
    assert np.abs(contacts.before - of_edge[contacts.edge[:, 0]]).max() < 1e-12
    assert np.abs(contacts.before - contacts.gap)[overlap].max() > 5e-5
    # The shape's point under the contact, which its two poses move by `slide`.
    k = shape_of(contacts)
    now = ends_of(samples, contacts, samples.now)
    under = now - contacts.normal * (contacts.gap + RADIUS)[:, None]
    local = seen(shapes, 1, k, under[:, None])[:, 0]
    moved = under - np.einsum("nij,nj->ni", shapes.rotation[0, k], local) - shapes.position[0, k]
    assert np.abs(contacts.slide - moved).max() < 1e-14
    assert np.abs(moved).max() > 5e-5


@KINDS
def test_the_normal_is_the_gradient_of_the_gap(kind: int) -> None:
    """With respect to both ends of the edge: that the lowest point moves along makes no difference."""
    samples, shapes, pairs = scene(kind, 500, np.random.default_rng(4), 0.0)
    contacts = contacts_of(samples, shapes, pairs, 10.0)
    s, which = contacts.at[:, 0], contacts.edge[:, 0] % 3
    # In a box or a cylinder the lowest point of an edge may lie where two faces are equally near: there is no gradient.
    smooth = np.isin(s, [0.0, 1.0]) | (contacts.gap > -RADIUS) | (kind not in (BOX, CYLINDER))
    inner = smooth & (s > 0.0) & (s < 1.0)
    assert smooth.sum() > 500
    assert inner.sum() > 50
    step = 1e-7
    for vertex in range(3):
        weight = np.where(which == vertex, 1.0 - s, np.where(which == vertex - 1, s, 0.0))
        for axis in range(3):
            gaps = []
            for sign in (1.0, -1.0):
                now = samples.now.copy()
                now[vertex::3, axis] += sign * step
                gaps.append(contacts_of(samples._replace(now=now), shapes, pairs, 10.0).gap)
            slope = (gaps[0] - gaps[1]) / (2.0 * step)
            assert np.abs(slope - weight * contacts.normal[:, axis])[smooth].max() < 1e-8


def test_what_finds_no_room_is_counted() -> None:
    samples, shapes, pairs = scene(BOX, 50, np.random.default_rng(5), 0.0)
    everything = contacts_of(samples, shapes, pairs, 0.2)
    count = len(everything.gap)
    margins = np.full(len(samples.after), 0.2)
    small = room(count // 2)
    assert shape_contacts(pairs, len(pairs), samples, shapes, margins, small, 3) == count + 3
    kept = count // 2 - 3
    assert np.array_equal(small.gap[3:], everything.gap[:kept])
    assert np.array_equal(small.key[3:], everything.key[:kept])
    assert np.isnan(small.gap[:3]).all()
    assert shape_contacts(pairs, 0, samples, shapes, margins, small, 3) == 3


THIN = {
    SPHERE: np.array([0.005, 0.0, 0.0]),
    CAPSULE: np.array([0.005, 0.2, 0.0]),
    BOX: np.array([0.2, 0.1, 0.004]),
    CYLINDER: np.array([0.1, 0.003, 0.0]),
}


def throw(
    kind: int, count: int, rng: np.random.Generator, moving: bool
) -> tuple[Samples, Shapes, np.ndarray, np.ndarray]:
    """Rods of three samples that fly half a metre in a substep, with one point of an edge through the middle of a thin shape.

    If `moving`, so do the shapes. Also gives the direction of the flight relative to the shape, at its end, in world space.
    """
    position, rotation = poses(count, rng, 0.3 if moving else 0.0, 1.0 if moving else 0.0)
    shapes = colliders(kind, THIN[kind], position, rotation)
    fly = rng.standard_normal((count, 1, 3))
    fly *= 0.25 / np.linalg.norm(fly, axis=-1, keepdims=True)
    if kind in (BOX, CYLINDER):  # across the plate, so that it comes out at the other side
        fly = 0.25 * np.where(rng.random((count, 1, 1)) < 0.5, -1.0, 1.0) * [0.3, 0.4, 0.866]
    elif kind == CAPSULE:
        fly[..., 2] *= 0.3
    rod = rng.uniform(-0.03, 0.03, (count, 3, 3))
    rod[:, 1] = 0.0
    weight = rng.random((count, 1))
    hits = np.where(rng.random((count, 1)) < 0.5, weight * rod[:, 0], weight * rod[:, 2])
    hits = np.where(rng.random((count, 1)) < 0.2, 0.0, hits)  # or a vertex does
    rod -= hits[:, None]
    start, now = rod - fly, rod + fly
    samples = rods(to_world(shapes, 0, start), to_world(shapes, 1, now), 0.002)
    edges = (3 * np.arange(count)[:, None] + [0, 1]).ravel()
    way = np.einsum("sij,sj->si", shapes.rotation[1], fly[:, 0])
    return samples, shapes, np.stack([edges, edges // 3], axis=1), way


@pytest.mark.parametrize("moving", [False, True], ids=["still", "moving"])
@pytest.mark.parametrize("kind", list(THIN), ids=["sphere", "capsule", "box", "cylinder"])
def test_nothing_thrown_passes_unseen(kind: int, moving: bool) -> None:
    count = 4000
    samples, shapes, pairs, way = throw(kind, count, np.random.default_rng(6), moving)
    contacts = contacts_of(samples, shapes, pairs, 0.005)
    k = shape_of(contacts)
    began = lowest(samples, shapes, pairs, 0)
    thrown = np.flatnonzero(began.reshape(count, 2).min(axis=1) > 0.0)
    assert len(thrown) > 0.9 * count
    crossed = contacts.crossed
    assert np.isin(thrown, k[crossed]).all()
    assert (contacts.gap[~crossed] < 0.005).all()
    of_thrown = crossed & np.isin(k, thrown)
    # The normal is that of the side it came from: the rod is on the wrong side now, and was on the right one before.
    assert (np.einsum("ij,ij->i", contacts.normal, way[k])[of_thrown] < 0.0).all()
    assert (contacts.gap[of_thrown] < 0.0).all()
    of_edge = np.full(len(samples.after), np.nan)
    of_edge[pairs[:, 0]] = began
    assert np.abs(contacts.before - of_edge[contacts.edge[:, 0]]).max() < 1e-12
    # Pushed back along the normal by as much as the gap says, it is where it got in: outside or on the surface.
    under = ends_of(samples, contacts, samples.now) - contacts.normal * (contacts.gap + 0.002)[:, None]
    height = np.einsum("ij,ij->i", contacts.normal, to_world(shapes, 1, np.zeros((count, 1, 3)))[k, 0] - under)
    assert (height[of_thrown] < 1e-9).all()  # the middle of the shape lies below the plane of the contact


@pytest.mark.parametrize("kind", list(THIN), ids=["sphere", "capsule", "box", "cylinder"])
def test_ends_have_contacts_of_their_own_only_where_they_pass(kind: int) -> None:
    samples, shapes, pairs, _ = throw(kind, 4000, np.random.default_rng(7), True)
    contacts = contacts_of(samples, shapes, pairs, 0.005)
    n = len(samples.after)
    feature, which = np.divmod(-1 - contacts.key, n)
    k, e, s = shape_of(contacts), contacts.edge[:, 0], contacts.at[:, 0]
    assert len(np.unique(contacts.key)) == len(contacts.key)
    assert np.array_equal(feature // 2, k)
    at_end = feature % 2 == 0
    assert contacts.crossed[at_end].all()
    assert np.array_equal(which, np.where(at_end & (s == 1.0), samples.after[e], e))
    assert np.isin(s[at_end], [0.0, 1.0]).all()
    assert samples.last[e[at_end & (s == 1.0)]].all()  # others are the beginning of the next edge
    assert {*s[at_end]} == {0.0, 1.0}
    # None is missing that goes straight through the middle.
    y, x = (seen(shapes, when, np.arange(4000), points.reshape(-1, 3, 3)) for when, points in enumerate(samples[:2]))
    outside = depth(kind, THIN[kind], y) > 0.0
    through = outside & (depth(kind, THIN[kind], 0.5 * (x + y)) < -0.9 * THIN[kind][np.nonzero(THIN[kind])].min())
    assert through.sum() > 100
    assert np.isin(np.flatnonzero(through), which[at_end]).all()


def test_a_flat_hit_has_no_contact_that_pushes_on() -> None:
    """A rod parallel to a thin plate, through it as a whole: all contacts are of the side it came from."""
    start = np.array([[[-0.05, 0.0, 0.1], [0.0, 0.0, 0.1], [0.05, 0.0, 0.1]]])
    now = start - [0.0, 0.0, 0.104]  # just behind the other face
    shapes = colliders(BOX, np.array([0.5, 0.5, 0.003]), *still())
    contacts = contacts_of(rods(start, now, RADIUS), shapes, np.array([[0, 0], [1, 0]]), 0.02)
    assert len(contacts.gap) == 5  # three vertices, two edges
    assert contacts.crossed.all()
    assert np.allclose(contacts.normal, [0.0, 0.0, 1.0], atol=1e-12)
    assert np.allclose(contacts.gap, -0.004 - 0.003 - RADIUS, atol=1e-9)


def test_a_dent_is_no_passage_and_neither_is_beginning_inside() -> None:
    shapes = colliders(BOX, np.array([0.5, 0.5, 0.1]), *still())
    pairs = np.array([[0, 0], [1, 0]])
    line = np.array([[[-0.05, 0.0, 0.0], [0.0, 0.0, 0.0], [0.05, 0.0, 0.0]]])
    up = np.array([0.0, 0.0, 1.0])
    nearer = 0.25 * HOLLOW * RADIUS  # the middle of an edge
    dent = contacts_of(rods(line + 0.2 * up, line + 0.05 * up, RADIUS), shapes, pairs, 0.02)
    assert not dent.crossed.any()
    assert np.allclose(dent.normal, [0.0, 0.0, 1.0])
    assert np.allclose(dent.at[:, 0], 0.5)
    assert np.allclose(dent.gap, -0.05 - RADIUS - nearer, atol=1e-12, rtol=0.0)
    assert np.allclose(dent.before, 0.1 - RADIUS - nearer, atol=1e-12, rtol=0.0)
    through = contacts_of(rods(line + 0.2 * up, line + -0.05 * up, RADIUS), shapes, pairs, 0.02)
    assert len(through.gap) == 5
    assert through.crossed.all()
    assert np.allclose(through.normal, [0.0, 0.0, 1.0])
    assert np.allclose(through.gap, -0.15 - RADIUS)
    inside = contacts_of(rods(line + 0.05 * up, line + -0.05 * up, RADIUS), shapes, pairs, 0.02)
    assert len(inside.gap) == 2
    assert not inside.crossed.any()
    assert np.allclose(inside.normal, [0.0, 0.0, -1.0])


def test_a_vertex_that_passes_is_seen_though_the_edge_begins_inside() -> None:
    """An edge with one end in a thick plate from the start; the other end goes around and through the plate's border."""
    shapes = colliders(BOX, np.array([0.5, 0.5, 0.01]), *still())
    start = np.array([[[0.3, 0.0, 0.2], [0.3, 0.0, 0.005]]])
    now = np.array([[[0.3, 0.0, -0.2], [0.3, 0.0, 0.005]]])
    contacts = contacts_of(rods(start, now, RADIUS), shapes, np.array([[0, 0]]), 0.02)
    at_start = contacts.at[:, 0] == 0.0
    assert contacts.crossed[at_start].all()
    assert at_start.sum() == 1
    assert (~at_start).sum() == 1
    assert not contacts.crossed[~at_start].any()
    assert np.allclose(contacts.normal[at_start], [0.0, 0.0, 1.0])
