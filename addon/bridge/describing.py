"""Describes an object for the simulation: rods in world space and metres, one per spline or strand of hair; a mesh is a net."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ...core import Net, Rod, TendrilError
from ...core.describe.bundle import rods_of_strands
from ...core.errors import array
from . import guides, nets, points, roots
from .attachments import is_on_surface, key_of
from .bundle import Bundle
from .changes import constant_factors, key_of_length
from .curves import (
    Rows,
    column_of,
    columns,
    drawn_rows,
    drawn_tilts,
    is_tilted,
    per_point,
    spline_kinds,
    strand_sizes,
)
from .descriptions import HairDescription, Held, MeshDescription, RodDescription, TiedDescription
from .held import attached_vertices, find_held
from .inertia import carrier_keys
from .materials import is_direct, material_of, mechanics
from .poses import Array, metres_per_unit, pose_of
from .research import corde_of, elements_of
from .rods import (
    bodies_that_move,
    can_break,
    is_net,
    is_sag_free_possible,
    model_of,
    poses_of,
)
from .sampling import SampledStrand
from .shapes import (
    ALL,
    constant_radius,
    follow_along,
    mass_along,
    radius_along,
    rest_lines,
    rest_of_mesh,
    rest_shape,
    section_of,
    stiffness_along,
)
from .strands import Polyline, SplineKind, Strand, make_strand
from .tilts import SUPPORTED_MODES, Tilts, drawn_directors

UNBREAKABLE = 1e12  # N, of rods that can only be cut


def start_poses_of(obj: bpy.types.Object, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> dict[str, Array]:
    """Poses at the start frame, where points on surfaces are located."""
    surface = roots.surface_of(obj)
    if surface is not None:
        rows = _drawn(obj)
        pose = pose_of(obj.evaluated_get(depsgraph).matrix_world, scene)
        first = np.concatenate([[0], np.cumsum(strand_sizes(obj.data))[:-1]]).astype(np.int64)
        roots.locate(roots.key_of(obj.tendril.uid), surface, scene, depsgraph, _world(rows[first], pose))
    if any(is_on_surface(item) for item in obj.tendril.attachments):
        strands = _strands_of(obj, scene, pose_of(obj.evaluated_get(depsgraph).matrix_world, scene))
        for number, item in enumerate(obj.tendril.attachments):
            if is_on_surface(item):
                places = [strands[k].vertices[vertex] for k, vertex in attached_vertices(item, strands)]
                roots.locate(key_of(obj.tendril.uid, number), item.target, scene, depsgraph, np.array(places))
    length = obj.tendril.length_factor
    return {**dict(poses_of(obj, scene, depsgraph)), key_of_length(obj.tendril.uid): np.array(length)}


def describe_rod(
    obj: bpy.types.Object, scene: bpy.types.Scene, poses: Mapping[str, Array], rows: Rows
) -> RodDescription:
    """Describes the rods of an object with the drawn shape `rows`. `poses` are those of the start frame, see `start_poses_of`;
    further ones are ignored. Raises TendrilError."""
    settings = obj.tendril
    world = _world(rows, poses[settings.uid])
    if obj.type == "MESH":
        return _describe_mesh(obj, scene, poses, rows, world)
    kinds = spline_kinds(obj.data)
    if not kinds:
        raise TendrilError("the curve", "empty", "draw at least one spline")
    longest = settings.segment_length * metres_per_unit(scene)
    if obj.type == "CURVES":
        return _describe_hair(obj, scene, poses, rows, world[: points.count(obj.data)])
    strands = _strands(kinds, world, longest)
    held = _held(obj, scene, strands, poses)
    common = _common(obj, poses, rows, held)
    if settings.use_follow and not is_net(obj):
        common["follow"] = tuple(follow_along(obj, strand, k) for k, strand in enumerate(strands))
    if is_net(obj):
        radii = [
            radius_along(obj, strand, k, poses[settings.uid], metres_per_unit(scene))
            for k, strand in enumerate(strands)
        ]
        return _describe_tied(obj, scene, kinds, strands, radii, held, common)
    return RodDescription(
        kinds=kinds,
        strands=tuple(strands),
        rods=tuple(_rods_one_by_one(obj, scene, strands, poses[settings.uid], rows)),
        model=model_of(obj),
        tilts=_tilts(obj, kinds, rows),
        **common,
    )


def _describe_hair(
    obj: bpy.types.Object, scene: bpy.types.Scene, poses: Mapping[str, Array], rows: Rows, world: Array
) -> RodDescription:
    bundle = _bundle(obj, scene, world)
    settings, strands = obj.tendril, bundle.strands
    pose = poses[settings.uid]
    try:
        rods = _rods_at_once(obj, scene, bundle, pose)
    except TendrilError:  # one by one below, so that the error names the strand
        rods = None
    if rods is None:
        rods = _rods_one_by_one(obj, scene, strands, pose, rows, bundle.numbers)
    held = find_held(obj, strands, poses, bodies_that_move(scene) if len(settings.attachments) else (), bundle.numbers)
    common = _common(obj, poses, rows, held)
    if settings.use_follow:
        strength = follow_along(obj, bundle, ALL)
        common["follow"] = tuple(np.split(strength, np.cumsum(bundle.counts)[:-1]))
    return HairDescription(
        kinds=spline_kinds(obj.data),
        strands=(),  # the bundle moves all of them together
        rods=tuple(rods),
        model=model_of(obj),
        drawn_layout=points.layout(obj.data),
        bundle=bundle,
        children=guides.children_of(obj, scene, world, bundle),
        ends=bundle.edges,
        count=len(world),
        has_attributes=points.has_attributes(obj.data),
        **common,
    )


def _bundle(obj: bpy.types.Object, scene: bpy.types.Scene, world: Array) -> Bundle:
    """The strands of hair that are simulated: all that can be, or the guides among them."""
    sizes, longest = strand_sizes(obj.data), obj.tendril.segment_length * metres_per_unit(scene)
    return Bundle(world, sizes, longest, guides.simulated_strands(obj, world, sizes))


def _rods_at_once(obj: bpy.types.Object, scene: bpy.types.Scene, bundle: Bundle, pose: Array) -> list[Rod] | None:
    """All rods of hair at once; None if their settings require one at a time."""
    settings, scale = obj.tendril, metres_per_unit(scene)
    if settings.section != "CIRCLE" or can_break(obj) or is_direct(settings) or settings.initial_twist != 0.0:
        return None
    return rods_of_strands(
        bundle.vertices,
        bundle.counts,
        radius_along(obj, bundle, ALL, pose, scale),
        material_of(settings),
        rest=rest_shape(settings, bundle, ALL, scale, rest_lines(settings, scale)),
        stiffness_scale=stiffness_along(obj, bundle, ALL),
        density_scale=mass_along(obj, bundle, ALL),
    )


def _common(obj: bpy.types.Object, poses: Mapping[str, Array], rows: Rows, held: Iterable[Held]) -> dict[str, Any]:
    uid = obj.tendril.uid
    apart = _by_kind(held)
    start_poses = {key: poses[key] for key in (uid, *(hold.follows for hold in apart["held"]))}
    start_poses |= {key: poses[key] for key in carrier_keys(uid) if key in poses}
    return {
        "uid": uid,
        "rows": rows,
        **apart,
        "friction": obj.tendril.friction,
        "elements": elements_of(obj),
        "pose": poses[uid],
        "start_poses": start_poses,
        "surface_frames": {key: poses[roots.all_of(key)] for key in start_poses if roots.all_of(key) in poses},
        "start_length": float(poses.get(key_of_length(uid), 1.0)),
        "constant": constant_factors(obj),
        "sag_free": obj.tendril.use_sag_free and is_sag_free_possible(obj),
        "follow": (),
        "follow_time": obj.tendril.follow_time,
        "cut_at": obj.tendril.cut_at,
        "radii": _drawn_radii(obj, rows) if obj.type == "CURVE" else None,
    }


def _drawn_radii(obj: bpy.types.Object, rows: Rows) -> Array | None:
    """Of the control points of a curve that can break, as they are drawn."""
    names = columns(obj.data)
    if "radius" not in names:
        return None
    total = sum(map(len, per_point(obj.data, "tilt")))
    return column_of(rows, names, "radius", total).astype(np.float64)


def _by_kind(held: Iterable[Held]) -> dict[str, tuple[Held, ...]]:
    """Sorts held vertices into those that follow poses, and those attached to simulated bodies with or without acting on them."""
    kinds: dict[str, list[Held]] = {"held": [], "pulling": [], "riding": []}
    for one in held:
        kinds["held" if not one.body else "pulling" if one.pulls else "riding"].append(one)
    return {name: tuple(of_kind) for name, of_kind in kinds.items()}


def _strands_of(obj: bpy.types.Object, scene: bpy.types.Scene, pose: Array) -> Sequence[Polyline]:
    """The drawn strands of an object of any type."""
    world, longest = _world(_drawn(obj), pose), obj.tendril.segment_length * metres_per_unit(scene)
    if obj.type == "CURVE":
        return _strands(spline_kinds(obj.data), world, longest)
    world = world[: points.count(obj.data)]
    if obj.type == "MESH":
        return [nets.NetStrand(world, nets.edges_of(obj.data), longest)]
    return _bundle(obj, scene, world).strands


def _drawn(obj: bpy.types.Object) -> Rows:
    rows = drawn_rows(obj.data)
    assert rows is not None, "edits are accepted before a rod is described"
    return rows


def _world(rows: Rows, pose: Array) -> Array:
    """Raises TendrilError for coordinates that are not finite."""
    return array("points", rows.astype(np.float64) @ pose[:3, :3].T + pose[:3, 3], (None, 3), "draw points")


def _held(
    obj: bpy.types.Object, scene: bpy.types.Scene, strands: Sequence[Polyline], poses: Mapping[str, Array]
) -> list[Held]:
    return find_held(obj, strands, poses, bodies_that_move(scene) if len(obj.tendril.attachments) else ())


def _strands(kinds: tuple[SplineKind, ...], world: Array, longest: float) -> list[Strand]:
    """Segments are at most `longest` (m); with zero the drawn edges are used."""
    strands: list[Strand] = []
    start = 0
    for number, kind in enumerate(kinds):
        with _named(number, len(kinds)):
            strand = make_strand(kind, world[start : start + kind.rows])
            strands.append(SampledStrand(strand, longest) if longest > 0.0 else strand)
        start += kind.rows
    return strands


@contextmanager
def _named(number: int, count: int) -> Iterator[None]:
    """Adds the number of the spline to errors if there are several."""
    try:
        yield
    except TendrilError as error:
        if count == 1:
            raise
        raise TendrilError(f"in spline {number + 1}, {error.field}", error.value, error.cure) from None


def _rods_one_by_one(
    obj: bpy.types.Object,
    scene: bpy.types.Scene,
    strands: Sequence[Polyline],
    pose: Array,
    rows: Rows,
    numbers: Iterable[int] | None = None,
) -> list[Rod]:
    """Errors name the strand."""
    lines = rest_lines(obj.tendril, metres_per_unit(scene))
    rods = []
    for number, strand in zip(range(len(strands)) if numbers is None else numbers, strands, strict=True):
        with _named(number, len(strands)):
            rods.append(_rod_along(obj, scene, strand, number, pose, rows, lines))
    return rods


def _rod_along(
    obj: bpy.types.Object,
    scene: bpy.types.Scene,
    strand: Polyline,
    number: int,
    pose: Array,
    rows: Rows,
    lines: Sequence[Polyline],
) -> Rod:
    settings, scale = obj.tendril, metres_per_unit(scene)
    radius = radius_along(obj, strand, number, pose, scale)
    flat = settings.section != "CIRCLE"
    return Rod.from_points(
        strand.vertices,
        radius=None if flat else radius,
        section=section_of(settings, scale) if flat else None,
        taper=radius / constant_radius(settings, scale) if flat else 1.0,
        closed=strand.closed,
        rest=rest_shape(settings, strand, number, scale, lines),
        stiffness_scale=stiffness_along(obj, strand, number),
        director=drawn_directors(obj, strand, number, pose, rows) if obj.type == "CURVE" and flat else None,
        twist=settings.initial_twist,
        **mechanics(settings, scale, radius, mass_along(obj, strand, number)),
        **_strength(obj),
    )


def _strength(obj: bpy.types.Object) -> dict[str, Any]:
    """Force and moment at which a rod breaks."""
    settings = obj.tendril
    force = settings.break_force or (UNBREAKABLE if can_break(obj) else np.inf)
    return {"break_force": force, "break_moment": settings.break_moment or np.inf}


def _tilts(obj: bpy.types.Object, kinds: tuple[SplineKind, ...], rows: Rows) -> Tilts | None:
    if not is_tilted(obj.data):
        return None
    mode = obj.data.twist_mode
    if mode not in SUPPORTED_MODES:
        raise TendrilError("the twist method", mode, "choose Minimum or Z-Up, or disable Tilt Follows")
    return Tilts(kinds, mode, drawn_tilts(obj.data, rows))


def _describe_tied(
    obj: bpy.types.Object,
    scene: bpy.types.Scene,
    kinds: tuple[SplineKind, ...],
    strands: list[Strand],
    radii: list[float | Array],
    held: Iterable[Held],
    common: dict[str, Any],
) -> RodDescription:
    settings, scale = obj.tendril, metres_per_unit(scene)
    distance = settings.tie_distance * scale or 2.0 * max(float(np.max(radius)) for radius in radii)
    joined, point_of, edge_of = nets.tie(strands, distance)
    radius = nets.to_segments(joined, strands, radii)
    net = Net.from_edges(
        joined.points,
        joined.edges,
        radius,
        corde=corde_of(obj),
        **mechanics(settings, scale, radius, 1.0),
        **_strength(obj),
    )
    once: dict[int, Held] = {}  # tied splines share the holds of their common points
    for hold in held:
        vertex = int(point_of[hold.strand][hold.vertex])
        once.setdefault(vertex, replace(hold, strand=0, vertex=vertex, place=joined.points[vertex].copy()))
    common.update(_by_kind(once.values()))
    return TiedDescription(
        kinds=kinds,
        strands=tuple(strands),
        rods=(net,),
        model=settings.net_model,
        point_of=point_of,
        edge_of=edge_of,
        **common,
    )


def _describe_mesh(
    obj: bpy.types.Object, scene: bpy.types.Scene, poses: Mapping[str, Array], rows: Rows, world: Array
) -> RodDescription:
    settings, scale = obj.tendril, metres_per_unit(scene)
    count, edges = points.count(obj.data), nets.edges_of(obj.data)
    if not len(edges):
        raise TendrilError("the mesh", "without edges", "draw at least one edge: the edges are the rods of the net")
    strand = nets.NetStrand(world[:count], edges, settings.segment_length * scale)
    net = nets.net_of_mesh(obj, strand, rest_of_mesh(settings, strand, scale), scale)
    moved = np.flatnonzero(strand.of_control >= 0)
    return MeshDescription(
        kinds=(SplineKind("MESH", len(rows), False), SplineKind("EDGES", len(edges), False)),
        strands=(strand,),
        rods=(net,),
        model=settings.net_model,
        drawn_layout=points.layout(obj.data),
        row=moved,
        vertex=strand.of_control[moved],
        ends=strand.edges,
        count=count,
        has_attributes=points.has_attributes(obj.data),
        edge_of=strand.edge_of if points.marks_broken(obj.data) else None,
        **_common(obj, poses, rows, _held(obj, scene, [strand], poses)),
    )
