"""Compilation of kernels: the decorators `kernel` and `part`.

Without numba, kernels run as plain Python: same results, about a hundred times slower.
"""

from __future__ import annotations

import functools
import hashlib
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

# As a module, so that `_digest` leaves it out: it does not affect compiled code.
from . import bundle, cache_folder, kernel_cache
from .parts import kernel_compiler, part_compiler

F = TypeVar("F", bound=Callable[..., Any])

OLDEST_NUMBA = (0, 60)

_SOURCES = Path(__file__).resolve().parents[1]
_IMPORT = re.compile(r"^from (\.+)([\w.]*) import ", re.MULTILINE)


def _import_numba() -> tuple[Any, str]:
    """Numba, or the reason why it can't be used. Another add-on may have loaded its own version."""
    try:
        import numba
    except Exception as error:  # not only ImportError: an incompatible library can raise anything
        return None, f"{type(error).__name__}: {error}".split("\n")[0]
    numbers = tuple(int(number) for number in re.findall(r"\d+", numba.__version__)[:2])
    if numbers < OLDEST_NUMBA:
        return None, f"version {numba.__version__} is too old, {'.'.join(map(str, OLDEST_NUMBA))} is needed"
    if getattr(numba.config, "DISABLE_JIT", False):
        return None, "the environment variable NUMBA_DISABLE_JIT is set"
    return numba, ""


_numba, _missing = _import_numba()


def numba_or_none() -> Any:
    """The module with which kernels are compiled; None if they are not."""
    return _numba


def why_not_compiled() -> str:
    """The reason why kernels are not compiled; empty if they are."""
    return _missing


def is_cold(source: Path) -> bool:
    """True if no kernel of a source file is in the package or has been compiled yet on this machine."""
    if _numba is None:
        return False
    source, package = source.resolve(), bundle.bundled()
    places = [cache_folder.cache_folder(), *([package.folder] if package else [])]
    return not any(any((place / _digest(source)).rglob("*.nbc")) for place in places)


def announce_compilation() -> None:
    """Informs the user that the first run takes longer."""
    print(
        "Tendril is compiling its solver for this machine. This happens once and takes half a minute, with collisions "
        "about a minute, and longer on a busy machine.",
        file=sys.stderr,
    )


def kernel(function: F) -> F:
    """A compiled function on plain arrays: cached on disk, releases the GIL, IEEE arithmetic except for fused multiply-add."""
    if _numba is None:
        return _quiet(function)
    return cast(F, _cached(_compiled(function, pipeline_class=kernel_compiler())))


def part(function: F) -> F:
    """A function that only kernels call. It has no entry point from Python, and is compiled with the kernels, see `parts.py`.

    It must neither allocate nor return arrays: it is compiled without reference counting, which would cost more than a tenth of
    the time of a step where groups of arrays are handed on."""
    if _numba is None:
        return function
    return _compiled(function, no_cpython_wrapper=True, _nrt=False, pipeline_class=part_compiler())


def _compiled(function: F, **options: Any) -> F:
    options = {**options, "nogil": True, "boundscheck": False, "no_cfunc_wrapper": True}
    arithmetic = {"error_model": "numpy", "fastmath": {"contract", "nsz", "arcp"}}
    compiled = _numba.njit(**options, **arithmetic)(function)
    _ignore_literals(compiled)
    return cast(F, compiled)


def _cached(compiled: Any) -> Any:
    """The same kernel, with a cache on disk."""
    source = Path(compiled.py_func.__code__.co_filename).resolve()
    inside = _SOURCES in source.parents
    place = source.relative_to(_SOURCES).with_suffix("").as_posix() if inside else ""
    with suppress(OSError):  # a function without a file is compiled in each process
        compiled._cache = kernel_cache.KernelCache(compiled.py_func, _digest(source), place)
    return compiled


def _ignore_literals(compiled: Any) -> None:
    """Compiled code calls the function for the type of a constant and not for its value.

    Numba would compile a copy of the function, and of all that it calls, for each number or flag written in a call."""
    template = compiled.get_call_template
    plain = _numba.types.unliteral

    def get_call_template(args: Any, kws: Any) -> Any:
        return template([plain(kind) for kind in args], {name: plain(kind) for name, kind in kws.items()})

    compiled.get_call_template = get_call_template


def _quiet(function: F) -> F:
    """Without warnings about infinities and NaN, as in compiled code."""

    @functools.wraps(function)
    def called(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*arguments)

    return cast(F, called)


@cache
def _digest(source: Path) -> str:
    """A digest of a source file and everything it imports from the core: numba does not notice changes in called functions."""
    digest = hashlib.sha256(_numba.__version__.encode())
    for path in sorted(_with_imports(source)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _with_imports(source: Path) -> set[Path]:
    if _SOURCES not in source.parents:  # a kernel from outside may call any function of the core
        return {source, *_SOURCES.rglob("*.py")}
    found: set[Path] = set()
    todo = [source]
    while todo:
        path = todo.pop()
        if path not in found:
            found.add(path)
            todo += _imports(path)
    return found


@cache
def _imports(source: Path) -> list[Path]:
    paths = []
    for dots, name in _IMPORT.findall(source.read_text(encoding="utf-8")):
        path = source.parents[len(dots) - 1].joinpath(*name.split("."))
        if path.with_suffix(".py").is_file() and _SOURCES in path.parents:
            paths.append(path.with_suffix(".py"))
    return paths
