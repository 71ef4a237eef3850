"""`make fuzz`: random scenes until the time is over. Seeds are printed; failures are shrunk and kept.

A scene must neither raise nor have a NaN, take bounded time per frame, and give the same bits again: in a second run, with another
number of threads, and after it was restored. A failure is kept in tests/core/fuzz_failures/, where `make test` repeats it.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
from numba.core import event
from random_scenes import Settings, random_settings, simulate

KEPT = Path(__file__).resolve().parents[1] / "core" / "fuzz_failures"
# Processor time of a frame in s, without compiling. Large scenes may take more: so much per point and substep.
MOST_SECONDS, MOST_SECONDS_PER_POINT = 30.0, 2e-3


class TooLong(BaseException):
    """Not an Exception, which a simulation would survive."""


class Compiling(event.Listener):
    """Measures the processor time that numba takes to compile: it is no part of a simulation."""

    def __init__(self) -> None:
        self.depth, self.began, self.seconds = 0, 0.0, 0.0
        event.register("numba:compile", self)

    def on_start(self, _: object) -> None:
        self.depth += 1
        if self.depth == 1:
            self.began = time.process_time()

    def on_end(self, _: object) -> None:
        self.depth -= 1
        if self.depth == 0:
            self.seconds += time.process_time() - self.began


compiling = Compiling()
counts = {"refused": 0}


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raises TooLong after so many seconds of processor time, where the system has such a timer."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    began, compiled = time.process_time(), compiling.seconds

    def stop(*_: object) -> None:
        left = seconds - (time.process_time() - began) + compiling.seconds - compiled
        if compiling.depth == 0 and left <= 0.0:
            raise TooLong
        signal.setitimer(signal.ITIMER_VIRTUAL, max(left, 0.5))

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def most_seconds(settings: Settings) -> float:
    """For a frame."""
    points = sum(rod["points"] for rod in settings["rods"])
    return MOST_SECONDS + MOST_SECONDS_PER_POINT * points * settings["substeps"]


def problem(settings: Settings) -> str:
    """What is wrong with a scene, in one line; empty if nothing is."""
    try:
        around = partial(limited, most_seconds(settings))
        first = simulate(settings, around=around)
        if first is None:
            counts["refused"] += 1
            return ""
        states, reports = first
        if not all(np.isfinite(state).all() for state in states):
            return "a state has a NaN"
        failed = [text for report in reports for text in report.problems if text.startswith("the solver")]
        if failed:
            return failed[0]
        second = simulate(settings, threads=2, around=around)
        assert second is not None
        if any(a.tobytes() != b.tobytes() for a, b in zip(states, second[0], strict=True)):
            return "two runs differ"
    except TooLong:
        return f"a frame takes more than {most_seconds(settings):g} s of processor time"
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} in {os.path.basename(place.filename)}: {' '.join(str(error).split())[:120]}"
    return ""


def shrink(settings: Settings, most_seconds: float = 60.0) -> Settings:
    """Fewer rods, colliders and settings that still go wrong."""
    until, current, smaller = time.monotonic() + most_seconds, settings, True
    while smaller and time.monotonic() < until:
        smaller = False
        for candidate in _candidates(current):
            if problem(candidate):
                current, smaller = candidate, True
                break
    return current


def _candidates(settings: Settings) -> list[Settings]:
    found = []
    for name in ("rods", "colliders", "fields", "bodies"):
        for k in range(len(settings[name])):
            if name != "rods" or len(settings[name]) > 1:
                fewer = copy.deepcopy(settings)
                del fewer[name][k]
                found.append(fewer)
    plain = {"motion": "still", "load": "none", "velocity": 0.0, "damping": 0.0, "hold": "none", "shape": "line"}
    for k, rod in enumerate(settings["rods"]):
        for name, value in plain.items():
            if rod[name] != value:
                simpler = copy.deepcopy(settings)
                simpler["rods"][k][name] = value
                found.append(simpler)
        if rod["points"] > 3:
            shorter = copy.deepcopy(settings)
            shorter["rods"][k]["points"] = max(3, rod["points"] // 2)
            found.append(shorter)
    for name, value in (("rod_contact", False), ("gravity", 0.0), ("substeps", 1), ("frames", 2)):
        if settings[name] != value:
            found.append({**copy.deepcopy(settings), name: value})
    return found


def keep(settings: Settings, text: str) -> Path:
    KEPT.mkdir(exist_ok=True)
    path = KEPT / f"{settings['seed']}.json"
    path.write_text(json.dumps({"problem": text, "settings": settings}, indent=1) + "\n", encoding="utf-8")
    return path


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0, help="stop after so many seconds (300)")
    parser.add_argument("--count", type=int, default=10**9, help="stop after so many scenes")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the first scene; the next has the next")
    chosen = parser.parse_args(arguments)
    print(f"seed {chosen.seed}, up to {chosen.count} scenes and {chosen.seconds:g} s", flush=True)
    began, failures, done = time.monotonic(), 0, 0
    while done < chosen.count and time.monotonic() - began < chosen.seconds:
        settings = random_settings(chosen.seed + done)
        done += 1
        text = problem(settings)
        if text:
            failures += 1
            smallest = shrink(settings)
            path = keep(smallest, problem(smallest) or text)
            print(f"seed {settings['seed']}: {text}; kept in {path}", flush=True)
    seconds, refused = time.monotonic() - began, counts["refused"]
    print(f"{done} scenes from seed {chosen.seed} in {seconds:.0f} s: {refused} refused, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
