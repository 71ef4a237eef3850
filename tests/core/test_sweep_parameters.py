"""Which variants a sweep has, how parameters are addressed, and what is refused before anything starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tendril.core import Body, Field, Material, Net, Plane, Rod, Scene, Sphere, TendrilError
from tendril.core.store import cli
from tendril.sweep.paths import parse_path, set_in_scene
from tendril.sweep.sampling import parse_axis, samples
from tendril.sweep.scene_tasks import load_variant
from tendril.sweep.variants import folder_names, labels

POINTS = np.linspace((0.0, 0.0, 1.0), (1.0, 0.0, 1.0), 6)


def axes(*texts: str) -> list:
    return [parse_axis(text) for text in texts]


# Sampling ---------------------------------------------------------------------------------------------------------------


def test_a_grid_has_every_combination_in_order() -> None:
    made = samples(axes("a=1,2", "b=0:10:3", "model=der,compact"))
    assert len(made) == 12
    assert made[0] == (("a", 1), ("b", 0.0), ("model", "der"))
    assert made[-1] == (("a", 2), ("b", 10.0), ("model", "compact"))
    assert len(set(folder_names(made))) == 12


def test_even_ratios_end_exactly() -> None:
    assert [value for ((_, value),) in samples(axes("e=1e7:1e9:3:log"))] == pytest.approx([1e7, 1e8, 1e9])
    assert samples(axes("e=1e7:1e9:3:log"))[-1] == (("e", 1e9),)


def test_values_may_be_vectors_and_truth_values() -> None:
    assert samples(axes("g=(0,0,-9.81),(0,0,-1.6)", "on=True")) == [
        (("g", (0, 0, -9.81)), ("on", True)),
        (("g", (0, 0, -1.6)), ("on", True)),
    ]


def test_a_latin_hypercube_has_one_variant_in_each_part_of_every_axis() -> None:
    made = samples(axes("a=0:1", "b=100:200", "c=1:1000:2:log"), "latin", 20, seed=3)
    for column, (low, high, scale) in enumerate(((0, 1, float), (100, 200, float), (0, np.log(1000), np.log))):
        shares = (np.array([scale(one[column][1]) for one in made]) - low) / (high - low)
        assert sorted((shares * 20).astype(int)) == list(range(20))
    assert made == samples(axes("a=0:1", "b=100:200", "c=1:1000:2:log"), "latin", 20, seed=3)


def test_random_sampling_covers_its_ranges_and_depends_on_the_seed() -> None:
    made = samples(axes("a=-1:1", "kind=x,y"), "random", 200, seed=1)
    values = np.array([one[0][1] for one in made])
    assert -1 <= values.min() < -0.9
    assert 0.9 < values.max() <= 1
    assert {one[1][1] for one in made} == {"x", "y"}
    assert made != samples(axes("a=-1:1", "kind=x,y"), "random", 200, seed=2)


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        ([], {}, "the grid is empty"),
        (["a"], {}, "write PARAMETER=VALUE"),
        (["a="], {}, "write PARAMETER=VALUE"),
        (["a=1,,2"], {}, "a value is missing"),
        (["a=1,1"], {}, "give each value once"),
        (["a=1:2:0"], {}, "a count from 1"),
        (["a=1:2:x"], {}, "a count from 1"),
        (["a=0:2"], {}, "a grid needs a number of values"),
        (["a=0:2:3:log"], {}, "above zero"),
        (["a=1", "a=2"], {}, "all values of a parameter at once"),
        (["a=1"], {"sampling": "sobol"}, "choose one of grid, random, latin"),
        (["a=0:1"], {"sampling": "latin"}, "needs the number of variants"),
        (["a=0:1"], {"sampling": "random", "count": 0}, "whole number from 1"),
        (["a=0:1:3"], {"count": 5}, "as many variants as combinations"),
        (["a=0:1:1000", "b=0:1:1000"], {}, "at most 100000"),
    ],
)
def test_bad_values_are_refused(texts: list[str], options: dict, message: str) -> None:
    with pytest.raises(TendrilError, match=message):
        samples(axes(*texts), **options)


def test_labels_are_short_where_that_is_unambiguous() -> None:
    assert labels([(("rods[0].radius", 0.01), ("wind", 2.0))]) == ["radius=0.01, wind=2"]
    assert labels([(("rods[0].radius", 0.01), ("rods[1].radius", 0.02))]) == [
        "rods[0].radius=0.01, rods[1].radius=0.02"
    ]


# Paths ------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def scene() -> Scene:
    made = Scene(wind=(0.0, 2.0, 0.0))
    made.add(Rod.from_points(POINTS, radius=0.01, material=Material(1e8, 1000.0, 0.3)))
    made.add(Rod.from_points(POINTS + 1.0, radius=0.01, material=Material(1e8, 1000.0, 0.3)))
    made.add(Net.from_edges(POINTS + 2.0, [(k, k + 1) for k in range(5)], radius=0.01, material=Material(1e8, 1000.0)))
    made.pin(0, "start")
    made.collide(Plane((0, 0, -1)), friction=0.2)
    made.add_body(Body(Sphere(0.1), density=500.0, position=(0.0, 0.0, 5.0)))
    made.add_field(Field("wind", strength=1.0))
    return made


def test_parts_of_a_scene_are_made_again_with_the_value(scene: Scene) -> None:
    before = scene.entries[0].rod, scene.entries[1].rod
    mass = scene.bodies[0].mass
    for path, value in (
        ("rods[0].material.young", 2e8),
        ("rods[*].radius", 0.02),
        ("rods[2].material.density", 3000.0),
        ("rods[1].friction", 0.9),
        ("rods[1].model", "compact"),
        ("colliders[0].friction", 0.7),
        ("colliders[0].thickness", 0.01),
        ("bodies[0].density", 1000.0),
        ("bodies[0].shape.radius", 0.2),
        ("fields[0].strength", 5.0),
        ("scene.gravity[2]", -1.6),
        ("scene.wind", 6.0),
        ("scene.drag", 0.5),
    ):
        set_in_scene(scene, path, value)
    rods = [entry.rod for entry in scene.entries]
    assert rods[0].stretch == pytest.approx(2 * 4 * before[0].stretch)  # twice the modulus, four times the area
    assert rods[1].stretch == pytest.approx(4 * before[1].stretch)
    assert rods[0].twist_stiffness == pytest.approx(2 * 16 * before[0].twist_stiffness)  # Poisson's ratio stays
    assert rods[2].mass_per_length == pytest.approx(3000.0 * np.pi * 0.02**2)
    assert (scene.entries[1].friction, scene.entries[1].model) == (0.9, "compact")
    assert (scene.colliders[0].friction, scene.colliders[0].thickness) == (0.7, 0.01)
    assert scene.bodies[0].mass == pytest.approx(2 * 8 * mass)
    assert scene.fields[0].strength == 5.0
    assert scene.gravity.tolist() == [0.0, 0.0, -1.6]
    assert scene.wind.tolist() == [0.0, 6.0, 0.0]  # a number is the length of a vector
    assert scene.drag == 0.5
    assert scene.holds[0].rod == 0


def test_setting_a_value_to_what_it_was_changes_nothing(scene: Scene) -> None:
    before = scene.fingerprint()
    for path, value in (
        ("rods[0].material.young", 1e8),
        ("rods[2].radius", 0.01),
        ("bodies[0].density", 500.0),
        ("wind.y", 2.0),
    ):
        set_in_scene(scene, path, value)
    assert scene.fingerprint() == before
    set_in_scene(scene, "rods[0].material.young", 1.001e8)
    assert scene.fingerprint() != before


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("rods[7].radius", 0.1, "3 of them"),
        ("rods.radius", 0.1, "name one of them"),
        ("rods[0].radios", 0.1, "there is no radios: choose from radius"),
        ("rods[0].material.d", 0.1, "d is ambiguous: choose from"),
        ("rods[0].material.young.x", 0.1, "a float has no parts"),
        ("rods[0].radius", "thick", "it replaces 0.01"),
        ("rods[0].radius", -0.1, "radius is -0.1"),
        ("rods[0].model", "wool", "choose one of"),
        ("scene.gravty", 0.1, "there is no gravty: choose from gravity"),
        ("scene.gravity[5]", 0.1, "give an index from 0 to 2"),
        ("scene.rod_contact", 1.0, "it replaces False"),
        ("rods[0]..radius", 1.0, "write a name"),
        ("[0].radius", 1.0, "write a name"),
        ("rods[0]radius", 1.0, "write a name"),
    ],
)
def test_unknown_parts_and_unfit_values_are_refused(scene: Scene, path: str, value: object, message: str) -> None:
    before = scene.fingerprint()
    with pytest.raises(TendrilError, match=message):
        set_in_scene(scene, path, value)
    assert scene.fingerprint() == before


def test_paths_have_names_numbers_and_quoted_keys() -> None:
    assert parse_path("rods[0].material.young") == ["rods", 0, "material", "young"]
    assert parse_path('objects["My Rope"].tendril.radius') == ["objects", "My Rope", "tendril", "radius"]


# Scene files ------------------------------------------------------------------------------------------------------------

FILE = """\
from __future__ import annotations
import numpy as np
from tendril.core import Material, Rod, Scene

