"""Experiments: how they are found, run, told and drawn. Most tests run made-up ones."""

from __future__ import annotations

import math
import re
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest
import tendril
from tendril.core import Rod, Scene, Simulation, Stiffness
from tendril.core.store import cli
from tendril.sample_scenes import experiments
from tendril.sample_scenes.experiments import Experiment, meshes, picture, render
from tendril.sample_scenes.experiments.outcome import (
    BLUE,
    RED,
    Camera,
    Moment,
    Number,
    Outcome,
    Plot,
    Series,
    Solid,
    Tube,
)

ROOT = Path(tendril.__file__).resolve().parent
TOOLS = {
    "__init__",
    "command",
    "cartesian_rods",
    "clothoids",
    "compact_rods",
    "graphs",
    "hair_styles",
    "integrators",
    "meshes",
    "outcome",
    "overlap",
    "picture",
    "render",
    "strands",
}

RING = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])


def made_up(*numbers):
    """An experiment that gives these numbers, and counts how often it is run."""
    calls = []

    def run():
        calls.append(1)
        plot = Plot("a line", "x", "y", [Series([0, 1], [2, 3], "line")])
        return Outcome(numbers, [Moment("a ring", [Tube(RING, 0.2, closed=True)])], [plot])

    return Experiment("made_up", "A ring", "Nobody 1889, Fig. 1", run), calls


@pytest.fixture
def table(monkeypatch):
    def put(experiment):
        monkeypatch.setattr(experiments, "TABLE", {experiment.name: experiment})

    return put


@pytest.fixture(autouse=True)
def small_pictures(monkeypatch):
    monkeypatch.setattr(picture, "DPI", 40)


def run(tmp_path, *words):
    return cli.main(["experiment", *words, "--out", str(tmp_path / "pictures")])


def refused(capsys, code):
    captured = capsys.readouterr()
    assert code == 2
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    return line


# Found.


def test_every_experiment_is_in_the_table():
    files = {path.stem for path in (ROOT / "sample_scenes" / "experiments").glob("*.py")}
    assert set(experiments.TABLE) == files - TOOLS
    for name, experiment in experiments.TABLE.items():
        assert experiment.name == name
        assert experiment.title
        assert experiment.source


def test_the_page_shows_every_experiment():
    page = ROOT / "docs" / "experiments.md"
    text = page.read_text(encoding="utf-8")
    for name, experiment in experiments.TABLE.items():
        assert f"`{name}`" in text
        assert experiment.source in text
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (page.parent / target).exists(), f"links to {target}"
    assert "docs/experiments.md" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_package_is_installed_with_the_rest():
    folders = {}
    text = (ROOT / "setup.py").read_text(encoding="utf-8").replace("from setuptools import setup", "")
    exec(text, {"__file__": str(ROOT / "setup.py"), "setup": folders.update})
    assert {"tendril.core", "tendril.sample_scenes.experiments", "tendril.sample_scenes.samples"} <= set(
        folders["packages"]
    )


LAZY = """
import sys
import tendril.core.store.cli
assert not [name for name in sys.modules if name.startswith("tendril.sample_scenes")]
from tendril.sample_scenes.experiments import TABLE
assert "matplotlib" not in sys.modules
assert not [name for name in TABLE if f"tendril.sample_scenes.experiments.{name}" in sys.modules]
from tendril.sample_scenes.experiments.picture import check_installed
check_installed()
assert "matplotlib.figure" in sys.modules
"""


