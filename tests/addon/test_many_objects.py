"""Objects that have nothing to do with rods cost nothing, however many there are."""

import time

import bpy
import numpy as np
import pytest
from tendril.addon import live, memory
from tendril.addon.bridge import relevant
from tendril.addon.bridge.curves import read_rows
from tendril.addon.running import Running
from tendril.tests.addon.building import activate, make_mesh, make_rod, play

COUNT = 3000
LAST = 12


def add_unrelated(count):
    mesh = bpy.data.meshes.new("Unrelated")
    for k in range(count):
        bpy.context.collection.objects.link(bpy.data.objects.new(f"Unrelated {k}", mesh))
    moving = bpy.data.objects["Unrelated 0"]
    for frame, x in ((1, 0.0), (250, 5.0)):
        moving.location.x = x
        moving.keyframe_insert("location", frame=frame)


@pytest.fixture
def own_time(monkeypatch):
    """Processor time of the add-on's part of the last frame change, without the simulation, in s."""
    spent = {}

    def timed(function):
        def call(*arguments):
            began = time.process_time()
            function(*arguments)
            spent[function.__name__] = time.process_time() - began

        return call

    for name in ("before_frame_change", "after_frame_change"):
        monkeypatch.setattr(live, name, timed(getattr(live, name)))
    return lambda: sum(spent.values())


def least_times(rope, own_time):
    """Least processor time of new frames and of those that exist, in s."""
    scene = bpy.context.scene
    times = {"new": [], "old": []}
    for kind in times:
        scene.frame_set(1)
        for number in range(2, 3 * LAST):
            scene.frame_set(number)
            simulating = memory.running_of(scene).seconds if rope is not None and kind == "new" else 0.0
            times[kind].append(own_time() - simulating)
    return np.array([min(times["new"]), min(times["old"])])


def seconds_of_a_look_at_each():
    times = []
    for _ in range(5):
        began = time.process_time()
        assert sum(obj.tendril.enabled for obj in bpy.context.scene.objects) <= 1
        times.append(time.process_time() - began)
    return min(times)


@pytest.mark.parametrize("rods", [0, 1])
def test_unrelated_objects_are_not_looked_at(rods, own_time):
    """Frames that exist take less time than reading one setting of each object, on any machine."""
    add_unrelated(COUNT)
    times = least_times(make_rod() if rods else None, own_time)
    assert times[-1] < seconds_of_a_look_at_each()


@pytest.mark.long
@pytest.mark.parametrize("rods", [0, 1])
def test_unrelated_objects_take_less_than_a_millisecond(rods, own_time):
    add_unrelated(10_000)
    assert np.all(least_times(make_rod() if rods else None, own_time) < 1e-3)


@pytest.fixture
def evaluated_early():
    """Per frame change, whether the rod's curve was already evaluated when handlers ran after the evaluation."""
    found = []

    def note(_, depsgraph):
        found.append(any(isinstance(update.id, bpy.types.Curve) for update in depsgraph.updates))

    bpy.app.handlers.frame_change_post.insert(0, note)
    yield found
    bpy.app.handlers.frame_change_post.remove(note)


def test_no_second_evaluation_for_frames_that_exist(evaluated_early):
    """Written before the evaluation, a frame is evaluated with everything else."""
    play(make_rod(), LAST)
    evaluated_early.clear()
    bpy.context.scene.frame_set(5)
    assert evaluated_early == [True]


def test_no_second_evaluation_for_new_frames_among_many_objects(evaluated_early):
    """The first two are not predicted: only then it is known that inputs do not change."""
    add_unrelated(live.MANY_OBJECTS)
    play(make_rod(), LAST)
    assert evaluated_early[3:] == [True] * (LAST - 3)


def start_to_move(rope):
    pin = bpy.data.objects.new("Pin", None)
    bpy.context.collection.objects.link(pin)
    item = rope.tendril.attachments.add()
    item.target, item.where = pin, "START"
    for frame, x in ((1, 0.0), (7, 0.0), (9, 0.2), (12, 0.2)):
        pin.location.x = x
        pin.keyframe_insert("location", frame=frame)
    return pin


