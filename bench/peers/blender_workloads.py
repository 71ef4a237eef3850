"""The workloads on Blender's own physics: `python -m tendril.bench.peers.blender_workloads cloth W1`, with the bpy module.

Cloth is simulated on a chain of edges (W1, W2) or a strip of faces (W5, because edges without faces fall through colliders). It
knows no bending stiffness in N m2 and no twist: its stiffnesses are the highest that its panel offers. Particle hair is simulated
by the same solver (W3). Hair Dynamics is a node group of position-based dynamics (XPBD) that comes with Blender 5.2. None of them
has contact between strands.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from . import cases
from .cases import Cord

STIFFEST = 50.0  # highest value of the sliders for stiffness
QUALITY = 12  # steps per frame


def _fresh(frames: int) -> bpy.types.Scene:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = cases.FRAMES_PER_SECOND, 1, frames + 1
    scene.gravity = (0.0, 0.0, -cases.GRAVITY)
    return scene


def _mesh(name: str, points: np.ndarray, edges: list[Any], faces: list[Any]) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points.tolist(), edges, faces)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def _cloth(cord: Cord, points: np.ndarray, held: list[int], faces: list[Any] | None = None) -> bpy.types.Object:
    edges = [] if faces else [(k, k + 1) for k in range(len(points) - 1)]
    obj = _mesh("Rope", points, edges, faces or [])
    if held:
        obj.vertex_groups.new(name="Pin").add(held, 1.0, "REPLACE")
    modifier = obj.modifiers.new("Cloth", "CLOTH")
    settings = modifier.settings
    settings.quality = QUALITY
    settings.mass = cord.mass_per_length * cord.length / len(points)
    settings.air_damping = 0.0
    settings.tension_stiffness = settings.compression_stiffness = STIFFEST
    settings.shear_stiffness = settings.bending_stiffness = STIFFEST if faces else 0.1
    settings.tension_damping = settings.compression_damping = settings.bending_damping = 0.0
    if held:
        settings.vertex_group_mass = "Pin"
    modifier.point_cache.frame_end = bpy.context.scene.frame_end
    return obj


def _positions(obj: bpy.types.Object) -> np.ndarray:
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    flat = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3).astype(float)


def _play(scene: bpy.types.Scene, frames: int, look: Callable[[], None] | None = None) -> float:
    """Processor seconds of a number of frames, from the first one on."""
    scene.frame_set(1)
    spent = 0.0
    for number in range(2, frames + 2):
        seconds, _ = cases.best_of(1, lambda number=number: scene.frame_set(number))
        spent += seconds
        if look is not None:
            look()
    return spent


def cantilever() -> dict[str, Any]:
    cord = cases.CANTILEVER
    frames = round(cases.CANTILEVER_SECONDS * cases.FRAMES_PER_SECOND)
    scene = _fresh(2 * frames)
    obj = _cloth(cord, np.linspace((0, 0, 0), (cord.length, 0, 0), cord.segments + 1), [0, 1])
    # Its air damping is the only drag it has; this value brings the chain to rest as fast as the drag of the others.
    obj.modifiers["Cloth"].settings.air_damping = 5.0
    seconds = _play(scene, frames)
    for number in range(frames + 2, 2 * frames + 2):
        scene.frame_set(number)
    out, _, height = _positions(obj)[-1]
    return {"seconds": seconds, "figure": {"tip_error_percent": cases.tip_error_percent(float(out), float(height))}}


def rope() -> dict[str, Any]:
    cord = cases.ROPE
    frames = round(cases.ROPE_SECONDS * cases.FRAMES_PER_SECOND)
    scene = _fresh(frames)
    obj = _cloth(cord, np.linspace((0, 0, 0), (cord.length, 0, 0), cord.segments + 1), [0])
    seen: list[np.ndarray] = []
    seconds = _play(scene, frames, lambda: seen.append(_positions(obj)))
    before = cases.rope_energy(
        np.linspace((0, 0, 0), (cord.length, 0, 0), cord.segments + 1), np.zeros((cord.segments + 1, 3)), False
    )
    after = cases.rope_energy(seen[-2], (seen[-1] - seen[-3]) * 0.5 * cases.FRAMES_PER_SECOND, stretches=False)
    return {
        "seconds": seconds,
        "figure": cases.rope_figure(before, after, max(cases.stretch_of(x, cord) for x in seen)),
    }


def dropped() -> dict[str, Any]:
    cord = cases.DROPPED
    frames = round(cases.DROPPED_SECONDS * cases.FRAMES_PER_SECOND)
    scene = _fresh(frames)
    line, half = cases.dropped_points(), np.array([0.0, cord.radius, 0.0])
    sides = np.concatenate([line - half, line + half])
    n = len(line)
    faces = [(k, k + 1, n + k + 1, n + k) for k in range(n - 1)]
    obj = _cloth(cord, sides, [], faces)
    collisions = obj.modifiers["Cloth"].collision_settings
    collisions.distance_min = cord.radius
    collisions.use_self_collision, collisions.self_distance_min = True, 2.0 * cord.radius
    collisions.friction = collisions.self_friction = 5.0 * cases.DROPPED_FRICTION
    collisions.collision_quality = 5
    for x, z in cases.CYLINDERS:
        bpy.ops.mesh.primitive_cylinder_add(
            vertices=48,
            radius=cases.CYLINDER_RADIUS,
            depth=cases.CYLINDER_LENGTH,
            location=(x, 0.0, z),
            rotation=(0.5 * math.pi, 0.0, 0.0),
        )
        bpy.context.object.modifiers.new("Collision", "COLLISION")
        bpy.context.object.collision.thickness_outer = 1e-3
    deepest = 0.0

    def look() -> None:
        nonlocal deepest
        x = _positions(obj)
        deepest = max(deepest, cases.dropped_penetration(0.5 * (x[:n] + x[n:])))

    seconds = _play(scene, frames, look)
    return {"seconds": seconds, "figure": {"penetration_radii": deepest}}


def _shake(obj: bpy.types.Object, frames: int) -> None:
    """Moves an object as the roots of W3."""
    for frame in range(1, frames + 2):
        turn = 2.0 * math.pi * cases.SHAKE_FREQUENCY * (frame - 1) / cases.FRAMES_PER_SECOND
        obj.location.x = cases.SHAKE_AMPLITUDE * math.sin(turn)
        obj.keyframe_insert("location", frame=frame)


def particle_hair() -> dict[str, Any]:
    """W3 as particle hair with dynamics: 1,000 strands on a plane that is shaken."""
    cord, frames = cases.HAIR, 24
    scene = _fresh(frames)
    bpy.ops.mesh.primitive_plane_add(size=1.0)
    plane = bpy.context.object
    plane.rotation_euler = (math.pi, 0.0, 0.0)  # hair grows along the normal, downwards
    plane.modifiers.new("Hair", "PARTICLE_SYSTEM")
    system = plane.particle_systems[0]
    settings = system.settings
    settings.type = "HAIR"
    settings.count, settings.hair_length, settings.hair_step = cases.STRANDS, cord.length, cord.segments
    settings.display_step = 5  # points of what is shown: two to its power
    system.use_hair_dynamics = True
    dynamics = system.cloth.settings
    dynamics.quality = QUALITY
    dynamics.mass = cord.mass_per_length * cord.length / cord.segments
    dynamics.air_damping = 0.0
    system.point_cache.frame_end = scene.frame_end
    _shake(plane, frames)
    lengths, swings = [], []

    def look() -> None:
        seen = plane.evaluated_get(bpy.context.evaluated_depsgraph_get())
        shown = seen.particle_systems[0]
        for strand in (0, cases.STRANDS // 3):
            points = np.array([shown.co_hair(seen, particle_no=strand, step=step) for step in range(2**5 + 1)])
            lengths.append(float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum()))
            swings.append(float(points[-1, 0] - points[0, 0]))

    seconds = _play(scene, frames, look)
    figure = {"stretch_percent": 100.0 * (max(lengths) / cord.length - 1.0), "swing_mm": 1e3 * float(np.ptp(swings))}
    return {"seconds": seconds / frames, "figure": figure}


def _surface_of(obj: bpy.types.Object) -> bpy.types.Object:
    """The mesh that the strands grow from, which the node group requires: they are bound to it by their places in its UV map."""
    bpy.ops.mesh.primitive_plane_add(size=4.0)
    plane = bpy.context.object
    plane.add_rest_position_attribute = True
    obj.parent = obj.data.surface = plane
    obj.data.surface_uv_map = plane.data.uv_layers[0].name
    roots = np.array([obj.data.curves[k].points[0].position for k in range(len(obj.data.curves))])
    places = obj.data.attributes.new("surface_uv_coordinate", "FLOAT2", "CURVE")
    places.data.foreach_set("vector", (roots[:, :2] / 4.0 + 0.5).astype(np.float32).ravel())
    return plane


def hair_dynamics(substeps: int = 10) -> dict[str, Any]:
    """W3 with the node group of Blender 5.2 in its default settings, 10 substeps of 15 iterations, but with physics switched on."""
    cord, frames = cases.HAIR, 24
    scene = _fresh(frames)
    hair = bpy.data.hair_curves.new("Hair")
    hair.add_curves([cord.segments + 1] * cases.STRANDS)
    points = np.zeros((cases.STRANDS, cord.segments + 1, 3), dtype=np.float32)
    points[:, :, 1] = 1e-3 * np.arange(cases.STRANDS)[:, None]
    points[:, :, 2] = -np.linspace(0.0, cord.length, cord.segments + 1)
    hair.attributes["position"].data.foreach_set("vector", points.ravel())
    obj = bpy.data.objects.new("Hair", hair)
    scene.collection.objects.link(obj)
    surface = _surface_of(obj)
    assets = Path(bpy.utils.system_resource("DATAFILES")) / "assets" / "nodes" / "geometry_nodes_dynamics_assets.blend"
    if not assets.exists():
        sys.exit(f"Blender {bpy.app.version_string} has no Hair Dynamics: it comes with 5.2")
    with bpy.data.libraries.load(str(assets)) as (_, wanted):
        wanted.node_groups = ["Hair Dynamics"]
    group = bpy.data.node_groups["Hair Dynamics"]
    modifier = obj.modifiers.new("Dynamics", "NODES")
    modifier.node_group = group
    sockets = {one.name: one.identifier for one in group.interface.items_tree if one.item_type == "SOCKET"}
    for name, value in (("Mode", "Physics (Experimental)"), ("Substeps", substeps)):
        getattr(modifier.properties.inputs, sockets[name]).value = value
    _shake(surface, frames)
    stretches, swings = [], []

    def look() -> None:
        shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        flat = np.empty(3 * len(shown.points), dtype=np.float32)
        shown.attributes["position"].data.foreach_get("vector", flat)
        x = flat.reshape(cases.STRANDS, -1, 3).astype(float)
        stretches.append(max(cases.stretch_of(strand, cord) for strand in x[:: cases.STRANDS // 10]))
        swings.append(float(x[0, -1, 0] - x[0, 0, 0]))

    seconds = _play(scene, frames, look)
    figure = {"stretch_percent": 100.0 * max(stretches), "swing_mm": 1e3 * float(np.ptp(swings))}
    return {"seconds": seconds / frames, "figure": figure}


WORKLOADS: dict[str, dict[str, Callable[[], dict[str, Any]]]] = {
    "cloth": {"W1": cantilever, "W2": rope, "W5": dropped},
    "particle hair": {"W3": particle_hair},
    "Hair Dynamics": {"W3": hair_dynamics},
    "Hair Dynamics (100 substeps)": {"W3": lambda: hair_dynamics(100)},
}

if __name__ == "__main__":
    kind = sys.argv.pop(1)
    cases.report(f"Blender {kind}", bpy.app.version_string.split()[0], WORKLOADS[kind])
