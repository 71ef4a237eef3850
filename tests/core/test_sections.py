"""Rods that vary along their length, and sections that are not round."""

from __future__ import annotations

import math

import numpy as np
import pytest
from plain_rods import fitted_order, line, precise, settled, weightless
from scipy.integrate import quad
from tendril.core import Circle, Ellipse, Material, Rectangle, Rod, Scene, Stiffness

WOOD = Material(1e7, 600.0, poisson_ratio=0.3)
LENGTH = 2.0


def second_moment(radius: float) -> float:
    return math.pi * radius**4 / 4.0


def taper(x: float) -> float:
    """A radius that falls to a third."""
    return 0.03 - 0.01 * x


def flare(x: float) -> float:
    return 0.01 * math.exp(0.3 * x)


def along(function, segments: int) -> np.ndarray:
    return np.array([function(x) for x in line(segments, LENGTH)[:, 0]])


def tip_deflection(rod: Rod, force: np.ndarray) -> np.ndarray:
    """Of a cantilever without weight, per force; small enough to be linear."""
    scene = weightless()
    scene.add(rod)
    scene.clamp(0, "start")
    scene.load(0, "end", force)
    return settled(precise(scene)).current().positions(0)[-1] - rod.points[-1]


def beam_deflection(stiffness) -> float:
    """Of the tip of a beam with EI(x) under a unit load there: the integral of M(x)^2 / EI(x)."""
    return quad(lambda x: (LENGTH - x) ** 2 / stiffness(x), 0.0, LENGTH, epsrel=1e-12)[0]


@pytest.mark.parametrize("radius", [taper, flare])
@pytest.mark.parametrize("way", ["radius", "stiffness_scale", "stiffness per edge"])
def test_deflection_of_a_cantilever_that_varies(way: str, radius) -> None:
    """Against the integral of beam theory, with errors of second order in the length of a segment."""

    def bending(x: float) -> float:
        return 1e7 * second_moment(radius(x))

    def deflection(segments: int) -> float:
        points = line(segments, LENGTH)
        if way == "radius":
            rod = Rod.from_points(points, along(radius, segments), WOOD)
        elif way == "stiffness_scale":
            scale = along(lambda x: (radius(x) / radius(0.0)) ** 4, segments)
            rod = Rod.from_points(points, radius(0.0), WOOD, stiffness_scale=scale)
        else:
            middles = 0.5 * (points[1:, 0] + points[:-1, 0])
            rod = Rod.from_points(points, 0.01, stiffness=[WOOD.stiffness(Circle(radius(x))) for x in middles])
        force = 1e-4 * bending(0.5)
        return tip_deflection(rod, np.array([0.0, 0.0, force]))[2] / force

    counts = (8, 16, 32)
    expected = beam_deflection(bending)
    errors = [abs(deflection(count) / expected - 1.0) for count in counts]
    assert errors[-1] < 5e-3
    assert fitted_order(counts, errors) == pytest.approx(2.0, abs=0.2), errors


def mass_and_centre(rod: Rod) -> tuple[float, np.ndarray]:
    """By what gravity does: the energy of a lift by one metre, and of where the rod lies."""

    def energy(lift: float, gravity: np.ndarray) -> float:
        scene = Scene(gravity=gravity)
        moved = Rod.from_points(rod.points + lift, radius=1.0, stiffness=stiffnesses(rod), closed=rod.closed)
        scene.add(moved)
        return precise(scene).energies().gravity

    mass = energy(0.0, np.array([0.0, 0.0, -1.0])) - energy(-1.0, np.array([0.0, 0.0, -1.0]))
    return mass, np.array([energy(0.0, -axis) for axis in np.eye(3)]) / mass


def stiffnesses(rod: Rod) -> list[Stiffness]:
    """Those of a described rod, edge by edge."""
    rows = zip(rod.stretch, *rod.bend.T, rod.twist_stiffness, rod.mass_per_length, rod.inertia_per_length, strict=True)
    return [Stiffness(*map(float, row)) for row in rows]


def test_mass_of_a_tapered_rod_and_where_it_lies() -> None:
    total = quad(lambda x: 600.0 * math.pi * taper(x) ** 2, 0.0, LENGTH)[0]
    middle = quad(lambda x: x * 600.0 * math.pi * taper(x) ** 2, 0.0, LENGTH)[0] / total
    counts, errors = (8, 16, 32), []
    for count in counts:
        mass, centre = mass_and_centre(Rod.from_points(line(count, LENGTH), along(taper, count), WOOD))
        assert np.abs(centre[1:]).max() < 1e-12
        errors.append(math.hypot(mass / total - 1.0, centre[0] / middle - 1.0))
    assert errors[-1] < 1e-3
    assert fitted_order(counts, errors) == pytest.approx(2.0, abs=0.1)


