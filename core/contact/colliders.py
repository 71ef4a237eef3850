"""Where the colliders of a scene are: along their paths, or on the way to where they were sent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..describe.rotations import are_rotations
from ..describe.shapes import Collider, Mesh, position_vector, rotation_matrix, within_range
from ..errors import TendrilError, array, whole
from ..maths.motion import OTHER, POSITION, ROTATION, Motion, finite_array, in_bounds
from .arrays import Meshes, Shapes
from .convex_shapes import convex_shape
from .mesh_topology import pack_meshes

VERTICES = OTHER  # of all meshes, one after the other


class ColliderMotion(Motion):
    """Poses of all colliders at the beginning and the end of a substep, in the arrays that contact works on."""

    def __init__(self, colliders: list[Collider]) -> None:
        self._colliders = colliders
        count = len(colliders)
        # A pose is a position and a rotation; of a mesh they act on the vertices as given.
        places = np.zeros((count, 3))
        convex = [k for k, collider in enumerate(colliders) if not isinstance(collider.shape, Mesh)]
        meshes = [k for k, collider in enumerate(colliders) if isinstance(collider.shape, Mesh)]
        self._convex = np.array(convex, dtype=np.int64)
        self._own_rotation = np.tile(np.eye(3), (count, 1, 1))
        kinds, sizes = [], []
        for k in convex:
            record = convex_shape(colliders[k].shape)
            kinds.append(record.kind)
            sizes.append(record.size(colliders[k].shape))
            places[k], self._own_rotation[k] = record.pose(colliders[k].shape)
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
        first = np.searchsorted(self.meshes.mesh_of_vertex, np.arange(len(meshes) + 1)).tolist()
        self._mesh_rows = dict(zip(meshes, map(slice, first, first[1:]), strict=True))
        super().__init__(places, np.tile(np.eye(3), (count, 1, 1)), self.meshes.vertices[0].copy())
        self.follow_paths(0.0)
        self.put()
        self.put()

    def shape_of(self, collider: int) -> int:
        """The row of a convex collider among the shapes."""
        return int(np.searchsorted(self._convex, collider))

    def mesh_of(self, collider: int) -> tuple[int, slice]:
        """Of a mesh its number among the meshes, and the rows of its vertices."""
        return list(self._mesh_rows).index(collider), self._mesh_rows[collider]

    @property
    def moved(self) -> bool:
        """Whether anything moves in the substep."""
        both = (self.shapes.position, self.shapes.rotation, self.meshes.vertices)
        return not all(np.array_equal(array[0], array[1]) for array in both)

    def aim(self, collider: Any, position: Any, rotation: Any, vertices: Any, at_once: bool) -> None:
        """Says where a collider is to be at the end of the frame, or puts it there."""
        try:
            k = whole("collider", collider, 0, len(self._colliders) - 1)
        except TendrilError:
            raise TendrilError("collider", collider, "give the id that scene.collide returned") from None
        rows = self._mesh_rows.get(k, slice(0))
        points = None
        if vertices is not None:
            if k not in self._mesh_rows:
                raise TendrilError("vertices", vertices, "give a position and a rotation: only a mesh has vertices")
            wanted = self._now[VERTICES][rows].shape
            points = array("vertices", vertices, wanted, f"give the mesh's points in the same order, shape {wanted}")
        for which, row, values in (
            (POSITION, k, None if position is None else position_vector("position", position)),
            (ROTATION, k, None if rotation is None else rotation_matrix(rotation)),
            (VERTICES, rows, None if points is None else within_range("vertices", vertices, points)),
        ):
            if values is not None:
                self._to[which][row] = values
            if at_once:
                self._put(which, row, self._to[which][row])
        if at_once:
            self.put()
            self.put()
        else:
            self._moving = True

    def follow_paths(self, time: float) -> None:
        for k, collider in enumerate(self._colliders):
            if collider.path is None:
                continue
            given = collider.path(time)
            if k in self._mesh_rows:
                rows = self._mesh_rows[k]
                points = finite_array(given, self._now[VERTICES][rows].shape)
                if points is not None and np.all(in_bounds(points)):
                    self._put(VERTICES, rows, points)
                    continue
            if isinstance(given, (tuple, list)) and len(given) == 2:
                position, rotation = finite_array(given[0], (3,)), finite_array(given[1], (3, 3))
                if position is not None and in_bounds(position):
                    self._put(POSITION, k, position)
                if rotation is not None and are_rotations(rotation):
                    self._put(ROTATION, k, rotation)

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        """Everything stands still where it is at the end of the substep, for a while."""
        moving = (self.shapes.position, self.shapes.rotation, self.meshes.vertices)
        begin = [both[0].copy() for both in moving]
        for both in moving:
            both[0] = both[1]
        yield
        for both, start in zip(moving, begin, strict=True):
            both[0] = start

    def put(self) -> None:
        """Where things are now becomes the end of the substep, and what was the end its beginning."""
        for both in (self.shapes.position, self.shapes.rotation, self.meshes.vertices):
            both[0] = both[1]
        position, rotation, vertices = self._now
        self.shapes.position[1] = position[self._convex]
        self.shapes.rotation[1] = rotation[self._convex] @ self._own_rotation[self._convex]
        for k, rows in self._mesh_rows.items():
            self.meshes.vertices[1, rows] = vertices[rows] @ rotation[k].T + position[k]
