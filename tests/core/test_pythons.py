"""The interpreters that `make package` compiles with are found where they are installed, and a broken launcher is none."""

import os

import pytest
from tendril.packaging import pythons
from tendril.packaging.targets import python_of

pytestmark = pytest.mark.skipif(os.name != "posix", reason="scripts of a Unix-like shell")


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine without any Python."""
    for name in ("PYENV_ROOT", "UV_PYTHON_INSTALL_DIR", "XDG_DATA_HOME", "TENDRIL_PYTHON_3_13"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    monkeypatch.setattr(
        pythons.shutil, "which", lambda name: str(found) if (found := tmp_path / "bin" / name).exists() else None
    )
    pythons.find.cache_clear()
    yield tmp_path
    pythons.find.cache_clear()


def test_there_is_none(machine):
    assert pythons.find("3.13") is None


@pytest.mark.parametrize("place", [".pyenv/versions/3.13.2", ".local/share/uv/python/cpython-3.13.2-linux-x86_64-gnu"])
def test_one_of_a_version_manager_is_taken_and_a_launcher_without_python_is_not(machine, place):
    script(machine / "bin" / "python3.13", "echo not installed >&2; exit 127")
    script(machine / place / "bin" / "python3.13", "echo 3.13; echo /opt/python3.13")
    assert pythons.find("3.13") == "/opt/python3.13"


def test_one_of_another_series_is_not_taken(machine):
    script(machine / "bin" / "python3.13", "echo 3.12; echo /opt/python3.12")
    assert pythons.find("3.13") is None


def test_the_one_that_is_named_comes_first(machine, monkeypatch):
    script(machine / "bin" / "python3.13", "echo 3.13; echo /opt/other")
    monkeypatch.setenv("TENDRIL_PYTHON_3_13", script(machine / "mine", "echo 3.13; echo /opt/mine"))
    assert pythons.find("3.13") == "/opt/mine"


def test_official_blenders_have_these_pythons():
    assert [python_of(blender) for blender in ("4.2", "5.0", "5.1", "5.2")] == ["3.11", "3.11", "3.13", "3.13"]
