"""The packages to build: one per platform and Python series, because wheels are specific to both.

The smallest supported Blender version is `blender_version_min` of the manifest; all other versions and platforms are defined here.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MANIFEST = ROOT / "blender_manifest.toml"

# Python series, and the first Blender version that has, or may have, another one. Each series begins where the previous one ends.
PYTHONS = {"3.11": "5.1.0", "3.13": "6.0.0"}

# Blender's name of a platform, and the tags of compatible wheels, best first.
PLATFORMS = {
    "linux-x64": ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"),
    "windows-x64": ("win_amd64",),
    "macos-arm64": ("macosx_12_0_arm64", "macosx_11_0_arm64"),
    "macos-x64": ("macosx_10_15_x86_64", "macosx_10_13_x86_64"),
}

# NumPy is not bundled: Blender has its own.
BUNDLED = ("numba", "llvmlite", "scipy")
# The last versions with wheels for a platform, where requirements/run.txt names newer ones.
OLDER = {"macos-x64": {"numba": "0.62.1", "llvmlite": "0.45.1"}}

MAX_SIZE = 120_000_000  # bytes, of a package


@dataclass(frozen=True)
class Target:
    platform: str
    python: str
    blender_min: str
    blender_max: str  # exclusive

    @property
    def wheels(self) -> dict[str, str]:
        """Names and versions of the bundled wheels."""
        lines = (ROOT / "requirements" / "run.txt").read_text(encoding="utf-8").split()
        pinned = dict(line.split("==") for line in lines if "==" in line)
        return {name: pinned[name] for name in BUNDLED} | OLDER.get(self.platform, {})

    @property
    def file_name(self) -> str:
        first = ".".join(self.blender_min.split(".")[:2])
        return f"tendril-{manifest()['version']}-blender{first}-{self.platform}.zip"


def manifest() -> dict[str, object]:
    return tomllib.loads(MANIFEST.read_text(encoding="utf-8"))


def all_targets() -> list[Target]:
    found = []
    first = str(manifest()["blender_version_min"])
    for python, end in PYTHONS.items():
        found += [Target(platform, python, first, end) for platform in PLATFORMS]
        first = end
    return found


def python_of(blender: str) -> str:
    """The Python series of an official Blender, given as "5.0"."""
    return next(python for python, end in PYTHONS.items() if _numbers(blender) < _numbers(end))


def target_for(platform: str, python: str) -> Target:
    return next(target for target in all_targets() if (target.platform, target.python) == (platform, python))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.split(".")[:2])
