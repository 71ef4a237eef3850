"""Contacts of rods with triangle meshes near their surface, against brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from meshes import (
    SOLIDS,
    SOUPS,
    are_with_triangles,
    candidates,
    cube,
    dented,
    distances,
    empty,
    fins,
    found,
    grid,
    inside_of,
    moebius,
    near_surface,
    packed,
    rods,
    slab,
    slow_scene,
    to_triangles,
    wiggly,
)
from tendril.core.contact.mesh_contacts import edge_contacts, triangle_contacts
from tendril.core.contact.mesh_topology import LEAN, MANIFOLD_BREAKS, pack_meshes
from tendril.core.describe.shapes import Mesh

# Topology


def test_topology_of_known_meshes() -> None:
    meshes = pack_meshes([(Mesh(*cube()), 0.1, 0.5), (Mesh(*grid(3)), 0.2, 0.6), (Mesh(*fins()), 0.3, 0.7)], 11)
    assert meshes.solid.tolist() == [True, False, False]
    vertices, faces = 26 + 16 + 18, 48 + 18 + 20
    assert meshes.vertices.shape == (2, vertices, 3)
    assert meshes.triangles.shape == (faces, 3)
    assert np.bincount(meshes.mesh_of_edge).tolist() == [72, 33, 2 + 5 * 7]
    assert meshes.first_feature.tolist() == [11, 11 + faces, 11 + faces + 2 * len(meshes.edges)]
    sides = np.bincount(meshes.mesh_of_edge, weights=(meshes.opposite[:, 1] == -1)).tolist()
    assert sides == [0, 12, 20]
    assert (meshes.opposite[:, 1] == MANIFOLD_BREAKS).sum() == 2
    assert not pack_meshes([(Mesh(*moebius()), 0.0, 0.0)], 0).solid[0]
    triangle = np.array([(0.0, 0, 0), (1, 0, 0), (0, 1, 0)])
    assert not pack_meshes([(Mesh(triangle, [(0, 1, 2), (0, 2, 1)]), 0.0, 0.0)], 0).solid[0]
    points, triangles = cube()
    triangles[3] = triangles[3, ::-1]
    assert not pack_meshes([(Mesh(points, triangles), 0.0, 0.0)], 0).solid[0]
    nothing = pack_meshes([], 5)
    assert nothing.vertices.shape == (2, 0, 3)
    assert nothing.edges.shape == (0, 2)
    assert nothing.ring_start.tolist() == [0]


@pytest.mark.parametrize("name", SOUPS)
def test_topology_is_that_of_the_triangles(name: str) -> None:
    _, triangles = SOUPS[name]
    meshes = packed(SOUPS[name])
    at_edge: dict[tuple[int, int], list[tuple[bool, int]]] = {}
    neighbours: dict[int, set[int]] = {}
    for triangle in triangles.tolist():
        for k in range(3):
            i, j, o = triangle[k], triangle[(k + 1) % 3], triangle[(k + 2) % 3]
            at_edge.setdefault((min(i, j), max(i, j)), []).append((i < j, o))
            neighbours.setdefault(i, set()).update((j, o))
    assert [tuple(edge) for edge in meshes.edges.tolist()] == sorted(at_edge)
    for edge, (first, second) in zip(meshes.edges.tolist(), meshes.opposite.tolist(), strict=True):
        sides = at_edge[tuple(edge)]
        if len(sides) > 2:
            assert (first, second) == (MANIFOLD_BREAKS, MANIFOLD_BREAKS)
        elif len(sides) == 1:
            assert (first, second) == (sides[0][1], -1)
        elif sides[0][0] != sides[1][0]:
            assert (first, second) == (dict(sides)[True], dict(sides)[False])
        else:
            assert {first, second} == {sides[0][1], sides[1][1]}
    for v in range(len(meshes.ring_start) - 1):
        ring = meshes.ring[meshes.ring_start[v] : meshes.ring_start[v + 1]].tolist()
        assert ring == sorted(neighbours[v])


# Near the surface


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("name", SOUPS)
def test_smallest_gap_is_the_distance(name: str, closed: bool) -> None:
    """And no row claims less; mesh points of all rows lie on the mesh; slides are those of their material."""
    checked = 0
    for seed in range(2):
        samples, meshes = slow_scene(name, seed, closed)
        contacts = found(samples, meshes, margin=0.02)
        true, through = distances(samples, meshes)
        corners = meshes.vertices[1][meshes.triangles]
        outside = ~inside_of(samples.now, corners) if name in SOLIDS else np.ones(len(samples.now), bool)
        reach = samples.radius[0] + meshes.thickness[0]
        edge, at = contacts.edge[:, 0], contacts.at[:, 0]
        assert (contacts.edge[:, 1] == -1).all()
        assert len(np.unique(contacts.key)) == len(contacts.key)
        assert (contacts.key < 0).all()
        assert abs(np.linalg.norm(contacts.normal, axis=1) - 1).max() < 1e-12
        assert (contacts.arm == (samples.radius[0], 0.0)).all()
        assert np.allclose(contacts.friction, 0.6)
        # Rows tell of an edge and of the edge before, if they are at the vertex between.
        smallest = np.full(len(samples.after), np.inf)
        np.minimum.at(smallest, edge, contacts.gap)
        begin, following = smallest.copy(), samples.after
        begin[:] = np.inf
        np.minimum.at(begin, edge[at == 0], contacts.gap[at == 0])
        smallest = np.where(following >= 0, np.minimum(smallest, begin[following]), np.inf)
        passed = np.isin(samples.rod, samples.rod[edge[contacts.crossed]])
        fine = (following >= 0) & ~through & outside & outside[following] & ~passed
        near = fine & (true - reach < 0.02 * (1 - 1e-6))
        assert abs(smallest[near] - (true - reach)[near]).max() < 1e-9
        checked += near.sum()
        apart = fine & (true - reach > 0.02 * (1 + 1e-6))
        assert np.isinf(smallest[apart]).all()
        # Where rows say the mesh is, it is.
        ahead = samples.now[samples.after[edge]]
        x = samples.now[edge] + at[:, None] * (ahead - samples.now[edge])
        rows = ~contacts.crossed
        touched = x - contacts.normal * (contacts.gap + reach)[:, None]
        off = to_triangles(touched[rows], corners)
        assert off.min(axis=1).max() < 1e-9
        # Most points on it are in one triangle only: there the motion is known.
        within = (off < 1e-9).sum(axis=1) == 1
        for row, face in zip(np.flatnonzero(rows)[within], off[within].argmin(axis=1), strict=True):
            of = meshes.vertices[:, meshes.triangles[face]]
            weights = np.linalg.lstsq(np.vstack([of[1].T, np.ones(3)]), [*touched[row], 1.0], rcond=None)[0]
            assert abs(contacts.slide[row] - weights @ (of[1] - of[0])).max() < 1e-8
    assert checked > 100


@pytest.mark.parametrize("name", SOUPS)
def test_gap_changes_along_its_normal(name: str) -> None:
    rng = np.random.default_rng(5)
    samples, meshes = slow_scene(name, 11)
    contacts = found(samples, meshes, margin=0.02)
    of_key = {key: row for row, key in enumerate(contacts.key.tolist())}
    compared = 0
    for _ in range(3):
        way = 1e-6 * rng.standard_normal(3)
        moved = samples._replace(now=samples.now + way)
        later = found(moved, meshes, margin=0.02)
        for row, key in enumerate(later.key.tolist()):
            if key in of_key and not later.crossed[row] and not contacts.crossed[of_key[key]]:
                before = of_key[key]
                change = later.gap[row] - contacts.gap[before]
                assert abs(change - 0.5 * (contacts.normal[before] + later.normal[row]) @ way) < 1e-9
                compared += 1
    assert compared > 300


@pytest.mark.parametrize("name", SOUPS)
def test_before_is_the_gap_at_the_start(name: str) -> None:
    """Seen from a substep that ends where this one begins: rows of the same key there have it as their gap."""
    samples, meshes = slow_scene(name, 21)
    contacts = found(samples, meshes, margin=0.02)
    earlier = meshes._replace(vertices=meshes.vertices[[0, 0]])
    there = found(samples._replace(now=samples.start), earlier, margin=0.05)
    gap = dict(zip(there.key.tolist(), there.gap, strict=True))
    rows = [row for row, key in enumerate(contacts.key.tolist()) if key in gap and not contacts.crossed[row]]
    assert len(rows) > 0.6 * len(contacts.key)
    assert abs(contacts.before[rows] - [gap[contacts.key[row]] for row in rows]).max() < 1e-9


def test_rows_beyond_capacity_are_counted() -> None:
    samples, meshes = slow_scene("grid", 1)
    margins = np.full(len(samples.after), 0.02)
    for kernel, pairs in zip((triangle_contacts, edge_contacts), candidates(samples, meshes, margins), strict=True):
        full, small = empty(), empty(7)
        count = kernel(pairs, len(pairs), samples, meshes, margins, full, 2)
        assert count > 20
        assert kernel(pairs, len(pairs), samples, meshes, margins, small, 2) == count
        for one, other in zip(full, small, strict=True):
            assert (one[:7] == other).all()


# Flat places and corners


@pytest.mark.parametrize("seed", range(4))
def test_flat_sheet_gives_vertical_normals_only(seed: int) -> None:
    """However a rod lies or slides on it: over inner edges, along them, from vertex to vertex."""
    rng = np.random.default_rng(seed)
    meshes = packed(grid(8), thickness=0.0)
    along = np.linspace(-0.6, 0.6, 7)
    for side in (1.0, -1.0):
        angles = np.concatenate([rng.uniform(0, 2 * math.pi, 60), np.arange(8) * math.pi / 4])
        straight = along[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)[:, None]
        line = np.concatenate([straight, np.zeros((*straight.shape[:2], 1))], axis=2)
        line[:60, :, :2] += rng.uniform(-0.3, 0.3, (60, 1, 2))
        line[..., 2] = side * (0.0101 + 0.0005 * rng.standard_normal(line.shape[:2]))
        line[::2, :, 2] = side * 0.0101
        slid = line + np.array([0.03, -0.02, 0.0])
        samples = rods(line, slid, 0.01) if seed % 2 else rods(slid, line, 0.01)
        contacts = found(samples, meshes, margin=0.005)
        assert abs(contacts.normal - (0.0, 0.0, side)).max() < 1e-6
        assert not contacts.crossed.any()
        touching = np.unique(np.where(contacts.at[:, 0] == 1.0, contacts.edge[:, 0] + 1, contacts.edge[:, 0]))
        assert len(touching) == len(samples.after)  # each vertex has found its triangle
        assert are_with_triangles(contacts, samples, meshes).all()


def test_a_rod_over_the_rim_of_a_sheet() -> None:
    """Vertices beyond it touch nothing; the edge that crosses the rim does, straight up."""
    meshes = packed(grid(4), thickness=0.0)
    for y in (0.13, 0.0, 0.5):  # the latter two over vertices of the rim
        line = np.array([[(0.8, y, 0.01), (1.2, y, 0.01), (1.6, y, 0.01)]])
        contacts = found(rods(line, line, 0.01), meshes, margin=0.005)
        rim = contacts.at[:, 0] > 0.0
        assert rim.any()
        assert np.allclose(contacts.at[rim, 0], 0.5)
        assert abs(contacts.normal - (0, 0, 1)).max() < 1e-12
    for y in (0.13, 0.5, 1.0):
        line = np.array([[(1.0, y, 0.01), (1.4, y, 0.01)]])  # a vertex over the rim is over a triangle
        samples = rods(line, line, 0.01)
        contacts = found(samples, meshes, margin=0.005)
        assert are_with_triangles(contacts, samples, meshes).all()
        assert len(contacts.gap) > 0


def test_normals_are_across_nearly_parallel_edges() -> None:
    rng = np.random.default_rng(7)
    way = np.array([1.0, 0, 0]) + 10.0 ** rng.uniform(-7, -1, (400, 1)) * rng.standard_normal((400, 3))
    line = np.array([0.0, 1.03, 1.03]) + np.multiply.outer([-0.2, 0.2], way).transpose(1, 0, 2)
    contacts = found(rods(line, line, 0.05), packed(cube(1), thickness=0.0))
    inner = (contacts.at[:, 0] > 0.0) & (contacts.at[:, 0] < 1.0)
    assert inner.sum() > 150
    along = way[contacts.edge[inner, 0] // 2]
    assert abs((contacts.normal[inner] * along).sum(axis=1)).max() < 1e-12


def test_corners_and_edges_of_a_cube_push_outwards() -> None:
    """Rods that lie across random directions over corners, edges and faces of a cube."""
    rng = np.random.default_rng(3)
    meshes = packed(cube(3), thickness=0.0)
    n = np.abs(rng.standard_normal((900, 3))) * np.repeat([(1, 1, 1), (1, 1, 0), (0, 1, 0)], 300, axis=0)
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    t = np.cross(n, rng.standard_normal((900, 3)))
    place = np.where(n > 0, 1.0, rng.uniform(-0.9, 0.9, (900, 3))) + 0.04 * n
    line = place[:, None] + np.multiply.outer([-0.3, 0.0, 0.3], t).transpose(1, 0, 2)
    line[:300] += np.array([0.1, 0.0, 0.02])[:, None] * n[:300, None]
    line[50:300:2] += rng.uniform(-0.2, 0.2, (125, 1, 1)) * t[50:300:2, None]
    samples = rods(line, line, 0.05)
    contacts = found(samples, meshes)
    assert contacts.gap.min() > -0.01 - 1e-9
    edge, at = contacts.edge[:, 0], contacts.at
    x = samples.now[edge] + at[:, :1] * (samples.now[samples.after[edge]] - samples.now[edge])
    p = x - contacts.normal * (contacts.gap + 0.05)[:, None]
    cone = contacts.normal * np.where(abs(abs(p) - 1.0) < 1e-9, np.sign(p), 0.0)
    assert abs((cone**2).sum(axis=1) - 1).max() < 1e-9  # nothing along faces the point is within
    assert cone.min() > -LEAN
    assert cone[contacts.at[:, 0] % 1.0 == 0.0].min() > -1e-9  # of vertices of rods
    directions = (cone > 1e-6).sum(axis=1)
    assert [(directions == k).sum() > 50 for k in (1, 2, 3)] == [True] * 3


# Inside of solids


@pytest.mark.parametrize("name", SOLIDS)
def test_vertices_inside_are_pushed_to_the_nearest_point_of_the_surface(name: str) -> None:
    rng = np.random.default_rng(8)
    points, triangles = SOUPS[name]
    meshes = packed((points, triangles))
    corners = points[triangles]
    place = near_surface(rng, (points, triangles), 400, 0.08)
    line = place[:, None] + wiggly(rng, 400, 3, 0.2)
    samples = rods(line, line, 0.02)
    contacts = found(samples, meshes, margin=0.1)
    inside = inside_of(samples.now, corners)
    depth = to_triangles(samples.now, corners).min(axis=1)
    with_triangles = are_with_triangles(contacts, samples, meshes)
    vertex = contacts.edge[:, 0] + (contacts.at[:, 0] == 1.0)
    rows = with_triangles & inside[vertex]
    assert (np.bincount(vertex[rows], minlength=len(inside))[inside & (depth < 0.1)] == 1).all()
    sure = rows & (depth[vertex] < 0.1)
    assert abs(contacts.gap[sure] - (-depth[vertex[sure]] - 0.03)).max() < 1e-9
    assert abs(contacts.before[rows] - contacts.gap[rows]).max() < 1e-12
    pushed = samples.now[vertex[rows]] - contacts.normal[rows] * (contacts.gap[rows] + 0.03 - 1e-6)[:, None]
    assert not inside_of(pushed, corners).any()
    assert rows.sum() > 100
    # What is all inside has to do with triangles only.
    _, through = distances(samples, meshes)
    edge = contacts.edge[:, 0]
    assert with_triangles[inside[edge] & inside[samples.after[edge]] & ~through[edge]].all()
    # And no vertex outside is pulled in.
    rows = with_triangles & ~inside[vertex]
    assert (contacts.gap[rows] >= depth[vertex[rows]] - 0.03 - 1e-9).all()
    assert rows.sum() > 100


def test_thin_solid_is_not_mistaken_for_its_far_side() -> None:
    points, triangles = cube(3)
    meshes = packed((points * (1.0, 1.0, 0.004), triangles), thickness=0.0)
    rng = np.random.default_rng(4)
    line = wiggly(rng, 300, 4, 0.1) * (1, 1, 0) + rng.uniform(-1.1, 1.1, (300, 1, 3)) * (1, 1, 0)
    for side in (1.0, -1.0):
        line[..., 2] = side * (0.004 + 0.009)
        contacts = found(rods(line, line, 0.01), meshes, margin=0.02)
        at_face = abs(contacts.gap + 0.001) < 1e-9
        assert (contacts.gap[~at_face] > -0.001).all()
        assert abs(contacts.normal[at_face] - (0, 0, side)).max() < 1e-9
        assert at_face.sum() > 800
        assert (contacts.normal[:, 2] * side > -1e-9).all()
        assert len(at_face) == len(np.unique(contacts.edge[:, 0] + contacts.at[:, 0]))  # nothing with the far side


def test_what_was_not_looked_at_is_not_taken_for_absent() -> None:
    """Boxes of rods along the axes meet the whole lower side of a slab, and of the upper one only what is near."""
    meshes = packed(slab(), thickness=0.0)
    assert meshes.solid.all()
    rng = np.random.default_rng(6)
    line = rng.uniform(-0.6, 0.6, (150, 1, 3)) + np.array([(0.0, 0, 0), (0.5, 0, 0)])
    line = np.concatenate([line, line[:, ::-1]])
    samples = rods(line, line, 0.01)
    corners = meshes.vertices[1][meshes.triangles]
    outside = ~inside_of(samples.now, corners)
    contacts = found(samples, meshes)
    vertex = contacts.edge[:, 0] + (contacts.at[:, 0] == 1.0)
    rows = np.isin(contacts.at[:, 0], (0.0, 1.0)) & outside[vertex]
    depth = to_triangles(samples.now, corners).min(axis=1)
    assert (contacts.gap[rows] > depth[vertex[rows]] - 0.01 - 1e-9).all()
    assert rows.sum() > 3


def test_a_dent_does_not_push_inwards() -> None:
    """Rods under its tip: a vertex is pushed out through it, an edge that no vertex of which is near has nothing to do."""
    meshes = packed(dented(), thickness=0.0)
    line = np.array([[(-0.2, 0.01, 0.15), (0.2, 0.01, 0.15)], [(0.0, 0.01, 0.15), (0.3, 0.01, -0.2)]])
    samples = rods(line, line, 0.1)
    contacts = found(samples, meshes)
    assert contacts.edge[:, 0].tolist() == [2, 2]
    assert are_with_triangles(contacts, samples, meshes).all()
    assert np.allclose(contacts.normal[contacts.at[:, 0] == 0.0], np.array((0, -0.01, 0.05)) / math.hypot(0.01, 0.05))


def test_an_edge_that_cuts_a_solids_edge_is_pushed_out() -> None:
    meshes = packed(cube(1), thickness=0.0)
    line = np.array([[(0.6, 0.3, 1.3), (1.3, 0.1, 0.6)]])  # its middle is 0.05 * sqrt(2) inside
    contacts = found(rods(line, line, 0.02), meshes, margin=0.1)
    cut = (contacts.at[:, 0] > 0.0) & (contacts.at[:, 0] < 1.0) & (contacts.gap < -0.02)
    assert cut.sum() == 1
    u = (line[0, 1] - line[0, 0]) / np.linalg.norm(line[0, 1] - line[0, 0])
    n = np.cross(u, (0, 1, 0)) / np.linalg.norm(np.cross(u, (0, 1, 0)))
    n *= np.sign(n[2])
    assert np.allclose(contacts.normal[cut], n, atol=1e-9)
    assert np.allclose(contacts.gap[cut], n @ (line[0, 0] - (1, 0, 1)) - 0.02)
    assert np.allclose(contacts.before[cut], contacts.gap[cut])


def test_rubbish_is_passed_over() -> None:
    samples, meshes = slow_scene("ball", 1)
    points = samples.now.copy()
    points[::3] = np.nan
    points[1] = np.inf
    margins = np.full(len(samples.after), 0.02)
    pairs, edge_pairs = candidates(samples, meshes, margins)
    broken = samples._replace(now=points)
    contacts = empty()
    count = triangle_contacts(pairs, len(pairs), broken, meshes, margins, contacts, 0)
    count = edge_contacts(edge_pairs, len(edge_pairs), broken, meshes, margins, contacts, count)
    assert np.isfinite(contacts.gap[:count]).all()
