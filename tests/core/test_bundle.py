"""Many rods at once are the rods that are made one by one."""

import numpy as np
import pytest
from tendril.core import Material, Rod, TendrilError
from tendril.core.bundle import rods_of_strands

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
        for name, value in vars(one).items():
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
