"""Snapshots of the rods of an object at a frame, for the overlay and the statistics panel.

A snapshot is taken from the running simulation if that is at the frame, otherwise from a stored state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import Net, TendrilError
from .. import memory
from ..bridge.poses import metres_per_unit
from ..bridge.scenes import Part
from ..running import Running, make_simulation

if TYPE_CHECKING:
    from ...core import Simulation

Array = NDArray[np.float64]

# Maximum number of cached snapshots per scene; older ones are recomputed from stored states where possible.
MAX_SNAPSHOTS = 500


@dataclass(frozen=True)
class Statistics:
    """Sums and extremes over all rods of an object, in SI units."""

    length: float  # m
    stretch: float  # change of length divided by rest length
    elastic: float  # J
    kinetic: float  # J, without the rotation of cross-sections
    tension: float | None  # N, largest; None if the model does not provide it
    contacts: int


@dataclass(frozen=True)
class Snapshot:
    """Geometry and strains of the rods of an object, in world space and scene units."""

    points: Array  # (n, 3)
    edges: NDArray[np.int64]  # (m, 2)
    directors: Array  # (m, 3) first material directors
    values: Mapping[str, Array]  # (m,) each, by quantity; SI units
    pins: Array  # (p, 3)
    contacts: Array  # (c, 3)
    statistics: Statistics


def snapshot_of(scene: bpy.types.Scene, uid: str) -> Snapshot | None:
    """Snapshot of an object at the current frame; None if no state of that frame is available."""
    running = memory.running_of(scene)
    if running is None or uid not in running.uids:
        return None
    frame = min(max(scene.frame_current, running.first_frame), running.last_frame)
    if (frame, uid) not in running.snapshots:
        simulation = _simulation_at(running, frame)
        if simulation is None:
            return None
        while len(running.snapshots) >= MAX_SNAPSHOTS:
            del running.snapshots[next(iter(running.snapshots))]
        part = running.description.parts[uid]
        running.snapshots[frame, uid] = take_snapshot(simulation, part, metres_per_unit(scene), running.influences)
    return running.snapshots[frame, uid]


def take_snapshot(simulation: Simulation, part: Part, metres: float, influences: Mapping[str, float]) -> Snapshot:
    """Snapshot of one object at the current frame of the simulation.

    `metres` is the length of a scene unit; `influences` are those of pins by key; released ones are left out."""
    from ...core.run.inspection import acting_contacts, elastic_energies

    ids = range(part.first_rod, part.first_rod + len(part.described.rods))
    frame, strains = simulation.current(), simulation.strains()
    points, edges, directors, kinetic, starts, natural = [], [], [], 0.0, [0], 0.0
    for k in ids:
        rod, x = simulation.scene.entries[k].rod, frame.positions(k)
        ends = _ends(rod)
        spans = np.linalg.norm(x[ends[:, 1]] - x[ends[:, 0]], axis=1)
        spans /= np.maximum(1.0 + strains.stretch(k), 1e-9)  # current natural lengths, m
        natural += float(spans.sum())
        mass = rod.mass_per_length * spans
        at = np.bincount(ends[:, 0], 0.5 * mass, len(x)) + np.bincount(ends[:, 1], 0.5 * mass, len(x))
        kinetic += 0.5 * float(at @ (frame.velocities(k) ** 2).sum(axis=1))
        points.append(x)
        edges.append(ends + starts[-1])
        directors.append(frame.directors(k))
        starts.append(starts[-1] + len(x))
    x, ends = np.concatenate(points), np.concatenate(edges)
    values = {
        name: np.concatenate([getattr(strains, name.lower())(k) for k in ids])
        for name in ("STRETCH", "BENDING", "TWIST")
    }
    known = all(strains.knows_tension(k) for k in ids)
    if known:
        values["TENSION"] = np.concatenate([strains.tension(k) for k in ids])
    held = [h for h in part.described.held if influences.get(h.follows, 1.0) > 0.0]
    pins = np.array([x[starts[h.strand if len(ids) > 1 else 0] + h.vertex] for h in held]).reshape(-1, 3)
    touching = acting_contacts(simulation)
    mine = np.isin(touching.rods, ids).any(axis=1)
    length = float(np.linalg.norm(x[ends[:, 1]] - x[ends[:, 0]], axis=1).sum())
    statistics = Statistics(
        length=length,
        stretch=length / natural - 1.0,
        elastic=float(elastic_energies(simulation)[ids.start : ids.stop].sum()),
        kinetic=kinetic,
        tension=float(values["TENSION"].max()) if known else None,
        contacts=int(mine.sum()),
    )
    contacts = touching.points[mine]
    return Snapshot(x / metres, ends, np.concatenate(directors), values, pins / metres, contacts / metres, statistics)


def _ends(rod: object) -> NDArray[np.int64]:
    """Vertex indices (m, 2) of the edges of a rod or net."""
    if isinstance(rod, Net):
        return np.asarray(rod.edges)
    tails = np.arange(rod.edge_count)
    return np.stack([tails, (tails + 1) % rod.vertex_count], axis=1)


def _simulation_at(running: Running, frame: int) -> Simulation | None:
    """The running simulation or a copy of it at the given frame; None if the frame has no stored state."""
    if running.simulation is not None and running.simulation.frame == frame:
        return running.simulation
    if running.description.bodies:  # Blender's rigid body engine cannot return to an earlier state
        return None
    try:
        state = running.states.get(frame)
        if state is None and running.disk is not None and frame in running.disk.frames:
            state = running.disk.state(frame)
        if state is None:
            return None
        if running.copy is None:
            running.copy = make_simulation(running.description, None)
        running.copy.restore(state, frame)
    except TendrilError:  # a damaged cache file, which the cache panel reports
        return None
    return running.copy
