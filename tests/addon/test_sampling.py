"""Segments of a length of their own: the drawn shape comes back, and goes where the rod goes."""

import bpy
import numpy as np
import pytest
from tendril.addon import memory
from tendril.addon.bridge.curves import read_rows, write_rows
from tendril.addon.bridge.sampling import SampledStrand
from tendril.addon.bridge.strands import SplineKind, make_strand
from tendril.tests.addon.building import MIXED, line, make_rod, play, ring, status
from tendril.tests.addon.test_hair import make_hair
from tendril.tests.addon.test_nets import make_net


def any_directors(x, closed):
    t = np.roll(x, -1, axis=0) - x if closed else np.diff(x, axis=0)
    return (
        np.cross(t, np.cross([0.3, 0.5, 0.8], t))
        / np.linalg.norm(np.cross(t, np.cross([0.3, 0.5, 0.8], t)), axis=1)[:, None]
    )


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("longest", [0.01, 0.07, 0.5])
def test_the_drawn_shape_comes_back_and_follows_a_rigid_motion(closed, longest):
    drawn = ring(14) if closed else line(9)
    strand = SampledStrand(make_strand(SplineKind("POLY", len(drawn), closed), drawn), longest)
    edges = np.linalg.norm(np.diff(strand.vertices, axis=0), axis=1)
    assert edges.max() < 1.001 * max(longest, 2.0)
    directors = any_directors(strand.vertices, closed)
    strand.bind(directors)
    assert np.allclose(strand.controls(strand.vertices, directors), drawn, atol=1e-12)
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    moved = strand.controls(strand.vertices @ turn.T + [1.0, 2.0, 3.0], directors @ turn.T)
    assert np.allclose(moved, drawn @ turn.T + [1.0, 2.0, 3.0], atol=1e-12)


def test_segments_are_as_short_as_asked_for_all_kinds_of_splines():
    obj = make_rod(*MIXED, segment_length=0.05)
    shown = play(obj, 3)
    scene = bpy.context.scene
    scene.frame_set(1)
    for entry in memory.simulation_of(scene).scene.entries:
        lengths = entry.rod.rest_lengths
        assert lengths.max() <= 0.0501
        assert lengths.mean() > 0.03
    assert np.abs(shown[2] - shown[1]).max() < 0.1
    assert np.abs(shown[3] - shown[1]).max() > 1e-4


def test_finer_segments_find_the_same_motion():
    ends = []
    for length in (0.05, 0.02):
        obj = make_rod(("POLY", line(5)), segment_length=length, radius=0.02)
        ends.append(play(obj, 10)[10])
        bpy.data.objects.remove(obj)
    assert np.abs(ends[1] - ends[0]).max() < 0.03
    assert np.abs(ends[0][-1, 2]) > 0.1


def test_weights_and_pins_are_found_on_the_rod():
    x = np.array([[0.25 * k, 0.0, 0.0] for k in range(5)])
    strand = SampledStrand(make_strand(SplineKind("POLY", 5, False), x), 0.1)
    assert len(strand.vertices) == 11
    assert [strand.vertex_of(k) for k in range(5)] == [0, 2, 5, 8, 10]
    assert np.allclose(strand.along(np.arange(5.0)), np.linspace(0.0, 4.0, 11))


@pytest.mark.parametrize("make", [make_rod, make_net, make_hair])
def test_segments_without_number_and_points_that_are_nowhere_are_refused(make):
    obj = make()
    obj.tendril.segment_length = 1e-8
    bpy.context.scene.frame_set(1)
    assert "segments: choose a longer one" in status(obj)
    obj.tendril.segment_length = 0.05
    rows = read_rows(obj.data)
    rows[2] = np.nan
    write_rows(obj.data, rows)
    bpy.context.scene.frame_set(2)
    bpy.context.scene.frame_set(1)
    assert "NaN" in status(obj)
