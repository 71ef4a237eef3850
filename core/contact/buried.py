"""Vertices of rods that are deeper inside a solid mesh than contacts with its triangles look: how they get out.

Nothing gets that deep on its way, but a simulation may begin so, and colliders may be put anywhere at once. So it is asked which
vertices are inside only where things did not come from where they were; from then on only those are looked at again, until
they are out. Each is pushed towards the point of the surface that was the nearest at the start of the substep.

Where a rod goes through the surface, vertices beside that place are near the surface, and pushed out along the rod. Of a rod that
is stuck right through a solid that would only stretch it, until it jumps out. So these have no skin and don't rub.
"""

from __future__ import annotations

import math

import numpy as np
from numpy import int64

from ..compile.jit import kernel, part
from ..errors import Array
from ..maths.geometry.closest import closest_on_triangle, minus
from ..maths.geometry.frames import Vector, cross, dot
from .arrays import DEEP, Contacts, Flags, Ints, Meshes, Samples
from .mesh_contacts import weighted
from .rod_contacts import point, unit_or

ALMOST = 1.0 - 1e-9
GROUP = 16  # triangles to a box
CELLS = 1024  # along each axis, of the curve that fills space along which triangles are grouped
SLANT = (0.0131071, 0.0271828)  # x and y per z of the rays that are counted: no wall of a building is that steep


