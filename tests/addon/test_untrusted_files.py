"""Files of somebody else: what they name on disk stays within their own folder."""

import os

import bpy
import pytest
from tendril.addon import memory
from tendril.addon.baking import exporting
from tendril.addon.cache_paths import is_safe, path_of
from tendril.core import FrameCache
from tendril.tests.addon.building import make_rod, play
from tendril.tests.addon.test_cache import saved  # noqa: F401
from tendril.tests.addon.test_operators import refuses

ESCAPES = [
    "../../victim/precious",
    "..",
    ".",
    "a/../../precious",
    "..\\..\\precious",
    "C:precious",
    "\\\\server\\share",
    "precious\n",
    "nul",
    "COM1.x",
    "x" * 5000,
    "é" * 120,
]


def files_under(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", [*ESCAPES, "absolute"])
def test_no_cache_name_leads_out_of_the_folder(tmp_path, name):
    victim = tmp_path / "victim"
    victim.mkdir()
    with FrameCache.create(victim / "precious.tendril", "abc", 3, 1) as cache:  # of another project
        cache.append(1, [1.0, 2.0, 3.0])
    before = files_under(victim)
    blend = tmp_path / "project" / "deep" / "scene.blend"
    blend.parent.mkdir(parents=True)
    make_rod()
    scene = bpy.context.scene
    scene.tendril.use_disk_cache = True
    scene.tendril.cache_name = str(victim / "precious") if name == "absolute" else name
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    scene = bpy.context.scene
    assert "not a plain file name" in memory.disk_note(scene)
    play(bpy.data.objects["Rope"], 3)
    bpy.ops.wm.save_mainfile()
    assert files_under(victim) == before
    folder = tmp_path / "project" / "deep" / "blendcache_scene"
    assert sorted(path.name for path in folder.iterdir()) == [
        "Scene.tendril",
        "Scene.tendril.json",
        "Scene.tendril.lock",
    ]
    assert path_of(scene) == folder / "Scene.tendril"
    assert {path.parent for path in files_under(tmp_path)} == {victim, blend.parent, folder}


def test_names_that_are_file_names_are_kept():
    assert all(map(is_safe, ["Scene", "Scene_2", "Szene ä", "シーン", "a.b", "x" * 200]))
    assert not any(map(is_safe, ["", *ESCAPES]))


@pytest.mark.parametrize("suffix", ["", ".new", ".json", ".json.new"])
def test_links_in_the_cache_folder_are_not_written_through(saved, tmp_path, suffix):  # noqa: F811
    precious = tmp_path / "precious"
    precious.write_text("mine")
    saved.parent.mkdir()
    link = saved.with_name(saved.name + suffix)
    link.symlink_to(precious)
    play(make_rod(), 3)
    assert precious.read_text() == "mine"
    note = memory.disk_note(bpy.context.scene)
    assert ("not a cache of Tendril" in note) == (suffix == "")


def test_a_folder_that_is_a_link_is_refused(saved, tmp_path):  # noqa: F811
    other = tmp_path / "blendcache_other"
    other.mkdir()
    with FrameCache.create(other / "Scene.tendril", "abc", 3, 1):
        pass
    before = files_under(other)
    saved.parent.symlink_to(other)
    play(make_rod(), 3)
    assert "it is a link" in memory.disk_note(bpy.context.scene)
    assert files_under(other) == before


def test_a_pipe_as_table_of_contents_is_not_waited_for(saved):  # noqa: F811
    rope = make_rod()
    play(rope, 3)
    memory.clear()
    table = saved.with_name(saved.name + ".json")
    table.unlink()
    os.mkfifo(table)
    bpy.context.scene.frame_set(2)
    assert "table of contents" in memory.disk_note(bpy.context.scene)


def test_export_paths_of_a_file_that_lead_outside_need_confirmation(tmp_path):
    outside, blend = tmp_path / "outside.abc", tmp_path / "project" / "scene.blend"
    blend.parent.mkdir()
    make_rod()
    shared = bpy.context.scene.tendril
    shared.use_own_range, shared.cache_end = True, 3
    shared.bake_to, shared.export_path = "ALEMBIC", "//../outside.abc"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    bpy.context.view_layer.objects.active = bpy.data.objects["Rope"]
    for operator in (bpy.ops.tendril.bake, bpy.ops.tendril.bake_all, bpy.ops.tendril.cache_to_bake):
        refuses(operator, "outside of its folder")
    assert not outside.exists()
    assert exporting.unconfirmed_path(bpy.context.scene) == outside.resolve()
    assert bpy.ops.tendril.confirm_export(operator="tendril.bake") == {"FINISHED"}
    assert outside.exists()
    outside.unlink()
    shared = bpy.context.scene.tendril
    memory.confirmed_exports.clear()
    shared.export_path = "//../outside.abc"  # the user's own choice
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    assert outside.exists()


def test_export_paths_within_the_folder_of_the_file_need_none(tmp_path):
    make_rod()
    shared = bpy.context.scene.tendril
    shared.bake_to = "ALEMBIC"
    for path in ("", "//x.abc", "//sub/x", "//sub/../x"):
        shared.export_path = path
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
        shared = bpy.context.scene.tendril
        assert exporting.unconfirmed_path(bpy.context.scene) is None
