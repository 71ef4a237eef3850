"""Presets, and what varies along a rod."""

from pathlib import Path

import bpy
import numpy as np
import pytest
from tendril.addon import memory, preset_menu
from tendril.addon.bridge.curves import read_rows
from tendril.addon.bridge.shapes import MIN_RADIUS
from tendril.core import Material
from tendril.core.describe.material import Circle
from tendril.tests.addon.building import MIXED, line, make_curve, make_rod, play, status
from tendril.tests.addon.test_hair import make_hair
from tendril.tests.addon.test_operators import refuses

PRESETS = sorted((Path(preset_menu.__file__).parent / "presets" / preset_menu.FOLDER).glob("*.py"))


def core_rod(obj, number=0):
    bpy.context.scene.frame_set(1)
    bpy.context.scene.frame_set(2)
    assert status(obj) == ""
    return memory.running_of(bpy.context.scene).description.parts[obj.tendril.uid].described.rods[number]


def use(path):
    assert bpy.ops.script.execute_preset(filepath=str(path), menu_idname="TENDRIL_PT_presets") == {"FINISHED"}


def test_blender_finds_the_presets():
    folders = bpy.utils.preset_paths(preset_menu.FOLDER)
    assert str(PRESETS[0].parent) in [str(Path(folder)) for folder in folders]
    assert len(PRESETS) >= 14


@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
def test_every_preset_moves_and_leaves_nothing_of_the_one_before(path):
    points = np.stack([np.linspace(0.0, 0.1, 41), np.zeros(41), np.zeros(41)], axis=1)
    obj = make_rod(("POLY", points))
    others = [make_rod(("POLY", points), name="Other")]
    use(path)
    first = {name: getattr(others[0].tendril, name) for name in preset_menu.SETTINGS}
    for other in PRESETS:
        use(other)
    use(path)
    for name in preset_menu.SETTINGS:
        shaped = {"curl": others[0].tendril.rest_shape == "CURLY", "flat": others[0].tendril.section != "CIRCLE"}
        if shaped.get(name[:4], True):
            assert getattr(others[0].tendril, name) == first[name], name
    bpy.data.objects.remove(obj)
    shown = play(others[0], 6)
    assert np.isfinite(shown[6]).all()
    assert np.abs(shown[6] - shown[1]).max() > 1e-6


def test_own_presets_are_saved_and_used_again():
    obj = make_rod(
        material="CUSTOM", young_modulus=7e8, radius=0.03, friction=0.11, rest_shape="CURLY", curl_radius=0.2
    )
    assert bpy.ops.tendril.preset_add(name="My Rope") == {"FINISHED"}
    (path,) = (
        Path(f) / "My_Rope.py" for f in bpy.utils.preset_paths(preset_menu.FOLDER) if Path(f, "My_Rope.py").exists()
    )
    assert "user" in str(path) or str(path).startswith(bpy.utils.user_resource("SCRIPTS"))
    values = {name: getattr(obj.tendril, name) for name in preset_menu.SETTINGS}
    use(PRESETS[0])
    use(path)
    assert {name: getattr(obj.tendril, name) for name in preset_menu.SETTINGS} == values
    assert bpy.ops.tendril.preset_add(name="My_Rope", remove_active=True) == {"FINISHED"}


def test_the_thickness_is_what_one_sees():
    obj = make_curve(("POLY", line(9)))
    obj.data.bevel_depth = 0.02
    obj.data.splines[0].points.foreach_set("radius", np.linspace(1.0, 0.5, 9, dtype=np.float32))
    obj.scale = (2, 2, 2)
    bpy.context.scene.unit_settings.scale_length = 0.5
    obj.tendril.radius_from = "CURVE"
    bpy.ops.tendril.rod_add(fit=False)
    rod = core_rod(obj)
    expected = 0.02 * 2 * 0.5 * np.linspace(1.0, 0.5, 9)
    np.testing.assert_allclose(rod.radii[:, 0], (expected[1:] + expected[:-1]) / 2, rtol=1e-6)
    stiffness = Material.preset("nylon rope").stiffness(Circle(float(rod.radii[0, 0])))
    assert rod.bend[0, 0] == pytest.approx(stiffness.bend_1)


@pytest.mark.parametrize("number", range(6))
def test_what_is_given_at_points_goes_evenly_along_every_kind_of_spline(number):
    obj = make_curve(*MIXED)
    obj.data.bevel_depth = 0.02
    for spline in obj.data.splines:
        points = spline.bezier_points if spline.type == "BEZIER" else spline.points
        points.foreach_set("radius", np.linspace(1.0, 2.0, len(points), dtype=np.float32))
    obj.tendril.radius_from = "CURVE"
    bpy.ops.tendril.rod_add(fit=False)
    radii = core_rod(obj, number).radii[:, 0] / 0.02
    assert 1.0 <= radii.min() < 1.2
    assert 1.5 < radii.max() <= 2.0 + 1e-6
    assert np.abs(np.diff(radii)).max() < 0.5


