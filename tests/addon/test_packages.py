"""The packages of all platforms, with small wheels in place of the real ones, which `make test-package` reads."""

import itertools
import runpy
import tomllib
import zipfile
from pathlib import Path

import pytest
from tendril.packaging.package import build, manifest_of
from tendril.packaging.targets import BUNDLED, PLATFORMS, PYTHONS, ROOT, all_targets, manifest
from tendril.packaging.wheels import UnknownWheelError, digests, fetch

KINDS = {".py", ".md", ".toml", ".whl", ".txt", ".json"}  # of files in a package; licences have any name


def wheels_of(target):
    """Names of the wheels that are known for a target."""
    python = "cp" + target.python.replace(".", "")
    names = [
        name for name in digests() if f"-{python}-" in name and any(tag in name for tag in PLATFORMS[target.platform])
    ]
    return sorted(name for name in names if target.wheels[name.split("-")[0]] == name.split("-")[1])


def small_wheels(target, folder):
    folder.mkdir()
    for name in wheels_of(target):
        module, version, *_ = name.split("-")
        with zipfile.ZipFile(folder / name, "w") as wheel:
            wheel.writestr(f"{module}/__init__.py", "")
            wheel.writestr(f"{module}-{version}.dist-info/licenses/LICENSE", f"of {module}")
    return sorted(folder.iterdir())


@pytest.mark.parametrize("target", all_targets(), ids=lambda target: f"{target.platform}-{target.python}")
def test_a_manifest_says_for_which_blenders_and_platform_it_is(target):
    said = tomllib.loads(manifest_of(target, wheels_of(target)))
    assert said["platforms"] == [target.platform]
    assert [Path(wheel).name.split("-")[0] for wheel in said["wheels"]] == sorted(BUNDLED)
    assert said["blender_version_min"] == target.blender_min < said["blender_version_max"] == target.blender_max
    unchanged = {key: said[key] for key in manifest() if key != "blender_version_min"}
    assert unchanged == {key: value for key, value in manifest().items() if key != "blender_version_min"}


def test_every_blender_from_the_first_on_has_one_package_per_platform():
    for platform in PLATFORMS:
        spans = [(t.blender_min, t.blender_max) for t in all_targets() if t.platform == platform]
        assert spans[0][0] == manifest()["blender_version_min"]
        assert all(before[1] == after[0] for before, after in itertools.pairwise(spans))
        assert len(spans) == len(PYTHONS)


@pytest.mark.parametrize("target", [all_targets()[0], all_targets()[-1]], ids=lambda target: target.platform)
def test_a_package_holds_what_belongs_in_it_and_nothing_else(target, tmp_path):
    (ROOT / "core" / "__pycache__").mkdir(exist_ok=True)  # as after a run
    wheels = small_wheels(target, tmp_path / "small")
    with zipfile.ZipFile(build(target, wheels, tmp_path)) as package:
        names = [name for name in package.namelist() if not name.endswith("/")]
        licences = {name: package.read(name).decode() for name in names if name.startswith("licenses/")}
    assert {name.split("/")[0] for name in names} == {
        *("__init__.py", "blender_manifest.toml", "CHANGELOG.md", "LICENSE"),
        *("addon", "core", "licenses", "sample_scenes", "sweep", "wheels"),
    }
    assert all(Path(name).suffix in KINDS for name in names if not name.startswith("licenses/") and name != "LICENSE")
    assert not [name for name in names if "__pycache__" in name or "test" in name]
    assert [Path(name).name for name in names if name.startswith("wheels/")] == [wheel.name for wheel in wheels]
    assert all(licences[f"licenses/{name}/LICENSE"] == f"of {name}" for name in BUNDLED)
    assert "LLVM Exceptions" in licences["licenses/llvm/LICENSE.TXT"]
    sources = {path.relative_to(ROOT).as_posix() for part in ("addon", "core") for path in (ROOT / part).rglob("*.py")}
    # The command line runs scene files, which are code; an extension has neither.
    assert sources - set(names) == {"core/store/cli.py", "core/store/scene_file.py"}


def test_a_wheel_that_is_not_the_one_of_pypi_is_refused(tmp_path):
    target = all_targets()[0]
    small_wheels(target, tmp_path / "small")
    with pytest.raises(UnknownWheelError, match="digest"):
        fetch(target, tmp_path / "small")


def test_pip_gets_every_folder_of_modules(monkeypatch):
    given = {}
    monkeypatch.setattr("setuptools.setup", lambda **keywords: given.update(keywords))
    runpy.run_path(str(ROOT / "setup.py"))
    assert {"tendril", "tendril.addon.operators", "tendril.core", "tendril.core.models.elastic"} <= set(
        given["packages"]
    )
    assert not [name for name in given["packages"] if name.startswith("tendril.tests")]
