"""A variant of a scene file: the scene with other values, and the task that simulates it."""

from __future__ import annotations

import hashlib
import os
import socket
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.describe.scene import Scene
from ..core.errors import TendrilError
from ..core.store.cache import FrameCache
from ..core.store.cli import Settings
from ..core.store.files import read_start
from ..core.store.scene_file import load_scene
from .numbers import NumbersFile, measure, save_shape
from .paths import OF_SCENE, belongs_to_scene, match, parse_path, replaced, set_in_scene, simulation_option, unknown
from .sampling import Values
from .variants import CACHE, DONE, FAILED, MISSING, Job, Outcome, StoppedError, begin, check_running, saved_outcome

if TYPE_CHECKING:
    from ..core import Simulation

LOCK_SECONDS = 60.0  # for the last frame of a task that was told to stop


class _Names:
    """Values for names that a scene file defines: variables, and parameters of `build`."""

    def __init__(self, values: Values) -> None:
        self._values = [(path, parse_path(path), value) for path, value in values]
        self.defined: set[str] = set()
        self.used: set[str] = set()

    def adjust(self, name: str, value: Any) -> Any:
        self.defined.add(name)
        for path, (first, *rest), new in self._values:
            if first == name:
                self.used.add(path)
                value = replaced(value, rest, new, path)
        return value


def load_variant(file: str, values: Values) -> tuple[Scene, str, dict[str, Any]]:
    """The scene of a file with these values, its digest, and options of the simulation. Raises TendrilError for unknown names."""
    names = _Names(tuple(one for one in values if not belongs_to_scene(one[0])))
    scene, digest = load_scene(file, names.adjust)
    options = {}
    for path, value in values:
        if path in names.used:
            continue
        first = str(parse_path(path)[0])
        if first == "simulation":
            name, value = simulation_option(path, value)
            options[name] = value
        elif belongs_to_scene(path):
            set_in_scene(scene, path, value)
        else:
            try:
                match(first, OF_SCENE, path)
            except TendrilError:
                raise unknown(path, first, sorted({*names.defined, *OF_SCENE})) from None
            set_in_scene(scene, path, value)
    digest = hashlib.sha256(f"{digest} {scene.fingerprint()} {values!r}".encode()).hexdigest()
    return scene, digest, options


def baked_scene(file: str, cache: Path) -> tuple[Scene, str]:
    """The scene that a cache was baked from, and its digest: that of the file, with the values in the record next to the cache."""
    variant = saved_outcome(cache.parent) if cache.name == CACHE else None
    if variant is None:
        return load_scene(file)
    scene, digest, _ = load_variant(file, variant.values)
    return scene, digest


def run_scene_variant(job: Job) -> Outcome:
    """Simulates a variant into its folder, or what is missing of it. Whatever goes wrong is the message of the outcome."""
    try:
        return _run(job)
    except StoppedError:
        return Outcome(job.folder, job.values, MISSING)
    except TendrilError as error:
        message = str(error)
    except Exception as error:  # the scene is the user's code; the other variants go on
        message = f"{type(error).__name__}: {error}"
    outcome = Outcome(job.folder, job.values, FAILED, " ".join(message.split()))
    with suppress(TendrilError, OSError):  # a full disk may be why it failed
        outcome.save()
    return outcome


