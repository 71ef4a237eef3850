"""What contact is built on: forces and stiffness of contacts against finite differences, and the coupled step of a block."""

from __future__ import annotations

import numpy as np
import pytest
from plain_rods import circle, line
from tendril.core import Material, Rod, Scene, Simulation
from tendril.core.contact.arrays import Contacts, Samples
from tendril.core.contact.colliders import ColliderMotion
from tendril.core.contact.coulomb import SLIP, STICK, Forces, across_rods, push
from tendril.core.contact.detection import make_contacts
from tendril.core.contact.known_forces import make_forces
from tendril.core.contact.rod_contacts import rod_contacts
from tendril.core.contact.shape_contacts import shape_contacts
from tendril.core.describe.shapes import Collider, Plane
from tendril.core.models.protocol import FreeSteps, Pushes, takes_stages
from tendril.core.models.schemes import NUMBER, TABLE, stages_of

STIFFNESS, KNOWN = 50.0, 30.0


class TwoEdges:
    """Two edges that press on each other, each a rod of its own: vertices 0, 1 and 2, 3."""

    def __init__(self, start: np.ndarray, friction: float) -> None:
        self.start, self.friction = start, friction
        self.aim = np.zeros((4, 4))  # where what keeps still goes in a stage of a step

    def push(self, q: np.ndarray, tame: bool = False) -> tuple[Samples, Contacts, Forces, Pushes]:
        """At q (4, 4): positions and turns."""
        samples = Samples(
            start=self.start,
            now=np.ascontiguousarray(q[:, :3]),
            after=np.array([1, -1, 3, -1]),
            last=np.array([True, False, True, False]),
            rod=np.array([0, 0, 1, 1]),
            along=np.zeros(4),
            length=np.full(4, np.inf),
            radius=np.full(4, 0.5),
            friction=np.full(4, self.friction),
        )
        contacts, forces = make_contacts(1), make_forces(1)
        found = rod_contacts(np.array([[0, 2]]), 1, samples, self.start, np.full(4, 10.0), contacts, 0)
        assert found == 1
        assert not contacts.crossed[0]
        forces.known[0] = KNOWN * contacts.upright[0]
        forces.limit[0] = KNOWN
        forces.stiffness[0] = STIFFNESS
        pushes = Pushes(np.zeros((4, 4)), np.zeros((4, 28)), np.zeros(4, dtype=bool))
        fine = np.full(2, not tame)
        push(
            contacts, 1, samples, np.ascontiguousarray(q[:, 3]), self.aim, np.full(2, tame), fine, True, forces, pushes
        )
        return samples, contacts, forces, pushes

    def matrix(self, q: np.ndarray, tame: bool = False) -> np.ndarray:
        """The stiffness as solvers see it: within the edges, and across."""
        samples, contacts, forces, pushes = self.push(q, tame)
        full = np.zeros((16, 16))
        for edge in (0, 2):
            lower = np.zeros((7, 7))
            lower[np.tril_indices(7)] = pushes.stiffness[edge]
            full[4 * edge : 4 * edge + 7, 4 * edge : 4 * edge + 7] = lower + np.tril(lower, -1).T
        for column in range(16):
            step, out = np.zeros((4, 4)), np.zeros((4, 4))
            step.flat[column] = 1.0
            across_rods(contacts, 1, samples.after, forces, np.array([[0, 4]]), step, out)
            full[:, column] += out.ravel()
        return full


def crossing(rng: np.random.Generator, ends_meet: bool) -> np.ndarray:
    points = np.array([[-1.0, 0.0, 0.4], [1.2, 0.1, 0.5], [0.1, -1.0, -0.3], [-0.1, 1.1, -0.35]])
    if ends_meet:
        points[1] = [-0.2, 0.1, 0.3]
    return points + 0.1 * rng.standard_normal((4, 3))


