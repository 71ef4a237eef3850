"""First play of six scenes in a fresh Blender: no kernel is compiled, and the first frame appears at once."""

import os
import subprocess
from pathlib import Path

import pytest
from tendril.packaging.package import package_here
from tendril.packaging.targets import ROOT, python_of

SCRIPT = Path(__file__).with_name("first_play.py")
SCENES = ("rope", "rope_and_collider", "hair", "net", "rope_and_body", "clothoid")
LIMIT = 3.0  # s of processor time from play to the first frame; what other programs do does not count


def run(blender, scene, folder, *package, **settings):
    python = ROOT / ".venv-blenders" / blender / "bin" / "python"
    done = subprocess.run(
        [python, "-I", SCRIPT, scene, folder, *package], capture_output=True, text=True, timeout=600, cwd=folder,
        env={**os.environ, **settings},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr, done.stdout + done.stderr
    print("", *[line for line in done.stdout.splitlines() if line.startswith(scene)], sep=f"\n{blender} ", end="")
    return done.stdout + done.stderr


@pytest.fixture(scope="module", params=os.environ.get("BLENDERS", "5.0").split())
def installed(request, tmp_path_factory):
    """A Blender whose user folder has nothing but the package."""
    folder = tmp_path_factory.mktemp("fresh")
    assert "installed" in run(request.param, "rope", folder, package_here(python_of(request.param)))
    return request.param, folder


@pytest.mark.parametrize("scene", SCENES)
def test_nothing_is_compiled_and_the_first_frame_comes_at_once(installed, scene):
    blender, folder = installed
    said = run(blender, scene, folder, LIMIT=str(LIMIT))
    assert f"{scene}: done" in said
    assert "Tendril:" not in said
