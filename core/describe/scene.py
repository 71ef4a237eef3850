"""A scene: rods and rigid bodies with their holds, attachments, loads, colliders, force fields and air.

Everything is validated when it is added.
"""

from __future__ import annotations

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
    per_vertex,
    positive,
    vector,
    whole,
)
from .attachment import Attachment, make_attachment
from .body import DEFAULT_FRICTION, Body
from .fields import Field, check_fields
from .model import DEFAULT_NET_MODEL, DEFAULT_ROD_MODEL, model_names, model_record
from .net import Net
from .rod import Rod
from .shapes import Collider, Shape, names_of

MOST_ELEMENTS = 64

RodId = int
HoldId = int
ColliderId = int
BodyId = int
GoalId = int
AttachmentId = int
Path = Callable[[float], Any]


@dataclass(frozen=True)
class Hold:
    """A vertex or an edge of a rod whose motion is prescribed.

    `kind`: "pin" prescribes the position of a vertex; "clamp" its position and the frame of its cross-section; "orient" only the
    frame; "edge" the position and frame of a whole edge. "slide" and "slide clamp" are a pin and a clamp that let the vertex
    move along a line.
    `path` is the motion as a function of time in seconds: it returns a position for a pin, (position, rotation) for a clamp or an
    edge, a rotation for an orient. Rotations are 3x3 matrices applied to the initial frame. `spin` returns an additional
    rotation about the tangent in rad; whole turns count.
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
class Goal:
    """A target shape that a rod is drawn to by springs, in proportion to mass."""

    rod: RodId
    strength: Array  # (n,) of the vertices; 1: the spring's free vibration would have the angular frequency 1 / time
    time: float  # s


@dataclass(frozen=True)
class Elements:
    """How a "clothoid" rod is discretised: into `count` elements, or without a count into the fewest that follow the drawn points
    within `tolerance` times the rod's length. Curvature is affine in an element of degree 1, constant (a helix) for degree 0."""

    count: int | None = None
    tolerance: float = 0.005
    degree: int = 1

    def __post_init__(self) -> None:
        if self.count is not None:
            whole("elements", self.count, 1, MOST_ELEMENTS)
        positive("tolerance", self.tolerance)
        whole("degree", self.degree, 0, 1)


def as_elements(elements: Elements | int | None) -> Elements | None:
    """Converts what `Scene.add` accepts as elements."""
    if elements is None or isinstance(elements, Elements):
        return elements
    return Elements(whole("elements", elements, 1, MOST_ELEMENTS))


@dataclass(frozen=True)
class Entry:
    """A rod or net of the scene, with its model and its initial velocity."""

    rod: Any  # Rod, or Net if the model accepts nets
    model: str
    velocity: Array  # (n, 3) m/s
    friction: float
    elements: Elements | None = None
    # Attached bodies, for models that resolve the rod near them: edge, and position on it from 0 to 1.
    tied: tuple[tuple[int, float], ...] = ()
    sag_free: bool = False  # the drawn shape is in equilibrium under gravity


