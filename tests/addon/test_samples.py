"""Samples: each is built, by its script and by the operator, and moves; the files are small and open as pictures."""

from pathlib import Path

import bpy
import numpy as np
import pytest
import tendril
from bpy_extras.object_utils import world_to_camera_view
from mathutils import Vector
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
    assert scene.frame_current == scene.frame_start == 1
    assert 96 <= scene.frame_end <= 250
    first, last = TABLE[name].film[:2]
    assert 1 <= TABLE[name].still <= scene.frame_end
    assert 1 <= first < last <= scene.frame_end
    assert rods_of(scene)
    for obj in rods_of(scene):
        assert memory.status(obj.tendril.uid) == ""


@pytest.mark.parametrize("name", TABLE)
def test_every_layout_shows_the_view_of_the_camera(name):
    bpy.ops.wm.open_mainfile(filepath=str(FOLDER / f"{name}.blend"), load_ui=True)
    assert bpy.context.scene.camera is not None
    assert (bpy.context.scene.render.resolution_x, bpy.context.scene.render.resolution_y) == (1280, 720)
    views = [
        space
        for screen in bpy.data.screens
        for area in screen.areas
        for space in area.spaces
        if space.type == "VIEW_3D"
    ]
    assert views
    assert all(space.region_3d.view_perspective == "CAMERA" for space in views)


def seen(scene, obj):
    """Share of an object's points that are in the picture."""
    splines = getattr(obj.data, "splines", ())
    drawn = [point.co.to_3d() for spline in splines for point in spline.points] or read_rows(obj.data).tolist()
    points = [obj.matrix_world @ Vector(point) for point in drawn]
    places = np.array([world_to_camera_view(scene, scene.camera, point) for point in points])
    return np.mean(np.all((places[:, :2] > 0.0) & (places[:, :2] < 1.0), axis=1) & (places[:, 2] > 0.0))


@pytest.mark.parametrize("name", TABLE)
def test_the_first_frame_is_a_picture(name):
    """Lit, coloured, on a backdrop, and with its rods in view."""
    bpy.ops.wm.open_mainfile(filepath=str(FOLDER / f"{name}.blend"))
    scene = bpy.context.scene
    bpy.context.view_layer.update()
    visible = [obj for obj in scene.objects if not obj.hide_render and obj.type in ("MESH", "CURVE", "CURVES")]
    for obj in visible:
        assert obj.data.materials, obj.name
        assert all(obj.data.materials), obj.name
    lights = [obj for obj in scene.objects if obj.type == "LIGHT"]
    assert len(lights) >= 3
    assert all(light.data.energy > 0.0 for light in lights)
    assert scene.world is not None
    assert scene.world.node_tree.nodes["Background"].inputs["Color"].is_linked
    colour = scene.objects["Backdrop"].active_material.diffuse_color
    assert max(colour[:3]) > 1.5 * min(colour[:3])  # no grey room
    for obj in rods_of(scene):
        assert seen(scene, obj) > 0.8, obj.name


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(n, marks=pytest.mark.long) for n in TABLE if n not in QUICK)])
def test_operator_makes_it_and_it_moves(name):
    own = bpy.context.scene
    before = set(own.objects)
    assert bpy.ops.tendril.sample_add(name=name) == {"FINISHED"}
    scene = bpy.context.scene
    assert scene != own
    assert set(own.objects) == before
    views = [space for area in bpy.context.window.screen.areas for space in area.spaces if space.type == "VIEW_3D"]
    assert all(space.region_3d.view_perspective == "CAMERA" for space in views)
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


@pytest.mark.long
def test_the_knot_stays_in_view():
    bpy.ops.wm.open_mainfile(filepath=str(FOLDER / "knot.blend"))
    scene, line = bpy.context.scene, bpy.data.objects["Line"]
    for frame in range(1, 41):  # before there was a table, it sagged out of the picture and was drawn up later
        scene.frame_set(frame)
        assert seen(scene, line) > 0.6, frame


def test_there_are_at_least_twenty():
    assert len(TABLE) >= 20
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
