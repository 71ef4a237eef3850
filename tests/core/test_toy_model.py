"""A model is one block class and one record: everything else works without editing a file."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import tendril
from tendril.core import Body, Material, Plane, Rod, Scene, Simulation, Sphere, TendrilError, register_model
from tendril.core.describe.model import model_record, model_records, unregister_model
from tendril.core.run.inspection import acting_contacts, elastic_energies
from toy_model import TOY, ToyBlock

ROOT = Path(tendril.__file__).resolve().parent
RUBBER = Material.preset("rubber")


@pytest.fixture(autouse=True)
def toy() -> Iterator[None]:
    register_model(TOY)
    yield
    unregister_model(TOY.name)


def rope(model: str = "toy", height: float = 0.0) -> tuple[Scene, int]:
    scene = Scene()
    points = np.stack([np.linspace(0.0, 0.5, 11), np.zeros(11), np.full(11, height)], axis=1)
    return scene, scene.add(Rod.from_points(points, radius=0.01, material=RUBBER), model)


def test_it_steps_as_its_block_says() -> None:
    ends = {}
    for model in ("der", "toy"):
        scene, rod = rope(model)
        ends[model] = list(Simulation(scene, threads=1).frames(1, 7))[-1].positions(rod)[:, 2]
    assert isinstance(Simulation(rope()[0]).blocks[0], ToyBlock)
    assert ends["toy"] == pytest.approx(2.0 * ends["der"], rel=1e-6)
    assert ends["der"].max() < -0.1


def test_it_collides() -> None:
    scene, rod = rope(height=0.05)
    scene.collide(Plane())
    sim = Simulation(scene, threads=1)
    for frame in sim.frames(1, 13):
        assert frame.positions(rod)[:, 2].min() > 0.009
    assert frame.positions(rod)[:, 2].max() < 0.02
    assert len(acting_contacts(sim).points)


def test_it_carries_a_body() -> None:
    scene, rod = rope()
    scene.clamp(rod, "start")
    body = scene.add_body(Body(Sphere(0.05), mass=0.3, position=(0.55, 0.0, 0.0)))
    scene.attach(rod, "end", body)
    frame = list(Simulation(scene, threads=1).frames(1, 9))[-1]
    assert frame.report.converged
    assert frame.body_position(body)[2] < -0.05
    assert np.linalg.norm(frame.body_position(body) - frame.positions(rod)[-1]) == pytest.approx(0.05, abs=1e-3)


def test_it_settles_and_knows_its_tension() -> None:
    scene = Scene()
    points = np.stack([np.zeros(11), np.zeros(11), np.linspace(0.0, -0.5, 11)], axis=1)
    described = Rod.from_points(points, radius=0.01, material=RUBBER)
    rod = scene.add(described, "toy")
    scene.clamp(rod, "start")
    sim = Simulation(scene, threads=1)
    assert sim.settle()
    below = (0.5 - np.arange(10) * 0.05 - 0.025) * float(described.mass_per_length[0])
    assert sim.strains().tension(rod) == pytest.approx(2.0 * 9.81 * below, rel=1e-3)


def test_it_can_be_altered_and_inspected() -> None:
    scene, rod = rope()
    scene.clamp(rod, "start")
    sim = Simulation(scene, threads=1)
    sim.settle()
    drop = sim.current().positions(rod)[-1, 2]
    sim.alter(rod, stiffness=4.0)
    sim.settle()
    assert elastic_energies(sim)[rod] == pytest.approx(sim.energies().elastic, rel=1e-12)
    assert sim.current().positions(rod)[-1, 2] > drop


def test_a_name_is_registered_once() -> None:
    with pytest.raises(TendrilError, match="is registered"):
        register_model(TOY)
    with pytest.raises(TendrilError, match="give a ModelRecord"):
        register_model("toy")  # type: ignore[arg-type]
    with pytest.raises(TendrilError, match="der, net, compact, clothoid, der2008, corde, toy"):
        model_record("cloth")


def listed_names(source: str) -> list[tuple[int, list[str]]]:
    """Lines of a file with several names of models in one display, or with a comparison to one."""
    known = {record.name for record in model_records()}

    def names(nodes: list[ast.expr | None]) -> list[str]:
        return [node.value for node in nodes if isinstance(node, ast.Constant) and node.value in known]

    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)) and len(names(list(node.elts))) > 1:
            found.append((node.lineno, names(list(node.elts))))
        elif isinstance(node, ast.Dict) and len(names(list(node.keys))) > 1:
            found.append((node.lineno, names(list(node.keys))))
        elif isinstance(node, ast.Compare) and names([node.left, *node.comparators]):
            found.append((node.lineno, names([node.left, *node.comparators])))
    return found


@pytest.mark.parametrize("folder", ["core", "addon"])
def test_models_are_listed_in_the_registry_alone(folder: str) -> None:
    """Nor is there a comparison with a name: features are in the records."""
    found = [
        (path.relative_to(ROOT).as_posix(), *place)
        for path in sorted((ROOT / folder).rglob("*.py"))
        for place in listed_names(path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    "source",
    ['A = ("der", "net")', 'B = {"der": 1, "compact": 2}', 'if model == "clothoid": pass', 'x in ["net", "der"]'],
)
def test_the_scan_sees_lists_and_comparisons(source: str) -> None:
    assert listed_names(source)


def test_no_capability_is_looked_up_by_its_name() -> None:
    """`hasattr(block, "...")` and `getattr(block, "...")`: capabilities are protocols."""
    found = []
    for path in sorted((ROOT / "core").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in ("hasattr", "getattr")
            ):
                of, name = node.args[:2]
                if isinstance(name, ast.Constant) and "block" in ast.unparse(of):
                    found.append(f"{path.name}:{node.lineno}")
    assert found == []
