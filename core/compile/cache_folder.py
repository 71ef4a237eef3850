"""The folder of compiled kernels: where it is, and whether it can be trusted.

Compiled code is executed, so nobody else may be able to write it. Disks that are full or read-only are no error.
"""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

# This user, the administrator, and the owner of this file, whose code is running anyway.
_TRUSTED_USERS = {0, os.geteuid(), os.stat(__file__).st_uid} if os.name == "posix" else set()
_folder: Path | None = None
_told: set[str] = set()


def set_cache_folder(folder: str | Path) -> None:
    """Sets the folder of compiled kernels. Call it before any kernel is used; the default is the user's cache folder."""
    global _folder
    _folder = _usable(Path(folder))


def cache_folder() -> Path:
    """The folder of compiled kernels."""
    global _folder
    if _folder is None:
        home = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
        _folder = _usable(Path(home or Path.home() / ".cache") / "tendril")
    return _folder


def tell(message: str) -> None:
    """Prints a message on stderr, once."""
    if message not in _told:
        _told.add(message)
        print(f"Tendril: {message}", file=sys.stderr)


def told() -> list[str]:
    """The messages so far."""
    return sorted(_told)


def _usable(folder: Path) -> Path:
    """The folder itself if it is writable for the user alone, else a temporary one."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        reason = _why_no_cache(folder)
        if not reason:
            with tempfile.TemporaryFile(dir=folder):
                return folder
        tell(
            f"compiled code in {folder} is not used, because {reason}. Delete the folder, or make it writable for you alone."
        )
    except OSError:
        pass
    with suppress(OSError):
        temporary = Path(tempfile.mkdtemp(prefix="tendril-numba-"))
        atexit.register(shutil.rmtree, temporary, ignore_errors=True)
        return temporary
    return folder  # nothing is writable: kernels are compiled in each process


def why_not_trusted(found: os.stat_result) -> str:
    """Why others might have written a file, or in a folder; empty if they can't have."""
    if os.name != "posix":
        return ""  # on Windows, folders of a user are that user's by default
    if found.st_uid not in _TRUSTED_USERS:
        return "it belongs to another user"
    if found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and not _is_own_group(found.st_gid)):
        return "other users can write there"
    return ""


def _why_no_cache(folder: Path) -> str:
    """Why the folder can't hold compiled code; empty if it can."""
    found = folder.stat()
    reason = why_not_trusted(found)
    if reason or os.name != "posix":
        return reason
    if found.st_uid != os.geteuid():
        return "it belongs to another user"
    above = folder.parent.stat()
    if above.st_mode & stat.S_IWOTH and not above.st_mode & stat.S_ISVTX:
        return f"other users can replace it in {folder.parent}"
    return ""


def _is_own_group(group: int) -> bool:
    """Whether the user is alone in a group, as many systems arrange it for each user's own one."""
    import grp
    import pwd

    try:
        name = pwd.getpwuid(os.geteuid()).pw_name
        others = set(grp.getgrgid(group).gr_mem) - {name}
        return not others and all(user.pw_name == name for user in pwd.getpwall() if user.pw_gid == group)
    except KeyError:
        return False
