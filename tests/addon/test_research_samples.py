"""Samples that repeat experiments of the papers: each shows what it claims."""

import math
from itertools import pairwise

import bpy
import numpy as np
import pytest
from scipy.optimize import brentq
from tendril.addon import memory
from tendril.core.maths.geometry.linking import linking_number
from tendril.sample_scenes.experiments.helical_perversion import windings
from tendril.sample_scenes.experiments.strands import self_gaps
from tendril.sample_scenes.samples import TABLE
from tendril.tests.addon.building import status


def build(name, **changed):
    """Builds a sample, changes settings of its rods, and returns them."""
    TABLE[name].build()
    bpy.context.scene.frame_set(1)
    rods = [obj for obj in bpy.context.scene.objects if obj.tendril.enabled]
    for obj in rods:
        for key, value in changed.items():
            setattr(obj.tendril, key, value)
    return rods


def play(first, last):
    for frame in range(first, last + 1):
        bpy.context.scene.frame_set(frame)


def points_of(obj):
    assert status(obj) == ""
    return np.array([point.co[:3] for point in obj.data.splines[0].points], dtype=float)


def simulated(obj):
    """The model and the descriptions of an object's rods."""
    described = memory.running_of(bpy.context.scene).description.parts[obj.tendril.uid].described
    return described.model, described.rods


def deviations(x):
    """Angles between the edges and the x axis."""
    edges = np.diff(x, axis=0)
    return np.arccos(np.clip(edges[:, 0] / np.linalg.norm(edges, axis=1), -1.0, 1.0))


def infinite_rod(turns, shortening, length, ratio):
    """Largest deviation of a twisted, infinitely long rod, as in the experiment `localised_buckling`; `ratio` is EI / GJ."""

    def too_short(deviation):
        rate = (2.0 * math.pi * turns - 2.0 * deviation) / length
        width = 2.0 * ratio / (rate * math.tan(0.5 * deviation))
        return 2.0 * width * (1.0 - math.cos(deviation)) - shortening

    return brentq(too_short, 0.1, 1.5)


def test_a_twisted_rod_buckles_in_the_middle_as_far_as_the_formula_says():
    (obj,) = build("twist_buckling")
    drawn = points_of(obj)
    play(1, 12)  # the ends do not approach yet
    assert deviations(points_of(obj)).max() < 0.02
    play(13, 120)
    after = points_of(obj)
    shortening = np.ptp(drawn[:, 0]) - np.ptp(after[:, 0])
    settings = obj.tendril
    expected = infinite_rod(
        settings.initial_twist / (2.0 * math.pi), shortening, np.ptp(drawn[:, 0]),
        settings.bending_stiffness / settings.torsional_stiffness,
    )  # fmt: skip
    phi = deviations(after)
    assert phi.max() == pytest.approx(expected, rel=0.04)
    assert 0.4 < np.argmax(phi) / len(phi) < 0.6
    assert phi[[5, -6]].max() < 0.2 * phi.max()  # it is straight near its ends: localised
    assert np.ptp(after[:, 1]) == pytest.approx(np.ptp(after[:, 2]), rel=0.2)  # a helix, not a bow in a plane


def test_rings_leave_their_plane_above_the_critical_twist_alone():
    rings = build("michell_ring")
    play(1, 60)
    shares, heights = [], []
    for obj in rings:
        settings = obj.tendril
        critical = 2.0 * math.pi * math.sqrt(3.0) * settings.bending_stiffness / settings.torsional_stiffness
        shares.append(settings.initial_twist / critical)
        heights.append(np.ptp(points_of(obj)[:, 2]))
        assert simulated(obj)[0] == "compact"
    assert shares == pytest.approx([0.9, 1.1, 1.5])
    assert heights[0] < 2e-3
    assert min(heights[1:]) > 0.05


def test_no_ring_leaves_its_plane_below_the_critical_twist():
    rings = build("michell_ring", initial_twist=0.9 * 2.0 * math.pi * math.sqrt(3.0) / 0.8)
    play(1, 40)
    assert max(np.ptp(points_of(obj)[:, 2]) for obj in rings) < 2e-3


