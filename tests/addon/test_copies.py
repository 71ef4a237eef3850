"""Two copies of Tendril in one Blender, as when an older version lies in another repository."""

import importlib
import sys

import bpy
import pytest
import tendril
from tendril.addon import memory
from tendril.packaging.targets import ROOT
from tendril.tests.addon.building import make_rod


@pytest.fixture
def older(tmp_path, monkeypatch):
    """A second package from the same sources, with an older version in its manifest."""
    copy = tmp_path / "older_tendril"
    copy.mkdir()
    for name in ("__init__.py", "addon", "core", "sample_scenes", "sweep"):
        (copy / name).symlink_to(ROOT / name)
    monkeypatch.syspath_prepend(tmp_path)
    package = importlib.import_module("older_tendril")
    importlib.import_module("older_tendril.core.compile.version").VERSION = "0.0.9"
    yield package
    for name in [name for name in sys.modules if name.startswith("older_tendril")]:
        del sys.modules[name]


def handlers_of(package):
    lists = [getattr(bpy.app.handlers, event) for event in dir(bpy.app.handlers)]
    modules = [handler.__module__ for found in lists if isinstance(found, list) for handler in found]
    return [module for module in modules if module.startswith(package)]


def test_the_second_one_says_so_and_does_nothing(older, capfd):
    rod = make_rod()
    before = handlers_of("")
    older.register()
    preferences = sys.modules["older_tendril.addon.preferences"].TendrilPreferences
    assert preferences.other == "tendril"
    said = capfd.readouterr().out
    assert f'Tendril {sys.modules["tendril.core.compile.version"].VERSION} is already enabled from "tendril"' in said
    assert handlers_of("") == before
    for frame in (1, 2, 3):
        bpy.context.scene.frame_set(frame)
    assert memory.running_of(bpy.context.scene).last_frame == 3
    older.unregister()
    assert rod.tendril.enabled
    assert bpy.types.TENDRIL_PT_rod.__module__.startswith("tendril.")
    assert handlers_of("") == before


def test_it_works_when_the_first_one_is_gone(older):
    rod = make_rod(radius=0.0125)
    tendril.unregister()
    try:
        older.register()
        assert handlers_of("older_tendril")
        assert not handlers_of("tendril")
        assert rod.tendril.enabled
        assert rod.tendril.radius == pytest.approx(0.0125)
        tendril.register()  # now this is the second one
        assert sys.modules["tendril.addon.preferences"].TendrilPreferences.other == "older_tendril"
        assert not handlers_of("tendril")
        assert bpy.ops.tendril.rod_remove() == {"FINISHED"}
    finally:
        tendril.unregister()
        older.unregister()
        tendril.register()


def test_being_disabled_twice_does_no_harm(older):
    older.register()
    older.unregister()
    assert hasattr(bpy.types.Object, "tendril")
    tendril.unregister()
    assert not hasattr(bpy.types.Object, "tendril")
    tendril.register()
