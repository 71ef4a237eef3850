"""Warm-up: compiles the kernels of a scene ahead of time, by running a small scene with the same models.

A marker file in the cache records that this was done for these sources on this processor.
"""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np

from ..compile.kernel_cache import cache_folder
from ..compile.version import compiler_identity
from ..describe.material import Material
from ..describe.model import model_record
from ..describe.rod import Rod
from ..describe.scene import Scene
from ..describe.shapes import Mesh

UNUSED_FOR = 100 * 24 * 3600.0  # s after which compiled code is deleted: it belongs to sources that no longer exist

_SOURCES = Path(__file__).resolve().parents[1]

_done: set[tuple[str, bool]] = set()  # in this process


def is_warm(models: Iterable[str], contact: bool) -> bool:
    """True if all kernels of these models are compiled. Does not import numba."""
    return all((model, contact) in _done or _mark(model, contact).exists() for model in models)


def warm_up(models: Iterable[str], contact: bool) -> None:
    """Compiles the kernels of these models, with `contact` also those of collisions with rods and meshes. Takes tens of seconds
    per model, once. Does nothing where numba can't be used."""
    for model in models:
        if not is_warm([model], contact):
            _done.add((model, contact))  # even if it fails: not tried twice
            _compile(model, contact)
    _delete_unused()


def _compile(model: str, contact: bool) -> None:
    from ..compile.jit import why_not_compiled  # late: these import numba
    from .simulation import Simulation

    if why_not_compiled():
        return
    for solver in model_record(model).warm_up_solvers if contact else ("coulomb",):
        simulation = Simulation(_small_scene(model, contact), 24.0, substeps=2, threads=1, contact=solver)
        for frame in range(3):
            simulation.move(0, position=(0.0, 0.001 * frame, 0.0))
            if contact:
                simulation.move_collider(0, vertices=_floor(0.001 * frame))
            simulation.step_frame()
        simulation.restore(simulation.state(), simulation.frame)
    with suppress(OSError):  # a read-only disk: compiled code is in memory only
        _mark(model, contact).parent.mkdir(exist_ok=True)
        _mark(model, contact).touch()


def _small_scene(model: str, contact: bool) -> Scene:
    """Two crossing rods above a floor, the upper one about to fall on the lower one."""
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
    """The corners of a tetrahedron with a horizontal top face."""
    return [(-1.0, -1.0, height), (1.0, -1.0, height), (0.0, 1.0, height), (0.0, 0.0, height - 1.0)]


def _mark(model: str, contact: bool) -> Path:
    return cache_folder() / "ready" / f"{_identity()}-{model}{'-contact' if contact else ''}"


@cache
def _identity() -> str:
    """A digest of everything that compiled code depends on: sources, compiler, Python, processor."""
    digest = hashlib.sha256(repr(compiler_identity()).encode())
    for path in sorted(_SOURCES.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _delete_unused() -> None:
    """Deletes compiled code that has not been used for long: upgrades leave that of old sources behind."""
    with suppress(OSError):
        for path in cache_folder().iterdir():
            if len(path.name) == 16 and path.is_dir() and time.time() - path.stat().st_mtime > UNUSED_FOR:
                shutil.rmtree(path, ignore_errors=True)
