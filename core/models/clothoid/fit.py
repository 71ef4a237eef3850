"""Fits elements of affine or constant curvature to a drawn polyline, by least squares on its vertices."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...compile.jit import kernel, part
from ...describe.rod import edges_of
from ...errors import Array
from ...maths.geometry.frames import bishop_directors, transport, twist_angles
from ...maths.linalg.dense import factor_dense, solve_dense
from .arrays import Arrays, Scratch, make_scratch
from .kinematics import BEND, unknowns_of
from .layout import RodLayout, make_arrays
from .roots import shift_root
from .samples import place_samples, sample_jacobian

RIDGE = 1e-9  # weight of the initial guess relative to the drawn positions, which regularises the fit
# Factor on the ridge while only the beginning of the rod is fitted. The beginning says little about the rest, and few
# long elements would diverge.
EARLY_FACTOR = 1e4
MOST_ITERATIONS = 40
STRAIGHT = 0.05  # rad: a rod whose largest curvature turns it by less over its length has no direction of bending


class Polyline(NamedTuple):
    """A drawn shape with directors, and arc lengths of the smooth curve through it."""

    points: Array  # (n, 3)
    tangents: Array  # (m, 3)
    directors: Array  # (m, 3)
    arcs: Array  # (m,) m, of the edges


class Fit(NamedTuple):
    """Fitted elements and their error."""

    length: Array  # (N,) m, of the elements
    kappa: Array  # (K, 3) 1/m, twist and curvatures at the nodes
    root: Array  # (3,)
    frame: Array  # (3, 3)
    turns: Array  # (m,) rad, angles from the drawn directors to the curve's
    largest_error: float  # m, at the vertices
    end_error: float  # m, at the last vertex

    @property
    def elements(self) -> int:
        return len(self.length)


def make_polyline(points: Array, director: Array) -> Polyline:
    """`director` (3,) belongs to edge 0 and is parallel transported, or (m, 3) has one per edge."""
    edges = edges_of(points, False)
    chords = np.asarray(np.linalg.norm(edges, axis=1))
    tangents = edges / chords[:, None]
    if director.ndim == 1:
        directors = np.empty_like(tangents)
        bishop_directors(tangents, director, directors)
    else:
        directors = director.copy()
    return Polyline(points, tangents, directors, chords * _arc_over_chord(tangents))


def _arc_over_chord(tangents: Array) -> Array:
    """Arc over chord: (a / 2) / sin(a / 2) for an edge of a circle that turns by a."""
    cosines = np.clip(np.einsum("ij,ij->i", tangents[:-1], tangents[1:]), -1.0, 1.0)
    angles = np.arccos(cosines)
    own = np.zeros(len(tangents))
    if len(angles):
        own[0], own[-1] = angles[0], angles[-1]
        own[1:-1] = 0.5 * (angles[:-1] + angles[1:])
    half = np.minimum(0.5 * own, 1.0)  # a corner is not a circle
    return np.asarray(np.where(half > 1e-6, half / np.sin(np.maximum(half, 1e-6)), 1.0))


def fit(shape: Polyline, arcs: Array, elements: int, degree: int, *, free_frame: bool) -> Fit:
    """The curve of `elements` equal elements with the total length of `arcs` that is nearest to a drawn shape. With
    `free_frame` the frame may rotate about the axis as it likes: with isotropic bending stiffness it can follow the curvature."""
    length = float(arcs.sum())
    n = elements + degree
    s = np.concatenate([[0.0], np.cumsum(arcs)])
    arrays = make_arrays([RodLayout.plain(elements, degree, length, s / length)])
    guess, frame = _guess(shape, s, n, degree, free_frame)
    arrays.state.kappa[:] = guess
    arrays.state.natural[:] = guess
    arrays.state.root[0] = shape.points[0]
    arrays.state.frame[0] = frame
    arrays.geometry.edge0[:-1] = shape.tangents
    arrays.geometry.edge_director0[:-1] = shape.directors
    scratch = make_scratch(len(s) + 8, BEND + 3 * n)
    fit_shape(arrays, scratch, np.array(shape.points, order="C"), 0.0 if free_frame else 0.1 * length, EARLY_FACTOR)
    away = np.linalg.norm(arrays.state.x[:, :3] - shape.points, axis=1)
    turns = np.unwrap(arrays.state.x[:-1, 3])
    return Fit(
        arrays.state.length.copy(), arrays.state.kappa.copy(), arrays.state.root[0].copy(), arrays.state.frame[0].copy(),
        turns, float(away.max()), float(away[-1]),
    )  # fmt: skip


def _guess(shape: Polyline, s: Array, n: int, degree: int, free_frame: bool) -> tuple[Array, Array]:
    """Curvatures at the nodes from the angles between edges, and the root's frame."""
    t, d = shape.tangents, shape.directors
    m = len(t)
    first = np.stack([t[0], d[0], np.cross(t[0], d[0])], axis=1)
    if m < 2:
        return np.zeros((n, 3)), first
    twist = np.empty(m)
    twist_angles(t, d, twist)
    inner = 0.5 * (np.diff(s)[:-1] + np.diff(s)[1:])
    chi = 1.0 + np.einsum("ij,ij->i", t[:-1], t[1:])
    binormal = 2.0 * np.cross(t[:-1], t[1:]) / chi[:, None]
    size = np.linalg.norm(binormal, axis=1)
    binormal *= (2.0 * np.arctan(0.5 * size) / np.maximum(size, 1e-300) / inner)[:, None]  # per length
    mean = np.array([transport(tuple(d[i]), tuple(t[i]), tuple(_unit(t[i] + t[i + 1]))) for i in range(m - 1)])
    middle = np.array([_unit(t[i] + t[i + 1]) for i in range(m - 1)])
    turned = 0.5 * twist[1:]
    side = np.cross(middle, mean)
    one = np.cos(turned)[:, None] * mean + np.sin(turned)[:, None] * side
    two = np.cross(middle, one)
    k0, k1, k2 = twist[1:] / inner, np.einsum("ij,ij->i", binormal, one), np.einsum("ij,ij->i", binormal, two)
    at = s[1:-1]
    if free_frame:
        # Rotate the frame so that the curve bends towards the first director: curvature 1 vanishes, and torsion becomes
        # twist. The frame of a straight rod would follow round-off, and its twist would make affine curvatures a bad
        # approximation of any bending.
        bent = np.hypot(k1, k2)
        known = bent > 0.05 * max(float(bent.max()), 1e-300)
        if known.sum() >= 2 and bent.max() * s[-1] > STRAIGHT:
            angle = np.interp(at, at[known], np.unwrap(np.arctan2(-k1[known], k2[known])))
            k0 = k0 + np.gradient(angle, at)
            k1, k2 = np.zeros_like(k1), bent
            start = angle[0] - 0.5 * np.gradient(angle, at)[0] * (2.0 * at[0]) if len(at) > 1 else angle[0]
            c, sine = math.cos(start), math.sin(start)
            one, two = first[:, 1].copy(), first[:, 2].copy()
            first[:, 1], first[:, 2] = c * one + sine * two, c * two - sine * one
    # The root's frame belongs to vertex 0, half an edge before the middle of the first edge.
    values = np.stack([k0, k1, k2], axis=1)
    ends = np.concatenate([[0.0], at, [s[-1]]])
    values = np.concatenate([values[:1], values, values[-1:]])
    where = np.linspace(0.0, s[-1], n) if degree == 1 else (np.arange(n) + 0.5) * s[-1] / n
    basis_at = np.linspace(0.0, s[-1], 8 * n + 1)
    target = np.stack([np.interp(basis_at, ends, values[:, c]) for c in range(3)], axis=1)
    if degree == 1 and n > 1:
        hats = np.maximum(1.0 - np.abs(basis_at[:, None] - where) / (where[1] - where[0]), 0.0)
        kappa = np.linalg.lstsq(hats, target, rcond=None)[0]
    else:
        which = np.minimum((basis_at / s[-1] * n).astype(int), n - 1)
        kappa = np.stack([target[which == k].mean(axis=0) for k in range(n)])
    half = 0.5 * (s[1] - s[0])
    k = values[0]
    back = _rotation(-half * k)
    return kappa, first @ back


