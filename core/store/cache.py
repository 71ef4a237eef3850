"""Frames on disk: append-only, checked, resumable, memory-mapped.

A file consists of a header and records of equal size, so that frame k is at a known offset. All numbers are little-endian.
    header   magic 8s, version u32, state size u64, first frame i64, fingerprint 128s, crc32 of all before u32
    index    number of records u64, crc32 of it u32, four zero bytes; rewritten after each record
    record   magic 4s, crc32 of the state u32, frame number i64, state: float64 times state size
A kill loses at most the record being written: truncated or damaged records at the end are dropped when the file is opened. The
index says where the end is, so that opening takes as long for ten gigabytes as for ten bytes. It is only a hint: a file whose index
is damaged or wrong is read from its first record up to the first one that does not fit.
"""

from __future__ import annotations

import mmap
import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import Array, Flags, TendrilError, array, whole
from .files import open_regular, replacing, write_all
from .lock import WriterLock

VERSION = 2
_MAGIC = b"TENDRILC"
_HEADER = struct.Struct("<8sIQq128sI")
_INDEX = struct.Struct("<QI4x")
_RECORDS = _HEADER.size + _INDEX.size  # offset of the first record
_RECORD_MAGIC = b"FRAM"
_RECORD_HEAD = np.dtype([("magic", "S4"), ("crc", "<u4"), ("frame", "<i8")])
_FINGERPRINT_SIZE = 128
_LARGEST_STATE = 2**40
_LARGEST_FRAME = 2**31
_MOST_STEPS_BACK = 4096  # damaged records at the end that are skipped one by one
_LARGEST_CHECKED = 2**28  # bytes that are verified when a file is opened; others are verified when they are read

FilePath = str | os.PathLike[str]


@dataclass(frozen=True)
class _Header:
    """Header fields, validated on construction, whether from a call or from a file."""

    fingerprint: str
    state_size: int
    first_frame: int

    def __post_init__(self) -> None:
        text = self.fingerprint
        plain = isinstance(text, str) and text.isascii() and text.isprintable()
        if not plain or not 0 < len(text) <= _FINGERPRINT_SIZE:
            raise TendrilError("fingerprint", text, f"give 1 to {_FINGERPRINT_SIZE} plain characters")
        object.__setattr__(self, "state_size", whole("state_size", self.state_size, 1, _LARGEST_STATE))
        first = whole("first_frame", self.first_frame, -_LARGEST_FRAME, _LARGEST_FRAME)
        object.__setattr__(self, "first_frame", first)

    def pack(self) -> bytes:
        fields = (_MAGIC, VERSION, self.state_size, self.first_frame, self.fingerprint.encode())
        return _HEADER.pack(*fields, zlib.crc32(_HEADER.pack(*fields, 0)[:-4]))

    @staticmethod
    def unpack(data: bytes, path: Path) -> _Header:
        if len(data) < _HEADER.size or not data.startswith(_MAGIC):
            raise TendrilError("cache", str(path), "this is not a cache of Tendril: name another file")
        _, version, state_size, first_frame, fingerprint, crc = _HEADER.unpack(data)
        if version != VERSION:
            cure = f"it has format {version} but this version of Tendril needs format {VERSION}: bake it again"
            raise TendrilError("cache", str(path), cure)
        damaged = TendrilError("cache", str(path), "its header is damaged: delete it and bake again")
        if crc != zlib.crc32(data[:-4]):
            raise damaged
        try:
            return _Header(fingerprint.rstrip(b"\0").decode("ascii"), state_size, first_frame)
        except ValueError:
            raise damaged from None


