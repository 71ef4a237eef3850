"""What lies within the allowed ranges, up to their very ends and in any type, is never refused."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from bad_values import (
    RUBBER,
    many,
    ring,
    valid_points,
)
from hypothesis import given
from hypothesis import strategies as st
from tendril.core import Ellipse, Material, Rod, Scene, Stiffness

# Not even a warning may escape: a person in Blender sees them in the console and wonders.
pytestmark = pytest.mark.filterwarnings("error")


def ends(low, high):
    """Numbers of a range, both ends among them, spread over its orders of magnitude."""
    inner = st.floats(math.log(low), math.log(high)).map(lambda x: min(max(math.exp(x), low), high))
    return st.one_of(st.just(low), st.just(high), inner)


def as_the_user_may_write_it(draw, value):
    """The same number in another type."""
    kinds = [float, np.float64, Fraction, np.array]
    return draw(st.sampled_from(kinds))(value)


@many
@given(st.data())
def test_materials_up_to_the_ends_of_their_ranges(data):
    options = {
        "young_modulus": ends(1e-3, 1e15),
        "density": ends(1e-6, 1e6),
        "poisson_ratio": st.one_of(st.just(math.nextafter(-1.0, 0.0)), st.just(0.5), st.floats(-0.99, 0.5)),
        "damping_time": st.one_of(st.just(0.0), ends(1e-12, 1e6)),
        "strands": ends(1.0, 1e6),
    }
    numbers = {field: data.draw(values) for field, values in options.items()}
    material = Material(**{field: as_the_user_may_write_it(data.draw, value) for field, value in numbers.items()})
    for field, value in numbers.items():
        assert getattr(material, field) == value
        assert type(getattr(material, field)) is float
    material.stiffness(Ellipse(data.draw(ends(1e-8, 1e4)), data.draw(ends(1e-8, 1e4))))


@st.composite
def polylines(draw):
    """Open or closed, smooth or with sharp corners, of any allowed length, anywhere that is allowed."""
    closed = draw(st.booleans())
    n = draw(st.integers(3 if closed else 2, 40))
    length = draw(ends(1e-6, 1e4))
    if closed:
        points = ring(n)
        total = np.linalg.norm(np.roll(points, -1, axis=0) - points, axis=1).sum()
    else:
        corner = draw(st.floats(0.0, 3.1))  # up to 178 degrees, to and fro
        angle = corner * (np.arange(n - 1) % 2)
        steps = np.stack([np.cos(angle), np.sin(angle), np.full(n - 1, 1e-3)], axis=1)
        points = np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
        total = np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
    points *= length / total
    # Far away small rods would drown in round-off.
    points += draw(st.sampled_from([0.0, 100.0 * length if length < 900.0 else 0.0, 9e4 if length > 1e3 else 0.0]))
    return points, closed


@many
@given(polylines(), st.data())
def test_rods_up_to_the_ends_of_their_ranges(polyline, data):
    points, closed = polyline
    n, m = len(points), len(points) if closed else len(points) - 1
    form = data.draw(st.sampled_from([np.array, np.ndarray.tolist, np.asfortranarray, lambda x: tuple(map(tuple, x))]))
    across = np.cross(np.roll(points, -1, axis=0)[:m] - points[:m], (0.3, -0.2, 0.9))
    radius = data.draw(ends(1e-8, 1e4))
    options = {
        "rest": st.sampled_from(["as drawn", "straight"]),
        "density_scale": st.one_of(ends(1e-3, 1e3), st.just(np.linspace(1e-3, 1e3, n))),
        "stiffness_scale": st.one_of(ends(1e-3, 1e3), st.just([1.0] * n)),
        "damping_time": st.one_of(st.none(), st.just(0), ends(1e-9, 1e3)),
        "director": st.sampled_from([None, across, across[0], 1e100 * across / np.abs(across).max()]),
        "twist": st.floats(-1e6, 1e6),
        "rest_twist": st.floats(-1e6, 1e6),
    }
    chosen = {field: data.draw(values) for field, values in options.items()}
    way = data.draw(st.sampled_from(["radius", "radii", "section", "stiffness", "stiffnesses"]))
    stiffness = Stiffness(*(data.draw(ends(1e-30, 1e30)) for _ in range(5)), 1.0)
    chosen |= {
        "radius": {"radius": as_the_user_may_write_it(data.draw, radius), "material": RUBBER},
        "radii": {"radius": np.linspace(1e-8, 1e4, n), "material": RUBBER},
        "section": {"section": Ellipse(radius, 1e-8), "material": RUBBER},
        "stiffness": {"radius": radius, "stiffness": stiffness},
        "stiffnesses": {"radius": radius, "stiffness": [stiffness] * m},
    }[way]
    rod = Rod.from_points(form(points), closed=closed, **chosen)
    assert (rod.vertex_count, rod.edge_count) == (n, m)
    np.testing.assert_array_equal(rod.points, points)
    scene = Scene()
    scene.add(rod, velocity=data.draw(st.sampled_from([None, (0, 0, 1), np.ones((n, 3)).tolist()])))
    scene.pin(np.int64(0), data.draw(st.sampled_from(["start", 0, -n, np.int32(0), [0], {0}])))
    scene.load(
        0, data.draw(st.sampled_from(["end", n - 1, -1])), data.draw(st.sampled_from([(1, 2, 3), np.ones(3), len]))
    )
    scene.clamp_edge(0, m - 2) if m > 4 else None
    assert scene.fingerprint() == scene.fingerprint()


def test_a_rod_keeps_its_own_read_only_copies():
    points, velocity = valid_points(), np.ones((6, 3))
    scene = Scene()
    rod = Rod.from_points(points, radius=0.01, material=RUBBER)
    scene.add(rod, velocity=velocity)
    before = scene.fingerprint()
    points += 1.0
    velocity += 1.0
    assert scene.fingerprint() == before
    for name, value in vars(rod).items():
        if isinstance(value, np.ndarray):
            assert not value.flags.writeable, name


def test_every_described_thing_is_in_the_fingerprint():
    def scene(gravity=(0, 0, -9.81), model="der", points=None, where="start", force=1.0, kind="pin", **options):
        one = Scene(gravity, air_density=options.pop("air_density", 0.0))
        velocity = options.pop("velocity", None)
        one.add(
            Rod.from_points(valid_points() if points is None else points, 0.01, RUBBER, **options),
            model,
            velocity=velocity,
        )
        getattr(one, kind)(0, where)
        one.load(0, "end", (force, 0.0, 0.0))
        return one.fingerprint()

    moved = valid_points()
    moved[3, 1] = np.nextafter(moved[3, 1], 1.0)
    variants = [
        {},
        {"gravity": (0, 0, -9.80)},
        {"air_density": 1.2},
        {"points": moved},
        {"where": "end"},
        {"kind": "clamp"},
        {"force": 2.0},
        {"velocity": (0.0, 1e-9, 0.0)},
        {"twist": 1.0},
        {"rest_twist": 1.0},
        {"rest": "straight"},
        {"director": (0.0, 0.0, 1.0)},
        {"density_scale": 2.0},
        {"stiffness_scale": 2.0},
        {"damping_time": 1.0},
    ]
    prints = [scene(**variant) for variant in variants]
    assert len(set(prints)) == len(variants)
    assert prints == [scene(**variant) for variant in variants]
