"""What blocks of rods and blocks of nets have in common: steps, coupled steps, energies and state, behind the protocol of all
models.

The two differ in how sample points belong to vertices, in their holds, and in where free steps are computed: see `rod_block.py` and
`net_block.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...compile.workers import Workers
from ...errors import Array, Flags, Ints
from ..alteration import Factors, Originals, strain_factors
from ..carrying import RigidMotion
from ..ladder import MOST_HALVINGS, MOST_ITERATIONS
from ..protocol import Energies, FreeSteps, Pushes, Work, in_one_piece
from ..report import FAILURES, ITERATIONS, take_work
from ..schemes import BACKWARD_EULER, LENGTH, NUMBER, WHOLE_STEP, Stage
from ..state_of_rods import copy_rods, pack, put_rods, rows_of, unpack
from .arrays import Arrays, Scratch, Step, for_coupling
from .coupled import (
    begin_nets,
    copy_states,
    finish_nets,
    gains_of_nets,
    linearise_nets,
    measure_nets,
    move_nets,
    retreat_nets,
    solve_coupled,
    weigh_steps,
)
from .dense import FOREVER, dense_matrix, potential_here
from .stepping import lay_out, solve_nets, step_nets


class ElasticBlock:
    """Nets r = 0, 1, ... of the flat arrays. A worker computes free steps on its workbench, if there are any."""

    coupled_schemes: tuple[str, ...] = ("tr-bdf2", "sdirk2")

    def __init__(
        self,
        flat: Arrays,
        *,
        integrator: str,
        tolerance: float,
        workers: Workers,
        scratch: Sequence[Scratch],
        benches: Sequence[Any] = (),  # Arrays
    ) -> None:
        self.flat = flat
        self._rods = len(flat.graph.chain)
        self.generalized_size = int(flat.graph.unknowns[-1])
        self.generalized_ranges = in_one_piece(flat.graph.unknowns)
        self._workers = workers
        self._scheme = NUMBER[integrator]
        self.integrator = integrator
        self._tolerance = tolerance
        self._scratch = scratch
        self._benches: Sequence[Any] = benches or [None] * len(scratch)
        self._none = np.zeros(self._rods, dtype=np.bool_)
        self._stage = 0.0  # s, length of the last stage
        self._before = np.zeros(self._rods)  # J, energies at the start of a step in stages
        self._coupled: Arrays | None = None  # made when first needed
        self._measured = False  # the log's energies are those of the state
        self._originals: Originals | None = None  # made when first needed
        self.state_size = sum(array.size for array in flat.state)

    # Of the sample points: how they push the unknowns, see `rod_block.py` and `net_block.py`.

    def generalized_forces(self, forces: Array, out: Array) -> None:
        raise NotImplementedError

    def generalized_pushes(self, chosen: Ints, forces: Array, out: Array) -> None:
        raise NotImplementedError

    def _pushes(self, chosen: Ints, pushes: Pushes) -> Pushes:
        """The same for unknowns (n,) and edges (E, 28), (E,)."""
        raise NotImplementedError

    # Free steps -----------------------------------------------------------------------------------------------------

    def free_steps(self, steps: FreeSteps) -> None:
        forces = self.flat.forces
        self.generalized_forces(steps.forces, forces.force)
        forces.wind[:] = steps.wind
        forces.drag_rate[:] = steps.drag_rate
        scheme = BACKWARD_EULER if steps.calm else self._scheme
        self._stage = steps.h * LENGTH[scheme]
        self._run(steps.h, steps.number, scheme, steps.air_density, self._none if steps.skip is None else steps.skip)

    def _run(self, h: float, count: int, scheme: int, air_density: float, skip: Flags) -> None:
        b, benches, scratch = self.flat, self._benches, self._scratch
        step = Step(h, count, scheme, air_density, self._tolerance, MOST_ITERATIONS, MOST_HALVINGS)
        self._workers.run(
            lambda first, last, piece: step_nets(b, benches[piece], scratch[piece], step, skip, first, last),
            self._rods,
            len(b.graph.x) * max(count, 1),
        )
        self._measured = True

    def _measure(self) -> None:
        """Energies and geometry of the state."""
        if not self._measured:
            self._run(0.0, 0, self._scheme, 0.0, self._none)

    def solve(self, generalized: Array) -> None:
        b, benches, scratch, h = self.flat, self._benches, self._scratch, self._stage
        self._workers.run(
            lambda first, last, piece: solve_nets(b, benches[piece], scratch[piece], h, generalized, first, last),
            self._rods,
            len(b.graph.x),
        )

    # A coupled step -----------------------------------------------------------------------------------------------

    def save(self, chosen: Ints) -> None:
        if self._coupled is None:
            self._coupled = for_coupling(self.flat)
        copy_states(self._coupled, chosen, False)

    def rollback(self, chosen: Ints) -> None:
        copy_states(self._at_once(), chosen, True)
        self._measured = False

    def copy(self, chosen: Ints) -> Sequence[Array]:
        return copy_rods(self.flat.state, self._starts(), chosen)

    def restore(self, chosen: Ints, state: Sequence[Array]) -> None:
        put_rods(self.flat.state, self._starts(), chosen, state)
        self._measured = False

    def _starts(self) -> list[Ints]:
        """Which rows of the arrays of the state are whose."""
        graph, state = self.flat.graph, self.flat.state
        starts = (
            graph.unknowns, graph.unknowns, graph.unknowns, graph.edges, graph.elements, graph.joints, graph.edges,
            graph.elements,
        )  # fmt: skip
        return [start if len(array) else 0 * start for array, start in zip(state, starts, strict=True)]

    def begin(self, chosen: Ints, h: float, air_density: float, still: bool = False, stage: Stage = WHOLE_STEP) -> None:
        c = self._at_once()
        self._stage = h
        if stage.carried == 0.0 and stage.end < 1.0:
            before = self._before
            self._share(lambda first, last, piece: measure_nets(c, chosen, before, first, last), chosen)
        self._share(lambda first, last, piece: begin_nets(c, chosen, h, air_density, still, stage, first, last), chosen)

    def forget_acceleration(self, rod: int) -> None:
        """After a discontinuity: the next step estimates the acceleration anew."""
        start = self.flat.graph.unknowns
        self.flat.state.a[start[rod] : start[rod + 1]] = 0.0

    def knows_acceleration(self, chosen: Ints) -> Flags:
        a, start = self.flat.state.a, self.flat.graph.unknowns
        return np.array([bool(a[start[r] : start[r + 1]].any()) for r in chosen], dtype=np.bool_)

    def restore_with_acceleration(self, chosen: Ints, state: Sequence[Array]) -> None:
        found = self.copy(chosen)
        self.restore(chosen, [*state[:2], found[2], *state[3:]])

    def stage_start(self) -> tuple[Array, Array]:
        c = self._at_once()
        return c.stage.q - c.saved.q, c.stage.v - c.saved.v

    def gains(self, chosen: Ints, out: Array) -> None:
        c, h, before = self._at_once(), self._stage, self._before
        self._share(lambda first, last, piece: gains_of_nets(c, chosen, h, before, out, first, last), chosen)

    def linearise(self, chosen: Ints, pushes: Pushes, potential: Array) -> None:
        c, h, scratch, of = self._at_once(), self._stage, self._scratch, self._pushes(chosen, pushes)
        self._share(
            lambda first, last, piece: linearise_nets(c, scratch[piece], *of, chosen, h, potential, first, last),
            chosen,
        )
        self.flat.log.report[chosen, ITERATIONS] += 1.0

    def step_vector(self) -> Array:
        return self._at_once().system.trial

    def solve_linearised(self, chosen: Ints, generalized: Array) -> None:
        c = self._at_once()
        self._share(lambda first, last, piece: solve_coupled(c, chosen, generalized, first, last), chosen)

    def measure_steps(self, chosen: Ints, longest: Array, slope: Array) -> None:
        c = self._at_once()
        self._share(lambda first, last, piece: weigh_steps(c, chosen, longest, slope, first, last), chosen)

    def move(self, chosen: Ints) -> None:
        c, h = self._at_once(), self._stage
        self._share(lambda first, last, piece: move_nets(c, chosen, h, first, last), chosen)

    def backtrack(self, chosen: Ints, sizes: Array) -> None:
        c = self._at_once()
        self._share(lambda first, last, piece: retreat_nets(c, chosen, sizes, first, last), chosen)

    def finish(self, chosen: Ints, creep: bool = False, smooth: bool = False) -> None:
        c, h = self._at_once(), self._stage
        self._share(lambda first, last, piece: finish_nets(c, chosen, h, creep, smooth, first, last), chosen)
        self._measured = False  # energies are those of the state, not of the iterate: a restored run has the same bits
        if creep:
            self.flat.log.report[chosen, FAILURES] += 1.0

    def _at_once(self) -> Arrays:
        """The arrays for all nets at once."""
        assert self._coupled is not None, "save() comes first"
        return self._coupled

    def _share(self, work: Callable[[int, int, int], None], chosen: Ints) -> None:
        self._workers.run(work, len(chosen), len(chosen) * len(self.flat.graph.x) // max(self._rods, 1))

    # --------------------------------------------------------------------------------------------------------------

    def alter(self, rod: int, factors: Factors) -> None:
        """Makes a rod or net other than it was described."""
        m, g = self.flat.material, self.flat.graph
        if self._originals is None:
            self._originals = Originals([m.stiffness, m.rest, m.rest_length, m.mass, m.damping_time])

        def rows(start: Ints) -> slice:
            return slice(int(start[rod]), int(start[rod + 1]))

        self._originals.scale(
            [rows(g.elements), rows(g.elements), rows(g.edges), rows(g.unknowns), slice(rod, rod + 1)],
            [
                factors.stiffness / factors.length, strain_factors(factors), factors.length, factors.length,
                factors.damping,
            ],
        )  # fmt: skip
        self._measured = False

    def balance(self, chosen: Ints, forces: Array, squares: Array) -> Flags:
        """Gives rods natural strains with which they are in equilibrium where they are; see `Balances`."""
        from .balance import balance_nets  # late: few simulations need its kernels

        b, benches, scratch, good = self.flat, self._benches, self._scratch, self._none.copy()
        self.generalized_forces(forces, b.forces.force)
        self._share(
            lambda first, last, piece: balance_nets(
                b, benches[piece], scratch[piece], chosen, squares, good, first, last
            ),
            chosen,
        )
        self._measured = False
        return good[chosen]

    def rest_lengths(self) -> Array:
        """(E,) m, of the described edges."""
        keep = np.concatenate(
            [np.arange(a, b) for a, b in zip(self.flat.graph.edges, self.flat.graph.edge_end, strict=False)]
        )
        return np.asarray(self.flat.material.rest_length[keep])

    def laid_out(self, rod: int) -> tuple[Arrays, int]:
        """Arrays with the geometry of a rod or net as it is now, and its number there: to look closely."""
        bench = self._benches[0]
        lay_out(self.flat, bench, rod)
        return (self.flat, rod) if bench is None else (bench, 0)

    def stiffness_matrix(self, rod: int) -> Array:
        """Second derivatives of the elastic energy of a rod or net in its unknowns, at the state as it is; of a rod they are x y z
        theta of each vertex."""
        n, number = self.laid_out(rod)
        if n is self.flat:
            for other in range(self._rods):
                lay_out(n, None, other)
        potential_here(n, self._scratch[0], FOREVER, True)
        return dense_matrix(n, number)

    def energies(self, gravity: Array) -> Energies:
        self._measure()
        b, graph, mass = self.flat, self.flat.graph, self.flat.material.mass
        stretch, bend, twist = (float(value) for value in b.log.energy.sum(axis=0))
        kinetic = 0.5 * float((mass * b.state.v * b.state.v).sum())
        x = b.state.q[graph.x[:, None] + np.arange(3)]
        height = -float((mass[graph.x] * (x @ gravity)).sum())
        return Energies(kinetic, stretch, bend, twist, height)

    def elastic_energies(self) -> Array:
        return np.asarray(self.flat.log.energy.sum(axis=1))

    def take_work(self) -> Work:
        return take_work(self.flat.log.report)

    def pack_state(self, out: Array) -> None:
        pack(self.flat.state, out)

    def unpack_state(self, state: Array) -> None:
        unpack(state, self.flat.state)
        self._measured = False

    def move_rigidly(self, chosen: Ints, motion: RigidMotion) -> None:
        state, graph, three = self.flat.state, self.flat.graph, np.arange(3)
        x = graph.x[rows_of(graph.vertices, chosen)][:, None] + three
        omega = graph.omega[rows_of(graph.joints, chosen)]
        turns = omega[omega >= 0][:, None] + three
        state.q[x] = motion.points(state.q[x])
        state.q[turns] = motion.vectors(state.q[turns])
        for rates in (state.v, state.a):
            rates[x], rates[turns] = motion.vectors(rates[x]), motion.vectors(rates[turns])
        edges = rows_of(graph.edges, chosen)
        state.m1[edges] = motion.vectors(state.m1[edges])
        if len(state.frame):
            joints = rows_of(graph.joints, chosen)
            state.frame[joints] = motion.frames(state.frame[joints].reshape(-1, 3, 3)).reshape(-1, 9)
        self._measured = False

    def stop(self) -> None:
        self.flat.state.v[:] = 0.0
        self.flat.state.a[:] = 0.0

    def disturb(self, size: float) -> None:
        b = self.flat
        noise = np.random.default_rng(0).uniform(-size, size, (len(b.graph.x), 3))
        for c in range(3):
            k = b.graph.x + c
            b.state.q[k] += np.where(b.material.held[k], 0.0, noise[:, c] / b.material.unit[k])
        self._measured = False