def test_nothing_is_imported_before_it_is_needed():
    """Run in the folder of the source, whose `packaging/` must not be taken for the package that matplotlib needs."""
    done = subprocess.run([sys.executable, "-c", LAZY], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


# The command.


def test_it_tells_the_numbers_and_draws(table, tmp_path, capsys):
    experiment, _ = made_up(Number.near("length", 1.004, 1.0, 0.01, "m", "a rule"), Number("speed", 3.0, "m/s"))
    table(experiment)
    assert run(tmp_path, "made_up") == 0
    out, err = capsys.readouterr()
    assert err == ""
    lines = out.splitlines()
    assert lines[0] == "A ring (Nobody 1889, Fig. 1)"
    rows = [re.split(r"\s{2,}", line.strip()) for line in lines[2:5]]
    assert rows == [
        ["measured", "expected"],
        ["length", "1.004 m", "1 ± 1 % (a rule)", "ok"],
        ["speed", "3 m/s"],
    ]
    assert len({line.index(word) for line, word in zip(lines[2:5], ("measured", "1.004", "3 m/s"), strict=True)}) == 1
    file = tmp_path / "pictures" / "made_up.png"
    assert str(file) in lines[-1]
    assert file.read_bytes().startswith(b"\x89PNG")


def test_a_number_out_of_its_tolerance_is_code_1(table, tmp_path, capsys):
    experiment, _ = made_up(Number.near("length", 1.02, 1.0, 0.01), Number.equal("knots", 1, 1))
    table(experiment)
    assert run(tmp_path, "made_up") == 1
    out, err = capsys.readouterr()
    assert re.search(r"length +1.02 +1 ± 1 % +OUT", out)
    assert re.search(r"knots +1 +1 +ok", out)
    assert err == "tendril: made_up: out of tolerance: length\n"
    assert (tmp_path / "pictures" / "made_up.png").exists()  # to see what went wrong


def test_the_picture_goes_where_it_is_sent(table, tmp_path, capsys):
    experiment, calls = made_up(Number.equal("knots", 1, 1))
    table(experiment)
    file = tmp_path / "deep" / "rings.svg"
    assert cli.main(["experiment", "made_up", "--plot", str(file)]) == 0
    assert "<svg" in file.read_text(encoding="utf-8")
    assert str(file) in capsys.readouterr().out
    assert "--plot" in refused(capsys, cli.main(["experiment", "made_up", "--plot", str(tmp_path / "rings.doc")]))
    assert len(calls) == 1


def test_the_list(table, capsys):
    table(made_up()[0])
    assert cli.main(["experiment", "--list"]) == 0
    assert capsys.readouterr().out == "made_up  A ring  Nobody 1889, Fig. 1\n"


@pytest.mark.parametrize("words", [["none_such"], []])
def test_wrong_names_are_answered_with_the_right_ones(table, tmp_path, capsys, words):
    table(made_up()[0])
    assert "choose one of made_up" in refused(capsys, run(tmp_path, *words))
    assert not (tmp_path / "pictures").exists()


def test_without_matplotlib(table, tmp_path, capsys, monkeypatch):
    """Said before any time is spent; the numbers can be had all the same."""
    experiment, calls = made_up(Number.equal("knots", 1, 1))
    table(experiment)
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "pip install matplotlib" in refused(capsys, run(tmp_path, "made_up"))
    assert not calls
    assert run(tmp_path, "made_up", "--no-picture") == 0
    assert calls
    assert not (tmp_path / "pictures").exists()


def test_without_the_experiments(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tendril.sample_scenes.experiments", None)
    assert "run it from the source" in refused(capsys, run(tmp_path, "made_up"))


def test_a_folder_that_cannot_be_made(table, tmp_path, capsys):
    table(made_up(Number.equal("knots", 1, 1))[0])
    (tmp_path / "pictures").write_text("in the way")
    assert "pictures" in refused(capsys, run(tmp_path, "made_up"))


@pytest.mark.parametrize(
    ("number", "good", "expected"),
    [
        (Number.near("x", 1.01, 1.0, 0.0101), True, "1 ± 1.01 %"),
        (Number.near("x", 0.98, 1.0, 0.01), False, "1 ± 1 %"),
        (Number.near("x", -1.0, -1.0, 0.01), True, "-1 ± 1 %"),
        (Number.near("x", math.nan, 1.0, 0.01), False, "1 ± 1 %"),
        (Number.between("x", 2.0, 1.0, 3.0), True, "1 to 3"),
        (Number.between("x", 2.0, -math.inf, 1.0, says="law"), False, "at most 1 (law)"),
        (Number.between("x", 2.0, 1.0, math.inf), True, "at least 1"),
        (Number.between("x", math.nan, -math.inf, math.inf), False, "at least -inf"),
        (Number.equal("x", True, False), False, "no"),
        (Number.equal("x", "trefoil", "trefoil"), True, "trefoil"),
    ],
)
def test_numbers(number, good, expected):
    assert number.within is good
    assert number.expected == expected
    assert Outcome([number], []).good == good


def test_values_that_are_not_compared_get_no_verdict():
    """Not even where something is said about what to expect."""
    from tendril.sample_scenes.experiments.command import report

    numbers = [Number("step", 0.2, "ms", "the paper: 0.1 ms"), Number.near("x", 1.0, 1.0, 0.1), Number("y", 2.0)]
    rows = [row.split() for row in report(Outcome(numbers, [])).splitlines()[1:]]
    assert [row[-1] == "ok" for row in rows] == [False, True, False]
    assert Outcome(numbers, []).good


# Drawn.


def twisted(points, closed, turns):
    """Directors along a flat curve in the plane of x and y, turning this often about it."""
    edges = np.roll(points, -1, axis=0) - points if closed else np.diff(points, axis=0)
    t = edges / np.linalg.norm(edges, axis=1)[:, None]
    up = np.array([0.0, 0.0, 1.0])
    angle = (2.0 * math.pi * turns * np.arange(len(t)) / len(t))[:, None]
    return np.cos(angle) * up + np.sin(angle) * np.cross(t, up)


def around(count, radius=1.0):
    angle = 2.0 * math.pi * np.arange(count) / count
    return radius * np.stack([np.cos(angle), np.sin(angle), np.zeros(count)], axis=1)


@pytest.mark.parametrize("turns", [0, 1, -7])
def test_stripes_follow_the_directors(turns):
    """Where the painted angle is zero, the surface lies in the director's direction: at every edge, and across the seam."""
    points = around(40)
    directors = twisted(points, True, turns)
    surface = meshes.tube_surface(Tube(points, 0.1, closed=True, directors=directors))
    middles = 0.5 * (points + np.roll(points, -1, axis=0))
    line = surface.vertices[surface.angle == 0.0]
    for middle, director in zip(middles, directors, strict=True):
        assert np.linalg.norm(line - (middle + 0.1 * director), axis=1).min() < 1e-9
    np.testing.assert_allclose(line[0], line[-1], atol=1e-9)
    steps = np.linalg.norm(np.diff(line, axis=0), axis=1)
    assert steps.max() < 0.1  # no jump anywhere


def test_tubes_have_their_radius():
    points = np.linspace((0.0, 0.0, 0.0), (1.0, 2.0, 2.0), 7)
    surface = meshes.tube_surface(Tube(points, 0.25))
    along = points[-1] / 3.0
    place = np.clip(surface.vertices @ along, 0.0, 3.0)
    out = surface.vertices - place[:, None] * along
    np.testing.assert_allclose(np.linalg.norm(out, axis=1), 0.25, atol=1e-9)  # ends are round
    outwards = np.einsum("ij,ij->i", surface.normals, out / 0.25)
    assert outwards.min() > 0.999


def test_sections_may_be_elliptic():
    points = np.linspace((0.0, 0.0, 0.0), (0.0, 3.0, 0.0), 4)
    directors = np.tile([0.0, 0.0, 1.0], (3, 1))
    x = meshes.tube_surface(Tube(points, [[0.3, 0.1]] * 3, directors=directors)).vertices
    np.testing.assert_allclose(np.abs(x).max(axis=0)[[0, 2]], (0.1, 0.3), atol=1e-9)


def test_a_tube_keeps_its_width_around_a_corner():
    points = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [2.0, 2.0, 0.0]])
    x = meshes.tube_surface(Tube(points, 0.1)).vertices
    at_corner = x[(np.abs(x[:, 0] - 2.0) < 0.15) & (np.abs(x[:, 1]) < 0.15)]
    assert at_corner[:, 0].max() == pytest.approx(2.1, abs=1e-3)
    assert at_corner[:, 1].min() == pytest.approx(-0.1, abs=1e-3)


