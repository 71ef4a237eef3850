"""Files that nobody wrote in good faith: whatever lies where a cache should be, it is told, and nothing breaks."""

import json
import re
import struct
import zlib
from pathlib import Path

import bpy
import numpy as np
import pytest
import tendril
from tendril.addon import memory
from tendril.addon.bridge.curves import read_rows
from tendril.addon.moments import Contents
from tendril.core import FrameCache
from tendril.tests.addon.building import make_mesh, make_rod, status
from tendril.tests.addon.test_cache import saved  # noqa: F401

LAST = 5
HEADER, RECORD_HEAD = 176, 16


@pytest.fixture
def cache(saved):  # noqa: F811
    """A cache of a rope that lies on something; the bytes of the file, and of its table of contents."""
    make_mesh(at=(0, 0, -0.05))
    make_rod()
    for number in range(1, LAST + 1):
        bpy.context.scene.frame_set(number)
    memory.clear()
    return saved, saved.read_bytes(), saved.with_name(saved.name + ".json").read_text()


def visit(path, data=None, contents=None):
    """Opens such files as people do: in the middle, from the start, and on beyond their end."""
    rope, scene = bpy.data.objects["Rope"], bpy.context.scene
    if data is not None:
        path.write_bytes(data)
    if contents is not None:
        path.with_name(path.name + ".json").write_text(contents)
    memory.clear()
    for number in (3, 1, 2, LAST, LAST + 1, LAST + 2):
        scene.frame_set(number)
        assert np.all(np.isfinite(read_rows(rope.data)))
        assert "Unexpected" not in status(rope) + memory.disk_note(scene) + memory.info(scene)
    memory.clear()


@pytest.mark.parametrize("seed", range(4))
def test_bytes_that_were_changed_cut_or_added(cache, seed):
    path, data, _ = cache
    rng = np.random.default_rng(seed)
    for _ in range(12):
        changed = bytearray(data)
        for _ in range(int(rng.integers(1, 4))):
            at, size = int(rng.integers(0, len(changed))), int(rng.integers(1, 60))
            kind = rng.integers(0, 3)
            if kind == 0:
                changed[at : at + size] = rng.bytes(size)
            elif kind == 1:
                del changed[at:]
            else:
                changed[at:at] = rng.bytes(size)
            if not changed:
                changed = bytearray(b"\0")
        visit(path, bytes(changed))


TABLES = [
    "",
    "[]",
    "null",
    "{}",
    "[" * 100_000,
    '{"rods": 3, "keys": [], "fingerprint": ""}',
    '{"rods": [["a", 1e999]], "keys": [], "fingerprint": ""}',
    '{"rods": [["a", NaN]], "keys": [], "fingerprint": ""}',
    '{"rods": [["a", -5]], "keys": ["x"], "fingerprint": "\\u0000"}',
    '{"rods": [["a"]], "keys": {"a": 1}, "fingerprint": []}',
    '{"rods": {"ab": 1}, "keys": "xyz", "fingerprint": "' + 1000 * "f" + '"}',
    '{"rods": [], "keys": ' + json.dumps(["k"] * 50_000) + ', "fingerprint": ""}',
]


def test_tables_of_contents_that_make_no_sense(cache):
    path, data, contents = cache
    for table in TABLES:
        visit(path, data, table)
    visit(path, data, contents.replace('"rods"', '"rods": [], "other"'))
    known = json.loads(contents)
    for rods, keys in (([], []), (known["rods"] * 50, known["keys"]), (known["rods"], known["keys"][::-1])):
        visit(path, data, json.dumps({**known, "rods": rods, "keys": keys}))
    path.with_name(path.name + ".json").write_bytes(b"\xff\xfe" + bytes(range(256)))
    visit(path, data)
    assert memory.info(bpy.context.scene) == "No frames in memory"


def size_shown(contents):
    """How many numbers of a record are what is shown."""
    table = json.loads(contents)
    return Contents(tuple(map(tuple, table["rods"])), tuple(table["keys"])).size


def signed(data, number, values, shown):
    """The file with other numbers in a frame, and the check sum that makes them believed."""
    size = struct.unpack_from("<Q", data, 12)[0]
    values = np.array(values)
    values[0] = zlib.crc32(values[1:shown].tobytes())
    at = HEADER + (number - 1) * (RECORD_HEAD + 8 * size)
    payload = np.asarray(values, dtype="<f8").tobytes()
    assert len(payload) == 8 * size
    return (
        data[: at + 4]
        + struct.pack("<I", zlib.crc32(payload))
        + data[at + 8 : at + RECORD_HEAD]
        + payload
        + data[at + RECORD_HEAD + 8 * size :]
    )


def test_the_layout_that_these_tests_forge_is_the_real_one(cache):
    path, data, contents = cache
    with FrameCache.open(path) as file:
        assert signed(data, 3, file.read(3), size_shown(contents)) == data


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # such numbers overflow
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e308, -1e40, 1e15, 0.0, -1.0, 1e-320])
def test_numbers_that_are_signed_and_senseless(cache, value):
    path, data, contents = cache
    shown = size_shown(contents)
    with FrameCache.open(path) as file:
        good = np.array(file.read(LAST))
    rng = np.random.default_rng(3)
    for part in (1.0, 0.3, 0.02):
        values = np.where(rng.random(len(good)) < part, value, good)
        visit(path, signed(signed(data, LAST, values, shown), 3, values, shown))
    one = good.copy()
    one[rng.integers(0, len(good))] = value
    visit(path, signed(data, LAST, one, shown))


def test_nothing_is_unpickled():
    """Except for compiled kernels, which are machine code anyway: files that nobody else can have written, see
    tests/core/test_compiled_code.py."""
    root = Path(tendril.__file__).parent
    # Numba's own cache does, too, and asks nobody who wrote the files.
    unpickles = re.compile(
        r"\b(import|from) (pickle|marshal|shelve|dill|joblib|cloudpickle)|\b(pickle|marshal)\.loads?\b"
        r"|allow_pickle=True|\bcache=True"
    )
    files = [file for folder in ("core", "addon", "sweep") for file in (root / folder).rglob("*.py")]
    assert len(files) > 100
    assert [file for file in files if unpickles.search(file.read_text())] == [root / "core/compile/kernel_cache.py"]
