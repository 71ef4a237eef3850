"""Sweeps as a user runs them: on processes of this machine, interrupted, with a worker killed, on a scheduler and on SLURM."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tendril.core import FrameCache
from tendril.core.store import cli
from tendril.sweep.command import drop_repository
from tendril.sweep.numbers import COLUMNS
from tendril.sweep.scene_tasks import run_scene_variant
from tendril.sweep.variants import CACHE, DONE, FAILED, MISSING, RUN, Job, folder_names, saved_outcome

drop_repository()
pytest.importorskip("distributed")

# Every load of the scene is logged, with the process that did it. While there is a file `stall`, variants with young = 1e8 stay at
# a frame after 0.4 s, so that what happens meanwhile does not depend on the speed of the machine.
SCENE = """\
import os, time
from pathlib import Path
import numpy as np
from tendril.core import Material, Plane, Rod, Scene

young = 1e8

def is_running():  # the digest of the scene calls its functions before
    return any(len(file.read_text().splitlines()) > 5 for file in here.glob("out/young=1e+08*/numbers.csv"))

def spin(t):
    while t > 0.4 and young == 1e8 and here.joinpath("stall").exists() and is_running():
        time.sleep(0.02)
    return 0.0

here = Path(__file__).parent
with Path(__file__).with_name("loads.txt").open("a") as log:
    print(young, os.getpid(), file=log)
scene = Scene(air_density=1.2)
rod = scene.add(Rod.from_points(np.linspace((0, 0, 1), (1, 0, 1), 61), radius=0.006, material=Material(young, 1100)))
scene.clamp(rod, "start", spin=spin)
scene.collide(Plane((0, 0, 0.5)))
"""
FRAMES = (1, 40)
STALLED = 10  # frames that are complete when it stalls
HANGS = 300.0  # s after which a process is taken to hang; tests depend on no time


@pytest.fixture(scope="module", autouse=True)
def compiled(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Compiles the kernels, which takes minutes on a busy machine: processes that are waited for find them."""
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "rope.py").write_text(SCENE)
    undisturbed(folder / "rope.py", 1e8, folder, (1, 24))


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    file = tmp_path / "rope.py"
    file.write_text(SCENE)
    return file


@contextmanager
def started(scene: Path, *words: str, **options) -> Iterator[subprocess.Popen[str]]:
    command = [
        sys.executable,
        "-m",
        "tendril",
        "sweep",
        str(scene),
        "--frames",
        *map(str, FRAMES),
        "--out",
        "out",
        *words,
    ]
    process = subprocess.Popen(
        command,
        cwd=scene.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.SIG_DFL
        ),  # programs in the background of a shell ignore it
        **options,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def wait_for(condition: Callable[[], bool], seconds: float = HANGS) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)


def loads(scene: Path) -> list[tuple[float, int]]:
    """Value and process of every load of the scene."""
    lines = (scene.parent / "loads.txt").read_text().splitlines()
    return [(float(young), int(process)) for young, process in map(str.split, lines)]


def rows_of(folder: Path) -> int:
    numbers = folder / "numbers.csv"
    return len(numbers.read_text().splitlines()) - 1 if numbers.exists() else 0