class FrameCache:
    """States of consecutive frames in a file. Created by `create` or `open`; use it in a `with` statement, or close it."""

    def __init__(self, path: Path, file: FileIO, header: _Header, lock: WriterLock | None) -> None:
        self.path = path
        self._file = file
        self._header = header
        self._lock = lock
        self._mapping: mmap.mmap | None = None
        self._record_size = _RECORD_HEAD.itemsize + 8 * header.state_size
        size = os.fstat(file.fileno()).st_size
        # Header and index may claim anything; the file's length limits how many records there are.
        self._count = max(size - _RECORDS, 0) // self._record_size
        indexed = _read_index(file)
        self._count = self._count_records(min(max(indexed, 0), self._count))
        if lock is not None:
            if size > self._end:
                self._mapping = None
                file.truncate(self._end)
            if indexed != self._count:
                _write_index(file, self._count)

    @staticmethod
    def create(path: FilePath, fingerprint: str, state_size: int, first_frame: int) -> FrameCache:
        """A new, empty cache for appending. The file appears at once and complete, or not at all."""
        header = _Header(fingerprint, state_size, first_frame)
        target = _resolve(path)
        with ExitStack() as undo, _plain_errors(target):
            lock = WriterLock(target)
            undo.callback(lock.release)
            if os.path.lexists(target):
                raise TendrilError("cache", str(target), "it exists already: open it, delete it or name another")
            with replacing(target) as new:
                new.write(header.pack())
                _write_index(new, 0)
            file = open_regular(target, writable=True)
            undo.callback(file.close)
            cache = FrameCache(target, file, header, lock)
            undo.pop_all()
            return cache

    @staticmethod
    def open(path: FilePath, fingerprint: str | None = None, *, writable: bool = False) -> FrameCache:
        """An existing cache, for reading, or with `writable` also for appending. If a fingerprint is given, it must match."""
        target = _resolve(path)
        with ExitStack() as undo, _plain_errors(target):
            file = open_regular(target, writable=writable)
            undo.callback(file.close)
            lock = None
            if writable:
                lock = WriterLock(target)
                undo.callback(lock.release)
                file.close()  # another writer may have replaced it before the lock was ours
                file = open_regular(target, writable=True)
                undo.callback(file.close)
            header = _Header.unpack(file.read(_HEADER.size), target)
            if fingerprint is not None and fingerprint != header.fingerprint:
                cure = "it belongs to another scene or to other settings: name another cache, or delete this one"
                raise TendrilError("cache", str(target), cure)
            cache = FrameCache(target, file, header, lock)
            undo.pop_all()
            return cache

    @property
    def fingerprint(self) -> str:
        return self._header.fingerprint

    @property
    def state_size(self) -> int:
        return self._header.state_size

    @property
    def frames(self) -> range:
        """Frame numbers in the cache. A cache opened for reading keeps those it had then, even if another process appends."""
        first = self._header.first_frame
        return range(first, first + self._count)

    @property
    def last(self) -> int | None:
        """Number of the last frame; None while there is none."""
        return self.frames[-1] if self._count else None

    def append(self, frame_number: int, state: ArrayLike) -> None:
        """Appends one frame. When this returns, the frame has left the process and survives its end."""
        self._check_writable()
        following = self.frames.stop
        if whole("frame_number", frame_number, -_LARGEST_FRAME) != following:
            raise TendrilError("frame_number", frame_number, f"frames must be consecutive: the next is {following}")
        values = array("state", state, (self.state_size,), f"give an array of {self.state_size} numbers")
        payload = values.astype("<f8", copy=False).tobytes()
        head = np.array((_RECORD_MAGIC, zlib.crc32(payload), following), dtype=_RECORD_HEAD)
        with _plain_errors(self.path):
            self._file.seek(self._end)
            write_all(self._file, head.tobytes() + payload)
            _write_index(self._file, self._count + 1)
        # Only now, so that the next write overwrites an interrupted one.
        self._count += 1

    def read(self, frame_number: int) -> Array:
        """State of a frame, with its checksum verified: a read-only view of the file, valid after the cache is closed."""
        number = self._held(frame_number)
        with _plain_errors(self.path):
            if not self._is_good(number):
                raise TendrilError("frame_number", number, "this frame is damaged in the cache: bake again from it on")
            return self._view(number, self.state_size)

    def head(self, frame_number: int, count: int) -> Array:
        """The first `count` numbers of a frame's state, unverified: for callers with their own checksum that read no more."""
        number = self._held(frame_number)
        count = whole("count", count, 0, self.state_size)
        with _plain_errors(self.path):
            return self._view(number, count)

    def _held(self, frame_number: int) -> int:
        number = whole("frame_number", frame_number, -_LARGEST_FRAME)
        if number not in self.frames:
            held = f"frames {self.frames[0]} to {self.last}" if self._count else "no frames yet"
            raise TendrilError("frame_number", number, f"the cache holds {held}")
        return number

    def _view(self, number: int, count: int) -> Array:
        return np.frombuffer(self._map(), "<f8", count, self._offset(number) + _RECORD_HEAD.itemsize)

    def truncate_after(self, frame: int) -> None:
        """Drops all frames after this one."""
        self._check_writable()
        keep = whole("frame", frame, self._header.first_frame - 1) - self._header.first_frame + 1
        if keep >= self._count:
            return
        # A shorter copy replaces the file: truncating it in place would invalidate the views into it.
        with _plain_errors(self.path):
            with replacing(self.path) as new:
                self._file.seek(0)
                _copy(self._file, new, _RECORDS + keep * self._record_size)
                _write_index(new, keep)
                self._mapping = None
                self._file.close()
            self._file = open_regular(self.path, writable=True)
        self._count = keep

    def close(self) -> None:
        self._mapping = None
        if not self._file.closed:
            with _plain_errors(self.path):
                if self._lock is not None:
                    os.fsync(self._file.fileno())
                self._file.close()
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> FrameCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return self._count

    @property
    def _end(self) -> int:
        return _RECORDS + self._count * self._record_size

    def _offset(self, number: int) -> int:
        return _RECORDS + (number - self._header.first_frame) * self._record_size

    def _check_writable(self) -> None:
        if self._lock is None or self._file.closed:
            raise TendrilError("cache", str(self.path), "it is not open for writing: open it with writable=True")
        if not self._lock.is_held:
            raise TendrilError(
                "cache", str(self.path), "its lock file is gone and another process may write it: open it again"
            )

    def _map(self) -> mmap.mmap:
        """Maps the file up to the last frame. Accessing it beyond the file's end would kill the process, so the length is
        checked each time: another program may have truncated the file."""
        if self._file.closed:
            raise TendrilError("cache", str(self.path), "it is closed: open it again")
        if os.fstat(self._file.fileno()).st_size < self._end:
            raise TendrilError("cache", str(self.path), "the file was truncated by another program: open it again")
        if self._mapping is None or len(self._mapping) < self._end:
            try:
                self._mapping = mmap.mmap(self._file.fileno(), self._end, access=mmap.ACCESS_READ)
            except (ValueError, OverflowError):
                raise TendrilError("cache", str(self.path), "it cannot be mapped into memory: open it again") from None
        return self._mapping

    def _is_good(self, number: int) -> bool:
        mapping, start = self._map(), self._offset(number)
        head = np.frombuffer(mapping, _RECORD_HEAD, 1, start)[0]
        with memoryview(mapping) as view:
            crc = zlib.crc32(view[start + _RECORD_HEAD.itemsize : start + self._record_size])
        return bool(head["magic"] == _RECORD_MAGIC and head["frame"] == number and head["crc"] == crc)

    def _count_records(self, indexed: int) -> int:
        """Number of records up to the last valid one, from the number that the index gives. Damaged records before that one are
        kept: reading them is an error. `self._count` is the number of records for which the file is long enough."""
        known = self._last_good(max(indexed - _MOST_STEPS_BACK, 0), indexed) or 0
        # Beyond the index there is one record after a kill, and all of them if the index is damaged.
        fitting = known
        while fitting < self._count:
            fits = self._fits(fitting, min(fitting + 65536, self._count))
            fitting += int(np.argmin(fits)) if not fits.all() else len(fits)
            if not fits.all():
                break
        return self._last_good(max(fitting - _MOST_STEPS_BACK, known), fitting) or known

    def _last_good(self, start: int, end: int) -> int | None:
        """Number of records up to the last valid one of these; None if there is none."""
        checked = 0
        for index in np.flatnonzero(self._fits(start, end))[::-1]:
            checked += self._record_size
            if checked > _LARGEST_CHECKED or self._is_good(self._header.first_frame + start + int(index)):
                return start + int(index) + 1
        return None

    def _fits(self, start: int, end: int) -> Flags:
        """Whether the heads of these records have their magic and their frame's number."""
        if end <= start:
            return np.zeros(0, dtype=np.bool_)
        first = self._header.first_frame
        offset = self._offset(first + start)
        heads: np.ndarray[Any, Any] = np.ndarray(end - start, _RECORD_HEAD, self._map(), offset, (self._record_size,))
        fits: Flags = (heads["magic"] == _RECORD_MAGIC) & (heads["frame"] == np.arange(start, end) + first)
        return fits


