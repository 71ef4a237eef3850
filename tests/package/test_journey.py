"""The package in unmodified Blender environments of several versions, each in its own processes: `make test-package`."""

import os
import subprocess
import zipfile
from pathlib import Path

import pytest
from tendril.packaging.package import package_here
from tendril.packaging.targets import ROOT, manifest, python_of

JOURNEY = Path(__file__).with_name("journey.py")


def newer_than(path, folder):
    """The same package with another version."""
    newer = folder / "newer.zip"
    with zipfile.ZipFile(path) as package, zipfile.ZipFile(newer, "w") as copy:
        for name in package.namelist():
            content = package.read(name)
            if name == "blender_manifest.toml":
                content = content.replace(f'version = "{manifest()["version"]}"'.encode(), b'version = "99.0.0"')
            copy.writestr(name, content)
    return newer


@pytest.mark.parametrize("blender", os.environ.get("BLENDERS", "5.0").split())
def test_install_use_and_uninstall(blender, tmp_path):
    python = ROOT / ".venv-blenders" / blender / "bin" / "python"
    package = package_here(python_of(blender))
    zips = {"install": [package], "upgrade": [newer_than(package, tmp_path)]}
    for step in ("install", "again", "again", "upgrade", "uninstall"):
        command = [python, "-I", JOURNEY, step, tmp_path, *zips.get(step, [])]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"{step}: done" in done.stdout, done.stdout + done.stderr
        assert "Traceback" not in done.stdout + done.stderr, done.stdout + done.stderr
        told = [
            line for line in done.stdout.splitlines() if "s of processor time" in line or line.startswith("Blender ")
        ]
        print("", *told, sep=f"\n{blender} {step}: ", end="", flush=True)