class Buried:
    """The vertices that are inside solid meshes, and their contacts."""

    def __init__(self, samples: Samples, meshes: Meshes, margin: Array) -> None:
        self._samples, self._meshes, self._margin = samples, meshes, margin
        self._solids = np.flatnonzero(meshes.solid)
        n, vertices = len(samples.after), meshes.vertices.shape[1]
        self._edge = np.arange(n)  # of each vertex, one that ends or begins there
        self._edge[samples.after[samples.last]] = np.flatnonzero(samples.last)
        # Where the last substep began, and where it came to as far as is known.
        self._start, self._now = np.full((2, n, 3), np.nan)
        self._mesh_start, self._mesh_now = np.full((2, vertices, 3), np.nan)
        self._enters = np.zeros(n, np.bool_)  # vertices that may have got inside on this way
        self._order, self._first_group = _in_groups(meshes)
        self._boxes = np.zeros((2, self._first_group[-1], 3))
        self._deep_in, self._stuck_in = np.full((2, n), -1)  # the mesh in which a vertex is
        self.vertices: Ints = np.zeros((0, 2), int64)  # (B, 2) vertex and mesh
        self._deep = self.vertices  # those of them that are not near the surface, and where that is the nearest:
        self._triangles: Ints = np.zeros(0, int64)
        self._weights, self._normals, self._depths = np.zeros((0, 2)), np.zeros((0, 3)), np.zeros(0)

    def follow(self) -> None:
        """To be called at every iterate, when samples.start is where the substep began."""
        start, mesh_start = self._samples.start, self._meshes.vertices[0]
        if not len(self._solids):
            return
        if np.array_equal(start, self._start) and np.array_equal(mesh_start, self._mesh_start):
            return
        went_on = np.array_equal(start, self._now) and np.array_equal(mesh_start, self._mesh_now)
        if not went_on:
            self.vertices = np.concatenate([self._among(mesh, self._in_box(mesh)) for mesh in self._solids])
        elif len(self.vertices) or self._enters.any():
            (of, meshes), entering = self.vertices.T, np.flatnonzero(self._enters)
            again = [self._among(mesh, np.union1d(of[meshes == mesh], entering)) for mesh in self._solids]
            self.vertices = np.concatenate(again)
        self._start[:], self._mesh_start[:] = start, mesh_start
        if len(self.vertices) or len(self._deep):
            self._find_nearest()
            self._find_stuck()

    def add_contacts(self, contacts: Contacts, first: int, written: int, which: Flags) -> int:
        """Those of these rods, to the rows from `written` on; returns the new number of rows. Beyond the capacity they are only
        counted. Contacts of vertices with triangles begin at row `first`."""
        self._remember(contacts, first, min(written, len(contacts.gap)), which)
        if not len(self.vertices):
            return written
        adjust(contacts, first, min(written, len(contacts.gap)), self._meshes, self._deep_in, self._stuck_in)
        nearest = (self._triangles, self._weights, self._normals, self._depths)
        return buried_contacts(
            self._deep, self._edge, which, *nearest, self._samples, self._meshes, self._margin, contacts, written
        )

    def _remember(self, contacts: Contacts, first: int, end: int, which: Flags) -> None:
        """Where the iterate is, and who passes into something on the way there or gives way to what presses it in."""
        if len(self._solids):
            self._now[:], self._mesh_now[:] = self._samples.now, self._meshes.vertices[1]
            inside = contacts.gap[first:end] < -ALMOST * contacts.arm[first:end, 0]
            self._enters &= ~which[self._samples.rod]
            self._enters[(-1 - contacts.key[first:end][inside | contacts.crossed[first:end]]) % len(self._edge)] = True

    def _in_box(self, mesh: int) -> Ints:
        points = self._meshes.vertices[0, self._meshes.mesh_of_vertex == mesh]
        start = self._samples.start
        return np.flatnonzero(np.all((start >= points.min(axis=0)) & (start <= points.max(axis=0)), axis=1))

    def _among(self, mesh: int, candidates: Ints) -> Ints:
        """Rows for those of these vertices that are inside."""
        triangles = self._meshes.triangles[self._meshes.mesh_of_triangle == mesh]
        inside = candidates[are_inside(self._samples.start[candidates], self._meshes.vertices[0], triangles)]
        return np.stack([inside, np.full(len(inside), mesh)], axis=1)

    def _find_nearest(self) -> None:
        of, mesh = self.vertices.T
        n = len(of)
        self._triangles, self._depths = np.zeros(n, int64), np.zeros(n)
        self._weights, self._normals = np.zeros((n, 2)), np.zeros((n, 3))
        nearest = (self._triangles, self._weights, self._normals, self._depths)
        nearest_points(
            self._samples.start, self.vertices, self._meshes.vertices[0], self._meshes.triangles, self._order,
            self._first_group, self._boxes, *nearest,
        )  # fmt: skip
        edge = self._edge[of]
        near = self._samples.radius[edge] + self._meshes.thickness[mesh] + self._margin[edge]
        deep = self._depths > near
        self._deep, self._triangles, self._weights = self.vertices[deep], self._triangles[deep], self._weights[deep]
        self._normals, self._depths = self._normals[deep], self._depths[deep]
        self._deep_in[:] = -1
        self._deep_in[self._deep[:, 0]] = self._deep[:, 1]

    def _find_stuck(self) -> None:
        """Where one end of an edge is inside and the other is not."""
        after = self._samples.after
        edges = np.flatnonzero(after >= 0)
        self._stuck_in[:] = -1
        for mesh in np.unique(self.vertices[:, 1]):
            inside = np.zeros(len(after), np.bool_)
            inside[self.vertices[self.vertices[:, 1] == mesh, 0]] = True
            through = edges[inside[edges] != inside[after[edges]]]
            self._stuck_in[through] = self._stuck_in[after[through]] = mesh


def are_inside(points: Array, vertices: Array, triangles: Ints) -> Flags:
    """Which points a closed surface winds around."""
    inside = np.zeros(len(points), np.bool_)
    if len(points):
        slanted = _slanted(points)
        order = np.argsort(slanted[:, 1], kind="stable")
        turns = np.zeros(len(points), int64)
        count_turns(slanted[order], _slanted(vertices), triangles, turns)
        inside[order] = turns > 0
    return inside


def _slanted(points: Array) -> Array:
    x, y, z = points.T
    return np.stack([x + SLANT[0] * z, y + SLANT[1] * z, z], axis=1)


