"""Warm-up: compiles the kernels of a scene ahead of time, by running a small scene with the same models.

A marker file in the cache records that this was done for these sources on this processor.
"""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from functools import cache
from pathlib import Path

from ..compile.bundle import bundled, source_identity
from ..compile.cache_folder import cache_folder
from ..compile.version import compiler_identity
from ..describe.model import model_record, model_records
from .warm_up_scenes import run, simulations

UNUSED_FOR = 100 * 24 * 3600.0  # s after which compiled code is deleted: it belongs to sources that no longer exist

# Functions that numba compiles for a model, about: with contact, with bodies.
_KERNELS = {(False, False): 130, (False, True): 300, (True, False): 400, (True, True): 550}

_done: set[str] = set()  # in this process


def name_of(model: str, contact: bool, bodies: bool) -> str:
    """What is compiled at once: the kernels of a model, with collisions or without, with rigid bodies or without."""
    return f"{model}{'-contact' if contact else ''}{'-bodies' if bodies else ''}"


def is_warm(models: Iterable[str], contact: bool, bodies: bool = False) -> bool:
    """True if all kernels of these models are compiled. Does not import numba."""
    names = [name_of(model, contact, bodies) for model in models]
    return all(name in _done or _is_bundled(name) or _mark(name).exists() for name in names)


def warm_up(
    models: Iterable[str], contact: bool, bodies: bool = False, progress: Callable[[float], None] | None = None
) -> None:
    """Compiles the kernels of these models, with `contact` also those of collisions with rods and meshes, with `bodies` those of
    rigid bodies. Takes tens of seconds per model, once. Does nothing where numba can't be used. Tells `progress` the part that is
    done, an estimate."""
    cold = [model for model in models if not is_warm([model], contact, bodies)]
    from ..compile.jit import why_not_compiled  # late: it imports numba
    from ..compile.progress import counting

    counts = (
        nullcontext()
        if progress is None or why_not_compiled()
        else counting(progress, len(cold) * _KERNELS[contact, bodies])
    )
    with counts:
        for model in cold:
            name = name_of(model, contact, bodies)
            _done.add(name)  # even if it fails: not tried twice
            _compile(model, contact, bodies)
    _delete_unused()


def _compile(model: str, contact: bool, bodies: bool) -> None:
    from ..compile.jit import why_not_compiled  # late: it imports numba

    if why_not_compiled():
        return
    record = model_record(model)
    for simulation in simulations(record, contact, bodies):
        run(simulation, record)
    with suppress(OSError):  # a read-only disk: compiled code is in memory only
        mark = _mark(name_of(model, contact, bodies))
        mark.parent.mkdir(exist_ok=True)
        mark.touch()


def compile_all() -> list[str]:
    """Compiles the kernels of all models, in every combination. Returns the names of what was compiled."""
    names = []
    for record in model_records():
        for contact in (False, True):
            for bodies in (False, True):
                _compile(record.name, contact, bodies)
                names.append(name_of(record.name, contact, bodies))
    return names


def _is_bundled(name: str) -> bool:
    """Whether the package comes with these kernels."""
    package = bundled()
    return package is not None and name in package.ready


def _mark(name: str) -> Path:
    return cache_folder() / "ready" / f"{_identity()}-{name}"


@cache
def _identity() -> str:
    """A digest of everything that compiled code depends on: sources, compiler, Python, processor."""
    return hashlib.sha256(repr((compiler_identity(), source_identity())).encode()).hexdigest()[:16]


def _delete_unused() -> None:
    """Deletes compiled code that has not been used for long: upgrades leave that of old sources behind."""
    with suppress(OSError):
        for path in cache_folder().iterdir():
            if len(path.name) == 16 and path.is_dir() and time.time() - path.stat().st_mtime > UNUSED_FOR:
                shutil.rmtree(path, ignore_errors=True)