class Scene:
    """Describes what is simulated. `Simulation` reads it once; later changes need a new simulation."""

    def __init__(
        self,
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        *,
        air_density: float = 0.0,
        wind: ArrayLike = (0.0, 0.0, 0.0),
        drag: float = 0.0,
        rod_contact: bool = False,
    ) -> None:
        """`air_density` (kg/m^3, 1.2 on Earth) with `wind` (m/s) exerts the drag of a cylinder in a stream on every edge; `drag`
        (1/s) damps all motion relative to the wind, in proportion to mass. `rod_contact`: rods collide with each other and with
        themselves. They always collide with colliders."""
        self.gravity = vector("gravity", gravity)
        self.air_density = not_negative("air_density", air_density, "kg/m^3")
        self.wind = vector("wind", wind)
        self.drag = not_negative("drag", drag, "1/s")
        self.rod_contact = flag("rod_contact", rod_contact)
        self.entries: list[Entry] = []
        self.holds: list[Hold] = []
        self._held: dict[RodId, set[int]] = {}  # vertices, by rod
        self.loads: list[Load] = []
        self.goals: list[Goal] = []
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
        sag_free: bool = False,
    ) -> RodId:
        """Adds a rod or a net and returns its id. The default model is "der" for rods, and "net" for nets and for rods that
        break. The coefficient of friction between two surfaces is the geometric mean of theirs. `elements` sets the discretisation
        of a "clothoid" rod; by default it has at least four elements.

        `sag_free`: the drawn shape is in equilibrium under gravity, because the natural shape (`rest` of the rod is ignored) is
        curved against it. `Simulation.sags` lists the rods whose material can't support their shape."""
        if not isinstance(rod, (Rod, Net)):
            raise TendrilError("rod", rod, "give a Rod, made by Rod.from_points, or a Net")
        breaks = isinstance(rod, Rod) and min(rod.break_force, rod.break_moment) < np.inf
        if model is None:
            model = DEFAULT_ROD_MODEL if isinstance(rod, Rod) and not breaks else DEFAULT_NET_MODEL
        record = model_record(model)
        if breaks and not record.breaks:
            others = model_names(lambda one: one.breaks)
            raise TendrilError("model", model, f"its rods do not break: choose {others}, which equals der otherwise")
        if isinstance(rod, Net) and not record.nets:
            raise TendrilError("model", model, f"nets need one of {model_names(lambda one: one.nets)}")
        n = rod.vertex_count
        if velocity is None:
            v = np.zeros((n, 3))
        elif dimensions(velocity) == 1:
            v = np.tile(vector("velocity", velocity), (n, 1))
        else:
            v = array("velocity", velocity, (n, 3), f"give one vector, or {n} of them, one per vertex")
        v.flags.writeable = False
        if elements is not None and not record.elements:
            others = model_names(lambda one: one.elements)
            raise TendrilError("elements", elements, f"only rods of the model {others} are made of elements")
        if flag("sag_free", sag_free) and not record.balance:
            others = model_names(lambda one: one.balance)
            raise TendrilError(
                "sag_free", True, f"rods of the model {model} keep their rest shape: choose one of {others}"
            )
        coefficient = friction_coefficient(friction)
        self.entries.append(Entry(rod, model, v, coefficient, as_elements(elements), sag_free=sag_free))
        return len(self.entries) - 1

    def collide(
        self,
        shape: Shape,
        *,
        friction: float = DEFAULT_FRICTION,
        thickness: float = 0.0,
        path: Path | None = None,
    ) -> ColliderId:
        """Adds a collider: a `Shape`, such as a Sphere or a Mesh, enlarged by `thickness` (m).

        `path` is its motion as a function of time in seconds: it returns (position, rotation); the rotation is applied to the
        shape as described. For a mesh it may return all vertices instead; its position is that of the whole mesh and starts at
        (0, 0, 0)."""
        if not isinstance(shape, Shape):
            raise TendrilError("shape", shape, f"give a {names_of(Shape)}")
        if path is not None and not callable(path):
            raise TendrilError("path", path, "give a function of time in seconds")
        self.colliders.append(
            Collider(shape, friction_coefficient(friction), not_negative("thickness", thickness, "metres"), path)
        )
        return len(self.colliders) - 1

    def pin(self, rod: RodId, where: str | int | Iterable[int], path: Path | None = None) -> HoldId:
        """Holds the position of a vertex ("start", "end", or its index) or of several. Returns the id of the first hold."""
        return self._hold(rod, "pin", where, path, None)

    def clamp(
        self,
        rod: RodId,
        where: str | int,
        path: Path | None = None,
        spin: Callable[[float], float] | None = None,
    ) -> HoldId:
        """Holds the position of a vertex and the frame of the cross-section there."""
        return self._hold(rod, "clamp", where, path, spin)

    def orient(
        self,
        rod: RodId,
        where: str | int,
        path: Path | None = None,
        spin: Callable[[float], float] | None = None,
    ) -> HoldId:
        """Holds the frame of the cross-section at a vertex, not its position."""
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
        """Holds a vertex on the line through it with the direction `along`, on which it can slide; with `clamped` also the frame of
        the cross-section there. Needs a model with sliding holds: "compact"."""
        entry = self._entry(rod)
        if not model_record(entry.model).sliding_holds:
            others = model_names(lambda one: one.sliding_holds)
            raise TendrilError("rod", rod, f"its model {entry.model} has no sliding holds: choose {others}")
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
        """Holds an edge as a rigid piece. `path` prescribes the position of its midpoint and the rotation of its frame."""
        return self._hold(rod, "edge", edge, path, spin)

    def add_body(self, body: Body) -> BodyId:
        """Adds a rigid body and returns its id."""
        if not isinstance(body, Body):
            raise TendrilError("body", body, "give a Body")
        self.bodies.append(body)
        return len(self.bodies) - 1

    def attach(
        self, rod: RodId, where: str | int, body: BodyId, point: ArrayLike | None = None, kind: str = "weld"
    ) -> AttachmentId:
        """Attaches a vertex of a rod ("start", "end" or its index) to a body; forces act both ways.

        A "weld" also fixes the rod's cross-section relative to the body, a "swivel" leaves rotation about the rod's axis free, a
        "ball" leaves all rotation free. `point` is the position of the vertex in the body's axes; by default its current one."""
        entry = self._entry(rod)
        vertex = self._vertex(entry.rod, where)
        return self._attach(rod, body, entry.rod.edge_at(vertex), vertex, point, kind)

    def attach_edge(
        self, rod: RodId, edge: int, body: BodyId, point: ArrayLike | None = None, kind: str = "weld"
    ) -> AttachmentId:
        """Attaches the midpoint of an edge to a body; see `attach`."""
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
        """Applies a force in N to a vertex: constant, or a function of time in seconds."""
        entry = self._entry(rod)
        vertex = self._vertex(entry.rod, where)
        self.loads.append(Load(int(rod), vertex, force if callable(force) else vector("force", force)))

    def follow(self, rod: RodId, strength: ArrayLike = 1.0, time: float = 0.1) -> GoalId:
        """Draws a rod softly to a target shape: at first the drawn one, later what `Simulation.aim_goal` sets. The springs are
        critically damped and follow a sudden motion within about `time` (s). `strength` is a factor on their stiffness, one
        number or one per vertex, for instance falling from root to tip."""
        entry = self._entry(rod)
        if any(goal.rod == int(rod) for goal in self.goals):
            raise TendrilError("rod", rod, "it follows a goal already: give each rod one")
        values = per_vertex("strength", strength, entry.rod.vertex_count, above_zero=False)
        values.flags.writeable = False
        self.goals.append(Goal(int(rod), values, positive("time", time, "s")))
        return len(self.goals) - 1

    def add_field(self, field: Field) -> None:
        """Adds a force field, which acts on all rods or on those that it names."""
        self.fields += check_fields([field], len(self.entries))

    def fingerprint(self) -> str:
        """A digest of the whole description, to check whether a cache belongs to it. Functions of time count by their values at
        some hundred times."""
        from .fingerprint import fingerprint

        return fingerprint(self)

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
                most = entry.rod.vertex_count + 1  # an endless iterable then repeats a vertex, which is refused
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
    """The vertices of the rod that a hold concerns."""
    if hold.kind == "edge":
        return rod.ends(hold.index)
    return (hold.index,)
