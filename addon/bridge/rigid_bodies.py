"""Blender's rigid bodies and their settings: which take part, with mass, inertia, shape and pose."""

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
from . import relevant
from .poses import Array, metres_per_unit

# Minimum rate at which rods and bodies exchange forces, Hz. At lower rates loaded ropes become too soft or unstable.
EXCHANGES_PER_SECOND = 240.0
MAX_FRAME_RATE = 32767  # Blender's limit: each exchange is a frame of a hidden scene
# Only meshes can be rigid bodies in Blender.
BODY_TYPE = "MESH"


class Mover:
    """The motion of a body since the start, as the function of time that the core expects; it returns the current pose."""

    def __init__(self, start: Matrix, scale: float) -> None:
        self._scale, self._start = scale, rotations_of([start])[0]
        self._origin = np.array(start.translation, dtype=np.float64) * scale
        self.put(self._origin, self._start)

    def put(self, place: Array, rotation: Array) -> None:
        """Sets the current pose, in metres."""
        turned = rotation @ self._start.T
        self._now = (place - turned @ self._origin, turned)

    def __call__(self, _time: float) -> tuple[Array, Array]:
        return self._now

    def rider(self, place: Array, turning: bool) -> Callable[[float], Array | tuple[Array, Array]]:
        """The motion of a point of the body that was at `place` (m) at the start, with the rotation of the body if `turning`."""

        def way(_time: float) -> Array | tuple[Array, Array]:
            position = self._now[0] + self._now[1] @ place
            return (position, self._now[1]) if turning else position

        return way


@dataclass(frozen=True)
class BodiesDescription:
    """The rigid bodies at the start frame, without references to Blender's data."""

    described: Mapping[str, Body]  # bodies that rods act on, by key, in the order of the core's scene
    # World matrices in scene units and with scale, by key. Dynamic bodies begin with those that are described.
    dynamic: Mapping[str, Matrix]
    fixed: Mapping[str, Matrix]  # bodies that no force moves
    pulled: frozenset[str]  # keys of bodies that rods are attached to
    movers: Mapping[str, Mover]  # motion of the dynamic bodies while the simulation runs, in the same order
    settings: tuple[object, ...]
    exchanges: int  # per frame
    time_scale: float
    metres_per_unit: float

    @property
    def signature(self) -> tuple[object, ...]:
        """Equal for equal bodies. The described bodies are in the fingerprint of the core's scene."""
        every = (*self.dynamic.items(), *self.fixed.items())
        places = tuple((key, *(tuple(row) for row in m)) for key, m in every)  # type: ignore[attr-defined]
        return places, self.settings, self.exchanges


def key_of(obj: bpy.types.Object) -> str:
    """The key of a body, independent of its name. For bodies that Tendril moves it is valid in other sessions as well."""
    return f"body {obj.tendril_body.uid or obj.session_uid}"


def read_bodies(
    scene: bpy.types.Scene,
    depsgraph: bpy.types.Depsgraph,
    substeps: int,
    pushed: Collection[bpy.types.Object],
    pulled: Collection[bpy.types.Object],
) -> BodiesDescription:
    """Describes the current rigid bodies; rods act on those in `pushed` and are attached to those in `pulled`. Raises TendrilError
    for a body that can't be simulated."""
    matrices = {obj: obj.evaluated_get(depsgraph).matrix_world.copy() for obj in bodies_in(scene)}
    dynamic = sorted((obj for obj in matrices if is_dynamic(obj)), key=lambda obj: obj not in pushed)
    scale = metres_per_unit(scene)
    return BodiesDescription(
        described={key_of(obj): describe_body(obj, scene, depsgraph) for obj in dynamic if obj in pushed},
        dynamic={key_of(obj): matrices[obj] for obj in dynamic},
        movers={key_of(obj): Mover(matrices[obj], scale) for obj in dynamic},
        fixed={key_of(obj): matrix for obj, matrix in matrices.items() if obj not in dynamic},
        pulled=frozenset(key_of(obj) for obj in pulled),
        settings=settings_of_bodies(scene),
        exchanges=exchanges_per_frame(scene, substeps),
        time_scale=max(scene.rigidbody_world.time_scale, 1e-3) if scene.rigidbody_world else 1.0,
        metres_per_unit=scale,
    )