@kernel
def count_turns(points: Array, vertices: Array, triangles: Ints, turns: Ints) -> None:
    """How often a surface winds around each point: what a ray along z leaves, less what it enters. Points are sorted by y.

    A triangle counts where its outline, seen along z, winds around the point. Both triangles at an edge judge on which side of it
    the point is in the same way, to the last bit, so that no ray slips through between them."""
    for f in range(len(triangles)):
        a, b, c = point(vertices, triangles[f, 0]), point(vertices, triangles[f, 1]), point(vertices, triangles[f, 2])
        lowest, highest = min(a[1], b[1], c[1]), max(a[1], b[1], c[1])
        right, bottom, top = max(a[0], b[0], c[0]), min(a[2], b[2], c[2]), max(a[2], b[2], c[2])
        n = cross(minus(b, a), minus(c, a))
        first, end = 0, len(points)
        while first < end:
            middle = (first + end) // 2
            if points[middle, 1] < lowest:
                first = middle + 1
            else:
                end = middle
        for k in range(first, len(points)):
            x = point(points, k)
            if x[1] > highest:
                break
            if x[0] > right or x[2] >= top:
                continue
            turn = _passes_right(x, a, b) + _passes_right(x, b, c) + _passes_right(x, c, a)
            if turn != 0 and (x[2] < bottom or dot(minus(a, x), n) * turn > 0.0):
                turns[k] += turn


@part
def _passes_right(x: Vector, a: Vector, b: Vector) -> int:
    """Seen along z: 1 if the way from a to b goes up past x on its right, -1 if down, else 0."""
    if (a[1] <= x[1]) == (b[1] <= x[1]):
        return 0
    low, high = (a, b) if a[1] <= x[1] else (b, a)
    if not (x[0] - low[0]) * (high[1] - low[1]) <= (x[1] - low[1]) * (high[0] - low[0]):
        return 0
    return 1 if a[1] <= x[1] else -1


