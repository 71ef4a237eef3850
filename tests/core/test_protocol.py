"""What a model promises to everything written against the protocol, for each model."""

from __future__ import annotations

import inspect
import typing

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys
from plain_rods import circle, helix, line, made_of, plain_rod, precise, settled, weightless
from tendril.core import Scene, Simulation
from tendril.core.describe.model import model_record, model_records
from tendril.core.models.protocol import Energies, FreeSteps, ModelBlock, Work

MODELS = tuple(record.name for record in model_records())
IMPLICIT = tuple(model for model in MODELS if model != "corde")  # solve for where they are at the end of a step
GRAVITY = np.array([0.4, -0.2, -9.0])
LUMPED = [
    model for model in MODELS if model != "clothoid"
]  # whose unknowns are places of vertices, which carry the mass
SHORT = 1e-3  # s, a step


def scene_of(model: str) -> Scene:
    """A few rods, open and closed, curved and twisted, free and held; all moving."""
    if model == "clothoid":
        return open_rods(model)
    scene = Scene(GRAVITY)
    flat = made_of(stretch=1e3, bend=(1.0, 2.0))
    rng = np.random.default_rng(6)
    for k, (points, closed) in enumerate([(helix(9), False), (circle(7), True), (line(5), False), (circle(3), True)]):
        rest = "straight" if k < 2 else "as drawn"
        rod = plain_rod(points, flat, closed=closed, rest=rest, twist=0.3 * k, damping_time=0.002 * (k % 2))
        scene.add(rod, model, velocity=rng.standard_normal(points.shape))
    scene.clamp(0, "start")
    scene.pin(0, 6)
    scene.clamp_edge(1, 6)
    scene.orient(2, "end")
    return scene


def open_rods(model: str) -> Scene:
    """What clothoids can do: open rods, held at their start in every way. They have 26 vertices, as the others."""
    scene = Scene(GRAVITY)
    flat, rng = made_of(stretch=1e3, bend=(1.0, 2.0)), np.random.default_rng(6)
    for k, points in enumerate([helix(9, turns=0.8), helix(6, turns=0.5), line(5), line(2)]):
        rest = "straight" if k < 2 else "as drawn"
        rod = plain_rod(points, flat, rest=rest, twist=0.3 * k, damping_time=0.002 * (k % 2))
        scene.add(rod, model, velocity=rng.standard_normal(points.shape), elements=1 + k % 3)
    scene.clamp(0, "start")
    scene.pin(1, "start")
    scene.orient(2, "start")
    return scene


def block_of(model: str, integrator: str = "tr-bdf2") -> ModelBlock:
    return precise(scene_of(model), integrator=integrator).blocks[0]


def step(block: ModelBlock, forces: np.ndarray, h: float = SHORT, count: int = 1) -> None:
    block.free_steps(FreeSteps(h, count, forces, np.zeros(3), 0.0, np.zeros(1)))


def unknowns(block: ModelBlock) -> int:
    """The size of generalized vectors."""
    return block.generalized_size


def rows_of(block: ModelBlock) -> int:
    return int(block.sample_start[-1])


def points_of(block: ModelBlock) -> np.ndarray:
    """The rows of the rods' points among the sample points: those at the beginning of each rod."""
    counts = [entry.rod.vertex_count for entry in scene_of("der").entries]
    return np.concatenate([start + np.arange(n) for start, n in zip(block.sample_start, counts, strict=False)])


@pytest.mark.parametrize("model", MODELS)
def test_every_member_is_there_with_its_parameters(model: str) -> None:
    block = block_of(model)
    wanted = [name for name in vars(ModelBlock) if not name.startswith("_")]
    assert len(wanted) >= 15
    for name in wanted:
        promised, found = inspect.signature(getattr(ModelBlock, name)), getattr(type(block), name)
        given = inspect.signature(found)
        count = len(promised.parameters)
        assert list(given.parameters)[:count] == list(promised.parameters), name
        more = list(given.parameters.values())[count:]
        assert all(parameter.default is not inspect.Parameter.empty for parameter in more), name
        assert given.return_annotation == promised.return_annotation, name
    for name in typing.get_type_hints(ModelBlock):
        assert hasattr(block, name), name


@pytest.mark.parametrize("model", LUMPED)
def test_sample_points_are_those_of_the_rods_in_order(model: str) -> None:
    scene, block = scene_of(model), block_of(model)
    if model == "der":
        assert block.sample_start.tolist() == [0, 10, 17, 23, 26]
    rows = points_of(block)
    drawn = np.concatenate([entry.rod.points for entry in scene.entries])
    assert np.array_equal(block.positions()[rows], drawn)
    assert np.array_equal(block.velocities()[rows], np.concatenate([entry.velocity for entry in scene.entries]))
    assert block.directors().shape == block.positions().shape
    middle = 0.5 * (scene.entries[1].rod.points[6] + scene.entries[1].rod.points[0])
    expected = [drawn[0], drawn[6], middle, drawn[22]]
    assert block.hold_positions() == pytest.approx(np.array(expected), abs=1e-15)


