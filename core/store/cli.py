"""`python -m tendril ...`: bakes, exports and runs scenes from the command line.

Results go to stdout, progress and errors to stderr; an error is one sentence and exit code 2.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import os
import platform
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..compile.version import VERSION
from ..describe.model import model_records
from ..describe.scene import Scene
from ..errors import TendrilError
from .archive import save_arrays
from .cache import FrameCache
from .scene_file import load_scene, scene_errors

if TYPE_CHECKING:
    from ..run.frame import Frame
    from ..run.simulation import Simulation

Command = Callable[[argparse.Namespace], int]

BAD_INPUT = 2
INTERRUPTED = 130  # as in shells: 128 + SIGINT


def main(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser = _parser()
    chosen, rest = parser.parse_known_args(words)
    chosen.words, chosen.rest = words, rest
    if rest and chosen.command not in (bench, sweep):
        parser.error(f"unrecognized arguments: {shlex.join(rest)}")
    command: Command = chosen.command
    try:
        with scene_errors(getattr(chosen, "scene", "")):
            return command(chosen)
    except (TendrilError, OSError) as error:
        print(f"tendril: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("tendril: stopped", file=sys.stderr)
        return INTERRUPTED


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {message} (see {self.prog} --help)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="tendril", description="Elastic rods that bend and twist.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def add(name: str, command: Command, text: str, **options: Any) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text, **options)
        sub.set_defaults(command=command)
        return sub

    add("info", info, "Versions, cores, location of compiled code, models.")

    sub = add("run", run, "Simulate without writing and print energies and diagnostics.")
    _add_simulation_arguments(sub, frames=(1, 48))
    sub.add_argument("--every", type=int, metavar="N", help="print every N-th frame (default: about 20 rows)")

    sub = add("bake", bake, "Simulate into a cache file, or continue where that file ends.")
    _add_simulation_arguments(sub, frames=(1, 120))
    sub.add_argument("--cache", required=True, metavar="FILE", help="file to which the frames are appended")

    sub = add("export", export, "Write the positions of a cache as arrays: frames, times, rod_0, rod_1, ...")
    sub.add_argument("cache", metavar="CACHE", help="of `bake`, or `frames.tendril` of a variant of `sweep`")
    sub.add_argument("out", metavar="OUT.npz")
    sub.add_argument("--scene", required=True, metavar="SCENE", help="the scene the cache was baked from")

    sub = add(
        "experiment", experiment, "Reproduce an experiment of the papers: numbers as a table, moments as a picture."
    )
    sub.add_argument("name", nargs="?", metavar="NAME", help="name of the experiment; --list shows all")
    sub.add_argument("--list", action="store_true", help="names, titles and sources of all experiments")
    sub.add_argument("--out", default="out", metavar="FOLDER", help="where NAME.png is written (out)")
    sub.add_argument("--plot", metavar="FILE", help="write the picture to this file instead")
    sub.add_argument("--no-picture", action="store_true", help="print the numbers only")
    sub.add_argument("--model", metavar="MODEL", help="rod model, where there is a choice; writes NAME_MODEL.png")

    add("sweep", sweep, "Simulate many variants of a scene, with other values of its parameters.", add_help=False)
    add(
        "bench", bench, "Measure the speed of the simulator.", add_help=False
    )  # these two parse their arguments themselves
    return parser


def _add_simulation_arguments(sub: argparse.ArgumentParser, frames: tuple[int, int]) -> None:
    sub.add_argument("scene", metavar="SCENE", help="a Python file that defines `scene` or `build()`")
    sub.add_argument("--frames", type=int, nargs=2, default=frames, metavar=("FIRST", "LAST"))
    sub.add_argument("--frame-rate", type=float, default=24.0, metavar="HZ", help="frames per second (24)")
    sub.add_argument("--substeps", type=int, metavar="N", help="steps per frame")
    sub.add_argument("--threads", type=int, metavar="N", help="cores to use (default: all)")


@dataclass(frozen=True)
class Settings:
    """Settings that determine the bits of a frame, besides the scene. Written to the fingerprint in readable form."""

    frame_rate: float
    substeps: int
    integrator: str

    @staticmethod
    def of(sim: Simulation) -> Settings:
        return Settings(sim.frame_rate, sim.substeps, sim.integrator)

    def fingerprint(self, scene_digest: str) -> str:
        return f"{scene_digest} {self.frame_rate!r} {self.substeps} {self.integrator}"

    @staticmethod
    def parse(fingerprint: str) -> tuple[str, Settings]:
        """The scene's digest and the settings of a fingerprint."""
        try:
            scene_digest, frame_rate, substeps, integrator = fingerprint.split(maxsplit=3)
            return scene_digest, Settings(float(frame_rate), int(substeps), integrator)
        except ValueError:
            raise TendrilError(
                "fingerprint", fingerprint, "this cache was not written by `tendril bake` or `sweep`"
            ) from None

    def __str__(self) -> str:
        return f"{self.frame_rate:g} frames/s, {self.substeps} substeps and {self.integrator}"


