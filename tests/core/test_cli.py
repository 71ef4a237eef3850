"""The command line: what it bakes, how it goes on, and what it says when it can't.

Most tests run a stand-in for the simulation, chaotic and cheap; the last ones run the real one as a user does.
"""

from __future__ import annotations

import importlib
import os
import shutil
import signal
import subprocess
import sys
import time
import types
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import tendril
from tendril.core import FrameCache, Simulation, TendrilError
from tendril.core.models.protocol import Energies
from tendril.core.store import cli
from tendril.core.store.archive import save_arrays

ROOT = Path(tendril.__file__).resolve().parent
ROPE = ROOT / "sample_scenes" / "hanging_rope.py"

SCENE = """\
import numpy as np
from tendril.core import Material, Rod, Scene

def build():
    scene = Scene()
    for z in (0.0, 1.0):
        points = np.array([[0.0, 0.0, z], [0.5, 0.0, z], [1.0, 0.0, z]])
        scene.add(Rod.from_points(points, radius=0.01, material=Material.preset("rubber")))
    return scene
"""

MOVED = (
    SCENE
    + """
scene = build()
scene.pin(0, "start", lambda t: (0.0, 0.1 * t, 0.0))
"""
)


class Interrupted:
    """When the stand-in is to be interrupted: before or after it has changed its state for a frame."""

    def __init__(self):
        self.before = self.after = None


class FakeSimulation:
    """Same face as Simulation; each step is a chaotic map, which turns one wrong bit into other numbers at once."""

    interrupted = Interrupted()

    def __init__(self, scene, frame_rate=24.0, *, substeps=4, integrator="tr-bdf2", threads=None, first_frame=1):
        if frame_rate <= 0.0:
            raise TendrilError("frame_rate", frame_rate, "give a finite number above zero")
        self.scene, self.frame_rate, self.substeps, self.integrator = scene, frame_rate, substeps, integrator
        self.first_frame = self.frame = first_frame
        self.x = np.linspace(0.1, 0.9, sum(entry.rod.vertex_count for entry in scene.entries) * 3)
        self.state_size = len(self.x)

    @property
    def time(self):
        return (self.frame - self.first_frame) / self.frame_rate

    def step_frame(self):
        if self.frame + 1 == self.interrupted.before:
            raise KeyboardInterrupt
        for hold in self.scene.holds:
            if hold.path is not None:
                hold.path(self.time)
        for _ in range(self.substeps):
            self.x = 3.9 * self.x * (1.0 - self.x)
        self.frame += 1
        if self.frame == self.interrupted.after:
            raise KeyboardInterrupt
        return self.current()

    def frames(self, first, last):
        yield self.current()
        while self.frame < last:
            yield self.step_frame()

    def current(self):
        starts = np.cumsum([0] + [entry.rod.vertex_count for entry in self.scene.entries])
        points = self.x.reshape(-1, 3).copy()
        report = types.SimpleNamespace(
            converged=self.frame != 5,
            iterations=3,
            residual=1e-9,
            halvings=0,
            fallbacks=0,
            energies=Energies(),
            problems=(),
            severity="1 rod not solved",
        )
        return types.SimpleNamespace(
            number=self.frame,
            time=self.time,
            report=report,
            positions=lambda rod: points[starts[rod] : starts[rod + 1]],
        )

    def state(self):
        return self.x.copy()

    def restore(self, state, frame):
        self.x, self.frame = np.array(state), frame


@pytest.fixture
def fake(monkeypatch):
    monkeypatch.setattr("tendril.core.run.simulation.Simulation", FakeSimulation)
    monkeypatch.setattr(FakeSimulation, "interrupted", Interrupted())
    return FakeSimulation


@pytest.fixture
def scene(tmp_path):
    path = tmp_path / "scene.py"
    path.write_text(SCENE)
    return path


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "rope.cache"


def bake(scene, cache, *more, frames=(1, 8)):
    return cli.main(["bake", str(scene), "--cache", str(cache), "--frames", *map(str, frames), *more])


def refused(capsys, code):
    """The one sentence on stderr of a command that ended with code 2."""
    captured = capsys.readouterr()
    assert code == 2
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    return line


def test_the_stand_in_has_the_face_of_the_simulation():
    missing = [name for name in vars(FakeSimulation) if not name.startswith("_") and not hasattr(Simulation, name)]
    assert missing == ["interrupted"]


