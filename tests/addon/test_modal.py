"""A bake in the window: piece by piece, with progress and time left, until it is done or ESC is pressed."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from tendril.addon import memory
from tendril.addon.operators import baking, cache, simulating
from tendril.tests.addon.building import make_rod

LAST = 9


class Window:
    """What an operator sees of the window, and what it did there."""

    def __init__(self):
        self.progress, self.texts, self.timers = [], [], 0
        self.window_manager = SimpleNamespace(
            event_timer_add=self._add, event_timer_remove=self._remove, modal_handler_add=lambda _: None,
            progress_begin=lambda *_: None, progress_update=self.progress.append, progress_end=lambda: None,
        )  # fmt: skip
        self.workspace = SimpleNamespace(status_text_set=self.texts.append)
        self.window = object()

    scene = property(lambda _: bpy.context.scene)
    active_object = property(lambda _: bpy.context.active_object)

    def _add(self, *_, **__):
        self.timers += 1

    def _remove(self, _):
        self.timers -= 1


class Reports:
    def report(self, kind, text):
        self.said = (*getattr(self, "said", ()), (*kind, text))


class Bake(Reports, baking.TENDRIL_OT_bake.__mro__[1]):
    def objects_to_bake(self, context):
        return [context.active_object]


class Calculate(Reports, simulating.SimulationOperator):
    steps = cache.TENDRIL_OT_calculate.steps


@pytest.fixture
def window(monkeypatch):
    monkeypatch.setattr(simulating, "MAX_BLOCKING_TIME", 0.0)  # one frame at a time
    monkeypatch.setattr(simulating, "is_background", lambda: False)
    bpy.context.scene.frame_end = LAST
    return Window()


def event(kind):
    return SimpleNamespace(type=kind)


def test_a_bake_goes_on_with_the_timer_and_tells_how_far_it_is(window):
    rod = make_rod()
    bake = Bake()
    assert bake.invoke(window, event("NONE")) == {"RUNNING_MODAL"}
    assert window.timers == 1
    assert bake.modal(window, event("MOUSEMOVE")) == {"RUNNING_MODAL"}
    assert memory.running_of(bpy.context.scene) is None  # only the timer moves it on
    ticks = 0
    while (result := bake.modal(window, event("TIMER"))) == {"RUNNING_MODAL"}:
        ticks += 1
        assert not rod.tendril.baked
    assert result == {"FINISHED"}
    assert rod.tendril.baked
    assert ticks >= LAST - 1
    assert window.progress == sorted(window.progress)
    assert window.progress[-1] == pytest.approx(100.0)
    assert all(" s left" in text and "ESC: cancel" in text for text in window.texts[:-1])
    assert window.texts[-1] is None  # the status line is given back
    assert window.timers == 0


def test_esc_leaves_the_rod_unbaked_and_the_scene_where_it_was(window):
    rod = make_rod()
    bpy.context.scene.frame_set(3, subframe=0.5)
    bake = Bake()
    bake.invoke(window, event("NONE"))
    for _ in range(4):
        assert bake.modal(window, event("TIMER")) == {"RUNNING_MODAL"}
    assert bake.modal(window, event("ESC")) == {"CANCELLED"}
    assert not rod.tendril.baked
    assert rod.data.shape_keys is None
    assert (bpy.context.scene.frame_current, bpy.context.scene.frame_subframe) == (3, 0.5)
    assert window.timers == 0
    assert window.texts[-1] is None
    assert bake.said[-1] == ("INFO", "Cancelled")


def cancel_a_bake(window, frames):
    bake = Bake()
    bake.invoke(window, event("NONE"))
    for _ in range(frames):
        assert bake.modal(window, event("TIMER")) == {"RUNNING_MODAL"}
    assert bake.modal(window, event("ESC")) == {"CANCELLED"}
    return memory.running_of(bpy.context.scene)


def test_after_esc_the_next_bake_goes_on_with_the_frames_that_are_there(window):
    rod = make_rod()
    running = cancel_a_bake(window, 5)
    there = dict(running.moments)
    assert len(there) == 5
    bake = Bake()
    bake.invoke(window, event("NONE"))
    while (result := bake.modal(window, event("TIMER"))) == {"RUNNING_MODAL"}:
        pass
    assert result == {"FINISHED"}
    assert rod.tendril.baked
    assert memory.running_of(bpy.context.scene) is running
    assert all(running.moments[k] is moment for k, moment in there.items())
    assert len(running.moments) == LAST


def keyframe(rod):
    rod.location.y = 0.3
    rod.keyframe_insert("location", frame=5)


CHANGES = {
    "a setting": lambda rod: setattr(rod.tendril, "radius", 0.02),
    "the drawn shape": lambda rod: setattr(rod.data.splines[0].points[3], "co", (0.3, 0.1, 0.0, 1.0)),
    "an animation": keyframe,
    "the range": lambda rod: setattr(bpy.context.scene, "frame_end", 3),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_changed_since_is_baked_as_it_is_now(window, change):
    """As if nothing had been there."""
    shown = []
    for left in (True, False):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.context.scene.frame_end = LAST
        rod = make_rod()
        if change == "an animation":
            rod.keyframe_insert("location", frame=1)
        bpy.context.scene.frame_set(1)
        if left:
            assert len(cancel_a_bake(window, 6).moments) == 6
        CHANGES[change](rod)
        assert bpy.ops.tendril.bake() == {"FINISHED"}
        keys = rod.data.shape_keys.key_blocks
        co = np.empty((len(keys), 3 * len(keys[0].data)), dtype=np.float32)
        for key, row in zip(keys, co, strict=True):
            key.data.foreach_get("co", row)
        shown.append(co)
    assert np.array_equal(*shown)


def test_a_bake_that_can_not_begin_or_go_on_says_why(window):
    bake = Bake()
    assert bake.invoke(window, event("NONE")) == {"CANCELLED"}
    assert bake.said[-1][0] == "ERROR"
    rod = make_rod()
    bake = Bake()
    bake.invoke(window, event("NONE"))
    bake.modal(window, event("TIMER"))
    bpy.data.objects.remove(rod)
    while (result := bake.modal(window, event("TIMER"))) == {"RUNNING_MODAL"}:
        pass
    assert result == {"CANCELLED"}
    assert "changed" in bake.said[-1][1]
    assert window.timers == 0


def test_calculating_to_a_frame_is_modal_too(window):
    make_rod()
    bpy.context.scene.frame_set(5)
    calculate = Calculate()
    calculate.activity = "calculating"
    assert calculate.invoke(window, event("NONE")) == {"RUNNING_MODAL"}
    while (result := calculate.modal(window, event("TIMER"))) == {"RUNNING_MODAL"}:
        pass
    assert result == {"FINISHED"}
    assert memory.info(bpy.context.scene) == "5 frames in memory"
    assert window.texts[0].startswith("Tendril is calculating: ")
