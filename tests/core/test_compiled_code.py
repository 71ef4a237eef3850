"""Compiled code on disk: no disk is an error, two processes share one, and without numba there is none and all is as right."""

import hashlib
import os
import pickle
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from tendril.core.compile import kernel_cache

KERNEL = """
    import sys
    from tendril.core.compile import cache_folder
    cache_folder.set_cache_folder(sys.argv[1])
    from tendril.core.compile.jit import kernel

    @kernel
    def twice(x):
        return 2 * x
"""


def start(folder, script, *arguments, before=None):
    """A Python of its own whose kernel lies in a file, as numba wants it."""
    folder.mkdir(exist_ok=True)
    file = folder / "script.py"
    # A process that was started before may still read the file: never truncate it then.
    if not file.exists() or file.read_text() != script:
        file.write_text(script)
    environment = {**os.environ, "TMPDIR": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, str(file), *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, preexec_fn=before
    )


def output(process):
    said, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert not errors or errors.startswith("Tendril is compiling its solver for this machine")
    return said.strip()


def run(folder, script, *arguments, before=None):
    return output(start(folder, textwrap.dedent(script), *arguments, before=before))


def files(folder, kind):
    return sorted(Path(folder).rglob(f"*.{kind}"))


CALL = KERNEL + "    print(twice(21), twice(1.5), sum(twice.stats.cache_hits.values()))"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compiled")
    run(folder, CALL, folder / "cache")
    return folder / "cache"


@pytest.fixture
def cache(compiled, tmp_path):
    """A cache folder with what CALL has compiled."""
    return shutil.copytree(compiled, tmp_path / "cache")


def test_it_is_kept_and_found_again(tmp_path):
    assert run(tmp_path, CALL, tmp_path / "cache") == "42 3.0 0"
    assert run(tmp_path, CALL, tmp_path / "cache") == "42 3.0 2"


def test_a_full_disk_is_no_error(tmp_path):
    resource = pytest.importorskip("resource")

    def full_disk():
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    assert run(tmp_path, CALL, tmp_path / "cache", before=full_disk) == "42 3.0 0"
    assert not files(tmp_path / "cache", "nb?")


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path):
    (tmp_path / "file").write_text("no folder")
    assert run(tmp_path, CALL, tmp_path / "file" / "cache") == "42 3.0 0"
    assert not files(tmp_path, "nbc")
    assert not list(tmp_path.glob("tendril-*"))  # the temporary folder in which they were


@pytest.mark.parametrize("damage", ["cut", "changed", "empty"])
def test_damaged_files_are_compiled_again_once(cache, tmp_path, damage):
    for path in files(cache, "nbc"):
        content = path.read_bytes()
        middle = len(content) // 2
        path.write_bytes(
            {
                "cut": content[:middle],
                "changed": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
                "empty": b"",
            }[damage]
        )
    process = start(tmp_path, textwrap.dedent(CALL), cache)
    said, errors = process.communicate(timeout=300)
    assert said.strip() == "42 3.0 0"
    assert errors.count("is damaged (its checksum is wrong); it is compiled again, once.") == 2
    assert run(tmp_path, CALL, cache) == "42 3.0 2"


def test_a_file_for_other_arguments_is_not_used(cache, tmp_path):
    first, second = files(cache, "nbc")
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)
    process = start(tmp_path, textwrap.dedent(CALL), cache)
    said, errors = process.communicate(timeout=300)
    assert said.strip() == "42 3.0 0"
    assert "is for other arguments" in errors


@pytest.mark.skipif(os.name != "posix", reason="permissions as of Unix")
@pytest.mark.parametrize("mode", [0o777, 0o757])
def test_a_folder_that_others_can_write_is_refused(cache, tmp_path, mode):
    cache.chmod(mode)
    process = start(tmp_path, textwrap.dedent(CALL), cache)
    said, errors = process.communicate(timeout=300)
    assert said.strip() == "42 3.0 0"  # compiled, elsewhere
    assert "is not used, because other users can write there. Delete the folder" in errors
    cache.chmod(0o700)
    assert run(tmp_path, CALL, cache) == "42 3.0 2"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give folders away")
def test_a_folder_of_another_user_is_refused(cache, tmp_path):
    os.chown(cache, 12345, 12345)
    process = start(tmp_path, textwrap.dedent(CALL), cache)
    said, errors = process.communicate(timeout=300)
    assert said.strip() == "42 3.0 0"
    assert "is not used, because it belongs to another user" in errors


