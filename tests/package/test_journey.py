"""The package in unmodified Blender environments of several versions, each in its own processes: `make test-package`."""

import os
import subprocess
import zipfile
from pathlib import Path

import pytest
from tendril.packaging.package import OUT, this_platform
from tendril.packaging.targets import ROOT, all_targets, manifest

JOURNEY = Path(__file__).with_name("journey.py")
HERE = next(target for target in all_targets() if (target.platform, target.python) == (this_platform(), "3.11"))


@pytest.fixture(scope="module")
def newer(tmp_path_factory):
    """The same package with another version."""
    path = tmp_path_factory.mktemp("newer") / "newer.zip"
    with zipfile.ZipFile(ROOT / OUT / HERE.file_name) as package, zipfile.ZipFile(path, "w") as copy:
        for name in package.namelist():
            content = package.read(name)
            if name == "blender_manifest.toml":
                content = content.replace(f'version = "{manifest()["version"]}"'.encode(), b'version = "99.0.0"')
            copy.writestr(name, content)
    return path


@pytest.mark.parametrize("blender", os.environ.get("BLENDERS", "5.0").split())
def test_install_use_and_uninstall(blender, newer, tmp_path):
    python = ROOT / ".venv-blenders" / blender / "bin" / "python"
    zips = {"install": [ROOT / OUT / HERE.file_name], "upgrade": [newer]}
    for step in ("install", "again", "again", "upgrade", "uninstall"):
        command = [python, "-I", JOURNEY, step, tmp_path, *zips.get(step, [])]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"{step}: done" in done.stdout, done.stdout + done.stderr
        assert "Traceback" not in done.stdout + done.stderr, done.stdout + done.stderr
        told = [
            line for line in done.stdout.splitlines() if " s of the processor" in line or line.startswith("Blender ")
        ]
        print("", *told, sep=f"\n{blender} {step}: ", end="", flush=True)
