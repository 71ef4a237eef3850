"""Settings that are animated: stiffness, growth, curl, gravity, wind, pins."""

import bpy
import numpy as np
import pytest
from tendril.addon import memory
from tendril.addon.bridge.curves import read_rows
from tendril.addon.overlay.snapshots import snapshot_of
from tendril.tests.addon.building import line, make_mesh, make_rod, play, ring, status
from tendril.tests.addon.test_bake import key_rows
from tendril.tests.addon.test_hair import make_hair
from tendril.tests.addon.test_overlay import plumb

both = pytest.mark.parametrize("model", ["der", "clothoid"])


def animate(owner, path, values, index=-1):
    for frame, value in values.items():
        if index < 0:
            setattr(owner, path, value)
        else:
            getattr(owner, path)[index] = value
        owner.keyframe_insert(path, frame=frame, index=index)


def straight(n=12):
    return np.stack([np.linspace(0.0, 1.0, n), np.zeros(n), np.zeros(n)], axis=1)


@both
def test_a_rod_grows_from_what_was_drawn(model):
    scene = bpy.context.scene
    scene.use_gravity = False
    obj = make_rod(("POLY", straight()), start_hold="CLAMP", radius=0.02, model=model)
    animate(obj.tendril, "length_factor", {1: 0.5, 11: 1.0})
    scene.tendril.drag = 20.0
    shown = play(obj, 30)
    ends = [float(shown[k][-1, 0]) for k in (1, 6, 30)]
    assert ends[0] == 1.0
    assert 1.2 < ends[1] < 1.7
    assert abs(ends[2] - 2.0) < 0.01
    numbers = snapshot_of(scene, obj.tendril.uid).statistics
    assert abs(numbers.length - 2.0) < 0.01
    assert abs(numbers.stretch) < 0.01  # it has grown, nothing pulls
    scene.frame_set(5)
    assert "outdated" not in memory.info(scene)


def test_replay_is_the_same_bit_for_bit_and_goes_on_from_the_middle():
    scene = bpy.context.scene
    obj = make_rod(("POLY", straight()), radius=0.02)
    animate(obj.tendril, "stiffness_factor", {1: 1.0, 10: 50.0})
    animate(scene, "gravity", {1: -9.81, 10: 3.0}, 2)
    animate(scene.tendril, "wind", {1: 0.0, 10: 20.0}, 1)
    first = play(obj, 12)
    assert first[12][:, 1].max() > 0.001  # the wind blows
    scene.frame_set(1)
    assert memory.running_of(scene) is not None  # animated settings are no other description
    memory.forget(scene)
    second = play(obj, 12)
    assert all(np.array_equal(first[k], second[k]) for k in first)


def test_gravity_that_turns_round():
    scene = bpy.context.scene
    scene.tendril.air_density = 0.0
    obj = make_rod(("POLY", line()), start_hold="FREE")
    animate(scene, "gravity", {1: -9.0, 2: -9.0, 3: 9.0}, 2)
    shown = play(obj, 20)
    heights = [float(shown[k][:, 2].mean() - shown[1][:, 2].mean()) for k in (2, 20)]
    assert heights[0] < 0.0 < heights[1]


@both
def test_curl_straightens_a_ring_of_wire(model):
    scene = bpy.context.scene
    scene.use_gravity, scene.tendril.drag = False, 10.0
    arc = ring(24)[:18]
    obj = make_rod(("POLY", arc), start_hold="CLAMP", radius=0.005, material="SPRING_STEEL", model=model)
    animate(obj.tendril, "curl_factor", {1: 1.0, 8: 0.0})
    shown = play(obj, 40)
    length = np.linalg.norm(np.diff(shown[1], axis=0), axis=1).sum()
    assert np.linalg.norm(shown[40][-1] - shown[40][0]) > 0.97 * length


@both
@pytest.mark.parametrize("hold", ["PIN", "CLAMP"])
def test_pins_of_the_object_let_go(model, hold):
    obj = make_rod(("POLY", line()), model=model, start_hold=hold)
    animate(obj.tendril, "pin_influence", {1: 1.0, 5: 1.0, 6: 0.0})
    shown = play(obj, 10)
    assert np.array_equal(shown[5][0], shown[1][0])
    assert shown[10][0, 2] < shown[1][0, 2] - 0.05


