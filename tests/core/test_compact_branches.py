"""Compact nets: rods that branch and never stretch."""

from __future__ import annotations

import numpy as np
import pytest
from compact_probe import FOREVER, Probe
from nets import star
from tendril.core import Body, Material, Net, Plane, Rod, Scene, Simulation, Sphere, Stiffness, TendrilError
from tendril.core.models.compact.arrays import BLOCK_DIAGONAL, DIAGONAL, ELIMINATION, HYBRID
from tendril.core.models.compact.dense import solve_here

RUBBER = Material(2e6, 1100.0)
SOFT = Stiffness(stretch=1e6, bend_1=1.0, bend_2=2.0, twist=1.5, mass_per_length=1.0, inertia_per_length=0.1)


def random_tree(seed: int) -> tuple[Net, np.ndarray]:
    """With three joints, in space, of uneven segments that run either way, strained; and where its points were before they were
    mixed: 0 and 2 are joints, 1 lies between them, 5 and the last are loose ends."""
    rng = np.random.default_rng(seed)
    points, edges = [np.zeros(3)], []

    def arm(at: int, count: int, way: tuple[float, float, float]) -> int:
        for _ in range(count):
            points.append(points[at] + (np.array(way) + 0.3 * rng.standard_normal(3)) * rng.uniform(0.7, 1.3))
            edges.append((at, len(points) - 1))
            at = len(points) - 1
        return at

    joint = arm(0, 2, (1, 0, 0))
    arm(0, 3, (-0.5, 0.9, 0))
    arm(0, 1, (-0.5, -0.9, 0))
    arm(joint, 2, (1, 1, 0))
    other = arm(joint, 1, (1, -1, 0))
    arm(other, 2, (0, -1, 1))
    arm(other, 1, (1, 0, -1))
    pairs, x = np.array(edges), np.array(points)
    turned = rng.random(len(pairs)) < 0.5
    pairs[turned] = pairs[turned][:, ::-1]
    mixed = rng.permutation(len(x))
    where = np.argsort(mixed)
    x = x[mixed]
    net = Net.from_edges(
        x + 0.05 * rng.standard_normal(x.shape), where[pairs], 0.01, stiffness=SOFT, rest=1.05 * x, damping_time=0.1,
        joint_stiffness=rng.uniform(0.5, 2.0, len(x)),
    )  # fmt: skip
    return net, where


def held_tree(seed: int, kind: str) -> Scene:
    net, where = random_tree(seed)
    scene = Scene()
    rod = scene.add(net, "compact")
    if kind == "pins":
        scene.pin(rod, [int(where[0]), int(where[5])])
    elif kind == "joint clamped":
        scene.clamp(rod, int(where[0]))
        scene.orient(rod, int(where[1]))
    elif kind == "end clamped":
        scene.orient(rod, int(where[2]))
        scene.clamp(rod, int(where[-1]))
    return scene


OFFSETS = np.arange(-3, 4)
FIRST = np.array([-1, 9, -45, 0, 45, -9, 1]) / 60.0
SECOND = np.array([2, -27, 270, -490, 270, -27, 2]) / 180.0


@pytest.mark.parametrize("h", [FOREVER, 0.3])
@pytest.mark.parametrize("kind", ["free", "pins", "joint clamped", "end clamped"])
def test_derivatives_and_solvers(kind: str, h: float) -> None:
    """Gradient and Hessian against finite differences; elimination and conjugate gradients against a dense solve."""
    rng = np.random.default_rng(3)
    probe = Probe.of(held_tree(7, kind), h)
    b, free = probe.b, probe.free
    b.forces.force[:] = rng.standard_normal(b.forces.force.shape)
    b.state.hold_force[:] = rng.standard_normal(b.state.hold_force.shape)
    b.stage.strain[:] += 0.1 * rng.standard_normal(b.stage.strain.shape)
    gradient = probe.gradient(np.zeros(probe.size))
    hessian = probe.matrix()[np.ix_(free, free)]
    scale_g, scale_h = np.abs(gradient).max(), np.abs(hessian).max()
    assert np.abs(hessian - hessian.T).max() < 1e-13 * scale_h
    for _ in range(6):
        d = rng.standard_normal(probe.size) * free
        d /= np.linalg.norm(d)
        values = np.array([probe.evaluate(k * 4e-3 * d) for k in OFFSETS])
        assert FIRST @ values / 4e-3 == pytest.approx(gradient @ d, abs=1e-6 * scale_g)
        assert SECOND @ values / 4e-3**2 == pytest.approx(d[free] @ hessian @ d[free], abs=1e-6 * scale_h)
    if kind == "free" and h == FOREVER:
        return  # it floats, and nothing holds it
    matrix = probe.matrix(exact=False)[np.ix_(free, free)]
    right = rng.standard_normal(probe.size) * free
    wanted = np.linalg.solve(matrix, right[free])
    for solver, tolerance in ((ELIMINATION, 1e-11), (HYBRID, 1e-5), (BLOCK_DIAGONAL, 1e-5), (DIAGONAL, 1e-5)):
        x = right.copy().reshape(-1, 3)
        assert solve_here(b, 0, x, solver) >= 0
        assert np.abs(x.ravel()[free] - wanted).max() < tolerance * np.abs(wanted).max()


