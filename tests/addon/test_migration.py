"""Files of other versions. files/before_formats.blend was made by the first version, in Blender 4.2: no rod had a format then, and
the list of materials was shorter."""

from pathlib import Path

import bpy
import pytest
from tendril.addon import memory, migration, moments
from tendril.addon.bridge.rods import rods_in
from tendril.tests.addon.building import make_rod, play, status

OLD = Path(__file__).with_name("files") / "before_formats.blend"


@pytest.fixture
def old():
    bpy.ops.wm.open_mainfile(filepath=str(OLD))
    return bpy.data.objects


def test_settings_mean_what_they_meant(old):
    custom, nylon, spaghetti = (old[name].tendril for name in ("Custom", "Nylon", "Spaghetti"))
    assert custom.material == "CUSTOM"  # its number is that of vine now
    assert (custom.young_modulus, custom.density) == pytest.approx((3e7, 1234.0))
    assert custom.radius == pytest.approx(0.02)
    assert nylon.material == "NYLON_ROPE"
    assert spaghetti.material == "SPAGHETTI"
    assert spaghetti.start_hold == "CLAMP"
    assert {rod.format for rod in (custom, nylon, spaghetti)} == {migration.FORMAT}


def test_an_old_file_plays(old):
    play(old["Custom"], 5)
    assert [status(obj) for obj in old] == ["", "", ""]
    assert memory.running_of(bpy.context.scene).last_frame == 5


def test_rods_that_are_appended_are_migrated_too():
    with bpy.data.libraries.load(str(OLD)) as (_there, here):
        here.objects = ["Custom"]
    bpy.context.collection.objects.link(bpy.data.objects["Custom"])
    assert bpy.data.objects["Custom"].tendril.material == "VINE"
    bpy.context.scene.frame_set(1)
    assert bpy.data.objects["Custom"].tendril.material == "CUSTOM"


def test_vine_stays_vine():
    rod = make_rod()
    rod.tendril.material = "VINE"
    rod.tendril.format = 0
    migration.migrate(rods_in(bpy.data.objects))
    assert rod.tendril.material == "VINE"


def test_each_step_is_taken_once_and_in_order(monkeypatch):
    taken = []
    steps = tuple(lambda settings, k=k: taken.append(k) for k in range(4))
    monkeypatch.setattr(migration, "STEPS", steps)
    monkeypatch.setattr(migration, "FORMAT", 4)
    rod = make_rod()
    assert rod.tendril.format == 4  # new rods are in the format of their version
    rod.tendril.format = 2
    for _ in range(2):
        migration.migrate(rods_in(bpy.data.objects))
    assert taken == [2, 3]
    assert rod.tendril.format == 4


def test_a_rod_of_a_newer_version_is_left_alone_and_told():
    rod = make_rod()
    assert migration.problem(rod.tendril) == ""
    rod.tendril.format = migration.FORMAT + 1
    bpy.context.scene.frame_set(1)
    assert rod.tendril.format == migration.FORMAT + 1
    assert "newer version" in migration.problem(rod.tendril)


def test_frames_on_disk_of_an_older_version_are_refused_and_replaced(tmp_path, monkeypatch):
    rod = make_rod()
    scene = bpy.context.scene
    scene.tendril.use_disk_cache = True
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "old.blend"))
    with monkeypatch.context() as older:
        older.setattr(moments, "VERSION", "0.0.9")
        play(rod, 4)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "old.blend"))
    scene = bpy.context.scene
    scene.frame_set(1)
    assert "another" in memory.disk_note(scene)
    play(bpy.data.objects["Rope"], 3)
    assert memory.disk_note(scene) == ""
    assert list(memory.running_of(scene).disk.frames) == [1, 2, 3]
