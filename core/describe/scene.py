"""A scene: rods, bodies, what holds them, what pulls on them, what they collide with, the air around them. Everything is
checked as it is added."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import (
    Array,
    TendrilError,
    array,
    dimensions,
    direction,
    flag,
    friction_coefficient,
    not_negative,
    positive,
    vector,
    whole,
)
from .attachment import Attachment, make_attachment
from .body import DEFAULT_FRICTION, Body
from .fields import Field, check_fields
from .net import Net
from .rod import Rod
from .shapes import Collider, Shape, names_of

MODELS = ("der", "der2008", "clothoid", "compact", "net", "corde")

NET_MODELS = ("net", "corde", "compact")

MOST_ELEMENTS = 64

RodId = int
HoldId = int
ColliderId = int
BodyId = int
AttachmentId = int
Path = Callable[[float], Any]


@dataclass(frozen=True)
class Hold:
    """A place on a rod whose motion is prescribed.

    kind: "pin" holds the position of a vertex; "clamp" its position and the frame of its cross-section; "orient" the
    frame alone; "edge" holds a whole edge, position and frame. "slide" and "slide clamp" are a pin and a clamp that leave a vertex
    free to go along a line.
    `path` gives the motion over time in seconds: a position for a pin, (position, rotation) for a clamp or an edge,
    a rotation for an orient. Rotations are 3x3 matrices applied to the frame of the start. `spin` is an angle in rad
    about the tangent, on top of the rotation; it counts whole turns.
    """

    rod: RodId
    kind: str
    index: int  # of the vertex, or of the edge
    path: Path | None = None
    spin: Callable[[float], float] | None = None
    along: Array | None = None  # (3,) the direction of the line

    @property
    def holds_position(self) -> bool:
        return self.kind != "orient"

    @property
    def holds_frame(self) -> bool:
        return self.kind not in ("pin", "slide")


@dataclass(frozen=True)
class Load:
    """A force on a vertex, N: constant, or a function of time."""

    rod: RodId
    vertex: int
    force: Array | Path


@dataclass(frozen=True)
class Elements:
    """The elements of a "clothoid" rod: so many, or without a count as few as follow the drawn points within `tolerance`, a part of
    the rod's length. Of degree 1 they have affine curvatures, of degree 0 constant ones: helices."""

    count: int | None = None
    tolerance: float = 0.005
    degree: int = 1

    def __post_init__(self) -> None:
        if self.count is not None:
            whole("elements", self.count, 1, MOST_ELEMENTS)
        positive("tolerance", self.tolerance)
        whole("degree", self.degree, 0, 1)


def as_elements(elements: Elements | int | None) -> Elements | None:
    """From what may be given as elements."""
    if elements is None or isinstance(elements, Elements):
        return elements
    return Elements(whole("elements", elements, 1, MOST_ELEMENTS))


@dataclass(frozen=True)
class Entry:
    """A rod in the scene, with the model that moves it and its start velocity."""

    rod: Any  # Rod; or Net, which the models of nets take as well
    model: str
    velocity: Array  # (n, 3) m/s
    friction: float
    elements: Elements | None = None
    tied: tuple[
        tuple[int, float], ...
    ] = ()  # edges, and where on them, at which bodies are attached, for models that ask


