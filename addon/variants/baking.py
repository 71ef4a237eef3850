"""Bakes all variants of a scene in processes of Blender. The file that is open stays as it is: they work on a copy of it."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import bpy

from ...core import TendrilError
from ...core.store.files import create_anew, read_json
from ...sweep.blend_tasks import LOG, command_for, identity_of, outcome_of, read_answer, request_text
from ...sweep.sampling import Values, parse_axis, samples
from ...sweep.variants import DONE, FAILED, RECORD, Job, Outcome, folder_names, labels, saved_outcome, write_text
from ..baking.errors import BakeError
from ..cache_paths import path_of
from .parameters import find

SOURCE, LIST = "source.blend", "variants.json"
MOST_VARIANTS = 1000


class Running(NamedTuple):
    job: Job
    identity: str
    process: subprocess.Popen[bytes]


def folder_of(scene: bpy.types.Scene) -> Path | None:
    """The folder of a scene's variants, next to its disk cache; None while the file is not saved."""
    cache = path_of(scene)
    return None if cache is None else cache.with_name(f"{cache.stem}_variants")


def planned(scene: bpy.types.Scene) -> list[Values]:
    """The values of all variants. Raises BakeError for unknown settings and values that can't be read."""
    chosen = scene.tendril_variants
    try:
        axes = [parse_axis(f"{plain_path(axis.path)}={axis.values}") for axis in chosen.axes]
        for axis in axes:
            find(scene, axis.path)
        count = None if chosen.sampling == "grid" else chosen.samples
        made = samples(axes, chosen.sampling, count, chosen.seed)
    except TendrilError as error:
        raise BakeError(str(error).replace("--set is ", "").replace("--set ", "")) from None
    if len(made) > MOST_VARIANTS:
        raise BakeError(f"These are {len(made)} variants: give fewer values, at most {MOST_VARIANTS} variants")
    return made


def plain_path(path: str) -> str:
    """A path as Blender copies it has `bpy.data.` in front."""
    return path.strip().removeprefix("bpy.data.")


def bake_variants(scene: bpy.types.Scene) -> Generator[float, None, int | None]:
    """Bakes what is missing, several variants at a time. Yields the progress from 0 to 1. If the generator is closed early, the
    processes are ended, and finished variants are kept."""
    variants, folder = planned(scene), folder_of(scene)
    if folder is None:
        raise BakeError("Variants are stored next to the .blend file, which is not saved yet: save it first")
    return _bake_variants(scene, variants, folder)


def _bake_variants(
    scene: bpy.types.Scene, variants: Sequence[Values], folder: Path
) -> Generator[float, None, int | None]:
    workers = scene.tendril_variants.workers
    jobs = _prepare(variants, folder, max(1, (os.cpu_count() or 1) // workers))
    waiting, finished = [*jobs], 0
    running: list[Running] = []
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                started = _start(waiting.pop(0))
                running += [started] if started else []
                finished += started is None
            for one in [one for one in running if one.process.poll() is not None]:
                running.remove(one)
                _finish(one)
                finished += 1
            yield finished / len(jobs)
            if running:
                _wait(running[0].process)
    finally:
        for one in running:
            one.process.kill()
            one.process.wait()
    return None


def _prepare(variants: Sequence[Values], folder: Path, threads: int) -> list[Job]:
    """Writes the copy of the file that all variants are made from, and the list of variants."""
    _refuse_links(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        source = folder / SOURCE
        bpy.ops.wm.save_as_mainfile(filepath=str(source), copy=True, check_existing=False, compress=False)
    except (OSError, RuntimeError) as error:
        raise BakeError(f"The copy for the variants can't be saved in {folder}: {error}") from None
    names = folder_names(variants)
    jobs = [
        Job(str(source), values, str(folder / name), None, threads=threads, blender=bpy.app.binary_path or None)
        for values, name in zip(variants, names, strict=True)
    ]
    listed = [{"label": label, "folder": name} for label, name in zip(labels(variants), names, strict=True)]
    write_text(folder / LIST, json.dumps(listed, indent=1, ensure_ascii=False))
    return jobs


def _refuse_links(folder: Path) -> None:
    """Links may lead to files of another project. Blender and others write here, too, and follow them."""
    inside = (Path(place, name) for place, *names in os.walk(folder) for name in itertools.chain(*names))
    link = next((path for path in (folder.parent, folder, *inside) if path.is_symlink()), None)
    if link is not None:
        raise BakeError(f"{link} is a link: delete it, variants are not written through links")


def _start(job: Job) -> Running | None:
    """Starts a process for a variant; None if it is there already or can't be started."""
    folder = Path(job.folder)
    try:
        folder.mkdir(exist_ok=True)
        identity = identity_of(job)
        before = saved_outcome(folder)
        if before is not None and before.status == DONE and before.identity == identity:
            return None
        for name in (RECORD, "answer.json"):
            (folder / name).unlink(missing_ok=True)
        write_text(folder / "request.json", request_text(job))
        with create_anew(folder / LOG) as log:
            process = subprocess.Popen(
                command_for(job.blender, folder / "request.json"), stdout=log, stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL, env=os.environ | {"TENDRIL_THREADS": str(job.threads)},
            )  # fmt: skip
    except (TendrilError, OSError) as error:
        print(f"Tendril: {error}", file=sys.stderr)
        return None
    return Running(job, identity, process)


def _finish(one: Running) -> None:
    outcome = outcome_of(
        one.job, one.identity, read_answer(Path(one.job.folder) / "request.json", one.process.returncode)
    )
    try:
        outcome.save()
    except TendrilError as error:
        print(f"Tendril: {error}", file=sys.stderr)


def _wait(process: subprocess.Popen[bytes]) -> None:
    """Without a window nothing else happens meanwhile; with one, the operator returns to Blender between two calls."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(0.1 if bpy.app.background else 0.005)


def listed_variants(scene: bpy.types.Scene) -> list[tuple[str, Outcome]]:
    """Labels and outcomes of the variants that were baked last, in their order. Those that are not finished are left out."""
    folder = folder_of(scene)
    if folder is None:
        return []
    try:
        listed = read_json(folder / LIST)
        names = [(str(one["label"]), Path(str(one["folder"])).name) for one in listed[:MOST_VARIANTS]]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    found = ((label, saved_outcome(folder / name)) for label, name in names)
    return [(label, outcome) for label, outcome in found if outcome is not None and outcome.status in (DONE, FAILED)]