def _unit(v: Array) -> Array:
    return np.asarray(v / max(float(np.linalg.norm(v)), 1e-300))


def _rotation(v: Array) -> Array:
    angle = float(np.linalg.norm(v))
    if angle < 1e-12:
        return np.eye(3)
    x, y, z = v / angle
    k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + math.sin(angle) * k + (1.0 - math.cos(angle)) * (k @ k))


@kernel
def fit_shape(b: Arrays, scratch: Scratch, target: Array, turning: float, early: float) -> None:
    """Levenberg-Marquardt on the positions of rod 0's sample points, and with weight `turning` (m) on the turns of their edges.
    It fits successively longer parts of the rod, so that no coil is missed. The root position is fixed. The initial guess is in
    state.natural; its ridge weight is multiplied by `early` until the whole rod is fitted."""
    count = len(target)
    part = min(8, count)
    while True:
        _minimise(b, scratch, target, turning, part, RIDGE if part == count else early * RIDGE)
        if part == count:
            break
        part = min(count, part + max(part // 2, 1))
    place_samples(b, scratch, 0)


@part
def _minimise(b: Arrays, scratch: Scratch, target: Array, turning: float, count: int, weight: float) -> None:
    n = unknowns_of(b.nodes, 0)
    kappa, guess, root, frame = b.state.kappa, b.state.natural, b.state.root, b.state.frame
    matrix, second, step, rows = scratch.matrix, scratch.second, scratch.step, scratch.rows
    total = 0.0
    for e in range(len(b.state.length)):
        total += b.state.length[e]
    ridge = weight * total**4 * count
    damping = 1e-6
    cost = _cost(b, scratch, target, turning, count, ridge)
    for _ in range(MOST_ITERATIONS):
        sample_jacobian(b, scratch, 0, rows, 0)
        for i in range(n):
            scratch.gradient[i] = 0.0
            for j in range(i + 1):
                matrix[i, j] = 0.0
        for k in range(count):
            for c in range(4 if k + 1 < count else 3):
                share = turning * turning if c == 3 else 1.0
                if share == 0.0:
                    continue
                away = b.state.x[k, c] - (target[k, c] if c < 3 else 0.0)
                at = (4 * k + c) * n
                for i in range(n):
                    f = share * rows[at + i]
                    scratch.gradient[i] += f * away
                    for j in range(i + 1):
                        matrix[i, j] += f * rows[at + j]
        for i in range(BEND, n):
            k, c = (i - BEND) // 3, (i - BEND) % 3
            scratch.gradient[i] += ridge * (kappa[k, c] - guess[k, c])
            matrix[i, i] += ridge
        for i in range(3):  # the root position is fixed
            scratch.gradient[i] = 0.0
            for k in range(n):
                matrix[max(i, k), min(i, k)] = 1.0 if i == k else 0.0
        good = False
        for _ in range(12):
            for i in range(n):
                step[i] = -scratch.gradient[i]
                for j in range(i + 1):
                    second[i, j] = matrix[i, j]
                second[i, i] += damping * matrix[i, i] + 1e-14 * total * total
            for i in range(len(kappa)):
                for c in range(3):
                    scratch.kappa[i, c] = kappa[i, c]
            for i in range(3):
                for j in range(3):
                    scratch.frame[0, i, j] = frame[0, i, j]
            if factor_dense(second, n):
                solve_dense(second, n, step)
                for i in range(len(kappa)):
                    for c in range(3):
                        kappa[i, c] += step[BEND + 3 * i + c]
                shift_root(root, frame, 0, step, 0, 1.0)
                now = _cost(b, scratch, target, turning, count, ridge)
                if now < cost:
                    good = cost - now > 1e-10 * cost
                    cost = now
                    damping = max(0.1 * damping, 1e-12)
                    break
            for i in range(len(kappa)):
                for c in range(3):
                    kappa[i, c] = scratch.kappa[i, c]
            for i in range(3):
                for j in range(3):
                    frame[0, i, j] = scratch.frame[0, i, j]
            damping = max(10.0 * damping, 1e-9)
        if not good:
            return


@part
def _cost(b: Arrays, scratch: Scratch, target: Array, turning: float, count: int, ridge: float) -> float:
    place_samples(b, scratch, 0)
    x, kappa, guess, cost = b.state.x, b.state.kappa, b.state.natural, 0.0
    for k in range(count):
        for c in range(3):
            cost += (x[k, c] - target[k, c]) ** 2
        if k + 1 < count:
            cost += (turning * x[k, 3]) ** 2
    for i in range(len(kappa)):
        for c in range(3):
            cost += ridge * (kappa[i, c] - guess[i, c]) ** 2
    return cost if math.isfinite(cost) else math.inf