def test_bake_writes_every_frame(fake, scene, cache):
    assert bake(scene, cache, frames=(-1, 6)) == 0
    sim = fake(cli.load_scene(str(scene))[0], first_frame=-1)
    with FrameCache.open(cache) as frames:
        assert frames.frames == range(-1, 7)
        for number in frames.frames:
            assert frames.read(number).tobytes() == sim.state().tobytes()
            sim.step_frame()


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("at", [2, 5, 8])
def test_an_interrupted_bake_goes_on_to_the_same_bits(fake, scene, cache, tmp_path, capsys, when, at):
    assert bake(scene, tmp_path / "whole.cache") == 0
    capsys.readouterr()
    setattr(fake.interrupted, when, at)
    assert bake(scene, cache) == cli.INTERRUPTED
    said = capsys.readouterr().err
    assert f"complete up to frame {at - 1}" in said
    assert f"python -m tendril bake {scene} --cache {cache} --frames 1 8" in said
    with FrameCache.open(cache) as frames:
        assert frames.last == at - 1
    fake.interrupted.before = fake.interrupted.after = None
    assert bake(scene, cache) == 0
    assert f"frames up to {at - 1}: continuing" in capsys.readouterr().err
    assert cache.read_bytes() == (tmp_path / "whole.cache").read_bytes()


def test_an_interrupted_write_is_no_frame(fake, scene, cache, tmp_path, monkeypatch):
    bake(scene, tmp_path / "whole.cache")
    append = FrameCache.append

    def interrupted(self, number, state):
        append(self, number, state)
        if number == 4:
            self._count -= 1  # as if it came before the last bytes were out
            os.truncate(self.path, self.path.stat().st_size - 5)
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(FrameCache, "append", interrupted)
        assert bake(scene, cache) == cli.INTERRUPTED
    assert bake(scene, cache) == 0
    assert cache.read_bytes() == (tmp_path / "whole.cache").read_bytes()


def test_a_bake_can_be_made_longer_and_is_never_made_shorter(fake, scene, cache, tmp_path):
    bake(scene, tmp_path / "whole.cache", frames=(1, 8))
    assert bake(scene, cache, frames=(1, 3)) == 0
    assert bake(scene, cache, frames=(1, 8)) == 0
    assert cache.read_bytes() == (tmp_path / "whole.cache").read_bytes()
    assert bake(scene, cache, frames=(1, 2)) == 0
    assert cache.read_bytes() == (tmp_path / "whole.cache").read_bytes()


@pytest.mark.parametrize(
    ("more", "frames", "says"),
    [
        (["--frame-rate", "25"], (1, 9), "baked with 24 frames/s"),
        (["--substeps", "5"], (1, 9), "4 substeps"),
        ([], (2, 9), "starts at frame 1"),
    ],
)
def test_other_settings_do_not_touch_the_cache(fake, scene, cache, capsys, more, frames, says):
    bake(scene, cache)
    before = cache.read_bytes()
    capsys.readouterr()
    assert says in refused(capsys, bake(scene, cache, *more, frames=frames))
    assert cache.read_bytes() == before


def test_another_scene_does_not_touch_the_cache(fake, scene, cache, capsys):
    bake(scene, cache)
    before = cache.read_bytes()
    capsys.readouterr()
    scene.write_text(SCENE.replace("0.01", "0.011"))
    assert "another scene" in refused(capsys, bake(scene, cache))
    assert cache.read_bytes() == before


def test_a_comment_changes_nothing_but_a_function_of_time_does(fake, scene, cache, capsys):
    bake(scene, cache, frames=(1, 2))
    scene.write_text("# as before\n" + SCENE)
    assert bake(scene, cache, frames=(1, 3)) == 0
    cache.unlink()
    scene.write_text(MOVED)
    bake(scene, cache, frames=(1, 2))
    assert bake(scene, cache, frames=(1, 3)) == 0
    scene.write_text(MOVED.replace("0.1 * t", "0.2 * t"))
    capsys.readouterr()
    assert "another scene" in refused(capsys, bake(scene, cache, frames=(1, 4)))


@pytest.mark.parametrize("content", [b"", b"a text of mine", bytes(1000)])
def test_what_is_no_cache_is_left_alone(fake, scene, cache, capsys, content):
    cache.write_bytes(content)
    assert "not a cache" in refused(capsys, bake(scene, cache))
    assert cache.read_bytes() == content