def _simulation(scene: Scene, chosen: argparse.Namespace) -> Simulation:
    from ..run.simulation import Simulation

    options = {} if chosen.substeps is None else {"substeps": chosen.substeps}
    return Simulation(scene, chosen.frame_rate, threads=chosen.threads, first_frame=chosen.frames[0], **options)


def bake(chosen: argparse.Namespace) -> int:
    first, last = _frames(chosen)
    scene, digest = load_scene(chosen.scene)
    sim = _simulation(scene, chosen)
    settings = Settings.of(sim)
    with _cache_for(chosen.cache, digest, settings, sim, first) as cache:
        if cache.last is None:
            cache.append(first, sim.state())
        elif cache.last < last:
            print(f"{chosen.cache} holds frames up to {cache.last}: continuing from there.", file=sys.stderr)
            sim.restore(cache.read(cache.last), cache.last)
        progress = Progress(cache.frames.stop, last)
        troubled = 0
        try:
            for frame_number in range(cache.frames.stop, last + 1):
                frame = sim.step_frame()
                _check_functions(frame, chosen.scene)
                cache.append(frame_number, sim.state())
                troubled += not frame.report.converged
                progress.show(frame_number)
        except KeyboardInterrupt:
            progress.end()
            again = shlex.join(["python", "-m", "tendril", *chosen.words])
            print(
                f"Stopped; {chosen.cache} is complete up to frame {cache.last}. To continue: {again}", file=sys.stderr
            )
            return INTERRUPTED
        progress.end()
        print(f"{chosen.cache}: frames {cache.frames[0]} to {cache.last}{_trouble(troubled)}")
    return 0


def _check_functions(frame: Frame, file: str) -> None:
    """A simulation goes on when a function of its scene fails; here nothing is gained by that."""
    if frame.report.problems:
        raise TendrilError("scene", file, f"in frame {frame.number} the {frame.report.problems[0]}")


def _cache_for(file: str, digest: str, settings: Settings, sim: Simulation, first: int) -> FrameCache:
    """The cache to append to: a new one, or that of an earlier bake of the same scene."""
    if not os.path.lexists(file):
        return FrameCache.create(file, settings.fingerprint(digest), sim.state_size, first)
    with FrameCache.open(file) as cache:
        before, baked = Settings.parse(cache.fingerprint)
        if before != digest:
            raise TendrilError("cache", file, "it belongs to another scene: name another cache, or delete this one")
        if baked != settings:
            raise TendrilError("cache", file, f"it was baked with {baked}: give these, or name another cache")
        if cache.frames.start != first:
            raise TendrilError("--frames", first, f"this cache starts at frame {cache.frames.start}: start there")
        if cache.state_size != sim.state_size:
            raise TendrilError("cache", file, "another version of Tendril wrote it: delete it and bake again")
    return FrameCache.open(file, settings.fingerprint(digest), writable=True)


