"""The zip files of out/packages that are uploaded."""

import tomllib
import zipfile
from pathlib import Path

import pytest
from tendril.packaging.package import OUT
from tendril.packaging.targets import BUNDLED, MAX_SIZE, ROOT, all_targets
from tendril.packaging.wheels import digest, digests

BUILT = [target for target in all_targets() if (ROOT / OUT / target.file_name).exists()]


@pytest.mark.parametrize("target", BUILT, ids=lambda target: target.file_name)
def test_a_zip_holds_the_wheels_of_pypi_and_is_small_enough(target):
    path = ROOT / OUT / target.file_name
    size = path.stat().st_size
    print(f"\n{path.name}: {size / 1e6:.1f} MB", end="")
    assert size < MAX_SIZE
    with zipfile.ZipFile(path) as package:
        names = package.namelist()
        manifest = tomllib.loads(package.read("blender_manifest.toml").decode())
        wheels = {Path(name).name: digest(package.read(name)) for name in names if name.endswith(".whl")}
    assert sorted(name.split("-")[0] for name in wheels) == sorted(BUNDLED)
    assert wheels.items() <= digests().items()
    assert [Path(wheel).name for wheel in manifest["wheels"]] == sorted(wheels)
    assert not [
        name for name in names if "test" in name.lower() or "cache" in Path(name).parts or name.endswith(".pyc")
    ]
    assert (manifest["blender_version_min"], manifest["blender_version_max"]) == (
        target.blender_min,
        target.blender_max,
    )


def test_there_is_one():
    assert BUILT