TURNED = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # its z axis is the world's x


def shape(kind, **fields):
    """Anything with the right name and fields is a collider to the drawing."""
    return type(kind, (types.SimpleNamespace,), {})(**fields)


TETRAHEDRON = np.array([[6.0, 1.0, 1.0], [6.0, -1.0, -1.0], [4.0, 1.0, -1.0], [4.0, -1.0, 1.0]])


@pytest.mark.parametrize(
    ("solid", "extent"),
    [
        (shape("Sphere", radius=2.0, position=(5, 0, 0)), (2, 2, 2)),
        (shape("Capsule", radius=0.5, length=2.0, position=(5, 0, 0), rotation=TURNED), (1.5, 0.5, 0.5)),
        (shape("Cylinder", radius=0.5, length=2.0, position=(5, 0, 0), rotation=TURNED), (1.0, 0.5, 0.5)),
        (shape("Box", size=(1.0, 2.0, 4.0), position=(5, 0, 0), rotation=TURNED), (2.0, 0.5, 1.0)),
        (
            shape("Mesh", vertices=TETRAHEDRON, triangles=[[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]]),
            (1, 1, 1),
        ),
    ],
)
def test_colliders_have_their_size_and_face_outwards(solid, extent):
    surface = meshes.solid_surface(Solid(solid), 1.0, np.zeros(3))
    x = surface.vertices - (5.0, 0.0, 0.0)
    np.testing.assert_allclose(x.max(axis=0), extent, atol=1e-9)
    np.testing.assert_allclose(x.min(axis=0), np.negative(extent), atol=1e-9)
    corners = x[surface.triangles]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    real = np.linalg.norm(across, axis=1) > 1e-12
    assert np.einsum("fi,fi->f", across, corners.mean(axis=1))[real].min() > 0.0
    assert np.einsum("fi,fci->fc", across, surface.normals[surface.triangles])[real].min() > 0.0
    np.testing.assert_allclose(np.linalg.norm(surface.normals, axis=1), 1.0, atol=1e-12)