def export(chosen: argparse.Namespace) -> int:
    from ..run.simulation import Simulation

    with FrameCache.open(chosen.cache) as cache:
        before, settings = Settings.parse(cache.fingerprint)
        scene, digest = _baked_scene(chosen.scene, Path(chosen.cache))
        if before != digest:
            raise TendrilError("--scene", chosen.scene, "the cache belongs to another: name the one it was baked from")
        if cache.last is None:
            raise TendrilError("cache", chosen.cache, "it holds no frames yet: bake first")
        sim = Simulation(
            scene,
            settings.frame_rate,
            substeps=settings.substeps,
            integrator=settings.integrator,
            first_frame=cache.frames.start,
        )
        if cache.state_size != sim.state_size:
            raise TendrilError("cache", chosen.cache, "another version of Tendril wrote it: delete it and bake again")
        count = len(cache.frames)
        rods = [np.empty((count, entry.rod.vertex_count, 3)) for entry in scene.entries]
        times = np.empty(count)
        for row, frame_number in enumerate(cache.frames):
            sim.restore(cache.read(frame_number), frame_number)
            frame = sim.current()
            times[row] = frame.time
            for rod, positions in enumerate(rods):
                positions[row] = frame.positions(rod)
        arrays = {f"rod_{rod}": positions for rod, positions in enumerate(rods)}
        save_arrays(Path(chosen.out), {"frames": np.array(cache.frames), "times": times, **arrays})
        print(f"{chosen.out}: {_count(len(rods), 'rod')}, frames {cache.frames[0]} to {cache.last}")
    return 0


def _baked_scene(file: str, cache: Path) -> tuple[Scene, str]:
    """The scene of a file and its digest, with the values of a variant if the cache is that of a sweep."""
    try:
        tasks = importlib.import_module("...sweep.scene_tasks", __package__)
    except ModuleNotFoundError:  # a copy of the core alone
        return load_scene(file)
    found: tuple[Scene, str] = tasks.baked_scene(file, cache)
    return found


def run(chosen: argparse.Namespace) -> int:
    first, last = _frames(chosen)
    every = max(1, (last - first) // 20) if chosen.every is None else chosen.every
    if every < 1:
        raise TendrilError("--every", every, "give a whole number from 1")
    scene, _ = load_scene(chosen.scene)
    sim = _simulation(scene, chosen)
    print(f"{_count(len(scene.entries), 'rod')}, {Settings.of(sim)}; energies in J")
    print("".join(f"{title:>11}" for title in _TITLES))
    troubled = 0
    started = time.perf_counter()
    for frame in sim.frames(first, last):
        _check_functions(frame, chosen.scene)
        troubled += not frame.report.converged
        if (frame.number - first) % every == 0 or frame.number == last:
            print(_row(frame), flush=True)
    seconds = time.perf_counter() - started
    print(f"{_count(last - first + 1, 'frame')} in {seconds:.2f} s{_trouble(troubled)}")
    return 0


_TITLES = (
    *("frame", "time", "kinetic", "stretch", "bend", "twist", "gravity", "total"),
    *("iterations", "residual", "halvings", "fallbacks"),
)


def _row(frame: Frame) -> str:
    report = frame.report
    e = report.energies
    row = f"{frame.number:11d}{frame.time:11.4g}"
    row += "".join(f"{value:11.4g}" for value in (e.kinetic, e.stretch, e.bend, e.twist, e.gravity, e.total))
    row += f"{report.iterations:11d}{report.residual:11.2g}{report.halvings:11d}{report.fallbacks:11d}"
    return row if report.converged else f"{row}  not converged: {report.severity}"


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" + "s" * (number != 1)


def _trouble(frames: int) -> str:
    return f"; {frames} did not converge" if frames else ""


def info(_: argparse.Namespace) -> int:
    from ..compile.cache_folder import cache_folder
    from ..compile.jit import why_not_compiled  # late: it imports numba

    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"tendril        {VERSION}")
    print(f"python         {platform.python_version()} on {platform.system()} {platform.machine()}")
    for name in ("numpy", "scipy", "numba"):
        print(f"{name:<14} {importlib.metadata.version(name)}")
    print(f"cores          {usable}")
    reason = why_not_compiled()
    print(f"compiled code  {f'none, and simulations are slow: {reason}' if reason else cache_folder()}")
    print(f"models         {', '.join(record.name for record in model_records())}")
    return 0