def test_a_cache_of_something_else_is_refused(fake, scene, cache, capsys):
    FrameCache.create(cache, "mine", 18, 1).close()
    assert "not written by `tendril bake` or `sweep`" in refused(capsys, bake(scene, cache))


def test_export_gives_the_positions_of_each_rod(fake, scene, cache, tmp_path, capsys):
    out = tmp_path / "rope.npz"
    bake(scene, cache, "--frame-rate", "10", frames=(3, 6))
    assert cli.main(["export", str(cache), str(out), "--scene", str(scene)]) == 0
    sim = fake(cli.load_scene(str(scene))[0], 10.0, first_frame=3)
    with np.load(out) as arrays:
        assert sorted(arrays) == ["frames", "rod_0", "rod_1", "times"]
        assert arrays["frames"].tolist() == [3, 4, 5, 6]
        np.testing.assert_allclose(arrays["times"], [0.0, 0.1, 0.2, 0.3])
        for row, frame in enumerate(sim.frames(3, 6)):
            for rod in (0, 1):
                np.testing.assert_array_equal(arrays[f"rod_{rod}"][row], frame.positions(rod))
    assert sorted(os.listdir(tmp_path)) == ["rope.cache", "rope.npz", "scene.py"]


def test_export_refuses_what_does_not_belong_together(fake, scene, cache, tmp_path, capsys):
    bake(scene, cache, frames=(1, 2))
    capsys.readouterr()
    command = ["export", str(cache), str(tmp_path / "no" / "where.npz"), "--scene", str(scene)]
    assert "no such file" in refused(capsys, cli.main(command))
    assert "no such file" in refused(capsys, cli.main([*command[:1], str(tmp_path / "missing"), *command[2:]]))
    scene.write_text(SCENE.replace("rubber", "copper wire"))
    assert "belongs to another" in refused(capsys, cli.main(command))