@pytest.mark.parametrize("model", MODELS)
def test_directors_are_unit_vectors_across_their_edges_while_all_moves(model: str) -> None:
    sim = Simulation(scene_of(model), threads=1)
    for frame in sim.frames(1, 10):
        for k, entry in enumerate(sim.scene.entries):
            x, d = frame.positions(k), frame.directors(k)
            edges = np.roll(x, -1, axis=0) - x if entry.rod.closed else np.diff(x, axis=0)
            assert np.linalg.norm(d, axis=1) == pytest.approx(np.ones(len(edges)), abs=1e-14)
            across = 1e-14 if model in IMPLICIT else 0.1  # corde has a spring that makes it so
            assert np.einsum("ij,ij->i", d, edges) == pytest.approx(np.zeros(len(edges)), abs=across)


@pytest.mark.parametrize("model", MODELS)
def test_point_velocities_and_generalized_forces_are_transposes(model: str) -> None:
    """The power of point forces is that of generalized ones, for any forces and any velocities."""
    block, rng = block_of(model), np.random.default_rng(1)
    points = int(block.sample_start[-1])
    for _ in range(5):
        step(block, rng.standard_normal((points, 3)))
        v, f = rng.standard_normal(unknowns(block)), rng.standard_normal((points, 3))
        moved, pushed = np.full((points, 3), np.nan), np.full(unknowns(block), np.nan)
        block.point_velocities(v, moved)
        block.generalized_forces(f, pushed)
        assert (moved * f).sum() == pytest.approx(v @ pushed, rel=1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_weight_is_mass_times_gravity(model: str) -> None:
    scene, block = scene_of(model), block_of(model)
    out = np.full((rows_of(block), 3), np.nan)
    block.weight(GRAVITY, out)
    for k, entry in enumerate(scene.entries):
        mass = (
            entry.rod.length * 1.0 if model in LUMPED else block.fits[k].length.sum()
        )  # along the curve, not its chords
        rows = slice(block.sample_start[k], block.sample_start[k + 1])
        assert out[rows].sum(axis=0) == pytest.approx(mass * GRAVITY, rel=1e-12)


def lumped_masses(scene: Scene) -> np.ndarray:
    """Half of each edge's mass, 1 per length, at either of its ends."""
    parts = []
    for entry in scene.entries:
        n, lengths = entry.rod.vertex_count, entry.rod.rest_lengths
        m = np.zeros(n)
        np.add.at(m, np.arange(len(lengths)), 0.5 * lengths)
        np.add.at(m, (np.arange(len(lengths)) + 1) % n, 0.5 * lengths)
        parts.append(m)
    return np.concatenate(parts)


@pytest.mark.parametrize("model", LUMPED)
def test_energies_of_motion_and_height(model: str) -> None:
    """Without spin: half of mass times speed squared, and minus weight times place."""
    scene, block = scene_of(model), block_of(model)
    m = lumped_masses(scene)[:, None]
    energies = block.energies(GRAVITY)
    assert isinstance(energies, Energies)
    rows = points_of(block)
    assert energies.kinetic == pytest.approx(0.5 * (m * block.velocities()[rows] ** 2).sum(), rel=1e-12)
    assert energies.gravity == pytest.approx(-(m * block.positions()[rows] @ GRAVITY).sum(), rel=1e-12)
    assert energies.total == energies.kinetic + energies.elastic + energies.gravity
    block.stop()
    assert block.energies(GRAVITY).kinetic == 0.0


def test_energies_of_stretched_and_turning_rods() -> None:
    scene = weightless()
    scene.add(plain_rod(1.1 * line(10), made_of(stretch=50.0, inertia=0.02), rest=line(10)))
    sim = precise(scene)
    assert sim.energies().stretch == pytest.approx(0.5 * 50.0 * 0.1**2, rel=1e-12)
    sim.blocks[0].arrays.state.v[:-1, 3] = 3.0
    assert sim.energies().kinetic == pytest.approx(0.5 * 0.02 * 3.0**2, rel=1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_work_is_told_once(model: str) -> None:
    block = block_of(model)
    step(block, np.zeros((rows_of(block), 3)))
    work = block.take_work()
    assert work.iterations >= 4 * (2 if model in IMPLICIT else 1)  # four rods, two stages
    assert work.residual <= 1e-10
    assert block.take_work() == Work()


@pytest.mark.parametrize("model", MODELS)
def test_a_packed_state_is_all_there_is(model: str) -> None:
    block, other = block_of(model), block_of(model)
    for _ in range(3):
        step(block, np.ones((rows_of(block), 3)))
    state = np.full(block.state_size, np.nan)
    block.pack_state(state)
    assert np.isfinite(state).all()
    other.unpack_state(state)
    for one in (block, other):
        step(one, np.ones((rows_of(one), 3)))
    assert np.array_equal(block.positions(), other.positions())
    assert np.array_equal(block.velocities(), other.velocities())
    assert np.array_equal(block.directors(), other.directors())


@pytest.mark.parametrize("model", [model for model in LUMPED if model in IMPLICIT])
def test_solve_tells_what_a_small_force_would_have_changed(model: str) -> None:
    """The step minimises a potential, of which the matrix is the second derivative: more force f changes its end by A^-1 f."""
    rng = np.random.default_rng(2)
    block = block_of(model, "backward euler")
    block.stop()
    start = np.empty(block.state_size)
    block.pack_state(start)
    count, rows = rows_of(block), points_of(block)
    base, extra = (np.zeros((count, 3)) for _ in range(2))
    base[rows], extra[rows] = rng.standard_normal((26, 3)), rng.standard_normal((26, 3))

    def end_with(forces: np.ndarray) -> np.ndarray:
        block.unpack_state(start)
        step(block, forces)
        return block.positions()[rows].copy()

    change = (end_with(base + 0.01 * extra) - end_with(base - 0.01 * extra)) / 0.02
    end_with(base)
    impulse, all_moved = np.empty(unknowns(block)), np.empty((count, 3))
    held = [0, 6, 16, 10]
    block.generalized_forces(np.where(np.isin(np.arange(count), rows[held])[:, None], 0.0, extra), impulse)
    block.solve(impulse)
    block.point_velocities(impulse, all_moved)
    moved, extra = all_moved[rows], extra[rows]
    assert np.array_equal(moved[held], np.zeros((4, 3)))
    # Up to the spin that frames take up as they are carried from one iterate to the next.
    assert moved == pytest.approx(change, abs=1e-4 * np.abs(change).max())
    # Where inertia alone gave way, it would be by another amount.
    free = SHORT**2 * extra / lumped_masses(scene_of(model))[:, None]
    assert np.abs(moved - free).max() > 0.1 * np.abs(change).max()


@pytest.mark.parametrize("closed", [False, True])
def test_solve_of_der_is_the_inverse_of_inertia_and_stiffness(closed: bool) -> None:
    """At a state of rest under load, where the last iterate is the state itself: of M / h^2 + K, entry by entry."""
    scene = Scene()
    points = circle(8, 0.5) if closed else line(7)
    scene.add(plain_rod(points, made_of(stretch=1e3, bend=(5.0, 8.0)), closed=closed))
    scene.clamp(0, 0)
    sim = settled(precise(scene))
    block, h = sim.blocks[0], 1.0 / (24.0 * 4.0)
    sim.step_frame()
    free = ~block.arrays.rods.held.ravel()
    inverse = np.array([solved(block, column) for column in np.eye(len(free))]).T
    gamma = 1.0 - np.sqrt(0.5)
    matrix = block.stiffness_matrix(0) + np.diag(block.arrays.rods.mass.ravel()) / (gamma * h) ** 2
    product = matrix[np.ix_(free, free)] @ inverse[np.ix_(free, free)]
    assert product == pytest.approx(np.eye(free.sum()), abs=1e-7)
    assert inverse == pytest.approx(inverse.T, abs=1e-12 * np.abs(inverse).max())


def solved(block: ModelBlock, column: np.ndarray) -> np.ndarray:
    x = column.copy()
    block.solve(x)
    return x


@pytest.mark.parametrize(
    ("model", "integrator"), [(model, name) for model in MODELS for name in model_record(model).integrators]
)
def test_many_steps_allocate_no_more_than_one(model: str, integrator: str) -> None:
    _nrt_python.memsys_enable_stats()
    block = block_of(model, integrator)
    forces = np.zeros((rows_of(block), 3))

    def allocations(count: int) -> int:
        before = rtsys.get_allocation_stats().alloc
        step(block, forces, SHORT, count)
        return rtsys.get_allocation_stats().alloc - before

    step(block, forces)
    assert allocations(20) == allocations(1)
    assert np.isfinite(block.positions()).all()


@pytest.mark.parametrize("model", MODELS)
def test_the_entries_of_a_rod_are_where_its_ranges_say(model: str) -> None:
    """They move it and no other rod, and forces on it are nowhere else."""
    block, rng = block_of(model), np.random.default_rng(4)
    rods = np.arange(len(block.sample_start) - 1)
    block.save(rods)
    block.begin(rods, SHORT, 0.0)
    all_ranges = block.generalized_ranges.reshape(-1, 2)
    assert sum(end - begin for begin, end in all_ranges.tolist()) == block.generalized_size
    for rod in rods:
        own = np.zeros(block.generalized_size, dtype=bool)
        for begin, end in block.generalized_ranges[rod].tolist():
            own[begin:end] = True
        x = rng.standard_normal(block.generalized_size)
        part, whole = np.zeros((rows_of(block), 4)), np.zeros((rows_of(block), 4))
        block.sample_steps(rods, np.where(own, x, 0.0), part)
        block.sample_steps(rods, x, whole)
        rows = slice(int(block.sample_start[rod]), int(block.sample_start[rod + 1]))
        assert np.array_equal(part[rows], whole[rows])
        part[rows] = 0.0
        assert not part.any()
        forces, out = np.zeros((rows_of(block), 4)), np.zeros(block.generalized_size)
        forces[rows, :3] = 1.0
        block.generalized_pushes(rods, forces, out)
        assert not out[~own].any()
