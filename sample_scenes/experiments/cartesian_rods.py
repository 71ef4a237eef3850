"""The rod of Zhao et al. 2022 in maximal (Cartesian) coordinates: vertex positions and segment frames are independent unknowns,
coupled by penalties or by Lagrange multipliers. A small, slow reference that shares no code with the simulator."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import bmat, coo_matrix, csc_matrix, identity
from scipy.sparse.linalg import spsolve

Array = np.ndarray


def cross_matrices(v: Array) -> Array:
    """Cross-product matrices [v]x (n, 3, 3) of vectors (n, 3)."""
    z = np.zeros(len(v))
    return np.stack([z, -v[:, 2], v[:, 1], v[:, 2], z, -v[:, 0], -v[:, 1], v[:, 0], z], axis=1).reshape(-1, 3, 3)


def rotations(w: Array) -> Array:
    """Rotation matrices (n, 3, 3) of rotation vectors (n, 3)."""
    angle = np.linalg.norm(w, axis=1)[:, None, None]
    k = cross_matrices(w)
    first = np.where(angle > 1e-8, np.sin(angle) / np.maximum(angle, 1e-300), 1.0)
    half = np.where(angle > 1e-8, np.sin(0.5 * angle) / np.maximum(angle, 1e-300), 0.5)
    second = 2.0 * half**2
    return np.eye(3) + first * k + second * (k @ k)


def quaternions(turn: Array) -> tuple[Array, Array]:
    """Scalar and vector parts of the quaternions of rotations (n, 3, 3) by less than pi."""
    w = 0.5 * np.sqrt(np.maximum(1.0 + np.trace(turn, axis1=1, axis2=2), 1e-12))
    v = np.stack([turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0], turn[:, 1, 0] - turn[:, 0, 1]], axis=1)
    return w, v / (4.0 * w[:, None])


def blocks(entries: list[tuple[Array, Array, Array]], size: int) -> csc_matrix:
    """Sparse matrix assembled from 3 x 3 blocks, each entry given as (block rows, block columns, blocks)."""
    rows, columns, values = [], [], []
    for i, j, block in entries:
        rows.append(np.repeat(3 * i[:, None] + np.arange(3), 3, axis=1).ravel())
        columns.append(np.tile(3 * j[:, None] + np.arange(3), (1, 3)).ravel())
        values.append(block.reshape(len(i), 9).ravel())
    return coo_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), (size, size)).tocsc()


def _strain_gradients(w: Array, v: Array) -> Array:
    """(n, 3, 3) change of bending angles and twist with a small rotation in the frame before, by the chain rule through the
    quaternion."""
    x, y, z = v.T
    sine = np.maximum(np.hypot(x, y), 1e-9)
    cosine = np.hypot(w, z)
    f = 2.0 * np.arctan2(sine, cosine) / sine
    slope = np.where(sine > 1e-3, (2.0 / cosine - f) / sine**2, 2.0 / 3.0)
    dx, dy = 0.5 * np.stack([w, z, -y], axis=1), 0.5 * np.stack([-z, w, x], axis=1)
    dz, dw = 0.5 * np.stack([y, -x, w], axis=1), -0.5 * np.stack([x, y, z], axis=1)
    bent = slope[:, None] * (x[:, None] * dx + y[:, None] * dy)
    twist = 2.0 * (w[:, None] * dz - z[:, None] * dw) / (cosine**2)[:, None]
    return np.stack([f[:, None] * dx + x[:, None] * bent, f[:, None] * dy + y[:, None] * bent, twist], axis=1)


@dataclass
class CartesianRod:
    """A rod clamped at its first vertex. `weight` is the penalty weight; None selects Lagrange multipliers."""

    points: Array  # (n + 1, 3), the stress-free shape
    frames: Array  # (n, 3, 3), columns d1, d2, d3
    clamp: Array  # (3, 3) frame clamped at the first vertex
    bend: float
    twist: float
    mass_per_length: float
    inertia: float  # of the section about a transverse director, per length
    gravity: Array
    weight: float | None = None
    most_iterations: int = 5
    iterations: int = 0
    v: Array = field(init=False)
    spin: Array = field(init=False)

    def __post_init__(self) -> None:
        self.p, self.r = self.points.copy(), self.frames.copy()
        self.lengths = np.linalg.norm(np.diff(self.p, axis=0), axis=1)
        self.n = len(self.lengths)
        half = 0.5 * self.mass_per_length * self.lengths
        self.mass = np.append(half, 0.0) + np.append(0.0, half)
        self.v, self.spin = np.zeros_like(self.p), np.zeros((self.n, 3))
        between = np.append(0.5 * self.lengths[0], 0.5 * (self.lengths[:-1] + self.lengths[1:]))
        self.stiffness = (
            np.array([self.bend, self.bend, self.twist]) / between[:, None]
        )  # (n, 3), the first couples to the clamp
        self.rest = self.strains()[2]
        self.force = np.zeros(3 * self.n)  # Lagrange multipliers

    # Energies ---------------------------------------------------------------------------------------------------------

    def strains(self) -> tuple[Array, Array, Array, Array]:
        before = np.concatenate([self.clamp[None], self.r[:-1]])
        w, v = quaternions(np.swapaxes(before, 1, 2) @ self.r)
        sine = np.maximum(np.hypot(v[:, 0], v[:, 1]), 1e-12)
        f = 2.0 * np.arctan2(sine, np.hypot(w, v[:, 2])) / sine
        return w, v, np.stack([f * v[:, 0], f * v[:, 1], 2.0 * np.arctan2(v[:, 2], w)], axis=1), before

    def violations(self) -> tuple[float, float]:
        """Constraint violations as defined in the paper: relative change of the total length, and misalignment of frames and
        edges."""
        edges = np.diff(self.p, axis=0)
        size = np.linalg.norm(edges, axis=1)
        return float(size.sum() / self.lengths.sum() - 1.0), float(
            np.linalg.norm(edges / size[:, None] - self.r[:, :, 2], axis=1).sum()
        )

    def kinetic(self) -> float:
        turning = np.einsum("nij,ni->nj", self.r, self.spin)  # in body coordinates
        sections = self.inertia * self.lengths[:, None] * np.array([1.0, 1.0, 2.0])
        return float(0.5 * (self.mass[:, None] * self.v**2).sum() + 0.5 * (sections * turning**2).sum())

    def system(self, h: float) -> tuple[float, Array, csc_matrix]:
        """Energy, gradient and Gauss-Newton Hessian in the unknowns (vertices 1 ... n, rotations), without constraints."""
        n = self.n
        deviation = self.p - self.start - h * self.v0
        pull = self.mass[:, None] * (deviation / h**2 - self.gravity)
        energy = float((deviation * self.mass[:, None] * (0.5 * deviation / h**2 - self.gravity)).sum())
        w, v, strain, before = self.strains()
        stress = self.stiffness * (strain - self.rest)
        energy += float(0.5 * (stress * (strain - self.rest)).sum())
        m = _strain_gradients(w, v)
        moment = np.einsum("nij,nkj,nk->ni", before, m, stress)
        k = before @ np.swapaxes(m, 1, 2) @ (self.stiffness[:, :, None] * m) @ np.swapaxes(before, 1, 2)
        turning = moment.copy()
        turning[:-1] -= moment[1:]
        own = k.copy()
        own[:-1] += k[1:]
        heavy = self.inertia * self.lengths / h**2
        for c in range(2):
            d, aim = self.r[:, :, c], self.aim[:, :, c]
            energy += float((heavy * (1.0 - np.einsum("ni,ni->n", d, aim))).sum())
            turning += heavy[:, None] * np.cross(aim, d)
            own += heavy[:, None, None] * (np.eye(3) - d[:, :, None] * d[:, None, :])
        gradient = np.concatenate([pull[1:].ravel(), turning.ravel()])
        vertices, edges = np.arange(n), np.arange(n, 2 * n)
        entries = [
            (vertices, vertices, (self.mass[1:] / h**2)[:, None, None] * np.eye(3)),
            (edges, edges, own),
            (edges[1:], edges[:-1], -k[1:]),
            (edges[:-1], edges[1:], -np.swapaxes(k[1:], 1, 2)),
        ]
        return energy, gradient, blocks(entries, 6 * n)

    # Constraints ------------------------------------------------------------------------------------------------------

    def penalties(self) -> tuple[float, Array, csc_matrix]:
        """Energy, gradient and Hessian of weight / 2 (|e| - l)^2 + weight / 2 |e / |e| - d3|^2."""
        n, weight = self.n, self.weight
        assert weight is not None
        edges = np.diff(self.p, axis=0)
        size = np.linalg.norm(edges, axis=1)
        t, d = edges / size[:, None], self.r[:, :, 2]
        longer, aside = size - self.lengths, t - d
        energy = 0.5 * weight * float(longer @ longer + (aside * aside).sum())
        across = (np.eye(3) - t[:, :, None] * t[:, None, :]) / size[:, None, None]
        along = t[:, :, None] * t[:, None, :]
        turn = cross_matrices(d)  # derivative of `aside` with respect to the rotation
        edge_gradient = weight * (longer[:, None] * t + np.einsum("nij,nj->ni", across, aside))
        turn_gradient = weight * np.einsum("nji,nj->ni", turn, aside)
        gradient = np.zeros((2 * n, 3))
        gradient[:n] += edge_gradient
        gradient[: n - 1] -= edge_gradient[1:]
        gradient[n:] = turn_gradient
        ee, et, tt = weight * (along + across @ across), weight * across @ turn, weight * np.swapaxes(turn, 1, 2) @ turn
        after, before, edge = np.arange(n), np.arange(n - 1), np.arange(n, 2 * n)
        entries = [
            (after, after, ee),
            (before, before, ee[1:]),
            (after[1:], before, -ee[1:]),
            (before, after[1:], -ee[1:]),
            (edge, edge, tt),
            (after, edge, et),
            (edge, after, np.swapaxes(et, 1, 2)),
            (before, edge[1:], -et[1:]),
            (edge[1:], before, -np.swapaxes(et[1:], 1, 2)),
        ]
        return energy, gradient.ravel(), blocks(entries, 6 * n)

    def constraints(self) -> tuple[Array, csc_matrix]:
        """Residual and Jacobian of p' - p - l d3 = 0, which fixes length and alignment together."""
        n, d = self.n, self.r[:, :, 2]
        value = np.diff(self.p, axis=0) - self.lengths[:, None] * d
        unit = np.broadcast_to(np.eye(3), (n, 3, 3))
        number = np.arange(n)
        entries = [(number, number, unit), (number[1:], number[:-1], -unit[1:])]
        turning = [(number, n + number, self.lengths[:, None, None] * cross_matrices(d))]
        matrix = blocks(entries, 6 * n)[: 3 * n] + blocks(turning, 6 * n)[: 3 * n]
        return value.ravel(), matrix

    # Steps ------------------------------------------------------------------------------------------------------------

    def step(self, h: float, tolerance: float = 1e-5) -> None:
        """One backward Euler step of h seconds."""
        self.start, self.v0, r0 = self.p.copy(), self.v.copy(), self.r.copy()
        self.aim = rotations(h * self.spin) @ r0
        self.p[1:] += h * self.v[1:]
        self.r = self.aim.copy()
        self.iterations = 0
        for _ in range(self.most_iterations):
            if not self.iterate(h, tolerance):
                break
            self.iterations += 1
        self.v = (self.p - self.start) / h
        w, v = quaternions(self.r @ np.swapaxes(r0, 1, 2))
        sine = np.linalg.norm(v, axis=1)
        factor = np.where(sine > 1e-12, 2.0 * np.arctan2(sine, w) / np.maximum(sine, 1e-300), 2.0)
        self.spin = factor[:, None] * v / h

    def iterate(self, h: float, tolerance: float) -> bool:
        """One Newton iteration; returns False if the residual was below the tolerance already."""
        energy, gradient, hessian = self.system(h)
        if self.weight is None:
            value, matrix = self.constraints()
            residual = np.concatenate([gradient + matrix.T @ self.force, value])
            if np.linalg.norm(residual) < tolerance:
                return False
            kkt = bmat([[hessian, matrix.T], [matrix, None]], format="csc")
            step = spsolve(kkt, -residual)
            self.force += step[6 * self.n :]
            self.move(step[: 6 * self.n], 1.0)
            return True
        penalty, penalty_gradient, penalty_hessian = self.penalties()
        gradient = gradient + penalty_gradient
        if np.linalg.norm(gradient) < tolerance:
            return False
        step = spsolve(hessian + penalty_hessian + 1e-12 * identity(6 * self.n), -gradient)
        p, r = self.p.copy(), self.r.copy()
        size = 1.0
        while size > 1e-3:
            self.p, self.r = p.copy(), r.copy()
            self.move(step, size)
            if self.system(h)[0] + self.penalties()[0] <= energy + penalty + 1e-4 * size * float(gradient @ step):
                break
            size *= 0.5
        return True

    def move(self, step: Array, size: float) -> None:
        self.p[1:] += size * step[: 3 * self.n].reshape(-1, 3)
        self.r = rotations(size * step[3 * self.n :].reshape(-1, 3)) @ self.r
