"""A thread pool for kernels that release the GIL: parallel over rods, bit-identical for any number of threads.

These are Python threads: numba's own pools abort when two of them run at once, and take longer to compile.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

PIECES_PER_THREAD = 4  # more pieces than threads balance rods of unequal cost
SMALLEST_PARALLEL = 800  # vertex steps: below it, waking a thread costs more than it saves


class Workers:
    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or os.cpu_count() or 1
        self._pool: ThreadPoolExecutor | None = None

    @property
    def most_pieces(self) -> int:
        return self.threads * PIECES_PER_THREAD

    def run(self, work: Callable[[int, int, int], None], count: int, effort: int) -> None:
        """Calls work(first, last, piece) over pieces of range(count), in parallel if `effort` (vertex steps) is large enough."""
        pieces = min(self.most_pieces, count) if self.threads > 1 and effort >= SMALLEST_PARALLEL else 1
        if pieces <= 1:
            work(0, count, 0)
            return
        from concurrent.futures import ThreadPoolExecutor, wait  # late, for the add-on: it imports much

        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads - 1, thread_name_prefix="tendril")
        bounds = [count * k // pieces for k in range(pieces + 1)]
        todo = iter(range(pieces))

        def work_through() -> None:
            for k in todo:  # next() of a range iterator is atomic under the GIL
                work(bounds[k], bounds[k + 1], k)

        others = [self._pool.submit(work_through) for _ in range(self.threads - 1)]
        work_through()
        wait(others)
        for other in others:
            other.result()
