"""Ropes that break or are cut: what is torn is not drawn, in the viewport, in bakes and in exports."""

import bpy
import numpy as np
import pytest
from tendril.addon import looks, memory
from tendril.addon.bridge import curves, points
from tendril.addon.bridge.curves import read_rows
from tendril.addon.looks.groups import BREAK_FRAME
from tendril.tests.addon.building import line, make_rod, play, status
from tendril.tests.addon.test_hair import make_hair
from tendril.tests.addon.test_nets import make_net

HANGING = np.linspace((0.0, 0.0, 0.0), (0.0, 0.0, -2.0), 21)
DRAWN = 0.8  # radius of the points as drawn


def rope(*splines, **settings):
    obj = make_rod(*(splines or (("POLY", HANGING),)), radius=0.01)
    obj.data.bevel_depth = 0.01
    for spline in obj.data.splines:
        points = spline.bezier_points if spline.type == "BEZIER" else spline.points
        points.foreach_set("radius", np.full(len(points), DRAWN, dtype=np.float32))
    curves.keep_drawn(obj.data)
    for name, value in settings.items():
        setattr(obj.tendril, name, value)
    return obj


def weight_of(obj):
    rod = memory.running_of(bpy.context.scene).description.parts[obj.tendril.uid].described.rods[0]
    return 9.81 * float((rod.mass_per_length * rod.rest_lengths).sum())


def radii(obj):
    return np.concatenate(curves.per_point(obj.data, "radius"))


def test_a_rope_tears_by_force_and_the_torn_segment_has_no_thickness():
    obj = rope()
    play(obj, 2)
    obj.tendril.break_force = 0.9 * weight_of(obj)
    bpy.context.scene.frame_set(1)
    assert radii(obj) == pytest.approx(DRAWN)
    shown = play(obj, 8)
    assert status(obj) == ""
    assert memory.running_of(bpy.context.scene).description.scene.entries[0].model == "net"
    now = radii(obj)
    assert now[:2] == pytest.approx(0.0)
    assert now[5:] == pytest.approx(DRAWN)
    gaps = np.linalg.norm(np.diff(shown[8][:21], axis=0), axis=1)
    thick = np.maximum(now[1:], now[:-1]) > 0.0
    assert gaps[0] > 0.2
    assert gaps[thick].max() < 0.11  # no drawn segment is stretched
    bpy.context.scene.frame_set(1)
    assert radii(obj) == pytest.approx(DRAWN)


def test_a_rope_is_cut_at_a_keyframe_where_the_setting_says():
    obj = rope(cut_at=0.25)
    for frame, value in ((1, 1.0), (4, 1.0), (5, 0.0)):
        obj.tendril.cut_influence = value
        obj.tendril.keyframe_insert("cut_influence", frame=frame)
    bpy.context.scene.frame_set(1)
    shown = play(obj, 9)
    assert status(obj) == ""
    assert np.flatnonzero(radii(obj) == 0.0).tolist() == [4, 5]
    assert shown[9][10, 2] < shown[1][10, 2] - 0.1
    np.testing.assert_allclose(shown[9][4], shown[1][4], atol=2e-3)
    bpy.context.scene.frame_set(4)
    assert radii(obj) == pytest.approx(DRAWN)
    again = play(obj, 9)
    np.testing.assert_array_equal(again[9], shown[9])


def test_shape_keys_hide_what_is_torn():
    obj = rope(cut_at=0.5, cut_influence=0.0)
    bpy.context.scene.frame_set(1)
    bpy.context.scene.frame_end = 6
    play(obj, 6)
    torn = np.flatnonzero(radii(obj) == 0.0).tolist()
    assert len(torn) == 2
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    last = obj.data.shape_keys.key_blocks[-1].data
    baked = np.array([last[k].radius for k in range(len(last))])
    assert np.flatnonzero(baked == 0.0).tolist() == torn
    first = obj.data.shape_keys.key_blocks[0].data
    assert all(first[k].radius == pytest.approx(DRAWN) for k in range(len(first)))


def test_frames_on_disk_hide_what_is_torn(tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rope.blend"))
    obj = rope(cut_influence=0.0)
    bpy.context.scene.tendril.use_disk_cache = True
    bpy.context.scene.frame_set(1)
    play(obj, 6)
    torn = np.flatnonzero(radii(obj) == 0.0).tolist()
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "rope.blend"))
    obj = bpy.data.objects["Rope"]
    bpy.context.scene.frame_set(3)
    bpy.context.scene.frame_set(6)
    assert np.flatnonzero(radii(obj) == 0.0).tolist() == torn


