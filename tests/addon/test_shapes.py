"""Rest shapes of other objects; radius, stiffness and mass along the rod; flat sections."""

import bpy
import numpy as np
import pytest
from tendril.addon import memory
from tendril.core import Material
from tendril.core.describe.material import Rectangle
from tendril.tests.addon.building import line, make_curve, make_rod, play, ring, status
from tendril.tests.addon.test_hair import make_hair


def core_rod(obj, number=0):
    bpy.context.scene.frame_set(1)
    bpy.context.scene.frame_set(2)
    assert status(obj) == ""
    return memory.running_of(bpy.context.scene).description.parts[obj.tendril.uid].described.rods[number]


def straight(n=11, length=1.0):
    return np.stack([np.linspace(0.0, length, n), np.zeros(n), np.zeros(n)], axis=1)


def test_a_straight_rod_becomes_the_arc_of_another_curve():
    scene = bpy.context.scene
    scene.use_gravity, scene.tendril.drag = False, 10.0
    arc = make_curve(("POLY", ring(40, 0.4)[:21]), name="Arc")
    arc.location = (5.0, 0.0, 0.0)
    length = np.linalg.norm(np.diff(ring(40, 0.4)[:21], axis=0), axis=1).sum()
    obj = make_rod(
        ("POLY", straight(31, float(length))), rest_shape="OBJECT", rest_object=arc, radius=0.005, material="SPRING_STEEL",
        start_hold="CLAMP",
    )  # fmt: skip
    shown = play(obj, 60)
    assert np.linalg.norm(shown[1][-1] - shown[1][0]) == pytest.approx(length, rel=1e-5)
    assert np.linalg.norm(shown[60][-1] - shown[60][0]) == pytest.approx(0.8, abs=0.03)  # the arc's diameter


def test_a_rest_shape_that_does_not_fit_is_told():
    closed = make_curve(("POLY", ring(), True), name="Ring")
    obj = make_curve(("POLY", line()))
    obj.tendril.rest_shape, obj.tendril.rest_object = "OBJECT", closed
    with pytest.raises(RuntimeError, match="spline number 1 that is open"):
        bpy.ops.tendril.rod_add(fit=False)
    obj.tendril.rest_object = None
    with pytest.raises(RuntimeError, match="choose a curve"):
        bpy.ops.tendril.rod_add(fit=False)


def test_curves_drawn_along_the_rod_scale_radius_stiffness_and_mass():
    obj = make_rod(("POLY", straight()), radius=0.01, material="RUBBER")
    plain = core_rod(obj)
    obj.tendril.use_profiles = True
    for name, end in (("Radius", 0.5), ("Stiffness", 3.0), ("Mass", 2.0)):
        mapping = obj.tendril.profiles.nodes[name].mapping
        mapping.curves[0].points[1].location = (1.0, end)
        mapping.update()
    assert "outdated" in memory.info(bpy.context.scene)
    rod = core_rod(obj)
    way = (np.arange(10) + 0.5) / 10
    assert np.allclose(rod.radii[:, 0], 0.01 * (1.0 - 0.5 * way), rtol=1e-3)
    scale = (1.0 - 0.5 * way) ** 4 * (1.0 + 2.0 * way)
    assert np.allclose(rod.bend[:, 0] / plain.bend[:, 0], scale, rtol=0.01)
    assert np.allclose(rod.mass_per_length / plain.mass_per_length, (1.0 - 0.5 * way) ** 2 * (1.0 + way), rtol=0.01)


def test_weights_of_points_and_attributes_of_hair_do_too():
    obj = make_curve(("POLY", straight()))
    obj.data.splines[0].points.foreach_set("weight_softbody", np.linspace(1.0, 0.5, 11, dtype=np.float32))
    obj.tendril.mass_by_weight = obj.tendril.radius_by_weight = True
    assert bpy.ops.tendril.rod_add(fit=False) == {"FINISHED"}
    rod = core_rod(obj)
    weights = 1.0 - 0.5 * (np.arange(10) + 0.5) / 10
    assert np.allclose(rod.radii[:, 0], obj.tendril.radius * weights, rtol=1e-5)
    assert np.allclose(rod.mass_per_length / rod.mass_per_length[0], (weights / weights[0]) ** 3, rtol=1e-5)
    bpy.data.objects.remove(obj)
    hair = make_hair(strands=2, points=4)
    heavy = hair.data.attributes.new("heavy", "FLOAT", "POINT")
    heavy.data.foreach_set("value", np.array([1, 1, 1, 1, 3, 3, 3, 3], dtype=np.float32))
    hair.tendril.mass_group = "heavy"
    light, heavier = core_rod(hair, 0), core_rod(hair, 1)
    assert np.allclose(heavier.mass_per_length, 3.0 * light.mass_per_length)


def test_a_ribbon_is_flat():
    obj = make_rod(("POLY", straight()), section="RIBBON", flatness=0.05, radius=0.02, material="PAPER")
    rod = core_rod(obj)
    paper = Material.preset("paper").stiffness(Rectangle(0.02, 0.02 * obj.tendril.flatness))
    assert np.allclose(rod.bend, [[paper.bend_1, paper.bend_2]] * 10)
    assert np.allclose(rod.radii, [[0.02, 0.001]] * 10)
