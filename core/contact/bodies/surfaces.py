"""Surfaces of bodies: colliders for rods that rods push on. What bodies do to each other is in `encounters.py`.

While a step is solved a body's surface is where the iterate has the body. Contacts with it are found as those with any collider;
what a rod feels there the body feels the other way round, and the stiffness of the contact couples the two.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy import int64
from numpy.typing import NDArray

from ...compile.jit import kernel, part
from ...describe.body import Body
from ...describe.mass import hull_mesh
from ...describe.shapes import Cone, Hull, Mesh, Plane, Shape
from ...errors import Array
from ..arrays import Contacts, Samples
from ..colliders import ColliderMotion
from ..convex_shapes import convex_shape
from ..coulomb import APART, Forces
from ..coulomb import _law as law
from ..mesh_topology import PER_EDGE
from .block import BodyBlock
from .encounters import Encounters

Ints = NDArray[int64]
Flags = NDArray[np.bool_]

AROUND_A_CONE = 48  # points
FAR = 0.25  # radii of the thinnest rod: by more, what is put elsewhere passes through it on the way
FREE_OF_CONTACT = 6.0  # radii of a rod, along it from where it is attached to a body: there it may lie on that body


def surface_of(body: Body) -> Shape:
    """What rods collide with, in the body's axes."""
    shape = body.shape
    if isinstance(shape, Cone):
        angle = 2.0 * np.pi * np.arange(AROUND_A_CONE) / AROUND_A_CONE
        ring = np.stack(
            [shape.radius * np.cos(angle), shape.radius * np.sin(angle), 0.0 * angle - 0.5 * shape.length], 1
        )
        points = np.concatenate([ring, [(0.0, 0.0, 0.5 * shape.length)]])
        shape = Hull(points @ np.asarray(shape.rotation).T + np.asarray(shape.position))
    return hull_mesh(shape) if isinstance(shape, Hull) else shape


