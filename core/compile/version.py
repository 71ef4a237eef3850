"""The version of Tendril, which is written in one place: the manifest that Blender reads."""

from __future__ import annotations

import tomllib
from pathlib import Path


def _read() -> str:
    manifest = Path(__file__).resolve().parents[2] / "blender_manifest.toml"
    try:
        return str(tomllib.loads(manifest.read_text(encoding="utf-8"))["version"])
    except (OSError, ValueError, KeyError):
        return "unknown"


VERSION = _read()
