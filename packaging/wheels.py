"""Downloads the wheels of a package from PyPI with pip and verifies the digests in wheels.sha256."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

from .targets import PLATFORMS, Target

DIGESTS = Path(__file__).with_name("wheels.sha256")


class UnknownWheelError(Exception):
    """The digest of a wheel differs from the recorded one, or none is recorded."""


def fetch(target: Target, folder: Path, trust: bool = False) -> list[Path]:
    """Wheels of a target, downloaded to `folder`. With `trust`, digests of new wheels are added to the list."""
    folder.mkdir(parents=True, exist_ok=True)
    wheels = _present(target, folder)
    if len(wheels) < len(target.wheels):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--only-binary", ":all:", "--implementation", "cp", "--python-version", target.python]
        command += ["--abi", "cp" + target.python.replace(".", "")]
        for tag in PLATFORMS[target.platform]:
            command += ["--platform", tag]
        wanted = [f"{name}=={version}" for name, version in target.wheels.items()]
        subprocess.run([*command, "--dest", str(folder), *wanted], check=True)
        wheels = _present(target, folder)
    known = digests()
    for wheel in wheels:
        found = digest(wheel.read_bytes())
        if wheel.name not in known and trust:
            known[wheel.name] = found
            DIGESTS.write_text("".join(f"{known[name]}  {name}\n" for name in sorted(known)), encoding="utf-8")
        if known.get(wheel.name) != found:
            raise UnknownWheelError(f"{wheel}: its digest is not in {DIGESTS.name}; see docs/releasing.md")
    return wheels


def digests() -> dict[str, str]:
    """Recorded digests by wheel name; the file has the format of `sha256sum`."""
    lines = DIGESTS.read_text(encoding="utf-8").splitlines() if DIGESTS.exists() else []
    return {name: found for found, name in (line.split() for line in lines)}


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def licences(wheel: Path) -> dict[str, bytes]:
    """Contents of the licence files in a wheel's metadata, by file name."""
    with zipfile.ZipFile(wheel) as archive:
        return {
            PurePosixPath(name).name: archive.read(name)
            for name in archive.namelist()
            if ".dist-info/" in name and "licen" in name.partition(".dist-info/")[2].lower() and not name.endswith("/")
        }


def _present(target: Target, folder: Path) -> list[Path]:
    found = [folder.glob(f"{name}-{version}-*.whl") for name, version in target.wheels.items()]
    return sorted(wheel for wheels in found for wheel in wheels)
