"""How kernels are compiled: one decorator, one place on disk for the compiled code."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba import config as numba_config

F = TypeVar("F", bound=Callable[..., Any])

_SOURCES = Path(__file__).resolve().parent
_IMPORT = re.compile(r"^from (\.+)([\w.]*) import ", re.MULTILINE)
_folder: Path | None = None


def set_cache_folder(folder: str | Path) -> None:
    """Where compiled kernels are kept. To be called before any kernel is imported; the default is the user's cache."""
    global _folder
    _folder = _usable(Path(folder))


def cache_folder() -> Path:
    global _folder
    if _folder is None:
        home = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
        _folder = _usable(Path(home or Path.home() / ".cache") / "tendril")
    return _folder


def is_cold(model: str = "der") -> bool:
    """True as long as the stepping of a model has not been compiled, from this source on this machine."""
    stepping = _SOURCES / "models" / model / "stepping.py"  # what takes longest to compile
    return not any((cache_folder() / _digest(stepping)).rglob("*.nbi"))


def announce_compilation() -> None:
    """Tells whoever waits that the first run takes longer. The add-on puts its own function here."""
    print(
        "Tendril compiles its solver for this machine; this happens once and takes about half a minute.",
        file=sys.stderr,
    )


def kernel(function: F) -> F:
    """A compiled function on plain arrays: cached on disk, free of the GIL, IEEE arithmetic but for fused multiply-add."""
    return _compiled(function, no_cfunc_wrapper=True)


def part(function: F) -> F:
    """A part of kernels, which only they call. Without an entry from Python it compiles in half the time."""
    return _compiled(function, no_cfunc_wrapper=True, no_cpython_wrapper=True)


def _compiled(function: F, **options: bool) -> F:
    before = getattr(numba_config, "CACHE_DIR")  # another add-on may have its own  # noqa: B009
    source = Path(function.__code__.co_filename).resolve()
    setattr(numba_config, "CACHE_DIR", str(cache_folder() / _digest(source)))  # noqa: B010
    try:
        compiled = numba.njit(  # type: ignore[call-overload]  # numba's stubs don't know all of its options
            cache=True,
            nogil=True,
            error_model="numpy",
            fastmath={"contract", "nsz", "arcp"},
            boundscheck=False,
            **options,
        )(function)
    finally:
        setattr(numba_config, "CACHE_DIR", before)  # noqa: B010
    return cast(F, compiled)


@cache
def _digest(source: Path) -> str:
    """Of a source and all that it imports from here: numba itself would not notice a change in a function that a kernel calls."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(_with_imports(source)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _with_imports(source: Path) -> set[Path]:
    if _SOURCES not in source.parents:  # somebody else's kernel may call any of ours
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


def _usable(folder: Path) -> Path:
    """The folder itself if it can be written to, a temporary one if not: a read-only disk is no error."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return Path(tempfile.mkdtemp(prefix="tendril-numba-"))