def start_to_deform(rope):
    floor = make_mesh(cuts=4, at=(0.0, 0.0, -0.05))
    floor.shape_key_add(name="Basis")
    key = floor.shape_key_add(name="Up")
    for point in key.data:
        point.co.z += 0.1
    for frame, value in ((7, 0.0), (9, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    bpy.context.scene.frame_set(1)
    activate(rope)


def start_to_soften(rope):
    for frame, value in ((7, 1.0), (9, 0.5)):
        rope.tendril.stiffness_factor = value
        rope.keyframe_insert("tendril.stiffness_factor", frame=frame)


def start_to_fall(_rope):
    scene = bpy.context.scene
    for frame, value in ((7, -9.81), (8, 3.0)):
        scene.gravity.z = value
        scene.keyframe_insert("gravity", index=2, frame=frame)


def never(_rope):
    pass


@pytest.mark.parametrize("change", [never, start_to_move, start_to_deform, start_to_soften, start_to_fall])
@pytest.mark.parametrize("cached", [False, True])
def test_predicted_frames_are_those_that_are_not_predicted(change, cached, monkeypatch, tmp_path):
    """A wrong prediction is undone, in memory and on disk."""
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "file.blend"))
    bpy.context.scene.tendril.use_disk_cache = cached
    rope = make_rod()
    change(rope)
    outcomes = []
    confirm = Running.confirm

    def watched(running, right):
        if running.prediction is not None:
            outcomes.append(right)
        confirm(running, right)

    monkeypatch.setattr(Running, "confirm", watched)
    monkeypatch.setattr(live, "MANY_OBJECTS", 10**9)
    plain = play(rope, 3 * LAST)
    assert outcomes == []
    memory.forget(bpy.context.scene, distrust_disk=True)
    monkeypatch.setattr(live, "MANY_OBJECTS", 0)
    predicted = play(rope, 3 * LAST)
    assert outcomes.count(True) > LAST
    assert outcomes.count(False) == (change is not never)
    for number, rows in plain.items():
        assert np.array_equal(rows, predicted[number])
    assert not memory.running_of(bpy.context.scene).outdated
    if cached:
        assert memory.running_of(bpy.context.scene).disk.frames.stop == 3 * LAST + 1
        memory.clear()
        bpy.context.scene.frame_set(10)
        assert np.array_equal(read_rows(rope.data), plain[10])


def test_a_prediction_that_nobody_looks_at_is_undone(monkeypatch):
    """The rod stops being one between two handlers."""
    monkeypatch.setattr(live, "MANY_OBJECTS", 0)
    rope = make_rod()
    play(rope, 6)
    scene = bpy.context.scene

    def disable(*_):
        rope.tendril.enabled = False

    bpy.app.handlers.frame_change_pre.append(disable)
    try:
        scene.frame_set(7)
    finally:
        bpy.app.handlers.frame_change_pre.remove(disable)
    running = memory.running_of(scene)
    assert running.prediction is None
    assert running.last_frame == 6


def test_what_becomes_relevant_is_found():
    rope = make_rod()
    add_unrelated(10)
    play(rope, 4)
    assert relevant.in_scene(bpy.context.scene) == [rope]
    scene = bpy.context.scene
    wind = bpy.data.objects.new("Wind", None)
    bpy.context.collection.objects.link(wind)
    scene.frame_set(1)
    bpy.context.view_layer.objects.active = wind
    bpy.ops.object.forcefield_toggle()
    wind.field.type = "WIND"
    other = make_rod(name="Other")
    bpy.data.objects["Unrelated 3"].modifiers.new("Collision", "COLLISION")  # by a script, nothing is evaluated
    scene.frame_set(2)
    assert set(relevant.in_scene(scene)) == {rope, wind, other, bpy.data.objects["Unrelated 3"]}
    bpy.data.objects.remove(other)
    scene.frame_set(3)
    assert rope in relevant.in_scene(scene)
    assert len(relevant.in_scene(scene)) == 3
    bpy.context.collection.objects.unlink(rope)
    scene.frame_set(4)
    assert rope not in relevant.in_scene(scene)
    assert rope in relevant.in_file()
    assert memory.taking_part(scene) == {}


def test_undo_leaves_no_reference_to_what_it_replaced():
    make_rod()
    bpy.ops.ed.undo_push(message="rod")
    play(bpy.data.objects["Rope"], 4)
    bpy.data.objects["Rope"].location.x = 1.0
    bpy.ops.ed.undo_push(message="moved")
    bpy.ops.ed.undo()
    assert relevant.in_scene(bpy.context.scene) == [bpy.data.objects["Rope"]]
    bpy.ops.ed.redo()
    bpy.context.scene.frame_set(1)
    assert relevant.in_file() == [bpy.data.objects["Rope"]]
