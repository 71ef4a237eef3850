"""Linking, twist and writhe of polygons whose values are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tendril.core.maths.geometry.linking import linking_number, self_linking, total_twist, writhe

from .cases import fitted_order
from .rods import circle

MIRROR = np.array([1.0, 1.0, -1.0])


def torus_knot(s: np.ndarray, thickness: float = 0.7) -> np.ndarray:
    """The right-handed trefoil: twice around the axis of a torus and three times around its tube."""
    out = 2.0 + thickness * np.cos(3.0 * s)
    return np.stack([out * np.cos(2.0 * s), out * np.sin(2.0 * s), -thickness * np.sin(3.0 * s)], axis=-1)


def around(count: int) -> np.ndarray:
    return 2.0 * math.pi * np.arange(count) / count


def across(points: np.ndarray, towards: np.ndarray) -> np.ndarray:
    """Unit directors across the edges, towards another curve."""
    edges = np.roll(points, -1, axis=0) - points
    t = edges / np.linalg.norm(edges, axis=1)[:, None]
    d = (towards + np.roll(towards, -1, axis=0) - points - np.roll(points, -1, axis=0)) / 2.0
    d -= np.einsum("ij,ij->i", d, t)[:, None] * t
    return d / np.linalg.norm(d, axis=1)[:, None]


def test_two_rings() -> None:
    ring = circle(13)
    chained = circle(11)[:, [1, 2, 0]] + np.array([1.0, 0.0, 0.0])
    assert linking_number(ring, chained) == pytest.approx(1.0, abs=1e-14)
    assert linking_number(chained, ring) == pytest.approx(1.0, abs=1e-14)
    assert linking_number(ring, chained[::-1]) == pytest.approx(-1.0, abs=1e-14)
    assert linking_number(ring, chained * MIRROR) == pytest.approx(-1.0, abs=1e-14)
    assert linking_number(ring, chained + np.array([2.5, 0.0, 0.0])) == pytest.approx(0.0, abs=1e-14)


def test_a_coil_winds_around_a_ring() -> None:
    s = around(200)
    coil = np.stack([(3.0 + np.cos(7.0 * s)) * np.cos(s), (3.0 + np.cos(7.0 * s)) * np.sin(s), np.sin(7.0 * s)], axis=1)
    # Outwards, then up, while going around to the left: a left-handed coil.
    assert linking_number(circle(40, 3.0), coil) == pytest.approx(-7.0, abs=1e-13)
    assert linking_number(circle(40, 3.0), coil * MIRROR) == pytest.approx(7.0, abs=1e-13)


def test_a_flat_curve_does_not_writhe() -> None:
    s = around(50)
    flower = circle(50) * (1.0 + 0.4 * np.cos(5.0 * s))[:, None]
    assert writhe(flower) == pytest.approx(0.0, abs=1e-14)


def test_writhe_of_the_trefoil_tends_to_the_double_integral() -> None:
    """Of second order in the length of edges; Gauss's integral over the smooth curve is done here by the midpoint rule."""

    def derivative(s: np.ndarray, step: float = 1e-5) -> np.ndarray:
        return (torus_knot(s + step) - torus_knot(s - step)) / (2.0 * step)

    s, shift = np.meshgrid(around(200), around(2000) + math.pi / 2000, indexing="ij")
    apart = torus_knot(s) - torus_knot(s + shift)
    volume = np.einsum("...i,...i->...", apart, np.cross(derivative(s), derivative(s + shift)))
    expected = math.pi * float(np.mean(volume / np.linalg.norm(apart, axis=-1) ** 3))
    errors = [abs(writhe(torus_knot(around(n))) - expected) for n in (50, 100, 200)]
    assert errors[-1] < 1e-3
    assert fitted_order((50, 100, 200), errors) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("count", [40, 97])
def test_the_trefoil_links_its_neighbour_on_the_torus_six_times(count: int) -> None:
    knot, neighbour = torus_knot(around(count)), torus_knot(around(count), 0.75)
    directors = across(knot, neighbour)
    assert linking_number(knot, neighbour) == pytest.approx(6.0, abs=1e-12)
    assert self_linking(knot, directors) == pytest.approx(6.0, abs=1e-12)
    assert self_linking(knot * MIRROR, directors * MIRROR) == pytest.approx(-6.0, abs=1e-12)
    assert abs(writhe(knot) - 3.25) < 0.05  # so twist and writhe each have their part
    assert total_twist(knot, directors) == pytest.approx(6.0 - writhe(knot), abs=1e-12)


def test_any_framing_of_any_polygon_links_a_whole_number_of_times() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        points = np.cumsum(rng.standard_normal((30, 3)), axis=0)
        directors = across(points, points + rng.standard_normal((30, 3)))
        link = self_linking(points, directors)
        assert link == pytest.approx(round(link), abs=1e-12)
