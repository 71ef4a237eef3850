"""Many rods at once are the rods that are made one by one."""

import time
from dataclasses import fields

import numpy as np
import pytest
from tendril.core import Material, Rod, Scene, TendrilError
from tendril.core.describe.bundle import rods_of_strands
from tendril.core.models.elastic.build_rods import build

HAIR = Material.preset("human hair")
COUNTS = np.array([2, 7, 25, 3, 12])


def strands(seed=0):
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.uniform(0.005, 0.02, (COUNTS.sum(), 3)), axis=0), rng.uniform(2e-5, 6e-5, COUNTS.sum())


@pytest.mark.parametrize("rest", ["as drawn", "straight", "points"])
def test_they_are_those_made_one_by_one(rest):
    x, radii = strands()
    scale = np.linspace(1.0, 3.0, len(x))
    natural = strands(seed=1)[0] if rest == "points" else rest
    rods = rods_of_strands(x, COUNTS, radii, HAIR, rest=natural, stiffness_scale=scale, density_scale=1.0 / scale)
    assert len(rods) == len(COUNTS)
    start = 0
    for rod, count in zip(rods, COUNTS, strict=True):
        own = slice(start, start + count)
        one = Rod.from_points(
            x[own],
            radii[own],
            HAIR,
            rest=natural[own] if rest == "points" else rest,
            stiffness_scale=scale[own],
            density_scale=1.0 / scale[own],
        )
        for name in (field.name for field in fields(one)):
            value = getattr(one, name)
            made = getattr(rod, name)
            if isinstance(value, np.ndarray):
                assert made.shape == value.shape, name
                assert made.tobytes() == value.tobytes(), name
                assert not made.flags.writeable, name
            else:
                assert made == value, name
        start += count


def coincident(x):
    x[12] = x[11]


def folded(x):
    x[13] = x[11] + 0.4 * (x[12] - x[11])


def far(x):
    x[9:34] += 1e9


def lost(x):
    x[20] = np.nan


@pytest.mark.parametrize("spoil", [coincident, folded, far, lost])
def test_what_is_wrong_with_one_is_told_as_if_it_were_alone(spoil):
    x, radii = strands()
    spoil(x)
    with pytest.raises(TendrilError) as alone:
        Rod.from_points(x[9:34], radii[9:34], HAIR)
    with pytest.raises(TendrilError) as together:
        rods_of_strands(x, COUNTS, radii, HAIR)
    assert (together.value.field, together.value.cure) == (alone.value.field, alone.value.cure)


@pytest.mark.parametrize(
    "given", [{"radius": 0.0}, {"radius": 1e9}, {"stiffness_scale": -1.0}, {"rest": "crooked"}, {"counts": [1, 48]}]
)
def test_rubbish_is_refused(given):
    x, radii = strands()
    arguments = {"radius": radii, "counts": COUNTS, **given}
    with pytest.raises(TendrilError):
        rods_of_strands(x, material=HAIR, **arguments)


def test_thousands_of_rods_are_built_in_the_time_of_some_hundred():
    def seconds(count):
        x = np.zeros((count, 26, 3))
        x[..., 2], x[..., 0] = np.linspace(0.0, 0.25, 26), 0.01 * np.arange(count)[:, None]
        scene = Scene()
        for rod in rods_of_strands(x.reshape(-1, 3), np.full(count, 26), 4e-5, HAIR):
            scene.clamp(scene.add(rod), "start")
        holds = [(hold.rod, hold) for hold in scene.holds]
        times = []
        for _ in range(4):
            start = time.process_time()
            build(scene.entries, holds)
            times.append(time.process_time() - start)
        return min(times)

    seconds(1)
    assert seconds(2000) < 400 * seconds(1)


def test_rods_of_a_block_are_built_as_if_each_were_alone():
    """Whatever others are like: closed or open, of as many vertices or not, held, twisted, straight or curved by nature."""
    rng = np.random.default_rng(3)
    scene = Scene()
    for k in range(24):
        count, closed = (5, 9)[k % 2], k % 3 == 0
        points = 0.1 * np.cumsum(rng.normal(size=(count, 3)), axis=0)
        natural = {"rest": "straight"} if k % 4 == 1 and not closed else {"rest_twist": 0.7 * (k % 5 == 0)}
        rod = scene.add(Rod.from_points(points, 0.01, HAIR, closed=closed, twist=0.9 * (k % 7 < 3), **natural))
        if k % 2:
            scene.clamp(rod, 0 if k % 3 else 2)
    _, b = build(scene.entries, [(hold.rod, hold) for hold in scene.holds])
    for r, entry in enumerate(scene.entries):
        _, alone = build([entry], [(0, hold) for hold in scene.holds if hold.rod == r])
        rows = slice(b.rods.start[r], b.rods.start[r + 1])
        for whole, own in zip((*b.rods[3:], *b.state), (*alone.rods[3:], *alone.state), strict=True):
            assert np.array_equal(whole[rows], own)
        for whole, own in zip(b.holds, alone.holds, strict=True):
            assert np.array_equal(whole[:, rows], own)
