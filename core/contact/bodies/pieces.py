"""What bodies and colliders are made of where bodies touch them: convex pieces.

A convex body is one piece; the triangles of a mesh that is not convex are a piece each. Two pieces that touch must not overlap for
the direction between them to be known: so every piece has a core, a little smaller than it is, and cores are what is looked at.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy import bool_, int64
from numpy.typing import NDArray

from ...describe.body import Body
from ...describe.mass import hull_mesh
from ...describe.mass import of_mesh as measures_of
from ...describe.shapes import Capsule, Collider, Cone, Cylinder, Hull, Mesh, Plane, Solid, Sphere
from ...errors import Array
from ..colliders import ColliderMotion
from ..convex_shapes import convex_shape
from ..shape_boxes import ENDLESS
from .block import BodyBlock

Ints = NDArray[int64]

POLYHEDRON, CYLINDER, CONE, PLANE = range(4)
INSET = 0.1  # of the half width: how much smaller a core is
MOST_CORNERS = 24  # of a face
FLAT = 1e-6  # cosines, relative to one: faces that differ by less are one
SKIN = 0.01  # of the half width: around triangles of a body that is not convex, for these have no inside
BENT = 0.02  # sine: by how much two triangles form an edge
CONVEX = 1e-6  # of the volume of a hull: what a convex mesh may lack
SCALE = 0.05  # of the width: the length that overlaps are compared with, as with the radius of a rod


class Pieces(NamedTuple):
    """[0] is the beginning of the substep, [1] its end. Points and normals are in the piece's own axes."""

    kind: Ints  # (P,)
    size: Array  # (P, 5) of cylinder and cone: radius, half length; of the core: radius, lower end, upper end
    radius: Array  # (P, 2) what is around the core; around the piece itself
    position: Array  # (2, P, 3)
    rotation: Array  # (2, P, 3, 3)
    core_start: Ints  # (P + 1,)
    core: Array  # (2, V, 3)
    point_start: Ints  # (P + 1,)
    points: Array  # (2, V, 3)
    face_start: Ints  # (P + 1,)
    face: Array  # (2, F, 3) normals
    corner_start: Ints  # (F + 1,)
    corner: Ints  # rows of `points`, once round each face
    owner: Ints  # (P,) a body; -1: a collider
    solid: NDArray[bool_]  # (P,) a triangle of what has an inside, which is behind it
    inner: NDArray[
        bool_
    ]  # (P, 3) of triangles: the edge to the next corner does not stick out, another triangle goes on there
    friction: Array  # (P,)
    restitution: Array  # (P,)
    width: Array  # (P,) m, half of it where it is thinnest
    scale: Array  # (P,) m; infinite of colliders
    middle: Array  # (P, 3) of points
    bound: Array  # (P,) m, how far the piece reaches from there


class _Piece(NamedTuple):
    """One of them, in the axes of its owner."""

    kind: int
    size: tuple[float, float, float, float, float]
    radius: float  # around core and points
    inset: float
    core: Array
    points: Array
    faces: list[tuple[Array, list[int]]]
    width: float
    solid: bool = False
    inner: tuple[bool, ...] = (False, False, False)


_NO_SIZE = (0.0, 0.0, 0.0, 0.0, 0.0)
_NO_POINTS = np.zeros((0, 3))


def _ball(points: Array, radius: float) -> _Piece:
    return _Piece(POLYHEDRON, _NO_SIZE, radius, 0.0, points, points, [], radius)