def derivative(function, q: np.ndarray, h: float = 1e-6) -> np.ndarray:
    columns = []
    for k in range(q.size):
        ahead, behind = q.copy(), q.copy()
        ahead.flat[k] += h
        behind.flat[k] -= h
        columns.append((function(ahead) - function(behind)) / (2.0 * h))
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("ends_meet", [False, True])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("friction", [0.0, 2e-3, 5.0])
def test_the_stiffness_of_a_contact_is_the_derivative_of_its_force(
    seed: int, ends_meet: bool, deep: bool, friction: float
) -> None:
    rng = np.random.default_rng(seed)
    points = crossing(rng, ends_meet)
    if deep:
        points[:2, 2] -= 0.35
    edges = TwoEdges(points, friction)
    q = np.column_stack([points, np.zeros(4)]) + 0.01 * rng.standard_normal((4, 4))
    assert edges.push(q)[2].mode[0] == (STICK if friction > 1.0 else SLIP)
    numeric = -derivative(lambda x: edges.push(x)[3].force.ravel(), q)
    assert np.abs(edges.matrix(q) - numeric).max() < 1e-6 * np.abs(numeric).max()


@pytest.mark.parametrize("seed", range(10))
def test_the_stiffness_of_tame_contacts_is_never_negative(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = crossing(rng, seed % 2 == 0)
    edges = TwoEdges(points, friction=0.0)
    q = np.column_stack([points, np.zeros(4)])
    least, most = np.linalg.eigvalsh(edges.matrix(q, tame=True))[[0, -1]]
    assert least > -1e-12 * most
    assert np.linalg.eigvalsh(edges.matrix(q))[0] < -1e-3 * most


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("friction", [0.0, 1e-3, 5.0])
def test_forces_are_the_derivative_of_the_energy(seed: int, deep: bool, friction: float) -> None:
    rng = np.random.default_rng(seed)
    points = crossing(rng, False)
    if deep:
        points[:2, 2] -= 0.35
    edges = TwoEdges(points, friction)
    edges.aim[:] = 0.02 * rng.standard_normal((4, 4))
    q = np.column_stack([points, np.zeros(4)]) + 0.02 * rng.standard_normal((4, 4))
    numeric = -derivative(lambda x: edges.push(x)[2].energy[:1], q)[0]
    force = edges.push(q)[3].force.ravel()
    assert np.abs(force - numeric).max() < 1e-6 * np.abs(force).max()


@pytest.mark.parametrize("tilt", [0.0, 0.003, -0.007])
def test_the_stiffness_of_an_edge_on_a_plane_is_the_derivative_of_its_force(tilt: float) -> None:
    """Its lowest point, where it is pushed, moves along it as it tilts."""
    colliders = ColliderMotion([Collider(Plane(), friction=0.0, thickness=0.0)])
    start = np.array([[0.0, 0.0, 0.49], [1.0, 0.2, 0.49]])
    samples = Samples(
        start=start,
        now=start.copy(),
        after=np.array([1, -1]),
        last=np.array([True, False]),
        rod=np.zeros(2, np.int64),
        along=np.array([0.0, 1.0]),
        length=np.full(2, np.inf),
        radius=np.full(2, 0.5),
        friction=np.zeros(2),
    )

    def pushed(q: np.ndarray) -> Pushes:
        samples.now[:] = q[:, :3]
        contacts, forces = make_contacts(1), make_forces(1)
        pair = np.array([[0, 0]])
        assert shape_contacts(pair, 1, samples, colliders.shapes, np.full(2, 0.1), contacts, 0) == 1
        assert 0.0 < contacts.at[0, 0] < 1.0
        forces.stiffness[0] = STIFFNESS
        pushes = Pushes(np.zeros((2, 4)), np.zeros((2, 28)), np.zeros(2, dtype=bool))
        flags = np.zeros(1, dtype=bool)
        push(contacts, 1, samples, np.zeros(2), np.zeros((2, 4)), flags, flags, True, forces, pushes)
        return pushes

    q = np.column_stack([start, np.zeros(2)])
    q[:, 2] += (0.0, tilt)
    lower = np.zeros((7, 7))
    lower[np.tril_indices(7)] = pushed(q).stiffness[0]
    full = lower + np.tril(lower, -1).T
    numeric = -derivative(lambda x: pushed(x).force.ravel(), q)[:7, :7]
    assert np.abs(full - numeric).max() < 1e-6 * np.abs(numeric).max()


def test_friction_turns_both_edges() -> None:
    """A slip along B's surface gives torques about both tangents and no net force."""
    points = crossing(np.random.default_rng(1), False)
    edges = TwoEdges(points, friction=1.0)
    q = np.column_stack([points, np.zeros(4)])
    q[:2, 1] += 0.05
    pushes = edges.push(q)[3]
    assert np.abs(pushes.force[:, :3].sum(axis=0)).max() < 1e-12 * np.abs(pushes.force).max()
    assert abs(pushes.force[0, 3]) > 0.1
    assert pushes.force[0, 1] < 0.0


@pytest.mark.parametrize("closed", [False, True])
def test_a_coupled_step_without_pushes_is_backward_euler(closed: bool) -> None:
    def block():
        scene = Scene()
        points = circle(12) if closed else line(12)
        rod = scene.add(
            Rod.from_points(points, 0.02, Material.preset("rubber"), rest="straight" if not closed else "as drawn")
        )
        scene.clamp(rod, 0)
        sim = Simulation(scene, integrator="backward euler", tolerance=1e-10)
        forces = np.zeros((sim.blocks[0].sample_start[-1], 3))
        sim.blocks[0].weight(scene.gravity, forces)
        return sim.blocks[0], forces

    h = 0.01
    wind = np.zeros(3)
    free, forces = block()
    free.free_steps(FreeSteps(h, 1, forces, wind, 0.0, np.zeros(1)))
    coupled, forces = block()
    chosen, n = np.array([0]), len(forces)
    coupled.save(chosen)
    coupled.free_steps(FreeSteps(h, 1, forces, wind, 0.0, np.zeros(1), skip=np.array([True])))
    coupled.begin(chosen, h, 0.0)
    pushes = Pushes(np.zeros((n, 4)), np.zeros((n, 28)), np.zeros(n, dtype=bool))
    longest = np.ones(1)
    for _ in range(30):
        coupled.linearise(chosen, pushes, np.zeros(1))
        coupled.measure_steps(chosen, longest, np.zeros(len(longest)))
        coupled.move(chosen)
        if longest[0] < 1e-12:
            break
    assert longest[0] < 1e-12
    coupled.finish(chosen)
    size = np.abs(free.positions()).max()
    assert np.abs(free.positions() - coupled.positions()).max() < 1e-9 * size
    assert np.abs(free.velocities() - coupled.velocities()).max() < 1e-7
    coupled.rollback(chosen)
    assert np.array_equal(coupled.positions(), block()[0].positions())


@pytest.mark.parametrize("air", [0.0, 1.2])
@pytest.mark.parametrize(
    ("model", "scheme"), [("der", "tr-bdf2"), ("der", "sdirk2"), ("net", "tr-bdf2"), ("compact", "tr-bdf2")]
)
def test_stages_of_coupled_steps_without_pushes_make_a_free_step(model: str, scheme: str, air: float) -> None:
    """The second step: it begins with the acceleration that the first one left."""
    h, wind, record = 0.01, np.zeros(3), TABLE[NUMBER[scheme]]

    def moving():
        scene = Scene()
        rod = Rod.from_points(line(12), 0.02, Material.preset("rubber"), rest="straight")
        scene.clamp(scene.add(rod, model), 0)
        block = Simulation(scene, integrator=scheme, tolerance=1e-10).blocks[0]
        forces = np.zeros((block.sample_start[-1], 3))
        block.weight(scene.gravity, forces)
        block.free_steps(FreeSteps(h, 1, forces, wind, air, np.full(1, 0.5)))
        return block, forces

    free, forces = moving()
    free.free_steps(FreeSteps(h, 1, forces, wind, air, np.full(1, 0.5)))
    coupled, _ = moving()
    assert takes_stages(coupled, scheme)
    assert coupled.knows_acceleration(np.array([0])).all()
    chosen, n, longest = np.array([0]), len(forces), np.ones(1)
    pushes = Pushes(np.zeros((n, 4)), np.zeros((n, 28)), np.zeros(n, dtype=bool))
    coupled.save(chosen)
    coupled.free_steps(FreeSteps(h, 1, forces, wind, air, np.full(1, 0.5), skip=np.array([True])))
    for stage in stages_of(record):
        coupled.begin(chosen, record.length * h, air, stage=stage)
        for _ in range(30):
            coupled.linearise(chosen, pushes, np.zeros(1))
            coupled.measure_steps(chosen, longest, np.zeros(1))
            coupled.move(chosen)
            if longest[0] < 1e-12:
                break
        assert longest[0] < 1e-11
    coupled.finish(chosen, smooth=True)
    assert np.abs(free.positions() - coupled.positions()).max() < 1e-8
    assert np.abs(free.velocities() - coupled.velocities()).max() < 1e-6
    assert np.ptp(free.velocities()[:, 2]) > 0.1  # it does move


def test_a_clothoid_that_is_taken_back_from_its_guess_is_where_it_was() -> None:
    """Also if it has moved before: what it goes back to is where this step began, and what is held has moved on."""
    scene = Scene()
    rod = scene.add(Rod.from_points(line(20), 5e-3, Material(1e7, 1000.0, 0.5)), "clothoid", elements=3)
    scene.clamp(rod, "start", lambda t: ((0.0, t, 0.0), np.eye(3)))
    sim = Simulation(scene, threads=1)
    for _ in range(3):
        sim.step_frame()
    block, everyone, h = sim.blocks[0], np.arange(1), 0.01
    nothing = Pushes(np.zeros((21, 4)), np.zeros((21, 28)), np.zeros(21, np.bool_))
    for _ in range(2):
        block.save(everyone)
        before = block.positions().copy()
        block.begin(everyone, h, 0.0)
        assert np.abs(block.positions() - before).max() > 1e-3  # it was guessed to go on
        block.backtrack(everyone, np.zeros(1))
        shift = block.positions()[0] - before[0]
        assert block.positions() == pytest.approx(before + shift, abs=1e-12)
        block.begin(everyone, h, 0.0)
        for _ in range(6):
            block.linearise(everyone, nothing, np.zeros(1))
            block.move(everyone)
        block.finish(everyone)


def test_mobility_is_the_response_to_a_force() -> None:
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    scene.add(Rod.from_points(line(10), 0.02, Material.preset("rubber")))
    sim = Simulation(scene)
    block = sim.blocks[0]
    n, h, chosen = 11, 0.01, np.array([0])
    block.save(chosen)
    block.free_steps(FreeSteps(h, 1, np.zeros((n, 3)), np.zeros(3), 0.0, np.zeros(1), skip=np.array([True])))
    block.begin(chosen, h, 0.0)
    mobility = np.zeros((n, 6))
    block.estimate_mobility(chosen, mobility)
    for vertex in (0, 4, 10):
        for c, entry in ((0, 0), (1, 2), (2, 5)):
            pushes = Pushes(np.zeros((n, 4)), np.zeros((n, 28)), np.zeros(n, dtype=bool))
            pushes.force[vertex, c] = 1.0
            block.linearise(chosen, pushes, np.zeros(1))
            moved = block.step_vector().reshape(n, 4)[vertex, c]
            assert abs(moved - mobility[vertex, entry]) < 1e-9 * moved


@pytest.mark.parametrize("model", ["der", "net", "compact", "clothoid", "der2008", "corde"])
def test_held_places_do_not_retreat_with_the_initial_guess(model: str) -> None:
    """No later step would move them to where they belong."""
    scene = Scene()
    rod = scene.add(Rod.from_points(line(12), 0.02, Material.preset("rubber"), rest="straight"), model)
    scene.clamp(rod, 0, path=lambda t: ((0.0, t, 0.0), np.eye(3)))
    sim = Simulation(scene)
    block, chosen, h = sim.blocks[0], np.array([0]), 1.0 / 24.0
    sim._world.place(sim._frame_times(), 1.0)
    forces = np.zeros((block.sample_start[-1], 3))
    block.save(chosen)
    block.free_steps(FreeSteps(h, 1, forces, np.zeros(3), 0.0, np.zeros(1), skip=np.array([True])))
    block.begin(chosen, h, 0.0)
    block.backtrack(chosen, np.full(1, 0.5))
    assert np.allclose(block.positions()[0], (0.0, h, 0.0), atol=1e-12)
