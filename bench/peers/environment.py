"""The peers' own virtual environment, made the first time and whenever requirements/peers.txt changes."""

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
PATIENCE = 900.0  # s: far beyond the slowest workload


class PeerError(RuntimeError):
    """Why a peer gave no result, in one sentence."""


def prepare() -> None:
    """Makes the environment, unless it stands there as the requirements ask for."""
    ready = FOLDER / "ready"
    wanted = REQUIREMENTS.read_text(encoding="utf-8")
    if ready.exists() and ready.read_text(encoding="utf-8") == wanted:
        return
    print(f"Setting up {FOLDER.name}, once; this takes a minute.", flush=True)
    shutil.rmtree(FOLDER, ignore_errors=True)
    _call([sys.executable, "-m", "venv", str(FOLDER)])
    _call([str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(REQUIREMENTS)])
    # The repository root is the package `tendril`: a link by that name makes it importable there too.
    link = FOLDER / "link"
    link.mkdir()
    (link / "tendril").symlink_to(Path("..") / "..", target_is_directory=True)
    site = _call([str(PYTHON), "-c", "import site; print(site.getsitepackages()[0])"]).strip()
    Path(site, "tendril.pth").write_text(f"{link}\n", encoding="utf-8")
    ready.write_text(wanted, encoding="utf-8")


def run(script: str, workload: str) -> dict[str, Any]:
    """What a peer's script prints of a workload."""
    printed = _call([str(PYTHON), "-m", f"tendril.bench.peers.{script}", workload]).strip()
    try:
        outcome: dict[str, Any] = json.loads(printed.splitlines()[-1])
    except (IndexError, ValueError):
        raise PeerError(f"{script} printed no result") from None
    return outcome


def _call(command: list[str]) -> str:
    # The scripts' matrices are small: more threads for linear algebra only wait for each other on a busy machine.
    surroundings = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=surroundings, capture_output=True, text=True, timeout=PATIENCE, check=True
        )
    except subprocess.CalledProcessError as error:
        lines = [line.strip() for line in error.stderr.splitlines() if line.strip()]
        raise PeerError(lines[-1] if lines else f"it stopped with code {error.returncode}") from None
    except subprocess.TimeoutExpired:
        raise PeerError(f"it took longer than {PATIENCE:g} s") from None
    except OSError as error:
        raise PeerError(str(error)) from None
    return done.stdout
