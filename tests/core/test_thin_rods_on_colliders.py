"""Limp hair that falls on meshes and touches only these: found by the dozen in every groom, and solved like many rods."""

from __future__ import annotations

import numpy as np
from tendril.bench.mass_scenes import HEAD, ball, limp_hair, radial_strands
from tendril.core import Material, Rod, Scene, Simulation
from tendril.core.contact.crowd_solver import CrowdSolver
from tendril.core.contact.detection import make_contacts
from tendril.core.contact.kept_contacts import freeze_found
from tendril.core.contact.known_forces import first_keys, numbered_keys, numbers_of_keys
from tendril.core.contact.sweep_islands import make_islands

STRANDS, RADIUS, FRAMES = 20, 40e-6, 12


def test_limp_hair_settles_on_a_head_without_being_given_up() -> None:
    """Strands are 20 times as long as they move in a substep is wide: contacts that one iterate opens must not be lost to the
    next one."""
    sim = Simulation(limp_hair(600, some=slice(3, None, 600 // STRANDS)))
    assert isinstance(sim._contact, CrowdSolver)
    reports = [sim.step_frame().report for _ in range(FRAMES)]
    assert max(report.overlap for report in reports) < 0.1
    assert sum(report.failures for report in reports) == 0
    assert sim._contact.iterations < 700  # 379 measured; 2,326 while contacts were lost


def test_keys_of_further_contacts_tell_the_first_one() -> None:
    samples = 1000
    first = np.array([17, 999 * samples + 3, -1, -1 - (2**20 * samples + 999)])
    for number in (0, 1, 40):
        keys = numbered_keys(first, np.full(4, number), samples)
        np.testing.assert_array_equal(first_keys(keys, samples), first)
        np.testing.assert_array_equal(numbers_of_keys(keys, samples), number)
        np.testing.assert_array_equal((-1 - keys[2:]) % samples, (-1 - first[2:]) % samples)  # the sample on the rod


def test_a_contact_found_again_nearby_takes_the_place_of_the_old_one() -> None:
    """Further away on the edge it is one more."""
    for at, key in ((0.55, -8), (0.9, numbered_keys(np.array([-8]), np.ones(1, np.int64), 10)[0])):
        found, kept = make_contacts(1), make_contacts(1)
        for contacts, place, gap in ((found, at, -1e-3), (kept, 0.5, 0.0)):
            contacts.edge[0], contacts.at[0], contacts.key[0] = (7, -1), (place, 0.0), -8
            contacts.normal[0], contacts.arm[0], contacts.gap[0] = (0.0, 0.0, 1.0), (1e-3, 0.0), gap
        np.testing.assert_array_equal(freeze_found(found, 1, kept, 10), [0])
        assert found.key[0] == key


def test_islands_share_no_rod() -> None:
    sides = np.array([[0, 1], [3, -1], [1, 2], [4, -1], [3, 4], [5, -1]])
    mobile = np.array([True, True, True, True, True, False])
    islands = make_islands(sides, mobile, np.arange(7.0))
    assert [islands.contact[a:b].tolist() for a, b in zip(islands.first[:-1], islands.first[1:], strict=True)] == [
        [0, 2],
        [1, 3, 4],
    ]
    assert [islands.rod[a:b].tolist() for a, b in zip(islands.first_rod[:-1], islands.first_rod[1:], strict=True)] == [
        [0, 1, 2],
        [3, 4],
    ]
    np.testing.assert_array_equal(islands.tolerance, [2.0, 4.0])


def test_roots_held_inside_a_collider_are_no_failure() -> None:
    """Nothing can move them, and smaller steps would not help."""
    scene = Scene()
    scene.collide(ball(HEAD, (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)), friction=0.3)
    for points in radial_strands(STRANDS, 0.05, 10, RADIUS):
        inwards = points - points[0] * (1.5 * RADIUS / np.linalg.norm(points[0]))
        rod = scene.add(Rod.from_points(inwards, RADIUS, Material.preset("human hair")), friction=0.3)
        scene.clamp(rod, "start")
    sim = Simulation(scene)
    assert isinstance(sim._contact, CrowdSolver)
    assert sum(sim.step_frame().report.failures for _ in range(4)) == 0