def test_run_prints_a_table(fake, scene, tmp_path, capsys):
    assert cli.main(["run", str(scene), "--frames", "1", "10", "--every", "4"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "2 rods, 24 frames/s, 4 substeps and tr-bdf2; energies in J"
    assert lines[1].split()[:4] == ["frame", "time", "kinetic", "stretch"]
    assert [line.split()[0] for line in lines[2:-1]] == ["1", "5", "9", "10"]
    assert ["not converged: 1 rod not solved" in line for line in lines[2:-1]] == [False, True, False, False]
    assert "1 did not converge" in lines[-1]
    assert os.listdir(tmp_path) == ["scene.py"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def build(:", "line 1 fails with SyntaxError"),
        ("\n\n1 / 0", "line 3 fails with ZeroDivisionError: division by zero"),
        ("import missing_module", "line 1 fails with ModuleNotFoundError"),
        ("raise SystemExit(0)", "line 1 fails with SystemExit"),
        ("x = 1", "let it define `scene`"),
        ("scene = 3", "scene is 3: let it define `scene`"),
        ("def build(): return None", "let it define `scene`"),
        ("def build(one): return None", "build() missing 1 required positional argument"),
        (SCENE.replace("0.01", "-0.01"), "line 8 fails with radius is -0.01: give one finite number above zero"),
        ("raise ValueError('two\\nlines')", "line 1 fails with ValueError: two lines"),
        ("\0", "scene"),
        ("from tendril.core import Scene\nscene = Scene()", "add at least one rod"),
    ],
)
def test_what_is_wrong_with_a_scene_file_is_said_in_one_sentence(tmp_path, cache, capsys, text, says):
    path = tmp_path / "scene.py"
    path.write_text(text)
    assert says in refused(capsys, bake(path, cache))
    assert os.listdir(tmp_path) == ["scene.py"]


def test_a_scene_file_that_is_not_there(tmp_path, cache, capsys):
    assert "no such file" in refused(capsys, bake(tmp_path / "missing.py", cache))
    assert "is a directory" in refused(capsys, bake(tmp_path, cache))


def test_a_scene_file_finds_its_neighbours_and_leaves_no_trace(fake, tmp_path, cache):
    (tmp_path / "neighbour_of_scene.py").write_text(SCENE)
    path = tmp_path / "scene.py"
    path.write_text("from neighbour_of_scene import build\nscene = build()")
    before = list(sys.path)
    assert bake(path, cache) == 0
    assert sys.path == before
    assert "scene" not in sys.modules


def test_a_function_of_time_that_fails_leaves_a_good_cache(scene, cache, capsys):
    scene.write_text(MOVED.replace("(0.0, 0.1 * t, 0.0)", "(0.0, 0.1 * [0.0, 0.0, 0.0][int(16 * t)], 0.0)"))
    assert bake(scene, cache, frames=(1, 9)) == 2
    message = capsys.readouterr().err.splitlines()[-1]
    assert "in frame 6 the path of hold 0 raised IndexError: list index out of range (line 12 of scene.py)" in message
    with FrameCache.open(cache) as frames:
        assert frames.last == 5


def test_a_function_of_time_that_fails_at_once_is_refused(scene, cache, capsys):
    scene.write_text(MOVED.replace("(0.0, 0.1 * t, 0.0)", "(0.0, 1.0 / t, 0.0)"))
    assert "line 12 fails with ZeroDivisionError: float division by zero" in refused(capsys, bake(scene, cache))
    assert not cache.exists()


FUNCTIONS = {
    "hold": "scene.pin(0, 'end', path=lambda t: (1.0 + SPEED * t, 0.0, 0.0))",
    "spin": "scene.clamp(0, 'end', spin=lambda t: SPEED * t)",
    "load": "scene.load(0, 1, lambda t: (0.0, SPEED * t, 0.0))",
    "collider": "scene.collide(Sphere(0.1, (0, 0, -1)), path=lambda t: ((0.0, 0.0, -1.0 + SPEED * t), np.eye(3)))",
    "body": "scene.add_body(Body(Sphere(0.1), path=lambda t: ((0.0, 2.0 + SPEED * t, 0.0), np.eye(3))))",
}


@pytest.mark.parametrize("driven", FUNCTIONS)
def test_a_cache_of_other_functions_is_refused(fake, tmp_path, cache, capsys, driven):
    """The scene file stays the same; what its functions return comes from a neighbour."""
    scene = tmp_path / "scene.py"
    more = f"from speed_of_{driven} import SPEED\nfrom tendril.core import Body, Sphere\n"
    scene.write_text(more + SCENE.replace("    return scene", f"    {FUNCTIONS[driven]}\n    return scene"))
    assert FUNCTIONS[driven] in scene.read_text()
    neighbour = tmp_path / f"speed_of_{driven}.py"
    neighbour.write_text("SPEED = 0.1")
    assert bake(scene, cache, frames=(1, 3)) == 0
    assert bake(scene, cache, frames=(1, 5)) == 0
    neighbour.write_text("SPEED = 0.2")
    sys.modules.pop(neighbour.stem)
    importlib.invalidate_caches()
    shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
    capsys.readouterr()
    assert "belongs to another scene" in refused(capsys, bake(scene, cache, frames=(1, 8)))
    sys.modules.pop(neighbour.stem)


def test_an_export_to_a_full_disk_is_refused(tmp_path):
    """A real one: the system stops the file at a size."""
    code = """
import resource, signal, sys
import numpy as np
from pathlib import Path
from tendril.core import TendrilError
from tendril.core.store.archive import save_arrays
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), -1))
try:
    save_arrays(Path(sys.argv[1]), {"a": np.zeros(10_000), "b": np.zeros(30)})
except TendrilError as error:
    print(error)
"""
    out = tmp_path / "out.npz"
    out.write_text("older")
    for size in (10, 5_000, 80_200, 80_700):
        result = subprocess.run([sys.executable, "-c", code, out, str(size)], capture_output=True, text=True)
        assert result.stderr == ""
        assert result.stdout.count("\n") == 1
        assert "the system says: file too large" in result.stdout
        assert os.listdir(tmp_path) == ["out.npz"]
        assert out.read_text() == "older"


def test_exported_arrays_are_what_numpy_reads(tmp_path):
    arrays = {"frames": np.arange(3), "rod_0": np.random.default_rng(0).random((3, 4, 3))}
    save_arrays(tmp_path / "out.npz", arrays)
    with np.load(tmp_path / "out.npz") as found:
        assert sorted(found) == sorted(arrays)
        assert all(np.array_equal(found[name], arrays[name]) for name in arrays)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "COMMAND"),
        (["fly"], "invalid choice"),
        (["bake", "scene.py"], "--cache"),
        (["info", "--more"], "unrecognized arguments: --more"),
        (["bake", "scene.py", "--cache", "x", "--frames", "1"], "expected 2 arguments"),
        (["bake", "scene.py", "--cache", "x", "--frames", "1", "two"], "invalid int value"),
    ],
)
def test_wrong_words_are_answered_in_one_sentence(capsys, words, says):
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert says in refused(capsys, ended.value.code)


