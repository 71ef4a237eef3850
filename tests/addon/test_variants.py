"""The Variants panel: settings with several values, baked in processes of their own, shown side by side, one kept."""

import contextlib
import os
import threading
import time
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import pytest
from tendril.addon import memory
from tendril.addon.baking.errors import BakeError
from tendril.addon.bridge.curves import read_rows
from tendril.addon.cache_paths import path_of
from tendril.addon.variants.baking import bake_variants, folder_of, listed_variants, planned
from tendril.addon.variants.parameters import find, set_value
from tendril.core import TendrilError
from tendril.sweep.blend_tasks import check_blend, run_blend_variant
from tendril.sweep.variants import RUN, Job, Outcome
from tendril.tests.addon.building import activate, line, make_mesh, make_rod, play

LAST = 5


@pytest.fixture
def rod(tmp_path):
    make_rod(("POLY", line(12)))
    make_mesh()
    bpy.context.scene.frame_end = LAST
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    return bpy.data.objects["Rope"]


def axes(**values):
    chosen = bpy.context.scene.tendril_variants
    for path, text in values.items():
        axis = chosen.axes.add()
        axis.path, axis.values = path.replace("__", "."), text
    return chosen


def shown_instances():
    return [obj for obj in bpy.context.scene.objects if obj.instance_collection is not None]


def test_variants_are_baked_shown_side_by_side_and_one_is_kept(rod):
    scene = bpy.context.scene
    axes(Rope__young_modulus="1e6, 1e9, 1")  # the last one is below what the setting allows
    assert bpy.ops.tendril.variants_bake() == {"FINISHED"}
    listed = listed_variants(scene)
    assert [label for label, _ in listed] == ["young_modulus=1e+06", "young_modulus=1e+09", "young_modulus=1"]
    assert [outcome.status for _, outcome in listed] == ["done", "done", "failed"]
    assert "give a number from 100" in listed[2][1].message
    assert rod.tendril.material != "CUSTOM", "the open file stays as it is"

    before = [Path(outcome.folder, "variant.json").stat().st_mtime_ns for _, outcome in listed[:2]]
    assert bpy.ops.tendril.variants_show() == {"FINISHED"}
    instances = shown_instances()
    assert len(instances) == 2
    assert instances[0].location.x < instances[1].location.x
    scene.frame_set(LAST)
    bpy.context.view_layer.update()
    ends = [evaluated(instance, "Rope") for instance in instances]
    assert not np.allclose(ends[0], ends[1], atol=1e-4), "they differ"
    assert any(obj.name == "Floor" for obj in instances[0].instance_collection.objects)

    assert bpy.ops.tendril.variant_keep(index=0) == {"FINISHED"}
    assert not shown_instances()
    assert not [one for one in bpy.data.collections if one.name.startswith(("Variant", "Tendril Variants"))]
    assert rod.tendril.young_modulus == 1e6
    # Its frames are those of the scene now, without simulating, and what the instance showed.
    written = path_of(scene).stat().st_mtime_ns
    scene.frame_set(1)
    scene.frame_set(LAST)
    assert path_of(scene).stat().st_mtime_ns == written
    assert memory.info(scene) == f"{LAST} frames on disk"
    assert np.allclose(read_rows(rod.data)[:12], ends[0], atol=1e-5)
    # And they are those that the scene would simulate.
    kept = read_rows(rod.data).copy()
    scene.tendril.use_disk_cache = False
    memory.forget(scene)
    assert np.array_equal(play(rod, LAST)[LAST], kept)
    assert before == [Path(outcome.folder, "variant.json").stat().st_mtime_ns for _, outcome in listed[:2]]


def evaluated(instance, name):
    """Points of a curve in an instance as the viewport shows them, in the space of the curve."""
    source = next(obj for obj in instance.instance_collection.objects if obj.name.startswith(name))
    blocks, moment = source.data.shape_keys.key_blocks, source.data.shape_keys.eval_time
    index = round(moment / 10.0) if moment > len(blocks) else round(moment)
    points = np.empty(3 * len(blocks[index].data), dtype=np.float32)
    blocks[index].data.foreach_get("co", points)
    return points.reshape(-1, 3)


