"""Running the tasks of a sweep on Dask: in processes of this machine, on a running scheduler, or on SLURM."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from ..core.errors import TendrilError
from .variants import FAILED, Job, Outcome

CONNECT_SECONDS = 5.0
# Ctrl-C reaches all processes of a terminal. The sweep decides what happens then; its workers only wait to be ended.
_IGNORE_INTERRUPTS = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
Task = Callable[[Job], Outcome]


@dataclass(frozen=True)
class Where:
    """Where tasks run: on `workers` processes of this machine unless a scheduler or options of SLURM are given."""

    workers: int = 1
    scheduler: str | None = None
    slurm: dict[str, Any] | None = field(default=None)


@contextmanager
def connected(where: Where) -> Iterator[Any]:
    """A client of Dask. Raises TendrilError if Dask is missing or the scheduler does not answer."""
    try:
        import dask
        import distributed
    except ImportError as error:
        raise TendrilError("sweep", "not installed", f'it needs Dask: pip install "tendril[sweep]" ({error})') from None
    # One task at a time per worker, so that a worker that dies costs only that one.
    dask.config.set(
        {"distributed.scheduler.worker-saturation": 1.0, "distributed.comm.timeouts.connect": CONNECT_SECONDS}
    )
    for name in ("distributed", "tornado", "tornado.application", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # workers that end are reported by the sweep itself
    with _cluster(where, distributed) as cluster:
        try:
            client = distributed.Client(cluster, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            cure = f"no Dask scheduler answers there: check the address and that it is running ({_first_line(error)})"
            raise TendrilError("--scheduler", where.scheduler or cluster, cure) from None
        try:
            yield client
        finally:
            with suppress(Exception):  # a scheduler that is gone can't say goodbye
                client.close(timeout=2)


@contextmanager
def _cluster(where: Where, distributed: Any) -> Iterator[Any]:
    """The address of a scheduler, or a cluster made for this sweep and closed after it."""
    if where.scheduler is not None:
        yield where.scheduler
        return
    cluster = _slurm_cluster(where) if where.slurm is not None else _local_cluster(where, distributed)
    try:
        yield cluster
    finally:
        with suppress(Exception):  # workers may have ended by themselves
            cluster.close(timeout=5)


def _local_cluster(where: Where, distributed: Any) -> Any:
    try:
        return distributed.LocalCluster(
            n_workers=where.workers, threads_per_worker=1, processes=True, dashboard_address=None,
            silence_logs=logging.CRITICAL, memory_limit=0, preload=[_IGNORE_INTERRUPTS],
        )  # fmt: skip
    except (OSError, RuntimeError, TimeoutError) as error:
        raise TendrilError("--workers", where.workers, f"they could not be started ({_first_line(error)})") from None


def _slurm_cluster(where: Where) -> Any:
    try:
        from dask_jobqueue import SLURMCluster
    except ImportError:
        raise TendrilError("--slurm", "not installed", 'it needs dask-jobqueue: pip install "tendril[sweep]"') from None
    try:
        options = {"cores": 1, "processes": 1, "memory": "4GB"} | (where.slurm or {})
        cluster = SLURMCluster(**options)
    except (OSError, RuntimeError, ValueError, TypeError) as error:
        raise TendrilError("--slurm", where.slurm, f"SLURM refused it ({_first_line(error)})") from None
    try:
        cluster.sync(_submit, cluster, where.workers)
    except (OSError, RuntimeError) as error:
        with suppress(Exception):  # it does not expect workers that were never started
            cluster.close(timeout=5)
        told = str(error).rpartition("stderr:")[2].split("\n")  # of sbatch, which dask-jobqueue appends
        reason = next(filter(None, map(str.strip, told)), "") or _first_line(error)
        raise TendrilError("--slurm", where.slurm, f"the workers could not be submitted ({reason})") from None
    return cluster


async def _submit(cluster: Any, workers: int) -> None:
    """Submits the workers and waits for it: `scale` alone loses errors of `sbatch`, and the sweep would wait forever."""
    cluster.scale(jobs=workers)
    await cluster._correct_state()


def outcomes_of(client: Any, task: Task, jobs: Sequence[Job]) -> Iterator[Outcome]:
    """Outcomes in the order in which tasks end. A worker that dies has its task done again elsewhere; a task that kills several
    workers, for instance because it needs more memory than there is, fails."""
    from distributed import as_completed

    futures = {client.submit(task, job, pure=False): job for job in jobs}
    waiting = as_completed(futures, loop=client.loop)
    try:
        for future in waiting:
            job = futures[future]
            try:
                outcome = future.result()
            except Exception as error:
                if client.status != "running":
                    raise TendrilError(
                        "the scheduler", "gone", "finished variants are kept: start it and run again"
                    ) from None
                outcome = Outcome(job.folder, job.values, FAILED, f"its worker failed: {_first_line(error)}")
            future.release()
            yield outcome
    finally:
        with suppress(Exception):
            client.cancel(list(futures), force=True)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].strip() or type(error).__name__