def _in_groups(meshes: Meshes) -> tuple[Ints, Ints]:
    """An order of all triangles, mesh by mesh, in which neighbours are near each other; -1 fills groups up. And which group is
    the first of each mesh, and their number."""
    orders, first = [np.zeros(0, int64)], [0]
    for mesh in range(len(meshes.solid)):
        of_mesh = np.flatnonzero(meshes.mesh_of_triangle == mesh)
        middle = meshes.vertices[0][meshes.triangles[of_mesh]].mean(axis=1)
        low, size = middle.min(axis=0), max(float(np.ptp(middle, axis=0).max()), 1e-300)
        cell = ((middle - low) / size * (CELLS - 1)).astype(int64)
        key = np.zeros(len(cell), int64)
        for bit in range(CELLS.bit_length() - 1):
            for axis in range(3):
                key |= (cell[:, axis] >> bit & 1) << 3 * bit + axis
        order = np.full(-(-len(of_mesh) // GROUP) * GROUP, -1)
        order[: len(of_mesh)] = of_mesh[np.argsort(key, kind="stable")]
        orders.append(order)
        first.append(first[-1] + len(order) // GROUP)
    return np.concatenate(orders), np.array(first, int64)


@kernel
def nearest_points(
    start: Array,
    buried: Ints,
    vertices: Array,
    triangles: Ints,
    order: Ints,
    first_group: Ints,
    boxes: Array,
    nearest: Ints,
    weights: Array,
    normals: Array,
    depths: Array,
) -> None:
    """For each vertex and mesh the triangle nearest to it, where on it, the way there and how far it is. Boxes are of groups
    of triangles, written here: those farther away than any point of the surface are passed over."""
    groups = len(order) // GROUP
    for g in range(groups):
        for axis in range(3):
            boxes[0, g, axis], boxes[1, g, axis] = math.inf, -math.inf
        for k in range(g * GROUP, (g + 1) * GROUP):
            for corner in range(3):
                if order[k] >= 0:
                    for axis in range(3):
                        value = vertices[triangles[order[k], corner], axis]
                        boxes[0, g, axis] = min(boxes[0, g, axis], value)
                        boxes[1, g, axis] = max(boxes[1, g, axis], value)
    for i in range(len(buried)):
        x = point(start, buried[i, 0])
        first, end = first_group[buried[i, 1]], first_group[buried[i, 1] + 1]
        best, found = math.inf, -1
        for g in range(first, end):
            away = minus(x, point(vertices, triangles[order[g * GROUP], 0]))
            best = min(best, dot(away, away))
        best *= 1.0 + 1e-9
        for g in range(first, end):
            square = 0.0
            for axis, value in enumerate(x):
                beyond = max(boxes[0, g, axis] - value, value - boxes[1, g, axis], 0.0)
                square += beyond * beyond
            if square > best:
                continue
            for k in range(g * GROUP, (g + 1) * GROUP):
                f = order[k]
                if f < 0:
                    break
                a, b, c = (
                    point(vertices, triangles[f, 0]),
                    point(vertices, triangles[f, 1]),
                    point(vertices, triangles[f, 2]),
                )
                n = cross(minus(b, a), minus(c, a))
                height = dot(minus(x, a), n)
                if height * height > best * dot(n, n):
                    continue
                _, v, w = closest_on_triangle(x, a, b, c)
                way = minus(weighted(a, b, c, v, w), x)
                square = dot(way, way)
                if square < best or (square == best and found < 0):
                    best, found = square, f
                    weights[i, 0], weights[i, 1] = v, w
                    normals[i, 0], normals[i, 1], normals[i, 2] = unit_or(way, unit_or(n, (0.0, 0.0, 1.0)))
        nearest[i], depths[i] = found, math.sqrt(best)


@kernel
def adjust(contacts: Contacts, first: int, end: int, meshes: Meshes, deep_in: Ints, stuck_in: Ints) -> None:
    """Takes out contacts of vertices with triangles of meshes they are deep in, and those where they are stuck have no skin."""
    n, first_key = len(deep_in), meshes.first_feature[0]
    for row in range(first, end):
        feature, sample = (-1 - contacts.key[row]) // n, (-1 - contacts.key[row]) % n
        mesh = meshes.mesh_of_triangle[feature - first_key]
        if contacts.crossed[row]:
            continue
        if deep_in[sample] == mesh:
            contacts.gap[row] = math.inf
        elif stuck_in[sample] == mesh:
            skin = contacts.arm[row, 0] + meshes.thickness[mesh]
            contacts.gap[row] += skin
            contacts.before[row] += skin
            contacts.deep[row] = contacts.before[row] < -DEEP * contacts.arm[row, 0]
            contacts.friction[row] = 0.0


@kernel
def buried_contacts(
    buried: Ints,
    edge: Ints,
    which: Flags,
    nearest: Ints,
    weights: Array,
    normals: Array,
    depths: Array,
    samples: Samples,
    meshes: Meshes,
    margin: Array,
    contacts: Contacts,
    written: int,
) -> int:
    """Adds contacts of vertices with the plane through the nearest point of the surface, across the way there."""
    now, radius, n = samples.now, samples.radius, len(samples.after)
    v0, v1, triangles = meshes.vertices[0], meshes.vertices[1], meshes.triangles
    for i in range(len(buried)):
        sample, mesh = buried[i, 0], buried[i, 1]
        if not which[samples.rod[sample]]:
            continue
        e, f = edge[sample], nearest[i]
        a0, b0, c0 = point(v0, triangles[f, 0]), point(v0, triangles[f, 1]), point(v0, triangles[f, 2])
        a, b, c = point(v1, triangles[f, 0]), point(v1, triangles[f, 1]), point(v1, triangles[f, 2])
        v, w = weights[i, 0], weights[i, 1]
        normal, reach, end = point(normals, i), radius[e] + meshes.thickness[mesh], 1.0 if sample != e else 0.0
        gap = dot(normal, minus(point(now, sample), weighted(a, b, c, v, w))) - reach
        if gap >= margin[e]:
            continue
        if written < len(contacts.gap):
            contacts.edge[written, 0], contacts.edge[written, 1] = e, -1
            contacts.at[written, 0], contacts.at[written, 1] = end, 0.0
            contacts.normal[written, 0], contacts.normal[written, 1], contacts.normal[written, 2] = normal
            contacts.rubbing_at[written, 0], contacts.rubbing_at[written, 1] = end, 0.0
            contacts.upright[written, 0], contacts.upright[written, 1], contacts.upright[written, 2] = normal
            contacts.rolling[written] = 0.0
            contacts.gap[written] = gap
            contacts.before[written] = -depths[i] - reach
            contacts.deep[written] = True
            slide = weighted(minus(a, a0), minus(b, b0), minus(c, c0), v, w)
            contacts.slide[written, 0], contacts.slide[written, 1], contacts.slide[written, 2] = slide
            contacts.arm[written, 0], contacts.arm[written, 1] = radius[e], 0.0
            contacts.friction[written] = math.sqrt(samples.friction[e] * meshes.friction[mesh])
            contacts.key[written] = -1 - ((meshes.first_feature[0] + f) * n + sample)
            contacts.crossed[written] = False
        written += 1
    return written