@pytest.mark.parametrize("pinned", [None, 0, 10, 20])
def test_arms_that_continue_one_another_are_a_rod(pinned: int | None) -> None:
    """Drawn as two arms from the middle outwards they move as the rod does, to round-off, and hang as it does."""
    s = np.linspace(-0.5, 0.5, 21)
    x = np.stack([s, 0.05 * np.cos(6.0 * s), 0.0 * s], axis=1)
    out = np.array([*((k, k - 1) for k in range(10, 0, -1)), *((k, k + 1) for k in range(10, 20))])
    found = []
    for described in (Rod.from_points(x, 0.01, RUBBER), Net.from_edges(x, out, 0.01, RUBBER)):
        scene = Scene(air_density=1.2)
        rod = scene.add(described, "compact")
        if pinned is not None:
            scene.pin(rod, pinned)
        sim = Simulation(scene, threads=1, tolerance=1e-10)
        moved = list(sim.frames(1, 12))[-1].positions(rod)
        if pinned is not None:
            assert sim.settle()
            moved = np.concatenate([moved, sim.current().positions(rod)])
        found.append(moved)
    assert np.abs(found[1] - found[0]).max() < 1e-9
    assert np.abs(found[0][:21] - x).max() > 0.05


@pytest.mark.parametrize("arms", [3, 5])
def test_a_star_hangs_as_that_of_the_model_net(arms: int) -> None:
    """And tends to the same shape, at second order."""
    differences = []
    for segments in (16, 32, 64):
        points, edges = star(arms, segments, 0.5)
        net = Net.from_edges(points, edges, 0.01, stiffness=Stiffness(1e5, 0.016, 0.016, 0.011, mass_per_length=0.35))
        tips = []
        for model in ("compact", "net"):
            scene = Scene()
            rod = scene.add(net, model)
            scene.clamp(rod, 0)
            sim = Simulation(scene, threads=1)
            assert sim.settle()
            tips.append(sim.current().positions(rod)[segments])
        differences.append(np.abs(tips[0] - tips[1]).max())
        assert tips[0][2] < -0.4
    orders = np.log2(np.array(differences[:-1]) / differences[1:])
    assert differences[-1] < 1e-3
    assert np.all(orders > 1.7)


def test_a_joint_springs_back_to_its_natural_angles() -> None:
    """Bent by hand and let go, in no gravity."""
    points, edges = star(3, 6, 0.5)
    bent = points.copy()
    bent[1:7] = np.stack([0.0 * np.arange(6), 0.0 * np.arange(6), np.arange(1, 7) / 12.0], axis=1)
    scene = Scene(gravity=(0, 0, 0), drag=3.0)
    rod = scene.add(Net.from_edges(bent, edges, 0.01, RUBBER, rest=points), "compact")
    scene.clamp(rod, 0)
    sim = Simulation(scene, threads=1)
    assert sim.energies().elastic > 0.01
    assert sim.settle()
    x = sim.current().positions(rod)
    assert sim.energies().elastic < 1e-12
    assert np.abs(np.linalg.norm(x - x[0], axis=1) - np.linalg.norm(points, axis=1)).max() < 1e-9
    tips = x[[6, 12, 18]] - x[0]
    assert np.allclose(tips @ tips.T, 0.25 * np.where(np.eye(3) == 1, 1.0, -0.5), atol=1e-9)