def test_density_scale_changes_mass_and_nothing_else() -> None:
    """A density that grows in proportion to length is met exactly, on any mesh."""
    points = np.array([[0.0, 0.0, 0.0], [0.3, 0.0, 0.0], [0.4, 0.0, 0.0], [1.1, 0.0, 0.0], [1.5, 0.0, 0.0]])
    plain = Rod.from_points(points, 0.01, WOOD)
    heavy = Rod.from_points(points, 0.01, WOOD, density_scale=1.0 + 2.0 * points[:, 0])
    mass, centre = mass_and_centre(heavy)
    line_density = 600.0 * math.pi * 0.01**2
    assert mass == pytest.approx(line_density * (1.5 + 1.5**2), rel=1e-12)
    edges = points[1:, 0] - points[:-1, 0]
    middles = 0.5 * (points[1:, 0] + points[:-1, 0])
    assert centre[0] == pytest.approx((edges * (1.0 + 2.0 * middles) * middles).sum() / (1.5 + 1.5**2), rel=1e-12)
    for name in ("stretch", "bend", "twist_stiffness", "radii"):
        assert np.array_equal(getattr(plain, name), getattr(heavy, name))
    assert heavy.inertia_per_length / plain.inertia_per_length == pytest.approx(1.0 + 2.0 * middles, rel=1e-14)


def test_a_mass_at_the_tip_slows_a_cantilever() -> None:
    """Rayleigh: a mass M there and m of the beam swing with omega^2 = 3 EI / (L^3 (M + 33/140 m))."""
    segments, tip = 40, 5.0
    density = np.ones(segments + 1)
    density[-1] = 1.0 + tip * segments * 2.0  # half of the last edge is that of its last vertex
    rod = Rod.from_points(line(segments, LENGTH), 0.02, WOOD, density_scale=density)
    scene = weightless()
    scene.add(rod, velocity=np.outer((rod.points[:, 0] / LENGTH) ** 2 * 1e-2, (0.0, 0.0, 1.0)))
    scene.clamp(0, "start")
    beam = 600.0 * math.pi * 0.02**2 * LENGTH
    extra = mass_and_centre(rod)[0] - beam
    assert extra == pytest.approx(tip * beam, rel=1e-9)
    # The heavy edge is centred half an edge before the tip.
    arm = LENGTH * (1.0 - 0.5 / segments)
    known = math.sqrt(3.0 * 1e7 * second_moment(0.02) / (arm**3 * (extra + 33.0 / 140.0 * beam)))
    sim = precise(scene, frame_rate=50.0 * known / math.pi)
    height = np.array([frame.positions(0)[-1, 2] for frame in sim.frames(1, 260)])
    passages = np.flatnonzero(height[1:-1] * height[2:] < 0.0) + 1
    times = passages + height[passages] / (height[passages] - height[passages + 1])
    assert np.diff(times).mean() == pytest.approx(50.0, rel=0.01)


@pytest.mark.parametrize(("a", "b"), [(0.02, 0.01), (0.01, 0.03), (0.015, 0.015)])
def test_an_ellipse_bends_as_its_half_axes_say(a: float, b: float) -> None:
    """Deflections towards the two directors are as 1/a^2 to 1/b^2, and each is P L^3 / 3 EI."""
    first = np.array([0.0, 0.6, 0.8])
    second = np.array([0.0, -0.8, 0.6])
    rod = Rod.from_points(line(40, LENGTH), section=Ellipse(a, b), material=WOOD, director=first)
    force = 1e-6
    towards_first = tip_deflection(rod, force * first) @ first / force
    towards_second = tip_deflection(rod, force * second) @ second / force
    area = math.pi * a * b
    assert towards_first == pytest.approx(LENGTH**3 / (3.0 * 1e7 * area * a**2 / 4.0), rel=1e-3)
    assert towards_second / towards_first == pytest.approx((a / b) ** 2, rel=1e-6)
    # A force between the two bends it more towards the weaker one.
    between = tip_deflection(rod, force * (first + second)) / force
    assert between[1:] == pytest.approx((towards_first * first + towards_second * second)[1:], rel=1e-6)


