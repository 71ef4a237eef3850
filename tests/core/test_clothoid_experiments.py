"""The experiments of the paper on clothoids, whole: they take seconds."""

from __future__ import annotations

import pytest
from tendril.sample_scenes.experiments import TABLE, twining


@pytest.mark.parametrize("name", ["curly_rod", "swinging_rod", "clothoid_series", "curled_sheets"])
def test_experiment(name: str) -> None:
    outcome = TABLE[name].run()
    amiss = [number for number in outcome.numbers if number.failed]
    # Times are the machine's, which others may use; `tendril experiment` holds them, too.
    assert not [number for number in amiss if "time" not in number.name]


def test_a_plane_plant_climbs_up_to_the_threshold() -> None:
    """Case 20, with five elements; the plant in space takes longer."""
    exact = twining.threshold()
    assert exact.curvature == pytest.approx(3.3, rel=0.01)
    found = twining.climb()
    assert found.failures == 0
    assert found.largest == pytest.approx(exact.curvature, rel=0.01)
    assert found.contact[-1] < twining.TOUCHING < found.contact.max()
    assert found.contact.max() == pytest.approx(twining.with_curvature(twining.CLIMBING).gap, rel=0.1)


@pytest.mark.long
def test_a_plant_in_space_grows_five_loops() -> None:
    """Of ten elements, with all else that the experiment asserts."""
    assert not [number for number in TABLE["twining"].run().numbers if number.failed]