def momentum(sim: Simulation) -> tuple[np.ndarray, np.ndarray]:
    b = sim.blocks[0].arrays
    sim.blocks[0].directors()
    mass, x, v, w = b.rods.mass, b.state.x, b.state.v[:, :3], b.state.v[:, 3:]
    spin = sum(mass[:, k + 1, None] * np.cross(d, np.cross(w, d)) for k, d in enumerate((b.geometry.d1, b.geometry.d2)))
    return (mass[:, :1] * v).sum(axis=0), (np.cross(x, mass[:, :1] * v) + spin).sum(axis=0)


def test_a_free_star_keeps_its_momentum() -> None:
    """Linear momentum to Newton's tolerance; angular momentum at second order of the step, as a rod does."""
    points, edges = star(3, 6, 0.5)
    velocity = np.cross((0.0, 0.5, 3.0), points) + np.array([0.3, 0.0, 0.0])
    lost = []
    for substeps in (8, 16):
        scene = Scene(gravity=(0, 0, 0))
        scene.add(Net.from_edges(points, edges, 0.01, RUBBER), "compact", velocity=velocity)
        sim = Simulation(scene, threads=1, substeps=substeps, tolerance=1e-12)
        sim.step_frame()
        linear, angular = momentum(sim)
        for _ in range(12):
            assert sim.step_frame().report.failures == 0
        later, turning = momentum(sim)
        assert np.abs(later - linear).max() < 1e-12  # what Newton's tolerance leaves
        lost.append(np.linalg.norm(turning - angular) / np.linalg.norm(angular))
    assert lost[-1] < 1e-3
    assert np.log2(lost[0] / lost[1]) > 1.7


def test_lengths_are_exact_and_a_state_goes_on_to_the_bit() -> None:
    scene = held_tree(2, "end clamped")
    net = scene.entries[0].rod
    sim = Simulation(scene, threads=1)
    for frame in sim.frames(1, 10):
        x = frame.positions(0)
        lengths = np.linalg.norm(x[net.edges[:, 1]] - x[net.edges[:, 0]], axis=1)
        assert np.abs(lengths / net.rest_lengths - 1.0).max() < 1e-14
        assert frame.report.failures == 0
    other = Simulation(scene, threads=1)
    other.restore(sim.state(), sim.frame)
    for mine, its in zip(sim.frames(sim.frame + 1, 14), other.frames(other.frame + 1, 14), strict=True):
        assert np.array_equal(mine.positions(0), its.positions(0))
        assert np.array_equal(mine.directors(0), its.directors(0))


def test_directors_are_those_of_the_segments_as_described() -> None:
    """Whichever way the tree runs along them."""
    points, edges = star(3, 4, 0.5)
    edges[:5] = edges[:5, ::-1]
    net = Net.from_edges(points, edges, 0.01, RUBBER, director=np.tile((0.0, 0.0, 1.0), (len(edges), 1)))
    scene = Scene()
    rod = scene.add(net, "compact")
    assert np.allclose(Simulation(scene, threads=1).current().directors(rod), (0.0, 0.0, 1.0), atol=1e-14)


def test_a_clamp_with_a_spin_turns_as_on_a_rod() -> None:
    """Also where the tree runs against the segments: the twist of the arm has the sign of the spin."""
    points, edges = star(3, 6, 0.5)

    def twist(described: Rod | Net) -> float:
        scene = Scene(gravity=(0, 0, 0))
        rod = scene.add(described, "compact")
        scene.clamp(rod, 0)
        scene.clamp(rod, 6, spin=lambda t: 0.5)
        sim = Simulation(scene, threads=1)
        assert sim.settle()
        return float(np.cross(*sim.current().directors(rod)[[0, 5]])[0])

    alone = twist(Rod.from_points(points[:7], 0.01, RUBBER))
    assert alone == pytest.approx(np.sin(0.5 * 5.0 / 6.0), rel=1e-3)  # half a segment from either clamp
    for backwards in (False, True):
        ends = edges.copy()
        if backwards:
            ends[:6] = ends[:6, ::-1]
        turned = twist(Net.from_edges(points, ends, 0.01, RUBBER))
        assert turned == pytest.approx(-alone if backwards else alone, rel=1e-9)


