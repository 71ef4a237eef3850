"""Where the colliders of a scene are: along their paths, or on the way to where they were sent."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import LARGEST_SIZE, Array, TendrilError, array, whole
from ..geometry.convex import BOX, CAPSULE, CYLINDER, PLANE, SPHERE
from ..geometry.rotations import are_rotations, interpolate_rotations
from ..holds import are_places, usable
from .arrays import Meshes, Shapes
from .mesh_topology import pack_meshes
from .shapes import Box, Capsule, Collider, Cylinder, Mesh, Plane, Shape, Sphere

FARTHEST = 10.0 * LARGEST_SIZE  # m from the origin


class ColliderMotion:
    """Poses of all colliders at the beginning and the end of a substep, in the arrays that contact works on."""

    def __init__(self, colliders: list[Collider]) -> None:
        self._colliders = colliders
        count = len(colliders)
        # A pose is a position and a rotation; of a mesh they act on the vertices as given.
        self._position = np.zeros((count, 3))
        self._rotation = np.tile(np.eye(3), (count, 1, 1))
        self._vertices: dict[int, Array] = {}
        convex = [k for k, collider in enumerate(colliders) if not isinstance(collider.shape, Mesh)]
        meshes = [k for k, collider in enumerate(colliders) if isinstance(collider.shape, Mesh)]
        self._convex = np.array(convex, dtype=np.int64)
        self._own_rotation = np.tile(np.eye(3), (count, 1, 1))
        kinds, sizes = [], []
        for k in convex:
            kind, size, position, rotation = _describe(colliders[k].shape)
            kinds.append(kind)
            sizes.append(size)
            self._position[k] = position
            self._own_rotation[k] = rotation
        self.shapes = Shapes(
            kind=np.array(kinds, dtype=np.int64),
            size=np.array(sizes, dtype=np.float64).reshape(-1, 3),
            position=np.zeros((2, len(convex), 3)),
            rotation=np.zeros((2, len(convex), 3, 3)),
            thickness=np.array([colliders[k].thickness for k in convex]),
            friction=np.array([colliders[k].friction for k in convex]),
            feature=2 * np.arange(len(convex), dtype=np.int64),
        )
        described = [(colliders[k].shape, colliders[k].thickness, colliders[k].friction) for k in meshes]
        self.meshes: Meshes = pack_meshes(described, 2 * len(convex))  # type: ignore[arg-type]
        self._mesh_rows: dict[int, slice] = {}
        at = 0
        for k in meshes:
            vertices = np.asarray(colliders[k].shape.vertices)  # type: ignore[union-attr]
            self._mesh_rows[k] = slice(at, at + len(vertices))
            self._vertices[k] = vertices.copy()
            at += len(vertices)
        self._from = self._now()
        self._to = self._now()
        self._moving = False
        self.follow_paths(0.0)
        self.put()
        self.put()

    @property
    def moved(self) -> bool:
        """Whether anything moves in the substep."""
        both = (self.shapes.position, self.shapes.rotation, self.meshes.vertices)
        return not all(np.array_equal(array[0], array[1]) for array in both)

    def _now(self) -> tuple[Array, Array, dict[int, Array]]:
        return self._position.copy(), self._rotation.copy(), dict(self._vertices)

    def aim(self, collider: Any, position: Any, rotation: Any, vertices: Any, at_once: bool) -> None:
        """Says where a collider is to be at the end of the frame, or puts it there."""
        try:
            k = whole("collider", collider, 0, len(self._colliders) - 1)
        except TendrilError:
            raise TendrilError("collider", collider, "give the id that scene.collide returned") from None
        place = None if position is None else array("position", position, (3,), "give three finite numbers (x, y, z)")
        turn = None if rotation is None else array("rotation", rotation, (3, 3), "give a rotation matrix (3, 3)")
        if place is not None and np.abs(place).max() > FARTHEST:
            raise TendrilError("position", position, f"stay within {FARTHEST:g} m of the origin")
        if turn is not None and not are_rotations(turn):
            raise TendrilError("rotation", rotation, "give a rotation matrix: orthonormal columns, no mirror image")
        points = None
        if vertices is not None:
            if k not in self._vertices:
                raise TendrilError("vertices", vertices, "give a position and a rotation: only a mesh has vertices")
            wanted = self._vertices[k].shape
            points = array("vertices", vertices, wanted, f"give the mesh's points in the same order, shape {wanted}")
            if np.abs(points).max() > FARTHEST:
                raise TendrilError("vertices", vertices, f"stay within {FARTHEST:g} m of the origin")
        if place is not None:
            self._to[0][k] = place
        if turn is not None:
            self._to[1][k] = turn
        if points is not None:
            self._to[2][k] = points
        self._moving = True
        if at_once:
            self.advance(1.0, None)
            self.arrive()
            self.put()
            self.put()

    def advance(self, at: float, time: float | None) -> None:
        """To a fraction of the frame, which is at that time."""
        if self._moving:
            (p0, r0, v0), (p1, r1, v1) = self._from, self._to
            self._position[:] = p1 if at == 1.0 else p0 + at * (p1 - p0)
            self._rotation[:] = r1 if at == 1.0 else interpolate_rotations(r0, r1, at)
            for k in self._vertices:
                self._vertices[k] = v1[k] if at == 1.0 else v0[k] + at * (v1[k] - v0[k])
        if time is not None:
            self.follow_paths(time)

    def arrive(self) -> None:
        """The frame is over: what was sent somewhere is there."""
        if self._moving:
            self._from = self._now()
            self._moving = False

    def follow_paths(self, time: float) -> None:
        """Calls the functions of time. What they give is taken if it is usable, otherwise things stay where they are."""
        for k, collider in enumerate(self._colliders):
            if collider.path is None:
                continue
            given = collider.path(time)
            if k in self._vertices:
                points = usable(given, self._vertices[k].shape)
                if points is not None and np.all(are_places(points)):
                    self._vertices[k] = points
                    continue
            if isinstance(given, (tuple, list)) and len(given) == 2:
                position, rotation = usable(given[0], (3,)), usable(given[1], (3, 3))
                if position is not None and are_places(position):
                    self._position[k] = position
                if rotation is not None and are_rotations(rotation):
                    self._rotation[k] = rotation

    def put(self) -> None:
        """Where things are now becomes the end of the substep, and what was the end its beginning."""
        for both in (self.shapes.position, self.shapes.rotation, self.meshes.vertices):
            both[0] = both[1]
        self.shapes.position[1] = self._position[self._convex]
        self.shapes.rotation[1] = self._rotation[self._convex] @ self._own_rotation[self._convex]
        for k, rows in self._mesh_rows.items():
            self.meshes.vertices[1, rows] = self._vertices[k] @ self._rotation[k].T + self._position[k]


def _describe(shape: Shape) -> tuple[int, ArrayLike, ArrayLike, ArrayLike]:
    """Kind, size, position and rotation."""
    if isinstance(shape, Plane):
        return PLANE, (0.0, 0.0, 0.0), shape.point, _upright(np.asarray(shape.normal))
    if isinstance(shape, Sphere):
        return SPHERE, (shape.radius, 0.0, 0.0), shape.position, np.eye(3)
    if isinstance(shape, Box):
        return BOX, 0.5 * np.asarray(shape.size), shape.position, shape.rotation
    if isinstance(shape, Capsule):
        return CAPSULE, (shape.radius, 0.5 * shape.length, 0.0), shape.position, shape.rotation
    assert isinstance(shape, Cylinder)
    return CYLINDER, (shape.radius, 0.5 * shape.length, 0.0), shape.position, shape.rotation


def _upright(normal: Array) -> Array:
    """A rotation that takes z to the normal."""
    across = np.eye(3)[int(np.argmin(np.abs(normal)))]
    x = np.cross(across, normal)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(normal, x), normal], axis=1)
