"""Contacts solved one after the other: Coulomb's law at one of them, and the responses of rods that couple them."""

from __future__ import annotations

import numpy as np
import pytest
from tendril.core import Material, Rod, Scene, Simulation
from tendril.core.contact.detection import make_contacts
from tendril.core.contact.responses import Columns, Loads, Responses, diagonal_blocks
from tendril.core.contact.sweep_islands import make_islands
from tendril.core.contact.sweeps import make_momentum, make_rows, sweep
from tendril.core.errors import Array
from tendril.core.models.protocol import ContactResponses, Pushes
from tendril.sample_scenes.experiments import head_of_hair


def solve_one(w: Array, b: Array, mu: float) -> tuple[Array, float]:
    """The force at one contact of one edge that responds with W, by the kernel that sweeps; and mu times the slip it assumed."""
    contacts, rows = make_contacts(1), make_rows(1)
    contacts.edge[0], contacts.arm[0], contacts.friction[0] = (0, -1), 0.5, mu
    rows.apart[0] = b
    load = np.zeros((1, 2, 3, 7))
    load[0, 0, :, :3] = np.eye(3)
    lower = [w[0, 0], w[1, 0], w[1, 1], w[2, 0], w[2, 1], w[2, 2]]
    loads = Loads(load, np.array([[0, -1]]), np.zeros((1, 2), np.int64), np.array([lower]))
    column = np.zeros((3, 2, 4), np.float32)
    column[:, 0, :3] = w
    columns = Columns(np.zeros(1, np.int64), np.full(1, 2), np.zeros(1, np.bool_), column.ravel())
    momentum = make_momentum(1, 2)
    after, steps = np.array([1, -1]), np.zeros((2, 4))
    islands = make_islands(loads.rod, np.ones(1, np.bool_), np.full(1, 1e-6))
    sweep(0, 1, islands, contacts, after, rows, loads, columns, 0.0, 2000, np.zeros(1), steps, momentum)
    return rows.force[0], float(rows.lift[0])


def test_sweeps_find_the_least_energy_in_the_cone() -> None:
    """However much a rod gives way along a surface when it is pressed on it, and however hard that makes Coulomb's law."""
    rng, far = np.random.default_rng(1), []
    for _ in range(2000):
        a = rng.normal(size=(3, 3)) * rng.uniform(0.1, 1.0, size=(3, 1))
        w, b, mu = a @ a.T + 1e-3 * np.eye(3), rng.normal(size=3), rng.uniform(0.05, 0.8)
        r, lift = solve_one(w, b, mu)
        v = w @ r + b + (lift, 0.0, 0.0)
        assert np.linalg.norm(r[1:]) <= (mu + 1e-9) * r[0]
        # The conditions of Karush, Kuhn and Tucker: v is in the dual cone, and at a right angle to r.
        far.append(max(mu * np.linalg.norm(v[1:]) - v[0], 0.0) + abs(r @ v) / (1.0 + r[0]))
    assert max(far) < 1e-3


def test_one_contact_obeys_coulomb() -> None:
    rng, met = np.random.default_rng(0), set()
    for _ in range(400):
        a = rng.normal(size=(3, 3))
        w = a @ a.T + 0.5 * np.eye(3)
        w[0, 1:] *= 0.3  # rods hardly leave each other because they are rubbed
        w[1:, 0] *= 0.3
        b, mu = rng.normal(size=3), rng.uniform(0.0, 0.6)
        r, _ = solve_one(w, b, mu)
        v = w @ r + b
        assert r[0] >= 0.0
        assert v[0] >= -1e-6
        assert abs(r[0] * v[0]) < 1e-5
        rubbing = np.linalg.norm(r[1:])
        assert rubbing <= mu * r[0] + 1e-9
        if r[0] == 0.0:
            met.add("apart")
        elif rubbing < mu * r[0] - 1e-6:
            met.add("stick")
            assert np.abs(v[1:]).max() < 1e-6
        else:
            met.add("slip")
            slip = np.linalg.norm(v[1:])
            assert r[1:] @ v[1:] == pytest.approx(-rubbing * slip, abs=1e-4)
    assert met == {"apart", "stick", "slip"}


