"""How far a compilation is: numba's own events are counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def counting(progress: Callable[[float], None], expected: int) -> Iterator[None]:
    """Tells `progress` how many of the expected functions have been compiled since, as a part of them."""
    from numba.core import event

    class Counter(event.Listener):
        done = 0

        def on_start(self, _event: object) -> None:
            pass

        def on_end(self, _event: object) -> None:
            self.done += 1
            progress(min(self.done / max(expected, 1), 1.0))

    counter = Counter()
    event.register("numba:compile", counter)
    try:
        yield
    finally:
        event.unregister("numba:compile", counter)
