"""The solver is compiled while the window lives: on a thread, with a message, and playback goes on by itself."""

import importlib.util
import sys
import threading
import types

import bpy
import pytest
from tendril.addon import memory, solver
from tendril.core.compile import jit
from tendril.core.run import warm_up, warm_up_process
from tendril.tests.addon.building import make_rod


@pytest.fixture
def compiling(monkeypatch):
    """As in a window, on a machine where nothing is compiled yet; `finish` ends the compilation."""
    finish, asked = threading.Event(), []

    def slow(models, contact, bodies, progress):
        asked.append((models, contact, bodies))
        progress(0.25)
        assert finish.wait(60)

    monkeypatch.setattr(solver, "_has_window", lambda: True)
    monkeypatch.setattr(warm_up, "is_warm", lambda *_: finish.is_set())
    monkeypatch.setattr(warm_up, "warm_up", slow)
    monkeypatch.setattr(warm_up_process, "compile_apart", lambda *_: False)
    yield finish, asked
    finish.set()
    solver._thread.join(60)


@pytest.fixture
def rope():
    obj = make_rod()
    bpy.context.scene.frame_set(1)
    return obj


def test_playback_waits_for_it_and_goes_on_by_itself(compiling, rope):
    finish, asked = compiling
    scene = bpy.context.scene
    scene.frame_set(2)
    assert solver.is_compiling()
    assert memory.status(rope.tendril.uid).startswith("The solver is being compiled")
    assert memory.running_of(scene) is None
    assert solver._poll() > 0.0
    finish.set()
    solver._thread.join(60)
    assert solver.progress() == 0.25
    assert "25 %" in solver.progress_text()
    assert asked == [(["der"], False, False)]
    assert solver._poll() is None
    assert scene.frame_current == 2
    assert memory.status(rope.tendril.uid) == ""
    assert memory.running_of(scene).last_frame == 2


def test_a_user_who_went_elsewhere_is_left_there(compiling, rope):
    finish, _ = compiling
    bpy.context.scene.frame_set(2)
    bpy.context.scene.frame_set(5)
    finish.set()
    solver._thread.join(60)
    solver._poll()
    assert bpy.context.scene.frame_current == 5


def test_what_a_script_bakes_waits_for_nothing(compiling, rope):
    _, asked = compiling
    bpy.context.scene.frame_end = 3
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    assert rope.tendril.baked
    assert not asked


def test_what_rods_touch_is_compiled_with_them(compiling, rope):
    _, asked = compiling
    bpy.context.scene.tendril.rod_contact = True
    bpy.context.scene.frame_set(1)
    bpy.context.scene.frame_set(2)
    assert asked == [(["der"], True, False)]


def test_without_numba_one_sentence_says_so(monkeypatch):
    assert solver.problem() == ""
    monkeypatch.setattr(jit, "_missing", "ImportError: no LLVM here")
    said = "Rods are simulated correctly, but about a hundred times slower: numba can't be loaded (ImportError: no LLVM here)"
    assert solver.problem() == said


def test_a_package_for_another_python_is_named(monkeypatch, tmp_path):
    (tmp_path / "wheels").mkdir()
    (tmp_path / "addon").mkdir()
    monkeypatch.setattr(solver, "__file__", str(tmp_path / "addon" / "solver.py"))
    monkeypatch.setattr(jit, "_missing", "ImportError: no LLVM here")
    for tag, expected in (("cp311", "no LLVM here"), ("cp39", "is for Python 3.9, and this Blender has Python 3.11")):
        for old in (tmp_path / "wheels").iterdir():
            old.unlink()
        (tmp_path / "wheels" / f"numba-0.68.1-{tag}-{tag}-win_amd64.whl").touch()
        solver._wrong_package.cache_clear()
        assert expected in solver.problem()
    solver._wrong_package.cache_clear()


def test_it_is_asked_for_while_it_is_being_imported(monkeypatch):
    monkeypatch.setitem(sys.modules, "tendril.core.compile.jit", types.ModuleType("tendril.core.compile.jit"))
    assert solver.problem() == ""


def test_a_numba_that_is_not_there_is_noticed_before_it_is_needed(monkeypatch):
    monkeypatch.delitem(sys.modules, "tendril.core.compile.jit")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    solver._not_installed.cache_clear()
    assert "numba and llvmlite not installed" in solver.problem()
    solver._not_installed.cache_clear()


def test_a_bake_compiles_no_rigid_bodies_where_rods_act_on_none(monkeypatch):
    asked = []
    monkeypatch.setattr(solver, "prepare", lambda models, contact, bodies: asked.append((models, contact, bodies)))
    obj = make_rod()
    solver.prepare_for(bpy.context.scene, [obj])
    obj.tendril.break_force = 10.0
    solver.prepare_for(bpy.context.scene, [obj])
    assert asked == [({"der"}, False, False), ({"net"}, False, False)]