@pytest.mark.parametrize("hold", ["PIN", "CLAMP"])
def test_pins_soften_and_take_hold_again_from_memory_and_disk(hold, tmp_path):
    """Without a jump, and to the same bits from any frame on."""
    scene = bpy.context.scene
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rope.blend"))
    scene.frame_end, scene.tendril.use_disk_cache = 40, True
    obj = make_rod(("POLY", line()), start_hold=hold)
    animate(obj.tendril, "pin_influence", {1: 1.0, 4: 1.0, 14: 0.0, 18: 0.0, 30: 1.0})
    shown = play(obj, 40)
    start = np.array([shown[k][0] for k in range(1, 41)])
    away = np.linalg.norm(start - start[0], axis=1)
    assert np.all(away[:4] == 0.0)
    assert 0.0 < away[4] < 0.002  # influence 0.9
    assert away.max() > 0.1
    assert away[28] < 0.02  # influence 0.92
    assert np.all(away[30:] == 0.0)
    assert not memory.info(scene).startswith("outdated")
    for back in (33, 24, 16, 7):
        memory.running_of(scene).truncate_after(back)
        scene.frame_set(back)
        for frame in range(back + 1, back + 3):
            scene.frame_set(frame)
            assert np.array_equal(read_rows(obj.data), shown[frame]), frame


def test_pins_are_soft_from_the_start():
    obj = make_rod(("POLY", plumb()), pin_influence=0.5)
    bpy.context.scene.tendril.drag = 5.0
    shown = play(obj, 72)
    assert shown[72][0, 2] - shown[1][0, 2] == pytest.approx(-0.0981, rel=0.02)


def test_hair_of_clothoids_is_let_go_of_and_goes_on_so_from_a_state(tmp_path):
    scene = bpy.context.scene
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hair.blend"))
    scene.frame_end, scene.tendril.use_disk_cache = 12, True
    floor = make_mesh(at=(0.0, 0.0, 0.0), collide=False, cuts=4)
    hair = make_hair(model="clothoid", strands=3, surface=floor)
    animate(hair.tendril, "pin_influence", {1: 1.0, 4: 1.0, 5: 0.0})
    shown = play(hair, 12)
    roots = {k: shown[k].reshape(3, 8, 3)[:, 0] for k in shown}
    assert np.array_equal(roots[4], roots[1])
    assert roots[12][:, 2].max() < -0.2
    memory.running_of(scene).truncate_after(8)
    scene.frame_set(8)
    for frame in range(9, 13):
        scene.frame_set(frame)
        assert np.array_equal(read_rows(hair.data), shown[frame])


def test_models_that_can_not_change_say_so():
    obj = make_rod(("POLY", line()), model="der2008")
    obj.tendril.stiffness_factor = 2.0
    scene = bpy.context.scene
    scene.frame_set(1)
    scene.frame_set(2)
    assert "stay as they were made" in status(obj)


def make_beam(**settings):
    """A clamped rod that sags by a few hundredths of its length."""
    stiff = {
        "material": "CUSTOM",
        "young_modulus": 5e8,
        "density": 1100.0,
        "damping_time": 0.0,
        "poisson_ratio": 0.4,
        "strands": 1.0,
    }
    bpy.context.scene.tendril.air_density = 0.0
    return make_rod(("POLY", straight()), start_hold="CLAMP", radius=0.02, rest_shape="STRAIGHT", **stiff, **settings)


@both
def test_a_rod_that_gets_four_times_as_stiff_sags_a_fourth_as_much(model):
    beam = make_beam(model=model)
    bpy.context.scene.tendril.drag = 40.0
    animate(beam.tendril, "stiffness_factor", {24: 1.0, 26: 4.0})
    shown = play(beam, 60)
    sags = [-float(shown[k][-1, 2]) for k in (24, 60)]
    assert 0.01 < sags[0] < 0.06
    assert abs(sags[1] / sags[0] - 0.25) < 0.01


