"""The same scene gives the same bits: for any number of threads, in another process, from any saved frame."""

from __future__ import annotations

import hashlib
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import plain_rods
import pytest
from plain_rods import circle, helix, made_of, plain_rod
from tendril.core import Scene, Simulation
from tendril.core.describe.rotations import rotation_about

FRAMES = 6


def waving(t: float) -> tuple[np.ndarray, np.ndarray]:
    turn = rotation_about(np.array([0.0, 0.6, 0.8]), np.array(2.0 * t))
    return np.array([0.2 * math.sin(9.0 * t), 0.1 * t, 0.3 * t]), turn


def crowd(rods: int = 60) -> Scene:
    """Rods of all lengths, open and closed, free, pinned, clamped and turned on paths, in wind, under loads."""
    scene = Scene(air_density=1.2, wind=(1.0, 0.5, 0.0), drag=0.1)
    for k in range(rods):
        closed, n = k % 4 == 3, 4 + (7 * k) % 23
        points = (circle(n, 0.3) if closed else helix(n, turns=0.2 + 0.03 * k)) + np.array([0.0, 0.0, k])
        rod = plain_rod(
            points,
            made_of(stretch=1e3 * (1 + k % 5), bend=(0.1, 0.2), twist=0.1 + 0.01 * k),
            closed=closed,
            rest="straight" if k % 3 else "as drawn",
            damping_time=0.001 * (k % 2),
            twist=0.1 * k,
        )
        scene.add(rod, velocity=(0.1 * k, 0.0, 1.0))
        here = points[0]
        if k % 5 == 0:
            scene.pin(k, 0, lambda t, here=here: here + waving(t)[0])
        elif k % 5 == 1:
            scene.clamp(k, 0, lambda t, here=here: (here + waving(t)[0], waving(t)[1]), lambda t: 30.0 * t)
        elif k % 5 == 2:
            scene.orient(k, n // 2, lambda t: waving(t)[1])
        elif k % 5 == 3:
            scene.clamp_edge(k, 1)
        if k % 7 == 0:
            scene.load(k, -1, lambda t: (math.sin(20.0 * t), 0.0, 0.5))
    return scene


def history(sim: Simulation) -> list[bytes]:
    """State and report of each frame, from where it stands to the last."""
    bits = []
    for frame in sim.frames(sim.frame, FRAMES):
        places = b"".join(frame.positions(k).tobytes() for k in range(len(sim.scene.entries)))
        bits.append(sim.state().tobytes() + places + repr(frame.report.energies).encode())
    return bits


@pytest.fixture(scope="module")
def one_thread() -> list[bytes]:
    return history(Simulation(crowd(), threads=1))


@pytest.mark.parametrize("threads", [2, 3, None])
def test_any_number_of_threads(one_thread: list[bytes], threads: int | None) -> None:
    sim = Simulation(crowd(), threads=threads)
    assert history(sim) == one_thread
    if threads is not None:
        assert sim.blocks[0]._workers._pool is not None, "too few vertices for threads"


def test_any_number_of_threads_where_frames_run_in_one_call() -> None:
    """Without paths and loads that change, all substeps of a frame are taken rod by rod."""

    def scene() -> Scene:
        quiet, busy = Scene(air_density=1.2), crowd()
        for entry in busy.entries:
            quiet.add(entry.rod, velocity=entry.velocity)
        return quiet

    assert history(Simulation(scene(), threads=1)) == history(Simulation(scene(), threads=3))


def test_rods_do_not_depend_on_their_company() -> None:
    """A rod alone moves as it does in the crowd, to the last bit."""
    everyone = Simulation(crowd(), threads=2)
    few = Simulation(crowd(8), threads=1)
    for frame, same in zip(everyone.frames(1, 4), few.frames(1, 4), strict=True):
        for k in range(8):
            assert np.array_equal(frame.positions(k), same.positions(k))
            assert np.array_equal(frame.directors(k), same.directors(k))


def strands(which: list[int]) -> Scene:
    """Hair of one kind and of many stiffnesses, shaken so hard that some steps are halved; some strands at rest."""
    scene = Scene(air_density=1.2)
    for k in which:
        points = helix(12, turns=0.3) + np.array([0.5 * k, 0.0, 0.0])
        rod = plain_rod(points, made_of(stretch=10.0 ** (1 + k % 5), bend=(0.01, 0.02)), damping_time=0.002 * (k % 3))
        way = 0.5 * (k % 4)

        def shake(t: float, here: np.ndarray = points[0], way: float = way) -> tuple[np.ndarray, np.ndarray]:
            return here + np.array([0.0, way * math.sin(40.0 * t), 0.0]), np.eye(3)

        scene.clamp(scene.add(rod), "start", shake)
    return scene


def test_strands_do_not_depend_on_those_beside_them() -> None:
    """Strands of one kind share vector registers. Each moves as it does alone and beside others, to the last bit."""
    many = Simulation(strands(list(range(1000))), threads=2, substeps=1)
    some = [0, 1, 2, 3, 7, 13, 998, 999]
    few = Simulation(strands(some), threads=1, substeps=1)
    alone = [Simulation(strands([k]), threads=1, substeps=1) for k in some]
    halvings = 0
    for _ in range(4):
        frame, beside, apart = many.step_frame(), few.step_frame(), [one.step_frame() for one in alone]
        for place, k in enumerate(some):
            for other, number in ((beside, place), (apart[place], 0)):
                assert np.array_equal(frame.positions(k), other.positions(number))
                assert np.array_equal(frame.directors(k), other.directors(number))
        assert beside.report.iterations == sum(one.report.iterations for one in apart)
        assert beside.report.halvings == sum(one.report.halvings for one in apart)
        halvings += beside.report.halvings
    assert halvings, "no step was hard"
    teams, single = few.blocks[0]._find_teams()
    assert len(teams) == 2
    assert len(single) == 0


def test_a_fresh_process(one_thread: list[bytes]) -> None:
    code = "from test_determinism import *; print(digest(history(Simulation(crowd(), threads=2))), end='')"
    places = [Path(__file__).parent, Path(plain_rods.__file__).parent, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places))}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert run.stdout == digest(one_thread), run.stderr