def table(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as read:
        return list(csv.DictReader(read))


def folders(scene: Path, *values: float) -> list[Path]:
    return [scene.parent / "out" / name for name in folder_names([(("young", value),) for value in values])]


def undisturbed(scene: Path, young: float, tmp_path: Path, frames: tuple[int, int] = FRAMES) -> bytes:
    """The cache of a variant that this process simulates in one go, on one thread."""
    folder = tmp_path / "undisturbed"
    outcome = run_scene_variant(Job(str(scene), (("young", young),), str(folder), frames, threads=1))
    assert outcome.status == DONE, outcome.message
    return (folder / CACHE).read_bytes()


@pytest.mark.skipif(os.name == "nt", reason="processes are killed with Unix signals")
def test_a_killed_worker_costs_one_retried_task(scene: Path, tmp_path: Path) -> None:
    values = [1e8, 1e9]
    first, *_ = folders(scene, *values)
    (tmp_path / "stall").touch()
    with started(scene, "--set", "young=1e8,1e9", "--workers", "2", "--threads", "1") as process:
        wait_for(lambda: rows_of(first) >= STALLED)
        victim = next(pid for young, pid in loads(scene) if young == 1e8 and pid != process.pid)
        os.kill(victim, signal.SIGKILL)
        (tmp_path / "stall").unlink()
        printed, told = process.communicate(timeout=HANGS)
    assert process.returncode == 0, told
    assert "2 of 2 variants complete" in printed
    for value in values:
        by_workers = [pid for young, pid in loads(scene) if young == value and pid != process.pid]
        # The task of the killed worker was done again, elsewhere; no other one was.
        assert len(by_workers) == (2 if value == 1e8 else 1)
        assert len(set(by_workers)) == len(by_workers)
    retried = saved_outcome(first)
    assert retried is not None
    assert retried.computed == FRAMES[1] - STALLED  # it went on from the frames that were there
    # Neither the kill nor the number of threads makes a difference to the bits.
    assert (first / CACHE).read_bytes() == undisturbed(scene, 1e8, tmp_path)

    assert [row["status"] for row in table(tmp_path / "out" / "variants.csv")] == ["done"] * 2
    long = table(tmp_path / "out" / "numbers.csv")
    assert len(long) == 2 * FRAMES[1]
    assert set(COLUMNS) < set(long[0])
    assert max(float(row["peak_tension"]) for row in long) > 0.1
    touching = [row for row in long if float(row["young"]) == 1e8 and int(row["contacts"]) > 0]
    assert touching, "the limp rope reaches the floor"
    with FrameCache.open(first / CACHE) as cache:
        assert cache.frames == range(1, FRAMES[1] + 1)
    import matplotlib.image

    picture = matplotlib.image.imread(tmp_path / "out" / "contact_sheet.png")
    assert (picture[..., :3].min(axis=2) < 0.9).mean() > 0.005, "something is drawn"


@pytest.mark.skipif(os.name == "nt", reason="an interrupt is a Unix signal")
def test_an_interrupt_keeps_what_is_finished_and_a_second_run_computes_the_rest(scene: Path, tmp_path: Path) -> None:
    first, second = folders(scene, 1e9, 1e8)
    words = ("--set", "young=1e9,1e8", "--workers", "1")
    stall = tmp_path / "stall"
    stall.touch()
    with started(scene, *words) as process:
        wait_for(lambda: rows_of(second) >= STALLED)
        os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C does, to all processes of the terminal
        printed, told = process.communicate(timeout=HANGS)
    assert process.returncode == cli.INTERRUPTED, told
    assert "Stopped; 1 of 2 variants are complete in out. To continue: python -m tendril sweep" in told
    assert "Traceback" not in told + printed
    assert [row["status"] for row in table(tmp_path / "out" / "variants.csv")] == ["done", "missing"]
    assert (tmp_path / "out" / "contact_sheet.png").exists()
    written = (first / CACHE).stat().st_mtime_ns
    stall.unlink()
    assert_exported(scene, second, tmp_path, STALLED)
    with started(scene, *words) as process:
        printed, told = process.communicate(timeout=HANGS)
    assert process.returncode == 0, told
    assert "2 of 2 variants complete; 1 were there before" in printed
    assert "s left" in told  # progress, with the time that is left
    assert (first / CACHE).stat().st_mtime_ns == written
    outcome = saved_outcome(second)
    assert outcome is not None
    assert outcome.computed == FRAMES[1] - STALLED
    assert (second / CACHE).read_bytes() == undisturbed(scene, 1e8, tmp_path)
    assert_exported(scene, second, tmp_path, FRAMES[1])


def assert_exported(scene: Path, variant: Path, tmp_path: Path, frames: int) -> None:
    """The cache of a variant is read with the values of the variant; the scene file itself has others."""
    out = tmp_path / "rope.npz"
    assert cli.main(["export", str(variant / CACHE), str(out), "--scene", str(scene)]) == 0
    with np.load(out) as read:
        tips = read["rod_0"][:, -1]
    assert len(tips) == frames
    listed = [[float(row[f"tip_{axis}"]) for axis in "xyz"] for row in table(variant / "numbers.csv")[:frames]]
    np.testing.assert_array_equal(tips, listed)


def test_export_refuses_the_cache_of_another_scene(scene: Path, tmp_path: Path, capsys) -> None:
    undisturbed(scene, 1e9, tmp_path, (1, 2))
    other = tmp_path / "other.py"
    other.write_text(SCENE.replace("1100", "900"))
    words = ["export", str(tmp_path / "undisturbed" / CACHE), str(tmp_path / "rope.npz"), "--scene"]
    assert cli.main([*words, str(other)]) == cli.BAD_INPUT
    assert "the cache belongs to another" in capsys.readouterr().err
    other.write_text(SCENE.replace("young", "modulus"))
    assert cli.main([*words, str(other)]) == cli.BAD_INPUT
    assert "young" in capsys.readouterr().err
    assert not (tmp_path / "rope.npz").exists()


def test_a_task_stops_when_its_run_is_over(scene: Path, tmp_path: Path) -> None:
    """On another machine it can't be killed: it sees that the run was interrupted, or that another one has begun."""
    (tmp_path / "stall").touch()
    (folder,) = folders(scene, 1e8)
    folder.parent.mkdir()
    run = folder.parent / RUN
    run.write_text("this one")
    job = Job(str(scene), (("young", 1e8),), str(folder), FRAMES, threads=1, run="this one")
    outcomes = []
    task = threading.Thread(target=lambda: outcomes.append(run_scene_variant(job)))
    task.start()
    wait_for(lambda: rows_of(folder) >= STALLED)
    run.write_text("another one")
    (tmp_path / "stall").unlink()
    task.join(HANGS)
    assert outcomes[0].status == MISSING
    assert rows_of(folder) == STALLED + 1  # the frame that it was at
    assert saved_outcome(folder).status == MISSING
    again = run_scene_variant(replace(job, run="another one"))
    assert (again.status, again.computed) == (DONE, FRAMES[1] - STALLED - 1)
    assert (folder / CACHE).read_bytes() == undisturbed(scene, 1e8, tmp_path)


# Commands of SLURM, which run the job at once on this machine. The script is copied first: Dask deletes it when `sbatch` ends.
SBATCH = """\
#!/bin/sh
for last; do :; done
cp "$last" "$SLURM_JOBS.last"
nohup sh "$SLURM_JOBS.last" >/dev/null 2>&1 &
echo $! >> "$SLURM_JOBS"
echo "Submitted batch job $!"
"""


@pytest.mark.skipif(os.name == "nt", reason="SLURM runs on Unix-like systems")
def test_the_same_command_on_slurm(scene: Path, tmp_path: Path) -> None:
    commands, jobs = tmp_path / "bin", tmp_path / "jobs"
    commands.mkdir()
    jobs.touch()
    for name, text in (("sbatch", SBATCH), ("scancel", '#!/bin/sh\nkill "$@" 2>/dev/null\nexit 0\n')):
        (commands / name).write_text(text)
        (commands / name).chmod(0o755)
    environment = os.environ | {"PATH": f"{commands}{os.pathsep}{os.environ['PATH']}", "SLURM_JOBS": str(jobs)}
    words = (
        "--set",
        "young=1e9,1e10",
        "--workers",
        "1",
        "--frames",
        "1",
        "3",
        "--slurm",
        "queue=short,walltime=00:10:00,memory=2GB",
    )
    with started(scene, *words, env=environment) as process:
        printed, told = process.communicate(timeout=HANGS)
    for job in jobs.read_text().split():
        with suppress(ProcessLookupError):
            os.kill(int(job), signal.SIGTERM)
    assert process.returncode == 0, told
    assert "2 of 2 variants complete" in printed
    script = (tmp_path / "jobs.last").read_text()
    assert "#SBATCH -p short" in script
    assert "#SBATCH -t 00:10:00" in script


@pytest.mark.skipif(os.name == "nt", reason="SLURM runs on Unix-like systems")
@pytest.mark.parametrize(
    ("sbatch", "reason"),
    [
        (None, "'sbatch'"),
        ('#!/bin/sh\necho "sbatch: error: invalid partition: short" >&2\nexit 1\n', "invalid partition: short"),
    ],
)
def test_workers_that_slurm_does_not_start_are_one_clear_message(
    scene: Path, tmp_path: Path, capsys, monkeypatch, sbatch: str | None, reason: str
) -> None:
    commands = tmp_path / "bin"
    commands.mkdir()
    if sbatch is not None:
        (commands / "sbatch").write_text(sbatch)
        (commands / "sbatch").chmod(0o755)
    monkeypatch.setenv("PATH", f"{commands}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.chdir(tmp_path)
    words = ["sweep", str(scene), "--set", "young=1e9", "--frames", "1", "3", "--out", "out", "--slurm", "queue=short"]
    assert cli.main(words) == cli.BAD_INPUT
    told = capsys.readouterr().err
    assert told.startswith("tendril: --slurm is {'queue': 'short'}: the workers could not be submitted (")
    assert reason in told
    assert told.count("\n") == 1
    assert not (tmp_path / "out" / "variants.csv").exists()


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a scheduler with one worker, started as docs/farm.md says."""
    folder = tmp_path_factory.mktemp("scheduler")
    programs = Path(sys.executable).parent
    file = folder / "scheduler.json"
    processes = [
        subprocess.Popen(
            [str(programs / "dask"), *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for words in (
            ["scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)],
            ["worker", "--scheduler-file", str(file), "--nworkers", "1", "--nthreads", "1", "--no-dashboard"],
        )
    ]
    wait_for(file.exists)
    wait_for(lambda: file.read_text().strip().endswith("}"))
    yield json.loads(file.read_text())["address"]
    for process in reversed(processes):
        process.terminate()
        process.wait(10)


def test_the_same_command_with_a_scheduler(scene: Path, scheduler: str, capsys, monkeypatch) -> None:
    monkeypatch.chdir(scene.parent)
    words = ["sweep", str(scene), "--set", "young=1e9,1e10,-1", "--frames", "1", "3", "--out", "out"]
    assert cli.main([*words, "--scheduler", scheduler]) == 1
    printed = capsys.readouterr()
    assert "2 of 3 variants complete, 1 failed" in printed.out
    message = "young_modulus is -1: give a finite number above zero in Pa"
    assert message in printed.err
    rows = table(scene.parent / "out" / "variants.csv")
    assert [row["status"] for row in rows] == ["done", "done", "failed"]
    assert message in rows[2]["message"]


def test_a_full_disk_fails_its_variant_and_loses_nothing(scene: Path, tmp_path: Path) -> None:
    """A real one: the system stops files at a size that half of the frames need."""
    resource = pytest.importorskip("resource")
    job = Job(str(scene), (("young", 1e8),), str(tmp_path / "variant"), FRAMES, threads=1)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    whole = len(undisturbed(scene, 1e8, tmp_path))
    resource.setrlimit(resource.RLIMIT_FSIZE, (whole // 2, limits[1]))
    try:
        outcome = run_scene_variant(job)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert outcome.status == FAILED
    assert "the system says: file too large" in outcome.message
    again = run_scene_variant(job)
    assert again.status == DONE
    assert 0 < again.computed < 0.6 * FRAMES[1]  # the frames before were kept
    assert (tmp_path / "variant" / CACHE).read_bytes() == undisturbed(scene, 1e8, tmp_path)
