"""Compiles kernels in another Python process, so that a program with a window goes on undisturbed.

A thread of the same process would hold the interpreter's lock for up to half a second at a time, in garbage collections of the
compiler's data. The process tells its progress on its standard output, line by line, and ends when nobody reads it.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAME = "tendril"  # of the package there; compiled code is found again whatever it is called here


def compile_apart(
    models: Iterable[str], contact: bool, bodies: bool, folder: Path, progress: Callable[[float], None]
) -> bool:
    """Compiles what `warm_up` does into a cache folder, and waits for it. False if that did not work out."""
    asked = {"path": sys.path, "models": list(models), "contact": contact, "bodies": bodies, "folder": str(folder)}
    no_window = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # of a console, on Windows
    try:
        with subprocess.Popen(
            [sys.executable, "-I", str(Path(__file__).resolve()), json.dumps(asked)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, creationflags=no_window,
        ) as process:  # fmt: skip
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("done "):
                    progress(float(line.split()[1]))
    except (OSError, ValueError):
        return False
    return process.returncode == 0


def main() -> None:
    asked = json.loads(sys.argv[1])
    sys.path[:] = asked["path"]
    if hasattr(os, "nice"):
        os.nice(5)  # the window comes first
    spec = importlib.util.spec_from_file_location(NAME, ROOT / "__init__.py", submodule_search_locations=[str(ROOT)])
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = package
    spec.loader.exec_module(package)
    cache_folder = importlib.import_module(f"{NAME}.core.compile.cache_folder")
    cache_folder.set_cache_folder(asked["folder"])
    importlib.import_module(f"{NAME}.core")
    warm_up = importlib.import_module(f"{NAME}.core.run.warm_up")
    warm_up.warm_up(asked["models"], asked["contact"], asked["bodies"], lambda part: print("done", part, flush=True))


if __name__ == "__main__":
    main()
