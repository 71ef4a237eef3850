"""Variants of a sweep: their names, their folders, and what is recorded of each.

A folder holds the frames (a cache, or a .blend with its cache), `numbers.csv` with a row per frame, `shape.npz` for the contact
sheet, and `variant.json` with the values of the variant and its status: missing until it is finished. The next run computes what is
not done.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from ..core.errors import TendrilError
from ..core.store.files import read_json, replacing, write_all
from .sampling import Values

DONE, FAILED, MISSING = "done", "failed", "missing"
RECORD, NUMBERS, SHAPE, CACHE = "variant.json", "numbers.csv", "shape.npz", "frames.tendril"
RUN = "sweep.run"  # in the folder of a sweep: the name of the run whose tasks go on
LONGEST_NAME = 60


@dataclass(frozen=True)
class Job:
    """One task: a variant of a scene, and where it goes. Everything is plain data, so that it can be sent to another machine."""

    scene: str  # absolute path of a scene file or a .blend file
    values: Values
    folder: str  # absolute path
    frames: tuple[int, int] | None  # first and last; None: as the .blend file says
    frame_rate: float = 24.0
    substeps: int | None = None
    threads: int | None = None
    tip: int = 0  # the rod whose last vertex is the tip
    blender: str | None = None  # path of Blender; None: the bpy module
    run: str = ""  # the name of the run that it belongs to; empty if it can't be stopped


@dataclass(frozen=True)
class Outcome:
    """What became of a variant."""

    folder: str
    values: Values
    status: str
    message: str = ""
    identity: str = ""  # digest of everything that determines its numbers
    seconds: float = 0.0
    computed: int = 0  # frames computed by the last run, the others were there
    not_converged: int = 0
    contents: dict[str, Any] = field(default_factory=dict)  # further results, such as the last frame
    run: str = ""  # the run that computed it, see `Job`

    def save(self) -> None:
        text = json.dumps(asdict(self), indent=1, ensure_ascii=False, default=str)
        write_text(Path(self.folder) / RECORD, text + "\n")


_ANY = Outcome("", (), MISSING)


class StoppedError(Exception):
    """The run that a task belongs to was interrupted, or another one has taken its place."""


def check_running(folder: str, run: str) -> None:
    """Raises StoppedError once the run of a task is over. Called for every frame: neither Dask nor a killed client can stop a task
    on another machine, but all of them see the folder of the results."""
    try:
        current = (Path(folder).parent / RUN).read_text(encoding="utf-8") if run else ""
    except FileNotFoundError:
        current = ""
    except (OSError, ValueError):  # a folder on the network may be away for a moment
        return
    if current != run:
        raise StoppedError


def begin(job: Job) -> None:
    """Records that a variant is being computed, with its values, so that its frames can be read even if it is interrupted."""
    Outcome(job.folder, job.values, MISSING).save()


def saved_outcome(folder: Path) -> Outcome | None:
    """The record of a variant; None if there is none that can be read."""
    try:
        read = read_json(folder / RECORD)
        read["values"] = tuple((str(path), _plain(value)) for path, value in read["values"])
        outcome = Outcome(**(read | {"folder": str(folder)}))
    except (OSError, ValueError, TypeError, KeyError):
        return None
    kinds = {one.name: type(getattr(_ANY, one.name)) for one in fields(Outcome)}
    return outcome if all(_is_a(kind, getattr(outcome, name)) for name, kind in kinds.items()) else None


def _is_a(kind: type, value: Any) -> bool:
    return isinstance(value, (int, float) if kind is float else kind)


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def labels(variants: Sequence[Values]) -> list[str]:
    """A short text for each variant: the last part of each path, if that is unambiguous, and the value."""
    paths = [path for path, _ in variants[0]] if variants else []
    short = [re.split(r"[.\]]", path.rstrip("]\"'"))[-1] or path for path in paths]
    names = [path if short.count(name) > 1 else name for path, name in zip(paths, short, strict=True)]
    return [
        ", ".join(f"{name}={_text(value)}" for name, (_, value) in zip(names, one, strict=True)) for one in variants
    ]


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def folder_names(variants: Sequence[Values]) -> list[str]:
    """A name per variant that depends on its values alone, so that a second run finds the folders of the first one."""
    plain = [re.sub(r"[^A-Za-z0-9.+=_-]+", "_", label)[:LONGEST_NAME].strip("._") for label in labels(variants)]
    digests = [hashlib.sha256(repr(one).encode()).hexdigest()[:8] for one in variants]
    return [f"{name}_{digest}" for name, digest in zip(plain, digests, strict=True)]


def write_text(path: Path, text: str) -> None:
    """Writes a file, complete or not at all. A full disk is a TendrilError."""
    try:
        with replacing(path) as file:
            write_all(file, text.encode())
    except OSError as error:
        raise TendrilError("file", str(path), f"the system says: {(error.strerror or str(error)).lower()}") from None
