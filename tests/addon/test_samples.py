"""Samples: each is built, by its script and by the operator, and moves; the files beside the scripts are small and open well."""

from pathlib import Path

import bpy
import numpy as np
import pytest
import tendril
from tendril.addon import memory
from tendril.addon.bridge.curves import read_rows
from tendril.sample_scenes.samples import TABLE
from tendril.tests.addon.test_rigid_body_scenes import tuned

FOLDER = Path(tendril.__file__).resolve().parent / "sample_scenes"
QUICK = ("rope_on_hook", "telephone_cord", "ribbon")


def rods_of(scene):
    return [obj for obj in scene.objects if obj.tendril.enabled]


@pytest.mark.parametrize("name", TABLE)
def test_file_opens_ready_to_play(name):
    path = FOLDER / f"{name}.blend"
    assert path.stat().st_size < 400_000
    bpy.ops.wm.open_mainfile(filepath=str(path))
    scene = bpy.context.scene
    assert scene.camera is not None
    assert scene.frame_current == scene.frame_start == 1
    assert all(1 <= moment <= scene.frame_end for moment in TABLE[name].moments)
    assert rods_of(scene)
    for obj in rods_of(scene):
        assert memory.status(obj.tendril.uid) == ""


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(n, marks=pytest.mark.long) for n in TABLE if n not in QUICK)])
def test_operator_makes_it_and_it_moves(name):
    own = bpy.context.scene
    before = set(own.objects)
    assert bpy.ops.tendril.sample_add(name=name) == {"FINISHED"}
    scene = bpy.context.scene
    assert scene != own
    assert set(own.objects) == before
    rods = rods_of(scene)
    drawn = [read_rows(obj.data).copy() for obj in rods]
    last = scene.frame_end if name not in QUICK else 6
    for frame in range(1, last + 1):
        scene.frame_set(frame)
    for obj, rows in zip(rods, drawn, strict=True):
        now = read_rows(obj.data)
        assert memory.status(obj.tendril.uid) == ""
        assert np.all(np.isfinite(now))
        assert np.abs(now - rows).max() > 1e-4


def test_there_are_at_least_twelve():
    assert len(TABLE) >= 12
    assert sorted(path.stem for path in FOLDER.glob("*.blend")) == sorted(TABLE)


def test_the_bob_turns_as_fast_as_it_bounces():
    """Or nothing is exchanged, and the sample shows nothing."""
    bpy.ops.wm.open_mainfile(filepath=str(FOLDER / "wilberforce_pendulum.blend"))
    bob, spring = bpy.data.objects["Bob"], bpy.data.objects["Spring"]
    points = read_rows(spring.data)
    turns = np.unwrap(np.arctan2(points[:, 1], points[:, 0]))[-1] / (2.0 * np.pi)
    radius = np.hypot(*points[0, :2])
    climb = np.arctan2(np.ptp(points[:, 2]), 2.0 * np.pi * turns * radius)
    width, beat = tuned(bob.rigid_body.mass, turns, radius, climb, spring.tendril.radius)
    assert bob.dimensions.x == pytest.approx(width, rel=0.005)
    assert bpy.context.scene.frame_end > 1.5 * beat * bpy.context.scene.render.fps
