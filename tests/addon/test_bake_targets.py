"""Where baked frames go: fewer shape keys, the disk, Alembic and USD."""

import bpy
import numpy as np
import pytest
from tendril.addon import memory
from tendril.addon.baking.thinning import frames_to_keep
from tendril.addon.bridge.curves import read_rows, spline_kinds
from tendril.addon.bridge.nets import edges_of
from tendril.addon.bridge.strands import polylines
from tendril.addon.running import Running
from tendril.tests.addon.building import MIXED, activate, evaluated_points, line, make_curve, make_rod, play, status
from tendril.tests.addon.test_cache import reopen
from tendril.tests.addon.test_hair import make_hair
from tendril.tests.addon.test_nets import make_grid
from tendril.tests.addon.test_operators import refuses

LAST = 12


@pytest.fixture
def saved(tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    bpy.context.scene.frame_end = LAST
    return tmp_path


def between(frames, kept):
    """What is seen in each frame if only some are kept."""
    flat = np.array(frames, dtype=np.float64).reshape(len(frames), -1)
    columns = [np.interp(np.arange(len(frames)), kept, flat[kept, k]) for k in range(flat.shape[1])]
    return np.stack(columns, axis=1).reshape(len(frames), -1, 3)


@pytest.mark.parametrize("tolerance", [0.0, 0.005, 0.02, 10.0])
@pytest.mark.parametrize("step", [1, 3])
def test_what_is_left_out_is_not_seen(step, tolerance):
    rng = np.random.default_rng(1)
    t = np.linspace(0.0, 6.0, 100)[:, None, None]
    frames = list((np.sin(t * rng.uniform(0.2, 1.0, (1, 7, 3))) * np.exp(-0.3 * t)).astype(np.float32))
    kept = frames_to_keep(frames, step, tolerance)
    assert kept == sorted(set(kept))
    assert (kept[0], kept[-1]) == (0, 99)
    considered = [*range(0, 99, step), 99]
    assert set(kept) <= set(considered)
    errors = np.linalg.norm(between(frames, kept) - np.array(frames), axis=2)[considered]
    assert errors.max() <= tolerance + 1e-9
    if tolerance == 0.0:
        assert kept == considered
    elif tolerance == 10.0:
        assert kept == [0, 99]
    else:
        assert len(kept) < len(considered)
        # Nothing was kept that could have been left out together with what follows it.
        for k in range(len(kept) - 2):
            fewer = [*kept[: k + 1], considered[considered.index(kept[k + 1]) + 1], *kept[k + 2 :]]
            fewer = sorted(set(fewer))
            worse = np.linalg.norm(between(frames, fewer) - np.array(frames), axis=2)[considered]
            assert worse.max() > tolerance / np.sqrt(3.0)


def test_every_third_frame_has_a_key_and_the_last():
    obj = make_rod()
    shown = play(obj, LAST)
    scene = bpy.context.scene
    scene.frame_end, scene.tendril.key_step = LAST, 3
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    names = [block.name for block in obj.data.shape_keys.key_blocks]
    assert names == ["Frame 1", "Frame 4", "Frame 7", "Frame 10", "Frame 12"]
    for number in (1, 4, 7, 10, 12):
        scene.frame_set(number)
        np.testing.assert_array_equal(evaluated_points(obj), shown[number])
    scene.frame_set(5)
    np.testing.assert_allclose(evaluated_points(obj), (2.0 * shown[4] + shown[7]) / 3.0, atol=1e-6)


@pytest.mark.parametrize("scale", [1.0, 5.0])
def test_a_tolerance_drops_keys_and_keeps_to_what_is_seen(scale):
    obj = make_curve(("POLY", line(8) / scale))
    obj.scale = (scale, scale, scale)
    bpy.ops.tendril.rod_add(fit=False)
    scene = bpy.context.scene
    scene.frame_end, scene.tendril.key_tolerance, scene.tendril.drag = 40, 0.01, 8.0
    shown = play(obj, 40)
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    assert 3 < len(obj.data.shape_keys.key_blocks) < 35
    worst = 0.0
    for number, rows in shown.items():
        scene.frame_set(number)
        worst = max(worst, scale * np.linalg.norm(evaluated_points(obj) - rows, axis=1).max())
    assert 0.001 < worst <= 0.01


def bake_to(target, **settings):
    shared = bpy.context.scene.tendril
    shared.bake_to = target
    for name, value in settings.items():
        setattr(shared, name, value)
    return bpy.ops.tendril.bake()


def test_a_bake_on_disk_is_shown_whatever_is_set_and_never_replaced(saved):
    rod = make_rod(*MIXED)
    expected = play(rod, LAST)
    assert bake_to("DISK") == {"FINISHED"}
    scene = bpy.context.scene
    file = saved / "blendcache_scene" / "Scene.tendril"
    before = file.read_bytes()
    rod.tendril.material = "SPRING_STEEL"
    scene.gravity = (0, 0, 1)
    for number in (5, LAST, 1, 2, 3):
        scene.frame_set(number)
        np.testing.assert_array_equal(read_rows(rod.data), expected[number])
        assert status(rod) == ""
    assert memory.info(scene) == f"{LAST} frames baked on disk"
    assert memory.simulation_of(scene) is None
    refuses(bpy.ops.tendril.bake, "delete the bake first")
    refuses(bpy.ops.tendril.cache_delete, "delete the bake first")
    refuses(bpy.ops.tendril.calculate, "delete the bake first")
    rod = reopen()
    scene = bpy.context.scene
    for number, rows in play(rod, LAST).items():
        np.testing.assert_array_equal(rows, expected[number])
    assert file.read_bytes() == before
    file.unlink()
    memory.clear()
    scene.frame_set(3)
    assert "file is missing" in memory.info(scene)


def test_delete_bake_leaves_frames_on_disk_that_still_fit(saved):
    rod = make_rod()
    expected = play(rod, LAST)
    assert bake_to("DISK") == {"FINISHED"}
    assert bpy.ops.tendril.bake_delete() == {"FINISHED"}
    shown = play(rod, LAST - 1)
    assert memory.simulation_of(bpy.context.scene) is None  # nothing had to be simulated
    np.testing.assert_array_equal(shown[LAST - 1], expected[LAST - 1])
    rod.tendril.radius = 0.02
    assert np.abs(play(rod, LAST)[LAST] - expected[LAST]).max() > 1e-4
    refuses(bpy.ops.tendril.bake_delete, "not a baked rod")


def test_a_bake_on_disk_needs_a_place_and_a_disk_that_takes_it(saved, monkeypatch):
    make_rod()
    from tendril.addon import moments

    def refuse(*_):
        raise moments.TendrilError("cache", "file", "the system says: no space left on device")

    monkeypatch.setattr(moments.DiskFrames, "append", refuse)
    bpy.context.scene.tendril.bake_to = "DISK"
    refuses(bpy.ops.tendril.bake, "no space left")
    assert not bpy.context.scene.tendril.disk_baked
    assert not bpy.context.scene.tendril.use_disk_cache
    monkeypatch.undo()
    bpy.ops.wm.read_homefile(use_empty=True)
    make_rod()
    bpy.context.scene.tendril.bake_to = "DISK"
    refuses(bpy.ops.tendril.bake, "save it first")


def imported_lines(path, kind, frames):
    """The points of a file, per object and frame, as Blender reads them again."""
    before = set(bpy.data.objects)
    if kind == "ALEMBIC":
        bpy.ops.wm.alembic_import(filepath=str(path), as_background_job=False)
    else:
        bpy.ops.wm.usd_import(filepath=str(path))
    found = [obj for obj in bpy.data.objects if obj not in before and obj.type in ("CURVES", "MESH")]
    points, radii = {}, {}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        for obj in found:
            data = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
            flat = np.empty(3 * data.attributes.domain_size("POINT"), dtype=np.float32)
            data.attributes["position"].data.foreach_get("vector", flat)
            key = "Mesh" if obj.type == "MESH" else "Rings" if "Rings" in obj.name else "Rods"
            points.setdefault(key, {})[frame] = flat.reshape(-1, 3)
            radii[key] = data.attributes["radius"].data[0].value if key != "Mesh" else len(data.polygons)
    for obj in found:
        bpy.data.objects.remove(obj)
    return points, radii


@pytest.mark.parametrize("target", ["ALEMBIC", "USD"])
def test_an_exported_file_holds_every_frame_exactly(saved, target):
    obj = make_curve(*MIXED)
    for frame, x in ((1, 0.0), (LAST, 0.3)):
        obj.location.x = x
        obj.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    bpy.context.scene.render.fps = 30
    bpy.ops.tendril.rod_add(fit=False)
    shown = play(obj, LAST)
    data_before = {kind: len(getattr(bpy.data, kind)) for kind in ("objects", "scenes", "actions", "hair_curves")}
    assert bake_to(target) == {"FINISHED"}
    assert {kind: len(getattr(bpy.data, kind)) for kind in data_before} == data_before
    path = saved / f"scene_rods{'.abc' if target == 'ALEMBIC' else '.usdc'}"
    assert path.exists()
    assert not obj.tendril.baked
    places = {}
    for number, rows in shown.items():
        bpy.context.scene.frame_set(number)
        matrix = np.array(obj.matrix_world, dtype=np.float64)
        places[number] = rows.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    points, radii = imported_lines(path, target, shown)
    assert set(points) == {"Rods", "Rings"}
    assert radii["Rods"] == pytest.approx(obj.tendril.radius)
    for number, world in places.items():
        strands = list(polylines(spline_kinds(obj.data), world))
        for key, closed in (("Rods", False), ("Rings", True)):
            expected = np.concatenate([strand.vertices for strand in strands if strand.closed == closed])
            np.testing.assert_allclose(points[key][number], expected, atol=1e-6)


def test_exports_of_all_rods_and_of_a_bake_on_disk_are_the_same(saved):
    first, second = make_rod(name="Rope"), make_rod(("POLY", line(y=1.0)), name="Second")
    shared = bpy.context.scene.tendril
    shared.bake_to, shared.export_path = "USD", "//both.usda"
    assert bpy.ops.tendril.bake_all() == {"FINISHED"}
    text = (saved / "both.usda").read_text()
    assert text.count("BasisCurves") == 2
    activate(first)
    assert bake_to("DISK") == {"FINISHED"}
    shared.bake_to = "USD"
    simulated = memory.simulation_of(bpy.context.scene)
    shared.export_path = "//again.usda"
    assert bpy.ops.tendril.bake_all() == {"FINISHED"}
    assert simulated is None
    assert memory.simulation_of(bpy.context.scene) is None
    again = (saved / "again.usda").read_text()
    assert sorted(again.splitlines()) == sorted(text.splitlines())  # Blender writes objects in any order
    assert second.name in text


def test_an_export_needs_a_place_that_can_be_made(saved):
    make_rod()
    (saved / "file").write_text("")
    bpy.context.scene.tendril.export_path = "//file/rods.abc"
    bpy.context.scene.tendril.bake_to = "ALEMBIC"
    refuses(bpy.ops.tendril.bake, "could not be created")
    bpy.ops.wm.read_homefile(use_empty=True)
    make_rod()
    bpy.context.scene.tendril.bake_to = "ALEMBIC"
    refuses(bpy.ops.tendril.bake, "save it first")


@pytest.mark.parametrize("target", ["ALEMBIC", "USD"])
def test_hair_is_exported_strand_by_strand(saved, target):
    obj = make_hair()
    shown = play(obj, LAST)
    assert bake_to(target, export_path="//hair") == {"FINISHED"}
    points, radii = imported_lines(saved / f"hair{'.abc' if target == 'ALEMBIC' else '.usdc'}", target, shown)
    assert radii["Rods"] == pytest.approx(obj.tendril.radius)
    for number, rows in shown.items():
        np.testing.assert_allclose(points["Rods"][number], rows, atol=1e-6)
    assert np.abs(shown[LAST] - shown[1]).max() > 1e-3


@pytest.mark.parametrize("faces", [False, True])
@pytest.mark.parametrize("target", ["ALEMBIC", "USD"])
def test_a_net_is_exported_as_its_mesh_or_without_faces_along_its_edges(saved, target, faces):
    obj = make_grid(3, faces=faces)
    for frame, x in ((1, 0.0), (LAST, 0.3)):
        obj.location.x = x
        obj.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    assert bpy.ops.tendril.rod_add(fit=False) == {"FINISHED"}
    shown = play(obj, LAST)
    data_before = {
        kind: len(getattr(bpy.data, kind)) for kind in ("objects", "scenes", "actions", "hair_curves", "meshes")
    }
    assert bake_to(target, export_path="//net") == {"FINISHED"}
    assert {kind: len(getattr(bpy.data, kind)) for kind in data_before} == data_before
    world = {}
    for number, rows in shown.items():
        bpy.context.scene.frame_set(number)
        matrix = np.array(obj.matrix_world, dtype=np.float64)
        world[number] = rows.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    edges = edges_of(obj.data)
    points, told = imported_lines(saved / f"net{'.abc' if target == 'ALEMBIC' else '.usdc'}", target, shown)
    assert set(points) == {"Mesh" if faces else "Rods"}
    for number, expected in world.items():
        if faces:
            assert told["Mesh"] == len(obj.data.polygons) > 0
            np.testing.assert_allclose(points["Mesh"][number], expected, atol=1e-6)
        else:  # every edge lies between two points that follow one another
            assert told["Rods"] == pytest.approx(obj.tendril.radius)
            tree = points["Rods"][number]
            near = np.linalg.norm(tree[:, None] - expected, axis=2).argmin(axis=1)
            np.testing.assert_allclose(tree, expected[near], atol=1e-6)
            pairs = {frozenset(pair) for pair in zip(near[:-1].tolist(), near[1:].tolist(), strict=True)}
            assert {frozenset(edge) for edge in edges.tolist()} <= pairs
    assert np.abs(world[LAST] - world[1]).max() > 0.01


def reports(operator, capfd):
    """What an operator reports, as Blender prints it without a window."""
    capfd.readouterr()
    assert operator() == {"FINISHED"}
    return capfd.readouterr().out


def test_bake_all_bakes_each_rod_where_it_can_be_in_one_simulation(saved, monkeypatch, capfd):
    rope, hair = make_rod(name="Rope"), make_hair()
    keyed = make_rod(("POLY", line(y=2.0)), name="Keyed")
    for obj in (rope, hair):
        play(obj, 2)
    expected = play(rope, LAST)[LAST], read_rows(hair.data)
    keyed.shape_key_add(name="Basis")
    bpy.context.scene.frame_set(1)
    bpy.ops.tendril.cache_delete()
    steps = []
    step = Running.step
    monkeypatch.setattr(Running, "step", lambda self, poses: (steps.append(self.last_frame + 1), step(self, poses)))
    said = reports(bpy.ops.tendril.bake_all, capfd)
    assert steps == list(range(2, LAST + 1))
    assert '"Hair" is a hair object, which can\'t have shape keys: baked on disk' in said
    assert 'Not baked: "Keyed" already has shape keys: remove them first' in said
    assert rope.tendril.baked
    assert not hair.tendril.baked
    assert bpy.context.scene.tendril.disk_baked
    bpy.context.scene.frame_set(LAST)
    np.testing.assert_array_equal(read_rows(hair.data), expected[1])
    np.testing.assert_allclose(evaluated_points(rope), expected[0], atol=1e-5)


def test_hair_in_a_file_without_a_place_is_left_out_and_said(capfd):
    bpy.context.scene.frame_end = LAST
    rope, hair = make_rod(name="Rope"), make_hair()
    said = reports(bpy.ops.tendril.bake_all, capfd)
    assert 'Not baked: "Hair" is a hair object' in said
    assert rope.tendril.baked
    assert not hair.tendril.baked
    assert not bpy.context.scene.tendril.disk_baked


def test_rods_baked_one_by_one_are_simulated_once(monkeypatch):
    bpy.context.scene.frame_end = LAST
    objects = [make_rod(("POLY", line(y=float(k))), name=f"Rope {k}") for k in range(3)]
    steps = []
    step = Running.step
    monkeypatch.setattr(Running, "step", lambda self, poses: (steps.append(self.last_frame + 1), step(self, poses)))
    for obj in objects:
        activate(obj)
        assert bpy.ops.tendril.bake() == {"FINISHED"}
    assert steps == list(range(2, LAST + 1))
    assert all(obj.tendril.baked for obj in objects)
