"""One writer per file: a lock file beside it names the writing process.

Plain files work alike on every system. A lock whose process is gone is taken over, so that a kill needs no clean-up. The lock also
names the time at which the process started: its number may by now be that of another process.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
import uuid
import weakref
from contextlib import suppress
from io import FileIO
from pathlib import Path

from ..errors import TendrilError
from .files import create_exclusively, read_start

# s: an instantaneous operation that takes longer was interrupted by a kill
_STALE_AFTER = 10.0

UNKNOWN = "-"

_held: set[str] = set()  # owners, as written to the locks, that live in this process


class WriterLock:
    """Held from construction until `release` or garbage collection."""

    def __init__(self, target: Path) -> None:
        self.path = target.with_name(target.name + ".lock")
        self._owner = f"{os.getpid()} {socket.gethostname()} {start_of(os.getpid())} {uuid.uuid4().hex}\n"
        file = self._acquire()
        _held.add(self._owner)
        self._release = weakref.finalize(self, _release, self.path, file, self._owner)

    def release(self) -> None:
        self._release()

    @property
    def is_held(self) -> bool:
        """False once the lock file has been removed or taken over."""
        return bool(self._release.alive) and _read(self.path) == self._owner

    def _acquire(self) -> FileIO:
        for _ in range(100):  # each turn another process was faster to take over the same abandoned lock
            try:
                # It stays open: on Windows this prevents removal, which distinguishes live locks from abandoned ones.
                file = create_exclusively(self.path)
            except FileExistsError:
                self._take_over()
            else:
                try:
                    file.write(self._owner.encode())
                except OSError:
                    file.close()
                    os.remove(self.path)
                    raise
                return file
        raise self._busy("one of many")

    def _take_over(self) -> None:
        """Removes an abandoned lock, one process at a time: two at once might remove the new lock of a third."""
        guard = self.path.with_name(self.path.name + ".takeover")
        try:
            create_exclusively(guard).close()
        except FileExistsError:
            if _is_old(guard):
                with suppress(FileNotFoundError):
                    os.remove(guard)
            time.sleep(0.01)
            return
        try:
            owner = _read(self.path)
            if owner is None:
                return
            who = " on ".join(owner.split()[:2])[:80]
            if not self._is_abandoned(owner):
                raise self._busy(who)
            try:
                os.remove(self.path)
            except PermissionError:
                raise self._busy(who) from None
        finally:
            with suppress(FileNotFoundError):
                os.remove(guard)

    def _is_abandoned(self, owner: str) -> bool:
        try:
            process, host, start, _ = owner.split()
            number = int(process)
        except ValueError:
            return _is_old(self.path)
        if host != socket.gethostname():
            return False  # can't be determined
        if number == os.getpid():
            return owner not in _held
        if os.name == "nt" or not _is_running(number):
            return True
        return start not in (UNKNOWN, start_of(number))

    def _busy(self, who: str) -> TendrilError:
        cure = f"another process ({who}) writes this cache: wait for it, or delete the lock file if it is gone"
        return TendrilError("lock", str(self.path), cure)


def _is_running(process: int) -> bool:
    if process <= 0:
        return False
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # another user's process
        return True
    return True


def start_of(process: int) -> str:
    """When a process started, as text that differs for two processes of the same number; UNKNOWN if the system does not tell."""
    try:
        if Path("/proc/self/stat").exists():
            # Ticks since the machine was started, and which start of the machine this was. The name in brackets may have spaces.
            ticks = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
            return f"{ticks}@{Path('/proc/sys/kernel/random/boot_id').read_text().strip()}"
        if os.name == "posix":
            asked = ["ps", "-o", "lstart=", "-p", str(process)]
            told = subprocess.run(asked, capture_output=True, text=True, timeout=5, env={**os.environ, "LC_ALL": "C"})
            return "_".join(told.stdout.split()) or UNKNOWN
    except (OSError, IndexError, ValueError, subprocess.SubprocessError):
        pass
    return UNKNOWN


def _is_old(path: Path) -> bool:
    try:
        return time.time() - os.lstat(path).st_mtime > _STALE_AFTER
    except FileNotFoundError:
        return False


def _read(path: Path) -> str | None:
    data = read_start(path, 400)
    return None if data is None else data.decode("utf-8", "replace")


def _release(path: Path, file: FileIO, owner: str) -> None:
    _held.discard(owner)
    file.close()
    if _read(path) == owner:
        with suppress(FileNotFoundError):
            os.remove(path)
