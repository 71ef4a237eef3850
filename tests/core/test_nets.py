"""Nets: what users describe, joints, equality with `der`, contact, breaking, bookkeeping."""

from __future__ import annotations

import numpy as np
import pytest
from nets import RUBBER, grid, random_net, star
from tendril.core import Corde, Material, Net, Plane, Rod, Scene, Simulation, Sphere, Stiffness, TendrilError
from tendril.core.describe.joining import join_curves

MODELS = ("net", "corde")
WIRE = Stiffness(stretch=400.0, bend_1=1.0, bend_2=1.0, twist=0.8, mass_per_length=1.0, inertia_per_length=0.01)


def run(scene: Scene, frames: int = 12, **options) -> tuple[Simulation, np.ndarray]:
    sim = Simulation(scene, **{"threads": 1, **options})
    for _ in range(frames):
        frame = sim.step_frame()
        assert np.isfinite(frame.positions(0)).all()
        assert frame.report.failures == 0
    return sim, frame.positions(0)


# A net that is really one rod.


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("curved", [False, True])
def test_a_rod_as_a_net_is_a_rod(closed: bool, curved: bool) -> None:
    angle = np.linspace(0.0, 1.9 * np.pi, 24)
    points = np.stack([np.cos(angle), np.sin(angle), 0.2 * np.sin(2.0 * angle) * curved], axis=1)
    rod = Rod.from_points(
        points, 0.02, Material(1e6, 1000.0, damping_time=2e-3), closed=closed, twist=1.3, rest_twist=0.1,
        rest="as drawn" if curved else "straight",
    )  # fmt: skip
    found = []
    for model in ("der", "net"):
        scene = Scene(air_density=1.2, wind=(1.0, 0.0, 0.5), drag=0.2)
        k = scene.add(rod, model)
        scene.clamp(k, 3, path=lambda t: (points[3] + (0.0, 0.0, 0.1 * t), np.eye(3)), spin=lambda t: 2.0 * t)
        scene.pin(k, 17)
        sim, x = run(scene, 8, tolerance=1e-10)
        found.append((x, sim.energies(), sim.current().directors(k)))
    assert np.abs(found[0][0] - found[1][0]).max() < 1e-9
    assert np.abs(found[0][2] - found[1][2]).max() < 1e-8
    for name in ("kinetic", "stretch", "bend", "twist", "gravity"):
        assert getattr(found[0][1], name) == pytest.approx(getattr(found[1][1], name), rel=1e-7, abs=1e-12)


def test_straight_segments_are_a_rod_whatever_their_order() -> None:
    """Points and segments in any order and direction, against `der` on the same line."""
    rng = np.random.default_rng(2)
    n = 15
    line = np.linspace([0.0, 0.0, 0.0], [1.0, 0.0, 0.0], n)
    place = rng.permutation(n)
    edges = np.stack([place[:-1], place[1:]], axis=1)
    turned = rng.random(n - 1) < 0.5
    edges[turned] = edges[turned][:, ::-1]
    points = np.empty_like(line)
    points[place] = line
    found = []
    for thing, end in (
        (Rod.from_points(line, 0.02, RUBBER), 0),
        (Net.from_edges(points, rng.permutation(edges), 0.02, RUBBER), place[0]),
    ):
        scene = Scene()
        k = scene.add(thing)
        scene.clamp(k, int(end))
        found.append(run(scene, 10, tolerance=1e-10)[1])
    assert np.abs(found[1][place] - found[0]).max() < 1e-9


