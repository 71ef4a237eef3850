"""After warming up nothing is left to be compiled, and the cache keeps what is used."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest
from numba.core.registry import CPUDispatcher
from tendril.core import Material, Mesh, Rod, Scene, Simulation
from tendril.core.compile import cache_folder
from tendril.core.models.registry import MODELS
from tendril.core.run import warm_up, warm_up_process
from tendril.packaging.compile_kernels import tasks_of


def compiled():
    """What has been compiled, or loaded from disk, of all kernels that Python calls."""
    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("tendril.core"):
            for value in vars(module).values():
                if isinstance(value, CPUDispatcher):
                    found[value.py_func.__module__, value.py_func.__name__] = tuple(map(str, value.signatures))
    return found


@pytest.mark.parametrize("contact", [False, True])
def test_nothing_is_left_to_be_compiled(contact, monkeypatch):
    monkeypatch.setattr(warm_up, "is_warm", lambda *_: False)
    warm_up.warm_up(["der"], contact)
    before = compiled()
    for coils in (3, 12) if contact else (3,):
        swing(coils, contact)
    after = compiled()
    assert {name: after[name] for name in after if after[name] != before.get(name, ())} == {}


def swing(coils, contact):
    """Some frames of coils and a ring, in which an end is moved and let go."""
    material = Material.preset("steel cable")
    scene = Scene(air_density=1.2, wind=(1.0, 0.0, 0.0), drag=0.1, rod_contact=contact)
    angle = np.linspace(0.0, 6.0 * np.pi, 40)
    coil = np.stack([0.1 * np.cos(angle), 0.1 * np.sin(angle), 0.3 + 0.01 * angle], axis=1)
    for k in range(coils):
        rod = scene.add(Rod.from_points(coil + np.array((0.05 * k, 0.0, 0.1 * k)), radius=0.005, material=material))
        scene.pin(rod, "start")
        hold = scene.clamp(rod, "end")
    ring = np.stack([0.1 * np.cos(angle[:14]), 0.1 * np.sin(angle[:14]), 0.01 + 0.0 * angle[:14]], axis=1)
    scene.add(Rod.from_points(ring[:-1], radius=0.005, material=material, closed=True))
    if contact:
        scene.collide(
            Mesh([(-1, -1, 0), (1, -1, 0), (0, 1, 0), (0, 0, -1)], [(0, 1, 2), (1, 0, 3), (2, 1, 3), (0, 2, 3)])
        )
    simulation = Simulation(scene, 24.0)
    for frame in range(6):
        simulation.move(hold, position=(0.01 * frame, 0.0, 0.0))
        simulation.step_frame()
        if frame == 3:
            simulation.release(hold)


def test_a_mark_says_that_it_was_done(monkeypatch, tmp_path):
    monkeypatch.setattr(cache_folder, "_folder", tmp_path)
    monkeypatch.setattr(warm_up, "_done", set())
    assert not warm_up.is_warm(["der"], False)
    (tmp_path / "ready").mkdir()
    warm_up._mark("der").touch()
    assert warm_up.is_warm(["der"], False)
    assert not warm_up.is_warm(["der", "compact"], False)
    assert not warm_up.is_warm(["der"], True)


def test_nothing_is_tried_twice_where_no_mark_can_be_made(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setattr(cache_folder, "_folder", tmp_path / "file")
    monkeypatch.setattr(warm_up, "_done", set())
    assert not warm_up.is_warm(["der"], False)
    warm_up.warm_up(["der"], False)
    assert warm_up.is_warm(["der"], False)


def test_two_processes_compile_each_combination_of_each_model_once():
    models = [record.name for record in MODELS]
    names = [warm_up.name_of(model, contact, bodies) for (model,), contact, bodies in tasks_of(models)]
    assert len(names) == len(set(names)) == 4 * len(models)
    assert names[0] == "der-contact-bodies"
    assert names[-1 : -len(models) : -1] == models[:0:-1]  # what the other process begins with


def test_asking_whether_it_was_done_needs_no_numba(tmp_path):
    script = "import sys; from tendril.core.run.warm_up import is_warm; is_warm(['der'], True); print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr


def test_code_that_nobody_uses_is_thrown_away(monkeypatch, tmp_path):
    monkeypatch.setattr(cache_folder, "_folder", tmp_path)
    used, unused, others = tmp_path / ("a" * 16), tmp_path / ("b" * 16), tmp_path / "somebody's"
    for folder in (used, unused, others):
        folder.mkdir()
        (folder / "kernel.nbc").touch()
    long_ago = time.time() - 1.1 * warm_up.UNUSED_FOR
    os.utime(unused, (long_ago, long_ago))
    os.utime(others, (long_ago, long_ago))
    warm_up._delete_unused()
    assert sorted(tmp_path.iterdir()) == sorted([used, others])


def test_another_process_compiles_for_this_one(monkeypatch, tmp_path):
    """A toy would not do: the process knows the models that come with Tendril. What is compiled already is only marked."""
    monkeypatch.setattr(cache_folder, "_folder", tmp_path)
    monkeypatch.setattr(warm_up, "_done", set())
    parts = []
    assert not warm_up_process.compile_apart(["no such model"], False, False, tmp_path, parts.append)
    assert not warm_up.is_warm(["der"], False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no python"))
    assert not warm_up_process.compile_apart(["der"], False, False, tmp_path, parts.append)
    assert parts == []


@pytest.mark.long
def test_another_process_compiles_a_model(monkeypatch, tmp_path):
    monkeypatch.setattr(cache_folder, "_folder", tmp_path)
    monkeypatch.setattr(warm_up, "_done", set())
    parts = []
    assert warm_up_process.compile_apart(["der"], False, False, tmp_path, parts.append)
    assert warm_up.is_warm(["der"], False)
    assert parts == sorted(parts)
    assert parts[-1] > 0.7
