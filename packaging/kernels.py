"""Compiles the kernels of a package in advance: `python kernels.py TREE CACHE`, by the Python that will run them.

TREE is the package's folder, named tendril; kernels go to its core/kernels. CACHE keeps compiled code between builds. What is
compiled follows from the registry of models and the small scenes of `core/run/warm_up_scenes.py`.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from types import CodeType
from typing import Any

BUILT_WITH_NUMPY = {"3.11": "1.26.4", "3.13": "2.3.4"}  # of the official Blenders


def add_kernels(python: str, tree: Path, cache: Path) -> None:
    """Runs this file with an interpreter. Code is generated for the processor of `BASELINES`, not for that of this machine."""
    sys.path.insert(0, str(tree.parent))
    from tendril.core.compile.bundle import BASELINES

    name, features = BASELINES[platform.machine()]
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("NUMBA_", "PYTHON"))}
    environment |= {
        "NUMBA_CPU_NAME": name,
        "NUMBA_CPU_FEATURES": ",".join(f"+{feature}" for feature in features.split()),
        "NUMBA_CACHE_DIR": str(cache.resolve()),
        "PYTHONPATH": str(tree.resolve().parent),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    here = Path(__file__).resolve()
    for command in ([here.with_name("compile_kernels.py")], [here, tree.resolve()]):
        subprocess.run([python, *map(str, command)], check=True, env=environment, cwd=tree.parent)


def compiler_python(series: str, folder: Path, wheels: dict[str, str]) -> str | None:
    """An interpreter of a Python series with the compiler, in a virtual environment if it is not this one; None if this machine
    has none."""
    from tendril.packaging import pythons  # late: this file is also run by itself

    if series == f"{sys.version_info[0]}.{sys.version_info[1]}":
        return sys.executable
    inside = folder.absolute() / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not (folder / "ready").exists():
        found = pythons.find(series)
        if found is None:
            return None
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([found, "-m", "venv", str(folder)], check=True)
        wanted = [f"{name}=={version}" for name, version in wheels.items()] + [f"numpy=={BUILT_WITH_NUMPY[series]}"]
        subprocess.run(
            [str(inside), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted], check=True
        )
        (folder / "ready").touch()
    return str(inside)


def compile_all(tree: Path) -> None:
    """Copies what a process that uses all kernels has read from the cache, or has compiled because it was missing there."""
    from numba.core.registry import cpu_target
    from tendril.core.compile import bundle, kernel_cache
    from tendril.core.compile.cache_folder import cache_folder
    from tendril.core.run import warm_up

    ready = warm_up.compile_all()
    target = tree / "core" / "kernels"
    called = {Path(one._cache.cache_path) for one in called_kernels()}
    for path in sorted(kernel_cache.used):
        to = target / path.relative_to(cache_folder())
        to.parent.mkdir(parents=True, exist_ok=True)
        kernel_cache.copy(path, to, linkable=path.parent in called)
    description = {
        **bundle.here(),
        "features": bundle.BASELINES[platform.machine()][1] if sys.platform != "darwin" else "",
        "target": repr(cpu_target.target_context.codegen().magic_tuple()),
        "identity": bundle.source_identity(),
        "ready": ready,
    }
    (target / bundle.DESCRIPTION).write_text(json.dumps(description, indent=1), encoding="utf-8")
    size = sum(path.stat().st_size for path in target.rglob("*.nbc"))
    print(f"{len(kernel_cache.used)} kernels, {size / 1e6:.1f} MB, for Python {description['Python']}")


def called_kernels() -> set[Any]:
    """Kernels that other functions of the core call, and into which they must be linked when they are compiled."""
    from numba.core.dispatcher import Dispatcher
    from tendril.core.compile.kernel_cache import KernelCache

    found = set()
    for name, module in list(sys.modules.items()):
        if name.startswith("tendril.core"):
            functions = {key: value for key, value in vars(module).items() if isinstance(value, Dispatcher)}
            used = {name for function in functions.values() for name in _names(function.py_func.__code__)}
            found |= {function for key, function in functions.items() if key in used}
    return {one for one in found if isinstance(one._cache, KernelCache)}


def _names(code: CodeType) -> set[str]:
    return set(code.co_names).union(*(_names(inner) for inner in code.co_consts if isinstance(inner, CodeType)))


if __name__ == "__main__":
    compile_all(Path(sys.argv[1]))