def test_a_joint_in_a_straight_rod_changes_next_to_nothing() -> None:
    """A weightless stub makes a joint of the middle of a beam: it must bend as if it was not there."""
    tips = {}
    for segments in (10, 20, 40):
        for stub in (False, True):
            points = np.linspace([0.0, 0.0, 0.0], [1.0, 0.0, 0.0], segments + 1)
            edges = [(k, k + 1) for k in range(segments)]
            stiff = [Stiffness(1e6, 1.0, 1.0, 1.0, 1.0)] * segments
            if stub:
                points = np.concatenate([points, [[0.5, 1.0 / segments, 0.0]]])
                edges.append((segments // 2, segments + 1))
                stiff = [*stiff, Stiffness(1e6, 1.0, 1.0, 1.0, 1e-9, 1e-9)]
            scene = Scene(gravity=(0, 0, 0))
            k = scene.add(Net.from_edges(points, edges, 1e-3, stiffness=stiff))
            scene.clamp(k, 0)
            scene.load(k, segments, (0.0, 0.0, -2.0))
            sim = Simulation(scene, threads=1, tolerance=1e-9)
            assert sim.settle()
            tips[segments, stub] = sim.current().positions(k)[segments]
    differences = [np.linalg.norm(tips[n, True] - tips[n, False]) for n in (10, 20, 40)]
    assert differences[0] < 1e-3
    assert differences[0] / differences[2] > 10.0  # second order


# Joints restore their angles.


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("arms", [3, 4, 6])
def test_a_star_restores_its_rest_angles(model: str, arms: int) -> None:
    points, edges = star(arms)
    bent = points.copy()
    rng = np.random.default_rng(arms)
    bent[1:] += 0.05 * rng.standard_normal(bent[1:].shape)
    scene = Scene(gravity=(0, 0, 0))
    k = scene.add(Net.from_edges(bent, edges, 0.01, stiffness=WIRE, rest=points), model)
    sim = Simulation(scene, threads=1, tolerance=1e-9)
    before = sim.energies().elastic
    assert sim.settle(stable=False)
    assert sim.energies().elastic < 1e-10 * before
    x = sim.current().positions(k)
    arm = x[edges[:: len(edges) // arms, 1]] - x[0]
    arm /= np.linalg.norm(arm, axis=1)[:, None]
    turn = np.degrees(np.arccos(np.clip(np.einsum("ij,ij->i", arm, np.roll(arm, -1, axis=0)), -1.0, 1.0)))
    assert turn == pytest.approx(360.0 / arms, abs=1e-3)


@pytest.mark.parametrize("model", MODELS)
def test_a_t_junction_restores_its_rest_angles(model: str) -> None:
    points = np.array(
        [[-1, 0, 0], [-0.5, 0, 0], [0, 0, 0], [0.5, 0, 0], [1, 0, 0], [0, 0, -0.5], [0, 0, -1]], dtype=float
    )
    edges = [(0, 1), (1, 2), (2, 3), (3, 4), (2, 5), (5, 6)]
    bent = points.copy()
    bent[6] += (0.5, 0.2, 0.2)
    scene = Scene(gravity=(0, 0, 0))
    k = scene.add(Net.from_edges(bent, edges, 0.01, stiffness=WIRE, rest=points), model)
    sim = Simulation(scene, threads=1, tolerance=1e-9)
    assert sim.settle(stable=False)
    x = sim.current().positions(k)
    a, b, c = x[1] - x[2], x[3] - x[2], x[5] - x[2]

    def angle(u, v):
        return np.degrees(np.arccos(np.clip(u @ v / np.linalg.norm(u) / np.linalg.norm(v), -1.0, 1.0)))

    assert angle(a, b) == pytest.approx(180.0, abs=2e-2)
    assert angle(a, c) == pytest.approx(90.0, abs=1e-3)
    assert angle(b, c) == pytest.approx(90.0, abs=1e-3)


def test_a_joint_carries_bending_and_twist_exactly() -> None:
    """An L of two beams, clamped at one end and loaded out of its plane at the other: the first beam twists, both bend.
    Small loads: w = P (a^3 + b^3) / 3 EI + P b^2 a / GJ."""
    a = b = 1.0
    load, bend, twist = 1e-3, 1.0, 0.6
    errors = []
    for n in (5, 10, 20):
        first = np.linspace([0, 0, 0], [a, 0, 0], n + 1)
        second = np.linspace([a, 0, 0], [a, b, 0], n + 1)[1:]
        # A weightless stub makes a joint of the corner.
        points = np.concatenate([first, second, [[a + a / n, 0, 0]]])
        edges = [(k, k + 1) for k in range(2 * n)] + [(n, 2 * n + 1)]
        made_of = [Stiffness(1e7, bend, bend, twist, 1.0)] * (2 * n) + [Stiffness(1e7, bend, bend, twist, 1e-9, 1e-9)]
        scene = Scene(gravity=(0, 0, 0))
        k = scene.add(Net.from_edges(points, edges, 1e-3, stiffness=made_of))
        scene.clamp(k, 0)
        scene.load(k, 2 * n, (0.0, 0.0, -load))
        sim = Simulation(scene, threads=1, tolerance=1e-10)
        assert sim.settle()
        exact = load * (a**3 + b**3) / (3.0 * bend) + load * b**2 * a / twist
        errors.append(abs(-sim.current().positions(k)[2 * n, 2] - exact) / exact)
    assert errors[2] < 1e-3
    assert np.log2(errors[0] / errors[1]) > 1.8
    assert np.log2(errors[1] / errors[2]) > 1.8


# What the user describes.


def test_curves_that_cross_are_tied() -> None:
    line = np.linspace(-1.0, 1.0, 8)
    zero = np.zeros(8)
    curves = [np.stack([line, zero + y, zero], axis=1) for y in (-0.5, 0.5)]
    curves += [np.stack([zero + x, line, zero + 0.005], axis=1) for x in (-0.5, 0.5)]
    net = Net.from_curves(curves, 0.01, RUBBER)
    degree = np.bincount(net.edges.ravel())
    assert sorted(degree)[-4:] == [4, 4, 4, 4]
    assert (degree >= 3).sum() == 4
    assert (degree == 1).sum() == 8
    crossings = net.points[degree == 4]
    assert np.abs(np.abs(crossings[:, :2]) - 0.5).max() < 0.05


def test_curves_that_touch_with_an_end_are_tied() -> None:
    trunk = np.linspace([0, 0, 0], [0, 0, 1], 6)
    branch = np.linspace([0.005, 0, 0.4], [0.5, 0, 0.8], 5)
    apart = np.linspace([3, 0, 0], [3, 0, 1], 4)
    net = Net.from_curves([trunk, branch, apart], 0.01, RUBBER)
    degree = np.bincount(net.edges.ravel())
    assert (degree == 3).sum() == 1
    scene = Scene()
    k = scene.add(net)
    scene.pin(k, 0)
    run(scene, 3)  # two parts


def test_a_closed_curve_is_a_ring() -> None:
    angle = np.linspace(0.0, 2.0 * np.pi, 20, endpoint=False)
    net = Net.from_curves([np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)], 0.01, RUBBER, closed=True)
    assert net.edge_count == net.vertex_count == 20


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("points", {"points": [[0, 0, 0]]}),
        ("points", {"points": [[0, 0, 0], [np.nan, 0, 0]]}),
        ("points", {"points": [[0, 0, 0], [1e9, 0, 0]]}),
        ("edges", {"edges": []}),
        ("edges", {"edges": [(0, 7)]}),
        ("edges", {"edges": [(0.5, 1)]}),
        ("edges", {"edges": [(0, 1)]}),  # leaves a point alone
        ("segment 1 of edges", {"edges": [(0, 1), (1, 1)]}),
        ("segment 0 of edges", {"edges": [(0, 1), (1, 0), (1, 2)]}),
        ("radius", {"radius": -1.0}),
        ("radius", {"radius": [0.01, 0.01, 0.01]}),
        ("material", {"material": "rubber"}),
        ("rest", {"rest": [[0, 0, 0], [1, 0, 0]]}),
        ("joint_stiffness", {"joint_stiffness": 0.0}),
        ("point_mass", {"point_mass": -1.0}),
        ("break_force", {"break_force": -1.0}),
        ("break_moment", {"break_moment": [1.0]}),
        ("corde", {"corde": 0.1}),
        ("director", {"director": [[1, 0, 0], [1, 0, 0]]}),
        ("the length of segment 0 of points", {"points": [[0, 0, 0], [0, 0, 0], [1, 0, 0]]}),
        ("the corner at point 1 of points", {"points": [[0, 0, 0], [1, 0, 0], [0.5, 0, 0]]}),
    ],
)
def test_bad_nets_are_refused(field: str, change: dict) -> None:
    good = {"points": [[0, 0, 0], [1, 0, 0], [2, 0, 0]], "edges": [(0, 1), (1, 2)], "radius": 0.01, "material": RUBBER}
    with pytest.raises(TendrilError) as error:
        Net.from_edges(**{**good, **change})
    assert error.value.field == field


def test_bad_scenes_are_refused() -> None:
    scene = Scene()
    with pytest.raises(TendrilError, match="nets need one of net, compact, corde"):
        scene.add(random_net(0), "der")
    points, edges = star(4)
    k = scene.add(Net.from_edges(points, edges, 0.01, RUBBER))
    scene.clamp(k, 0, spin=lambda t: t)
    with pytest.raises(TendrilError, match="no axis"):
        Simulation(scene)


# Holds.


@pytest.mark.parametrize("model", MODELS)
def test_a_held_edge_stays_where_it_is_put(model: str) -> None:
    points, edges = grid(3, 3, 2, 0.2)
    scene = Scene()
    k = scene.add(Net.from_edges(points, edges, 0.01, RUBBER), model)
    hold = scene.clamp_edge(k, 4)
    sim = Simulation(scene, threads=1)
    middle = points[edges[4]].mean(axis=0)
    sim.move(hold, position=np.add(middle, (0.0, 0.0, 0.1)))
    frame = sim.step_frame()
    assert frame.positions(k)[edges[4]].mean(axis=0) == pytest.approx(np.add(middle, (0.0, 0.0, 0.1)), abs=1e-9)


def test_a_clamped_joint_turns_its_arms() -> None:
    points, edges = star(3)
    scene = Scene(gravity=(0, 0, 0))
    k = scene.add(Net.from_edges(points, edges, 0.01, stiffness=WIRE))
    hold = scene.clamp(k, 0)
    sim = Simulation(scene, threads=1, tolerance=1e-9)
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    for _ in range(8):
        part = 0.125 * (_ + 1) * np.pi / 2
        c, s = np.cos(part), np.sin(part)
        sim.move(hold, rotation=[[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        sim.step_frame()
    assert sim.settle(stable=False)
    assert np.abs(sim.current().positions(k) - points @ turn.T).max() < 1e-6


# Contact.


@pytest.mark.parametrize("model", MODELS)
def test_a_net_lies_on_a_plane_with_friction(model: str) -> None:
    points, edges = grid(4, 4, 2, 0.1)
    points[:, 2] = 0.03
    scene = Scene()
    k = scene.add(
        Net.from_edges(points, edges, 0.01, Material(1e6, 1000.0, damping_time=5e-3)), model, velocity=(0.3, 0.0, 0.0)
    )
    scene.collide(Plane())
    sim = Simulation(scene, threads=1, substeps=4 if model == "net" else 40)
    for _ in range(24):
        frame = sim.step_frame()
    x = frame.positions(k)
    assert x[:, 2].min() > 0.0099
    assert x[:, 2].mean() < 0.0115
    assert np.abs(frame.velocities(k)).max() < 0.05
    # Stopped by friction: v^2 / (2 mu g) after the fall, about.
    assert 0.005 < x[:, 0].mean() - points[:, 0].mean() < 0.05


@pytest.mark.parametrize("model", MODELS)
def test_a_net_hangs_on_a_sphere_and_on_itself(model: str) -> None:
    points, edges = grid(5, 5, 2, 0.15)
    points -= points.mean(axis=0) - (0.0, 0.0, 0.24)
    scene = Scene(rod_contact=True)
    k = scene.add(Net.from_edges(points, edges, 0.012, Material(3e5, 1000.0, damping_time=5e-3)), model)
    scene.collide(Sphere(0.2), friction=0.8)
    sim = Simulation(scene, threads=1, substeps=4 if model == "net" else 40)
    for _ in range(14):
        frame = sim.step_frame()
        assert np.linalg.norm(frame.positions(k), axis=1).min() > 0.2 + 0.8 * 0.012
        assert frame.report.failures == 0
    assert frame.positions(k)[:, 2].max() > 0.1  # still there


@pytest.mark.parametrize(("one", "other"), [("net", "net"), ("net", "der"), ("corde", "der")])
def test_rods_of_all_models_meet(one: str, other: str) -> None:
    """A rod falls across another that is held at both ends, and stays above it."""
    scene = Scene(rod_contact=True)
    material = Material(1e6, 1000.0, damping_time=5e-3)
    below = scene.add(Rod.from_points(np.linspace([-0.3, 0, 0], [0.3, 0, 0], 9), 0.01, material), other)
    scene.pin(below, [0, 8])
    above = scene.add(Rod.from_points(np.linspace([0.02, -0.2, 0.03], [0.02, 0.2, 0.03], 9), 0.01, material), one)
    sim = Simulation(scene, threads=1, substeps=4 if "corde" not in (one, other) else 40)
    for _ in range(8):
        frame = sim.step_frame()
        assert frame.report.failures == 0
        under, over = frame.positions(below), frame.positions(above)
        assert over[4, 2] > np.interp(0.02, under[:, 0], under[:, 2]) + 0.0185


# Breaking.


def test_a_segment_breaks_when_pulled_too_hard() -> None:
    points = np.linspace([0, 0, 0], [0, 0, -1], 6)
    edges = [(k, k + 1) for k in range(5)]
    force = [1e9, 1e9, 12.0, 1e9, 1e9]
    scene = Scene(gravity=(0, 0, 0))
    k = scene.add(Net.from_edges(points, edges, 0.01, RUBBER, break_force=force))
    scene.pin(k, 0)
    scene.load(k, 5, lambda t: (0.0, 0.0, -20.0 * t))
    sim = Simulation(scene, threads=1)
    before = sim.current()
    at = None
    for _ in range(24):
        frame = sim.step_frame()
        broken, _ = sim.blocks[0].broken()
        if broken.any() and at is None:
            at = frame.time
            # Nothing jumps: it moves no farther than speed allows.
            way = np.abs(frame.positions(k) - before.positions(k)).max()
            assert way < 1.5 * (np.abs(frame.velocities(k)).max() + np.abs(before.velocities(k)).max()) / 24.0 + 1e-3
        before = frame
    assert np.flatnonzero(broken).tolist() == [2]
    assert at == pytest.approx(12.0 / 20.0, abs=0.1)
    x = frame.positions(k)
    assert x[3, 2] - x[2, 2] < -0.3  # the lower part has gone
    assert np.linalg.norm(np.diff(x[3:], axis=0), axis=1) == pytest.approx([0.2, 0.2], rel=0.2)


def test_a_joint_comes_loose_when_bent_too_hard() -> None:
    points = np.linspace([0, 0, 0], [1, 0, 0], 6)
    edges = [(k, k + 1) for k in range(5)]
    made_of = Stiffness(1e4, 1.0, 1.0, 1.0, 0.1)
    moment = np.full(6, np.inf)
    moment[2] = 0.5
    scene = Scene(gravity=(0, 0, 0), drag=5.0)
    k = scene.add(Net.from_edges(points, edges, 0.01, stiffness=made_of, break_moment=moment))
    scene.clamp(k, 0)
    scene.load(k, 5, lambda t: (0.0, 0.0, -2.0 * min(t, 1.0)))
    sim = Simulation(scene, threads=1)
    for _ in range(48):
        sim.step_frame()
    _, loose = sim.blocks[0].broken()
    assert loose.sum() == 1
    x = sim.current().positions(k)
    assert x[5, 2] < -0.5  # hangs from the hinge
    assert abs(x[1, 2]) < 0.02


# Bookkeeping.


@pytest.mark.parametrize("model", MODELS)
def test_the_same_bits_for_any_number_of_threads_and_after_a_restart(model: str) -> None:
    def scene() -> Scene:
        made = Scene(rod_contact=True)
        for seed in range(3):
            k = made.add(random_net(seed), model, velocity=(0.0, 0.0, 0.1 * seed))
            made.clamp(k, 0)
        made.collide(Plane((0.0, 0.0, -0.7)))
        return made

    runs = []
    for threads in (1, 2):
        sim = Simulation(scene(), threads=threads)
        for _ in range(4):
            sim.step_frame()
        state, frame = sim.state(), sim.frame
        for _ in range(3):
            sim.step_frame()
        runs.append((sim.state(), sim.energies().total))
    again = Simulation(scene(), threads=1)
    again.restore(state, frame)
    for _ in range(3):
        again.step_frame()
    runs.append((again.state(), again.energies().total))
    for other in runs[1:]:
        assert np.array_equal(runs[0][0], other[0])
        assert runs[0][1] == other[1]


@pytest.mark.parametrize("model", MODELS)
def test_forces_and_velocities_are_dual(model: str) -> None:
    scene = Scene(rod_contact=True)
    scene.add(random_net(1), model)
    block = Simulation(scene, threads=1).blocks[0]
    block.save(np.array([0]))
    rng = np.random.default_rng(0)
    n, size = int(block.sample_start[-1]), len(block.step_vector())
    v, f = rng.standard_normal(size), rng.standard_normal((n, 4))
    out, back = np.zeros((n, 4)), np.zeros(size)
    block.sample_steps(np.array([0]), v, out)
    block.generalized_pushes(np.array([0]), f, back)
    assert (out * f).sum() == pytest.approx(v @ back)
    points, forces = np.zeros((n, 3)), np.zeros(size)
    block.point_velocities(v, points)
    block.generalized_forces(f[:, :3], forces)
    assert (points * f[:, :3]).sum() == pytest.approx(v @ forces)


@pytest.mark.parametrize("model", MODELS)
def test_energy_and_momentum_of_a_free_net(model: str) -> None:
    points, edges = grid(3, 3, 2, 0.3)
    speed = np.add(np.cross([0.0, 0.0, 1.0], points - points.mean(axis=0)), (0.2, 0.0, 0.3))
    scene = Scene(gravity=(0, 0, 0))
    thin = Stiffness(stretch=40.0, bend_1=1.0, bend_2=1.0, twist=1.0, mass_per_length=1.0, inertia_per_length=1e-5)
    k = scene.add(Net.from_edges(points, edges, 0.01, stiffness=thin, corde=Corde(alpha=1.0)), model, velocity=speed)
    sim = Simulation(scene, threads=1, substeps=40, integrator="midpoint", tolerance=1e-10)
    mass = (
        sim.blocks[0].arrays.material.mass[sim.blocks[0].arrays.graph.x]
        if model == "net"
        else sim.blocks[0].arrays.nets.mass
    )

    def momenta():
        frame = sim.current()
        p = mass[:, None] * frame.velocities(k)
        return p.sum(axis=0), np.cross(frame.positions(k), p).sum(axis=0)

    before, energy = momenta(), sim.energies().total
    for _ in range(12):
        sim.step_frame()
    after = momenta()
    assert after[0] == pytest.approx(before[0], abs=1e-8 * np.linalg.norm(before[0]))
    assert after[1] == pytest.approx(before[1], abs=2e-3 * np.linalg.norm(before[1]))
    assert sim.energies().total == pytest.approx(energy, rel=1e-2)


def test_stable_at_animation_steps_where_the_explicit_one_needs_a_thousandth() -> None:
    """A stiff net at 24 frames per second with default substeps; `corde` would need thousands of steps in a frame."""
    points, edges = grid(5, 5, 3, 0.2)
    net = Net.from_edges(points, edges, 0.01, Material(2e9, 1300.0))
    scene = Scene()
    k = scene.add(net)
    scene.pin(k, 0)
    _, x = run(scene, 36)
    lengths = np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1)
    assert np.abs(lengths / net.rest_lengths - 1.0).max() < 1e-3
    explicit = Scene()
    explicit.add(net, "corde")
    assert Simulation(explicit, threads=1).blocks[0].arrays.nets.step[0] < 1e-4


def test_joined_curves_know_what_became_of_their_points():
    """A cross whose lines meet within a segment of the one and at a point of the other."""
    x = np.linspace(-1.0, 1.0, 6)
    first, second = np.stack([x, 0 * x, 0 * x], axis=1), np.stack([0 * x[:5], x[:5] - x[2], 0 * x[:5]], axis=1)
    joined = join_curves([first, second], False, 0.01)
    assert len(joined.points) == 6 + 5
    assert np.allclose(joined.points[joined.point_of[:6]], first)
    assert np.allclose(joined.points[joined.point_of[6:]], second)
    middle = joined.point_of[6 + 2]
    assert np.bincount(joined.edges.ravel())[middle] == 4
    assert len(joined.edges) == 5 + 1 + 4
    tangents = joined.points[joined.edges[joined.edge_of, 1]] - joined.points[joined.edges[joined.edge_of, 0]]
    assert np.all(np.abs(tangents[:5, 1:]) < 1e-12)
    assert np.all(np.abs(tangents[5:, [0, 2]]) < 1e-12)
