"""For pip. The repository root is the package `tendril`, and every folder of modules in these is a part of it."""

from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).resolve().parent
FOLDERS = [
    path.parent for part in ("addon", "core", "sample_scenes", "sweep") for path in (ROOT / part).rglob("__init__.py")
]

setup(packages=["tendril", *sorted(".".join(("tendril", *folder.relative_to(ROOT).parts)) for folder in FOLDERS)])