rope = Material(1e9, 1100)
count: int = 5
half = 0.5 * count

def build(radius: float = 0.01, wind=(1.0, 0.0, 0.0)) -> Scene:
    scene = Scene(wind=wind)
    scene.add(Rod.from_points(np.linspace((0, 0, half), (1, 0, half), count + 1), radius=radius, material=rope))
    return scene
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "scene.py"
    made.write_text(FILE)
    return made


def test_names_of_a_file_are_set_where_they_are_defined(file: Path) -> None:
    values = (("rope.young", 2e9), ("count", 8), ("radius", 0.02), ("wind", 3.0), ("simulation.substeps", 2))
    scene, _, options = load_variant(str(file), values)
    rod = scene.entries[0].rod
    assert rod.vertex_count == 9
    assert rod.points[0, 2] == 4.0  # what follows from a name follows from its new value
    assert rod.stretch[0] == pytest.approx(2e9 * np.pi * 0.02**2)
    assert scene.wind.tolist() == [3.0, 0.0, 0.0]
    assert options == {"substeps": 2}


def test_equal_values_have_one_digest_and_others_another(file: Path) -> None:
    def digest(*values: tuple[str, object]) -> str:
        return load_variant(str(file), values)[1]

    assert digest(("rope.young", 2e9)) == digest(("rope.young", 2e9))
    assert digest(("rope.young", 2e9)) != digest(("rope.young", 3e9))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--set", "ropes.young=1,2"], "there is no ropes: choose from rope"),
        (["--set", "rope.yong=1,2"], "there is no yong: choose from young_modulus"),
        (["--set", "simulation.steps=1"], "choose from"),
        (["--set", "rods[1].radius=1"], "the scene has 1 of them"),
        ([], "the grid is empty"),
        (["--set", "radius=1:2:0"], "a count from 1"),
        (["--set", "radius=1", "--frames", "9", "1"], "the first frame and then the last"),
        (["--set", "radius=1", "--workers", "0"], "whole number from 1"),
        (["--set", "radius=1", "--slurm", "short"], "write NAME=VALUE"),
        (["--set", "radius=1", "--slurm", "queue=a", "--scheduler", "b"], "either a scheduler"),
    ],
)
def test_the_command_refuses_before_anything_starts(
    file: Path, tmp_path: Path, capsys, words: list[str], message: str
) -> None:
    assert cli.main(["sweep", str(file), "--out", str(tmp_path / "out"), *words]) == cli.BAD_INPUT
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1, "one sentence"
    assert not (tmp_path / "out").exists()