def _read_index(file: FileIO) -> int:
    """Number of records according to the index; -1 if it is damaged."""
    file.seek(_HEADER.size)
    data = file.read(_INDEX.size)
    if len(data) < _INDEX.size:
        return -1
    count, crc = _INDEX.unpack(data)
    return int(count) if crc == zlib.crc32(data[:8]) and not any(data[12:]) else -1


def _write_index(file: FileIO, count: int) -> None:
    file.seek(_HEADER.size)
    file.write(_INDEX.pack(count, zlib.crc32(struct.pack("<Q", count))))


def _resolve(path: FilePath) -> Path:
    """The path without links in its folders. The last part is kept as it is, so that a link there is seen."""
    try:
        text = os.path.abspath(os.fspath(path))
        if "\0" in text:
            raise ValueError
        return Path(os.path.realpath(os.path.dirname(text)), os.path.basename(text))
    except (TypeError, ValueError, OSError):
        raise TendrilError("cache", path, "give the path of a file") from None


@contextmanager
def _plain_errors(path: Path) -> Iterator[None]:
    """Reports errors of the operating system, such as a full disk, in one sentence."""
    try:
        yield
    except FileNotFoundError:
        raise TendrilError("cache", str(path), "there is no such file or folder: check the path") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise TendrilError("cache", str(path), f"the system says: {reason}") from error


def _copy(source: FileIO, target: FileIO, size: int) -> None:
    while size > 0:
        piece = source.read(min(size, 1 << 22))
        if not piece:
            raise OSError("the file was truncated by another program")
        size -= len(piece)
        write_all(target, piece)