def test_tips_drawn_without_thickness_are_thin_and_no_error():
    obj = make_curve(("POLY", line(9)))
    obj.data.bevel_depth = 0.02
    obj.tendril.radius_from = "CURVE"
    obj.data.splines[0].points.foreach_set("radius", np.zeros(9, dtype=np.float32))
    refuses(bpy.ops.tendril.rod_add, "make them thicker, or set Thickness Is to Given")
    obj.data.splines[0].points.foreach_set("radius", np.linspace(1.0, 0.0, 9, dtype=np.float32))
    assert bpy.ops.tendril.rod_add(fit=False) == {"FINISHED"}
    assert core_rod(obj).radii[-1, 0] == pytest.approx(0.02 * (0.125 + MIN_RADIUS) / 2, rel=1e-6)
    play(obj, 10, first=3)


def test_a_curve_without_a_bevel_cannot_be_as_thick_as_it_looks():
    obj = make_rod()
    obj.tendril.radius_from = "CURVE"
    bpy.context.scene.frame_set(1)
    assert "give the curve a bevel" in status(obj)


def test_stiffness_goes_along_the_rod():
    points = np.stack([np.linspace(0, 1, 11), np.zeros(11), np.zeros(11)], axis=1)
    plain = core_rod(make_rod(("POLY", points)))
    tapered = core_rod(make_rod(("POLY", points), stiffness_at_end=0.2))
    middles = 0.05 + 0.1 * np.arange(10)
    np.testing.assert_allclose(tapered.bend[:, 0] / plain.bend[:, 0], 1.0 - 0.8 * middles, rtol=1e-5)
    np.testing.assert_array_equal(tapered.stretch, plain.stretch)
    obj = make_rod(("POLY", points), stiffness_by_weight=True)
    weights = np.linspace(0.0, 1.0, 11, dtype=np.float32)
    obj.data.splines[0].points.foreach_set("weight_softbody", weights)
    weighted = core_rod(obj)
    expected = np.maximum(weights, 1e-3)
    np.testing.assert_allclose(
        weighted.twist_stiffness / plain.twist_stiffness, (expected[1:] + expected[:-1]) / 2, rtol=1e-5
    )


def test_a_curly_rod_is_a_helix_with_edges_as_long_as_drawn():
    points = np.stack([np.linspace(0, 0.3, 121), np.zeros(121), np.zeros(121)], axis=1)
    obj = make_rod(("POLY", points), rest_shape="CURLY", curl_radius=0.01, curl_length=0.02, radius=0.001)
    rod = core_rod(obj)
    np.testing.assert_allclose(rod.rest_lengths, np.linalg.norm(np.diff(rod.points, axis=0), axis=1), rtol=1e-9)
    x = rod.rest_points
    np.testing.assert_allclose(np.hypot(x[:, 0], x[:, 1]), 0.01, rtol=1e-6)
    turns = np.unwrap(np.arctan2(x[:, 1], x[:, 0]))[-1] / (2 * np.pi)
    assert x[-1, 2] / turns == pytest.approx(0.02, rel=1e-6)
    bpy.context.scene.use_gravity = False
    drawn = play(obj, 30)
    ends = [np.linalg.norm(rows[-1] - rows[0]) for rows in (drawn[1], drawn[30])]
    assert ends[1] < 0.8 * ends[0]  # it curls up


def test_curls_that_the_points_cannot_show_are_told():
    obj = make_rod(("POLY", line(8)))
    obj.tendril.rest_shape = "CURLY"
    bpy.context.scene.frame_set(1)
    assert "curls of this size need" in status(obj)
    np.testing.assert_array_equal(read_rows(obj.data), line(8).astype(np.float32))


def test_a_lock_of_hairs_is_as_stiff_and_heavy_as_its_hairs_together():
    one, lock = (make_hair(strands=1, radius=4e-5, material="HUMAN_HAIR", hairs=k, name=f"{k} hairs") for k in (1, 150))
    hair, together = core_rod(one), core_rod(lock)
    for name in ("bend", "twist_stiffness", "mass_per_length", "stretch"):
        assert np.allclose(getattr(together, name), 150.0 * getattr(hair, name), rtol=1e-9), name
    assert np.allclose(together.radii, np.sqrt(150.0) * hair.radii)
