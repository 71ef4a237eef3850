"""Twist: put in by turning what holds a rod, remembered over any number of turns, undone where a rod is free to."""

from __future__ import annotations

import math

import numpy as np
import pytest
from plain_rods import circle, line, made_of, plain_rod, precise, settled, weightless
from tendril.core import Scene, Simulation
from tendril.core.describe.rotations import rotation_about
from tendril.core.maths.geometry.frames import signed_angle

GJ = 0.01  # so little that twenty turns do not make the rod buckle: the torque is 1.3, and 8.99 would be needed
TURNS = 40.0 * math.pi
EASY = made_of(stretch=1e3, twist=GJ, inertia=1e-5)


def twist_energy(angle: float, length: float = 1.0) -> float:
    return 0.5 * GJ * angle**2 / length


def angle_of(sim: Simulation, edge: int, start: np.ndarray) -> float:
    """How far an edge along x has turned, up to whole turns."""
    d = sim.current().directors(0)[edge]
    return signed_angle(tuple(start), tuple(d), (1.0, 0.0, 0.0))


def straight(held: str, segments: int = 12, model: str = "der") -> tuple[Scene, int]:
    """A straight rod of length one, whose start does not turn and whose end a hold turns."""
    scene = weightless()
    scene.add(plain_rod(line(segments), EASY), model)
    if held == "pinned straight":
        scene.orient(0, "start")
        end = scene.orient(0, "end")
        scene.pin(0, range(1, segments))
    elif held == "by its edges":
        scene.clamp_edge(0, 0)
        end = scene.clamp_edge(0, segments - 1)
    else:
        scene.clamp(0, "start")
        end = scene.orient(0, "end") if held == "under tension" else scene.clamp(0, "end")
    if held == "under tension":
        scene.load(0, "end", (5.0, 0.0, 0.0))
    return scene, end


def at_rest(sim: Simulation) -> Simulation:
    """Equilibrium without a test of stability, which would disturb a rod that is taut and can't stretch."""
    assert sim.settle(stable=False)
    return sim


HELD = ["clamped", "under tension", "pinned straight", "by its edges"]
MODELS = ["der", "compact"]


def twisted_length(held: str) -> float:
    """A held edge is held at its middle, as far as twist is concerned."""
    return 11.0 / 12.0 if held == "by its edges" else 1.0


@pytest.mark.parametrize("frames", [40, 7, 1])
@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize("model", MODELS)
def test_twenty_turns_are_remembered(model: str, held: str, frames: int) -> None:
    """However fast they come: slowly, by several turns in a substep, and all at once; 1.7 turns in each segment."""
    scene, end = straight(held, 12, model)
    sim = precise(scene, substeps=2)
    for k in range(1, frames + 1):
        sim.move(end, spin=TURNS * k / frames)
        assert sim.step_frame().report.failures == 0
    at_rest(sim)
    assert sim.energies().twist == pytest.approx(twist_energy(TURNS, twisted_length(held)), rel=1e-8)
    assert sim.energies().bend < 1e-12
    assert np.abs(sim.current().positions(0)[:, 1:]).max() < 1e-9


@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize("model", MODELS)
def test_turning_back_leaves_nothing(model: str, held: str) -> None:
    scene, end = straight(held, 12, model)
    sim = precise(scene, substeps=1)
    for spin in (TURNS, -7.3, 2.0 * TURNS, 0.0):
        sim.move(end, spin=spin)
        sim.step_frame()
        expected = twist_energy(spin, twisted_length(held))
        assert at_rest(sim).energies().twist == pytest.approx(expected, rel=1e-7, abs=1e-15)


def test_a_path_of_spin_is_that_of_moves() -> None:
    scene = weightless()
    scene.add(plain_rod(line(12), EASY))
    scene.clamp(0, "start")
    scene.clamp(0, "end", None, lambda t: TURNS * math.sin(t))
    sim = precise(scene, substeps=3)
    for _ in range(30):
        sim.step_frame()
    angle = TURNS * math.sin(30.0 / 24.0)
    assert settled(sim).energies().twist == pytest.approx(twist_energy(angle), rel=1e-8)