def seen(surfaces, eye=(0.0, 0.0, 1.0), up=(0.0, 1.0, 0.0), height=4.0, size=(60, 60)):
    return render.render(surfaces, render.View(render.view_axes(eye, up), np.zeros(3), height), size, 0.2)


def is_red(pixel):
    return pixel[0] > 2.0 * pixel[2]


def test_the_nearer_tube_hides_the_other():
    """At a crossing, from above and from below, and whatever is drawn first."""
    upper = meshes.tube_surface(Tube([[-1.5, 0.0, 0.2], [1.5, 0.0, 0.2]], 0.2, RED))
    lower = meshes.tube_surface(Tube([[0.0, -1.5, -0.2], [0.0, 1.5, -0.2]], 0.2, BLUE))
    for surfaces in ([upper, lower], [lower, upper]):
        above, below = seen(surfaces), seen(surfaces, eye=(0.0, 0.0, -1.0))
        assert is_red(above[30, 30])
        assert not is_red(below[30, 30])
        assert is_red(below[30, 45])
        for image in (above, below):
            assert image[30, 30, 3] == 1.0
            assert image[5, 5, 3] == 0.0
            assert not is_red(image[15, 30])


def test_directions_on_the_image():
    right = meshes.solid_surface(Solid(shape("Sphere", radius=0.4, position=(1, 0, 0)), RED), 1.0, np.zeros(3))
    top = meshes.solid_surface(Solid(shape("Sphere", radius=0.4, position=(0, 0, 1)), BLUE), 1.0, np.zeros(3))
    image = seen([right, top], eye=(0.0, -1.0, 0.0), up=(0.0, 0.0, 1.0))
    assert is_red(image[30, 45])
    assert image[15, 30, 3] == 1.0
    assert not is_red(image[15, 30])
    assert image[45, 30, 3] == image[30, 15, 3] == 0.0


def test_shadow_falls_on_a_plane():
    plane = meshes.solid_surface(Solid(shape("Plane", point=(0, 0, -1), normal=(0, 0, 1))), 6.0, np.zeros(3))
    ball = meshes.solid_surface(Solid(shape("Sphere", radius=0.5, position=(0, 0, 0))), 1.0, np.zeros(3))
    with_ball, without = seen([plane, ball], height=6.0), seen([plane], height=6.0)
    darker = without[:, :, :3].sum(axis=2) - with_ball[:, :, :3].sum(axis=2)
    # Ten pixels to a metre, and the light comes from the upper left.
    assert darker[42, 37] > 0.3
    for row, column in ((18, 37), (18, 23), (42, 23)):
        assert abs(darker[row, column]) < 0.02