def test_it_lies_on_the_ground_and_on_itself() -> None:
    """A star dropped on a sphere above a plane: no point inside either, and rods keep their distance."""
    points, edges = star(4, 8, 0.5)
    scene = Scene(rod_contact=True)
    rod = scene.add(Net.from_edges(points + np.array([0.02, 0.01, 0.5]), edges, 0.01, RUBBER), "compact")
    scene.collide(Plane())
    scene.collide(Sphere(0.15, position=(0, 0, 0.15)))
    sim = Simulation(scene, threads=1)
    for frame in sim.frames(1, 30):
        x = frame.positions(rod)
        assert frame.report.failures == 0
        assert x[:, 2].min() > 0.01 - 1e-4
        middles = 0.5 * (x[edges[:, 0]] + x[edges[:, 1]])
        assert np.linalg.norm(np.concatenate([x, middles]) - (0, 0, 0.15), axis=1).min() > 0.16 - 1e-4
    assert x[0, 2] > 0.25


def test_a_body_hangs_from_a_star() -> None:
    """Welded to an arm's end, held by the others: it comes to rest, and the star carries both weights."""
    points, edges = star(3, 6, 0.5)
    scene = Scene()
    rod = scene.add(Net.from_edges(points, edges, 0.01, RUBBER), "compact")
    scene.pin(rod, [12, 18])
    ball = scene.add_body(Body(Sphere(0.03), mass=0.2, position=(0.5, 0.0, 0.0)))
    scene.attach(rod, 6, ball)
    sim = Simulation(scene, threads=1)
    for frame in sim.frames(1, 24):
        assert frame.report.failures == 0
    assert sim.settle()
    frame = sim.current()
    assert np.linalg.norm(frame.body_position(ball) - frame.positions(rod)[6]) < 1e-6
    mass = 0.2 + 1100.0 * np.pi * 0.01**2 * 1.5
    # One of the two pins is the root, whose place is no constraint; both carry the same.
    assert sim.blocks[0].arrays.state.hold_force[:, 2].sum() == pytest.approx(0.5 * 9.81 * mass, rel=1e-6)


@pytest.mark.parametrize(
    ("change", "hold", "cure"),
    [
        (lambda x, e: {"edges": [*e, (2, 4)]}, None, "a compact net has no loops: cut them"),
        (
            lambda x, e: {"points": [*x, (2, 0, 0), (3, 0, 0)], "edges": [*e, (7, 8)]},
            None,
            "point 7 is not connected to point 0",
        ),
        (lambda x, e: {"break_force": 5.0}, None, "compact nets do not break"),
        (lambda x, e: {"break_moment": 5.0}, None, "compact nets do not break"),
        (lambda x, e: {}, lambda scene, rod: scene.clamp(rod, 0, spin=lambda t: t), "has no axis"),
        (
            lambda x, e: {"points": 2.0 * x, "rest": x},
            lambda scene, rod: scene.pin(rod, [2, 4]),
            "the compact rod between them is 1 m long and does not stretch",
        ),
    ],
)
def test_bad_input_gets_one_clear_sentence(change, hold, cure) -> None:
    points, edges = star(3, 2, 0.5)
    described = {"points": points, "edges": edges, **change(points, edges)}
    scene = Scene()
    rod = scene.add(Net.from_edges(radius=0.01, material=RUBBER, **described), "compact")
    if hold is not None:
        hold(scene, rod)
    with pytest.raises(TendrilError, match=cure):
        Simulation(scene)


def test_bending_twist_and_tension_are_those_of_the_model_net() -> None:
    """Of a tree at rest that hangs down to one side, with a clamped joint, an edge at every kind of place."""
    points, edges = star(3, 48, 0.5)
    made_of = Stiffness(1e4, 0.016, 0.016, 0.011, mass_per_length=0.35)
    measured = {}
    for model in ("net", "compact"):
        scene = Scene(gravity=(3.0, 0.0, -8.0))
        rod = scene.add(Net.from_edges(points, edges, 0.01, stiffness=made_of), model)
        scene.clamp(rod, 0)
        scene.orient(rod, 48, spin=lambda t: 0.5)
        sim = Simulation(scene, threads=1)
        assert sim.settle()
        strains = sim.strains()
        measured[model] = strains.bending(rod), strains.twist(rod), strains.tension(rod)
    for mine, its in zip(measured["compact"], measured["net"], strict=True):
        assert np.abs(its).max() > 0.01
        assert np.abs(mine - its).max() < 0.01 * np.abs(its).max()