def test_cancelling_keeps_what_is_finished_and_ends_the_processes(rod):
    scene = bpy.context.scene
    chosen = axes(Rope__radius="0.01, 0.02")
    chosen.workers = 1
    steps = bake_variants(scene)
    end = time.monotonic() + 120
    while not listed_variants(scene):
        next(steps)
        assert time.monotonic() < end
    next(steps)
    steps.close()
    (kept,) = listed_variants(scene)
    written = Path(kept[1].folder, "variant.json").stat().st_mtime_ns
    second = next(
        path for path in folder_of(scene).iterdir() if path.is_dir() and path.name != Path(kept[1].folder).name
    )
    time.sleep(0.5)
    assert not (second / "answer.json").exists()
    assert Path(kept[1].folder, "variant.json").stat().st_mtime_ns == written


@pytest.mark.parametrize(
    ("path", "values", "message"),
    [
        ("Rope.thickness", "1,2", "there is no thickness"),
        ("Cable.radius", "1,2", "there is no Cable"),
        ("Rope.radius", "", "write PARAMETER=VALUE"),
        ("Rope.radius", "1:2", "a grid needs a number of values"),
        ("scene.tendril", "1", "no value"),
        ("scene.frame_curent", "1", "there is no frame_curent: choose from frame_current"),
        ('objects["None"].location', "1", "there is no None"),
        ("", "1", "write PARAMETER=VALUE"),
    ],
)
def test_unknown_settings_are_refused_before_anything_starts(rod, path, values, message):
    chosen = bpy.context.scene.tendril_variants
    axis = chosen.axes.add()
    axis.path, axis.values = path, values
    with pytest.raises(RuntimeError, match=message):
        bpy.ops.tendril.variants_bake()
    assert not folder_of(bpy.context.scene).exists()


def test_a_record_does_not_lead_out_of_its_folder(rod, tmp_path):
    (tmp_path / "elsewhere.tendril").write_bytes(b"TENDRILC")
    folder = folder_of(bpy.context.scene) / "forged"
    folder.mkdir(parents=True)
    Outcome(str(folder), (), "done", contents={"cache": "../../../elsewhere.tendril"}).save()
    (folder.parent / "variants.json").write_text('[{"label": "forged", "folder": "../../../forged"}]')
    assert [label for label, _ in listed_variants(bpy.context.scene)] == ["forged"]
    with pytest.raises(RuntimeError, match="frames of this variant are missing"):
        bpy.ops.tendril.variant_keep(index=0)


def test_an_unsaved_file_is_refused():
    make_rod(("POLY", line(12)))
    axes(Rope__radius="0.01")
    with pytest.raises(RuntimeError, match="save it first"):
        bpy.ops.tendril.variants_bake()
    with pytest.raises(RuntimeError, match="No variant is baked"):
        bpy.ops.tendril.variants_show()
    with pytest.raises(RuntimeError, match="There is no such variant"):
        bpy.ops.tendril.variant_keep()


def test_settings_are_chosen_from_those_of_the_rod_and_the_scene(rod):
    activate(rod)
    assert bpy.ops.tendril.variant_axis_add(setting='objects["Rope"].tendril.radius') == {"FINISHED"}
    assert bpy.ops.tendril.variant_axis_add(setting="scene.tendril.substeps") == {"FINISHED"}
    chosen = bpy.context.scene.tendril_variants
    assert [axis.path for axis in chosen.axes] == ['objects["Rope"].tendril.radius', "scene.tendril.substeps"]
    chosen.axes[0].values, chosen.axes[1].values = "0.01,0.02", "2:8:3"
    assert len(planned(bpy.context.scene)) == 6
    chosen.sampling, chosen.samples = "latin", 5
    assert len(planned(bpy.context.scene)) == 5
    assert bpy.ops.tendril.variant_axis_remove() == {"FINISHED"}
    assert len(chosen.axes) == 1


