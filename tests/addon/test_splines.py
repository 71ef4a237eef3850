"""Splines as polylines and back."""

import bpy
import numpy as np
import pytest
from tendril.addon.bridge.curves import read_rows, spline_kinds, write_rows
from tendril.addon.bridge.describing import describe_rod
from tendril.addon.bridge.nurbs import Knots, basis
from tendril.addon.bridge.poses import pose_of
from tendril.addon.bridge.scenes import describe_scene
from tendril.addon.bridge.strands import make_strand
from tendril.tests.addon.building import MIXED, evaluated_points, line, make_curve, ring


def strands_of(obj):
    rows = read_rows(obj.data).astype(np.float64)
    start = 0
    for kind in spline_kinds(obj.data):
        yield make_strand(kind, rows[start : start + kind.rows]), rows[start : start + kind.rows]
        start += kind.rows


def distance_to_line(points, line_points, closed):
    """The largest distance of points from a polyline. Blenders differ in how many points they draw on a NURBS curve."""
    a = line_points
    b = np.roll(a, -1, axis=0)
    if not closed:
        a, b = a[:-1], b[:-1]
    along = np.einsum("pek,ek->pe", points[:, None] - a, b - a) / np.einsum("ek,ek->e", b - a, b - a)
    nearest = a + np.clip(along, 0.0, 1.0)[..., None] * (b - a)
    return np.linalg.norm(points[:, None] - nearest, axis=2).min(axis=1).max()


def any_directors(x, closed):
    edges = np.roll(x, -1, axis=0) - x if closed else np.diff(x, axis=0)
    t = edges / np.linalg.norm(edges, axis=1, keepdims=True)
    d = np.cross(t, [0.3, 0.2, 0.9])
    return d / np.linalg.norm(d, axis=1, keepdims=True)


@pytest.mark.parametrize("cyclic", [False, True])
@pytest.mark.parametrize("kind", ["POLY", "BEZIER"])
def test_vertices_are_the_points_that_blender_draws(kind, cyclic):
    obj = make_curve((kind, ring(9) if cyclic else line(9), cyclic))
    ((strand, _),) = strands_of(obj)
    assert strand.closed == cyclic
    np.testing.assert_allclose(strand.vertices, evaluated_points(obj), atol=2e-7)


@pytest.mark.skipif(bpy.app.version < (5, 0), reason="earlier Blenders draw another number of points on the same curve")
@pytest.mark.parametrize("cyclic", [False, True])
@pytest.mark.parametrize("endpoint", [False, True])
@pytest.mark.parametrize("bezier", [False, True])
def test_nurbs_of_every_kind_are_as_blender_draws_them(cyclic, endpoint, bezier):
    rng = np.random.default_rng(3)
    drawn = polygons = 0
    for order in (2, 3, 4, 5, 6):
        for count in range(order, 14):
            points = rng.random((count, 3)).astype(np.float32)
            weights = rng.uniform(0.5, 2.0, count).astype(np.float32)
            obj = make_curve(("NURBS", points))
            spline = obj.data.splines[0]
            spline.use_cyclic_u, spline.use_endpoint_u, spline.use_bezier_u = cyclic, endpoint, bezier
            spline.order_u, spline.resolution_u = order, 4
            spline.points.foreach_set("co", np.hstack([points, weights[:, None]]).ravel())
            obj.data.update_tag()
            kind = Knots(order, cyclic, endpoint, bezier)
            if kind.fits(count):
                index, share = basis(count, kind, 4)
                share = share * weights[index]
                x = np.einsum("nj,njk->nk", share / share.sum(axis=1, keepdims=True), points[index])
                drawn += 1
            else:
                x = points
                polygons += 1
            np.testing.assert_allclose(x, evaluated_points(obj), atol=1e-5)
            bpy.data.objects.remove(obj)
    assert drawn > 5
    assert bezier or polygons == 0


@pytest.mark.parametrize("count", [2, 3, 4])
def test_a_short_polyline_is_divided_evenly(count):
    points = line(count)
    obj = make_curve(("POLY", points))
    ((strand, rows),) = strands_of(obj)
    assert len(strand.vertices) >= 9
    pieces = (len(strand.vertices) - 1) // (count - 1)
    np.testing.assert_array_equal(strand.vertices[::pieces], rows)
    np.testing.assert_allclose(strand.vertices[1], rows[0] + (rows[1] - rows[0]) / pieces)
    np.testing.assert_array_equal(strand.controls(strand.vertices, None), rows)


