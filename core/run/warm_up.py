"""Compiles what a scene will need before it is needed, by running a small one of the same kind.

A mark in the cache says that this was done, for these sources on this processor; then a simulation starts at once.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np

from ..compile.kernel_cache import cache_folder
from ..describe.material import Material
from ..describe.rod import Rod
from ..describe.scene import Scene
from ..describe.shapes import Mesh

FORGOTTEN = 100 * 24 * 3600.0  # s: compiled code that was not used for so long is of a version that is gone

_SOURCES = Path(__file__).resolve().parents[1]

_done: set[tuple[str, bool]] = set()  # in this process


def is_warm(models: Iterable[str], contact: bool) -> bool:
    """True if nothing is left to be compiled. Does not import numba."""
    return all((model, contact) in _done or _mark(model, contact).exists() for model in models)


def warm_up(models: Iterable[str], contact: bool) -> None:
    """Compiles rods of these models, and what lets them touch each other and meshes. Takes some ten seconds each, once. Where
    kernels are not compiled there is nothing to do."""
    for model in models:
        if not is_warm([model], contact):
            _done.add((model, contact))  # whatever comes, it is not tried twice
            _compile(model, contact)
    _keep_what_is_used()


def _compile(model: str, contact: bool) -> None:
    from ..compile.jit import why_not_compiled  # late: these import numba
    from .simulation import Simulation

    if why_not_compiled():
        return
    for solver in ("coulomb", "gauss-seidel") if contact and model == "clothoid" else ("coulomb",):
        simulation = Simulation(_small_scene(model, contact), 24.0, substeps=2, threads=1, contact=solver)
        for frame in range(3):
            simulation.move(0, position=(0.0, 0.001 * frame, 0.0))
            if contact:
                simulation.move_collider(0, vertices=_floor(0.001 * frame))
            simulation.step_frame()
        simulation.restore(simulation.state(), simulation.frame)
    with suppress(OSError):  # a disk that can't be written to: compiled code is in memory alone
        _mark(model, contact).parent.mkdir(exist_ok=True)
        _mark(model, contact).touch()


def _small_scene(model: str, contact: bool) -> Scene:
    """Two rods that cross, the upper one about to fall on the lower one, and both on a floor."""
    material = Material.preset("nylon rope")
    scene = Scene(air_density=1.2, wind=(0.1, 0.0, 0.0), rod_contact=contact)
    along = np.linspace(0.0, 0.3, 7)
    for height, (x, y) in ((0.011, (1.0, 0.0)), (0.0325, (0.0, 1.0))):
        points = np.stack([x * along + 0.1 * y, y * along - 0.1 * y, np.full(7, height)], axis=1)
        rod = scene.add(Rod.from_points(points, radius=0.01, material=material), model)
        if height < 0.02:
            scene.clamp(rod, "start")
    if contact:
        scene.collide(Mesh(_floor(0.0), [(0, 1, 2), (1, 0, 3), (2, 1, 3), (0, 2, 3)]))
    return scene


def _floor(height: float) -> list[tuple[float, float, float]]:
    """The corners of a solid whose top is level."""
    return [(-1.0, -1.0, height), (1.0, -1.0, height), (0.0, 1.0, height), (0.0, 0.0, height - 1.0)]


def _mark(model: str, contact: bool) -> Path:
    return cache_folder() / "ready" / f"{_identity()}-{model}{'-contact' if contact else ''}"


@cache
def _identity() -> str:
    """Of all that compiled code depends on."""
    try:
        from llvmlite import binding

        told = (version("numba"), platform.python_version(), np.__version__, binding.get_host_cpu_name())
    except Exception:  # there is no compiler that works
        told = ("", "", "", "")
    digest = hashlib.sha256(repr(told).encode())
    for path in sorted(_SOURCES.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _keep_what_is_used() -> None:
    """Upgrades leave compiled code of old sources behind. What another Blender uses is not old."""
    with suppress(OSError):
        for path in cache_folder().iterdir():
            if len(path.name) == 16 and path.is_dir() and time.time() - path.stat().st_mtime > FORGOTTEN:
                shutil.rmtree(path, ignore_errors=True)