class Scene:
    """What is simulated. `Simulation` reads it once; later changes need a new simulation."""

    def __init__(
        self,
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        *,
        air_density: float = 0.0,
        wind: ArrayLike = (0.0, 0.0, 0.0),
        drag: float = 0.0,
        rod_contact: bool = False,
    ) -> None:
        """`air_density` (kg/m3, 1.2 on Earth) with `wind` (m/s) drags every rod as a cylinder in a stream;
        `drag` (1/s) slows all motion relative to the wind, in proportion to mass. With `rod_contact` rods collide with each
        other and with themselves; with colliders they always do."""
        self.gravity = vector("gravity", gravity)
        self.air_density = not_negative("air_density", air_density, "kg/m^3")
        self.wind = vector("wind", wind)
        self.drag = not_negative("drag", drag, "1/s")
        self.rod_contact = flag("rod_contact", rod_contact)
        self.entries: list[Entry] = []
        self.holds: list[Hold] = []
        self._held: dict[RodId, set[int]] = {}  # vertices, by rod
        self.loads: list[Load] = []
        self.colliders: list[Collider] = []
        self.fields: list[Field] = []
        self.bodies: list[Body] = []
        self.attachments: list[Attachment] = []

    def add(
        self,
        rod: Rod | Net,
        model: str | None = None,
        *,
        velocity: ArrayLike | None = None,
        friction: float = DEFAULT_FRICTION,
        elements: Elements | int | None = None,
    ) -> RodId:
        """Adds a rod or a net; the id it gives is used in every other call. The model is "der" for rods and "net" for nets unless
        another is chosen. Between two surfaces the coefficient of friction is the root of the product of theirs. `elements` says of
        how many elements a "clothoid" rod is made, or how they are to be found; without it there are at least four."""
        if not isinstance(rod, (Rod, Net)):
            raise TendrilError("rod", rod, "give a Rod, made by Rod.from_points, or a Net")
        if model is None:
            model = "der" if isinstance(rod, Rod) else "net"
        if not isinstance(model, str) or model not in MODELS:
            raise TendrilError("model", model, f"choose one of {', '.join(MODELS)}")
        if isinstance(rod, Net) and model not in NET_MODELS:
            raise TendrilError("model", model, f"nets need one of {', '.join(NET_MODELS)}")
        n = rod.vertex_count
        if velocity is None:
            v = np.zeros((n, 3))
        elif dimensions(velocity) == 1:
            v = np.tile(vector("velocity", velocity), (n, 1))
        else:
            v = array("velocity", velocity, (n, 3), f"give one vector, or {n} of them, one per vertex")
        v.flags.writeable = False
        if elements is not None and model != "clothoid":
            raise TendrilError("elements", elements, 'only rods of the model "clothoid" are made of elements')
        self.entries.append(Entry(rod, model, v, friction_coefficient(friction), as_elements(elements)))
        return len(self.entries) - 1

    def collide(
        self,
        shape: Shape,
        *,
        friction: float = DEFAULT_FRICTION,
        thickness: float = 0.0,
        path: Path | None = None,
    ) -> ColliderId:
        """Adds something that rods can't pass: a `Shape`, such as a Sphere or a Mesh, with `thickness` (m) on top.

        `path` moves it over time in seconds: it gives (position, rotation), where the rotation turns the shape as it was given.
        That of a mesh may also give all its vertices; a position then moves the mesh as a whole, beginning at (0, 0, 0)."""
        if not isinstance(shape, Shape):
            raise TendrilError("shape", shape, f"give a {names_of(Shape)}")
        if path is not None and not callable(path):
            raise TendrilError("path", path, "give a function of time in seconds")
        self.colliders.append(
            Collider(shape, friction_coefficient(friction), not_negative("thickness", thickness, "metres"), path)
        )
        return len(self.colliders) - 1

    def pin(self, rod: RodId, where: str | int | Iterable[int], path: Path | None = None) -> HoldId:
        """Holds the position of a vertex: "start", "end", an index, or several. Returns the id of the (first) hold."""
        return self._hold(rod, "pin", where, path, None)

    def clamp(
        self,
        rod: RodId,
        where: str | int,
        path: Path | None = None,
        spin: Callable[[float], float] | None = None,
    ) -> HoldId:
        """Holds a vertex and the frame of the cross-section there."""
        return self._hold(rod, "clamp", where, path, spin)

    def orient(
        self,
        rod: RodId,
        where: str | int,
        path: Path | None = None,
        spin: Callable[[float], float] | None = None,
    ) -> HoldId:
        """Holds the frame of the cross-section at a vertex and leaves its position free."""
        return self._hold(rod, "orient", where, path, spin)

    def slide(
        self,
        rod: RodId,
        where: str | int,
        along: ArrayLike,
        path: Path | None = None,
        spin: Callable[[float], float] | None = None,
        *,
        clamped: bool = False,
    ) -> HoldId:
        """Holds a vertex on the line through it with the direction `along`, on which it is free to slide; `clamped`, it also holds
        the frame of the cross-section there. Only rods that never stretch do this: those of the model compact."""
        entry = self._entry(rod)
        if entry.model != "compact":
            raise TendrilError("rod", rod, f"it is of the model {entry.model}: vertices of compact rods slide")
        line = direction("along", along)
        line.flags.writeable = False
        return self._hold(rod, "slide clamp" if flag("clamped", clamped) else "slide", where, path, spin, line)

    def clamp_edge(
        self,
        rod: RodId,
        edge: int,
        path: Path | None = None,
        spin: Callable[[float], float] | None = None,
    ) -> HoldId:
        """Holds a whole edge as a rigid piece. `path` moves its midpoint and turns its frame."""
        return self._hold(rod, "edge", edge, path, spin)

    def add_body(self, body: Body) -> BodyId:
        """Adds a rigid body; the id it gives is used in every other call."""
        if not isinstance(body, Body):
            raise TendrilError("body", body, "give a Body")
        self.bodies.append(body)
        return len(self.bodies) - 1

    def attach(
        self, rod: RodId, where: str | int, body: BodyId, point: ArrayLike | None = None, kind: str = "weld"
    ) -> AttachmentId:
        """Ties a vertex of a rod ("start", "end" or its index) to a body, so that each pulls on the other.

        A "weld" also keeps the rod's cross-section as it is to the body now, a "swivel" leaves it free to turn about the rod's
        axis, a "ball" leaves all turning free. `point`, in the body's axes, is where the vertex is, and need not be given."""
        entry = self._entry(rod)
        vertex = self._vertex(entry.rod, where)
        return self._attach(rod, body, entry.rod.edge_at(vertex), vertex, point, kind)

    def attach_edge(
        self, rod: RodId, edge: int, body: BodyId, point: ArrayLike | None = None, kind: str = "weld"
    ) -> AttachmentId:
        """Ties the middle of an edge to a body; see `attach`."""
        entry = self._entry(rod)
        return self._attach(rod, body, whole("edge", edge, 0, entry.rod.edge_count - 1), None, point, kind)

    def _attach(
        self, rod: RodId, body: BodyId, edge: int, vertex: int | None, point: ArrayLike | None, kind: str
    ) -> AttachmentId:
        try:
            described = self.bodies[whole("body", body, 0, len(self.bodies) - 1)]
        except TendrilError:
            raise TendrilError("body", body, "give the id that scene.add_body returned") from None
        new = make_attachment(int(rod), self._entry(rod).rod, int(body), described, edge, vertex, point, kind)
        held = self._held.get(int(rod), set())
        for other in (vertex,) if vertex is not None else self._entry(rod).rod.ends(edge):
            if other in held:
                raise TendrilError("where", other, f"vertex {other} is held already: attach or hold it, not both")
        for one in self.attachments:
            if one.rod == new.rod and one.edge == edge and (one.at == new.at or "ball" not in (one.kind, new.kind)):
                raise TendrilError("where", edge, f"edge {edge} is attached already: attach each edge once")
        self.attachments.append(new)
        return len(self.attachments) - 1

    def load(self, rod: RodId, where: str | int, force: ArrayLike | Path) -> None:
        """Pulls at a vertex with a force in N, constant or a function of time."""
        entry = self._entry(rod)
        vertex = self._vertex(entry.rod, where)
        self.loads.append(Load(int(rod), vertex, force if callable(force) else vector("force", force)))

    def add_field(self, field: Field) -> None:
        """A force field, which acts on all rods, or on those that it names."""
        self.fields += check_fields([field], len(self.entries))

    def fingerprint(self) -> str:
        """A digest of all that is described here, to tell whether a cache belongs to it. Functions of time count as
        present or absent only: whoever changes one names a new cache."""
        digest = hashlib.sha256()

        def feed(value: object) -> None:
            if isinstance(value, np.ndarray):
                digest.update(str((value.shape, value.dtype.str)).encode() + np.ascontiguousarray(value).tobytes())
            elif callable(value):
                digest.update(b"function")
            else:
                digest.update(repr(value).encode())
            digest.update(b";")

        for item in (self.gravity, self.air_density, self.wind, self.drag, self.rod_contact):
            feed(item)
        for entry in self.entries:
            feed(entry.model)
            feed(entry.velocity)
            feed(entry.friction)
            feed(entry.elements)
            for value in vars(entry.rod).values():
                feed(value)
        for place in (*self.holds, *self.loads):
            for value in vars(place).values():
                feed(value)
        for collider in self.colliders:
            feed(type(collider.shape).__name__)
            for value in (*vars(collider.shape).values(), collider.friction, collider.thickness, collider.path):
                feed(value)
        for field in self.fields:
            for value in (field.numbers(), field.vertices, field.triangles, field.rods):
                feed(value)
        for body in self.bodies:
            feed(type(body.shape).__name__)
            for value in (*vars(body.shape).values(), *vars(body).values()):
                if value is not body.shape:
                    feed(value)
        for attachment in self.attachments:
            for value in vars(attachment).values():
                feed(value)
        return digest.hexdigest()

    def _entry(self, rod: RodId) -> Entry:
        try:
            return self.entries[whole("rod", rod, 0, len(self.entries) - 1)]
        except TendrilError:
            raise TendrilError("rod", rod, "give the id that scene.add returned") from None

    @staticmethod
    def _vertex(rod: Rod | Net, where: str | int) -> int:
        last = rod.vertex_count - 1
        if isinstance(where, str):
            if where not in ("start", "end"):
                raise TendrilError("where", where, 'give "start", "end" or the index of a vertex')
            return 0 if where == "start" else last
        return whole("where", where, -rod.vertex_count, last) % rod.vertex_count

    def _hold(
        self,
        rod: RodId,
        kind: str,
        where: str | int | Iterable[int],
        path: Path | None,
        spin: Callable[[float], float] | None,
        along: Array | None = None,
    ) -> HoldId:
        entry = self._entry(rod)
        for field, value in (("path", path), ("spin", spin)):
            if value is not None and not callable(value):
                raise TendrilError(field, value, "give a function of time in seconds")
        if kind == "edge":
            places = [whole("edge", where, 0, entry.rod.edge_count - 1)]
        elif kind == "pin" and not isinstance(where, (str, bytes, int, np.integer)):
            try:
                most = entry.rod.vertex_count + 1  # it may be endless, and then holds a vertex twice
                places = [self._vertex(entry.rod, place) for place in islice(where, most)]
            except TendrilError:
                raise
            except Exception:  # an iterator is the caller's code
                raise TendrilError("where", where, 'give "start", "end" or the index of a vertex') from None
            if not places:
                raise TendrilError("where", where, "give at least one vertex")
        else:
            places = [self._vertex(entry.rod, where)]  # type: ignore[arg-type]
        new = [Hold(int(rod), kind, place, path, spin, along) for place in places]
        taken = set(self._held.get(int(rod), ()))
        for hold in new:
            for vertex in held_vertices(hold, entry.rod):
                if vertex in taken:
                    raise TendrilError("where", where, f"vertex {vertex} is held already: hold each vertex once")
                taken.add(vertex)
        self._held[int(rod)] = taken
        self.holds.extend(new)
        return len(self.holds) - len(new)


def held_vertices(hold: Hold, rod: Rod | Net) -> tuple[int, ...]:
    if hold.kind == "edge":
        return rod.ends(hold.index)
    return (hold.index,)