def _polyhedron(hull: Hull) -> _Piece:
    """Faces that lie in a plane are one, as a polygon."""
    from scipy.spatial import ConvexHull, HalfspaceIntersection

    mesh = hull_mesh(hull)
    points = np.asarray(mesh.vertices)
    middle = measures_of(mesh).center
    found = ConvexHull(points)
    planes: list[Array] = []
    members: list[set[int]] = []
    for plane, simplex in zip(found.equations, found.simplices, strict=True):
        for k, other in enumerate(planes):
            if plane[:3] @ other[:3] > 1.0 - FLAT:
                members[k] |= set(simplex.tolist())
                break
        else:
            planes.append(plane)
            members.append(set(simplex.tolist()))
    faces = []
    for plane, member in zip(planes, members, strict=True):
        n, rows = plane[:3], np.array(sorted(member))
        out = points[rows] - points[rows].mean(axis=0)
        across = out[0] - n * (n @ out[0])
        order = np.argsort(np.arctan2(out @ np.cross(n, across), out @ across))
        if len(order) > MOST_CORNERS:
            order = order[np.linspace(0, len(order) - 1, MOST_CORNERS).astype(int)]
        faces.append((n, rows[order].tolist()))
    width = float(-(found.equations[:, :3] @ middle + found.equations[:, 3]).max())
    inset = INSET * width
    inner = found.equations + np.array([0.0, 0.0, 0.0, inset])
    core = HalfspaceIntersection(inner, middle).intersections
    core = np.unique(np.round(core / (1e-9 * width)), axis=0) * (1e-9 * width)
    return _Piece(POLYHEDRON, _NO_SIZE, 0.0, inset, core, points, faces, width)


