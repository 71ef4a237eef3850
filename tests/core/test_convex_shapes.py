"""The table of convex colliders: each shape has one record, and the record agrees with the shape's signed distance."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from numba import njit
from scipy.spatial.transform import Rotation
from tendril.core import (
    Body,
    Box,
    Capsule,
    Cylinder,
    Material,
    Mesh,
    Plane,
    Rod,
    Scene,
    Simulation,
    Sphere,
    TendrilError,
)
from tendril.core.contact.arrays import Shapes
from tendril.core.contact.convex_shapes import CONVEX_SHAPES, convex_shape
from tendril.core.contact.shape_boxes import shape_boxes
from tendril.core.describe.shapes import Shape, names_of
from tendril.core.maths.geometry.convex import signed_distance

# One of each class, with its highest point at z = 0 above the origin. A new shape needs one here, too.
EXAMPLES = {
    Plane: Plane(),
    Sphere: Sphere(0.3, position=(0.0, 0.0, -0.3)),
    Capsule: Capsule(0.1, 0.4, position=(0.0, 0.0, -0.3)),
    Cylinder: Cylinder(0.3, 0.4, position=(0.0, 0.0, -0.2)),
    Box: Box((0.6, 0.8, 0.2), position=(0.0, 0.0, -0.1)),
}
EACH = pytest.mark.parametrize("shape", EXAMPLES.values(), ids=[of.__name__ for of in EXAMPLES])


@njit(error_model="numpy")
def distances(kind, size, x, out):
    for i in range(len(x)):
        out[i] = signed_distance(kind, size[0], size[1], size[2], (x[i, 0], x[i, 1], x[i, 2]))[0]


def depths(shape: object, own: np.ndarray) -> np.ndarray:
    record, out = convex_shape(shape), np.empty(len(own))
    distances(record.kind, np.asarray(record.size(shape), dtype=np.float64), own, out)
    return out


def surface(shape: object) -> np.ndarray:
    """Points of the surface in the shape's own axes, found by walking outwards from the middle."""
    ways = np.random.default_rng(3).normal(size=(400, 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    points = np.zeros_like(ways)
    for _ in range(200):
        points -= depths(shape, points)[:, None] * ways
    assert np.abs(depths(shape, points)).max() < 1e-9
    return points


def test_every_collider_has_one_record_and_an_example() -> None:
    convex = set(get_args(Shape)) - {Mesh}
    assert convex == CONVEX_SHAPES.keys() == EXAMPLES.keys()
    assert len({record.kind for record in CONVEX_SHAPES.values()}) == len(CONVEX_SHAPES)
    assert names_of(Shape).startswith("Plane, Sphere")
    assert names_of(Shape).endswith(" or Mesh")


def test_a_shape_without_a_record_is_refused() -> None:
    class Egg(Sphere):
        pass

    scene = Scene()
    scene.add(
        Rod.from_points(np.linspace((0, 0, 0), (1, 0, 0), 5), radius=0.01, material=Material.preset("nylon rope"))
    )
    scene.collide(Egg(0.1))
    with pytest.raises(TendrilError, match="give one of Plane, Sphere"):
        Simulation(scene)


@EACH
def test_boxes_hold_the_shape_and_not_much_more(shape: object) -> None:
    record = convex_shape(shape)
    turned = Rotation.from_euler("xyz", (0.4, 0.7, -0.2)).as_matrix()
    shapes = Shapes(
        kind=np.array([record.kind]),
        size=np.asarray(record.size(shape), dtype=np.float64)[None],
        position=np.full((2, 1, 3), 0.5),
        rotation=np.tile(turned, (2, 1, 1, 1)),
        thickness=np.zeros(1),
        friction=np.zeros(1),
        feature=np.zeros(1, dtype=np.int64),
    )
    low, high = np.empty((1, 3)), np.empty((1, 3))
    shape_boxes(shapes, low, high)
    if record.reach is None:
        assert np.all(high - low > 1e6)
        return
    points = surface(shape) @ turned.T + 0.5
    assert np.all(points >= low - 1e-12)
    assert np.all(points <= high + 1e-12)
    assert np.all(np.ptp(points, axis=0) > 0.75 * (high - low)[0])


@EACH
def test_corners_are_on_the_surface(shape: object) -> None:
    corners = convex_shape(shape).corners
    if corners is not None:
        assert np.abs(depths(shape, np.ascontiguousarray(corners(shape)))).max() < 1e-12


@EACH
def test_a_rod_lies_on_it(shape: object) -> None:
    """A rod laid across the top, heavy enough to sag if nothing held it, stays there."""
    scene = Scene()
    rod = Rod.from_points(
        np.linspace((-0.2, 0, 0.011), (0.2, 0, 0.011), 9), radius=0.01, material=Material.preset("spring steel")
    )
    rod_id = scene.add(rod)
    scene.collide(shape, friction=0.8)
    last = list(Simulation(scene, frame_rate=24).frames(1, 6))[-1]
    assert last.positions(rod_id)[4, 2] == pytest.approx(0.01, abs=1e-3)


@EACH
def test_a_body_lies_on_it(shape: object) -> None:
    scene = Scene()
    box = scene.add_body(Body(Box((0.05, 0.05, 0.02)), mass=0.1, position=(0.0, 0.0, 0.011), collides=True))
    scene.collide(shape, friction=0.8)
    last = list(Simulation(scene, frame_rate=24).frames(1, 6))[-1]
    assert last.body_position(box)[2] == pytest.approx(0.01, abs=1e-3)
