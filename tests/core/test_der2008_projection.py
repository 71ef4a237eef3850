"""Holonomy, and the two projections of `der2008`: fast projection as published, and the energy-preserving one."""

from __future__ import annotations

import numpy as np
import pytest
from plain_rods import circle, line, made_of, plain_rod, weightless
from tendril.core import Body, Scene, Simulation, Sphere, TendrilError
from tendril.core.maths.geometry.frames import signed_angle, transport
from tendril.core.maths.geometry.holonomy import holonomy
from tendril.sample_scenes.experiments import projection_energy


def tangents(x: np.ndarray) -> list[tuple[float, float, float]]:
    e = np.diff(x, axis=0)
    return [tuple(t) for t in (e / np.linalg.norm(e, axis=1)[:, None]).tolist()]


def test_holonomy_has_the_printed_gradient() -> None:
    """(9): kb / 2|e| for the vertex before and after, and minus their sum for the one between."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        x = np.cumsum(rng.uniform(0.5, 1.5, (3, 1)) * (rng.standard_normal((3, 3)) * 0.4 + (1.0, 0.0, 0.0)), axis=0)
        t0, t1 = tangents(x)
        kb = 2.0 * np.cross(t0, t1) / (1.0 + np.dot(t0, t1))
        lengths = np.linalg.norm(np.diff(x, axis=0), axis=1)
        before, after = kb / (2.0 * lengths[0]), -kb / (2.0 * lengths[1])
        expected = np.stack([before, -before - after, after])
        found = np.zeros((3, 3))
        for i in range(3):
            for c in range(3):
                values = []
                for step in (-1e-5, 1e-5):
                    y = x.copy()
                    y[i, c] += step
                    values.append(holonomy(t0, t1, *tangents(y)))
                found[i, c] = (values[1] - values[0]) / 2e-5
        assert found == pytest.approx(expected, abs=1e-7)


def test_holonomy_is_what_the_bishop_frame_turns() -> None:
    """The Bishop frame of the last of many edges turns by the sum of the holonomies before it; a planar motion turns none."""
    rng = np.random.default_rng(5)
    x = np.cumsum(rng.standard_normal((12, 3)) * 0.4 + (1.0, 0.0, 0.0), axis=0)
    y = x + 0.2 * rng.standard_normal(x.shape)
    t, s = tangents(x), tangents(y)
    u = np.cross(t[0], (0.0, 0.0, 1.0))
    u = tuple(u / np.linalg.norm(u))
    old, new = u, transport(u, t[0], s[0])
    total = 0.0
    for j in range(1, len(t)):
        old, new = transport(old, t[j - 1], t[j]), transport(new, s[j - 1], s[j])
        total += holonomy(t[j - 1], t[j], s[j - 1], s[j])
        turned = signed_angle(transport(old, t[j], s[j]), new, s[j])
        assert np.sin(0.5 * (turned - total)) == pytest.approx(0.0, abs=1e-12)
    assert abs(total) > 0.1
    flat = [tangents(np.column_stack([z[:, :2], np.zeros(len(z))])) for z in (x, y)]
    assert holonomy(flat[0][0], flat[0][1], flat[1][0], flat[1][1]) == pytest.approx(0.0, abs=1e-13)


def test_energy_of_both_projections() -> None:
    """A swinging rod loses a third of its energy to fast projection; the other keeps it, at the same steps."""
    kept = projection_energy.swing("der2008", projection_energy.LONG, "symplectic")
    assert np.abs(kept.energy).max() < 0.03
    lost = projection_energy.swing("der2008", projection_energy.LONG, "fast")
    assert -0.6 < lost.energy[-1] < -0.2
    assert all(frame.report.failures == 0 for frame in kept.frames)


@pytest.mark.parametrize("closed", [False, True])
def test_the_energy_preserving_projection_keeps_lengths_and_momenta(closed: bool) -> None:
    """A rod flying through empty space; fast projection loses angular momentum."""
    rng = np.random.default_rng(1)
    rod = plain_rod(circle(12) if closed else line(12), made_of(bend=0.05, twist=0.05), closed=closed)
    scene = weightless()
    scene.add(rod, "der2008", velocity=rng.standard_normal((rod.vertex_count, 3)))
    sim = Simulation(scene, frame_rate=100, threads=1)
    sim.blocks[0].projection = "symplectic"
    mass = rod.mass_per_length * rod.rest_lengths
    share = 0.5 * (mass + np.roll(mass, 1)) if closed else 0.5 * (np.append(mass, 0.0) + np.append(0.0, mass))

    def momenta(frame) -> np.ndarray:
        # The velocity of symplectic Euler is that between the last two positions; it is the same about either of them.
        p = share[:, None] * frame.velocities(0)
        return np.concatenate([p.sum(axis=0), np.cross(frame.positions(0), p).sum(axis=0)])

    frames = list(sim.frames(2, 60))
    first = momenta(frames[0])
    for frame in frames:
        x = frame.positions(0)
        edges = np.roll(x, -1, axis=0) - x if closed else np.diff(x, axis=0)
        assert np.linalg.norm(edges, axis=1) == pytest.approx(rod.rest_lengths, rel=1e-7)
        assert momenta(frame) == pytest.approx(first, abs=1e-6 * np.abs(first).max())


def test_energy_with_a_body() -> None:
    """A ball swings on a soft rod: fast projection loses energy, the other keeps it."""
    lost = {}
    for projection in ("fast", "symplectic"):
        scene = Scene()
        scene.add(plain_rod(line(16, 0.5), made_of(bend=2e-3, twist=2e-3, mass=0.05)), "der2008")
        scene.pin(0, "start")
        body = scene.add_body(Body(Sphere(0.03), mass=0.05, position=(0.5, 0.0, 0.0)))
        scene.attach(0, "end", body)
        sim = Simulation(scene, frame_rate=200, threads=1)
        sim.blocks[0].projection = projection
        start = sim.energies().total
        for frame in sim.frames(2, 300):
            assert frame.report.failures == 0
        lost[projection] = start - frame.report.energies.total
    fall = (0.05 + 0.5 * 0.025) * 9.81 * 0.5
    assert lost["fast"] > 0.05 * fall
    assert abs(lost["symplectic"]) < 0.01 * fall


def test_only_two_projections() -> None:
    scene = Scene()
    scene.add(plain_rod(line(4)), "der2008")
    block = Simulation(scene, threads=1).blocks[0]
    assert block.projection == "fast"
    with pytest.raises(TendrilError, match="symplectic"):
        block.projection = "slow"
