"""Finds interpreters of a Python series on this machine: `python -m tendril.packaging.pythons 3.13` prints the path of one.

Looks at the search path, at the launcher of Windows, and where pyenv and uv install. The environment variable TENDRIL_PYTHON_3_13
(TENDRIL_PYTHON_3_11) names an interpreter that is preferred.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from .targets import python_of

_ASK = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2]); print(sys.executable)"


def variable_of(series: str) -> str:
    """The environment variable that names an interpreter of a series."""
    return "TENDRIL_PYTHON_" + series.replace(".", "_")


@cache
def find(series: str) -> str | None:
    """The path of an interpreter that can make virtual environments; None if this machine has none."""
    for command in _candidates(series):
        try:
            done = subprocess.run([*command, "-c", _ASK], capture_output=True, text=True, timeout=60)
        except (OSError, subprocess.TimeoutExpired):
            continue
        # A launcher may exist without the Python that it names, so only the answer counts.
        found = done.stdout.split("\n")
        if done.returncode == 0 and found[0] == series:
            return found[1]
    return None


def _candidates(series: str) -> Iterator[list[str]]:
    asked = os.environ.get(variable_of(series))
    if asked:
        yield [asked]
    if series == f"{sys.version_info[0]}.{sys.version_info[1]}":
        yield [sys.executable]
    on_path = shutil.which(f"python{series}")
    if on_path:
        yield [on_path]
    if os.name == "nt":
        yield ["py", f"-{series}"]
    name = "python.exe" if os.name == "nt" else f"bin/python{series}"
    for folder in _version_managers():
        if folder.is_dir():
            inside = [path for path in folder.iterdir() if series in path.name]
            yield from ([str(path / name)] for path in sorted(inside, reverse=True) if (path / name).exists())


def _version_managers() -> list[Path]:
    """The folders that hold one folder per installed Python."""
    home, data = Path.home(), os.environ.get("XDG_DATA_HOME")
    return [
        Path(os.environ.get("PYENV_ROOT", home / ".pyenv")) / "versions",
        Path(os.environ.get("UV_PYTHON_INSTALL_DIR", Path(data or home / ".local" / "share") / "uv" / "python")),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tendril.packaging.pythons", description=__doc__)
    parser.add_argument("series", nargs="?", help="Python series, such as 3.13")
    parser.add_argument("--blender", help="version of Blender whose Python series is wanted instead, such as 5.2")
    asked = parser.parse_args()
    series = python_of(asked.blender) if asked.blender else asked.series or parser.error("which series?")
    found = find(series)
    if found is None:
        print(f"There is no Python {series} here: install it, or name one in {variable_of(series)}.", file=sys.stderr)
        return 1
    print(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