def test_a_scene_that_is_missing_or_broken_is_refused(tmp_path: Path, capsys) -> None:
    assert cli.main(["sweep", str(tmp_path / "none.py"), "--set", "a=1", "--out", str(tmp_path)]) == cli.BAD_INPUT
    assert "there is no such file" in capsys.readouterr().err
    broken = tmp_path / "broken.py"
    broken.write_text("radius = 1\nraise OSError('no such shape')\n")
    assert cli.main(["sweep", str(broken), "--set", "radius=1", "--out", str(tmp_path)]) == cli.BAD_INPUT
    assert "OSError: no such shape" in capsys.readouterr().err


def test_an_unreachable_scheduler_is_one_sentence(file: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "numbers.csv").write_text("of an earlier run")
    words = [
        "--set",
        "radius=0.01,0.02",
        "--scheduler",
        "tcp://127.0.0.1:9",
        "--out",
        str(tmp_path / "out"),
        "--no-sheet",
    ]
    command = [sys.executable, "-m", "tendril", "sweep", str(file), *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False)
    assert done.returncode == cli.BAD_INPUT
    assert "tcp://127.0.0.1:9" in done.stderr
    assert "no Dask scheduler answers there" in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert (tmp_path / "out" / "numbers.csv").read_text() == "of an earlier run"


def test_dask_is_an_extra_that_is_asked_for(file: Path, tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['distributed'] = None\n"
        "from tendril.core.store.cli import main\n"
        f"sys.exit(main(['sweep', {str(file)!r}, '--set', 'radius=0.01', '--no-sheet', '--out', {str(tmp_path / 'out')!r}]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False
    )
    assert done.returncode == cli.BAD_INPUT
    assert 'pip install "tendril[sweep]"' in done.stderr
    assert done.stderr.count("\n") == 1