class BodySurfaces:
    def __init__(
        self, bodies: Sequence[Body], block: BodyBlock, colliders: ColliderMotion, first: int, samples: Samples,
        tied: Sequence[tuple[int, int]],
    ) -> None:  # fmt: skip
        """Colliders from `first` on are those of the bodies that have any. `tied` are pairs of an edge and its body."""
        self._block, self._colliders = block, colliders
        self._count = len(samples.after)
        self._thinnest = float(samples.radius[samples.after >= 0].min(initial=np.inf))
        shapes, meshes = colliders.shapes, colliders.meshes
        of_collider = [k for k, body in enumerate(bodies) if body.collides]
        self._convex: list[tuple[int, int, Array, Array]] = []  # body, row of the shapes, own position and rotation
        self._meshes: list[tuple[int, slice, Array]] = []  # body, rows of vertices, these as given
        body_of_shape = np.full(len(shapes.kind), -1)
        body_of_mesh = np.full(len(meshes.thickness), -1)
        for number, body in enumerate(of_collider):
            shape = surface_of(bodies[body])
            assert not isinstance(shape, Plane), "no body is a plane"
            if isinstance(shape, Mesh):
                mesh, rows = colliders.mesh_of(first + number)
                body_of_mesh[mesh] = body
                self._meshes.append((body, rows, np.asarray(shape.vertices)))
            else:
                row = colliders.shape_of(first + number)
                position, own = convex_shape(shape).pose(shape)
                body_of_shape[row] = body
                self._convex.append((body, row, np.asarray(position), np.asarray(own)))
        # Features in the order of their numbers: two of each shape, then those of triangles, edges and vertices of meshes.
        self._body_of_feature = np.concatenate(
            [
                np.repeat(body_of_shape, 2),
                body_of_mesh[meshes.mesh_of_triangle],
                np.repeat(body_of_mesh[meshes.mesh_of_edge], PER_EDGE),
                np.repeat(body_of_mesh[meshes.mesh_of_vertex], PER_EDGE),
            ]
        ).astype(np.int64)
        self._free = np.array(_near_ties(samples, tied), dtype=np.int64)
        self._last = block.state.x.copy(), block.state.rotation.copy()
        self.encounters: Encounters | None = None  # with colliders and each other, unless others see to that
        self.body: Ints = np.zeros(0, int64)  # of each contact; -1: of another collider, or between rods
        self._lever = np.zeros((0, 3))

    def start(self) -> None:
        """The bodies are where the step begins."""
        self._put(0, *self._block.before(FAR * self._thinnest))
        if self.encounters is not None:
            self.encounters.start()
        self._follow()

    @property
    def features(self) -> int:
        """How many the colliders have, those of bodies included."""
        return len(self._body_of_feature)

    def follow(self) -> bool:
        """The bodies are at an iterate. Returns whether any has moved."""
        state = self._block.state
        moved = not (np.array_equal(state.x, self._last[0]) and np.array_equal(state.rotation, self._last[1]))
        if moved:
            self._follow()
        return moved

    def _follow(self) -> None:
        state = self._block.state
        self._put(1, self._block.positions(), state.rotation)
        self._last[0][:], self._last[1][:] = state.x, state.rotation
        if self.encounters is not None:
            self.encounters.follow()

    def _put(self, when: int, origin: Array, turned: Array) -> None:
        shapes, meshes = self._colliders.shapes, self._colliders.meshes
        for body, row, position, rotation in self._convex:
            shapes.position[when, row] = origin[body] + turned[body] @ position
            shapes.rotation[when, row] = turned[body] @ rotation
        for body, rows, vertices in self._meshes:
            meshes.vertices[when, rows] = vertices @ turned[body].T + origin[body]

    def bodies_of(self, keys: Ints) -> Ints:
        """The bodies of contacts with these keys; -1 if they have none."""
        out = np.full(len(keys), -1, dtype=np.int64)
        others = keys < 0
        feature = (-1 - keys[others]) // self._count
        known = feature < self.features
        found = np.full(len(feature), -1, dtype=np.int64)
        found[known] = self._body_of_feature[feature[known]]
        if self.encounters is not None:
            found = np.where(known, found, self.encounters.partners(feature))
        out[others] = found
        return out

    def find(self, contacts: Contacts, count: int) -> None:
        """Which contacts are those of bodies. A rod does not touch the body it is attached to near where that is."""
        self.body = self.bodies_of(contacts.key[:count])
        if len(self._free):
            touching = self.body * self._count + contacts.edge[:count, 0]
            free = (self.body >= 0) & np.isin(touching, self._free)
            contacts.gap[:count][free] = np.inf
            contacts.crossed[:count][free] = False

    def push(
        self, contacts: Contacts, count: int, samples: Samples, forces: Forces, gradient: Array, matrix: Array
    ) -> None:
        """Adds what rods do to bodies, and bodies to each other: to gradients (B, 6) and matrices (B, 6, 6) of their potentials."""
        self._lever = np.zeros((count, 3))
        push_bodies(
            contacts, count, samples, forces, self.body, self._block.state.x, self._lever, gradient, matrix
        )  # fmt: skip
        if self.encounters is not None:
            self.encounters.press(contacts, count, self.body, forces, gradient, matrix)

    def across(
        self, contacts: Contacts, count: int, after: Ints, forces: Forces, steps: Array, turned: Array, out: Array,
        pushed: Array,
    ) -> None:  # fmt: skip
        """Adds the part of the contacts' stiffness that couples rods and bodies, times steps of sample points (N, 4) and of bodies
        (B, 6), to out (N, 4) and pushed (B, 6)."""
        across_bodies(contacts, count, after, forces, self.body, self._lever, steps, turned, out, pushed)
        if self.encounters is not None:
            self.encounters.across(contacts, count, self.body, forces, turned, pushed)


def _near_ties(samples: Samples, tied: Sequence[tuple[int, int]]) -> list[int]:
    """body * N + edge of edges near where they are tied to the body."""
    n, out = len(samples.after), []
    for edge, body in tied:
        same = np.flatnonzero((samples.rod == samples.rod[edge]) & (samples.after >= 0))
        apart = np.abs(samples.along[same] - samples.along[edge])
        apart = np.minimum(apart, samples.length[same] - apart)
        following = samples.after[edge]
        reach = FREE_OF_CONTACT * samples.radius[edge] + 2.0 * abs(samples.along[following] - samples.along[edge])
        out += [body * n + int(e) for e in same[apart <= reach]]
    return out


