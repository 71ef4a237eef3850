"""The frame cache: what is written is read back bit for bit, whatever happens to the file or to the process."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import time
import tracemalloc
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tendril.core import FrameCache, TendrilError
from tendril.core.store import files

SIZE = 3
PLAIN_HEADER, HEADER = 160, 176  # without and with the index
RECORD = 16 + 8 * SIZE


def state(number):
    """Distinct numbers, with bits that a detour over text or float32 would lose."""
    return np.array([number + 1 / 3, -0.0, number * 5e-324])


def write(path, numbers, first=1):
    with FrameCache.create(path, "abc", SIZE, first) as cache:
        for number in numbers:
            cache.append(number, state(number))
    return path.read_bytes()


def same_bits(a, b):
    return np.asarray(a, dtype="<f8").tobytes() == np.asarray(b, dtype="<f8").tobytes()


def run_python(code, *arguments):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, timeout=300
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "rope.cache"


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("cache") / "rope.cache"


def test_frames_come_back_bit_for_bit(path):
    write(path, range(-2, 5), first=-2)
    with FrameCache.open(path, "abc") as cache:
        assert (cache.frames, cache.last, cache.state_size, cache.fingerprint) == (range(-2, 5), 4, SIZE, "abc")
        for number in cache.frames:
            assert same_bits(cache.read(number), state(number))


def test_the_layout_is_the_documented_one(path):
    """Read by hand: a file of today must be readable by whoever has only the description."""
    data = write(path, [7, 8], first=7)
    magic, version, size, first, fingerprint = struct.unpack_from("<8sIQq128s", data)
    assert (magic, version, size, first) == (b"TENDRILC", 2, SIZE, 7)
    assert fingerprint.rstrip(b"\0") == b"abc"
    assert struct.unpack_from("<I", data, PLAIN_HEADER - 4)[0] == zlib.crc32(data[: PLAIN_HEADER - 4])
    assert struct.unpack_from("<QII", data, PLAIN_HEADER) == (2, zlib.crc32(struct.pack("<Q", 2)), 0)
    assert len(data) == HEADER + 2 * RECORD
    for k, number in enumerate((7, 8)):
        record = data[HEADER + k * RECORD :][:RECORD]
        assert struct.unpack_from("<4sIq", record) == (b"FRAM", zlib.crc32(record[16:]), number)
        assert same_bits(np.frombuffer(record[16:], "<f8"), state(number))


def test_views_are_mapped_read_only_and_outlive_the_cache(path):
    write(path, [1, 2])
    with FrameCache.open(path) as cache:
        view = cache.read(1)
        assert np.shares_memory(view, cache.read(1))
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 1.0
        with pytest.raises(ValueError, match="WRITEABLE"):
            view.flags.writeable = True
    assert same_bits(view, state(1))


def test_a_writer_reads_what_it_wrote(path):
    with FrameCache.create(path, "abc", SIZE, 1) as cache:
        assert cache.last is None
        assert len(cache.frames) == 0
        for number in range(1, 6):
            cache.append(number, state(number))
            assert [same_bits(cache.read(n), state(n)) for n in cache.frames] == [True] * number


def test_a_reader_beside_a_writer_sees_the_frames_of_when_it_opened(path):
    with FrameCache.create(path, "abc", SIZE, 1) as writer:
        writer.append(1, state(1))
        with FrameCache.open(path) as reader:
            writer.append(2, state(2))
            assert reader.frames == range(1, 2)
            assert same_bits(reader.read(1), state(1))
        with FrameCache.open(path) as reader:
            assert reader.frames == range(1, 3)


def test_nothing_is_left_beside_the_file(path):
    write(path, [1, 2])
    with FrameCache.open(path, writable=True) as cache:
        cache.truncate_after(1)
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("number", [0, 1, 2, 4, 10**30, 3.0, "3", None, True])
def test_frames_follow_one_another(path, number):
    before = write(path, [1, 2])
    with FrameCache.open(path, writable=True) as cache, pytest.raises(TendrilError, match="frame_number"):
        cache.append(number, state(3))
    assert path.read_bytes() == before


@pytest.mark.parametrize("bad", [[1.0], [1.0, 2.0, np.nan], [np.inf] * 3, np.zeros((3, 1)), "abc", None, ["1"] * 3])
def test_no_bad_state_is_written(path, bad):
    before = write(path, [1, 2])
    with FrameCache.open(path, writable=True) as cache, pytest.raises(TendrilError, match="state"):
        cache.append(3, bad)
    assert path.read_bytes() == before


@pytest.mark.parametrize("number", [0, 3, -(10**30), 10**30, 1.0, "1", None])
def test_only_frames_that_exist_are_read(path, number):
    write(path, [1, 2])
    with FrameCache.open(path) as cache, pytest.raises(TendrilError, match="frame_number"):
        cache.read(number)


def test_creation_is_whole_or_not_at_all(path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "replace", full)
        with pytest.raises(TendrilError, match="no space left"):
            FrameCache.create(path, "abc", SIZE, 1)
    assert os.listdir(path.parent) == []
    FrameCache.create(path, "abc", SIZE, 1).close()


def test_creation_spares_what_exists(path):
    before = write(path, [1])
    with pytest.raises(TendrilError, match="exists"):
        FrameCache.create(path, "abc", SIZE, 1)
    assert path.read_bytes() == before
    with pytest.raises(TendrilError, match="no such file or folder"):
        FrameCache.create(path.parent / "nowhere" / "rope.cache", "abc", SIZE, 1)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (("", SIZE, 1), "fingerprint"),
        (("x" * 129, SIZE, 1), "fingerprint"),
        (("\0", SIZE, 1), "fingerprint"),
        (("é", SIZE, 1), "fingerprint"),
        ((None, SIZE, 1), "fingerprint"),
        (("abc", 0, 1), "state_size"),
        (("abc", 2**70, 1), "state_size"),
        (("abc", 3.0, 1), "state_size"),
        (("abc", SIZE, 2**70), "first_frame"),
        (("abc", SIZE, "1"), "first_frame"),
    ],
)
def test_creation_checks_its_arguments(path, arguments, field):
    with pytest.raises(TendrilError, match=field):
        FrameCache.create(path, *arguments)
    assert os.listdir(path.parent) == []


def test_the_ends_of_the_allowed_ranges(path):
    FrameCache.create(path, "x" * 128, 2**40, -(2**31)).close()
    with FrameCache.open(path, "x" * 128) as cache:
        assert (cache.state_size, cache.frames.start) == (2**40, -(2**31))


def test_other_scenes_and_other_versions_are_refused(path):
    data = write(path, [1])
    with pytest.raises(TendrilError, match="another scene"):
        FrameCache.open(path, "abd")
    later = data[:8] + struct.pack("<I", 3) + data[12 : PLAIN_HEADER - 4]
    path.write_bytes(later + struct.pack("<I", zlib.crc32(later)) + data[PLAIN_HEADER:])
    with pytest.raises(TendrilError, match="format 3"):
        FrameCache.open(path)


@pytest.mark.parametrize("writable", [False, True])
def test_what_is_no_file_is_refused(tmp_path, writable):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").touch()
    for place in (tmp_path, tmp_path / "pipe", tmp_path / "empty", tmp_path / "missing", "", "a\0b", None, 3, b"x"):
        with pytest.raises(TendrilError) as caught:
            FrameCache.open(place, writable=writable)
        assert "\n" not in str(caught.value)
    assert sorted(os.listdir(tmp_path)) == ["empty", "pipe"]


@settings(max_examples=300, deadline=None)
@given(data=st.binary(max_size=600), keep=st.sampled_from([0, 8, 12, PLAIN_HEADER, HEADER]), writable=st.booleans())
def test_random_bytes_are_refused_or_empty(scratch, data, keep, writable):
    scratch.unlink(missing_ok=True)
    scratch.write_bytes(write(scratch, [])[:keep] + data)
    try:
        with FrameCache.open(scratch, writable=writable) as cache:
            assert keep >= PLAIN_HEADER
            assert len(cache.frames) == 0
    except TendrilError:
        assert keep < PLAIN_HEADER


@pytest.mark.parametrize("size", [0, 1, 2**40, 2**61, 2**64 - 1])
def test_a_header_that_promises_too_much_costs_no_memory(path, size):
    """Its crc is right: only the sizes are a lie."""
    head = struct.pack("<8sIQq128s", b"TENDRILC", 2, size, 1, b"abc")
    path.write_bytes(head + struct.pack("<I", zlib.crc32(head)))
    os.truncate(path, 200_000_000)  # of zeros, without taking the space
    tracemalloc.start()
    try:
        with FrameCache.open(path) as cache:
            assert 0 < size <= 2**40
            assert len(cache.frames) == 0
    except TendrilError as error:
        assert "damaged" in str(error)  # noqa: PT017
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 10e6


def test_every_flipped_bit_is_noticed(path):
    """Over the whole file: a frame that is given is right; the header's and the middle's damage are errors."""
    good = write(path, range(1, 5))
    for bit in range(8 * len(good)):
        data = bytearray(good)
        data[bit // 8] ^= 1 << bit % 8
        path.write_bytes(data)
        hit = (bit // 8 - HEADER) // RECORD + 1  # the frame it lies in; the index is only a hint
        if bit // 8 < PLAIN_HEADER:
            with pytest.raises(TendrilError):
                FrameCache.open(path)
            continue
        with FrameCache.open(path) as cache:
            assert cache.last == (3 if hit == 4 else 4)
            for number in cache.frames:
                if number == hit:
                    with pytest.raises(TendrilError, match=f"frame_number is {hit}: this frame is damaged"):
                        cache.read(number)
                else:
                    assert same_bits(cache.read(number), state(number))


def test_every_cut_leaves_the_whole_frames_before_it(path):
    good = write(path, range(1, 5))
    for length in range(PLAIN_HEADER, len(good)):
        path.write_bytes(good[:length])
        whole_frames = max(length - HEADER, 0) // RECORD
        with FrameCache.open(path) as cache:
            assert len(cache.frames) == whole_frames
        assert path.stat().st_size == length  # reading changes nothing
        with FrameCache.open(path, writable=True) as cache:
            assert path.stat().st_size == HEADER + whole_frames * RECORD
            for number in range(whole_frames + 1, 5):
                cache.append(number, state(number))
        assert path.read_bytes() == good


def test_a_tail_of_many_bad_frames_is_dropped(path):
    """A power cut may leave a run of them, of zeros or of old data with the wrong numbers."""
    good = write(path, range(1, 9))
    for tail in (bytes(500 * RECORD), good[HEADER : HEADER + RECORD] * 500):
        path.write_bytes(good + tail)
        with FrameCache.open(path, writable=True) as cache:
            assert cache.last == 8
        assert path.read_bytes() == good


@pytest.mark.parametrize("claimed", [None, 0, 8, 445_000_000, 2**64 - 1])
@pytest.mark.parametrize("size", [SIZE, 2**30])
def test_opening_a_huge_sparse_file_takes_no_time(path, claimed, size):
    """Ten gigabytes of zeros after eight frames, or none, and whatever the index says."""
    with FrameCache.create(path, "abc", size, 1) as cache:
        for number in range(1, 9) if size == SIZE else ():
            cache.append(number, state(number))
        held = len(cache)
    index = bytes(16) if claimed is None else struct.pack("<QI4x", claimed, zlib.crc32(struct.pack("<Q", claimed)))
    with path.open("r+b") as file:
        file.seek(PLAIN_HEADER)
        file.write(index)
    os.truncate(path, 10_700_000_000)
    for writable in (False, True):
        began = time.process_time()
        with FrameCache.open(path, writable=writable) as cache:
            assert len(cache) == held
        assert time.process_time() - began < 1.0  # reading it all takes 10 s
    assert path.stat().st_size == HEADER + held * RECORD


def test_damaged_frames_before_the_last_one_keep_those_after_them(path):
    good = bytearray(write(path, range(1, 9)))
    good[HEADER + 3 * RECORD] ^= 255  # the magic of frame 4
    path.write_bytes(good)
    with FrameCache.open(path) as cache:
        assert cache.frames == range(1, 9)
        assert same_bits(cache.read(8), state(8))
        with pytest.raises(TendrilError, match="damaged"):
            cache.read(4)


def test_frames_written_after_the_index_are_found(path):
    """A kill between the two writes."""
    write(path, [1, 2])
    before = path.read_bytes()[:HEADER]
    path.unlink()
    good = write(path, [1, 2, 3])
    path.write_bytes(before + good[HEADER:])
    with FrameCache.open(path, writable=True) as cache:
        assert cache.last == 3
    assert path.read_bytes() == good


def test_links_are_not_written_through(path):
    """Where the cache and its temporary file go, links wait that lead to a file of the user's."""
    precious = path.with_name("precious")
    precious.write_text("mine")
    new = path.with_name(path.name + ".new")
    new.symlink_to(precious)
    write(path, [1, 2, 3])
    new.symlink_to(precious)
    with FrameCache.open(path, writable=True) as cache:
        cache.truncate_after(1)
    assert precious.read_text() == "mine"
    assert not new.exists()
    for target in (path, path.with_name("missing")):
        link = path.with_name(f"link to {target.name}")
        link.symlink_to(target)
        with pytest.raises(TendrilError, match="exists already"):
            FrameCache.create(link, "abc", SIZE, 1)
        with pytest.raises(TendrilError, match="this is a link"):
            FrameCache.open(link, writable=True)
        assert link.is_symlink()
    assert not path.with_name("missing").exists()
    FrameCache.open(path.with_name(f"link to {path.name}")).close()  # reading through a link harms nobody


