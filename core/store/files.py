"""Creating and replacing files without following links.

A link that somebody left where a file is about to be written would redirect the write to a file of the victim's. So new files are
created exclusively, and existing ones are opened for writing only if they are files themselves.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Any

from ..errors import TendrilError

# Not every system has each of them.
_NO_LINKS: int = getattr(os, "O_NOFOLLOW", 0)
_ALWAYS: int = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
MAX_JSON = 2**27  # bytes, enough for the tables of contents of millions of rods
_NO_WAITING: int = getattr(os, "O_NONBLOCK", 0)  # opening a pipe would wait for its other end


def create_exclusively(path: Path) -> FileIO:
    """A new file, for reading and writing. Raises FileExistsError if there is anything at the path, even a dangling link."""
    return FileIO(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | _NO_LINKS | _ALWAYS, 0o644), "r+")


def create_anew(path: Path) -> FileIO:
    """A new file in place of what is there. A link is removed, not followed."""
    with suppress(FileNotFoundError):
        os.remove(path)
    return create_exclusively(path)


def open_regular(path: Path, *, writable: bool) -> FileIO:
    """An existing file. Raises TendrilError for folders and pipes; links are followed for reading only."""
    if writable and path.is_symlink():
        raise TendrilError("file", str(path), "this is a link, which is not written through: name the file itself")
    flags = os.O_RDWR | _NO_LINKS if writable else os.O_RDONLY
    try:
        handle = os.open(path, flags | _ALWAYS | _NO_WAITING)
    except OSError as error:
        if error.errno in (errno.EISDIR, errno.ENXIO):
            raise TendrilError("file", str(path), "this is not a file: name another") from None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise TendrilError("file", str(path), "this is not a file: name another")
    return FileIO(handle, "r+" if writable else "r")


@contextmanager
def replacing(path: Path) -> Iterator[FileIO]:
    """A new file that replaces `path` when the context ends without an exception. A link at `path` is replaced, not followed."""
    new = path.with_name(path.name + ".new")
    file = create_anew(new)  # one may be left by a kill
    try:
        with file:
            yield file
            os.fsync(file.fileno())
        os.replace(new, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.remove(new)
        raise


def read_json(path: Path) -> Any:
    """The contents of a file of JSON that may be anybody's. Raises OSError or ValueError (a TendrilError, if it is not a file)."""
    with open_regular(path, writable=False) as file:
        text = file.read(MAX_JSON + 1)
    if len(text) > MAX_JSON:
        raise ValueError("the file is too long")
    try:
        return json.loads(text)
    except RecursionError as error:  # thousands of brackets
        raise ValueError("the file is nested too deeply") from error


def read_start(path: Path, size: int) -> bytes | None:
    """Up to `size` bytes of a file; None if there is no file. Links and pipes count as empty files."""
    try:
        handle = os.open(path, os.O_RDONLY | _NO_LINKS | _ALWAYS | _NO_WAITING)
    except FileNotFoundError:
        return None
    except OSError:
        return b""
    with FileIO(handle, "r") as file:
        return file.read(size) if stat.S_ISREG(os.fstat(handle).st_mode) else b""


def write_all(file: FileIO, data: bytes | memoryview) -> None:
    """An unbuffered file may take only part of what it is given."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]