@both
def test_damping_that_rises_takes_the_swing_out(model):
    """The same rod with and without it: an eighth of critical damping leaves a hundredth after two seconds."""
    swings = []
    for most in (1.0, 500.0):
        beam = make_beam(model=model)
        beam.tendril.damping_time = 2e-5
        animate(beam.tendril, "damping_factor", {1: 1.0, 12: 1.0, 13: most})
        shown = play(beam, 60)
        heights = np.array([shown[k][-1, 2] for k in range(1, 61)])
        swings.append((np.ptp(heights[:12]), np.ptp(heights[40:])))
        bpy.data.objects.remove(beam)
    assert swings[0][0] == swings[1][0]
    assert swings[1][1] < 0.2 * swings[0][1]


def test_a_clothoid_has_as_many_elements_as_are_set():
    """Of a wave that four elements can follow one can't; changed, what was simulated no longer counts."""
    bpy.context.scene.use_gravity = False
    wave = [(0.1 * k, 0.0, 0.15 * np.sin(0.4 * k)) for k in range(31)]
    obj = make_rod(("POLY", wave), start_hold="CLAMP", radius=0.01, model="clothoid")
    drawn, away = np.array(wave), []
    for elements in (0, 8, 1):
        obj.tendril.elements = elements
        shown = play(obj, 2)
        away.append(float(np.abs(shown[2] - drawn).max()))
        bpy.context.scene.frame_set(1)
    assert away[0] < 0.02
    assert away[1] < away[0]
    assert away[2] > 0.05


def animated_clothoid():
    """A curl that is drawn, grows, curls more and stiffens."""
    obj = make_rod(("POLY", ring(24)[:14]), start_hold="CLAMP", radius=0.01, model="clothoid")
    animate(obj.tendril, "length_factor", {1: 1.0, 10: 1.5})
    animate(obj.tendril, "curl_factor", {1: 1.0, 10: 1.4})
    animate(obj.tendril, "stiffness_factor", {1: 1.0, 10: 5.0})
    animate(obj.tendril, "damping_factor", {1: 1.0, 10: 3.0})
    return obj


def test_a_baked_clothoid_grows_as_it_is_played():
    scene = bpy.context.scene
    scene.frame_end = 12
    obj = animated_clothoid()
    shown = play(obj, 12)
    lengths = [float(np.linalg.norm(np.diff(shown[k], axis=0), axis=1).sum()) for k in (1, 12)]
    assert abs(lengths[1] / lengths[0] - 1.5) < 0.02
    memory.forget(scene)
    again = play(obj, 12)
    assert all(np.array_equal(again[k], shown[k]) for k in shown)
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    for number, rows in enumerate(key_rows(obj), start=1):
        np.testing.assert_array_equal(rows, shown[number])


def test_hair_of_clothoids_grows_and_curls_and_goes_on_from_a_state_in_the_middle(tmp_path):
    scene = bpy.context.scene
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hair.blend"))
    scene.frame_end, scene.tendril.use_disk_cache = 14, True
    hair = make_hair(model="clothoid", strands=4)
    animate(hair.tendril, "length_factor", {1: 1.0, 14: 2.0})
    animate(hair.tendril, "curl_factor", {1: 1.0, 14: 0.2})
    shown = play(hair, 14)
    simulation = memory.simulation_of(scene)
    drawn = sum(entry.rod.length for entry in simulation.scene.entries)
    assert simulation.blocks[0].arrays.state.length.sum() == pytest.approx(2.0 * drawn, rel=1e-6)
    chords = np.linalg.norm(np.diff(shown[14].reshape(4, 8, 3), axis=1), axis=2).sum()
    assert 1.8 * drawn < chords < 2.0 * drawn
    memory.running_of(scene).truncate_after(8)
    scene.frame_set(8)
    for frame in range(9, 15):
        scene.frame_set(frame)
        assert np.array_equal(read_rows(hair.data), shown[frame])
    scene.tendril.bake_to = "DISK"
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    for frame in (5, 14):
        scene.frame_set(frame)
        assert np.array_equal(read_rows(hair.data), shown[frame])