def experiment(chosen: argparse.Namespace) -> int:
    """Returns 0 if all numbers are as expected, else 1."""
    try:
        table = importlib.import_module("...sample_scenes.experiments", __package__).TABLE
        command = importlib.import_module("...sample_scenes.experiments.command", __package__)
    except ModuleNotFoundError as error:
        if "sample_scenes" not in (error.name or ""):
            raise
        cure = "run it from the source of Tendril, where `sample_scenes/` is"
        raise TendrilError("experiment", "not installed", cure) from None
    if chosen.list:
        print(command.describe())
        return 0
    if chosen.name not in table:
        raise TendrilError("experiment", chosen.name or "missing", f"choose one of {', '.join(table)}")
    models = table[chosen.name].models
    if chosen.model is not None and chosen.model not in models:
        cure = (
            f"choose one of {', '.join(models)}" if models else f"leave it out: {chosen.name} has no choice of models"
        )
        raise TendrilError("--model", chosen.model, cure)
    if chosen.plot and Path(chosen.plot).suffix not in (".png", ".svg", ".pdf"):
        raise TendrilError("--plot", chosen.plot, "give a file that ends in .png, .svg or .pdf")
    name = chosen.name if chosen.model is None else f"{chosen.name}_{chosen.model}"
    file = Path(chosen.plot) if chosen.plot else Path(chosen.out) / f"{name}.png"
    code: int = command.perform(table[chosen.name], None if chosen.no_picture else file, chosen.model)
    return code


def sweep(chosen: argparse.Namespace) -> int:
    start: Callable[[Sequence[str]], int] = importlib.import_module("...sweep.command", __package__).main
    return start(chosen.rest)


def bench(chosen: argparse.Namespace) -> int:
    try:
        module = importlib.import_module("...bench", __package__)
        start: Callable[[Sequence[str]], int | None] = module.main
    except (ImportError, AttributeError):
        raise TendrilError("bench", "not installed", "run it from the source of Tendril, where `bench/` is") from None
    return start(chosen.rest) or 0


def _frames(chosen: argparse.Namespace) -> tuple[int, int]:
    first, last = chosen.frames
    if last < first:
        raise TendrilError("--frames", chosen.frames, "give the first frame and then the last")
    return first, last


class Progress:
    """A single line rewritten in a terminal; ten lines in a log."""

    def __init__(self, first: int, last: int, noun: str = "frame") -> None:
        self.noun = noun
        self.first = first
        self.last = last
        self.started = time.perf_counter()
        self.shown = -1
        self.live = sys.stderr.isatty()

    def show(self, frame_number: int) -> None:
        seconds = time.perf_counter() - self.started
        done, total = frame_number - self.first + 1, self.last - self.first + 1
        tick = int(5 * seconds) if self.live else 10 * done // total
        if tick == self.shown and frame_number != self.last:
            return
        self.shown = tick
        speed = done / max(seconds, 1e-9)
        left = (total - done) / speed
        line = f"{self.noun} {frame_number} of {self.last}, {speed:.3g} {self.noun}s/s, {left:.0f} s left"
        print(f"\r{line:<60}" if self.live else line, end="" if self.live else "\n", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self.live and self.shown >= 0:
            print(file=sys.stderr)
