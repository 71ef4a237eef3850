"""Blender's rigid bodies as they are set: who takes part, mass, inertia, where they stand."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...core import Body, Box, Capsule, Cone, Cylinder, Hull, Mesh, Sphere, TendrilError
from ...core.contact.bodies.rotation import orthonormal
from .poses import Array, metres_per_unit

# Rods and bodies exchange forces at least so often a second: less often, ropes under load become springy or explode.
EXCHANGES_PER_SECOND = 240.0
FASTEST = 32767  # frames a second, the most that Blender takes: each exchange is one of a hidden scene
# Blender takes rigid bodies of meshes alone.
BODY_TYPE = "MESH"


class Mover:
    """The way of a body since the start, as the core asks for it: a function of time that gives the place of now."""

    def __init__(self, start: Matrix, scale: float) -> None:
        self._scale, self._start = scale, rotations_of([start])[0]
        self._origin = np.array(start.translation, dtype=np.float64) * scale
        self.put(self._origin, self._start)

    def put(self, place: Array, rotation: Array) -> None:
        """In metres."""
        turned = rotation @ self._start.T
        self._now = (place - turned @ self._origin, turned)

    def __call__(self, _time: float) -> tuple[Array, Array]:
        return self._now

    def rider(self, place: Array, turning: bool) -> Callable[[float], Array | tuple[Array, Array]]:
        """The way of a point that was at this place (m) at the start; with its rotation, if it is turning."""

        def way(_time: float) -> Array | tuple[Array, Array]:
            position = self._now[0] + self._now[1] @ place
            return (position, self._now[1]) if turning else position

        return way


@dataclass(frozen=True)
class BodiesDescription:
    """The rigid bodies at the start frame. Holds no reference to Blender's data."""

    described: Mapping[str, Body]  # those that rods act on, by their keys: the k-th is the k-th of the core's scene
    dynamic: Mapping[
        str, Matrix
    ]  # the same, and then others that forces move, as they stand in units of the scene, with scale
    fixed: Mapping[str, Matrix]  # those that no force moves
    pulled: frozenset[str]  # those that rods are attached to
    movers: Mapping[str, Mover]  # where the dynamic ones are while the simulation runs, as many
    settings: tuple[object, ...]
    exchanges: int  # in a frame
    time_scale: float
    metres_per_unit: float

    @property
    def signature(self) -> tuple[object, ...]:
        """Equal for equal bodies; what the core knows of them is in its own."""
        every = (*self.dynamic.items(), *self.fixed.items())
        places = tuple((key, *(tuple(row) for row in m)) for key, m in every)  # type: ignore[attr-defined]
        return places, self.settings, self.exchanges


def key_of(obj: bpy.types.Object) -> str:
    """Tells a body from all other objects, whatever it is called: one that Tendril moves also in another session."""
    return f"body {obj.tendril_body.uid or obj.session_uid}"


def read_bodies(
    scene: bpy.types.Scene,
    depsgraph: bpy.types.Depsgraph,
    substeps: int,
    pushed: Collection[bpy.types.Object],
    pulled: Collection[bpy.types.Object],
) -> BodiesDescription:
    """As they are now, where rods act on those that are pushed and are attached to those that are pulled. Raises TendrilError for
    one that can't be followed."""
    standing = {obj: obj.evaluated_get(depsgraph).matrix_world.copy() for obj in bodies_in(scene)}
    dynamic = sorted((obj for obj in standing if is_dynamic(obj)), key=lambda obj: obj not in pushed)
    scale = metres_per_unit(scene)
    return BodiesDescription(
        described={key_of(obj): describe_body(obj, scene, depsgraph) for obj in dynamic if obj in pushed},
        dynamic={key_of(obj): standing[obj] for obj in dynamic},
        movers={key_of(obj): Mover(standing[obj], scale) for obj in dynamic},
        fixed={key_of(obj): matrix for obj, matrix in standing.items() if obj not in dynamic},
        pulled=frozenset(key_of(obj) for obj in pulled),
        settings=settings_of_bodies(scene),
        exchanges=exchanges_per_frame(scene, substeps),
        time_scale=max(scene.rigidbody_world.time_scale, 1e-3) if scene.rigidbody_world else 1.0,
        metres_per_unit=scale,
    )


