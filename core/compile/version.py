"""The versions of Tendril and of what compiles its kernels."""

from __future__ import annotations

import platform
import tomllib
from pathlib import Path

import numpy as np


def _read() -> str:
    """The version of Tendril is written in one place: the manifest that Blender reads."""
    manifest = Path(__file__).resolve().parents[2] / "blender_manifest.toml"
    try:
        return str(tomllib.loads(manifest.read_text(encoding="utf-8"))["version"])
    except (OSError, ValueError, KeyError):
        return "unknown"


VERSION = _read()


def compiler_identity() -> tuple[str, ...]:
    """Versions of numba, Python and numpy, and the processor: compiled code is valid for one of these. Does not import numba."""
    try:
        from importlib.metadata import version  # late, for the add-on: it imports much

        from llvmlite import binding

        return version("numba"), platform.python_version(), np.__version__, binding.get_host_cpu_name()
    except Exception:  # there is no working compiler
        return "", "", "", ""
