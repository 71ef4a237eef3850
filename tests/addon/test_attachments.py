"""Pins: by weight, and to objects, bones and vertices that move."""

import bpy
import numpy as np
import pytest
from tendril.addon import memory
from tendril.addon.bridge.attachments import lost_targets
from tendril.addon.bridge.curves import read_rows
from tendril.tests.addon.building import MIXED, activate, evaluated_points, line, make_mesh, make_rod, play, status
from tendril.tests.addon.test_bake import key_rows

LAST = 10


def attach(rod, target, where="END", **settings):
    activate(rod)
    assert bpy.ops.tendril.attachment_add() == {"FINISHED"}
    attachment = rod.tendril.attachments[-1]
    attachment.target, attachment.where = target, where
    for name, value in settings.items():
        setattr(attachment, name, value)
    return attachment


def empty(at=(1.0, 0.0, 0.2)):
    obj = bpy.data.objects.new("Handle", None)
    bpy.context.collection.objects.link(obj)
    obj.location = at
    return obj


def animate(obj, path, *keys):
    for frame, value in keys:
        setattr(obj, path, value)
        obj.keyframe_insert(path, frame=frame)
    bpy.context.scene.frame_set(1)


def follows(rod, point, transform, first=1):
    """In every frame the point is where the transform of the frame takes its place of the first."""
    shown = {}
    for number in range(1, LAST + 1):
        bpy.context.scene.frame_set(number)
        assert status(rod) == ""
        shown[number] = read_rows(rod.data)
        moved = transform() if number > 1 else (start := transform())
        expected = moved @ np.linalg.inv(start) @ [*shown[1][point], 1.0]
        np.testing.assert_allclose(shown[number][point], expected[:3], atol=2e-6)
    return shown


def test_an_end_follows_an_animated_object_and_the_bake_is_the_same():
    handle = empty()
    rod = make_rod()
    attach(rod, handle)
    animate(handle, "location", (1, (1, 0, 0.2)), (LAST, (1, 0.5, 0.6)))
    animate(handle, "rotation_euler", (1, (0, 0, 0)), (LAST, (0.5, 1.0, 0)))
    shown = follows(rod, -1, lambda: np.array(handle.matrix_world))
    assert np.abs(shown[LAST][-1] - shown[1][-1]).max() > 0.3
    bpy.context.scene.frame_end = LAST
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    for number, rows in enumerate(key_rows(rod), start=1):
        np.testing.assert_array_equal(rows, shown[number])


@pytest.mark.parametrize("spline", range(6))
def test_a_control_point_of_every_kind_of_spline_can_be_attached(spline):
    handle = empty((0.5, 0.5, 0.0))
    rod = make_rod(*MIXED)
    attach(rod, handle, "POINT", spline=spline, point=2)
    bpy.context.scene.frame_set(1)
    bpy.context.scene.frame_set(2)
    part = memory.running_of(bpy.context.scene).description.parts[rod.tendril.uid]
    (held,) = (held for held in part.described.held if held.follows != rod.tendril.uid)
    assert held.strand == spline
    rows = np.split(part.described.rows, np.cumsum([kind.rows for kind in part.described.kinds])[:-1])[spline]
    control = rows[3 * 2 + 1] if part.described.kinds[spline].type == "BEZIER" else rows[2]
    vertices = part.described.strands[spline].vertices
    nearest = np.linalg.norm(vertices - control, axis=1).min()
    assert np.linalg.norm(held.place - control) < nearest + 0.02


@pytest.mark.parametrize("rotation", [False, True])
def test_with_orientation_the_rod_turns_with_its_target(rotation):
    bpy.context.scene.use_gravity = False
    handle = empty((0, 0, 0))
    points = np.stack([np.linspace(0, 1, 9), np.zeros(9), np.zeros(9)], axis=1)
    rod = make_rod(("POLY", points), start_hold="FREE", material="SPRING_STEEL")
    attach(rod, handle, "START", use_rotation=rotation)
    animate(handle, "rotation_euler", (1, (0, 0, 0)), (LAST, (0, 0, 1.0)))
    follows(rod, 0, lambda: np.array(handle.matrix_world))
    turned = np.arctan2(*read_rows(rod.data)[1, 1::-1])
    assert turned == pytest.approx(1.0, abs=0.15) if rotation else abs(turned) < 0.05


def armature():
    bpy.ops.object.armature_add()
    obj = bpy.context.object
    bpy.ops.object.mode_set(mode="EDIT")
    bone = obj.data.edit_bones.new("Tip")
    bone.head, bone.tail = (0, 0, 1), (0, 0, 2)
    bone.parent = obj.data.edit_bones[0]
    bpy.ops.object.mode_set(mode="OBJECT")
    return obj


def test_an_end_follows_a_bone():
    arm = armature()
    rod = make_rod()
    attach(rod, arm, bone="Tip")
    root = arm.pose.bones[0]
    root.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (LAST, 0.6)):
        root.rotation_euler.x = angle
        root.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_set(1)
    shown = follows(rod, -1, lambda: np.array(arm.matrix_world) @ np.array(arm.pose.bones["Tip"].matrix))
    assert np.abs(shown[LAST][-1] - shown[1][-1]).max() > 0.02


