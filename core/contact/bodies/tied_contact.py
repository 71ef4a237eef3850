"""Attachments while contact is solved: rods and bodies that are tied are one island, and every Newton step keeps them together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...errors import Array
from .stepping import BodySteps
from .system import Selection
from .ties import measure
from .touching import TouchingBodies

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


class TiedContact:
    """Rods and bodies are numbered through, as in contact: those of all blocks one after the other, bodies last."""

    def __init__(self, steps: BodySteps, bodies: TouchingBodies, rods: Sequence[slice], rows: Sequence[slice]) -> None:
        """`rods` and `rows` say where the rods and the sample points of each block are."""
        self._steps, self._bodies, self._rods, self._rows = steps, bodies, rods, rows
        first = np.array([of_block.start for of_block in rods])
        places = steps.places
        self.links: Ints = np.stack([first[places.block] + places.rod, first[-1] + steps.ties.body], axis=1)
        self._base, self._kept = steps.forces.copy(), steps.forces.copy()
        self._change = np.zeros_like(steps.forces)

    def _chosen(self, which: Flags) -> Selection | None:
        """The assemblies of which rods or bodies are meant, if these have ties."""
        steps = self._steps
        meant = np.zeros(steps.assemblies.number, dtype=np.bool_)
        meant[steps.assemblies.of_tie[np.any(which[self.links], axis=1)]] = True
        return steps.selection(meant) if meant.any() else None

    def try_step(self, which: Flags, h: float) -> Flags:
        """The free step of assemblies of which all are meant. Returns rods and bodies for which that did not work out."""
        steps = self._steps
        meant = np.zeros(steps.assemblies.number, dtype=np.bool_)
        meant[steps.assemblies.of_body[which[self._rods[-1]]]] = True
        failed = steps.try_step(meant, h, self._bodies.around())
        out = np.zeros(self._rods[-1].stop, dtype=np.bool_)
        for of_block, numbers in zip(self._rods, (*steps.assemblies.of_rod, steps.assemblies.of_body), strict=True):
            out[of_block] = (numbers >= 0) & failed[numbers]
        return out

    def begin(self, which: Flags) -> None:
        """Before a step."""
        self._kept[:] = self._steps.forces
        self._steps.edges.begin()

    def rollback(self, which: Flags) -> None:
        """These go back to where the step began."""
        meant = which[self.links[:, 0]]
        self._steps.forces[meant] = self._kept[meant]

    def pull(self, which: Flags, force: Array) -> None:
        """Adds what the ties of these rods exert at the iterate to the forces on sample points (N, 4), and to the bodies."""
        chosen = self._chosen(which)
        bodies = self._bodies
        bodies.tie_gradient[:], bodies.tie_stiffness[:] = 0.0, 0.0
        if chosen is None:
            return
        steps, block = self._steps, bodies.block
        ties, out = steps.ties, steps.conditions
        steps.edges.fetch(chosen.ties)
        measure(
            ties, chosen.ties, steps.edges.start, steps.edges.end, steps.edges.director, block.state.x,
            block.state.rotation, steps.forces, out,
        )  # fmt: skip
        count = len(chosen.ties)
        forces = steps.forces[chosen.ties]
        on_edges = -np.einsum("kij,ki->kj", out.by_edge[:count], forces)
        for number, _ in chosen.rods:
            own = np.flatnonzero(steps.places.block[chosen.ties] == number)
            steps.system.spread(force[self._rows[number]], chosen.ties[own], on_edges[own])
        body = ties.body[chosen.ties]
        np.add.at(bodies.tie_gradient, body, np.einsum("kij,ki->kj", out.by_body[:count], forces))
        np.add.at(bodies.tie_stiffness, body, out.stiffness[:count])

    def correct(self, which: Flags, potential: Array) -> bool:
        """The blocks' step vectors become those of what is tied; the potentials (R,) have the ties' part. After `pull`. False if
        there is no solution."""
        chosen = self._chosen(which)
        if chosen is None:
            return True
        steps, bodies, out, count = self._steps, self._bodies, self._steps.conditions, len(chosen.ties)
        conditions = out.amiss[:count], out.by_edge[:count], out.by_body[:count]
        work = np.einsum("ki,ki->k", steps.forces[chosen.ties], conditions[0])
        np.add.at(potential, self.links[chosen.ties, 0], work)
        residual, matrix = bodies.gradient[chosen.free], bodies.matrix[chosen.free]
        found = steps.system.solve(chosen, conditions, steps.unused[chosen.ties], residual, matrix)
        if found is None:
            return False
        bodies.step_vector().reshape(-1, 6)[chosen.free] = found[0]
        self._change[chosen.ties] = found[1]
        return True

    def project(self, which: Flags, vectors: Sequence[Array]) -> None:
        """Steps that each rod and body would take by itself under some forces become those of what is tied. After `correct`."""
        chosen = self._chosen(which)
        if chosen is None:
            return
        count = len(chosen.ties)
        own = vectors[-1].reshape(-1, 6)
        loads = np.einsum("bij,bj->bi", self._bodies.matrix[chosen.free], own[chosen.free])
        self._steps.system.project(chosen, self._steps.conditions.by_edge[:count], vectors, loads)
        own[chosen.free] = loads

    def move(self, which: Flags) -> None:
        meant = which[self.links[:, 0]]
        self._base[meant] = self._steps.forces[meant]
        self._steps.forces[meant] += self._change[meant]

    def backtrack(self, which: Flags, part: Array) -> None:
        meant = which[self.links[:, 0]]
        base = self._base[meant]
        share = part[self.links[meant, 0], None]
        self._steps.forces[meant] = base + share * (self._steps.forces[meant] - base)

    def finish(self, which: Flags, h: float) -> None:
        chosen = self._chosen(which)
        if chosen is not None:
            self._steps.count_impulse(chosen, h)