def test_paths_lead_to_settings_in_long_and_in_short(rod):
    scene = bpy.context.scene
    for path, value in (
        ("Rope.radius", 0.02),
        ('objects["Rope"].tendril.friction', 0.9),
        ("substeps", 7),
        ("scene.tendril.wind[1]", 3.0),
        ("scene.gravity.z", -1.6),
        ('scenes["Scene"].frame_start', 2),
        ("Rope.model", "compact"),
    ):
        set_value(scene, path, value)
        assert find(scene, path).read() == pytest.approx(value) if not isinstance(value, str) else value
    set_value(scene, "wind", 6.0)  # a number is the length of a vector
    assert list(scene.tendril.wind) == pytest.approx([0.0, 6.0, 0.0])
    for path, value, message in (
        ("substeps", 0, "from 1 to 1000"),
        ("substeps", 2.5, "whole number"),
        ("Rope.model", "wool", "wool"),
        ("scene.name_full", "x", "read-only"),
    ):
        with pytest.raises(TendrilError, match=message):
            set_value(scene, path, value)


def test_a_sweep_of_a_blend_file_bakes_each_variant_in_a_process(rod, tmp_path):
    """The task that `tendril sweep` runs for a .blend file."""
    job = Job(bpy.data.filepath, (("Rope.radius", 0.02),), str(tmp_path / "variant"), (1, 3))
    with pytest.raises(TendrilError, match="there is no thickness"):
        check_blend(replace(job, values=(("Rope.thickness", 0.02),)))
    outcome = run_blend_variant(job)
    assert outcome.status == "done", outcome.message
    numbers = Path(job.folder, "numbers.csv").read_text().splitlines()
    assert len(numbers) == 1 + 3
    assert (Path(job.folder) / outcome.contents["cache"]).stat().st_size > 1000
    assert run_blend_variant(job).computed == 0  # it is there
    # The copy plays its frames, which are baked, with the value of the variant.
    bpy.ops.wm.open_mainfile(filepath=str(Path(job.folder) / outcome.contents["blend"]))
    scene = bpy.context.scene
    assert bpy.data.objects["Rope"].tendril.radius == pytest.approx(0.02)
    assert scene.tendril.disk_baked
    scene.frame_set(3)
    tip = [float(number) for number in numbers[-1].split(",")[2:5]]
    assert read_rows(bpy.data.objects["Rope"].data)[11] == pytest.approx(tip, abs=1e-5)


def test_an_interrupted_variant_of_a_blend_file_is_continued(rod, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / RUN).write_text("this one")
    job = Job(bpy.data.filepath, (("Rope.radius", 0.02),), str(out / "variant"), (1, 100_000), run="this one")
    numbers = Path(job.folder, "numbers.csv")
    outcomes = []
    task = threading.Thread(target=lambda: outcomes.append(run_blend_variant(job)))
    task.start()
    end = time.monotonic() + 300
    while not numbers.exists() or len(numbers.read_text().splitlines()) < 5:
        assert time.monotonic() < end, (Path(job.folder) / "blender.log").read_text()
        time.sleep(0.02)
    (out / RUN).unlink()  # as the sweep does when it is interrupted
    task.join(300)
    assert outcomes[0].status == "missing", outcomes[0].message
    there = len(numbers.read_text().splitlines()) - 1
    kept = numbers.read_text()
    again = run_blend_variant(replace(job, frames=(1, there + 3), run=""))
    assert (again.status, again.computed) == ("done", 3), again.message
    assert numbers.read_text().startswith(kept)
    undisturbed = replace(job, folder=str(tmp_path / "undisturbed"), frames=(1, there + 3), run="")
    at_once = run_blend_variant(undisturbed)
    assert at_once.computed == there + 3
    caches = [Path(one.folder, one.contents["cache"]).read_bytes() for one in (again, at_once)]
    assert caches[0] == caches[1]
    # Frames of another animation are not continued.
    (bpy.data.objects["Rope"]).location.z = 1.0
    bpy.ops.wm.save_mainfile()
    other = run_blend_variant(replace(job, frames=(1, there + 4), run=""))
    assert (other.status, other.computed) == ("done", there + 4), other.message


