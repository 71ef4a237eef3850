"""Render farms: the templates in packaging/farm, run by the tools of their farms, and what is verified before a render."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import bpy
import pytest
import tendril
from bpy_as_blender import install
from tendril.addon import farm
from tendril.addon.cache_paths import path_of
from tendril.core import TendrilError
from tendril.tests.addon.building import line, make_rod

FARM = Path(tendril.__file__).resolve().parent / "packaging" / "farm"
TEMPLATE = FARM / "tendril.openjd.yaml"
LAST = 4

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-in for Blender is a Unix script")


def save_shot(folder: Path) -> Path:
    """Enough strands that the simulation uses several threads, a camera, and quick settings of the render."""
    make_rod(*(("POLY", line(26, y=0.1 * k)) for k in range(24)))
    scene = bpy.context.scene
    scene.tendril.rod_contact = True
    scene.frame_end = LAST
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = 1, False
    scene.render.resolution_x = scene.render.resolution_y = 24
    scene.render.image_settings.file_format = "PNG"
    bpy.data.objects["Rope"].data.bevel_depth = 0.02
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.type, camera.data.ortho_scale = "ORTHO", 3.0
    camera.location, camera.rotation_euler = (0.5, -5.0, 0.0), (1.5708, 0.0, 0.0)
    scene.collection.objects.link(camera)
    scene.camera = camera
    sun = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    scene.collection.objects.link(sun)
    folder.mkdir()
    blend = folder / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    return blend


@pytest.fixture
def blend(tmp_path):
    return save_shot(tmp_path / "shot")


def openjd(*words):
    command = [str(Path(sys.executable).with_name("openjd")), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)


def test_open_job_description_bakes_and_then_renders_chunks(blend, tmp_path):
    checked = openjd("check", TEMPLATE)
    assert checked.returncode == 0, checked.stdout
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy2(blend, other / blend.name)
    blender = install(tmp_path)
    values = {
        "BlendFile": blend,
        "Blender": blender,
        "LastFrame": LAST,
        "ChunkSize": 3,
        "Threads": 3,
        "Output": "//render/",
    }
    parameters = [word for name, value in values.items() for word in ("-p", f"{name}={value}")]
    done = openjd("run", TEMPLATE, "--step", "Render", "--run-dependencies", *parameters)
    assert done.returncode == 0, done.stdout + done.stderr
    # The bake comes first, then two chunks: 1 to 3, and what is left.
    baked, rendered = (
        done.stdout.find("shot/blendcache_shot/Scene.tendril: frames 1 to 4"),
        done.stdout.find("Saved: '"),
    )
    assert 0 < baked < rendered, done.stdout
    assert done.stdout.count("Saved: '") == LAST
    pictures = sorted((blend.parent / "render").glob("*.png"))
    assert [int(picture.stem) for picture in pictures] == [1, 2, 3, 4]
    assert len({hashlib.sha256(picture.read_bytes()).hexdigest() for picture in pictures}) == LAST, "the rods move"
    assert_one_thread_gives_the_same_bits(blender, blend, other / blend.name)
    assert_what_arrived_is_verified(blend)


def assert_one_thread_gives_the_same_bits(blender, blend, copy):
    """Another process, on one thread instead of three, in another folder."""
    words = [blender, "-b", copy, "--python-expr", "from tendril.addon import farm; farm.main()", "--", "bake"]
    done = subprocess.run(
        list(map(str, words)),
        env=os.environ | {"TENDRIL_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    caches = [file.parent / "blendcache_shot" / "Scene.tendril" for file in (blend, copy)]
    assert caches[0].stat().st_size > 100_000
    assert caches[0].read_bytes() == caches[1].read_bytes()


def assert_what_arrived_is_verified(blend):
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    scene = bpy.context.scene
    cache = path_of(scene)
    assert cache.is_relative_to(blend.parent)
    farm.verify(scene, [1, LAST])
    refused = [({"frames": [9]}, "the cache holds frames 1 to 4")]
    for change, message in refused:
        with pytest.raises(TendrilError, match=message):
            farm.verify(scene, change["frames"])
    whole, manifest = cache.read_bytes(), farm.manifest_path(cache).read_text()
    cases = [
        (lambda: cache.write_bytes(whole[:-1]), "it is not what was baked"),
        (lambda: cache.write_bytes(whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:]), "it is not what was baked"),
        (cache.unlink, "it did not arrive"),
        (farm.manifest_path(cache).unlink, "it has no manifest"),
        (lambda: farm.manifest_path(cache).write_text("{"), "it is damaged"),
        (lambda: _edit(cache, manifest, "version", "9.9.9"), "install the same everywhere"),
        (lambda: _edit(cache, manifest, "blend", "0"), "was changed after the bake"),
    ]
    for damage, message in cases:
        damage()
        with pytest.raises(TendrilError, match=message):
            farm.verify(scene, [1])
        with pytest.raises(SystemExit) as end:  # the task ends with a code, and renders nothing
            farm.main(["render", "--frames", "1"])
        assert end.value.code == 2
        cache.write_bytes(whole)
        farm.manifest_path(cache).write_text(manifest)
    farm.verify(scene, [1])


def _edit(cache, manifest, key, value):
    farm.manifest_path(cache).write_text(json.dumps(json.loads(manifest) | {key: value}))


@pytest.mark.parametrize(
    "words", [[], ["dance"], ["render"], ["render", "--frames", "4-1"], ["render", "--frames", "x"]]
)
def test_bad_tasks_end_with_one_sentence(blend, words, capfd):
    with pytest.raises(SystemExit) as end:
        farm.main(words)
    assert end.value.code == 2
    assert capfd.readouterr().err.count("\n") == 1


def test_frames_are_ranges_and_lists():
    assert farm.frame_numbers("1-3,7, 9-9") == [1, 2, 3, 7, 9]


# Flamenco's manager as its job types see it: tasks, commands and a chunker for frames.
MANAGER = """
const author = {
    Task: (name, type) => ({name, type, commands: [], dependencies: [],
        addCommand(command) { this.commands.push(command); },
        addDependency(other) { this.dependencies.push(other.name); }}),
    Command: (name, parameters) => ({name, parameters}),
};
function frameChunker(frames, size) {
    const [first, last] = frames.split("-").map(Number);
    const chunks = [];
    for (let start = first; start <= last; start += size) {
        const end = Math.min(start + size - 1, last);
        chunks.push(start == end ? String(start) : start + "-" + end);
    }
    return chunks;
}
function compile(settings) {
    const job = {settings: JSON.parse(settings), tasks: [], addTask(task) { this.tasks.push(task); }};
    compileJob(job);
    return JSON.stringify(job.tasks);
}
"""


@pytest.fixture
def flamenco():
    quickjs = pytest.importorskip("quickjs")
    context = quickjs.Context()
    context.eval((FARM / "tendril_bake_render.js").read_text() + MANAGER)
    return context


SETTINGS = {
    "frames": "1-25",
    "chunk_size": 10,
    "threads": 2,
    "render_output_path": "/frames/shot/######",
    "blendfile": "/shot.blend",
}


def test_flamenco_gets_one_bake_and_renders_that_depend_on_it(flamenco):
    bake, *renders = json.loads(flamenco.get("compile")(json.dumps(SETTINGS)))
    assert (bake["name"], bake["type"], bake["dependencies"]) == ("bake", "blender", [])
    assert [task["name"] for task in renders] == ["render-1-10", "render-11-20", "render-21-25"]
    assert all(task["dependencies"] == ["bake"] for task in renders)
    for task, words in zip(
        (bake, renders[0]), (["bake"], ["render", "--frames", "1-10", "--output", "/frames/shot/######"]), strict=True
    ):
        (command,) = task["commands"]
        given = command["parameters"]
        assert command["name"] == "blender-render"
        assert (given["exe"], given["exeArgs"], given["blendfile"]) == ("{blender}", "{blenderArgs}", "/shot.blend")
        assert given["args"][0] == "--python-expr"
        assert given["args"][2:] == ["--", *words]
        compile(given["args"][1], "expression", "exec")


def test_the_settings_of_the_job_type_are_those_that_it_reads(flamenco):
    declared = json.loads(flamenco.eval("JSON.stringify(JOB_TYPE)"))
    assert {one["key"] for one in declared["settings"]} == {*SETTINGS, "render_output_root"}
    assert all({"key", "type", "description"} <= one.keys() for one in declared["settings"])


def test_the_expression_of_flamenco_starts_the_task(flamenco, blend, monkeypatch):
    """The very text that a worker gives to Blender, in this Blender."""
    bake, *_ = json.loads(flamenco.get("compile")(json.dumps(SETTINGS)))
    expression = bake["commands"][0]["parameters"]["args"][1]
    asked = []
    monkeypatch.setattr(farm, "main", lambda: asked.append(os.environ.get("TENDRIL_THREADS")))
    monkeypatch.setenv("TENDRIL_THREADS", "")
    with pytest.raises(SystemExit, match="not enabled"):
        exec(expression, {})
    addon = bpy.context.preferences.addons.new()
    addon.module = "tendril"
    try:
        exec(expression, {})
    finally:
        bpy.context.preferences.addons.remove(addon)
    assert asked == ["2"]