@pytest.mark.parametrize("model", MODELS)
def test_twist_is_remembered_by_a_saved_state(model: str) -> None:
    """Also by a new simulation, which has never seen the turns."""

    def simulation() -> Simulation:
        scene = weightless()
        scene.add(plain_rod(line(12), EASY), model)
        scene.clamp(0, "start")
        scene.clamp(0, "end", None, lambda t: min(24.0 * t, 1.0) * TURNS)
        return precise(scene)

    sim, fresh = simulation(), simulation()
    sim.step_frame()
    at_rest(sim)
    fresh.restore(sim.state(), 2)
    assert fresh.energies() == sim.energies()
    assert fresh.energies().twist == pytest.approx(twist_energy(TURNS), rel=1e-8)


@pytest.mark.parametrize("kind", ["clamp", "edge"])
@pytest.mark.parametrize("model", MODELS)
def test_a_turned_hold_inside_twists_both_sides(model: str, kind: str) -> None:
    """Either side by as much, in opposite senses; each is as stiff as it is short."""
    scene = weightless()
    scene.add(plain_rod(line(12), EASY), model)
    scene.clamp(0, "start")
    scene.clamp(0, "end")
    middle = scene.clamp(0, 4) if kind == "clamp" else scene.clamp_edge(0, 4)
    sim = precise(scene)
    sim.move(middle, spin=TURNS)
    sim.step_frame()
    at_rest(sim)
    lengths = (4 / 12, 8 / 12) if kind == "clamp" else (4.5 / 12, 7.5 / 12)  # to the middle of the edge
    assert sim.energies().twist == pytest.approx(sum(twist_energy(TURNS, length) for length in lengths), rel=1e-8)
    if model == "der":
        twist = sim.blocks[0].arrays.state.twist
    else:
        twist = sim.blocks[0].arrays.geometry.strain[:, :, 2]
    assert twist[:4].sum() > 0.0 > twist[6:].sum()


@pytest.mark.parametrize("start", ["clamp", "edge"])
def test_with_a_free_end_twist_unwinds(start: str) -> None:
    """The free end turns as often as the held one, so nothing is left of twenty turns."""
    scene = weightless(drag=20.0)
    scene.add(plain_rod(line(12), EASY))
    held = scene.clamp(0, "start") if start == "clamp" else scene.clamp_edge(0, 0)
    sim = precise(scene, substeps=2)
    sim.move(held, spin=TURNS + 1.0)
    first = sim.step_frame().report.energies.twist
    assert first > 0.01 * twist_energy(TURNS)
    directors = Simulation(scene).current().directors(0)
    for _ in range(24 * 6):
        sim.step_frame()
    assert sim.energies().twist < 1e-6 * first
    assert angle_of(sim, 11, directors[11]) == pytest.approx(1.0, abs=1e-2)


@pytest.mark.parametrize("model", MODELS)
def test_a_rod_that_was_twisted_unwinds_from_a_free_end(model: str) -> None:
    scene = weightless()
    scene.add(plain_rod(line(12), EASY, twist=1.0), model)
    scene.clamp(0, "start")
    sim = precise(scene)
    last = sim.current().directors(0)[-1]
    # Twist was spread evenly; beyond the middle of the last edge there is none.
    assert sim.energies().twist == pytest.approx(twist_energy(1.0) * (11.5 / 12.0), rel=1e-10)
    assert settled(sim).energies().twist < 1e-15
    assert angle_of(sim, 11, last) == pytest.approx(-11.5 / 12.0, abs=1e-7)