@part
def _stiffness(normal: Array, pressing: float, matrix: Array, k: int, i: int, j: int) -> float:
    row, column = max(i, j), min(i, j)
    return float(pressing * normal[k, i] * normal[k, j] + matrix[k, row * (row + 1) // 2 + column])


@kernel
def push_bodies(
    contacts: Contacts, count: int, samples: Samples, forces: Forces, body: Ints, center: Array, lever: Array,
    gradient: Array, matrix: Array,
) -> None:  # fmt: skip
    now, after, normal, upright = samples.now, samples.after, contacts.normal, contacts.upright
    for k in range(count):
        b = body[k]
        if b < 0 or forces.mode[k] == APART or after[contacts.edge[k, 0]] < 0:
            continue
        e, s = contacts.edge[k, 0], contacts.at[k, 0]
        f = after[e]
        known = (forces.known[k, 0], forces.known[k, 1], forces.known[k, 2])
        slip = (forces.slip[k, 0], forces.slip[k, 1], forces.slip[k, 2])
        n = (upright[k, 0], upright[k, 1], upright[k, 2])
        overlap = contacts.gap[k] - forces.target[k]
        _, f_n, k_n, f_t, _, _ = law(
            known, overlap, slip, n, contacts.friction[k] * forces.limit[k], forces.stiffness[k], 0.0
        )
        for c in range(3):
            x = (1.0 - s) * now[e, c] + s * now[f, c]
            lever[k, c] = x - contacts.arm[k, 0] * normal[k, c] - center[b, c]
        fx, fy, fz = f_n * normal[k, 0] + f_t[0], f_n * normal[k, 1] + f_t[1], f_n * normal[k, 2] + f_t[2]
        rx, ry, rz = lever[k, 0], lever[k, 1], lever[k, 2]
        gradient[b, 0] += fx
        gradient[b, 1] += fy
        gradient[b, 2] += fz
        gradient[b, 3] += ry * fz - rz * fy
        gradient[b, 4] += rz * fx - rx * fz
        gradient[b, 5] += rx * fy - ry * fx
        # J = (1, -[r]): the turn w moves the point by w x r.
        for i in range(3):
            for j in range(3):
                h = _stiffness(normal, k_n, forces.matrix, k, i, j)
                matrix[b, i, j] += h
                for m in range(3):
                    turn_j = _turned(rx, ry, rz, m, j)  # how the m-th turn moves the point along j
                    matrix[b, i, 3 + m] += h * turn_j
                    matrix[b, 3 + m, i] += h * turn_j
                    for p in range(3):
                        matrix[b, 3 + p, 3 + m] += _turned(rx, ry, rz, p, i) * h * turn_j


@part
def _turned(x: float, y: float, z: float, axis: int, along: int) -> float:
    """Component of (unit vector of the axis) x (x, y, z)."""
    if axis == 0:
        return 0.0 if along == 0 else -z if along == 1 else y
    if axis == 1:
        return z if along == 0 else 0.0 if along == 1 else -x
    return -y if along == 0 else x if along == 1 else 0.0


@kernel
def across_bodies(
    contacts: Contacts, count: int, after: Ints, forces: Forces, body: Ints, lever: Array, steps: Array, turned: Array,
    out: Array, pushed: Array,
) -> None:  # fmt: skip
    normal, arm, matrix = contacts.normal, forces.arm, forces.matrix
    for k in range(count):
        b = body[k]
        if b < 0 or forces.mode[k] == APART or after[contacts.edge[k, 0]] < 0:
            continue
        e, s, t = contacts.edge[k, 0], contacts.at[k, 0], contacts.rubbing_at[k, 0]
        f = after[e]
        for i in range(3):
            pressed = rubbed = felt = 0.0
            for j in range(3):
                own = turned[b, j]
                for m in range(3):
                    own += _turned(lever[k, 0], lever[k, 1], lever[k, 2], m, j) * turned[b, 3 + m]
                press = forces.pressing[k] * normal[k, i] * normal[k, j]
                rub = _stiffness(normal, 0.0, matrix, k, i, j)
                pressed += press * own
                rubbed += rub * own
                felt += press * ((1.0 - s) * steps[e, j] + s * steps[f, j])
                felt += rub * ((1.0 - t) * steps[e, j] + t * steps[f, j] + arm[k, 0, j] * steps[e, 3])
            out[e, i] -= (1.0 - s) * pressed + (1.0 - t) * rubbed
            out[f, i] -= s * pressed + t * rubbed
            out[e, 3] -= arm[k, 0, i] * rubbed
            pushed[b, i] -= felt
            for m in range(3):
                pushed[b, 3 + m] -= _turned(lever[k, 0], lever[k, 1], lever[k, 2], m, i) * felt
