"""Compiled code on disk: no disk is an error, two processes share one, and without numba there is none and all is as right."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

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
    assert len(files(tmp_path, "nbc")) == 2  # in a temporary folder


@pytest.mark.parametrize("damage", ["cut", "changed", "empty"])
def test_damaged_files_are_compiled_again_once(tmp_path, damage):
    run(tmp_path, CALL, tmp_path / "cache")
    for path in files(tmp_path / "cache", "nbc"):
        content = path.read_bytes()
        middle = len(content) // 2
        path.write_bytes(
            {
                "cut": content[:middle],
                "changed": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
                "empty": b"",
            }[damage]
        )
    process = start(tmp_path, textwrap.dedent(CALL), tmp_path / "cache")
    said, errors = process.communicate(timeout=300)
    assert said.strip() == "42 3.0 0"
    assert errors.count("is damaged (its checksum is wrong); it is compiled again, once.") == 2
    assert run(tmp_path, CALL, tmp_path / "cache") == "42 3.0 2"


def test_a_file_for_other_arguments_is_not_used(tmp_path):
    run(tmp_path, CALL, tmp_path / "cache")
    first, second = files(tmp_path / "cache", "nbc")
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)
    process = start(tmp_path, textwrap.dedent(CALL), tmp_path / "cache")
    said, errors = process.communicate(timeout=300)
    assert said.strip() == "42 3.0 0"
    assert "is for other arguments" in errors


@pytest.mark.skipif(os.name != "posix", reason="permissions as of Unix")
@pytest.mark.parametrize("mode", [0o777, 0o757])
def test_a_folder_that_others_can_write_is_refused(tmp_path, mode):
    run(tmp_path, CALL, tmp_path / "cache")
    (tmp_path / "cache").chmod(mode)
    process = start(tmp_path, textwrap.dedent(CALL), tmp_path / "cache")
    said, errors = process.communicate(timeout=300)
    assert said.strip() == "42 3.0 0"  # compiled, elsewhere
    assert "is not used, because other users can write there. Delete the folder" in errors
    (tmp_path / "cache").chmod(0o700)
    assert run(tmp_path, CALL, tmp_path / "cache") == "42 3.0 2"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give folders away")
def test_a_folder_of_another_user_is_refused(tmp_path):
    run(tmp_path, CALL, tmp_path / "cache")
    os.chown(tmp_path / "cache", 12345, 12345)
    process = start(tmp_path, textwrap.dedent(CALL), tmp_path / "cache")
    said, errors = process.communicate(timeout=300)
    assert said.strip() == "42 3.0 0"
    assert "is not used, because it belongs to another user" in errors


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