def test_an_end_follows_a_vertex_of_a_deforming_mesh():
    mesh = make_mesh("Cloth", collide=False)
    mesh.shape_key_add(name="Basis")
    key = mesh.shape_key_add(name="Up")
    key.data[3].co.z += 0.5
    for frame, value in ((1, 0.0), (LAST, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    mesh.keyframe_insert("location", frame=1)
    mesh.location.y += 0.3
    mesh.keyframe_insert("location", frame=LAST)
    bpy.context.scene.frame_set(1)
    corner = np.array(mesh.matrix_world @ mesh.data.vertices[3].co)
    points = line() + corner - line()[-1]  # its end lies on the corner, so that the surface may also turn
    rod = make_rod(("POLY", points))
    attach(rod, mesh, vertex=3)
    for number in range(1, LAST + 1):
        bpy.context.scene.frame_set(number)
        assert status(rod) == ""
    np.testing.assert_allclose(read_rows(rod.data)[-1], corner + np.array([0, 0.3, 0.5]), atol=1e-5)


def test_an_influence_that_falls_lets_go_in_that_frame():
    rods = [make_rod(name=name, start_hold="FREE") for name in ("Held", "Let go")]
    bpy.context.scene.frame_end = LAST
    for rod in rods:
        attach(rod, empty((0, 0, 0)), "START")
    influence = rods[1].tendril.attachments[0]
    for frame, value in ((4, 1.0), (5, 0.0)):
        influence.influence = value
        influence.keyframe_insert("influence", frame=frame)
    bpy.context.scene.frame_set(1)
    shown = [{}, {}]
    for number in range(1, LAST + 1):
        bpy.context.scene.frame_set(number)
        for rod, frames in zip(rods, shown, strict=True):
            assert status(rod) == ""
            frames[number] = read_rows(rod.data)
    held, free = shown
    np.testing.assert_array_equal(free[4], held[4])
    assert np.abs(free[LAST][0] - held[LAST][0]).max() > 0.05
    assert free[5][0, 2] < free[4][0, 2]
    bpy.context.scene.frame_set(6)
    assert "outdated" not in memory.info(bpy.context.scene)
    activate(rods[1])
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    for number, rows in enumerate(key_rows(rods[1]), start=1):
        np.testing.assert_array_equal(rows, free[number])


def let_go_at(attachment, frame):
    for number, value in ((1, 1.0), (frame - 1, 1.0), (frame, 0.0)):
        attachment.influence = value
        attachment.keyframe_insert("influence", frame=number)


MODELS = [
    *(("CURVE", model) for model in ("der", "compact", "der2008", "clothoid")),
    *(("TIED", model) for model in ("net", "compact", "corde")),
]


@pytest.mark.parametrize(("kind", "model"), MODELS)
def test_what_was_let_go_falls_freely_whatever_computes_it(kind, model):
    """Held by an attachment alone, above the ground; from the frame in which its influence is low it falls by half g t squared."""
    scene = bpy.context.scene
    scene.tendril.air_density = 0.0
    names = {"net_model": model, "tie_splines": True} if kind == "TIED" else {"model": model}
    rod = make_rod(("POLY", line()), start_hold="FREE", **names)
    attachment = attach(rod, empty((0, 0, 0)), "START")
    let_go_at(attachment, 5)
    shown = play(rod, 13)
    assert status(rod) == ""
    for frame in (2, 3, 4):
        np.testing.assert_allclose(shown[frame][0], shown[1][0], atol=2e-6)
    heights = np.array([shown[frame][:, 2].mean() for frame in (5, 9, 13)])
    fall = heights[0] - 2.0 * heights[1] + heights[2]  # its mean is accelerated by gravity, however it moves
    assert fall == pytest.approx(-9.81 * (4 / 24) ** 2, rel=0.02)


def test_a_key_of_an_influence_makes_frames_outdated_at_once():
    rod = make_rod(start_hold="FREE")
    scene, attachment = bpy.context.scene, attach(rod, empty((0, 0, 0)), "START")
    held = play(rod, LAST)
    assert "outdated" not in memory.info(scene)
    let_go_at(attachment, 5)
    assert "outdated" in memory.info(scene)
    free = play(rod, LAST)
    assert "outdated" not in memory.info(scene)
    np.testing.assert_array_equal(free[4], held[4])
    assert free[LAST][0, 2] < held[LAST][0, 2] - 0.05
    rod.animation_data_clear()
    attachment.influence = 1.0
    assert "outdated" in memory.info(scene)
    np.testing.assert_array_equal(play(rod, LAST)[LAST], held[LAST])


def test_points_with_weight_are_pinned_to_the_object():
    rod = make_rod(start_hold="FREE")
    for k in (3, 8):
        rod.data.splines[0].points[k].weight_softbody = 1.0
    assert np.abs(play(rod, 4)[4][3] - line()[3]).max() > 1e-3
    rod.tendril.pin_by_weight = True
    shown = play(rod, 8)
    np.testing.assert_allclose(shown[8][[3, 8]], line()[[3, 8]], atol=1e-6)
    assert np.abs(shown[8][0] - line()[0]).max() > 0.01


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"where": "POINT", "point": 99}, "the last point of the spline is 11"),
        ({"spline": 4}, "the last spline of the curve is 0"),
        ({"target": "mesh", "vertex": 99}, 'the last vertex of "Mesh" is 3'),
        ({"target": "armature", "bone": "None"}, "has no bone of this name"),
    ],
)
def test_what_cannot_be_attached_is_told_at_the_rod(settings, words):
    settings = dict(settings)
    target = settings.pop("target", None)
    target = {"mesh": lambda: make_mesh("Mesh", collide=False), "armature": armature, None: empty}[target]()
    rod, other = make_rod(), make_rod(("POLY", line(y=1.0)), name="Other")
    attach(rod, target, **settings)
    play(other, 3)
    assert words in status(rod)