def _run(job: Job) -> Outcome:
    from ..core.run.simulation import Simulation

    folder = Path(job.folder)
    folder.mkdir(parents=True, exist_ok=True)
    scene, digest, options = load_variant(job.scene, job.values)
    if job.substeps is not None:
        options.setdefault("substeps", job.substeps)
    assert job.frames is not None, "scene files have no frame range of their own"
    if scene.entries and not 0 <= job.tip < len(scene.entries):
        raise TendrilError("--tip", job.tip, f"the scene has rods 0 to {len(scene.entries) - 1}")
    simulation = Simulation(scene, job.frame_rate, threads=job.threads, first_frame=job.frames[0], **options)
    fingerprint = Settings.of(simulation).fingerprint(digest)
    identity = f"{fingerprint} {job.frames} {job.tip} {options!r}"
    before = saved_outcome(folder)
    if before is not None and before.status == DONE and before.identity == identity:
        return replace(before, computed=0)
    check_running(job.folder, job.run)
    begin(job)
    started = time.perf_counter()
    computed, not_converged = _bake(job, simulation, fingerprint)
    seconds = time.perf_counter() - started
    contents = {"last_frame": job.frames[1]}
    outcome = Outcome(job.folder, job.values, DONE, "", identity, seconds, computed, not_converged, contents, job.run)
    outcome.save()
    return outcome


def _bake(job: Job, simulation: Simulation, fingerprint: str) -> tuple[int, int]:
    """Appends the missing frames to the cache and their numbers to the table. Returns how many, and how many did not converge."""
    assert job.frames is not None
    folder, (first, last) = Path(job.folder), job.frames
    numbers = NumbersFile(folder, first)
    with _cache_for(job, fingerprint, simulation) as cache:
        # A kill between the two leaves one row less than frames.
        count = min(len(cache), len(numbers.rows), last - first + 1)
        if count:
            cache.truncate_after(first + count - 1)
            numbers.keep(count)
            simulation.restore(cache.read(first), first)
        else:
            if len(cache):
                cache.truncate_after(first - 1)
            numbers.keep(0)
        start = frame = simulation.current()
        if count > 1:
            simulation.restore(cache.read(first + count - 1), first + count - 1)
            frame = simulation.current()
        for number in range(first + count, last + 1):
            check_running(job.folder, job.run)
            moment = time.perf_counter()
            if number > first:
                frame = simulation.step_frame()
            seconds = time.perf_counter() - moment
            if frame.report.problems:
                raise TendrilError("scene", job.scene, f"in frame {number} the {frame.report.problems[0]}")
            row = measure(simulation, frame, job.tip, seconds)
            cache.append(number, simulation.state())
            numbers.append(row)
    save_shape(folder, simulation.scene, start, frame)
    return last - first + 1 - count, numbers.not_converged


def _cache_for(job: Job, fingerprint: str, simulation: Simulation) -> FrameCache:
    """The cache of an earlier, interrupted run of the same variant, or a new one. A task of that run may still be at a frame: it
    stops after it."""
    path, end = Path(job.folder) / CACHE, time.monotonic() + LOCK_SECONDS
    assert job.frames is not None
    while True:
        try:
            return _open_cache(path, fingerprint, simulation, job.frames[0])
        except TendrilError as error:
            if error.field != "lock" or time.monotonic() > end:
                raise
        check_running(job.folder, job.run)
        time.sleep(0.1)


def _open_cache(path: Path, fingerprint: str, simulation: Simulation, first: int) -> FrameCache:
    _remove_foreign_lock(path)
    if path.exists():
        try:
            with FrameCache.open(path) as cache:
                fits = (cache.fingerprint, cache.state_size, cache.frames.start)
            if fits == (fingerprint, simulation.state_size, first):
                return FrameCache.open(path, fingerprint, writable=True)
        except TendrilError as error:
            if error.field == "lock":
                raise
        path.unlink()
    return FrameCache.create(path, fingerprint, simulation.state_size, first)


def _remove_foreign_lock(path: Path) -> None:
    """Removes the lock of a worker on another machine. Only tasks of this sweep write to its folders, and a task is started again
    only after its worker was lost; should that worker still run, it stops writing when its lock is gone."""
    lock = path.with_name(path.name + ".lock")
    owner = (read_start(lock, 400) or b"").decode("utf-8", "replace").split()
    if len(owner) == 4 and owner[1] != socket.gethostname():
        with suppress(FileNotFoundError):
            os.remove(lock)
