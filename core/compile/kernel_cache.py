"""The disk cache of compiled kernels, robust against disks that are full, read-only, damaged or shared.

Numba numbers the files of a function's signatures by listing the folder; two processes that do so at once can use the same number
twice. Access to the cache is therefore locked across processes.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

_folder: Path | None = None
_in_this_process = threading.RLock()
_depth = 0


def set_cache_folder(folder: str | Path) -> None:
    """Sets the folder of compiled kernels. Call it before any kernel is imported; the default is the user's cache folder."""
    global _folder
    _folder = _usable(Path(folder))


def cache_folder() -> Path:
    """The folder of compiled kernels."""
    global _folder
    if _folder is None:
        home = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
        _folder = _usable(Path(home or Path.home() / ".cache") / "tendril")
    return _folder


def use_folder(cache: Any, name: str) -> None:
    """Moves numba's cache of one function to the folder `name` inside the folder of its source's digest.

    Numba names that folder by a hash of the source's absolute path, so the same code in another place (a second Blender, a git
    worktree) would be compiled again. The digest already identifies the code."""
    locator = cache._impl.locator
    folder = Path(cache.cache_path).parent / name
    locator._cache_path = cache._cache_path = str(folder)
    cache._cache_file = type(cache._cache_file)(
        cache_path=str(folder), filename_base=cache._impl.filename_base, source_stamp=locator.get_source_stamp()
    )


class ForgivingCache:
    """Numba's cache of one function, without errors: unreadable entries are recompiled, unwritable ones stay in memory."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def load_overload(self, signature: Any, target: Any) -> Any:
        _note_use(self._cache.cache_path)
        return _forgiving(lambda: self._cache.load_overload(signature, target))

    def save_overload(self, signature: Any, compiled: Any) -> None:
        def save() -> bool:
            self._cache.save_overload(signature, compiled)
            return True

        if not _forgiving(save):  # its index may be damaged
            _forgiving(self._cache.flush)
            _forgiving(save)


@cache
def _note_use(path: str) -> None:
    """Updates the modification time of the folder in `cache_folder` that is used, so that clean-up keeps it."""
    folder = cache_folder()
    for used in (Path(path), *Path(path).parents):
        if used.parent == folder:
            with suppress(OSError):
                os.utime(used)


def _forgiving(work: Callable[[], Any]) -> Any:
    try:
        with _alone():
            return work()
    except Exception:  # a damaged file can raise anything when it is unpickled
        return None


@contextmanager
def _alone() -> Iterator[None]:
    """Excludes other processes and other threads. On file systems without locks it has no effect."""
    global _depth
    with _in_this_process:
        if _depth:
            yield
            return
        _depth += 1
        file = _locked_file()
        try:
            yield
        finally:
            _depth -= 1
            if file is not None:
                file.close()


def _locked_file() -> IO[bytes] | None:
    try:
        file = (cache_folder() / "lock").open("ab")
    except OSError:
        return None
    with suppress(OSError):
        _lock(file.fileno())
    return file


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        os.lseek(file, 0, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_LOCK, 1)

else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)


def _usable(folder: Path) -> Path:
    """The folder itself if it is writable, else a temporary one: a read-only disk is no error."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        with suppress(OSError):
            return Path(tempfile.mkdtemp(prefix="tendril-numba-"))
        return folder  # nothing is writable: kernels are compiled in each process
