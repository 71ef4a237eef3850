"""Large scenes and caches, at their full size in the long tests and smaller ones in `make test`."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest
from tendril.core import Box, FrameCache, Material, Rod, Scene, Simulation

NYLON = Material.preset("nylon rope")


def resident_bytes():
    """Memory of this process, where the system tells it."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        pytest.skip("the system does not tell")


def full(*values):
    """A parameter for the long tests."""
    return pytest.param(*values, marks=pytest.mark.long)


@pytest.mark.parametrize("segments", [10_000, full(100_000)])
def test_one_rope_of_many_segments(segments):
    scene = Scene()
    points = np.linspace((0.0, 0.0, 0.0), (0.01 * segments, 0.0, 0.0), segments + 1)
    scene.add(Rod.from_points(points, radius=0.005, material=NYLON))
    scene.pin(0, "start")
    sim = Simulation(scene)
    for _ in range(3):
        frame = sim.step_frame()
        assert frame.report.converged
    fallen = frame.positions(0)[:, 2]
    assert fallen[segments // 2] == pytest.approx(
        -0.5 * 9.81 * frame.time**2, rel=0.05
    )  # too far from the pin to feel it
    assert abs(fallen[0]) < 1e-12


@pytest.mark.parametrize(("rods", "frames"), [(60, 8), full(5000, 20)])
def test_many_rods_in_contact(rods, frames):
    """A heap on a floor: no NaN, and what overlaps is reported."""
    scene = Scene(rod_contact=True)
    rng = np.random.default_rng(1)
    side = int(np.ceil(rods ** (1 / 3)))
    for k in range(rods):
        at = 0.12 * np.array([k % side, k // side % side, k // side**2]) + (0.0, 0.0, 0.02)
        along = rng.standard_normal(3)
        points = at + np.linspace(-0.05, 0.05, 6)[:, None] * along / np.linalg.norm(along)
        scene.add(Rod.from_points(points, radius=0.003, material=NYLON))
    extent = 0.12 * side + 1.0
    scene.collide(Box((2.0 * extent, 2.0 * extent, 0.2), (0.0, 0.0, -0.13)))
    sim = Simulation(scene)
    for _ in range(frames):
        frame = sim.step_frame()
        assert np.isfinite(sim.state()).all()
        assert frame.report.converged or frame.report.affected
        assert frame.report.converged or frame.report.overlap <= 0.1 or frame.report.severity


@pytest.mark.parametrize("frames", [300, full(5000)])
def test_memory_is_flat(frames, tmp_path):
    """Simulated, written to a cache and read again."""
    scene = Scene(rod_contact=True)
    for k in range(3):
        scene.add(
            Rod.from_points(np.linspace((0.0, 0.05 * k, 0.3), (1.0, 0.05 * k, 0.3), 12), radius=0.01, material=NYLON)
        )
        scene.pin(k, "start")
    scene.collide(Box((4.0, 4.0, 0.2), (0.0, 0.0, -0.1)))
    sim = Simulation(scene)
    with FrameCache.create(tmp_path / "frames", scene.fingerprint(), sim.state_size, 1) as cache:
        before = 0
        for number in range(1, frames + 1):
            cache.append(number, sim.state())
            cache.read(max(1, number // 2))
            sim.step_frame()
            if number == frames // 3:
                before = resident_bytes()
    assert resident_bytes() - before < 20e6


@pytest.mark.parametrize("size", [2e8, full(1e10)])
def test_a_large_cache_opens_at_once(size, tmp_path):
    """Real data: every byte of it is written. The index is verified without reading the frames."""
    numbers = 2_000_000 if size > 1e9 else 250_000
    if os.statvfs(tmp_path).f_bavail * os.statvfs(tmp_path).f_frsize < 1.5 * size:
        pytest.skip("the disk is too small")
    state = np.random.default_rng(2).standard_normal(numbers)
    frames = int(size / (8 * numbers))
    with FrameCache.create(tmp_path / "frames", Scene().fingerprint(), numbers, 1) as cache:
        for number in range(1, frames + 1):
            state[0] = number
            cache.append(number, state)
    times = []
    for _ in range(3):  # the first may wait for the disk, which still writes
        began = time.process_time()
        FrameCache.open(tmp_path / "frames").close()
        times.append(time.process_time() - began)
    assert min(times) < 1.0
    with FrameCache.open(tmp_path / "frames") as cache:
        assert cache.frames == range(1, frames + 1)
        assert cache.read(frames)[0] == frames
        assert cache.read(1 + frames // 2)[0] == 1 + frames // 2
    (tmp_path / "frames").unlink()  # pytest keeps the folders of some runs
