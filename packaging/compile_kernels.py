"""Compiles the kernels of all models by two processes, for `make test` and for packages; what was compiled before is skipped.

The processes begin at both ends of a list, with kernels that they do not share: one with contact and rigid bodies of the first
model, which serve all models, the other with the free steps of the others. Nothing but the core is needed, for this machine's
processor or for the one that the environment names.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context

from tendril.core.describe.model import ModelRecord, model_records
from tendril.core.run.warm_up import is_warm, warm_up

Task = tuple[list[str], bool, bool]  # what `warm_up` takes


def tasks_of(records: Iterable[ModelRecord]) -> list[Task]:
    """All models, with contact or without, with bodies or without: what both processes need first is not next to each other."""
    first, *others = (record.name for record in records)
    combinations = list(product((True, False), repeat=2))
    rest = [([name], contact, bodies) for name in others for contact, bodies in combinations if contact or bodies]
    free: list[Task] = [([name], False, False) for name in others]
    return [*(([first], *combination) for combination in combinations), *rest, *free]


def main() -> int:
    tasks = deque(task for task in tasks_of(model_records()) if not is_warm(*task))
    failed = []

    def work(take: Callable[[], Task]) -> None:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            while tasks:
                try:
                    process.submit(warm_up, *take()).result()
                except IndexError:
                    return  # the other one took the last
                except Exception as error:
                    failed.append(error)
                    return

    threads = [threading.Thread(target=work, args=(take,)) for take in (tasks.popleft, tasks.pop)]
    if tasks:
        print("Compiling kernels: some minutes, once for these sources.", flush=True)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for error in failed:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
