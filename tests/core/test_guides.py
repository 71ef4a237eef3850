"""Strands that follow guides, and points pushed out of meshes."""

import time
from itertools import pairwise

import numpy as np
import pytest
from tendril.core.compile.workers import Workers
from tendril.core.maths.geometry.distance_field import make_field, push_out
from tendril.core.maths.geometry.guides import bind, deform, nearest_guides, spread_guides, vertex_frames


def strands(count, points, seed=0):
    """Curved strands on a disc, and the directors of their edges."""
    rng = np.random.default_rng(seed)
    roots = np.concatenate([rng.uniform(-0.1, 0.1, (count, 2)), np.zeros((count, 1))], axis=1)
    s = np.linspace(0.0, 0.2, points)[None, :, None]
    lean = rng.normal(size=(count, 1, 3)) * 0.3
    x = roots[:, None] + s * (np.array([0.0, 0.0, 1.0]) + lean) + 5.0 * s * s * rng.normal(size=(count, 1, 3)) * 0.2
    edges = np.diff(x, axis=1)
    d = np.cross(edges, [1.0, 0.2, 0.1])
    d /= np.linalg.norm(d, axis=2, keepdims=True)
    return roots, x.reshape(-1, 3), d.reshape(-1, 3), np.arange(0, count * points + 1, points)


def turn(axis, angle):
    a = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    k = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
    return np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * k @ k


def test_guides_are_spread_evenly():
    roots, *_ = strands(3000, 5)
    chosen = spread_guides(roots, 100)
    assert len(set(chosen.tolist())) == 100
    apart = np.linalg.norm(roots[chosen][:, None] - roots[chosen], axis=2) + 10.0 * np.eye(100)
    assert apart.min(axis=1).min() > 0.6 * apart.min(axis=1).mean()
    reach = np.linalg.norm(roots[:, None] - roots[chosen], axis=2).min(axis=1)
    assert reach.max() < 0.03  # 100 on a square of 0.2 m


def test_rest_shape_and_rigid_motion_are_exact():
    roots, points, _, start = strands(500, 12)
    _, x, d, guide_start = strands(20, 20, seed=1)
    index, weight = nearest_guides(roots, x[guide_start[:-1]], 3, np.inf)
    assert np.allclose(weight.sum(axis=1), 1.0)
    frames = vertex_frames(x, d, guide_start)
    bound = bind(points, start, index, weight, x, frames, guide_start)
    workers = Workers(2)
    assert np.abs(deform(bound, x, frames, roots, workers) - points).max() < 1e-6
    rotation, shift = turn((1, 2, 3), 0.8), np.array([0.1, -0.2, 0.3])
    moved = x @ rotation.T + shift
    now = deform(bound, moved, vertex_frames(moved, d @ rotation.T, guide_start), roots @ rotation.T + shift, workers)
    assert np.abs(now - (points @ rotation.T + shift)).max() < 1e-6


def test_a_strand_on_its_guide_follows_it():
    _, x, d, start = strands(5, 20, seed=2)
    bent = x + np.random.default_rng(3).normal(size=x.shape) * 0.0002
    bent[start[:-1]] = x[start[:-1]]
    index, weight = nearest_guides(x[start[:-1]], x[start[:-1]], 3, np.inf)
    frames = vertex_frames(x, d, start)
    bound = bind(x, start, index, weight, x, frames, start)
    now = deform(bound, bent, vertex_frames(bent, d, start), x[start[:-1]], Workers(1))
    assert np.abs(now - bent).max() < 1e-5


def test_guides_that_part_do_not_draw_strands_out():
    roots, points, _, start = strands(200, 12)
    _, x, d, guide_start = strands(20, 20, seed=1)
    index, weight = nearest_guides(roots, x[guide_start[:-1]], 3, np.inf)
    frames = vertex_frames(x, d, guide_start)
    bound = bind(points, start, index, weight, x, frames, guide_start)
    ranges = enumerate(pairwise(guide_start))
    turned = np.concatenate([frames[a:b] @ turn((k, 1, -k), 2.0 * k) for k, (a, b) in ranges])
    now = deform(bound, x + np.random.default_rng(0).normal(size=x.shape) * 0.05, turned, roots, Workers(2)).reshape(
        200, 12, 3
    )
    ratio = np.linalg.norm(np.diff(now, axis=1), axis=2) / np.linalg.norm(
        np.diff(points.reshape(200, 12, 3), axis=1), axis=2
    )
    assert 1.09 < ratio.max() < 1.1 + 1e-4


def test_out_of_reach_has_no_weight():
    _index, weight = nearest_guides(np.array([[0.0, 0, 0], [5.0, 0, 0]]), np.array([[0.1, 0, 0], [0.2, 0, 0]]), 2, 1.0)
    assert weight[0].sum() == 1.0
    assert weight[1].sum() == 0.0


def ball(radius=0.1, rings=24):
    theta, phi = np.meshgrid(np.linspace(0, np.pi, rings + 1), np.arange(2 * rings) * np.pi / rings, indexing="ij")
    x = radius * np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], axis=-1)
    n, faces = 2 * rings, []
    for i in range(rings):
        for j in range(n):
            a, b, c, d = i * n + j, (i + 1) * n + j, (i + 1) * n + (j + 1) % n, i * n + (j + 1) % n
            faces += [(a, b, c)] * (i < rings - 1) + [(a, c, d)] * (i > 0)
    return x.reshape(-1, 3), np.array(faces)


def test_points_are_pushed_to_the_surface_of_a_turned_ball():
    vertices, triangles = ball()
    field = make_field(vertices, triangles, 0.002)
    rng = np.random.default_rng(0)
    d = rng.normal(size=(400, 5, 3))
    d /= np.linalg.norm(d, axis=2, keepdims=True)
    local = d * rng.uniform(0.05, 0.15, (400, 5, 1))
    rotation, shift = turn((1, 1, 0), 0.5), np.array([0.3, 0.0, 0.1])
    points = (local.reshape(-1, 3) @ rotation.T + shift).astype(np.float32)
    before = points.copy()
    push_out(field, rotation, shift, np.arange(0, 2001, 5), points, Workers(2))
    distance = np.linalg.norm(points - shift, axis=1).reshape(400, 5)
    was = np.linalg.norm(local, axis=2)
    assert np.array_equal(points.reshape(400, 5, 3)[:, 0], before.reshape(400, 5, 3)[:, 0])  # roots stay
    inside = was[:, 1:] < 0.1
    assert np.abs(distance[:, 1:][inside] - 0.102).max() < 1.5e-3  # half a cell
    outside = was[:, 1:] > 0.104
    assert np.abs((points - before).reshape(400, 5, 3)[:, 1:][outside]).max() < 1e-6


@pytest.mark.long
def test_thirty_thousand_strands_take_less_than_forty_milliseconds():
    roots, points, _, start = strands(30_000, 20)
    _, x, d, guide_start = strands(300, 20, seed=1)
    index, weight = nearest_guides(roots, x[guide_start[:-1]], 3, np.inf)
    frames = vertex_frames(x, d, guide_start)
    bound = bind(points, start, index, weight, x, frames, guide_start)
    workers = Workers(2)
    field = make_field(*ball(), 0.0)
    best = np.inf
    for _ in range(8):
        begin = time.process_time()
        now = deform(bound, x, vertex_frames(x, d, guide_start), roots, workers)
        push_out(field, np.eye(3), np.array([0.0, 0.0, -0.1]), start, now, workers)
        best = min(best, time.process_time() - begin)
    print(f"{1e3 * best:.1f} ms of processor time")
    assert best < 0.04