def test_a_cord_winds_about_itself_when_its_ends_are_turned():
    (obj,) = build("plectoneme")
    radius = obj.tendril.radius
    play(1, 36)
    assert self_gaps(points_of(obj), radius).min() > radius
    play(37, 90)
    gaps = self_gaps(points_of(obj), radius)
    assert gaps.min() > -0.1 * radius
    assert np.mean(gaps < 0.1 * radius) > 0.2  # a good part of the cord touches another part


def test_a_tendril_has_one_perversion_in_the_middle():
    (obj,) = build("perversion")
    play(1, 150)
    turns = windings(points_of(obj))
    half, quarter = len(turns) // 2, len(turns) // 4
    right, left = turns[half] - turns[2], turns[-1] - turns[half + 2]
    assert right > 2.0
    assert left < -2.0
    assert right == pytest.approx(-left, rel=0.1)
    for start in (0, quarter):  # each half winds one way
        assert turns[start + quarter] > turns[start] + 0.5
        assert turns[-1 - start - quarter] > turns[-1 - start] + 0.5


def test_the_transducer_has_the_period_of_two_bodies_on_a_spring():
    (obj,) = build("torque_transducer")
    heavy, light = bpy.data.objects["Heavy"], bpy.data.objects["Light"]
    inertia = [part.rigid_body.mass * (part.dimensions.y**2 + part.dimensions.z**2) / 12.0 for part in (heavy, light)]
    angles = []
    for frame in range(1, 80):
        bpy.context.scene.frame_set(frame)
        angles.append([part.matrix_world.to_euler("XYZ").x for part in (heavy, light)])
    rod = simulated(obj)[1][0]
    own = rod.length * float(rod.inertia_per_length[0]) / 3.0
    stiffness = float(rod.twist_stiffness[0]) / rod.length
    rate = math.sqrt(stiffness * sum(1.0 / (one + own) for one in inertia))
    half = math.pi / rate * bpy.context.scene.render.fps  # frames
    turned = np.abs(np.unwrap(np.array(angles), axis=0))
    most = turned.max(axis=0)
    assert most[1] == pytest.approx(2.0 * obj.tendril.initial_twist * inertia[0] / sum(inertia), rel=0.05)
    assert most[0] / most[1] == pytest.approx(inertia[1] / inertia[0], rel=0.05)
    for k in (1, 3, 5):  # at the ends of its way, still as far after five half periods
        assert turned[round(k * half), 1] > 0.97 * most[1]
    for k in (2, 4):
        assert turned[round(k * half), 1] < 0.05 * most[1]


@pytest.mark.long
def test_a_chain_of_open_links_is_pulled_apart():
    links = build("open_chain")

    def together():
        x = [points_of(obj) for obj in links]
        return sum(abs(abs(linking_number(a, b)) - 1.0) < 1e-6 for a, b in pairwise(x))

    play(1, 60)
    assert together() == len(links) - 1
    play(61, 110)
    assert together() < len(links) - 1


def test_ringlets_are_few_elements_and_keep_their_length():
    curls = build("ringlets")
    drawn = [points_of(obj) for obj in curls]
    play(1, 20)
    running = memory.running_of(bpy.context.scene).simulation
    for obj, before in zip(curls, drawn, strict=True):
        after = points_of(obj)
        lengths = [np.linalg.norm(np.diff(x, axis=0), axis=1).sum() for x in (before, after)]
        assert lengths[1] == pytest.approx(lengths[0], rel=5e-3)
        assert before[-1, 2] - after[-1, 2] > 0.03  # the tip sinks
        assert simulated(obj)[0] == "clothoid"
    assert all(entry.elements.count == 4 for entry in running.scene.entries)


def test_a_twisted_cage_becomes_narrow_and_wide_again():
    (obj,) = build("twisted_cage")

    def waist():
        assert status(obj) == ""
        x = np.array([vertex.co for vertex in obj.data.vertices])
        middle = np.abs(x[:, 2] - 0.5) < 0.02
        return float(np.hypot(*x[middle, :2].T).mean())

    wide = waist()
    play(1, 60)
    assert simulated(obj)[0] == "corde"
    assert waist() < 0.5 * wide
    play(61, 120)
    assert waist() > 0.85 * wide