def test_a_picture_with_everything(tmp_path):
    """Moments of several shapes, with cameras of their own, colliders, plots, and more than one row."""
    ring, rod = around(30), np.linspace((-1.0, 0.0, 0.3), (1.0, 0.0, 0.5), 12)
    plane = Solid(shape("Plane", point=(0, 0, -0.3), normal=(0, 0, 1)))
    below = Solid(shape("Plane", point=(0, 0, 3), normal=(0, 0, -1)))
    moments = [
        Moment("one", [Tube(ring, 0.1, closed=True, directors=twisted(ring, True, 3))], [plane, below]),
        Moment("two", [Tube(rod, 0.05), Tube(ring, 0.1, RED, True)], [plane]),
        Moment("three", [Tube(rod, 0.05)], camera=Camera((0.0, 0.0, 1.0), height=5.0, centre=(0.0, 0.0, 0.0))),
    ]
    outcome = Outcome([Number.near("x", 2.0, 1.0, 0.1)], moments, [Plot("p", "x", "y", [Series([1], [2])])], columns=2)
    file = tmp_path / "all.png"
    picture.draw(outcome, file, "Everything", "Nobody 1889")
    assert file.stat().st_size > 10_000


def test_a_rod_of_a_simulation_is_drawn_as_it_is():
    scene = Scene()
    rod = Rod.from_points(RING, radius=0.02, stiffness=Stiffness(1e3, 1.0, 1.0, 1.0, mass_per_length=1.0), closed=True)
    scene.add(rod)
    frame = Simulation(scene, threads=1).current()
    tube = Tube.of(frame, 0, rod, RED)
    np.testing.assert_array_equal(tube.points, RING)
    assert tube.closed
    assert meshes.tube_surface(tube).colour == RED
    assert np.max(np.asarray(tube.radius)) == 0.02
    assert Tube.of(frame, 0, rod, radius=0.1).radius == 0.1


# The real ones.


def test_michell_ring_in_short(tmp_path, capsys, monkeypatch):
    from tendril.sample_scenes.experiments import michell_ring

    monkeypatch.setattr(michell_ring, "STIFFNESSES", (1.0,))
    monkeypatch.setattr(michell_ring, "BRACKETED", (1.0,))
    monkeypatch.setattr(michell_ring, "TWISTS", (10.0, 12.0))
    assert run(tmp_path, "michell_ring") == 0
    out = capsys.readouterr().out
    for model in ("der2008", "der"):
        assert re.search(rf"rings that do as the formula says, {model} +2 +2 \(all but 0 within 2 % of it\) +ok", out)
    assert re.search(r"critical twist, GJ/EI = 1 +10\.9\d* rad +10\.88 ± 1 %", out)
    assert (tmp_path / "pictures" / "michell_ring.png").exists()


def test_twist_asymmetry_in_short():
    from tendril.sample_scenes.experiments import twist_asymmetry as asymmetry

    vee, arc = (asymmetry.turned(points, turns=1.0) for points in (asymmetry.v_shape(), asymmetry.half_circle()))
    for turns in (0.1, 0.5, 1.0):
        assert 0.9 < vee.share(vee.at(turns)) < 1.1
        assert 0.8 < arc.share(arc.at(turns)) < 1.2
    for course in (vee, arc):
        assert course.twist[0] == pytest.approx(np.zeros(47), abs=1e-12)
        assert course.twist[-1].sum() == pytest.approx(2.0 * math.pi, rel=0.15)  # the rest is writhe


def test_helical_perversion_in_short(monkeypatch):
    from tendril.sample_scenes.experiments import helical_perversion as perversion

    drawn = perversion.natural_shape()[0]
    assert perversion.windings(drawn)[-1] == pytest.approx(perversion.COILS, abs=0.05)
    assert perversion.windings(drawn * [1.0, 1.0, -1.0])[-1] == pytest.approx(-perversion.COILS, abs=0.05)
    monkeypatch.setattr(perversion, "RELEASE", 400.0)
    monkeypatch.setattr(perversion, "REST", 0.0)
    course = perversion.pulled_and_released()
    turns = perversion.windings(course.frames[-1].positions(0))
    assert abs(perversion.windings(course.at(perversion.PULL + perversion.UNWIND).positions(0))[-1]) < 1.5
    middle = perversion.SEGMENTS // 2
    assert turns[middle - 7] == pytest.approx(turns[middle + 7] - turns[-1], rel=0.1)  # mirror images
    assert abs(turns[middle - 7]) > 1.5


