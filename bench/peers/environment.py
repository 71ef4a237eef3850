"""Virtual environments of the peers, separate from Tendril's: created on first use and whenever their requirements change.

Each has a file of requirements of its own, because newton and dismech-newton need different versions of the same packages.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...packaging.pythons import find

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".venv-peers"
TIMEOUT = 900.0  # s, far beyond the slowest workload


@dataclass(frozen=True)
class Peer:
    """A program, with the script that runs workloads on it and the environment it runs in."""

    name: str
    script: str
    environment: str  # its requirements are requirements/peers-ENVIRONMENT.txt; empty: Tendril's own environment
    workloads: tuple[str, ...]
    python: str = ""  # Python series, if another than Tendril's
    arguments: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        return FOLDER / self.environment

    @property
    def interpreter(self) -> str:
        return str(self.folder / "bin" / "python") if self.environment else sys.executable


class PeerError(RuntimeError):
    """A peer gave no result; the message is the reason, in one sentence."""


def prepare(peers: Sequence[Peer]) -> dict[str, str]:
    """Creates the environments of the peers if necessary; returns the reason for each peer whose environment is missing. One that
    could not be created is tried again at the next call."""
    missing: dict[str, str] = {}
    reasons: dict[str, str] = {}
    for peer in peers:
        if peer.environment and peer.environment not in reasons:
            try:
                _create(peer)
                reasons[peer.environment] = ""
            except PeerError as error:
                reasons[peer.environment] = f"not installed: {error}"
        if reasons.get(peer.environment):
            missing[peer.name] = reasons[peer.environment]
    return missing


def _create(peer: Peer) -> None:
    """An environment with the required packages, from which `tendril` can be imported, marked with the requirements it was made
    for."""
    requirements = ROOT / "requirements" / f"peers-{peer.environment}.txt"
    created, wanted = peer.folder / "created", requirements.read_text(encoding="utf-8")
    if created.exists() and created.read_text(encoding="utf-8") == wanted:
        return
    base = find(peer.python) if peer.python else sys.executable
    if base is None:
        raise PeerError(f"there is no Python {peer.python} on this machine")
    print(f"Setting up {peer.folder.name} in {FOLDER.name}; this takes about a minute.", flush=True)
    shutil.rmtree(peer.folder, ignore_errors=True)
    _call([base, "-m", "venv", str(peer.folder)])
    pip = [peer.interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _call([*pip, "--requirement", str(requirements)])
    # The repository root is the package `tendril`: a link by that name makes it importable there too.
    link = peer.folder / "link"
    link.mkdir()
    (link / "tendril").symlink_to(ROOT, target_is_directory=True)
    site = _call([peer.interpreter, "-c", "import site; print(site.getsitepackages()[0])"]).strip()
    Path(site, "tendril.pth").write_text(f"{link}\n", encoding="utf-8")
    created.write_text(wanted, encoding="utf-8")


def run(peer: Peer, workload: str) -> dict[str, Any]:
    """The result that a peer's script prints for a workload."""
    command = [peer.interpreter, "-m", f"tendril.bench.peers.{peer.script}", *peer.arguments, workload]
    # Blender prints a line when it ends.
    lines = [line for line in _call(command).splitlines() if line.startswith("{")]
    try:
        result: dict[str, Any] = json.loads(lines[-1])
    except (IndexError, ValueError):
        raise PeerError(f"{peer.script} printed no result") from None
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
