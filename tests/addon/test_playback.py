"""Playing, scrubbing, resetting: what the curve shows is what the core computes."""

import bpy
import numpy as np
import pytest
from tendril.addon import memory
from tendril.addon.bridge.curves import read_rows, write_rows
from tendril.addon.bridge.poses import inverse
from tendril.addon.bridge.strands import make_strand
from tendril.core import Material, Rod, Scene, Simulation
from tendril.tests.addon.building import (
    MIXED,
    activate,
    evaluated_points,
    line,
    make_curve,
    make_rod,
    play,
    ring,
    status,
)


def core_run(obj, splines, last, material="nylon rope", hold="pin", move=None):
    """The same simulation without Blender, from points (n, 3) as drawn: float64 positions per frame and rod."""
    scene = Scene(np.array(bpy.context.scene.gravity), air_density=bpy.context.scene.tendril.air_density)
    holds = []
    for points, closed in splines:
        rod = Rod.from_points(points, radius=obj.tendril.radius, material=Material.preset(material), closed=closed)
        rod_id = scene.add(rod)
        holds.append(getattr(scene, hold)(rod_id, "start"))
    simulation = Simulation(scene, 24.0, substeps=bpy.context.scene.tendril.substeps)
    frames = {1: simulation.current()}
    for number in range(2, last + 1):
        if move:
            move(simulation, holds, number)
        frames[number] = simulation.step_frame()
    return frames


def test_playback_is_the_core_run_bit_for_bit():
    open_points, ring_points = line().astype(np.float32), ring(y=1.0).astype(np.float32)
    obj = make_rod(("POLY", open_points), ("POLY", ring_points, True))
    shown = play(obj, 12)
    expected = core_run(obj, [(open_points, False), (ring_points, True)], 12)
    for number, frame in expected.items():
        rows = np.concatenate([frame.positions(0), frame.positions(1)]).astype(np.float32)
        np.testing.assert_array_equal(shown[number], rows)
    assert np.abs(shown[12] - shown[1]).max() > 0.2  # it does move


def test_every_kind_of_spline_follows_its_rod():
    obj = make_rod(*MIXED)
    shown = play(obj, 10)
    rows = shown[1].astype(np.float64)
    strands, starts = [], [0]
    for kind in memory.running_of(bpy.context.scene).description.parts[obj.tendril.uid].described.kinds:
        strands.append(make_strand(kind, rows[starts[-1] : starts[-1] + kind.rows]))
        starts.append(starts[-1] + kind.rows)
    frames = core_run(obj, [(strand.vertices, strand.closed) for strand in strands], 10)
    for k, strand in enumerate(strands):
        strand.bind(frames[1].directors(k))
        for number in range(2, 11):
            expected = strand.controls(frames[number].positions(k), frames[number].directors(k))
            np.testing.assert_array_equal(shown[number][starts[k] : starts[k + 1]], expected.astype(np.float32))