@pytest.mark.parametrize("kind", ["BEZIER", "NURBS"])
def test_controls_beside_the_tear_have_no_thickness_in_other_splines(kind):
    points = np.linspace((0.0, 0.0, 0.0), (0.0, 0.0, -2.0), 9)
    obj = rope((kind, points), cut_at=0.5, cut_influence=0.0, use_tilt=True)
    bpy.context.scene.frame_set(1)
    play(obj, 6)
    torn = np.flatnonzero(radii(obj) == 0.0).tolist()
    assert len(torn) == 2
    assert torn[0] in (3, 4)
    assert np.isfinite(np.concatenate(curves.per_point(obj.data, "tilt"))).all()


def test_tied_splines_hide_what_is_torn():
    across = np.linspace((-0.5, 0.0, -1.0), (0.5, 0.0, -1.0), 11)
    obj = rope(("POLY", HANGING), ("POLY", across), tie_splines=True)
    bpy.context.scene.frame_set(1)
    play(obj, 2)
    obj.tendril.break_force = 0.9 * weight_of(obj)
    bpy.context.scene.frame_set(1)
    play(obj, 8)
    assert status(obj) == ""
    assert radii(obj)[:2] == pytest.approx(0.0)
    assert radii(obj)[21:] == pytest.approx(DRAWN)


def test_hair_breaks_too():
    hair = make_hair(strands=2, break_force=1e-6)
    play(hair, 4)
    assert status(hair) == ""


def test_other_models_say_that_they_do_not_break():
    obj = rope(("POLY", line(21)), model="compact", break_force=5.0)
    bpy.context.scene.frame_set(1)
    bpy.context.scene.frame_set(2)
    assert "do not break" in status(obj)


def torn_net(faces=False):
    """A grid that hangs on one side and is too heavy for itself."""
    net = make_net(faces=faces)
    net.tendril.break_force = 1e-3
    bpy.context.scene.frame_set(1)
    return net


def torn_edges(net):
    return points.broken_edges(net.data, read_rows(net.data))


def drawn_edges(net):
    return len(net.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.edges)


@pytest.mark.parametrize("faces", [False, True])
def test_torn_edges_of_a_net_are_marked_and_not_drawn(faces):
    net = torn_net(faces)
    assert looks.HIDE_BROKEN in net.modifiers
    every = len(net.data.edges)
    assert drawn_edges(net) == every
    play(net, 8)
    torn = int(torn_edges(net).sum())
    assert 0 < torn < every
    assert drawn_edges(net) == every - torn
    bpy.context.scene.frame_set(1)
    assert drawn_edges(net) == every
    net.tendril.break_force = 0.0
    assert looks.HIDE_BROKEN not in net.modifiers
    assert not points.marks_broken(net.data)
    play(net, 3)
    assert status(net) == ""


def test_a_baked_net_tears_without_the_add_on():
    net = torn_net()
    bpy.context.scene.frame_end = 8
    counts = {}
    for frame in range(1, 9):
        bpy.context.scene.frame_set(frame)
        counts[frame] = drawn_edges(net)
    assert counts[8] < counts[1]
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    for frame in (8, 1, 5, 3):
        bpy.context.scene.frame_set(frame)
        assert drawn_edges(net) == counts[frame]
    assert bpy.ops.tendril.bake_delete() == {"FINISHED"}
    assert BREAK_FRAME not in net.data.attributes


@pytest.mark.parametrize("target", ["ALEMBIC", "USD"])
def test_exports_have_no_thickness_beside_a_tear(tmp_path, target):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rope.blend"))
    obj = rope(cut_at=0.25, cut_influence=0.0)
    scene = bpy.context.scene
    scene.frame_end = 5
    bpy.context.scene.frame_set(1)
    play(obj, 5)
    torn = np.flatnonzero(radii(obj) == 0.0).tolist()
    scene.tendril.bake_to, scene.tendril.export_path = target, str(tmp_path / "rope")
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    path = tmp_path / f"rope{'.abc' if target == 'ALEMBIC' else '.usdc'}"
    bpy.ops.wm.read_factory_settings(use_empty=True)
    if target == "ALEMBIC":
        bpy.ops.wm.alembic_import(filepath=str(path), as_background_job=False)
    else:
        bpy.ops.wm.usd_import(filepath=str(path))
    bpy.context.scene.frame_set(5)
    (found,) = (one for one in bpy.data.objects if one.type == "CURVES")
    data = found.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    values = np.empty(len(data.points), dtype=np.float32)
    data.attributes["radius"].data.foreach_get("value", values)
    assert np.flatnonzero(values < 1e-9).tolist() == torn
    assert values.max() > 0.005
