"""Frames as they are shown, and files of them next to the .blend file.

A file holds one record per frame: what is shown, the poses of the inputs, and the state to resume from. A table of contents next to
it lists its rods, so that a frame can be shown without a simulation, for example in a render.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core import TendrilError
from ..core.compile.version import VERSION
from ..core.store.files import open_regular, read_json, read_start, replacing, write_all
from .bridge.curves import Rows
from .bridge.poses import Array
from .bridge.scenes import SceneDescription
from .cache_paths import check_folder

if TYPE_CHECKING:
    from ..core import FrameCache

FORMAT = 3  # of records
MAX_ROWS = 2**31


class Moment(NamedTuple):
    """One frame as it is shown."""

    rows: Mapping[str, Rows]  # of the curves, by uid
    poses: Mapping[str, Array]  # of the inputs of the simulation, by key
    released: frozenset[str] = frozenset()  # keys of attachments that were released
    not_exact_since: int | None = None
    # World matrices (4, 4) of the objects of rigid bodies, by key
    bodies: Mapping[str, Array] = MappingProxyType({})


@dataclass(frozen=True)
class Contents:
    """The layout of a record."""

    rods: tuple[tuple[str, int], ...]  # uid and number of rows
    keys: tuple[str, ...]  # of poses
    bodies: tuple[str, ...] = ()  # keys of rigid bodies

    @staticmethod
    def of(description: SceneDescription) -> Contents:
        return Contents(
            tuple((uid, len(part.described.rows)) for uid, part in description.parts.items()),
            description.keys,
            tuple(description.bodies.dynamic) if description.bodies else (),
        )

    @property
    def size(self) -> int:
        return 3 + 18 * len(self.keys) + 16 * len(self.bodies) + self._places

    @property
    def _places(self) -> int:
        """Length of the rows in the record, in single precision with two values per element."""
        return (3 * sum(rows for _, rows in self.rods) + 1) // 2

    def pack(self, moment: Moment) -> Array:
        """The record begins with its own checksum: it is read far more often than the state after it, which may be much larger."""
        since = moment.not_exact_since
        pieces = [np.array([0.0, since is not None, since or 0], dtype=np.float64)]
        pieces.append(np.array([key in moment.poses for key in self.keys], dtype=np.float64))
        pieces.append(np.array([key in moment.released for key in self.keys], dtype=np.float64))
        pieces += [np.asarray(moment.poses.get(key, np.zeros((4, 4)))).ravel() for key in self.keys]
        pieces += [np.asarray(moment.bodies[key]).ravel() for key in self.bodies]
        places = np.zeros(2 * self._places, dtype="<f4")
        rows = [moment.rows[uid].ravel() for uid, _ in self.rods]
        np.concatenate(rows, out=places[: sum(map(len, rows))])
        record = np.concatenate([*pieces, places.view("<f8")])
        record[0] = self._checksum(record)
        return record

    def unpack(self, record: Array) -> Moment | None:
        """None if the record is damaged."""
        if record[0] != self._checksum(record):
            return None
        count = len(self.keys)
        present, released = record[3 : 3 + count] == 1.0, record[3 + count : 3 + 2 * count] == 1.0
        poses = record[3 + 2 * count : 3 + 18 * count].reshape(-1, 4, 4)
        start = 3 + 18 * count
        bodies = record[start : start + 16 * len(self.bodies)].reshape(-1, 4, 4)
        places = record[start + bodies.size :].astype("<f8").view("<f4")
        start = 0
        rows = {}
        for uid, number in self.rods:
            rows[uid] = places[start : start + 3 * number].astype(np.float32, copy=False).reshape(-1, 3)
            start += 3 * number
        return Moment(
            rows,
            {key: poses[k].copy() for k, key in enumerate(self.keys) if present[k]},
            frozenset(key for k, key in enumerate(self.keys) if released[k]),
            int(record[2]) if record[1] == 1.0 and abs(record[2]) < 2**31 else None,
            dict(zip(self.bodies, bodies.copy(), strict=True)),
        )

    @staticmethod
    def _checksum(record: Array) -> float:
        return float(zlib.crc32(record[1:].astype("<f8", copy=False).data))


class DiskFrames:
    """The frames of a scene in a file. All methods raise TendrilError on failure."""

    def __init__(self, file: FrameCache, contents: Contents) -> None:
        self._file = file
        self.contents = contents
        if file.state_size < contents.size:
            raise TendrilError("cache", str(file.path), "its table of contents belongs to another cache: delete it")

    @staticmethod
    def create(path: Path, description: SceneDescription, state_size: int) -> DiskFrames:
        """Creates a file; an older one is replaced."""
        from ..core import FrameCache

        contents = Contents.of(description)
        check_folder(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TendrilError("cache", str(path.parent), f"the folder can't be created: {error.strerror}") from None
        delete(path)
        fingerprint = fingerprint_of(description)
        file = FrameCache.create(path, fingerprint, contents.size + state_size, description.first_frame)
        try:
            table = {"rods": contents.rods, "keys": contents.keys, "bodies": contents.bodies}
            with replacing(_contents_path(path)) as new:
                write_all(new, json.dumps({"fingerprint": fingerprint, **table}).encode())
        except OSError as error:
            file.close()
            raise TendrilError("cache", str(path), f"system error: {error.strerror}") from None
        return DiskFrames(file, contents)

    @staticmethod
    def of_scene(path: Path, description: SceneDescription) -> DiskFrames:
        """Opens the file of an earlier run of the same scene, to read and to append."""
        from ..core import FrameCache

        check_folder(path)
        file = FrameCache.open(path, fingerprint_of(description), writable=True)
        return DiskFrames(file, Contents.of(description))

    @staticmethod
    def to_read(path: Path) -> DiskFrames:
        """Opens a file for reading whose scene was not at its start frame yet."""
        from ..core import FrameCache

        refused = TendrilError("cache", str(path), "its table of contents is damaged: go to the start frame")
        try:
            table = read_json(_contents_path(path))
            rods = tuple((str(uid), int(rows)) for uid, rows in table["rods"])
            keys, bodies = (tuple(str(key) for key in table[name]) for name in ("keys", "bodies"))
            contents = Contents(rods, keys, bodies)
            fingerprint = str(table["fingerprint"])
        except (OSError, ValueError, TypeError, KeyError, OverflowError):
            raise refused from None
        if not all(0 < rows < MAX_ROWS for _, rows in rods):
            raise refused
        return DiskFrames(FrameCache.open(path, fingerprint), contents)

    @property
    def path(self) -> Path:
        return self._file.path

    @property
    def frames(self) -> range:
        return self._file.frames

    def moment(self, number: int) -> Moment:
        moment = self.contents.unpack(self._file.head(number, self.contents.size))
        if moment is None:
            cure = "this frame is damaged in the cache: delete it and simulate again"
            raise TendrilError("cache", str(self.path), cure)
        return moment

    def state(self, number: int) -> Array:
        return self._file.read(number)[self.contents.size :]

    def append(self, number: int, moment: Moment, state: Array) -> None:
        self._file.append(number, np.concatenate([self.contents.pack(moment), state]))

    def truncate_after(self, number: int) -> None:
        self._file.truncate_after(number)

    def close(self) -> None:
        self._file.close()


def copy(old: Path, new: Path) -> None:
    """Copies a cache. Another cache of Tendril at the new path is replaced; for any other file TendrilError is raised."""
    check_folder(new)
    delete(new)
    try:
        new.parent.mkdir(parents=True, exist_ok=True)
        for source, target in ((_contents_path(old), _contents_path(new)), (old, new)):
            if source.exists():
                with open_regular(source, writable=False) as file, replacing(target) as copied:
                    shutil.copyfileobj(file, copied, 1 << 22)
    except OSError as error:
        raise TendrilError("cache", str(new), f"system error: {error.strerror}") from None


def delete(path: Path) -> None:
    """Deletes a cache of Tendril. For any other file TendrilError is raised."""
    from ..core import FrameCache

    if not os.path.lexists(path):
        return
    try:
        check_folder(path)
        if read_start(path, 8) != b"TENDRILC":
            raise TendrilError("cache", str(path), "this file is not a cache of Tendril: move it to another folder")
        try:
            FrameCache.open(path, writable=True).close()  # raises if another process writes it
        except TendrilError as error:
            if error.field == "lock":
                raise
        path.unlink()
        _contents_path(path).unlink(missing_ok=True)
    except OSError as error:
        raise TendrilError("cache", str(path), f"system error: {error.strerror}") from None


def fingerprint_of(description: SceneDescription) -> str:
    """Equal for the same objects with the same settings in the same version of Tendril."""
    text = repr((VERSION, FORMAT, description.signature, Contents.of(description).rods))
    return hashlib.sha256(text.encode()).hexdigest()


def _contents_path(path: Path) -> Path:
    return path.with_name(path.name + ".json")
