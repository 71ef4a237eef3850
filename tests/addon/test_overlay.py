"""What the viewport and the panel tell of rods: against formulas, and against the core."""

import bpy
import numpy as np
import pytest
from tendril.addon import memory, pace
from tendril.addon.overlay import shapes
from tendril.addon.overlay.drawing import layers
from tendril.addon.overlay.snapshots import snapshot_of
from tendril.addon.panels.overlay import statistics_rows
from tendril.tests.addon.building import activate, make_mesh, make_rod, play
from tendril.tests.addon.test_cache import saved  # noqa: F401


def plumb(length=1.0, points=11):
    """Points straight down."""
    return np.stack([np.zeros(points), np.zeros(points), -np.linspace(0.0, length, points)], axis=1)


@pytest.fixture(params=["der", "clothoid"])
def hanging(request):
    """A rod that hangs at rest nearly as drawn: it is stiff."""
    obj = make_rod(("POLY", plumb()), radius=0.01, material="STEEL_CABLE", model=request.param)
    bpy.context.scene.tendril.drag = 50.0
    play(obj, 30)
    return obj


def test_a_hanging_rod_carries_its_weight(hanging):
    scene = bpy.context.scene
    snapshot = snapshot_of(scene, hanging.tendril.uid)
    rod = memory.simulation_of(scene).scene.entries[0].rod
    weight = 9.81 * float((rod.mass_per_length * rod.rest_lengths).sum())
    below = weight * (1.0 - (np.arange(10) + 0.5) / 10)
    np.testing.assert_allclose(snapshot.values["TENSION"], below, rtol=0.02)
    statistics = snapshot.statistics
    assert statistics.tension == pytest.approx(0.95 * weight, rel=0.02)
    assert statistics.length == pytest.approx(1.0, rel=1e-3)
    stretch = 0.0 if hanging.tendril.model == "clothoid" else float(np.mean(below / rod.stretch))
    assert statistics.stretch == pytest.approx(stretch, rel=0.05, abs=1e-9)
    np.testing.assert_allclose(snapshot.pins, [[0.0, 0.0, 0.0]], atol=1e-9)
    assert statistics.contacts == 0
    pace.forget()  # it is not being played any more
    told = dict(statistics_rows(scene, hanging.tendril.uid))
    assert list(told) == [
        "Length", "Stretch", "Elastic Energy", "Kinetic Energy", "Largest Tension", "Contacts", "A Frame Takes",
    ]  # fmt: skip
    assert told["Length"] == "1 m"
    assert told["Largest Tension"].endswith(" N")
    assert 0.0 < float(told["A Frame Takes"].split()[0]) < 1e5


def test_energies_of_rods_add_up_to_those_of_the_scene():
    first, second = make_rod(name="First"), make_rod(name="Second", material="SPRING_STEEL")
    play(first, 6)
    snapshots = [snapshot_of(bpy.context.scene, obj.tendril.uid) for obj in (first, second)]
    energies = memory.simulation_of(bpy.context.scene).energies()
    assert sum(one.statistics.elastic for one in snapshots) == pytest.approx(energies.elastic, rel=1e-9)
    assert sum(one.statistics.kinetic for one in snapshots) == pytest.approx(energies.kinetic, rel=0.01)


def test_contacts_with_a_collider_are_counted_and_marked():
    make_mesh(at=(0, 0, -0.02))
    obj = make_rod(("POLY", plumb()[:, [2, 0, 1]]), start_hold="FREE")
    play(obj, 12)
    snapshot = snapshot_of(bpy.context.scene, obj.tendril.uid)
    assert snapshot.statistics.contacts > 3
    assert len(snapshot.contacts) == snapshot.statistics.contacts
    np.testing.assert_allclose(snapshot.contacts[:, 2], -0.01, atol=2e-3)  # its axis lies a radius above the floor