def test_parts_of_a_step_of_compact_rods_in_short():
    """Parts are less than the whole, and contacts are counted where there are any."""
    from tendril.sample_scenes.experiments import compact_table_1 as table

    of = {scenario.figure: scenario for scenario in table.SCENARIOS}
    free, knotted = table.measured(of["Fig. 11"], 20), table.measured(of["Fig. 15"], 5)
    for found in (free, knotted):
        assert 0.0 < found.parts[2] < found.parts[1] < found.parts[0]
        assert sum(found.parts) + found.search < found.total
        assert found.failures == 0
    assert (free.considered, free.search) == (0.0, 0.0)
    assert knotted.considered >= knotted.acting > 1.0
    assert knotted.search > 0.0


def test_induced_twist_in_short():
    from tendril.sample_scenes.experiments import induced_twist

    assert not induced_twist.leaves(0.97 * induced_twist.threshold())
    assert induced_twist.leaves(1.05 * induced_twist.threshold())


@pytest.mark.parametrize("name", ["redundancy", "spinning_body"])
def test_short_experiments_whole(name):
    assert not [number for number in experiments.TABLE[name].run().numbers if number.failed]


def changed(monkeypatch, module, **values):
    for name, value in values.items():
        monkeypatch.setattr(module, name, value)


def test_trefoil_in_short(monkeypatch):
    """Coarse and quick, in one direction: the knot jumps, stays a trefoil, and nothing passes through it."""
    from tendril.sample_scenes.experiments import trefoil

    changed(monkeypatch, trefoil, SEGMENTS=60, RADIUS=0.007, REST=1.0, RATE=3.0, TURNS=4.5, SECONDS=3.0)
    knot = trefoil.twisted(1.0, "der")
    assert knot.trefoil.all()
    assert np.abs(knot.twist + knot.writhe - knot.turns - knot.twist[0] - knot.writhe[0]).max() < 1e-9
    assert knot.jump > 0
    assert np.abs(knot.writhe[knot.jump] - knot.writhe[24]) < 0.3
    assert np.abs(knot.writhe[-1] - knot.writhe[knot.jump]) > 0.3
    assert knot.gap.min() > -0.02
    assert not sum(frame.report.failures for frame in knot.frames)


