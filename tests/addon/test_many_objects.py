"""Objects that have nothing to do with rods cost nothing, however many there are."""

import time

import bpy
import pytest
from tendril.addon import live, memory
from tendril.addon.bridge import relevant
from tendril.tests.addon.building import make_rod, play

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


@pytest.mark.parametrize("rods", [0, 1])
def test_unrelated_objects_take_less_than_a_millisecond(rods, own_time):
    add_unrelated(COUNT)
    if rods:
        play(make_rod(), LAST)
    times = []
    for number in (*range(3, LAST), *range(3, LAST)):
        bpy.context.scene.frame_set(number)
        times.append(own_time())
    assert min(times) < 1e-3


def test_no_second_evaluation_for_frames_that_exist():
    """Written before the evaluation, a frame is evaluated with everything else."""
    play(make_rod(), LAST)
    evaluations = []
    bpy.app.handlers.frame_change_post.append(
        lambda _, depsgraph: evaluations.append(depsgraph.id_type_updated("CURVE"))
    )
    try:
        bpy.context.scene.frame_set(5)
    finally:
        bpy.app.handlers.frame_change_post.pop()
    assert evaluations == [True]  # already when this handler runs


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
