"""Kernels that come with the package: used where they fit, and never where they do not."""

import json
import platform
import shutil
import textwrap

import pytest
from tendril.core.compile import bundle
from tendril.tests.core.test_compiled_code import files, start

SCRIPT = textwrap.dedent("""
    import json, os, sys
    from pathlib import Path
    from tendril.core.compile import bundle, cache_folder, kernel_cache
    folder, cache, changes = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
    bundle.FOLDER = folder
    cache_folder.set_cache_folder(cache)
    if "lacks" in changes:
        has = bundle.host_features()
        bundle.host_features = lambda: {**has, changes["lacks"]: False}
    from tendril.core.compile.jit import kernel

    @kernel
    def twice(x):
        return 2 * x

    print(twice(21), sum(twice.stats.cache_hits.values()), [str(path.parents[1]) for path in kernel_cache.used])
    if "make" in changes:
        from numba.core.registry import cpu_target
        target = repr(cpu_target.target_context.codegen().magic_tuple())
        made = {**bundle.here(), "features": "sse2 avx2" if "64" in bundle.here()["system"] else "",
                "target": target, "identity": bundle.source_identity(), "ready": []}
        (folder / bundle.DESCRIPTION).write_text(json.dumps(made))
""")


def run(folder, cache, script=SCRIPT, **changes):
    process = start(folder, script, folder / "kernels", cache, json.dumps(changes))
    said, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return said.strip(), errors


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compiled")
    run(folder, folder / "kernels", make=True)
    assert len(files(folder / "kernels", "nbc")) == 1
    return folder / "kernels"


@pytest.fixture
def package(compiled, tmp_path):
    """A folder with a kernel compiled in advance, and a description."""
    shutil.copytree(compiled, tmp_path / "kernels")
    return tmp_path


def describe(package, **changes):
    path = package / "kernels" / bundle.DESCRIPTION
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def assert_used(package):
    said, errors = run(package, package / "cache")
    assert said == f"42 1 ['{package / 'kernels'}']"
    assert errors == ""
    assert not files(package / "cache", "nbc")


def assert_compiled_once(package, message, **changes):
    said, errors = run(package, package / "cache", **changes)
    assert said == f"42 0 ['{package / 'cache'}']"
    assert errors.count("Tendril: ") == 1
    assert message in errors
    said, _ = run(package, package / "cache", **changes)
    assert said == f"42 1 ['{package / 'cache'}']"


def test_it_is_used_and_nothing_is_written(package):
    assert_used(package)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="features of these processors")
def test_not_on_a_processor_that_lacks_a_feature(package):
    assert_compiled_once(
        package, "are for a processor with avx2; the solver is compiled on this machine, once", lacks="avx2"
    )


@pytest.mark.parametrize(("name", "value"), [("numba", "0.61.0"), ("Python", "3.10"), ("system", "beos-ppc")])
def test_not_for_another_compiler_python_or_system(package, name, value):
    describe(package, **{name: value})
    assert_compiled_once(package, f"are for {name} {value} and not for")


def test_not_for_modified_sources(package):
    describe(package, identity="0123456789abcdef")
    assert_compiled_once(
        package, "are for other sources than these, which somebody has modified; the solver is compiled"
    )


def test_not_if_the_description_is_damaged(package):
    (package / "kernels" / bundle.DESCRIPTION).write_text("{")
    assert_compiled_once(package, "can't be read")


def test_not_if_the_file_is_damaged(package):
    (path,) = files(package / "kernels", "nbc")
    content = path.read_bytes()
    path.write_bytes(content[:-100] + bytes(100))
    said, errors = run(package, package / "cache")
    assert said == f"42 0 ['{package / 'cache'}']"
    assert "is damaged (its checksum is wrong)" in errors


def test_not_if_the_source_was_modified(package):
    said, _ = run(package, package / "cache", SCRIPT.replace("2 * x", "3 * x"))
    assert said == f"63 0 ['{package / 'cache'}']"
    said, _ = run(package, package / "other")  # as it was
    assert said == f"42 1 ['{package / 'kernels'}']"


def test_a_package_without_kernels_says_nothing(package):
    shutil.rmtree(package / "kernels")
    said, errors = run(package, package / "cache")
    assert said == f"42 0 ['{package / 'cache'}']"
    assert errors == ""


LINKED = textwrap.dedent("""
    import sys
    from pathlib import Path
    from tendril.core.compile import cache_folder, kernel_cache
    cache_folder.set_cache_folder(sys.argv[2])
    from tendril.core.compile.jit import kernel

    @kernel
    def twice(x):
        return 2 * x

    @kernel
    def four_times(x):
        return twice(twice(x))

    if "alone" in sys.argv[3]:
        print(twice(21), sum(twice.stats.cache_hits.values()))
    if "caller" in sys.argv[3]:
        print(four_times(21), sum(twice.stats.cache_hits.values()), sum(four_times.stats.cache_hits.values()))
    if "copy" in sys.argv[3]:
        for path in list(kernel_cache.used):
            kernel_cache.copy(path, path, linkable=False)
""")


def test_a_kernel_without_intermediate_code_is_small_and_never_linked(tmp_path):
    said, _ = run(tmp_path, tmp_path / "cache", LINKED, alone=True)
    assert said == "42 0"
    (path,) = files(tmp_path / "cache", "nbc")
    size = path.stat().st_size
    run(tmp_path, tmp_path / "cache", LINKED, alone=True, copy=True)
    assert path.stat().st_size < 0.8 * size
    said, errors = run(tmp_path, tmp_path / "cache", LINKED, alone=True)
    assert (said, errors) == ("42 1", "")
    said, errors = run(tmp_path, tmp_path / "cache", LINKED, caller=True)  # compiles both
    assert (said, errors) == ("84 0 0", "")
    said, errors = run(tmp_path, tmp_path / "cache", LINKED, caller=True, alone=True)
    assert (said, errors) == ("42 1\n84 1 1", "")