def test_plectonemes_in_short():
    """Coarse and quick: twist becomes writhe, and one plectoneme forms."""
    from tendril.sample_scenes.experiments import plectonemes

    rod = plectonemes.twisted(plectonemes.SLOW._replace(segments=80, turns=10.0, rate=5.0, seconds=2.5))
    assert np.abs(rod.twist + rod.writhe - rod.turns - rod.writhe[0]).max() < 1e-9
    assert rod.writhe[: len(rod.writhe) // 2].max() < 0.5
    assert rod.writhe[-1] > 3.0
    assert rod.twist[-1] < 0.9 * rod.twist.max()
    (touching,) = plectonemes.plectonemes(rod.frames[-1].positions(0))
    assert touching > 10
    assert rod.gap.min() > -0.02


@pytest.mark.parametrize("closed", [False, True])
def test_chain_in_short(closed, monkeypatch):
    """Three links, pulled quickly: open ones come apart and fly, closed ones hold."""
    from tendril.sample_scenes.experiments import chain

    straight = 2.0 * chain.PITCH + 2.0
    changed(monkeypatch, chain, LINKS=3, STRAIGHT=straight, HANGING=0.8 * straight, BRINGING=0.3, REST=0.4, SPEED=12.0)
    monkeypatch.setattr(chain, "TAUT", 0.4 + 0.2 * straight / 12.0)
    monkeypatch.setattr(chain, "AFTER", 0.1)
    pulled = chain.pulled(closed, 6.5 if closed else chain.FARTHEST)
    assert (pulled.broken < 0) == closed
    assert pulled.passages == 0
    assert pulled.gap.min() > -0.02
    if not closed:
        assert chain.width(pulled.frames[pulled.broken].time) > straight
        assert pulled.speed[pulled.broken :].max() > 24.0


@pytest.mark.long
def test_a_step_is_five_times_as_fast_as_in_2008():
    """By a factor of 15 to 40; two are for busy machines."""
    from tendril.sample_scenes.experiments import table_1

    for row in table_1.ROWS[:3]:
        assert table_1.measured(row, rounds=3, repeats=200).total < row.total / 5.0


def test_spiral_in_short():
    """Half of the turn: the model of 2009 and the implicit one agree, and the coils leave the axis."""
    from tendril.sample_scenes.experiments import spiral

    ours, theirs = (spiral.loaded(model, 0.5 * spiral.TURNS) for model in ("net", "corde"))
    assert spiral.apart(ours, theirs) < 0.1
    np.testing.assert_allclose(theirs.energy[-1], ours.energy[-1], rtol=0.05)
    assert theirs.aside[-1] > 0.4
    assert theirs.failures == ours.failures == 0


def test_ghost_substeps_in_short():
    """With the smallest sufficient number no step is halved, with one less some are: the number that the experiment asserts."""
    from tendril.sample_scenes.experiments import ghost_substeps

    assert ghost_substeps.shaken(0.01, 5)[2]
    assert not ghost_substeps.shaken(0.01, 4)[2]
    assert ghost_substeps.MORE * ghost_substeps.PAPER[0.01][0] >= 5


def test_preconditioners_in_short(monkeypatch):
    """Case 24: the hybrid's iterations stay flat, and are ten times fewer than those of the block diagonal."""
    from tendril.sample_scenes.experiments import preconditioners

    monkeypatch.setattr(preconditioners, "STEPS", 2)
    hybrid = [preconditioners.cost(n, "hybrid", times=1).iterations for n in (100, 400, 1600)]
    assert max(hybrid) < 1.2 * hybrid[0]
    assert preconditioners.cost(400, "block diagonal", times=1).iterations > 10.0 * hybrid[1]
    soft, stiff = (preconditioners.cost(200, "hybrid", young, times=1).iterations for young in (1e4, 1e8))
    assert stiff < 0.5 * soft


def test_a_dragged_root(tmp_path, monkeypatch):
    """Case 23, all of it but for how fast it is."""
    from tendril.sample_scenes.experiments import dragged

    monkeypatch.setattr(dragged, "frames_per_second", lambda: math.inf)
    assert run(tmp_path, "dragged") == 0


def test_compact_and_cartesian_rods_move_alike(monkeypatch):
    """A solver that shares no code with the simulator: the same helix with Lagrange multipliers in Cartesian coordinates."""
    from tendril.sample_scenes.experiments import helix

    monkeypatch.setattr(helix, "SEGMENTS", 60)
    ours, _ = helix.compact_history(12)
    theirs = helix.cartesian_history(None, 20, 12)
    np.testing.assert_allclose(ours.kinetic, theirs.kinetic, rtol=1e-4)
    assert np.abs(ours.stretch).max() < 1e-14
    assert ours.misaligned.max() < 1e-12 < theirs.misaligned.max()
    loose = helix.cartesian_history(1e3, 5, 12)
    assert np.abs(loose.stretch).max() > 1e-4


def test_a_choice_of_models(table, tmp_path, capsys):
    calls = []

    def outcome(model="der"):
        calls.append(model)
        return Outcome([Number.equal("knots", 1, 1)], [Moment("a ring", [Tube(RING, 0.2, closed=True)])])

    table(Experiment("made_up", "A ring", "Nobody 1889, Fig. 1", outcome, ("der", "compact")))
    assert run(tmp_path, "made_up", "--model", "compact") == 0
    assert run(tmp_path, "made_up") == 0
    assert calls == ["compact", "der"]
    assert {path.name for path in (tmp_path / "pictures").iterdir()} == {"made_up.png", "made_up_compact.png"}
    capsys.readouterr()
    assert "choose one of der, compact" in refused(capsys, run(tmp_path, "made_up", "--model", "cloth"))


@pytest.mark.long
@pytest.mark.parametrize("name", experiments.TABLE)
def test_experiments(name, tmp_path):
    assert run(tmp_path, name) == 0


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name, one in experiments.TABLE.items() if "compact" in one.models])
def test_experiments_with_compact_rods(name, tmp_path):
    assert run(tmp_path, name, "--model", "compact") == 0
