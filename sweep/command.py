"""`python -m tendril sweep`: many variants of a scene, with tables and a contact sheet of all of them."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ..core.errors import TendrilError
from ..core.store.cli import INTERRUPTED, Progress
from ..core.store.lock import WriterLock
from . import numbers, sheet
from .blend_tasks import check_blend, find_blender, run_blend_variant
from .cluster import Task, Where, connected, outcomes_of
from .sampling import SAMPLINGS, Values, parse_axis, parse_value, samples
from .scene_tasks import load_variant, run_scene_variant
from .variants import DONE, FAILED, MISSING, RUN, Job, Outcome, folder_names, labels, saved_outcome, write_text

SOME_FAILED = 1


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="tendril sweep",
        description="Simulates variants of a scene, each in a task of its own, into DIR: a folder per variant with its frames, "
        "numbers.csv (a row per variant and frame), variants.csv (a row per variant) and contact_sheet.png. "
        "A second run computes only what is missing.",
    )
    add = made.add_argument
    add("scene", metavar="SCENE", help="a Python file that defines `scene` or `build()`, or a .blend file")
    add("--set", action="append", default=[], metavar="PATH=VALUES", dest="axes",
        help="a parameter and its values: A,B,C or LOW:HIGH:COUNT or LOW:HIGH:COUNT:log; may be repeated")  # fmt: skip
    add("--sampling", default="grid", metavar="HOW", help=f"{', '.join(SAMPLINGS)} (grid)")
    add("--samples", type=int, metavar="N", help="number of variants of a random or Latin hypercube sampling")
    add("--seed", type=int, default=0, metavar="N", help="of a random or Latin hypercube sampling (0)")
    add("--frames", type=int, nargs=2, metavar=("FIRST", "LAST"), help="(1 120; for a .blend file its own)")
    add("--frame-rate", type=float, metavar="HZ", help="frames per second (24; for a .blend file its own)")
    add("--substeps", type=int, metavar="N", help="steps per frame (for a .blend file its own)")
    add("--out", required=True, metavar="DIR", help="folder for the results")
    add("--tip", type=int, default=0, metavar="ROD", help="the rod whose last vertex is listed as the tip (0)")
    add("--workers", type=int, default=1, metavar="N", help="variants that are simulated at the same time (1)")
    add("--threads", type=int, metavar="N", help="cores per variant (default: the cores of this machine, shared)")
    add("--scheduler", metavar="ADDRESS", help="address of a running Dask scheduler, such as tcp://host:8786")
    add("--slurm", metavar="OPTIONS", help="submit the workers to SLURM: queue=short,walltime=01:00:00,memory=8GB")
    add("--blender", metavar="FILE", help="Blender for .blend files (default: the bpy module, or blender on PATH)")
    add("--no-sheet", action="store_true", help="make no contact sheet")
    return made


def main(words: Sequence[str]) -> int:
    """Returns 0 if all variants are complete, 1 if some failed."""
    drop_repository()
    chosen = parser().parse_args(words)
    variants = samples([parse_axis(text) for text in chosen.axes], chosen.sampling, chosen.samples, chosen.seed)
    jobs = _jobs(chosen, variants)
    task = _checked_task(chosen, jobs)
    if not chosen.no_sheet:
        sheet.check_installed()
    where, out = _where(chosen), Path(chosen.out)
    try:
        out.mkdir(parents=True, exist_ok=True)
        lock = WriterLock(out / "sweep")
    except OSError as error:
        raise TendrilError("--out", chosen.out, f"the system says: {(error.strerror or str(error)).lower()}") from None
    outcomes = {job.folder: Outcome(job.folder, job.values, MISSING) for job in jobs}
    # What an earlier run finished is verified first, so that a sweep that is interrupted soon still lists it.
    jobs.sort(key=lambda job: not _is_done(job))
    run, begun = uuid.uuid4().hex, False
    try:
        write_text(out / RUN, run)
        with connected(where) as client:
            begun = True
            stopped = _run_all(client, task, [replace(job, run=run) for job in jobs], outcomes, out / RUN)
    finally:
        _end(out / RUN)
        if begun:  # whatever ended the sweep, tables and sheet show what is complete; without it they stay as they were
            _add_unreported(outcomes, run)
            _write_results(out, chosen, list(outcomes.values()))
        lock.release()
    return _conclusion(chosen, words, list(outcomes.values()), stopped)


def _is_done(job: Job) -> bool:
    saved = saved_outcome(Path(job.folder))
    return saved is not None and saved.status == DONE


def _end(run: Path) -> None:
    """Makes tasks that still run stop before their next frame."""
    with suppress(OSError):
        run.unlink(missing_ok=True)


def _add_unreported(outcomes: dict[str, Outcome], run: str) -> None:
    """Adds variants that this run finished in the moment in which it was interrupted."""
    for folder in [folder for folder, one in outcomes.items() if one.status == MISSING]:
        saved = saved_outcome(Path(folder))
        if saved is not None and saved.status == DONE and saved.run == run:
            outcomes[folder] = saved


def drop_repository() -> None:
    """Removes the repository from sys.path, which `python -m tendril` put there if it is the current folder: its folder
    `packaging/` would shadow the package of that name, which Dask and matplotlib need."""
    root = Path(__file__).resolve().parents[1]
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != root]


def _jobs(chosen: argparse.Namespace, variants: Sequence[Values]) -> list[Job]:
    blend = chosen.scene.endswith(".blend")
    if blend and (chosen.frame_rate is not None or chosen.substeps is not None):
        cure = "a .blend file has its own: sweep over scene.render.fps and scene.tendril.substeps instead"
        raise TendrilError("--frame-rate and --substeps", "given", cure)
    frames = chosen.frames or (None if blend else (1, 120))
    if frames is not None and frames[1] < frames[0]:
        raise TendrilError("--frames", frames, "give the first frame and then the last")
    if chosen.workers < 1:
        raise TendrilError("--workers", chosen.workers, "give a whole number from 1")
    threads = chosen.threads
    if threads is None and chosen.scheduler is None and chosen.slurm is None:
        threads = max(1, (os.cpu_count() or 1) // chosen.workers)
    out = Path(chosen.out).resolve()
    return [
        Job(
            scene=str(Path(chosen.scene).resolve()),
            values=values,
            folder=str(out / name),
            frames=None if frames is None else (frames[0], frames[1]),
            frame_rate=chosen.frame_rate or 24.0,
            substeps=chosen.substeps,
            threads=threads,
            tip=chosen.tip,
            blender=find_blender(chosen.blender) if blend else None,
        )
        for values, name in zip(variants, folder_names(variants), strict=True)
    ]


def _checked_task(chosen: argparse.Namespace, jobs: Sequence[Job]) -> Task:
    """The task, after names of parameters were checked: an unknown one is refused before anything starts. Values are checked by the
    tasks, so that a bad one fails its own variants only."""
    if not Path(chosen.scene).is_file():
        raise TendrilError("scene", chosen.scene, "there is no such file: name a Python file or a .blend file")
    if chosen.scene.endswith(".blend"):
        check_blend(jobs[0])
        return run_blend_variant
    try:
        load_variant(jobs[0].scene, jobs[0].values)
    except TendrilError as error:
        # Only errors about the names: a value that the scene refuses is that variant's.
        cause = error.__cause__ if isinstance(error.__cause__, TendrilError) else error
        if cause.field == "--set":
            raise cause from None
        if not _loads_unchanged(jobs[0].scene):
            raise
    return run_scene_variant


def _loads_unchanged(scene: str) -> bool:
    try:
        load_variant(scene, ())
    except TendrilError:
        return False
    return True


def _where(chosen: argparse.Namespace) -> Where:
    if chosen.scheduler is not None and chosen.slurm is not None:
        raise TendrilError("--slurm", chosen.slurm, "give either a scheduler or options of SLURM")
    if chosen.slurm is None:
        return Where(chosen.workers, chosen.scheduler)
    options = {}
    for word in filter(None, chosen.slurm.split(",")):
        name, equals, value = word.partition("=")
        if not equals:
            raise TendrilError("--slurm", word, "write NAME=VALUE pairs, such as queue=short,walltime=01:00:00")
        options[name.strip()] = value if ":" in value else parse_value(value)
    return Where(chosen.workers, None, options)


def _run_all(client: object, task: Task, jobs: Sequence[Job], outcomes: dict[str, Outcome], run: Path) -> bool:
    """Runs all jobs and collects their outcomes. Returns whether the user interrupted it."""
    texts = dict(zip((job.folder for job in jobs), labels([job.values for job in jobs]), strict=True))
    progress = Progress(1, len(jobs), "variant")
    try:
        for done, outcome in enumerate(outcomes_of(client, task, jobs), 1):
            outcomes[outcome.folder] = outcome
            if outcome.status == FAILED:
                progress.end()
                print(f"{texts[outcome.folder]} failed: {outcome.message}", file=sys.stderr)
            progress.show(done)
    except KeyboardInterrupt:
        _end(
            run
        )  # at once: closing the cluster takes seconds, in which workers would finish variants that are not listed
        return True
    finally:
        progress.end()
    return False


def _write_results(out: Path, chosen: argparse.Namespace, outcomes: Sequence[Outcome]) -> None:
    numbers.write_tables(out, outcomes)
    if not chosen.no_sheet:
        sheet.draw(out / "contact_sheet.png", outcomes, f"{Path(chosen.scene).name}: {len(outcomes)} variants")


def _conclusion(chosen: argparse.Namespace, words: Sequence[str], outcomes: Sequence[Outcome], stopped: bool) -> int:
    done = [one for one in outcomes if one.status == DONE]
    failed = sum(one.status == FAILED for one in outcomes)
    if stopped:
        again = shlex.join(["python", "-m", "tendril", "sweep", *words])
        told = f"Stopped; {len(done)} of {len(outcomes)} variants are complete in {chosen.out}. To continue: {again}"
        print(told, file=sys.stderr)
        return INTERRUPTED
    computed = sum(one.computed > 0 for one in done)
    print(
        f"{chosen.out}: {len(done)} of {len(outcomes)} variants complete"
        + (f", {failed} failed (see variants.csv)" if failed else "")
        + f"; {len(done) - computed} were there before"
    )
    return SOME_FAILED if failed else 0