@pytest.mark.skipif(os.name != "posix", reason="permissions as of Unix")
@pytest.mark.parametrize("kind", ["writable", "foreign"])
def test_a_file_that_somebody_else_may_have_written_is_refused(cache, tmp_path, kind):
    """Put there while the folder was writable for all: unpickling it would execute it, whatever its checksum."""
    if kind == "foreign" and os.geteuid() != 0:
        pytest.skip("only root can give files away")
    for path in files(cache, "nbc"):
        executed = tmp_path / "executed"
        payload = pickle.dumps(Payload(str(executed)))
        header = path.read_bytes()[len(kernel_cache._MAGIC) + 32 :].partition(b"\n")[0] + b"\n"
        digest = hashlib.sha256(header + payload).digest()
        path.write_bytes(kernel_cache._MAGIC + digest + header + payload)
        path.chmod(0o666) if kind == "writable" else os.chown(path, 12345, 12345)
    process = start(tmp_path, textwrap.dedent(CALL), cache)
    said, errors = process.communicate(timeout=300)
    assert said.strip() == "42 3.0 0"
    assert not executed.exists()
    reason = "other users can write there" if kind == "writable" else "it belongs to another user"
    assert errors.count(f"is not used, because {reason}; it is compiled again.") == 2
    assert run(tmp_path, CALL, cache) == "42 3.0 2"  # replaced by the user's own


class Payload:
    """Creates a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


@pytest.mark.skipif(os.name != "posix", reason="permissions as of Unix")
def test_files_and_folders_are_for_the_user_alone(tmp_path):
    run(tmp_path, CALL, tmp_path / "cache", before=lambda: os.umask(0))
    made = [path for path in (tmp_path / "cache").rglob("*") if path.is_dir() or path.suffix == ".nbc"]
    assert len(made) > 2
    assert not [path for path in made if path.stat().st_mode & 0o022]


def test_processes_that_compile_at_once_share_it(tmp_path):
    script = textwrap.dedent(
        KERNEL + "    print([twice(x) for x in eval(sys.argv[2])], sum(twice.stats.cache_hits.values()))"
    )
    asked = ["[1, 1.5]", "[2.5, 3j]", "[3j, 2]"]  # other types in another order, so that their files have other numbers
    said = [output(p) for p in [start(tmp_path, script, tmp_path / "cache", x) for x in asked]]
    assert [text[: text.index("]") + 1] for text in said] == ["[2, 3.0]", "[5.0, 6j]", "[6j, 4]"]
    assert run(tmp_path, script, tmp_path / "cache", "[1, 1.5, 3j]") == "[2, 3.0, 6j] 3"


PARTS = """
    import sys
    from tendril.core.compile import cache_folder
    cache_folder.set_cache_folder(sys.argv[1])
    from tendril.core.compile.jit import kernel, part

    @part
    def power(x, n, negative):
        y = 1.0
        for _ in range(n):
            y *= x
        return -y if negative else y

    @part
    def squares(x, n):
        return power(x, 2, False) + power(x, n, n > 2)

    @kernel
    def both(x, n):
        return squares(x, 2) + squares(x, 3) + power(x, n, True)

    print(both(3.0, 2), *[len(f.overloads) for f in (power, squares, both)])
    print(*[f.overloads[f.signatures[0]].library._codegen._engine.is_symbol_defined(
        f.overloads[f.signatures[0]].fndesc.llvm_func_name) for f in (power, both) if f.overloads])
