"""Points of rods on the surfaces of meshes that deform."""

import bpy
import numpy as np
import pytest
from tendril.addon import memory
from tendril.addon.bridge.curves import read_rows
from tendril.tests.addon.building import make_mesh, make_rod, status
from tendril.tests.addon.test_attachments import LAST, animate, attach
from tendril.tests.addon.test_operators import refuses


def sheet(deform, cuts=2):
    """A sheet at z = 0 that becomes what `deform` makes of its vertices, by a shape key, and is moved, too."""
    obj = make_mesh(size=2.0, at=(0.0, 0.0, 0.0), collide=False, cuts=cuts)
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Other")
    for vertex in key.data:
        vertex.co = deform(np.array(vertex.co))
    for frame, value in ((1, 0.0), (LAST, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    animate(obj, "location", (1, (0.0, 0.0, 0.0)), (LAST, (0.3, -0.1, 0.2)))
    return obj


def triangles_of(obj):
    """(m, 3, 3) corners, in the world."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    mesh.calc_loop_triangles()
    found = np.array(
        [[evaluated.matrix_world @ mesh.vertices[k].co for k in one.vertices] for one in mesh.loop_triangles]
    )
    evaluated.to_mesh_clear()
    return found


def shares_at(corners, place):
    """Of the triangle below a place: its number, and the shares of its corners."""
    for k, (a, b, c) in enumerate(corners):
        s, t = np.linalg.solve(np.stack([b - a, c - a], axis=1)[:2], (place - a)[:2])
        if min(s, t, 1 - s - t) >= 0.0:
            return k, np.array([1 - s - t, s, t])
    raise AssertionError


def bent(place):
    return [place[0], 0.7 * place[1], 0.5 * place[0] ** 2 + 0.3 * place[0] * place[1]]


@pytest.mark.parametrize("model", ["der", "compact", "der2008", "clothoid"])
def test_a_point_follows_the_nearest_point_of_a_face(model):
    surface = sheet(bent, cuts=3)
    start = np.array([0.21, 0.13, 0.0])
    rod = make_rod(("POLY", np.linspace(start, (0.81, 0.13, 0.0), 7)), start_hold="FREE", model=model)
    attach(rod, surface, "START", use_surface=True)
    corners = triangles_of(surface)
    face, shares = shares_at(corners, start)
    assert shares.max() < 0.95  # no vertex of the mesh
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        assert status(rod) == ""
        np.testing.assert_allclose(read_rows(rod.data)[0], shares @ triangles_of(surface)[face], atol=3e-6)
    assert np.linalg.norm(read_rows(rod.data)[0] - start) > 0.2


@pytest.mark.parametrize("rotation", [False, True])
def test_with_orientation_a_rod_stands_on_its_face(rotation):
    """The sheet turns about the y axis by a radian: a stiff rod that stands on it turns with it."""
    bpy.context.scene.use_gravity = False
    c, s = np.cos(1.0), np.sin(1.0)
    surface = sheet(lambda x: [c * x[0], x[1], -s * x[0]])
    points = np.linspace((0.0, 0.1, 0.05), (0.0, 0.1, 0.45), 7)  # begins above the sheet
    rod = make_rod(("POLY", points), start_hold="FREE", material="SPRING_STEEL")
    attach(rod, surface, "START", use_surface=True, use_rotation=rotation)
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
    rows = read_rows(rod.data)
    np.testing.assert_allclose(rows[0], [0.3 + 0.05 * s, 0.0, 0.2 + 0.05 * c], atol=1e-5)
    direction = (rows[1] - rows[0]) / np.linalg.norm(rows[1] - rows[0])
    assert (direction @ [s, 0.0, c] > 0.97) == rotation


def test_each_spline_has_its_own_point_and_they_let_go_together():
    surface = sheet(bent, cuts=3)
    starts = np.array([[x, y, 0.02] for x in (-0.62, 0.17, 0.71) for y in (-0.55, 0.33)])
    splines = [("POLY", np.linspace(at, at + np.array([0.0, 0.0, 0.4]), 5)) for at in starts]
    rod = make_rod(*splines, start_hold="FREE")
    item = attach(rod, surface, "START", use_surface=True)
    for frame, influence in ((1, 1.0), (6, 1.0), (7, 0.0)):
        item.influence = influence
        item.keyframe_insert("influence", frame=frame)
    corners = triangles_of(surface)
    seats = [shares_at(corners, at) for at in starts]
    apart = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        assert status(rod) == ""
        now = triangles_of(surface)
        places = np.array([shares @ now[face] for face, shares in seats])
        apart.append(np.linalg.norm(read_rows(rod.data)[::5] - places, axis=1))
    np.testing.assert_allclose(apart[:6], 0.02, atol=1e-5)
    assert np.min(apart[-1]) > 0.05
    assert list(memory.running_of(bpy.context.scene).influences.values()) == [0.0]


def test_a_surface_without_faces_is_refused():
    surface = sheet(bent)
    surface.shape_key_clear()
    surface.data.clear_geometry()
    rod = make_rod()
    attach(rod, surface, "END", use_surface=True)
    bpy.context.scene.frame_set(1)
    assert "no faces" in status(rod)
    refuses(bpy.ops.tendril.bake, "no faces")