def test_a_polyline_of_four_edges_is_taken_as_it_is():
    obj = make_curve(("POLY", line(5)))
    ((strand, rows),) = strands_of(obj)
    np.testing.assert_array_equal(strand.vertices, rows)


def test_a_rod_that_is_moved_and_turned_moves_its_control_points_likewise():
    obj = make_curve(*MIXED)
    turn = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])
    shift = np.array([1.0, -2.0, 0.5])
    for strand, rows in strands_of(obj):
        directors = any_directors(strand.vertices, strand.closed)
        strand.bind(directors)
        back = strand.controls(strand.vertices @ turn.T + shift, directors @ turn.T)
        np.testing.assert_allclose(back, rows @ turn.T + shift, atol=1e-8)
        np.testing.assert_allclose(strand.controls(strand.vertices, directors), rows, atol=1e-12)


def test_bezier_handles_turn_with_the_twist_of_the_rod():
    """A straight rod twisted about its axis by a quarter turn carries handles that stand off the axis around."""
    obj = make_curve(("BEZIER", [(0, 0, 0), (1, 0, 0), (2, 0, 0)], False, "FREE"))
    rows = read_rows(obj.data).reshape(-1, 3, 3)
    rows[1, 0] = (0.8, 0.0, 0.3)
    rows[1, 2] = (1.2, 0.0, -0.3)
    write_rows(obj.data, rows.reshape(-1, 3))
    obj.data.splines[0].resolution_u = 6
    ((strand, rows),) = strands_of(obj)
    x = np.stack([np.linspace(0, 2, 13), np.zeros(13), np.zeros(13)], axis=1)
    strand.vertices = x
    strand.bind(np.tile([0.0, 0.0, 1.0], (12, 1)))
    back = strand.controls(x, np.tile([0.0, 1.0, 0.0], (12, 1))).reshape(-1, 3, 3)
    np.testing.assert_allclose(back[1], [(0.8, 0.3, 0.0), (1.0, 0.0, 0.0), (1.2, -0.3, 0.0)], atol=1e-7)


@pytest.mark.parametrize("endpoint", [False, True])
def test_a_bent_nurbs_curve_follows_the_rod_and_meets_its_ends(endpoint):
    obj = make_curve(("NURBS", np.stack([np.linspace(0, 1, 9), np.zeros(9), np.zeros(9)], axis=1)))
    obj.data.splines[0].use_endpoint_u = endpoint
    ((strand, _),) = strands_of(obj)
    strand.bind(None)
    s = strand.vertices[:, 0]
    bent = np.stack([np.sin(2 * s) / 2, np.zeros_like(s), (1 - np.cos(2 * s)) / 2], axis=1)
    rows = strand.controls(bent, None)
    write_rows(obj.data, rows.astype(np.float32))
    shown = evaluated_points(obj)
    assert distance_to_line(shown, bent, closed=False) < 2e-3  # bound one by one, control points would miss it by 1e-2
    assert np.abs(shown[[0, -1]] - bent[[0, -1]]).max() < 1e-6


def test_points_are_in_world_space_under_parents_scale_and_units():
    obj = make_curve(*(spline for spline in MIXED if spline[0] != "NURBS"))
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.collection.objects.link(parent)
    parent.location, parent.rotation_euler, parent.scale = (1, 2, 3), (0.3, 0.4, 0.5), (1, 2, 1)
    obj.parent = parent
    obj.location, obj.rotation_euler, obj.scale = (0.1, 0.2, 0.3), (1.0, -0.4, 0.2), (-1.5, 1.5, 0.5)
    scene = bpy.context.scene
    scene.unit_settings.scale_length = 0.1
    bpy.context.view_layer.update()
    matrix = np.array(obj.matrix_world, dtype=np.float64)
    drawn = evaluated_points(obj) @ matrix[:3, :3].T + matrix[:3, 3]
    rod = describe_rod(obj, scene, {obj.tendril.uid: pose_of(obj.matrix_world, scene)}, read_rows(obj.data))
    description = describe_scene(scene, {obj.tendril.uid: obj}, {obj.tendril.uid: rod}, {})
    vertices = np.concatenate([entry.rod.points for entry in description.scene.entries])
    np.testing.assert_allclose(vertices, 0.1 * drawn, atol=1e-6)
    np.testing.assert_allclose(description.scene.gravity, (0, 0, -0.981), atol=1e-6)
    assert description.scene.entries[0].rod.radii[0, 0] == pytest.approx(0.1 * obj.tendril.radius)
