"""How the rods of an object are at a frame: taken from the simulation when it stands there, or from a state that was kept."""

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

# So many are remembered; more are made again if they can be.
MOST_LOOKS = 500


@dataclass(frozen=True)
class Numbers:
    """Of all rods of an object together, in SI units."""

    length: float  # m
    stretch: float  # by which part longer than at rest
    elastic: float  # J
    kinetic: float  # J, without the spin of sections
    tension: float | None  # N, the largest; None: the model does not know it
    contacts: int


@dataclass(frozen=True)
class Look:
    """Lengths in units of the scene, in world space."""

    points: Array  # (n, 3)
    edges: NDArray[np.int64]  # (m, 2)
    directors: Array  # (m, 3) the first ones
    values: Mapping[str, Array]  # (m,) by what they tell; SI units
    pins: Array  # (p, 3)
    contacts: Array  # (c, 3)
    numbers: Numbers


def look_of(scene: bpy.types.Scene, uid: str) -> Look | None:
    """How an object's rods are at the frame that is shown; None if that is not known any more."""
    running = memory.running_of(scene)
    if running is None or uid not in running.uids:
        return None
    frame = min(max(scene.frame_current, running.first_frame), running.last_frame)
    if (frame, uid) not in running.looks:
        simulation = _simulation_at(running, frame)
        if simulation is None:
            return None
        while len(running.looks) >= MOST_LOOKS:
            del running.looks[next(iter(running.looks))]
        part = running.description.parts[uid]
        running.looks[frame, uid] = take(simulation, part, metres_per_unit(scene), running.released)
    return running.looks[frame, uid]


def take(simulation: Simulation, part: Part, metres: float, released: set[str]) -> Look:
    """Of a simulation as it stands; what has let go, by the keys it follows, holds nothing any more."""
    from ...core.run.inspection import acting_contacts, elastic_energies

    ids = range(part.first_rod, part.first_rod + len(part.described.rods))
    frame, strains = simulation.current(), simulation.strains()
    points, edges, directors, kinetic, starts, natural = [], [], [], 0.0, [0], 0.0
    for k in ids:
        rod, x = simulation.scene.entries[k].rod, frame.positions(k)
        ends = _ends(rod)
        spans = np.linalg.norm(x[ends[:, 1]] - x[ends[:, 0]], axis=1)
        spans /= np.maximum(1.0 + strains.stretch(k), 1e-9)  # natural lengths, as they are now
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
    held = [h for h in part.described.held if h.follows not in released]
    pins = np.array([x[starts[h.strand if len(ids) > 1 else 0] + h.vertex] for h in held]).reshape(-1, 3)
    touching = acting_contacts(simulation)
    mine = np.isin(touching.rods, ids).any(axis=1)
    length = float(np.linalg.norm(x[ends[:, 1]] - x[ends[:, 0]], axis=1).sum())
    numbers = Numbers(
        length=length,
        stretch=length / natural - 1.0,
        elastic=float(elastic_energies(simulation)[ids.start : ids.stop].sum()),
        kinetic=kinetic,
        tension=float(values["TENSION"].max()) if known else None,
        contacts=int(mine.sum()),
    )
    contacts = touching.points[mine]
    return Look(x / metres, ends, np.concatenate(directors), values, pins / metres, contacts / metres, numbers)


def _ends(rod: object) -> NDArray[np.int64]:
    if isinstance(rod, Net):
        return np.asarray(rod.edges)
    tails = np.arange(rod.edge_count)
    return np.stack([tails, (tails + 1) % rod.vertex_count], axis=1)


def _simulation_at(running: Running, frame: int) -> Simulation | None:
    if running.simulation is not None and running.simulation.frame == frame:
        return running.simulation
    if running.description.bodies:  # they live in Blender, and only as they are now
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
    except TendrilError:  # a damaged file: the cache panel tells it
        return None
    return running.copy
