"""Nets against theory and against each other: what `net` and `corde` can run beyond the cases of rods."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tendril.core import Net, Rod, Scene, Simulation, Stiffness
from tendril.core.describe.rotations import rotation_about
from tendril.sample_scenes.experiments import buckling, ghost_substeps, pendulum, ribbon, rings, spheroid, trusses

from . import theory
from .cases import fitted_order
from .rods import line, precise, settled, weightless

# Softer than the rods of the cases: an explicit model must not wait for waves of stretching for ever.
BEAM = Stiffness(1e5, 1.0, 1.0, 1.0, mass_per_length=1.0, inertia_per_length=1e-3)


@pytest.mark.parametrize(
    "load", [1.0, pytest.param(2.0, marks=pytest.mark.long), 5.0, pytest.param(10.0, marks=pytest.mark.long)]
)
def test_case_1_a_loaded_cantilever_of_corde(load: float) -> None:
    exact = theory.loaded_cantilever(load)
    levels, errors = (10, 20, 40), []
    for segments in levels:
        scene = weightless()
        beam = scene.add(Rod.from_points(line(segments), 1e-3, stiffness=BEAM), "corde")
        scene.clamp(beam, "start")
        scene.load(beam, "end", (0.0, 0.0, -load))
        tip = settled(precise(scene)).current().positions(beam)[-1]
        errors.append(math.hypot(tip[0] - exact.x, -tip[2] - exact.y))
    assert errors[-1] < 1.5e-3
    assert 1.6 < fitted_order(levels, errors) < 2.4


@pytest.mark.parametrize("model", ["net", "corde"])
def test_case_3_an_end_moment_closes_a_circle(model: str) -> None:
    levels, errors = (12, 24), []
    for segments in levels:
        scene = weightless()
        beam = scene.add(Rod.from_points(line(segments), 1e-3, stiffness=BEAM), model)
        scene.clamp(beam, "start")
        end = scene.orient(beam, "end")
        sim = precise(scene)
        for k in range(1, 13):
            sim.move(end, rotation=rotation_about(np.array([0.0, -1.0, 0.0]), np.array(2.0 * math.pi * k / 12)))
            sim.step_frame()
            settled(sim, stable=False)
        x = sim.current().positions(beam)
        radius = np.linalg.norm(x[:-1] - x[:-1].mean(axis=0), axis=1).mean()
        errors.append(abs(radius * 2.0 * math.pi - 1.0))
    assert np.linalg.norm(x[-1] - x[0]) < 2e-2
    assert sim.energies().elastic == pytest.approx(2.0 * math.pi**2, rel=0.02)
    assert errors[-1] < 5e-3
    assert errors[-1] < 0.4 * errors[0]


def test_case_19_a_curly_rod_hung_under_gravity_has_one_shape() -> None:
    """A helix hangs from its upper end: `der` and `net` are the same on every mesh, `corde` comes to them with refinement, but for
    what its constraint gives way, weight over kappa: so this must be stiff."""
    made_of = Stiffness(3e5, 1.0, 1.0, 0.8, mass_per_length=3.0, inertia_per_length=1e-3)
    tips = {}
    for segments in (24, 48, 96, 192):
        angle = np.linspace(0.0, 4.0 * math.pi, segments + 1)
        curl = np.stack([0.15 * np.cos(angle), 0.15 * np.sin(angle), -0.04 * angle], axis=1)
        for model in ("der", "net", "corde") if segments < 100 else ("der",):
            scene = Scene()
            rod = scene.add(Rod.from_points(curl, 1e-3, stiffness=made_of), model)
            scene.clamp(rod, "start")
            tips[model, segments] = settled(precise(scene)).current().positions(rod)[-1]
    for segments in (24, 48, 96):
        assert np.abs(tips["der", segments] - tips["net", segments]).max() < 1e-7
    limit = tips["der", 192] + (tips["der", 192] - tips["der", 96]) / 3.0  # Richardson
    for model in ("net", "corde"):
        errors = [float(np.linalg.norm(tips[model, n] - limit)) for n in (48, 96)]
        assert errors[1] < 3e-3
        assert 1.6 < math.log2(errors[0] / errors[1]) < 2.5, (model, errors)


def test_case_21_trusses_differ_flat_and_agree_on_edge() -> None:
    sags = {
        (loose, edge): trusses.sag(*trusses.at_rest(loose, edge)) for loose in (False, True) for edge in (False, True)
    }
    assert sags[True, False] > 1.5 * sags[False, False]
    assert sags[True, True] == pytest.approx(sags[False, True], rel=1e-3)


def test_case_22_the_period_tends_to_the_right_one() -> None:
    right = pendulum.period(*pendulum.swing("der"))
    late = [pendulum.period(*pendulum.swing("corde", alpha)) / right - 1.0 for alpha in (1.0, 0.1, 0.01)]
    assert 0.005 < late[0] < 0.03
    assert late[1] == pytest.approx(0.1 * late[0], rel=0.25)
    assert abs(late[2]) < 3e-4


def test_net_has_no_ghost_inertia() -> None:
    """The same pendulum as a net equals `der` to the last digits."""
    found = [pendulum.swing(model, seconds=2.0)[1] for model in ("der", "net")]
    assert np.abs(found[0] - found[1]).max() < 1e-8


# Samples of the experiments.


def test_the_cage_becomes_an_eight() -> None:
    _, sim = spheroid.simulation()
    frames = list(sim.frames(1, 1 + round(24 * spheroid.SECONDS)))
    assert spheroid.waist(frames[-1].positions(0)) < 0.1
    assert sum(frame.report.failures for frame in frames) == 0


def test_rings_stay_linked() -> None:
    _, sim = rings.simulation()
    for frame in sim.frames(1, 25):
        assert all(rings._links(frame))


def test_the_ribbon_begins_to_fold_evenly() -> None:
    _, shapes, failures = ribbon.fall(ribbon.STIFF, seconds=1.5)
    assert sum(failures) == 0
    assert ribbon.order(shapes[-1]) > 0.95
    assert min(float(x[:, 2].min()) for x in shapes) > 0.9 * ribbon.RADIUS


def test_lighter_frames_need_more_substeps() -> None:
    assert ghost_substeps.shaken(0.1, 1, 0.5)[2]
    assert not ghost_substeps.shaken(0.001, 4, 0.5)[2]
    assert ghost_substeps.shaken(0.001, 64, 0.2)[2]


def test_a_twisted_rod_stays_straight_until_it_is_disturbed(monkeypatch) -> None:
    monkeypatch.setattr(buckling, "SEGMENTS", 40)
    monkeypatch.setattr(buckling, "SECONDS", 3.0)
    times, energies, _ = buckling.history("net")
    straight = energies[np.searchsorted(times, buckling.TURNING)]
    assert straight[0] < 1e-6 * straight[1]
    assert energies[-1, 0] > 1.0
    assert energies[-1].sum() < straight.sum()


def test_a_net_equals_a_grid_of_springs_in_its_plane() -> None:
    """A square net of one mesh, pulled at opposite corners: a rhombus of four beams with stiff corners.
    Small loads: no corner turns, so each side bends under P / (2 sqrt 2) as a guided beam, by P a^3 / (24 sqrt 2 EI); the
    diagonal grows by sqrt 2 times that."""
    a, load = 1.0, 1e-3
    errors = []
    for n in (6, 12):
        side = np.linspace(0.0, 1.0, n + 1)[:-1]
        corners = np.array([[0, 0, 0], [a, 0, 0], [a, a, 0], [0, a, 0]], dtype=float)
        points = np.concatenate([corners[k] + side[:, None] * (corners[(k + 1) % 4] - corners[k]) for k in range(4)])
        edges = [(k, (k + 1) % len(points)) for k in range(len(points))]
        # Weightless stubs make joints of the corners.
        stubs = corners + 0.1 * (corners - corners.mean(axis=0))
        edges += [(k * n, len(points) + k) for k in range(4)]
        made_of = [Stiffness(1e7, 1.0, 1.0, 1.0, 1.0)] * len(points) + [Stiffness(1e7, 1.0, 1.0, 1.0, 1e-9, 1e-9)] * 4
        scene = weightless()
        k = scene.add(Net.from_edges(np.concatenate([points, stubs]), edges, 1e-3, stiffness=made_of))
        scene.pin(k, 0)
        pull = load / math.sqrt(2.0)
        scene.load(k, 2 * n, (pull, pull, 0.0))
        sim = Simulation(scene, threads=1, tolerance=1e-10)
        assert sim.settle(stable=False)
        x = sim.current().positions(k)
        grown = np.linalg.norm(x[2 * n] - x[0]) - a * math.sqrt(2.0)
        errors.append(abs(grown / (load * a**3 / 24.0) - 1.0))
    assert errors[1] < 0.02
    assert errors[0] / errors[1] > 3.0