@pytest.mark.parametrize("clamped", [None, 0, 1, 5, 9])
@pytest.mark.parametrize("angle", [3.0, 55.0])
@pytest.mark.parametrize("model", MODELS)
def test_a_twisted_ring_keeps_its_twist_wherever_it_is_clamped(model: str, angle: float, clamped: int | None) -> None:
    """Cut, turned by the angle, glued again, then held by a cross-section or not: GJ angle^2 / 2 L at the start."""
    ring = plain_rod(circle(10), EASY, closed=True, twist=angle)
    scene = weightless()
    scene.add(ring, model)
    if clamped is not None:
        scene.clamp(0, clamped)
    sim = precise(scene)
    assert sim.energies().twist == pytest.approx(twist_energy(angle, ring.length), rel=1e-9)
    arrays = sim.blocks[0].arrays
    if model == "der":
        twists = arrays.state.twist - arrays.rods.rest[:, :, 4]
    else:
        twists = arrays.geometry.strain[:, :, 2]
    assert twists.sum(axis=1) == pytest.approx(np.full(10, angle / 10.0), abs=1e-9)


@pytest.mark.parametrize("integrator", ["tr-bdf2", "sdirk2", "backward euler", "midpoint"])
def test_turns_in_a_substep_twist_the_beginning_first(integrator: str) -> None:
    """Right after a jump of two turns, all of the twist is there, and it is beside the hold."""
    scene = weightless()
    scene.add(plain_rod(line(40), made_of(stretch=1e3, twist=GJ, inertia=1.0)))
    start, end = scene.clamp(0, "start"), scene.clamp(0, "end")
    sim = precise(scene, substeps=1, integrator=integrator)
    sim.move([start, end], spin=[-4.0 * math.pi, 0.0])
    sim.step_frame()
    twist = sim.blocks[0].arrays.state.twist
    assert twist.sum() == pytest.approx(4.0 * math.pi, abs=1e-9)
    assert np.abs(twist[20:]).sum() < 0.1


def test_a_rotation_about_the_tangent_twists_like_spin() -> None:
    """Up to half a turn, beyond which a matrix does not tell."""
    energies = []
    for by_rotation in (True, False):
        scene, end = straight("clamped")
        sim = precise(scene)
        if by_rotation:
            sim.move(end, rotation=rotation_about(np.array([1.0, 0.0, 0.0]), np.array(2.5)))
        else:
            sim.move(end, spin=2.5)
        sim.step_frame()
        energies.append(settled(sim).energies().twist)
    assert energies[0] == pytest.approx(energies[1], rel=1e-8)
    assert energies[0] == pytest.approx(twist_energy(2.5), rel=1e-8)


def test_too_much_twist_buckles() -> None:
    """Beyond Greenhill's torque, 8.99 EI / L between clamps, a straight rod leaves its line; below it returns to it."""
    for torque, leaves in ((8.5, False), (9.5, True)):
        rod = plain_rod(line(40), made_of(twist=1.0), twist=torque)
        scene = weightless(drag=2.0)
        scene.add(rod, velocity=np.outer(1e-3 * np.sin(np.pi * rod.points[:, 0]), (0.0, 1.0, 0.0)))
        scene.clamp(0, "start")
        scene.clamp(0, "end")
        sim = precise(scene, tolerance=1e-6)
        for _ in range(24 * 6):
            frame = sim.step_frame()
        away = np.abs(frame.positions(0)[:, 1:]).max()
        assert away > 1e-3 if leaves else away < 1e-5, (torque, away)


@pytest.mark.parametrize(("segments", "turns"), [(12, 1.0), (12, 8.0), (4, 3.0)])
@pytest.mark.parametrize("model", ["compact", "corde"])
def test_twist_of_many_turns_has_the_energy_of_theory(model: str, segments: int, turns: float) -> None:
    """GJ angle^2 / 2 L, however many of the turns are in one segment: up to three quarters."""
    scene = weightless(drag=30.0)
    scene.add(plain_rod(line(segments), made_of(stretch=1e3, twist=GJ, inertia=1e-3)), model)
    scene.clamp(0, "start")
    scene.clamp(0, "end", None, lambda t: min(t / 0.4, 1.0) * 2.0 * math.pi * turns)
    sim = Simulation(scene, threads=1)
    for _ in range(48):
        assert sim.step_frame().report.failures == 0
    assert sim.energies().twist == pytest.approx(twist_energy(2.0 * math.pi * turns), rel=1e-4)
