"""Random scenes in which nothing may pass through anything, no energy may come from nowhere, and nothing may get lost.

From one accepted part of a substep to the next, all vertices move straight: the motion that the solver answers for. It is searched
for passages of rods' edges through each other and through meshes, by the toolkit of Incremental Potential Contact (ipctk), whose
tolerance is a micrometre, and by the project's own check. Where ipctk alone sees something it is a near miss; the own check alone
may see nothing. What a rod can't do to itself for its thickness (see `rod_contacts`) does not count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import ipctk
import numpy as np
import pytest
from numba import njit
from tendril.core import Simulation
from tendril.core.contact.solver import Outcome as ContactOutcome
from tendril.core.maths.geometry.crossing import point_crosses_triangle, segments_cross
from tendril.core.run.contact_stepper import ContactStepper

from .stress_scenes import RATE, StressScene, stress_scene

SAMPLE = tuple(range(40))
ALL = 500
ENERGY = 1e-6  # of all there is in the scene
SPEED = (
    3.0  # times the fastest: what springs back from something that comes towards it gains twice that one's speed ...
)
LEVER = 8.0  # ... and what is held has levers and whips
EDGES, VERTEX_AND_FACE = 0, 1


@njit(error_model="numpy")
def row(x, i, j):
    return (x[i, j, 0], x[i, j, 1], x[i, j, 2])


@njit(error_model="numpy")
def own_check(kind, x, y, found, time, s, t):
    for i in range(len(x)):
        a, b, c, d = row(x, i, 0), row(x, i, 1), row(x, i, 2), row(x, i, 3)
        ae, be, ce, de = row(y, i, 0), row(y, i, 1), row(y, i, 2), row(y, i, 3)
        if kind == EDGES:
            found[i], time[i], s[i], t[i] = segments_cross(a, b, c, d, ae, be, ce, de)
        else:
            found[i], time[i], s[i], t[i] = point_crosses_triangle(a, b, c, d, ae, be, ce, de)


@dataclass
class Passage:
    frame: int
    part: int  # accepted parts of substeps, numbered through
    what: str
    edge: tuple[int, int]
    time: float
    given_up: bool  # the solver has failed at this part, and says so

    def __str__(self) -> str:
        given_up = " given up" if self.given_up else ""
        return f"frame {self.frame} part {self.part}{given_up}: {self.what} {self.edge} at {self.time:.4f}"


@dataclass
class Outcome:
    passages: list[Passage] = field(default_factory=list)
    near_misses: int = 0
    disputed: list[str] = field(default_factory=list)
    failures: int = 0
    halvings: int = 0
    parts: int = 0
    gain: float = 0.0  # of energy, relative
    speed: float = 0.0  # m/s, the highest
    finite: bool = True


class Watch:
    """Looks at every accepted part of a substep of a simulation."""

    def __init__(self, sim: Simulation, outcome: Outcome) -> None:
        assert sim._contact is not None
        self.sim, self.contact, self.outcome = sim, sim._contact, outcome
        samples, meshes = self.contact.detection.samples, self.contact.colliders.meshes
        first = np.flatnonzero(samples.after >= 0)
        self.samples = samples
        self.rod_edges = np.stack([first, samples.after[first]], axis=1)
        count = len(samples.after)
        self.mesh_edges, self.triangles = meshes.edges + count, meshes.triangles + count
        i, j = np.triu_indices(len(first), 1)
        shared = (self.rod_edges[i][:, :, None] == self.rod_edges[j][:, None, :]).any(axis=(1, 2))
        self.pairs = np.stack([i, j], axis=1)[~shared]
        self.checker = ipctk.TightInclusionCCD(conservative_rescaling=1.0, max_iterations=100_000)
        self.history = [[(0.0, positions)] for positions in np.split(self._positions(), self._rod_starts())]
        steps = sim._stepper
        assert isinstance(steps, ContactStepper)
        attempt, give_up, went = steps._try, self.contact.give_up, steps._note_path

        def watched_attempt(which: np.ndarray, waiting: np.ndarray, *arguments: float) -> ContactOutcome:
            result = attempt(which, waiting, *arguments)  # type: ignore[arg-type]
            self._look(which & ~result.failed, waiting | result.failed, False, *arguments[:2])
            return result

        def watched_give_up(which: np.ndarray) -> None:
            give_up(which)
            self.gave_up = which.copy()

        def watched_went(which: np.ndarray, begin: float, end: float) -> None:
            went(which, begin, end)
            if self.gave_up is not None and np.array_equal(which, self.gave_up):
                self._look(which, np.zeros_like(which), True, begin, end)
            self.gave_up = None

        self.gave_up: np.ndarray | None = None
        steps._try, steps._note_path = watched_attempt, watched_went  # type: ignore[method-assign]
        self.contact.give_up = watched_give_up  # type: ignore[method-assign]

    def _rod_starts(self) -> np.ndarray:
        return np.flatnonzero(np.diff(self.samples.rod)) + 1

    def _positions(self) -> np.ndarray:
        return np.concatenate([block.positions() for block in self.sim.blocks])

    def end_frame(self) -> None:
        """Every rod has come to the frame's end, and is where it came to."""
        for past, positions in zip(self.history, np.split(self._positions(), self._rod_starts()), strict=True):
            assert past[-1][0] == 1.0
            assert np.array_equal(past[-1][1], positions)
            past[:] = [(0.0, positions)]

    def _look(self, which: np.ndarray, absent: np.ndarray, given_up: bool, begin: float, end: float) -> None:
        """These rods have gone from `samples.start` to where they are, all others but the absent from there to `samples.now`."""
        vertices, rods = self.contact.colliders.meshes.vertices, self.samples.rod
        start, now = self.samples.start.copy(), self.samples.now.copy()
        now[which[rods]] = self._positions()[which[rods]]
        parts = zip(np.split(start, self._rod_starts()), np.split(now, self._rod_starts()), strict=True)
        for rod, (first, last) in enumerate(parts):
            if which[rod]:
                past = self.history[rod]
                while past[-1][0] > begin:  # it went back
                    past.pop()
                assert past[-1][0] == begin
                assert np.array_equal(past[-1][1], first)
                past.append((end, last))
        x, y = np.concatenate([start, vertices[0]]), np.concatenate([now, vertices[1]])
        self.outcome.parts += 1
        if not np.isfinite(y).all():
            self.outcome.finite = False
            return
        # Seen by an observer who moves with the rods: boxes around motions are smaller.
        drift = (y - x)[: len(self.samples.after)].mean(axis=0)
        boxes = np.minimum(x, y - drift), np.maximum(x, y - drift)
        rods = _box(boxes, self.rod_edges)
        found = _overlap(_rows(rods, self.pairs[:, 0]), _rows(rods, self.pairs[:, 1]))
        both = self.samples.rod[self.rod_edges[self.pairs, 0]]
        found &= which[both].any(axis=1) & ~absent[both].any(axis=1)
        quads = self.rod_edges[self.pairs[found]].reshape(-1, 4)
        self._check(EDGES, "rod edge, rod edge", x, y, quads, given_up)
        a, b = _table(rods, _box(boxes, self.mesh_edges))
        a, b = _of(which[self.samples.rod[self.rod_edges[a, 0]]], a, b)
        quads = np.concatenate([self.rod_edges[a], self.mesh_edges[b]], axis=1)
        self._check(EDGES, "rod edge, mesh edge", x, y, quads, given_up)
        vertices = np.arange(len(self.samples.after))[:, None]
        a, b = _table(_box(boxes, vertices), _box(boxes, self.triangles))
        a, b = _of(which[self.samples.rod[a]], a, b)
        quads = np.concatenate([vertices[a], self.triangles[b]], axis=1)
        self._check(VERTEX_AND_FACE, "rod vertex, mesh face", x, y, quads, given_up)

    def _check(self, kind: int, what: str, x: np.ndarray, y: np.ndarray, quads: np.ndarray, given_up: bool) -> None:
        p, q = x[quads], y[quads]
        doubtful = _may_meet(kind, p, q)
        quads, p, q = quads[doubtful], p[doubtful], q[doubtful]
        n = len(quads)
        ours, time, s, t = np.zeros(n, bool), np.zeros(n), np.zeros(n), np.zeros(n)
        own_check(kind, p, q, ours, time, s, t)
        check = self.checker.edge_edge_ccd if kind == EDGES else self.checker.point_triangle_ccd
        for k in range(n):
            theirs = check(*p[k], *q[k])[0]
            if kind == EDGES and self._too_near_along(quads[k, 0], quads[k, 2], s[k], t[k]):
                continue
            self.outcome.near_misses += theirs and not ours[k]
            name = what
            if quads[k].max() < len(self.samples.after):
                name = what + (" of itself" if np.ptp(self.samples.rod[quads[k, [0, 2]]]) == 0 else " of another")
            passage = Passage(
                self.sim.frame, self.outcome.parts, name, (int(quads[k, 0]), int(quads[k, -2])), time[k], given_up
            )
            if ours[k]:
                self.outcome.passages.append(passage)
                if not theirs:
                    self.outcome.disputed.append(str(passage))

    def _too_near_along(self, i: int, j: int, s: float, t: float) -> bool:
        """Of one rod, and nearer along it than a half circle of its own radius: there it can't touch itself."""
        samples = self.samples
        if j >= len(samples.after) or samples.rod[i] != samples.rod[j]:
            return False

        def along(e: int, at: float) -> float:
            after = samples.after[e]
            end = samples.along[after] if after > e else samples.length[e]
            return float((1.0 - at) * samples.along[e] + at * end)

        apart = abs(along(i, s) - along(j, t))
        return min(apart, samples.length[i] - apart) < 0.5 * math.pi * (samples.radius[i] + samples.radius[j])


