"""Virtual environment of the peers, separate from Tendril's: created on first use and whenever requirements/peers.txt changes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = ROOT / "requirements" / "peers.txt"
FOLDER = ROOT / ".venv-peers"
PYTHON = FOLDER / "bin" / "python"
TIMEOUT = 900.0  # s, far beyond the slowest workload


class PeerError(RuntimeError):
    """A peer gave no result; the message is the reason, in one sentence."""


def prepare(packages: list[str]) -> dict[str, str]:
    """Creates the environment if necessary and installs the packages; returns the reason for each package that is missing.

    Packages are installed one at a time, so that one that cannot be installed does not exclude the others. A missing package is
    tried again at the next call.
    """
    try:
        _create()
    except PeerError as error:
        return dict.fromkeys(packages, f"{FOLDER.name} could not be created: {error}")
    missing = {}
    for package in packages:
        try:
            _install(package)
        except PeerError as error:
            missing[package] = f"{package} could not be installed: {error}"
    return missing


def _create() -> None:
    """An environment without packages, from which `tendril` can be imported, marked with the requirements it was created for."""
    created = FOLDER / "created"
    wanted = REQUIREMENTS.read_text(encoding="utf-8")
    if created.exists() and created.read_text(encoding="utf-8") == wanted:
        return
    print(f"Setting up {FOLDER.name}; this takes about a minute the first time.", flush=True)
    shutil.rmtree(FOLDER, ignore_errors=True)
    _call([sys.executable, "-m", "venv", str(FOLDER)])
    # The repository root is the package `tendril`: a link by that name makes it importable there too.
    link = FOLDER / "link"
    link.mkdir()
    (link / "tendril").symlink_to(Path("..") / "..", target_is_directory=True)
    site = _call([str(PYTHON), "-c", "import site; print(site.getsitepackages()[0])"]).strip()
    Path(site, "tendril.pth").write_text(f"{link}\n", encoding="utf-8")
    created.write_text(wanted, encoding="utf-8")


def _install(package: str) -> None:
    installed = FOLDER / f"installed-{package}"
    if installed.exists():
        return
    # The requirements are constraints here: they fix all versions, but only the package and what it needs are installed.
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _call([*pip, "--constraint", str(REQUIREMENTS), "numpy", "scipy", package])
    installed.touch()


def run(script: str, workload: str) -> dict[str, Any]:
    """The result that a peer's script prints for a workload."""
    printed = _call([str(PYTHON), "-m", f"tendril.bench.peers.{script}", workload]).strip()
    try:
        result: dict[str, Any] = json.loads(printed.splitlines()[-1])
    except (IndexError, ValueError):
        raise PeerError(f"{script} printed no result") from None
    return result


def _call(command: list[str]) -> str:
    # The matrices in the scripts are small: with more BLAS threads they would only wait for each other on a busy machine.
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    # Packages of the calling environment (PYTHONPATH) must not shadow those of the peers.
    environment.pop("PYTHONPATH", None)
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=TIMEOUT, check=True
        )
    except subprocess.CalledProcessError as error:
        lines = [line.strip() for line in error.stderr.splitlines() if line.strip()]
        raise PeerError(lines[-1] if lines else f"it stopped with code {error.returncode}") from None
    except subprocess.TimeoutExpired:
        raise PeerError(f"it took longer than {TIMEOUT:g} s") from None
    except OSError as error:
        raise PeerError(str(error)) from None
    return done.stdout
