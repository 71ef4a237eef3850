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
from contextlib import suppress
from itertools import product
from multiprocessing import get_context

from tendril.core.describe.model import model_records
from tendril.core.run.warm_up import is_warm, name_of, warm_up

Task = tuple[list[str], bool, bool]  # what `warm_up` takes


def tasks_of(models: Iterable[str]) -> list[Task]:
    """All models, with contact or without, with bodies or without: what both processes need first is not next to each other."""
    first, *others = models
    combinations = list(product((True, False), repeat=2))
    rest = [([name], contact, bodies) for name in others for contact, bodies in combinations if contact or bodies]
    free: list[Task] = [([name], False, False) for name in others]
    return [*(([first], *combination) for combination in combinations), *rest, *free]


def main() -> None:
    tasks = deque(task for task in tasks_of(record.name for record in model_records()) if not is_warm(*task))

    def work(take: Callable[[], Task]) -> None:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            while tasks:
                with suppress(IndexError):  # the other one took the last
                    task = take()
                    try:
                        process.submit(warm_up, *task).result()
                    except Exception as error:  # tests of this model will tell more
                        print(f"{name_of(task[0][0], *task[1:])}: {type(error).__name__}: {error}", file=sys.stderr)

    if tasks:
        print("Compiling kernels: some minutes, once for these sources.", flush=True)
        threads = [threading.Thread(target=work, args=(take,)) for take in (tasks.popleft, tasks.pop)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    main()