def fixed_poses(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> dict[str, Matrix]:
    """Current world matrices of the bodies that no force moves."""
    fixed = (obj for obj in bodies_in(scene) if not is_dynamic(obj))
    return {key_of(obj): obj.evaluated_get(depsgraph).matrix_world.copy() for obj in fixed}


def pushes(scene: bpy.types.Scene) -> bool:
    """Whether contact with rods moves bodies."""
    return scene.tendril.use_rigid_bodies and scene.tendril.push_bodies


def pulled(attachment: bpy.types.PropertyGroup, scene: bpy.types.Scene) -> bool:
    """Whether the rod acts on the body it is attached to."""
    target = attachment.target
    if not attachment.use_pull or target is None or world_of(scene) is None or not is_dynamic(target):
        return False
    return target.name in scene.rigidbody_world.collection.objects


def world_of(scene: bpy.types.Scene) -> bpy.types.RigidBodyWorld | None:
    """The scene's rigid body world, if it is enabled."""
    world = scene.rigidbody_world
    return world if world is not None and world.enabled and world.collection is not None else None


def bodies_in(scene: bpy.types.Scene) -> Iterator[bpy.types.Object]:
    """All rigid bodies of the scene, active and passive."""
    world = world_of(scene)
    if world is not None and world.collection is not None:
        present = set(relevant.in_scene(scene))
        for obj in world.collection.objects:
            if obj.type == BODY_TYPE and obj.rigid_body is not None and obj in present:
                yield obj


def is_dynamic(obj: bpy.types.Object) -> bool:
    """Whether forces move the body: it is active, enabled and not animated. A body that Tendril moves counts as well, although it
    is set to Animated meanwhile."""
    body = obj.rigid_body
    if body is None or body.type != "ACTIVE":
        return False
    kept = obj.tendril_body
    return not kept.baked and (kept.moved or (body.enabled and not body.kinematic))


def dynamic_bodies(scene: bpy.types.Scene) -> Iterator[bpy.types.Object]:
    return (obj for obj in bodies_in(scene) if is_dynamic(obj))


def describe_body(obj: bpy.types.Object, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> Body:
    """A body of the core with the mass and inertia of Blender's. Raises TendrilError for one that can't be simulated."""
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
    """(B, 3, 3) without scale, orthonormal in double precision."""
    turned = np.array([matrix.to_quaternion().to_matrix() for matrix in matrices], dtype=np.float64).reshape(-1, 3, 3)
    return orthonormal(turned)


def shape_of(
    obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, scale: float
) -> Box | Capsule | Cone | Cylinder | Hull | Mesh | Sphere:
    """The collision shape in the body's frame, in metres."""
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
        except TendrilError:  # it is planar, or has no faces
            pass
    return Box(np.maximum(size, 1e-3 * size.max()))


def thickness_of(obj: bpy.types.Object) -> float:
    """The distance that others keep from its mesh, in scene units: Blender adds the margin outside of these shapes if it is
    enabled, and inside of all others."""
    body = obj.rigid_body
    return body.collision_margin if body.use_margin and body.collision_shape in ("CONVEX_HULL", "MESH", "CONE") else 0.0


def settings_of_bodies(scene: bpy.types.Scene) -> tuple[object, ...]:
    """All settings that affect the motion of bodies. Fast enough to be called when a panel is drawn."""
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
    """All writable properties, by name."""
    values: dict[str, object] = {}
    for prop in struct.bl_rna.properties:
        if not prop.is_readonly and prop.identifier not in skip and prop.type != "COLLECTION":
            value = getattr(struct, prop.identifier)
            values[prop.identifier] = tuple(value) if getattr(prop, "is_array", False) else value
    return values


def exchanges_per_frame(scene: bpy.types.Scene, substeps: int) -> int:
    """How often rods and bodies exchange forces: at the rate of Blender's or the rods' substeps, and at the minimum rate."""
    world, rate = world_of(scene), scene.render.fps / scene.render.fps_base
    enough = math.ceil(EXCHANGES_PER_SECOND * (world.time_scale if world else 1.0) / rate - 1e-9)
    most = max(MAX_FRAME_RATE // scene.render.fps, 1)
    return min(max(enough, substeps, world.substeps_per_frame if world else 1), most)


def inertia_of(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Array:
    """Diagonal inertia (3,) in kg and scene units, as Blender computes it from the shape before the object's scale is applied. The
    centre of mass is the object's origin."""
    body, scaling = obj.rigid_body, obj.evaluated_get(depsgraph).matrix_world.decompose()[2]
    size = _size(obj, depsgraph) / np.abs(np.array(scaling, dtype=np.float64))
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
        raise TendrilError(f'the mesh of "{obj.name}"', "empty", "a rigid body needs a mesh of non-zero size")
    return size


def _surface(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> tuple[Array, NDArray[np.int32]]:
    """Vertices (n, 3) in the object's frame, with its scale, and triangles (m, 3)."""
    mesh = obj.data if obj.rigid_body.mesh_source == "BASE" else obj.evaluated_get(depsgraph).data
    mesh.calc_loop_triangles()
    places = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    triangles = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
    mesh.vertices.foreach_get("co", places)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    scaling = obj.evaluated_get(depsgraph).matrix_world.decompose()[2]
    return places.reshape(-1, 3).astype(np.float64) * np.array(scaling, dtype=np.float64), triangles.reshape(-1, 3)


def _box(mass: float, size: Array) -> Array:
    x, y, z = size**2
    return mass / 12.0 * np.array([y + z, z + x, x + y])


def _rate(damping: float) -> float:
    """Blender's damping is the fraction of the speed lost per second; the core's is a rate in 1/s."""
    return -math.log(max(1.0 - damping, 1e-12))


def _body_settings(body: bpy.types.RigidBodyObject) -> tuple[object, ...]:
    return tuple(values_of(body, skip=("kinematic",)).values())
