"""`make extension`: one zip that Blender installs, with the wheels it needs for this platform and this Python.

The tree's own manifest lists no wheels; a copy of the tree gets them. NumPy is never among them: it is Blender's own.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import bpy

ROOT = Path(__file__).resolve().parents[1]
OUT = Path("out")
BUNDLED = ("numba", "llvmlite", "scipy")
TREE = ("__init__.py", "__main__.py", "blender_manifest.toml", "LICENSE", "README.md", "addon", "core", "sample_scenes")


def main() -> int:
    stage = OUT / "extension"
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(parents=True)
    for name in TREE:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, stage / name, ignore=shutil.ignore_patterns("__pycache__", "*.blend1"))
        else:
            shutil.copy2(source, stage / name)
    pinned = dict(line.split("==") for line in (ROOT / "requirements" / "run.txt").read_text().split() if "==" in line)
    wanted = [f"{name}=={pinned[name]}" for name in BUNDLED]
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*pip, "--only-binary", ":all:", "--dest", str(stage / "wheels"), *wanted], check=True)

    manifest = stage / "blender_manifest.toml"
    text = manifest.read_text(encoding="utf-8")
    wheels = "".join(f'    "./wheels/{wheel.name}",\n' for wheel in sorted((stage / "wheels").iterdir()))
    manifest.write_text(text.replace("[permissions]", f"wheels = [\n{wheels}]\n\n[permissions]"), encoding="utf-8")

    tool = Path(bpy.utils.system_resource("SCRIPTS")) / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"
    version = tomllib.loads(text)["version"]
    target = OUT / f"tendril-{version}.zip"
    for command in (["validate", str(stage)], ["build", "--source-dir", str(stage), "--output-filepath", str(target)]):
        subprocess.run([sys.executable, str(tool), *command], check=True, stdout=subprocess.DEVNULL)
    print(
        f"{target}, {target.stat().st_size / 2**20:.0f} MiB: install it in Blender by Get Extensions > Install from Disk"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