def test_one_point_is_attached_once():
    rod = make_rod()
    attach(rod, empty())
    attach(rod, empty())
    bpy.context.scene.frame_set(1)
    assert "another attachment holds the same point" in status(rod)
    rod.tendril.active_attachment = 1
    assert bpy.ops.tendril.attachment_remove() == {"FINISHED"}
    play(rod, 3)
    assert bpy.ops.tendril.attachment_remove() == {"FINISHED"}
    with pytest.raises(RuntimeError, match="No attachment is selected"):
        bpy.ops.tendril.attachment_remove()


def test_an_attachment_without_a_target_does_nothing():
    shown = play(make_rod(), 4)
    bpy.context.scene.frame_set(1)
    rod = make_rod(name="Second")
    attach(rod, None)
    np.testing.assert_array_equal(play(rod, 4)[4], shown[4])


def test_frames_are_outdated_when_the_target_is_animated_anew():
    handle, rod = empty(), make_rod()
    attach(rod, handle)
    play(rod, 5)
    assert "outdated" not in memory.info(bpy.context.scene)
    animate(handle, "location", (1, (1, 0, 0.2)), (5, (1, 1, 0.2)))
    bpy.context.scene.frame_set(4)
    assert "outdated" in memory.info(bpy.context.scene)


def test_an_orientation_in_the_middle_is_told_when_it_cannot_let_go():
    rod = make_rod()
    attachment = attach(rod, empty(), "POINT", point=5, use_rotation=True)
    for frame, value in ((2, 1.0), (3, 0.0)):
        attachment.influence = value
        attachment.keyframe_insert("influence", frame=frame)
    bpy.context.scene.frame_set(1)
    play(rod, 2)
    bpy.context.scene.frame_set(3)
    assert "let go of" in status(rod)


def test_hooks_become_attachments():
    """The hooked point of the rod follows its empty, which is shown once, not twice."""
    hand = bpy.data.objects.new("Hand", None)
    bpy.context.collection.objects.link(hand)
    hand.keyframe_insert("location", frame=1)
    hand.location = (0.0, 0.0, 0.4)
    hand.keyframe_insert("location", frame=9)
    obj = make_rod(("POLY", line(12)), ("BEZIER", line(4, y=0.5)))
    hook = obj.modifiers.new("Hook", "HOOK")
    hook.object = hand
    hook.vertex_indices_set(
        [5, 12 + 3 * 2, 12 + 3 * 2 + 1, 12 + 3 * 2 + 2]
    )  # a Bezier point with both handles, as Ctrl H does
    second = obj.modifiers.new("Second", "HOOK")
    second.object = hand
    second.vertex_indices_set([5])
    assert bpy.ops.tendril.hooks_to_attachments() == {"FINISHED"}
    told = [(one.spline, one.point, one.target.name) for one in obj.tendril.attachments]
    assert told == [(0, 5, "Hand"), (1, 2, "Hand")]
    shown = play(obj, 9)
    for row in (5, 12 + 3 * 2 + 1):
        assert np.allclose(shown[9][row] - shown[1][row], [0.0, 0.0, 0.4], atol=1e-5)
    assert np.allclose(evaluated_points(obj)[5], shown[9][5], atol=1e-6)
    with pytest.raises(RuntimeError, match="no enabled Hook modifier"):
        bpy.ops.tendril.hooks_to_attachments()


def test_a_deleted_target_is_told_on_the_rod():
    rod, target = make_rod(start_hold="FREE"), empty((0, 0, 0))
    attach(rod, target, "START")
    play(rod, 4)
    assert lost_targets(rod, bpy.context.scene) == []
    bpy.context.collection.objects.unlink(target)
    (message,) = lost_targets(rod, bpy.context.scene)
    assert "is not in the scene" in message
    bpy.data.objects.remove(target)
    (message,) = lost_targets(rod, bpy.context.scene)
    assert "has no target and holds nothing" in message
    assert "outdated" in memory.info(bpy.context.scene)