def test_wrong_numbers_are_answered_in_one_sentence(fake, scene, cache, capsys):
    assert "--frames" in refused(capsys, bake(scene, cache, frames=(8, 1)))
    assert "frame_rate" in refused(capsys, bake(scene, cache, "--frame-rate", "-1"))
    assert "--every" in refused(capsys, cli.main(["run", str(scene), "--every", "0"]))
    assert not cache.exists()


def test_info(capsys):
    assert cli.main(["info"]) == 0
    words = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert words["numpy"] == np.__version__
    assert words["models"] == "der, net, compact, clothoid, der2008, corde"
    assert {"tendril", "python", "scipy", "numba", "cores", "compiled"} < set(words)


def test_bench_is_called_when_it_is_there(monkeypatch, capsys):
    bench = types.ModuleType("tendril.bench")
    monkeypatch.setitem(sys.modules, "tendril.bench", bench)
    assert "bench" in refused(capsys, cli.main(["bench"]))
    bench.main = lambda words: print("measured", words)
    assert cli.main(["bench", "--rods", "3", "--help"]) == 0
    assert capsys.readouterr().out == "measured ['--rods', '3', '--help']\n"


# From here on the real simulation.

REAL = """\
import numpy as np
from tendril.core import Circle, Material, Rod, Scene

def build():
    s = np.linspace(0.0, 3.0, 12)
    points = np.stack([0.3 * np.cos(s), 0.3 * np.sin(s), 0.05 * s], axis=1)
    scene = Scene(air_density=1.2, wind=(1.0, 0.0, 0.0))
    coil = scene.add(Rod.from_points(points, section=Circle(0.003), material=Material.preset("rubber")))
    straight = Rod.from_points(points, radius=0.004, material=Material.preset("nylon rope"), rest="straight")
    loose = scene.add(straight)
    scene.clamp(coil, "start", lambda t: (points[0] + (0.0, 0.0, 0.2 * np.sin(9.0 * t)), np.eye(3)), lambda t: 4.0 * t)
    scene.pin(loose, "end", lambda t: points[-1] + (0.3 * t, 0.0, 0.0))
    scene.load(coil, "end", lambda t: (0.0, 0.01 * np.cos(5.0 * t), 0.0))
    return scene
"""


def test_the_simulation_goes_on_to_the_same_bits_from_every_frame(tmp_path):
    """Held, turned and pulled by functions of time: all of that must be in the state, or follow from the time."""
    scene = tmp_path / "real.py"
    scene.write_text(REAL)
    whole = tmp_path / "whole.cache"
    pieces = tmp_path / "pieces.cache"
    assert bake(scene, whole, frames=(1, 7)) == 0
    for last in range(1, 8):  # each time a new simulation that knows nothing but the cache
        assert bake(scene, pieces, frames=(1, last)) == 0
    assert pieces.read_bytes() == whole.read_bytes()
    with FrameCache.open(whole) as frames:
        states = [frames.read(number) for number in frames.frames]
        assert all(np.abs(a - b).max() > 1e-6 for a, b in pairwise(states))


def test_ctrl_c_in_a_real_bake(tmp_path):
    """As a user does it: `python -m tendril`, ctrl-C, the same command again."""
    cache = tmp_path / "rope.cache"
    command = [sys.executable, "-m", "tendril", "bake", str(ROPE), "--cache", str(cache), "--frames", "1"]
    # Programs in the background of a shell ignore ctrl-C, and what they start does, too.
    process = subprocess.Popen(
        [*command, "100000"], stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    while not cache.exists() or len(FrameCache.open(cache).frames) < 6:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=300)[1]
    assert process.returncode == cli.INTERRUPTED
    assert said.splitlines()[-1].startswith(f"Stopped; {cache} is complete up to frame")
    assert os.listdir(tmp_path) == ["rope.cache"]
    with FrameCache.open(cache, writable=True) as frames:
        last = frames.last
        frames.truncate_after(last - 3)
    subprocess.run([*command, str(last)], check=True, capture_output=True, timeout=300)
    whole = tmp_path / "whole.cache"
    assert bake(ROPE, whole, frames=(1, last)) == 0
    assert cache.read_bytes() == whole.read_bytes()