def test_an_earlier_frame_is_looked_at_from_its_state(saved):  # noqa: F811
    obj = make_rod()
    scene = bpy.context.scene
    before = {}
    for number in range(1, 9):
        scene.frame_set(number)
        if number > 1:
            before[number] = snapshot_of(scene, obj.tendril.uid)
    memory.clear()
    for number in (1, 5, 3):
        scene.frame_set(number)
    snapshot = snapshot_of(scene, obj.tendril.uid)  # from disk
    np.testing.assert_array_equal(snapshot.points, before[3].points)
    for name in ("TENSION", "BENDING", "TWIST", "STRETCH"):
        np.testing.assert_allclose(snapshot.values[name], before[3].values[name], rtol=1e-6, atol=1e-9)
    assert memory.simulation_of(scene) is None  # what goes on is not touched
    np.testing.assert_array_equal(snapshot.points[:, 2], before[3].points[:, 2])


def test_without_a_state_nothing_is_told_and_nothing_breaks():
    obj = make_rod()
    assert statistics_rows(bpy.context.scene, obj.tendril.uid) == []
    play(obj, 6)
    bpy.context.scene.frame_set(4)
    assert snapshot_of(bpy.context.scene, obj.tendril.uid) is None
    bpy.context.scene.frame_set(1)
    assert snapshot_of(bpy.context.scene, obj.tendril.uid) is not None


def test_colours_run_from_blue_over_grey_to_red():
    colours = shapes.colour_of(np.array([-5.0, -1.0, 0.0, 1.0, 5.0]), 1.0)
    np.testing.assert_array_equal(colours[0], colours[1])
    np.testing.assert_array_equal(colours[3], colours[4])
    assert colours[0][2] > colours[0][0]
    assert colours[4][0] > colours[4][2]
    assert colours[2][0] == colours[2][1] == colours[2][2]
    assert np.all(shapes.colour_of(np.zeros(3), 0.0) == colours[2])


def test_the_layers_are_those_the_scene_wants(hanging):
    scene, shared = bpy.context.scene, bpy.context.scene.tendril
    snapshot = snapshot_of(scene, hanging.tendril.uid)
    lines, points = layers(scene, [snapshot])
    assert [len(vertices.points) for vertices, _ in lines] == [20]
    assert [len(vertices.points) for vertices in points] == [1, 0]
    coloured = lines[0][0]
    np.testing.assert_allclose(coloured.points[::2], snapshot.points[:-1], atol=1e-6)
    np.testing.assert_array_equal(coloured.colours[0], shapes.colour_of(np.ones(1), 1.0)[0])  # the most pulled
    shared.overlay_colour, shared.overlay_frames, shared.overlay_pins = "NONE", True, False
    lines, points = layers(scene, [snapshot])
    frames = lines[0][0].points.reshape(10, 2, 2, 3)
    arms = frames[:, :, 1] - frames[:, :, 0]
    np.testing.assert_allclose(np.linalg.norm(arms, axis=2), 0.05, rtol=1e-3)  # half an edge
    np.testing.assert_allclose(np.einsum("ij,ij->i", arms[:, 0], arms[:, 1]), 0.0, atol=1e-6)
    np.testing.assert_allclose(arms[:, :, 2], 0.0, atol=1e-3)  # across the rod, which hangs
    assert len(points) == 1


def test_units_and_released_pins():
    scene = bpy.context.scene
    scene.unit_settings.scale_length = 0.01
    scene.gravity = (0, 0, -981.0)
    obj = make_rod(("POLY", 100.0 * plumb()), radius=1.0, material="STEEL_CABLE")
    activate(obj)
    play(obj, 3)
    snapshot = snapshot_of(scene, obj.tendril.uid)
    assert snapshot.statistics.length == pytest.approx(1.0, rel=1e-2)  # metres
    assert snapshot.points[-1, 2] == pytest.approx(-100.0, rel=1e-2)  # units of the scene