def test_a_file_that_is_cut_while_open_is_noticed(path):
    data = write(path, range(1, 2000))
    with FrameCache.open(path) as cache:
        view = cache.read(1)
        path.write_bytes(data[: HEADER + 3 * RECORD])
        with pytest.raises(TendrilError, match="truncated"):
            cache.read(1500)
        assert same_bits(view, state(1))


def test_truncation_keeps_views_and_the_frames_before(path):
    good = write(path, range(1, 2001))
    with FrameCache.open(path, writable=True) as cache:
        view = cache.read(2000)
        cache.truncate_after(3)
        assert cache.frames == range(1, 4)
        assert path.stat().st_size == HEADER + 3 * RECORD
        assert same_bits(view, state(2000))  # would kill the process, had the file itself been cut
        for number in range(4, 2001):
            cache.append(number, state(number))
        cache.truncate_after(5000)
        assert cache.last == 2000
    assert path.read_bytes() == good
    with FrameCache.open(path, writable=True) as cache:
        for bad in (-1, 1.0, None):
            with pytest.raises(TendrilError, match="frame"):
                cache.truncate_after(bad)
        cache.truncate_after(0)
        assert cache.last is None


def test_a_failed_truncation_leaves_the_file_as_it_was(path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    good = write(path, range(1, 5))
    cache = FrameCache.open(path, writable=True)
    with monkeypatch.context() as patch:
        patch.setattr(files.os, "replace", refuse)
        with pytest.raises(TendrilError, match="permission denied"):
            cache.truncate_after(2)
    cache.close()
    assert os.listdir(path.parent) == [path.name]
    assert path.read_bytes() == good


def test_only_what_is_open_for_it_is_written_and_read(path):
    write(path, [1, 2])
    cache = FrameCache.open(path)
    for change in (lambda: cache.append(3, state(3)), lambda: cache.truncate_after(1)):
        with pytest.raises(TendrilError, match="not open for writing"):
            change()
    cache.close()
    cache.close()
    with pytest.raises(TendrilError, match="closed"):
        cache.read(1)


def test_a_full_disk_is_said_and_the_frames_before_stay(path):
    """A real one: the system stops the file at a size in the middle of a record."""
    code = """
import resource, signal, sys
import numpy as np
from tendril.core import FrameCache, TendrilError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with FrameCache.create(sys.argv[1], "abc", 3, 1) as cache:
    resource.setrlimit(resource.RLIMIT_FSIZE, (176 + 2 * 40 + 25, -1))
    try:
        for number in range(1, 9):
            cache.append(number, np.full(3, float(number)))
    except TendrilError as error:
        print(number, error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
    cache.append(3, np.full(3, 3.0))
"""
    result = run_python(code, path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("3 cache is ")
    with FrameCache.open(path) as cache:
        assert [cache.read(n)[0] for n in cache.frames] == [1.0, 2.0, 3.0]


OPERATIONS = st.one_of(
    st.just(("append",)),
    st.just(("reopen",)),
    st.tuples(st.just("truncate"), st.integers(0, 12)),
    st.tuples(st.just("crash"), st.binary(min_size=0, max_size=RECORD - 1)),
)


@settings(max_examples=60, deadline=None)
@given(operations=st.lists(OPERATIONS, max_size=25))
def test_any_history_reads_like_a_list(scratch, operations):
    """Appending, reopening, truncating and crashing in any order leave what a list would hold."""
    scratch.unlink(missing_ok=True)
    expected = []
    cache = FrameCache.create(scratch, "abc", SIZE, 1)
    for name, *argument in operations:
        if name == "append":
            expected.append(np.random.default_rng(len(expected)).random(SIZE))
            cache.append(len(expected), expected[-1])
        elif name == "truncate":
            cache.truncate_after(argument[0])
            del expected[argument[0] :]
        else:
            cache.close()
            if name == "crash":
                with scratch.open("ab") as file:
                    file.write(argument[0])
            cache = FrameCache.open(scratch, "abc", writable=True)
        assert [cache.read(n).tolist() for n in cache.frames] == [values.tolist() for values in expected]
    cache.close()
