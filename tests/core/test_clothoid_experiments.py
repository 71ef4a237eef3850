"""The experiments of the paper on clothoids, whole: they take seconds."""

from __future__ import annotations

import pytest
from tendril.core import Elements
from tendril.sample_scenes.experiments import TABLE, super_helix_stability, twining, unwinding


@pytest.mark.parametrize(
    "name", ["curly_rod", "swinging_rod", "clothoid_series", "curled_sheets", "real_strands", "pieces"]
)
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


@pytest.mark.parametrize(("degree", "count"), [(0, 10), (1, 5)])
def test_velocity_dependent_forces_at_old_velocities_gain_energy(degree: int, count: int) -> None:
    """Whether elements are helices or clothoids does not matter."""
    elements, step = Elements(count, degree=degree), super_helix_stability.STEPS[1]
    explicit = super_helix_stability.swing(elements, step, super_helix_stability.EXPLICIT)
    assert explicit.energies.max() > 1.0
    linear = super_helix_stability.swing(elements, step, super_helix_stability.LINEAR)
    assert linear.energies.max() < 0.01
    assert linear.rescued == 0


def test_an_unwinding_rod_converges_faster_with_clothoids_than_with_helices() -> None:
    step, seconds = unwinding.REFERENCE_STEP, unwinding.COMPARED_UNTIL
    reference = unwinding.fall("clothoid", 20, step, "tr-bdf2", seconds)
    errors = {
        (name, n): unwinding.motion_error(unwinding.fall(name, n, step, "tr-bdf2", seconds), reference)
        for name in ("clothoid", "super-helix")
        for n in (5, 10)
    }
    assert errors["clothoid", 5] / errors["clothoid", 10] > 8.0
    assert errors["super-helix", 10] > 2.0 * errors["clothoid", 10]


def test_a_long_step_lets_a_curly_rod_unwind_without_gain_of_energy() -> None:
    found = unwinding.fall("clothoid", 7, unwinding.STEPS[1], "semi-implicit euler")
    assert found.failures == 0
    assert found.gain < 0.01


@pytest.mark.long
@pytest.mark.parametrize("name", ["super_helix_stability", "unwinding"])
def test_longer_experiments(name: str) -> None:
    assert not [number for number in TABLE[name].run().numbers if number.failed and "time" not in number.name]