def block_of(model: str, closed: bool = False):  # type: ignore[no-untyped-def]
    """A linearised block of three bent rods of one model, the second with a clamped start."""
    scene, t = Scene(rod_contact=True), np.linspace(0.0, 1.0, 13)
    for k in range(3):
        points = np.stack([t, 0.1 * k + 0.1 * np.sin(3.0 * t), 0.05 * t**2], axis=1)
        if closed:
            points = np.stack([np.cos(6.0 * t), 0.1 * k + np.sin(6.0 * t), 0.05 * np.sin(12.0 * t)], axis=1)
        rod = Rod.from_points(points, radius=0.01, material=Material.preset("nylon rope"), closed=closed)
        number = scene.add(rod, model)
        if k == 1 and not closed:
            scene.clamp(number, "start")
    sim = Simulation(scene, threads=1)
    block = sim._contact.blocks[0]
    rods, n = np.arange(3), len(block.positions())
    block.save(rods)
    block.begin(rods, 0.01, 0.0)
    block.linearise(rods, Pushes(np.zeros((n, 4)), np.zeros((n, 28)), np.zeros(n, np.bool_)), np.zeros(3))
    return block


@pytest.mark.parametrize(("model", "closed"), [("der", False), ("der", True), ("clothoid", False)])
def test_responses_are_those_of_single_solves(model: str, closed: bool) -> None:
    block = block_of(model, closed)
    assert isinstance(block, ContactResponses)
    rng, n = np.random.default_rng(2), len(block.positions())
    rod = np.repeat(np.arange(3), 11)
    edge = block.sample_start[rod] + rng.integers(0, np.diff(block.sample_start)[rod] - 1)
    load, size = rng.normal(size=(33, 3, 7)), np.diff(block.sample_start)[rod]
    start = np.cumsum(12 * size) - 12 * size
    fast = np.zeros(int(12 * size.sum()))
    block.contact_responses(rod, edge, load, start, fast)
    responses = Responses([block], [slice(0, n)], [slice(0, 3)], block.edges().after)
    responses.columns = responses.columns._replace(column=np.zeros_like(fast))
    responses._one_by_one(block, slice(0, n), rod, edge, load, start)
    np.testing.assert_allclose(fast, responses.columns.column, rtol=1e-9, atol=1e-9 * np.abs(fast).max())


@pytest.mark.parametrize("model", ["der", "clothoid", "compact", "net"])
def test_few_columns_and_the_whole_inverse_are_the_same_operator(model: str) -> None:
    block = block_of(model)
    after, n = block.edges().after, len(block.positions())
    edges = np.flatnonzero(after >= 0)
    rods = np.searchsorted(block.sample_start, edges, side="right") - 1
    rng = np.random.default_rng(3)
    found = []
    for repeats in (1, 40):  # few contacts, and so many that rods have the whole inverse
        count = 3 * repeats
        contacts, loads = make_contacts(count), None
        which = np.tile([0, len(edges) // 2, len(edges) - 1], repeats)
        contacts.edge[:, 0], contacts.edge[:, 1] = edges[which], -1
        load = np.zeros((count, 2, 3, 7))
        load[:3, 0] = rng.normal(size=(3, 3, 7)) if not found else found[0]
        rod = np.stack([rods[which], np.full(count, -1)], axis=1)
        loads = Loads(load, rod, np.zeros((count, 2), np.int64), np.zeros((count, 6)))
        responses = Responses([block], [slice(0, n)], [slice(0, 3)], after)
        responses.compute(contacts, count, loads)
        diagonal_blocks(count, contacts.edge, after, loads, responses.columns)
        assert responses.columns.whole.any() == (repeats == 40)
        found += [load[:3, 0], loads.matrix[:3]]
    np.testing.assert_allclose(found[1], found[3], rtol=1e-4, atol=1e-5 * np.abs(found[1]).max())


@pytest.mark.parametrize(
    "style", [head_of_hair.STYLISED, head_of_hair.SMOOTH, head_of_hair.CURLY], ids=lambda s: s.name
)
def test_hair_on_a_head(style: head_of_hair.Style) -> None:
    """Half a second of a part of each head of hair, in which curls come to lie on the head and smooth tips run into it."""
    found = head_of_hair.move(style._replace(strands=style.strands // 8), 12, threads=1)
    assert found.overlap < 0.1  # radii
    assert found.in_head < 0.1
    assert found.deep < 0.1
    assert found.contacts > 0
    assert found.friction_ratio < 1.05 * head_of_hair.FRICTION