def fixed_poses(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> dict[str, Matrix]:
    """Where those bodies are now that forces do not move."""
    fixed = (obj for obj in bodies_in(scene) if not is_dynamic(obj))
    return {key_of(obj): obj.evaluated_get(depsgraph).matrix_world.copy() for obj in fixed}


def pushes(scene: bpy.types.Scene) -> bool:
    """Whether rods push the bodies they touch."""
    return scene.tendril.use_rigid_bodies and scene.tendril.push_bodies


def pulled(attachment: bpy.types.PropertyGroup, scene: bpy.types.Scene) -> bool:
    """Whether the rod pulls on what it is attached to."""
    target = attachment.target
    if not attachment.use_pull or target is None or world_of(scene) is None or not is_dynamic(target):
        return False
    return target.name in scene.rigidbody_world.collection.objects


def world_of(scene: bpy.types.Scene) -> bpy.types.RigidBodyWorld | None:
    """The scene's rigid body world, if bodies move in it."""
    world = scene.rigidbody_world
    return world if world is not None and world.enabled and world.collection is not None else None


def bodies_in(scene: bpy.types.Scene) -> Iterator[bpy.types.Object]:
    """All rigid bodies of the scene, active and passive."""
    world = world_of(scene)
    if world is not None and world.collection is not None:
        present = set(scene.objects)
        for obj in world.collection.objects:
            if obj.type == BODY_TYPE and obj.rigid_body is not None and obj in present:
                yield obj


def is_dynamic(obj: bpy.types.Object) -> bool:
    """Whether forces move it: it is active, and neither animated nor switched off. A body that Tendril moves is one, though it is
    shown as an animated one meanwhile."""
    body = obj.rigid_body
    if body is None or body.type != "ACTIVE":
        return False
    kept = obj.tendril_body
    return not kept.baked and (kept.moved or (body.enabled and not body.kinematic))


def dynamic_bodies(scene: bpy.types.Scene) -> Iterator[bpy.types.Object]:
    return (obj for obj in bodies_in(scene) if is_dynamic(obj))


def describe_body(obj: bpy.types.Object, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> Body:
    """A rigid body of the core that weighs and turns like Blender's. Raises TendrilError for one that can't be followed."""
    body, scale = obj.rigid_body, metres_per_unit(scene)
    matrix = obj.evaluated_get(depsgraph).matrix_world
    return Body(
        shape_of(obj, depsgraph, scale),
        mass=body.mass,
        position=np.array(matrix.translation, dtype=np.float64) * scale,
        rotation=rotations_of([matrix])[0],
        center=np.zeros(3),
        inertia=np.diag(inertia_of(obj, depsgraph) * scale**2),
        linear_damping=_rate(body.linear_damping),
        angular_damping=_rate(body.angular_damping),
        friction=body.friction,
        collides=scene.tendril.use_rigid_bodies,
        thickness=thickness_of(obj) * scale,
    )


def rotations_of(matrices: list[Matrix]) -> Array:
    """(B, 3, 3) to more digits than Blender keeps, without scale."""
    turned = np.array([matrix.to_quaternion().to_matrix() for matrix in matrices], dtype=np.float64).reshape(-1, 3, 3)
    return orthonormal(turned)


def shape_of(
    obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, scale: float
) -> Box | Capsule | Cone | Cylinder | Hull | Mesh | Sphere:
    """What rods run into, in the body's axes and in metres."""
    size, shape = _size(obj, depsgraph) * scale, obj.rigid_body.collision_shape
    width = max(size[0], size[1])
    if shape == "SPHERE":
        return Sphere(0.5 * size.max())
    if shape == "CAPSULE" and size[2] > width:
        return Capsule(0.5 * width, size[2] - width)
    if shape == "CAPSULE":
        return Sphere(0.5 * width)
    if shape == "CYLINDER":
        return Cylinder(0.5 * width, size[2])
    if shape == "CONE":
        return Cone(0.5 * width, size[2])
    if shape in ("CONVEX_HULL", "MESH"):
        vertices, triangles = _surface(obj, depsgraph)
        try:
            return Hull(vertices * scale) if shape == "CONVEX_HULL" else Mesh(vertices * scale, triangles)
        except TendrilError:  # it is flat, or has no faces
            pass
    return Box(np.maximum(size, 1e-3 * size.max()))


def thickness_of(obj: bpy.types.Object) -> float:
    """How far from its mesh others stay, in units of the scene: Blender lays the margin around these shapes if it is chosen, and
    into all others."""
    body = obj.rigid_body
    return body.collision_margin if body.use_margin and body.collision_shape in ("CONVEX_HULL", "MESH", "CONE") else 0.0


def settings_of_bodies(scene: bpy.types.Scene) -> tuple[object, ...]:
    """All that makes a difference, quick enough for drawing a panel."""
    world = world_of(scene)
    if world is None:
        return ()
    weights = world.effector_weights
    shared = (world.time_scale, world.substeps_per_frame, world.solver_iterations, world.use_split_impulse)
    bodies = tuple((key_of(obj), is_dynamic(obj), *_body_settings(obj.rigid_body)) for obj in bodies_in(scene))
    ties = tuple(tuple(values_of(obj.rigid_body_constraint).items()) for obj in constraints_in(scene))
    return (*shared, weights.gravity if weights else 1.0, bodies, repr(ties))


def constraints_in(scene: bpy.types.Scene) -> Iterator[bpy.types.Object]:
    world = world_of(scene)
    if world is not None and world.constraints is not None:
        for obj in world.constraints.objects:
            if obj.rigid_body_constraint is not None:
                yield obj


def values_of(struct: bpy.types.bpy_struct, skip: tuple[str, ...] = ()) -> dict[str, object]:
    """All that can be set of something, by name."""
    values: dict[str, object] = {}
    for prop in struct.bl_rna.properties:
        if not prop.is_readonly and prop.identifier not in skip and prop.type != "COLLECTION":
            value = getattr(struct, prop.identifier)
            values[prop.identifier] = tuple(value) if getattr(prop, "is_array", False) else value
    return values


def exchanges_per_frame(scene: bpy.types.Scene, substeps: int) -> int:
    """How often rods and bodies exchange forces: as often as Blender or the rods step, and often enough."""
    world, rate = world_of(scene), scene.render.fps / scene.render.fps_base
    enough = math.ceil(EXCHANGES_PER_SECOND * (world.time_scale if world else 1.0) / rate - 1e-9)
    most = max(FASTEST // scene.render.fps, 1)
    return min(max(enough, substeps, world.substeps_per_frame if world else 1), most)


def inertia_of(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Array:
    """(3,) kg m2 in units of the scene: what Blender makes of the shape, whose centre of mass is the object's origin. It does so
    before it gives the shape the scale of the object."""
    body, stretched = obj.rigid_body, obj.evaluated_get(depsgraph).matrix_world.decompose()[2]
    size = _size(obj, depsgraph) / np.abs(np.array(stretched, dtype=np.float64))
    shape, mass, margin = body.collision_shape, body.mass, body.collision_margin if body.use_margin else 0.04
    if shape == "SPHERE":
        return np.full(3, 0.1 * mass * size.max() ** 2)
    round_size = np.array([max(size[0], size[1])] * 2 + [size[2]])
    if shape == "CYLINDER":
        radius, height = 0.5 * round_size[0], size[2]
        across = mass * (3.0 * radius**2 + height**2) / 12.0
        return np.array([across, across, 0.5 * mass * radius**2])
    if shape == "CAPSULE":
        return _box(mass, np.array([*round_size[:2], max(size[2], round_size[0])]))
    if shape == "CONE":
        return _box(mass, round_size + 4.0 * margin)
    if shape == "MESH":
        return 3.0 * _box(mass, size)
    own_margin = 2.0 * margin if shape == "CONVEX_HULL" and body.use_margin else 0.0
    return _box(mass, size + own_margin)


def _size(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Array:
    size = np.array(obj.evaluated_get(depsgraph).dimensions, dtype=np.float64)
    if not np.all(np.isfinite(size)) or size.max() <= 0.0:
        raise TendrilError(f'the mesh of "{obj.name}"', "empty", "a rigid body needs a mesh with some size")
    return size


def _surface(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> tuple[Array, NDArray[np.int32]]:
    """Vertices (n, 3) in the object's axes, with its scale, and triangles (m, 3)."""
    mesh = obj.data if obj.rigid_body.mesh_source == "BASE" else obj.evaluated_get(depsgraph).data
    mesh.calc_loop_triangles()
    places = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    triangles = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
    mesh.vertices.foreach_get("co", places)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    stretched = obj.evaluated_get(depsgraph).matrix_world.decompose()[2]
    return places.reshape(-1, 3).astype(np.float64) * np.array(stretched, dtype=np.float64), triangles.reshape(-1, 3)


def _box(mass: float, size: Array) -> Array:
    x, y, z = size**2
    return mass / 12.0 * np.array([y + z, z + x, x + y])


def _rate(damping: float) -> float:
    """Blender's damping is the part of the speed that is lost in a second."""
    return -math.log(max(1.0 - damping, 1e-12))


def _body_settings(body: bpy.types.RigidBodyObject) -> tuple[object, ...]:
    return tuple(values_of(body, skip=("kinematic",)).values())
