"""`make package`: builds the zip files that Blender installs, one per platform and Python series, in out/packages.

The manifest of the repository lists no wheels; the copy in each zip file lists them and the supported versions of Blender.
"""

from __future__ import annotations

import argparse
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import bpy

from .kernels import add_kernels, compiler_python
from .pythons import variable_of
from .targets import MANIFEST, MAX_SIZE, PLATFORMS, PYTHONS, ROOT, Target, all_targets, python_of, target_for
from .wheels import UnknownWheelError, fetch, licences

OUT = Path("out/packages")
# Folders are copied with their contents except for `IGNORED`.
TREE = (
    *("__init__.py", "CHANGELOG.md", "LICENSE", "addon", "core"),
    *(
        f"sample_scenes/{name}"
        for name in ("__init__.py", "grooms.py", "stage.py", "studio.py", "surfaces.py", "samples")
    ),
    *(f"sweep/{name}.py" for name in ("__init__", "blend_tasks", "numbers", "paths", "sampling", "variants")),
)
# The command line is left out: it runs scene files, which are Python code, and extensions must not run code from elsewhere.
IGNORED = shutil.ignore_patterns("__pycache__", ".*", "*.blend1", "scene_file.py", "cli.py", "kernels")
TOOL = Path(bpy.utils.system_resource("SCRIPTS")) / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"


def build(target: Target, wheels: Sequence[Path], out: Path, python: str | None = None) -> Path:
    """Builds and validates the zip file of a target with Blender's extension tool. Its kernels are compiled by an interpreter, if
    there is one for it."""
    stage = out / "stage" / "tendril"
    shutil.rmtree(stage.parent, ignore_errors=True)
    (stage / "wheels").mkdir(parents=True)
    for folder in ("sample_scenes", "sweep"):
        (stage / folder).mkdir()
    for name in TREE:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, stage / name, ignore=IGNORED)
        else:
            shutil.copy2(source, stage / name)
    shutil.copytree(ROOT / "packaging" / "licenses", stage / "licenses")
    for wheel in wheels:
        shutil.copy2(wheel, stage / "wheels" / wheel.name)
        folder = stage / "licenses" / wheel.name.split("-")[0]
        folder.mkdir(exist_ok=True)
        for name, text in licences(wheel).items():
            (folder / name).write_bytes(text)
    if python is not None:
        add_kernels(python, stage, out / "kernels" / f"{target.platform}-{target.python}")
    (stage / MANIFEST.name).write_text(manifest_of(target, [wheel.name for wheel in wheels]), encoding="utf-8")

    package = out / target.file_name
    _run_blender_tool("build", "--source-dir", stage, "--output-filepath", package)
    _run_blender_tool("validate", package)
    shutil.rmtree(stage.parent)
    return package


def manifest_of(target: Target, wheels: Sequence[str]) -> str:
    """Text of the manifest for one platform and a range of Blender versions."""
    listed = "".join(f'    "./wheels/{name}",\n' for name in wheels)
    made = (
        f'blender_version_min = "{target.blender_min}"\n'
        f'blender_version_max = "{target.blender_max}"  # the first that it is not for\n\n'
        f'platforms = ["{target.platform}"]\n'
        f"wheels = [\n{listed}]"
    )
    text, count = re.subn(r'^blender_version_min = ".*"$', made, MANIFEST.read_text(encoding="utf-8"), flags=re.M)
    assert count == 1, "the manifest has one line with the first Blender"
    return text


def compiler_of(target: Target, out: Path) -> str | None:
    """An interpreter that can compile the kernels of a target; None if this machine has none."""
    if target.platform != this_platform():
        return None
    return compiler_python(target.python, out / "kernels" / f"venv-{target.python}", target.wheels)


def why_no_kernels(target: Target, asked: bool) -> str:
    """Why a zip has no precompiled kernels, and what to do about it."""
    if not asked:
        return "as asked"
    if target.platform != this_platform():
        return f"they can only be compiled on {target.platform}"
    return f"there is no Python {target.python} here; install it, or name one in {variable_of(target.python)}"


def package_here(python: str) -> Path:
    """Where the zip of this platform and a Python series is, once it is built."""
    return ROOT / OUT / target_for(this_platform(), python).file_name


def this_platform() -> str:
    system = {"Linux": "linux", "Windows": "windows", "Darwin": "macos"}.get(platform.system(), platform.system())
    machine = {"x86_64": "x64", "AMD64": "x64", "arm64": "arm64"}.get(platform.machine(), platform.machine())
    return f"{system}-{machine}"


def _run_blender_tool(*arguments: object) -> None:
    done = subprocess.run([sys.executable, str(TOOL), *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"Blender's extension tool: {done.stdout}{done.stderr}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tendril.packaging.package", description=__doc__)
    parser.add_argument("--platform", choices=["here", *PLATFORMS], help="build for this platform only")
    parser.add_argument("--python", choices=PYTHONS, help="build for this Python series only")
    parser.add_argument(
        "--blender", action="append", help="build only what this version of Blender needs; may be repeated"
    )
    parser.add_argument(
        "--blender-min", help="smallest Blender version, for a Blender built with another Python than the official one"
    )
    parser.add_argument("--out", type=Path, default=OUT, help="output folder (%(default)s)")
    parser.add_argument(
        "--without-kernels", action="store_true", help="let Blender compile the solver when it is first used"
    )
    parser.add_argument(
        "--need-kernels", action="store_true", help="fail where kernels can't be compiled, for releases"
    )
    parser.add_argument("--trust", action="store_true", help="add the digests of new wheels to wheels.sha256")
    asked = parser.parse_args()
    only = this_platform() if asked.platform == "here" else asked.platform
    pythons = {python_of(blender) for blender in asked.blender or ()} | ({asked.python} if asked.python else set())
    targets = [
        target
        if asked.blender_min is None
        else Target(target.platform, target.python, asked.blender_min, target.blender_max)
        for target in all_targets()
        if only in (None, target.platform) and (not pythons or target.python in pythons)
    ]
    if not targets:
        raise SystemExit(f"There are no wheels for {only}, only for {', '.join(PLATFORMS)}")
    too_large = False
    for target in targets:
        try:
            wheels = fetch(target, asked.out / "wheels" / f"{target.platform}-{target.python}", asked.trust)
        except UnknownWheelError as error:
            raise SystemExit(str(error)) from None
        python = None if asked.without_kernels else compiler_of(target, asked.out)
        if python is None and asked.need_kernels:
            raise SystemExit(f"{target.file_name} would have no kernels: {why_no_kernels(target, True)}")
        package = build(target, wheels, asked.out, python)
        size = package.stat().st_size
        too_large = too_large or size >= MAX_SIZE
        print(f"{size / 1e6:6.1f} MB  {package}  Blender {target.blender_min} up to but excluding {target.blender_max}")
        if python is None:
            print(f"           without precompiled kernels: {why_no_kernels(target, not asked.without_kernels)}")
    if too_large:
        raise SystemExit(f"A package must be smaller than {MAX_SIZE / 1e6:.0f} MB")
    print("Install it in Blender: Preferences > Get Extensions > Install from Disk")
    return 0


if __name__ == "__main__":
    sys.exit(main())