def test_a_naturally_twisted_strip_is_stiff_and_soft_in_turn() -> None:
    """Its section turns by one and a half turns: where it lies flat it bends easily, where it stands on edge it does not."""
    a, b, rate = 0.02, 0.01, 1.5 * 2.0 * math.pi / LENGTH
    bend_1, bend_2 = (1e7 * math.pi * a * b * half**2 / 4.0 for half in (a, b))
    expected = beam_deflection(lambda x: 1.0 / (math.cos(rate * x) ** 2 / bend_1 + math.sin(rate * x) ** 2 / bend_2))
    counts, errors = (40, 80, 160), []
    for count in counts:
        points = line(count, LENGTH)
        turn = rate * 0.5 * (points[1:, 0] + points[:-1, 0])
        directors = np.stack([np.zeros(count), np.sin(turn), np.cos(turn)], axis=1)
        rod = Rod.from_points(points, section=Ellipse(a, b), material=WOOD, director=directors)
        found = tip_deflection(rod, np.array([0.0, 0.0, 1e-6]))[2] / 1e-6
        errors.append(abs(found / expected - 1.0))
    assert errors[-1] < 3e-3
    assert fitted_order(counts, errors) == pytest.approx(2.0, abs=0.1), errors


@pytest.mark.parametrize(("part", "leaves"), [(0.85, False), (1.15, True)])
def test_a_ribbon_bent_about_its_hard_axis_turns_over(part: float, leaves: bool) -> None:
    """A cantilever on edge falls over sideways under a tip load of 4.0126 sqrt(EI GJ) / L^2 (Prandtl, 1899)."""
    ribbon = Stiffness(1e5, bend_1=400.0, bend_2=1.0, twist=1.0, mass_per_length=1.0, inertia_per_length=1e-3)
    rod = Rod.from_points(line(40), radius=0.01, stiffness=ribbon, director=(0.0, 0.0, 1.0))
    load, sideways = 4.0126 * part, 1e-5
    scene = weightless()
    scene.add(rod)
    scene.clamp(0, "start")
    scene.load(0, "end", (0.0, sideways, -load))
    tip = settled(precise(scene)).current().positions(0)[-1]
    if leaves:
        assert tip[1] > 0.1
    else:
        # Beside its critical load it is softened, not more.
        assert sideways / 3.0 < tip[1] < 10.0 * sideways / 3.0
        assert tip[2] == pytest.approx(-load / 1200.0, rel=0.02)


def test_a_rectangle_bends_by_its_moments_and_twists_by_saint_venants():
    a, b = 0.02, 0.005
    s = Material(1e9, 1000.0, poisson_ratio=0.25).stiffness(Rectangle(a, b))
    assert s.stretch == pytest.approx(1e9 * 4 * a * b)
    assert s.bend_1 == pytest.approx(1e9 * (2 * b) * (2 * a) ** 3 / 12)
    assert s.bend_2 == pytest.approx(1e9 * (2 * a) * (2 * b) ** 3 / 12)
    # Timoshenko's table: 0.281 w t^3 for w = 4 t, 0.1406 for a square.
    assert s.twist == pytest.approx(4e8 * 0.281 * (2 * a) * (2 * b) ** 3, rel=2e-3)
    square = Material(1e9, 1000.0, poisson_ratio=0.25).stiffness(Rectangle(a, a))
    assert square.twist == pytest.approx(4e8 * 0.1406 * (2 * a) ** 4, rel=2e-3)


def test_a_section_tapers_along_the_rod():
    points = [[0.1 * k, 0.0, 0.0] for k in range(5)]
    taper = np.array([1.0, 0.9, 0.8, 0.7, 0.6])
    flat = Rod.from_points(points, section=Rectangle(0.02, 0.005), taper=taper, material=Material(1e9, 1000.0))
    middles = 0.5 * (taper[:-1] + taper[1:])
    assert np.allclose(flat.radii, middles[:, None] * [0.02, 0.005])
    assert np.allclose(flat.stretch, 1e9 * 4 * 0.02 * 0.005 * middles**2)
    round_one = Rod.from_points(points, 0.02 * taper, Material(1e9, 1000.0))
    tapered = Rod.from_points(points, section=Circle(0.02), taper=taper, material=Material(1e9, 1000.0))
    assert np.allclose(round_one.bend, tapered.bend)
