"""Who may write a cache: one process at a time, and after a kill the next."""

from __future__ import annotations

import gc
import os
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest
from tendril.core import FrameCache, TendrilError
from tendril.core.store.lock import UNKNOWN, start_of

SIZE = 3


def state(number):
    return np.full(SIZE, float(number))


def write(path, numbers):
    with FrameCache.create(path, "abc", SIZE, 1) as cache:
        for number in numbers:
            cache.append(number, state(number))
    return path.read_bytes()


def run_python(code, *arguments):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, timeout=300
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "rope.cache"


def test_a_kill_loses_at_most_the_frame_in_work(path):
    code = """
import sys
import numpy as np
from tendril.core import FrameCache
with FrameCache.create(sys.argv[1], "abc", 200_000, 1) as cache:
    for number in range(1, 100_000):
        cache.append(number, np.full(200_000, float(number)))
        print(number, flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if int(line) >= 12:
            break
    process.kill()
    told = [int(line) for line in process.stdout.read().split()]
    process.wait()
    assert process.returncode == -signal.SIGKILL
    with FrameCache.open(path, "abc", writable=True) as cache:  # and takes over the lock of the dead
        assert cache.last >= max([12, *told])
        for number in cache.frames:
            assert (cache.read(number) == number).all()
        cache.append(cache.last + 1, np.zeros(200_000))


def lock_of(path):
    return path.with_name(path.name + ".lock")


def test_two_writers_are_refused_until_the_first_has_closed(path):
    first = FrameCache.create(path, "abc", SIZE, 1)
    with pytest.raises(TendrilError, match="another process"):
        FrameCache.open(path, writable=True)
    code = """
import sys
from tendril.core import FrameCache
FrameCache.open(sys.argv[1])
FrameCache.open(sys.argv[1], writable=True)
"""
    result = run_python(code, path)
    assert "TendrilError" in result.stderr
    assert f"another process ({os.getpid()} on " in result.stderr
    first.append(1, state(1))
    first.close()
    assert run_python(code, path).returncode == 0


def test_a_forgotten_writer_gives_the_lock_back(path):
    cache = FrameCache.create(path, "abc", SIZE, 1)
    assert lock_of(path).exists()
    del cache
    gc.collect()
    assert not lock_of(path).exists()


def dead_process():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.parametrize("owner", ["dead", "self", "absurd", "zero"])
def test_abandoned_locks_are_taken_over(path, owner):
    write(path, [1])
    process = {"dead": dead_process(), "self": os.getpid(), "absurd": 10**30, "zero": 0}[owner]
    lock_of(path).write_text(f"{process} {socket.gethostname()} - 0123\n")
    with FrameCache.open(path, writable=True) as cache:
        cache.append(2, state(2))
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize(
    "owner",
    [
        "999999999 elsewhere - 0123\n",
        f"{os.getppid()} {socket.gethostname()} - 0123\n",
        f"{os.getppid()} {socket.gethostname()} {start_of(os.getppid())} 0123\n",
        "",
        "rubbish",
    ],
)
def test_living_locks_are_respected(path, owner):
    write(path, [1])
    lock_of(path).write_text(owner)
    with pytest.raises(TendrilError, match="another process"):
        FrameCache.open(path, writable=True)
    assert lock_of(path).read_text() == owner
    FrameCache.open(path).close()


def test_a_lock_left_empty_by_a_kill_is_taken_over(path):
    write(path, [1])
    lock_of(path).touch()
    os.utime(lock_of(path), (time.time() - 60,) * 2)
    FrameCache.open(path, writable=True).close()


def test_a_writer_whose_lock_is_gone_stops_writing(path):
    before = write(path, [1])
    with FrameCache.open(path, writable=True) as cache:
        lock_of(path).unlink()
        with FrameCache.open(path, writable=True):
            with pytest.raises(TendrilError, match="lock file is gone"):
                cache.append(2, state(2))
            cache.close()
            assert lock_of(path).exists()  # it is the other's
            with pytest.raises(TendrilError, match="another process"):
                FrameCache.open(path, writable=True)
    assert path.read_bytes() == before


@pytest.mark.skipif(sys.platform == "win32", reason="an open lock can't be removed there, which tells as much")
def test_a_lock_whose_process_number_is_reused_is_taken_over(path):
    """The process of that number runs, but started at another time than the one that wrote the lock."""
    start = start_of(1)
    assert start not in (UNKNOWN, start_of(os.getpid()))
    write(path, [1])
    lock_of(path).write_text(f"1 {socket.gethostname()} 1{start} 0123\n")
    with FrameCache.open(path, writable=True) as cache:
        cache.append(2, state(2))
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("kind", ["link", "dangling link", "pipe"])
def test_a_lock_that_is_no_file_is_neither_read_nor_waited_for(path, kind):
    write(path, [1])
    other = path.with_name("other")
    if kind == "link":
        other.write_text(f"{dead_process()} {socket.gethostname()} - 0123\n")
    if kind == "pipe":
        os.mkfifo(lock_of(path))
    else:
        lock_of(path).symlink_to(other)
    with pytest.raises(TendrilError, match="lock"):
        FrameCache.open(path, writable=True)
    assert os.path.lexists(lock_of(path))
    assert other.exists() == (kind == "link")