def digest(bits: list[bytes]) -> str:
    return hashlib.sha256(b"".join(bits)).hexdigest()


@pytest.mark.parametrize("frame", range(1, FRAMES))
def test_going_on_from_a_saved_frame(frame: int) -> None:
    """In the simulation it was saved from, after it went on, and in a new one."""
    sim = Simulation(crowd(12), threads=1)
    for _ in range(1, frame):
        sim.step_frame()
    state = sim.state()
    future = history(sim)
    sim.restore(state, frame)
    assert history(sim) == future
    fresh = Simulation(crowd(12), threads=1)
    fresh.restore(state, frame)
    assert history(fresh) == future


def test_going_on_where_holds_were_moved() -> None:
    """Where they have been sent is part of the state: sent on in the same way, everything goes on in the same way."""

    def scene() -> Scene:
        plain = Scene()
        plain.add(plain_rod(helix(8)))
        plain.clamp(0, "start")
        return plain

    def send(sim: Simulation, k: int) -> None:
        turn = rotation_about(np.array([0.0, 0.0, 1.0]), np.array(0.1 * k))
        sim.move(0, (0.3, 0.05 * k, 0.0), turn, 2.0 * k)
        sim.step_frame()

    def go_on(sim: Simulation) -> bytes:
        send(sim, 3)
        send(sim, 4)
        return sim.step_frame().positions(0).tobytes()

    sim = Simulation(scene())
    send(sim, 1)
    send(sim, 2)
    state = sim.state()
    future = go_on(sim)
    sim.restore(state, 3)
    assert go_on(sim) == future
    fresh = Simulation(scene())
    fresh.restore(state, 3)
    assert go_on(fresh) == future


def test_looking_changes_nothing() -> None:
    """Asking for frames, energies and states between steps leaves the motion as it is."""
    watched, alone = Simulation(crowd(12), threads=1), Simulation(crowd(12), threads=1)
    for _ in range(4):
        watched.current()
        watched.energies()
        watched.state()
        watched.step_frame()
        alone.step_frame()
    assert watched.state().tobytes() == alone.state().tobytes()