# Files next to a .blend file may have come with it


def forged(scene, values=(), record=None, **more):
    """A finished variant that nobody has baked."""
    folder = folder_of(scene) / "forged"
    folder.mkdir(parents=True)
    Outcome(str(folder), values, "done", **more).save()
    if record is not None:
        (folder / "variant.json").write_text(record)
    (folder.parent / "variants.json").write_text('[{"label": "forged", "folder": "forged"}]')
    return folder


@pytest.mark.parametrize("which", ["above", "folder", "variant", "source.blend", "source.blend@", "forged/blender.log"])
def test_variants_are_not_written_through_links(rod, tmp_path, which):
    scene = bpy.context.scene
    axes(Rope__radius="0.01")
    place, precious = folder_of(scene), tmp_path / "precious"
    precious.mkdir()
    (precious / "mine").write_text("mine")
    link = {"above": place.parent, "folder": place, "variant": place / "forged"}.get(which, place / which)
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(precious / "mine" if "." in which else precious)
    with pytest.raises(RuntimeError, match="is a link: delete it"):
        bpy.ops.tendril.variants_bake()
    assert [path.name for path in precious.iterdir()] == ["mine"]
    assert (precious / "mine").read_text() == "mine"


@pytest.mark.parametrize("name", ["variants.json", "forged/variant.json"])
@pytest.mark.parametrize("content", ["pipe", "[" * 100_000, "[3]", "{}", '{"values": [], "folder": "", "status": []}'])
def test_records_that_make_no_sense_are_left_out(rod, name, content):
    scene = bpy.context.scene
    path = forged(scene).parent / name
    path.unlink()
    os.mkfifo(path) if content == "pipe" else path.write_text(content)
    assert listed_variants(scene) == []


@pytest.mark.parametrize("values", ["1:2:1000000000", "(" * 100_000, "-" * 100_000, "1" * 10_000, "1:1e999:3"])
def test_values_that_would_take_forever_are_refused_at_once(rod, values):
    """The panel reads them whenever it is drawn."""
    axes(Rope__radius=values)
    began = time.process_time()
    with contextlib.suppress(BakeError):
        planned(bpy.context.scene)
    assert time.process_time() - began < 1.0


def test_a_variant_that_can_not_be_kept_changes_nothing(rod):
    scene = bpy.context.scene
    scene.gravity = (0.0, 1.0, -2.0)
    values = (("Rope.young_modulus", 1e6), ("scene.gravity", (0.0, 0.0, -1.0)), ("Rope.radius", "thick"))
    folder = forged(scene, values, contents={"cache": "frames.tendril"})
    (folder / "frames.tendril").write_bytes(b"TENDRILC")
    before = rod.tendril.material, rod.tendril.young_modulus, rod.tendril.radius
    with pytest.raises(RuntimeError, match="give a number"):
        bpy.ops.tendril.variant_keep(index=0)
    assert (rod.tendril.material, rod.tendril.young_modulus, rod.tendril.radius) == before
    assert tuple(scene.gravity) == (0.0, 1.0, -2.0)


def test_the_values_of_a_variant_set_no_paths_of_files(rod, tmp_path):
    """To set an export path would confirm it."""
    scene = bpy.context.scene
    outside = str(tmp_path.parent / "outside.abc")
    folder = forged(scene, (("scene.tendril.export_path", outside),), contents={"cache": "frames.tendril"})
    (folder / "frames.tendril").write_bytes(b"TENDRILC")
    with pytest.raises(RuntimeError, match="it names a file"):
        bpy.ops.tendril.variant_keep(index=0)
    assert scene.tendril.export_path == ""
    assert not memory.confirmed_exports