def _triangles(mesh: Mesh, radius: float, solid: bool) -> list[_Piece]:
    vertices, triangles = np.asarray(mesh.vertices), np.asarray(mesh.triangles)
    corners = vertices[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    beside: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for t, row in enumerate(triangles.tolist()):
        for i in range(3):
            a, b = row[i], row[(i + 1) % 3]
            beside.setdefault((min(a, b), max(a, b)), []).append((t, row[(i + 2) % 3]))
    inner = np.zeros(triangles.shape, bool_)
    for t, row in enumerate(triangles.tolist()):
        for i in range(3):
            a, b = row[i], row[(i + 1) % 3]
            for other, third in beside[min(a, b), max(a, b)]:
                away = vertices[third] - vertices[a]
                low = float(normals[t] @ away) > -BENT * float(np.linalg.norm(away))  # it does not bend away
                inner[t, i] |= other != t and low
    return [
        _Piece(
            POLYHEDRON, _NO_SIZE, radius, 0.0, points, points, [(n, [0, 1, 2]), (-n, [2, 1, 0])], 0.0, solid, tuple(edges)
        )
        for points, n, edges in zip(corners, normals, inner.tolist(), strict=True)
    ]  # fmt: skip


def _round(shape: Cylinder | Cone) -> _Piece:
    """In its own axes."""
    r, half = shape.radius, 0.5 * shape.length
    if isinstance(shape, Cylinder):
        width = min(r, half)
        m = INSET * width
        return _Piece(CYLINDER, (r, half, r - m, m - half, half - m), 0.0, m, _NO_POINTS, _NO_POINTS, [], width)
    side = math.hypot(r, shape.length)
    width = r * shape.length / (r + side)  # of the ball within
    m = INSET * width
    length = shape.length - m - m * side / r
    size = (r, half, length * r / shape.length, m - half, m - half + length)
    return _Piece(CONE, size, 0.0, m, _NO_POINTS, _NO_POINTS, [], width)


def _pieces_of(shape: Solid, thickness: float, of_body: bool) -> tuple[list[_Piece], Array, Array]:
    """And where their axes are, in those of the shape."""
    if isinstance(shape, Sphere):
        return [_ball(np.zeros((1, 3)), shape.radius + thickness)], np.asarray(shape.position), np.eye(3)
    if isinstance(shape, Hull):
        return [_polyhedron(shape)], np.zeros(3), np.eye(3)
    if isinstance(shape, Mesh):
        vertices, triangles = np.asarray(shape.vertices), np.asarray(shape.triangles)
        if of_body and _is_convex(shape):
            return [_polyhedron(Hull(vertices[np.unique(triangles)]))], np.zeros(3), np.eye(3)
        width = 0.5 * float(np.ptp(vertices, axis=0).min())
        radius = thickness + (SKIN * width if of_body else 0.0)
        return _triangles(shape, radius, False), np.zeros(3), np.eye(3)
    if isinstance(shape, Capsule):
        half = 0.5 * shape.length
        piece = _ball(np.array([(0.0, 0.0, -half), (0.0, 0.0, half)]), shape.radius)
    elif isinstance(shape, (Cylinder, Cone)):
        piece = _round(shape)
    else:
        corners = convex_shape(shape).corners
        assert corners is not None, "shapes without a piece of their own have corners"
        piece = _polyhedron(Hull(corners(shape)))
    at, turned = np.asarray(shape.position), np.asarray(shape.rotation)
    return [piece._replace(radius=piece.radius + thickness)], at, turned


def _is_convex(mesh: Mesh) -> bool:
    from scipy.spatial import ConvexHull

    try:
        inside = measures_of(mesh).volume
    except ValueError:  # it encloses nothing
        return False
    return bool(inside > (1.0 - CONVEX) * ConvexHull(np.asarray(mesh.vertices)[np.unique(mesh.triangles)]).volume)


class PieceMotion:
    """Where all pieces are, those of bodies first."""

    def __init__(
        self, bodies: Sequence[Body], block: BodyBlock, colliders: Sequence[Collider], motion: ColliderMotion
    ) -> None:
        self._block, self._motion = block, motion
        made: list[_Piece] = []
        owner, friction, restitution = [], [], []
        places: list[tuple[Array, Array]] = []
        for number, body in enumerate(bodies):
            if not body.collides:
                continue
            pieces, at, turned = _pieces_of(body.shape, 0.0, True)
            made += pieces
            places += [(at - np.asarray(body.center), turned)] * len(pieces)
            owner += [number] * len(pieces)
            friction += [body.friction] * len(pieces)
            restitution += [body.restitution] * len(pieces)
        self.of_bodies = len(made)
        self._rows: list[tuple[int, int]] = []  # a piece, and the collider's row among the shapes
        self._triangles: tuple[Ints, Ints] = (np.zeros(0, int64), np.zeros((0, 3), int64))  # pieces, their corners
        numbers: list[int] = []
        corners: list[Ints] = []
        for number, collider in enumerate(colliders):
            if isinstance(collider.shape, Plane):
                self._rows.append((len(made), motion.shape_of(number)))
                made.append(_Piece(PLANE, _NO_SIZE, collider.thickness, 0.0, _NO_POINTS, _NO_POINTS, [], 0.0))
            elif isinstance(collider.shape, Mesh):
                mesh, rows = motion.mesh_of(number)
                of_mesh = _triangles(collider.shape, collider.thickness, bool(motion.meshes.solid[mesh]))
                numbers += range(len(made), len(made) + len(of_mesh))
                corners += list(np.asarray(collider.shape.triangles) + rows.start)
                made += of_mesh
            else:
                pieces, _, _ = _pieces_of(collider.shape, collider.thickness, False)
                self._rows.append((len(made), motion.shape_of(number)))
                made += pieces
            more = len(made) - len(owner)
            owner += [-1] * more
            friction += [collider.friction] * more
            restitution += [0.0] * more
        self._at = np.array([at for at, _ in places]).reshape(-1, 3)  # of those of bodies
        self._turned = np.array([turned for _, turned in places]).reshape(-1, 3, 3)
        if numbers:
            self._triangles = np.array(numbers), np.array(corners)
        self.pieces = _pack(made, owner, friction, restitution)
        self._owner = self.pieces.owner[: self.of_bodies]

    def put(self, when: int) -> None:
        """The bodies are where they are now."""
        pieces, state = self.pieces, self._block.state
        rotation = state.rotation[self._owner]
        own = slice(0, self.of_bodies)
        pieces.position[when, own] = state.x[self._owner] + np.einsum("pij,pj->pi", rotation, self._at)
        pieces.rotation[when, own] = rotation @ self._turned

    def put_colliders(self) -> None:
        """The colliders are where they are in this substep."""
        pieces, shapes, meshes = self.pieces, self._motion.shapes, self._motion.meshes
        for piece, row in self._rows:
            pieces.position[:, piece] = shapes.position[:, row]
            pieces.rotation[:, piece] = shapes.rotation[:, row]
        numbers, corners = self._triangles
        if len(numbers):
            now = meshes.vertices[:, corners]  # (2, T, 3, 3)
            rows = pieces.point_start[numbers][:, None] + np.arange(3)
            pieces.points[:, rows] = now
            pieces.core[:, pieces.core_start[numbers][:, None] + np.arange(3)] = now
            n = np.cross(now[:, :, 1] - now[:, :, 0], now[:, :, 2] - now[:, :, 0])
            n /= np.maximum(np.linalg.norm(n, axis=2, keepdims=True), 1e-300)
            pieces.face[:, pieces.face_start[numbers]] = n
            pieces.face[:, pieces.face_start[numbers] + 1] = -n
            pieces.middle[numbers] = now[1].mean(axis=1)
            pieces.bound[numbers] = np.linalg.norm(now - pieces.middle[numbers][:, None], axis=3).max(axis=(0, 2))

    def boxes(self, reach: Array) -> tuple[Array, Array]:
        """(P, 3) lower and upper corners of boxes around pieces on their way, and `reach` (P,) more."""
        pieces = self.pieces
        middle = pieces.position + np.einsum("tpij,pj->tpi", pieces.rotation, pieces.middle)
        out = (pieces.bound + pieces.radius[:, 1] + reach)[:, None]
        return np.asarray(middle.min(axis=0) - out), np.asarray(middle.max(axis=0) + out)


def _pack(made: list[_Piece], owner: list[int], friction: list[float], restitution: list[float]) -> Pieces:
    def starts(counts: list[int]) -> Ints:
        return np.concatenate([[0], np.cumsum(counts)]).astype(int64)

    def twice(rows: list[Array]) -> Array:
        return np.tile(np.concatenate([_NO_POINTS, *rows]), (2, 1, 1))

    points = starts([len(one.points) for one in made])
    middle, bound, width = np.zeros((len(made), 3)), np.zeros(len(made)), np.array([one.width for one in made])
    for k, one in enumerate(made):
        if one.kind == POLYHEDRON:
            middle[k] = one.points.mean(axis=0)
            bound[k] = np.linalg.norm(one.points - middle[k], axis=1).max()
        else:
            bound[k] = ENDLESS if one.kind == PLANE else math.hypot(one.size[0], one.size[1])
    faces = [face for one in made for face in one.faces]
    firsts = [int(first) for one, first in zip(made, points, strict=False) for _ in one.faces]
    owners = np.array(owner, dtype=int64)
    scale = SCALE * np.sqrt(width * (bound + np.array([one.radius for one in made])))
    for number in np.unique(owners[owners >= 0]):
        own = owners == number
        if own.sum() > 1:  # the triangles of a mesh
            reach = [one.points for one, mine in zip(made, own, strict=True) if mine]
            scale[own] = SCALE * 0.5 * float(np.ptp(np.concatenate(reach), axis=0).min())
    scale[owners < 0] = np.inf
    return Pieces(
        kind=np.array([one.kind for one in made], dtype=int64),
        size=np.array([one.size for one in made]).reshape(-1, 5),
        radius=np.array([(one.radius + one.inset, one.radius) for one in made]).reshape(-1, 2),
        position=np.zeros((2, len(made), 3)),
        rotation=np.tile(np.eye(3), (2, len(made), 1, 1)),
        core_start=starts([len(one.core) for one in made]),
        core=twice([one.core for one in made]),
        point_start=points,
        points=twice([one.points for one in made]),
        face_start=starts([len(one.faces) for one in made]),
        face=twice([np.array([n for n, _ in faces]).reshape(-1, 3)]),
        corner_start=starts([len(corners) for _, corners in faces]),
        corner=np.array(
            [first + c for first, (_, corners) in zip(firsts, faces, strict=True) for c in corners], dtype=int64
        ),
        owner=owners,
        solid=np.array([one.solid for one in made], dtype=bool_),
        inner=np.array([one.inner for one in made], dtype=bool_).reshape(-1, 3),
        friction=np.array(friction),
        restitution=np.array(restitution),
        width=width,
        scale=scale,
        middle=middle,
        bound=bound,
    )
