"""The package in Blenders that have nothing but what comes with Blender, each in its own processes: `make test-package`."""

import os
import subprocess
from pathlib import Path

import pytest
from tendril.packaging.package import OUT, this_platform
from tendril.packaging.targets import ROOT, all_targets

JOURNEY = Path(__file__).with_name("journey.py")
HERE = next(target for target in all_targets() if (target.platform, target.python) == (this_platform(), "3.11"))


@pytest.mark.parametrize("blender", os.environ.get("BLENDERS", "5.0").split())
def test_install_use_and_uninstall(blender, tmp_path):
    python = ROOT / ".venv-blenders" / blender / "bin" / "python"
    for step in ("install", "again", "again", "uninstall"):
        command = [python, "-I", JOURNEY, step, tmp_path, *([ROOT / OUT / HERE.file_name] if step == "install" else [])]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"{step}: done" in done.stdout, done.stdout + done.stderr
        assert "Traceback" not in done.stdout + done.stderr, done.stdout + done.stderr
        told = [
            line for line in done.stdout.splitlines() if " s of the processor" in line or line.startswith("Blender ")
        ]
        print("", *told, sep=f"\n{blender} {step}: ", end="", flush=True)