"""


def test_parts_are_compiled_once_whatever_constants_they_are_called_with(tmp_path):
    said = run(tmp_path, PARTS, tmp_path / "cache").split("\n")
    assert said == ["-9.0 1 1 1", "False True"]
    assert {path.name.partition("-")[0] for path in files(tmp_path / "cache", "nbc")} == {"both"}


GROUPS = """
    import sys
    from typing import NamedTuple
    import numpy as np
    from tendril.core.compile import cache_folder
    cache_folder.set_cache_folder(sys.argv[1])
    from tendril.core.compile.jit import kernel, part

    class Inner(NamedTuple):
        a: np.ndarray
        b: np.ndarray

    class Outer(NamedTuple):
        x: np.ndarray
        inner: Inner
        h: float
        nothing: object

    @part
    def advance(group, i):
        inner, x = group.inner, group.x
        inner.a[i] += x[i, 0] * group.h
        return inner.b[i]

    @part
    def difference(first, second, i):
        one, other = first, second
        return one.a[i] - other.a[i]

    @kernel
    def everything(group, other, count):
        total = 0.0
        inner = group.inner
        made = Inner(group.inner.b, other.inner.a)
        for i in range(count):
            either = group if i % 2 else other
            total += advance(group, i) + difference(inner, other.inner, i) + 2.0 * difference(made, inner, i)
            total += 3.0 * advance(either, i)
        return total

    def make(seed):
        random = np.random.default_rng(seed)
        return Outer(random.random((5, 2)), Inner(random.random(5), random.random(5)), 0.5, None)

    group, other = make(1), make(2)
    arrays = group.x, group.inner.a, other.inner.b
    before = [sys.getrefcount(array) for array in arrays]
    found = [everything(group, other, 5) for _ in range(50)]
    assert [sys.getrefcount(array) for array in arrays] == before
    plain, other_plain = make(1), make(2)
    compiled, everything = everything, everything.py_func
    advance, difference = advance.py_func, difference.py_func
    expected = [everything(plain, other_plain, 5) for _ in range(50)]
    print(np.allclose(found, expected, rtol=1e-14), np.allclose(group.inner.a, plain.inner.a, rtol=1e-14))
    for wrong in (group._replace(inner=(1, 2, 3)), group._replace(x=np.zeros((5, 2), np.float32)), group._replace(x=3.0)):
        try:
            list(compiled.overloads.values())[0].entry_point(wrong, other, 5)
        except (TypeError, ValueError) as error:
            print(error)
"""


def test_groups_of_arrays_are_handed_on_as_they_are(tmp_path):
    """Whatever a group is: an argument, within one, made here, one of two; and none of its arrays is kept or lost."""
    said = run(tmp_path, GROUPS, tmp_path / "cache").split("\n")
    other_type = "an array of another type was expected"
    assert said == ["True True", "a group of 2 was expected", other_type, other_type]


ROPE = """
    import sys
    {without}
    import numpy as np
    from tendril.core import Material, Mesh, Rod, Scene, Simulation
    from tendril.core.compile import jit
    scene = Scene(air_density=1.2, rod_contact=True)
    points = np.linspace((0.0, 0.0, 0.05), (0.3, 0.0, 0.05), 4)
    for shift in (0.0, 0.021):
        rope = scene.add(Rod.from_points(points + (0, 0, shift), radius=0.01, material=Material.preset("nylon rope")))
    scene.clamp(0, "start")
    scene.collide(Mesh([(-1, -1, 0), (1, -1, 0), (0, 1, 0)], [(0, 1, 2)]))
    frame = Simulation(scene, 24.0, substeps=1, threads=1).step_frame()
    print(jit.why_not_compiled())
    np.save(sys.argv[1], np.concatenate([frame.positions(0), frame.positions(1)]))
"""


def test_without_numba_it_computes_the_same(tmp_path):
    assert run(tmp_path, ROPE.format(without=""), tmp_path / "with.npy") == ""
    said = run(tmp_path, ROPE.format(without='sys.modules["numba"] = None'), tmp_path / "without.npy")
    assert said == "ModuleNotFoundError: import of numba halted; None in sys.modules"
    with_it, without = np.load(tmp_path / "with.npy"), np.load(tmp_path / "without.npy")
    assert np.abs(with_it[4:, 2] - 0.071).max() > 1e-3  # it has moved
    np.testing.assert_allclose(without, with_it, atol=1e-8)


def test_a_numba_that_is_too_old_is_not_used(tmp_path):
    script = """
    import sys, types
    sys.modules["numba"] = types.SimpleNamespace(__version__="0.56.4")
    from tendril.core.compile import jit
    print(jit.why_not_compiled(), jit.kernel(lambda x: 2 * x)(21))
    """
    assert run(tmp_path, script) == "version 0.56.4 is too old, 0.60 is needed 42"


def test_numba_that_is_switched_off_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    script = """
    from tendril.core.compile import jit
    print(jit.why_not_compiled(), jit.kernel(lambda x: 2 * x)(21))
    """
    assert run(tmp_path, script) == "the environment variable NUMBA_DISABLE_JIT is set 42"
    rope = """
    from tendril.core import Material, Rod, Scene, Simulation
    scene = Scene()
    scene.add(Rod.from_points([(0, 0, 0), (0.1, 0, 0), (0.2, 0, 0)], radius=0.01, material=Material.preset("rubber")))
    print(Simulation(scene, substeps=1).step_frame().report.converged)
    """
    assert run(tmp_path, rope) == "True"
    told = subprocess.run([sys.executable, "-m", "tendril", "info"], capture_output=True, text=True, check=True).stdout
    assert "compiled code  none, and simulations are slow: the environment variable NUMBA_DISABLE_JIT is set" in told
