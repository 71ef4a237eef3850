"""Passages of rods through triangle meshes: none is missed, and all push back to where the rod came from."""

from __future__ import annotations

import numpy as np
import pytest
from meshes import (
    SOUPS,
    are_with_triangles,
    found,
    grid,
    packed,
    passages,
    rods,
    thrown,
    wiggly,
)
from tendril.core.contact.arrays import Contacts, Meshes, Samples


@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("name", SOUPS)
def test_no_passage_is_missed(name: str, moving: bool) -> None:
    through = missed = idle = 0
    for samples, meshes in zip(*thrown(name, 31, 12, moving), strict=True):
        contacts = found(samples, meshes)
        stopped = np.zeros(samples.rod.max() + 1, bool)
        stopped[samples.rod[contacts.edge[contacts.crossed, 0]]] = True
        seen = passages(samples, meshes)
        through += seen.sum()
        missed += (seen & ~stopped).sum()
        idle += (~seen & ~stopped).sum()
        check_passages(samples, meshes, contacts)
    assert missed == 0
    assert through > 80
    assert idle > 40


def check_passages(samples: Samples, meshes: Meshes, contacts: Contacts) -> None:
    """What is known of each by itself: where the two meet, how deep they are in the end, and the direction."""
    rows = np.flatnonzero(contacts.crossed)
    edge, at = contacts.edge[rows, 0], contacts.at[rows, :1]
    ends = samples.after[edge]
    begin = samples.start[edge] + at * (samples.start[ends] - samples.start[edge])
    x = samples.now[edge] + at * (samples.now[ends] - samples.now[edge])
    normal = contacts.normal[rows]
    approach = ((x - begin - contacts.slide[rows]) * normal).sum(axis=1)
    assert (approach < 0.0).all()
    depth = contacts.gap[rows] + samples.radius[edge]
    assert ((depth <= 1e-12) & (depth >= approach - 1e-12)).all()
    assert (contacts.before[rows] >= -samples.radius[edge] - 1e-12).all()


@pytest.mark.parametrize("name", ["flat", "grid", "cube"])
def test_a_rod_pushed_back_by_its_passages_is_not_through(name: str) -> None:
    """Normals point to where the rod came from: going there along them undoes each passage."""
    for samples, meshes in zip(*thrown(name, 77, 4, False), strict=True):
        contacts = found(samples, meshes)
        vertex = contacts.crossed & are_with_triangles(contacts, samples, meshes)
        for row in np.flatnonzero(vertex):
            i = contacts.edge[row, 0] + int(contacts.at[row, 0])
            back = samples.now[i] - contacts.normal[row] * (contacts.gap[row] + samples.radius[i] - 1e-9)
            face = (-1 - contacts.key[row]) // len(samples.after) - meshes.first_feature[0]
            corners = meshes.vertices[1][meshes.triangles[face]]
            n = np.cross(corners[1] - corners[0], corners[2] - corners[0])
            assert ((back - corners[0]) @ n) * ((samples.start[i] - corners[0]) @ n) > 0.0


@pytest.mark.parametrize("name", ["flat", "cube"])
def test_no_passage_is_missed_where_all_is_in_line(name: str) -> None:
    """Vertices exactly over edges and vertices of the mesh, edges along its edges, straight down."""
    meshes = packed(SOUPS[name], thickness=0.0)
    top = SOUPS[name][0][:, 2].max()
    for step in (0.25, 0.5, 0.125, 2.5):
        for way in ((1, 0), (0, 1), (1, 1), (1, -1)):
            for offset in ((0, 0), (0.25, 0.0), (0.0, 0.5), (0.125, 0.125), (0.25, 0.5)):
                place = (np.arange(5) - 2)[:, None] * step * np.array([*way, 0.0]) + (*offset, top)
                for down in ((0.0, 0.0), (0.25, 0.0), (0.125, 0.3), (0.5, -0.5)):
                    line = np.add(place, (0, 0, 0.2))[None]
                    samples = rods(line, line - (*down, 0.5), 1e-4)
                    contacts = found(samples, meshes)
                    assert contacts.crossed.any()
                    hit = place[:, :2] - 0.4 * np.array(down)
                    within = (abs(hit) < 1.0 - 1e-9).all(axis=1)
                    vertex = contacts.edge[:, 0] + (contacts.at[:, 0] == 1.0)
                    assert within[~np.isin(np.arange(5), vertex[contacts.crossed])].sum() == 0
                    flat = contacts.crossed & np.isin(contacts.at[:, 0], (0.0, 1.0))
                    assert abs(contacts.normal[flat & within[vertex]] - (0, 0, 1)).max(initial=0.0) < 1e-6


def test_a_solid_may_be_left_but_not_entered() -> None:
    meshes = packed(SOUPS["ball"], thickness=0.0)
    rng = np.random.default_rng(9)
    line = 0.1 * wiggly(rng, 100, 3, 1.0)
    out = rng.standard_normal((100, 1, 3))
    out *= 2.0 / np.linalg.norm(out, axis=2, keepdims=True)
    assert not found(rods(line, line + out, 0.01), meshes).crossed.any()
    entering = found(rods(line + out, line, 0.01), meshes)
    assert len(np.unique(entering.edge[entering.crossed, 0] // 3)) == 100
    assert (entering.normal[entering.crossed] @ np.eye(3) * out[entering.edge[entering.crossed, 0] // 3, 0]).sum(
        1
    ).min() > 0


def test_what_passes_one_triangle_is_not_pushed_on_by_the_next() -> None:
    """A rod on its way through a flat sheet, sideways over many triangles: all that it gets is one way."""
    meshes = packed(grid(12), thickness=0.0)
    rng = np.random.default_rng(2)
    line = wiggly(rng, 200, 5, 0.12) * (1, 1, 0.0) + rng.uniform(-0.3, 0.3, (200, 1, 3)) * (1, 1, 0) + (0, 0, 0.004)
    way = rng.uniform(-0.3, 0.3, (200, 1, 3)) * (1, 1, 0) - (0, 0, 0.008)
    contacts = found(rods(line, line + way, 0.01), meshes, margin=0.01)
    assert contacts.crossed.sum() > 1000
    assert contacts.normal[:, 2].min() > 1 - 1e-9


def test_over_the_rim_a_rod_in_line_with_vertices_is_not_pushed_on_either() -> None:
    meshes = packed(grid(4), thickness=0.0)
    for y in (-0.5, 0.0, 1.0):
        line = np.array([[(0.8, y, 0.004), (1.2, y, 0.004), (1.6, y, 0.004)]])
        contacts = found(rods(line, line - (0.05, 0, 0.008), 0.01), meshes, margin=0.01)
        assert contacts.crossed.any()
        assert contacts.normal[:, 2].min() > 1 - 1e-9


def test_what_is_in_a_sheet_may_move_along_it_and_off_its_rim() -> None:
    """A rod that is stuck through a sheet, its vertices far from it."""
    rng = np.random.default_rng(12)
    meshes = packed(grid(4), thickness=0.0)
    line = rng.uniform(-0.9, 0.9, (300, 1, 3)) * (1, 1, 0) + np.array([(0.0, 0, -2), (0, 0, 2)])
    line[:, 1] += rng.uniform(-0.5, 0.5, (300, 3))
    way = rng.uniform(-0.7, 0.7, (300, 1, 3)) * (1, 1, 0)
    stuck = passages(rods(line, line, 0.01), meshes, 1)
    assert (stuck & ~passages(rods(line + way, line + way, 0.01), meshes, 1)).sum() > 20
    assert not found(rods(line[stuck], (line + way)[stuck], 0.01), meshes).crossed.any()