def test_bevel_materials_and_geometry_nodes_go_on_working():
    """What nodes make of a rod is what they make of a plain curve with the same control points."""
    tree = bpy.data.node_groups.new("Shifted", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    start, shift, end = (tree.nodes.new(k) for k in ("NodeGroupInput", "GeometryNodeTransform", "NodeGroupOutput"))
    shift.inputs["Translation"].default_value = (0.0, 5.0, 0.0)
    tree.links.new(start.outputs[0], shift.inputs[0])
    tree.links.new(shift.outputs[0], end.inputs[0])

    def dressed(obj):
        obj.data.bevel_depth = 0.02
        obj.data.materials.append(bpy.data.materials.new("Hemp"))
        obj.modifiers.new("Shifted", "NODES").node_group = tree
        return obj

    rod = dressed(make_rod(("BEZIER", line(4)), ("NURBS", line(7, y=0.5))))
    before = evaluated_points(rod)
    shown = play(rod, 12)[12]
    plain = dressed(make_curve(("BEZIER", line(4), False, "FREE"), ("NURBS", line(7, y=0.5)), name="Plain"))
    write_rows(plain.data, shown)
    assert len(evaluated_points(rod)) > 100
    np.testing.assert_allclose(evaluated_points(rod), evaluated_points(plain), atol=1e-6)
    assert np.abs(evaluated_points(rod) - before).max() > 0.1
    assert evaluated_points(rod)[:, 1].min() > 4.0
    assert [slot.name for slot in rod.material_slots] == ["Hemp"]


def test_a_transformed_object_is_simulated_in_world_space():
    points = line().astype(np.float32)
    obj = make_curve(("POLY", points))
    obj.location, obj.rotation_euler, obj.scale = (1, -2, 3), (0.5, 1.0, -0.3), (2.0, -1.0, 0.5)
    bpy.ops.tendril.rod_add(fit=False)
    matrix = np.array(obj.matrix_world, dtype=np.float64)
    world = points.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    shown = play(obj, 8)
    expected = core_run(obj, [(world, False)], 8)
    back = inverse(matrix)
    np.testing.assert_allclose(back @ matrix, np.eye(4), atol=1e-14)
    for number in range(2, 9):
        rows = expected[number].positions(0) @ back[:3, :3].T + back[:3, 3]
        np.testing.assert_array_equal(shown[number], rows.astype(np.float32))


def test_scrubbing_back_shows_the_frames_in_memory():
    obj = make_rod(*MIXED)
    scene = bpy.context.scene
    shown = play(obj, 9)
    for number in (5, 9, 2, 1, 7, 3):
        scene.frame_set(number)
        np.testing.assert_array_equal(read_rows(obj.data), shown[number])
    assert "9 frames in memory" in memory.info(scene)


def test_it_goes_on_after_scrubbing():
    obj = make_rod()
    play(obj, 5)
    bpy.context.scene.frame_set(2)
    ahead = play(obj, 10, first=3)
    again = make_rod(name="Again")
    np.testing.assert_array_equal(ahead[10], play(again, 10)[10])


def test_a_jump_ahead_shows_the_last_computed_frame():
    obj = make_rod()
    shown = play(obj, 6)
    bpy.context.scene.frame_set(40)
    np.testing.assert_array_equal(read_rows(obj.data), shown[6])
    assert "up to frame 6" in status(obj)
    play(obj, 8, first=7)


def test_without_a_simulation_the_curve_stays_and_says_why():
    obj = make_rod()
    drawn = read_rows(obj.data)
    bpy.context.scene.frame_set(30)
    np.testing.assert_array_equal(read_rows(obj.data), drawn)
    assert "play from frame 1" in status(obj)


@pytest.mark.parametrize(
    "break_it",
    [
        lambda obj: setattr(obj.tendril, "rest_shape", "CURLY"),
        lambda obj: setattr(bpy.context.scene, "gravity", (0.0, 0.0, float("nan"))),
    ],
    ids=["rod", "scene"],
)
def test_what_is_wrong_at_the_start_is_told_as_long_as_it_plays(break_it):
    obj = make_rod(curl_radius=0.001, curl_length=0.001)
    play(obj, 3)
    break_it(obj)
    told = []
    for frame in range(1, 6):
        bpy.context.scene.frame_set(frame)
        told.append(status(obj))
    assert "subdivide" in told[0] or "gravity" in told[0]
    assert told[1] == told[0]
    assert told[2:] == [f"{told[0]}. Then play from frame 1"] * 3
    np.testing.assert_array_equal(read_rows(obj.data), line().astype(np.float32))
    obj.tendril.rest_shape = "STRAIGHT"
    bpy.context.scene.gravity = (0.0, 0.0, -9.81)
    play(obj, 3)


def test_the_start_frame_gives_the_drawn_curve_back_with_its_handles():
    obj = make_rod(*MIXED)
    drawn = read_rows(obj.data)
    play(obj, 6)
    types = {point.handle_left_type for point in obj.data.splines[1].bezier_points}
    assert types == {"FREE"}
    bpy.context.scene.frame_set(1)
    np.testing.assert_array_equal(read_rows(obj.data), drawn)
    types = {point.handle_left_type for point in obj.data.splines[1].bezier_points}
    assert types == {"AUTO"}


def test_a_changed_setting_starts_anew_at_the_start_frame():
    obj = make_rod()
    scene = bpy.context.scene
    before = play(obj, 8)
    obj.tendril.material = "SPRING_STEEL"
    scene.frame_set(4)
    np.testing.assert_array_equal(read_rows(obj.data), before[4])
    assert "outdated" in memory.info(scene)
    after = play(obj, 8)
    assert np.abs(after[8] - before[8]).max() > 1e-3
    expected = core_run(obj, [(before[1], False)], 8, material="spring steel")
    np.testing.assert_array_equal(after[8], expected[8].positions(0).astype(np.float32))


def test_an_unchanged_scene_keeps_its_frames_over_a_reset():
    obj = make_rod()
    play(obj, 6)
    simulation = memory.simulation_of(bpy.context.scene)
    play(obj, 6)
    assert memory.simulation_of(bpy.context.scene) is simulation


def test_an_edit_at_the_start_frame_is_the_new_drawn_shape():
    obj = make_rod()
    scene = bpy.context.scene
    play(obj, 6)
    scene.frame_set(1)
    edited = line(y=0.2).astype(np.float32) * 1.1
    write_rows(obj.data, edited)
    shown = play(obj, 6, first=2)
    expected = core_run(obj, [(edited, False)], 6)
    np.testing.assert_array_equal(shown[6], expected[6].positions(0).astype(np.float32))
    scene.frame_set(1)
    np.testing.assert_array_equal(read_rows(obj.data), edited)


def test_points_added_at_the_start_frame_are_simulated():
    obj = make_rod()
    play(obj, 4)
    bpy.context.scene.frame_set(1)
    points = obj.data.splines[0].points
    points.add(1)
    points[-1].co = (1.2, 0.0, 0.0, 1.0)
    edited = read_rows(obj.data)
    shown = play(obj, 4)
    expected = core_run(obj, [(edited, False)], 4)
    np.testing.assert_array_equal(shown[4], expected[4].positions(0).astype(np.float32))


def test_points_added_in_the_middle_are_told_and_then_drawn():
    obj = make_rod()
    play(obj, 4)
    obj.data.splines[0].points.add(1)
    obj.data.splines[0].points[-1].co = (1.2, 0.0, 0.0, 1.0)
    bpy.context.scene.frame_set(5)
    assert "go to frame 1" in status(obj)
    assert len(play(obj, 4)[4]) == 13


def test_an_edit_at_another_frame_is_made_to_the_drawn_shape():
    obj = make_rod()
    drawn = read_rows(obj.data)
    shown = play(obj, 5)
    write_rows(obj.data, shown[5] + np.float32(0.1))
    bpy.context.scene.frame_set(4)
    bpy.context.scene.frame_set(5)
    np.testing.assert_array_equal(read_rows(obj.data), shown[5])
    assert "outdated" in memory.info(bpy.context.scene)
    bpy.context.scene.frame_set(1)
    np.testing.assert_allclose(read_rows(obj.data), drawn + 0.1, atol=1e-6)


def test_an_object_moved_at_the_start_frame_is_simulated_there():
    obj = make_rod()
    play(obj, 4)
    bpy.context.scene.frame_set(1)
    obj.location = (0, 0, 5)
    bpy.context.view_layer.update()
    shown = play(obj, 4, first=2)
    world = read_rows(obj.data).astype(np.float64)
    assert world[0, 2] == pytest.approx(0.03)  # pinned where it was drawn, seen from the object
    expected = core_run(obj, [(line().astype(np.float32) + np.array([0, 0, 5.0]), False)], 4)
    np.testing.assert_array_equal(shown[4], (expected[4].positions(0) - [0, 0, 5.0]).astype(np.float32))


@pytest.mark.parametrize("hold", ["PIN", "CLAMP"])
def test_held_ends_follow_the_animated_object(hold):
    points = line().astype(np.float32)
    obj = make_curve(("POLY", points))
    obj.rotation_mode = "XYZ"
    for frame, x, angle in ((1, 0.0, 0.0), (9, 0.5, 1.2)):
        obj.location.x, obj.rotation_euler.y = x, angle
        obj.keyframe_insert("location", frame=frame)
        obj.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_set(1)
    obj.tendril.start_hold = hold
    bpy.ops.tendril.rod_add(fit=False)
    poses = {}
    shown = {}
    for frame in range(1, 10):
        bpy.context.scene.frame_set(frame)
        poses[frame] = np.array(obj.matrix_world, dtype=np.float64)
        shown[frame] = read_rows(obj.data)
        # Seen from the object, a held end stays where it was drawn.
        np.testing.assert_allclose(shown[frame][0], points[0], atol=1e-6)

    def move(simulation, holds, number):
        turn = poses[number] @ np.linalg.inv(poses[1])
        place = turn[:3, :3] @ points[0].astype(np.float64) + turn[:3, 3]
        u, _, v = np.linalg.svd(turn[:3, :3])
        simulation.move(holds[0], position=place, rotation=u @ v if hold == "CLAMP" else None)

    expected = core_run(obj, [(points, False)], 9, hold=hold.lower(), move=move)
    back = inverse(poses[9])
    rows = expected[9].positions(0) @ back[:3, :3].T + back[:3, 3]
    np.testing.assert_allclose(shown[9], rows, atol=1e-6)
    free = core_run(obj, [(points, False)], 9, hold=hold.lower())
    assert np.abs(free[9].positions(0) - expected[9].positions(0)).max() > 0.05


def test_frames_are_outdated_when_the_animation_changes():
    obj = make_rod()
    scene = bpy.context.scene
    play(obj, 5)
    scene.frame_set(1)
    obj.keyframe_insert("location", frame=1)
    obj.location.x = 1.0
    obj.keyframe_insert("location", frame=5)
    scene.frame_set(3)
    assert "outdated" in memory.info(scene)
    shown = play(obj, 5)
    np.testing.assert_allclose(shown[5][0], line()[0], atol=1e-6)


def test_any_start_frame():
    first = make_rod()
    shown = play(first, 6)
    bpy.context.scene.frame_start = 101
    other = make_rod(name="Later")
    later = play(other, 106)
    for number in range(1, 7):
        np.testing.assert_array_equal(later[100 + number], shown[number])
    bpy.context.scene.frame_set(50)
    np.testing.assert_array_equal(read_rows(other.data), shown[1])


def test_between_frames_the_curve_is_between():
    obj = make_rod()
    shown = play(obj, 5)
    bpy.context.scene.frame_set(3, subframe=0.25)
    np.testing.assert_allclose(read_rows(obj.data), 0.75 * shown[3] + 0.25 * shown[4], atol=1e-7)
    bpy.context.scene.frame_set(1, subframe=0.5)
    np.testing.assert_allclose(read_rows(obj.data), 0.5 * shown[1] + 0.5 * shown[2], atol=1e-7)
    bpy.context.scene.frame_set(1)
    np.testing.assert_array_equal(read_rows(obj.data), shown[1])


def test_only_whole_frames_are_simulated():
    expected = play(make_rod(), 4)
    bpy.context.scene.frame_set(1)
    obj = make_rod(name="Other")
    obj.keyframe_insert("location", frame=1)
    for frame, subframe in ((1, 0.0), (1, 0.5), (1, 0.0), (2, 0.0), (3, 0.25), (3, 0.0), (3, 0.5), (4, 0.5), (4, 0.0)):
        bpy.context.scene.frame_set(frame, subframe=subframe)
    np.testing.assert_array_equal(read_rows(obj.data), expected[4])


def test_a_scene_in_centimetres_moves_as_one_in_metres():
    scene = bpy.context.scene
    obj = make_rod(("POLY", line()))
    in_metres = play(obj, 6)
    scene.unit_settings.scale_length = 0.01
    scene.gravity = (0, 0, -981.0)
    other = make_rod(("POLY", line() * 100.0), name="Centimetres", radius=1.0)
    in_centimetres = play(other, 6)
    np.testing.assert_allclose(in_centimetres[6], 100.0 * in_metres[6], atol=1e-2)


def test_two_rods_move_each_on_its_own():
    alone = play(make_rod(), 6)
    bpy.context.scene.frame_set(1)
    other = make_rod(("POLY", ring(), True), name="Ring")
    bpy.context.scene.frame_set(1)
    together = play(bpy.data.objects["Rope"], 6)
    np.testing.assert_array_equal(together[6], alone[6])
    assert np.abs(read_rows(other.data) - ring()).max() > 0.05


def test_edit_mode_is_left_alone():
    obj = make_rod()
    drawn = read_rows(obj.data)
    activate(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.context.scene.frame_set(2)
    assert "Edit Mode" in status(obj)
    bpy.ops.object.mode_set(mode="OBJECT")
    np.testing.assert_array_equal(read_rows(obj.data), drawn)
    play(obj, 3)


def test_trouble_in_a_frame_change_is_told_and_nothing_breaks():
    obj = make_rod()
    scene = bpy.context.scene
    shown = play(obj, 3)
    obj.scale = (0, 0, 0)
    scene.frame_set(4)
    assert "scale" in status(obj)
    np.testing.assert_array_equal(read_rows(obj.data), shown[3])
    obj.scale = (1, 1, 1)
    play(obj, 5)
    obj.data.splines.clear()
    for frame in (1, 2):
        scene.frame_set(frame)
        assert "draw at least one spline" in status(obj)
