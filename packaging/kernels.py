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
    subprocess.run(
        [python, str(Path(__file__).resolve()), str(tree.resolve())], check=True, env=environment, cwd=tree.parent
    )


def find_python(series: str, folder: Path, wheels: dict[str, str]) -> str | None:
    """An interpreter of a Python series with the compiler, in a virtual environment if it is not this one; None if this machine
    has none."""
    if series == f"{sys.version_info[0]}.{sys.version_info[1]}":
        return sys.executable
    inside = folder.absolute() / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not (folder / "ready").exists():
        found = shutil.which(f"python{series}")
        command = [found] if found else ["py", f"-{series}"] if os.name == "nt" else []
        if not command or subprocess.run([*command, "-c", ""], capture_output=True).returncode:
            return None
        subprocess.run([*command, "-m", "venv", str(folder)], check=True)
        wanted = [f"{name}=={version}" for name, version in wheels.items()] + [f"numpy=={BUILT_WITH_NUMPY[series]}"]
        subprocess.run(
            [str(inside), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted], check=True
        )
        (folder / "ready").touch()
    return str(inside)


def compile_all(tree: Path) -> None:
    from numba.core.registry import cpu_target
    from tendril.core.compile import bundle, kernel_cache
    from tendril.core.compile.cache_folder import cache_folder
    from tendril.core.run import warm_up

    ready = warm_up.compile_all()
    target = tree / "core" / "kernels"
    for path in sorted(kernel_cache.used):
        to = target / path.relative_to(cache_folder())
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to)
    description = {
        **bundle.here(),
        "features": bundle.BASELINES[platform.machine()][1] if sys.platform != "darwin" else "",
        "target": repr(cpu_target.target_context.codegen().magic_tuple()),
        "identity": warm_up.source_identity(),
        "ready": ready,
    }
    (target / bundle.DESCRIPTION).write_text(json.dumps(description, indent=1), encoding="utf-8")
    size = sum(path.stat().st_size for path in kernel_cache.used)
    print(f"{len(kernel_cache.used)} kernels, {size / 1e6:.1f} MB, for Python {description['Python']}")


if __name__ == "__main__":
    compile_all(Path(sys.argv[1]))