Boxes = tuple[np.ndarray, np.ndarray]


def _box(of_points: Boxes, groups: np.ndarray) -> Boxes:
    return of_points[0][groups].min(axis=1), of_points[1][groups].max(axis=1)


def _rows(boxes: Boxes, rows: np.ndarray) -> Boxes:
    return boxes[0][rows], boxes[1][rows]


def _overlap(a: Boxes, b: Boxes) -> np.ndarray:
    return ((a[0] <= b[1]) & (b[0] <= a[1])).all(axis=-1)


def _of(meant: np.ndarray, *arrays: np.ndarray) -> list[np.ndarray]:
    return [array[meant] for array in arrays]


def _table(a: Boxes, b: Boxes) -> tuple[np.ndarray, np.ndarray]:
    return np.nonzero(_overlap((a[0][:, None], a[1][:, None]), (b[0][None], b[1][None])))


def _may_meet(kind: int, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """False where a volume or a plane shows that they can't: the volume of the four points keeps its sign, by its Bernstein
    coefficients, or they stay apart along an axis."""
    first, second = ([0, 1], [2, 3]) if kind == EDGES else ([0], [1, 2, 3])
    drift = (q - p).mean(axis=1, keepdims=True)
    q = q - drift
    between = (p + q)[:, first].mean(axis=1) - (p + q)[:, second].mean(axis=1)
    axes = (np.cross(p[:, 1] - p[:, 0], p[:, 3] - p[:, 2]), between)
    result = np.ones(len(p), bool)
    for axis in axes:
        heights = np.einsum("nkc,nc->nk", np.concatenate([p, q], axis=1), axis)
        a, b = heights[:, first + [k + 4 for k in first]], heights[:, second + [k + 4 for k in second]]
        noise = 1e-9 * np.abs(heights - heights[:, :1]).max(axis=1)
        result &= (a.min(axis=1) <= b.max(axis=1) + noise) & (b.min(axis=1) <= a.max(axis=1) + noise)
    u, v, w = (np.stack([z[:, k] - z[:, 0] for z in (p, q)]) for k in (1, 2, 3))

    def volume(a: int, b: int, c: int) -> np.ndarray:
        return np.asarray(np.einsum("nc,nc->n", u[a], np.cross(v[b], w[c])))

    volumes = np.stack(
        [
            volume(0, 0, 0),
            (volume(1, 0, 0) + volume(0, 1, 0) + volume(0, 0, 1)) / 3.0,
            (volume(0, 1, 1) + volume(1, 0, 1) + volume(1, 1, 0)) / 3.0,
            volume(1, 1, 1),
        ]
    )
    noise = 1e-9 * np.abs(volumes).max(axis=0, initial=0.0)
    return np.asarray(result & (volumes.min(axis=0) <= noise) & (volumes.max(axis=0) >= -noise))


def run(stress: StressScene) -> Outcome:
    outcome = Outcome()
    ipctk.set_logger_level(ipctk.LoggerLevel.off)
    ipctk.set_num_threads(1)
    sim = Simulation(stress.scene, RATE, threads=1)
    watch = Watch(sim, outcome)
    energies = sim.energies()
    highest = energies.total
    low = high = energies.gravity
    for _ in range(stress.frames):
        frame = sim.step_frame()
        watch.end_frame()
        report = frame.report
        outcome.failures += report.failures
        outcome.halvings += report.halvings
        low, high = min(low, report.energies.gravity), max(high, report.energies.gravity)
        scale = energies.kinetic + energies.elastic + high - low
        outcome.gain = max(outcome.gain, (report.energies.total - highest) / max(scale, 1e-300))
        highest = max(highest, report.energies.total)
        for rod in range(len(stress.scene.entries)):
            x, v = frame.positions(rod), frame.velocities(rod)
            outcome.finite = outcome.finite and bool(np.isfinite(x).all() and np.isfinite(v).all())
            outcome.speed = max(outcome.speed, float(np.linalg.norm(v, axis=1).max()))
    return outcome


def check(seed: int) -> None:
    stress = stress_scene(seed)
    outcome = run(stress)
    told = "\n".join([stress.story, *map(str, outcome.passages[:5])])
    print(f"failures {outcome.failures} halvings {outcome.halvings} near misses {outcome.near_misses}")
    assert outcome.finite, told
    assert not outcome.disputed, told
    assert not outcome.passages, told
    if stress.driven:
        fall = float(np.linalg.norm(stress.scene.gravity)) * stress.frames / RATE
        most = LEVER if stress.scene.holds else SPEED
        assert outcome.speed <= most * stress.fastest + fall, f"{outcome.speed} m/s, {told}"
    else:
        assert outcome.gain <= ENERGY, f"gains {outcome.gain}, {told}"


@pytest.mark.parametrize("seed", SAMPLE)
def test_nothing_passes_through(seed: int) -> None:
    check(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(len(SAMPLE), ALL))
def test_nothing_passes_through_anything(seed: int) -> None:
    check(seed)


def test_without_contact_passages_are_seen() -> None:
    """Or else the others would show nothing."""
    seen: set[str] = set()
    for seed in SAMPLE:
        stress = stress_scene(seed)
        sim = Simulation(stress.scene, RATE, threads=1)
        outcome = Outcome()
        watch = Watch(sim, outcome)
        watch.contact.detection.look = lambda base, which: None  # type: ignore[method-assign]
        for _ in range(stress.frames):
            sim.step_frame()
            watch.end_frame()
        assert not outcome.disputed
        seen |= {passage.what for passage in outcome.passages}
        if len(seen) == 4:
            return
    raise AssertionError(f"seen are only {seen}")
