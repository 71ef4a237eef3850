"""A simulation that runs: the core's, and the frames it has given so far, as they are shown."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from mathutils import Matrix

from .bridge import curves
from .bridge.colliders import ColliderDescription
from .bridge.curves import Rows
from .bridge.engine import BlenderEngine
from .bridge.poses import Array, same
from .bridge.rigid_bodies import BodiesDescription
from .bridge.scenes import SceneDescription, held_motion
from .moments import DiskFrames, Moment
from .solver import choose_cache

if TYPE_CHECKING:
    from ..core import Frame, Simulation
    from .overlay.snapshots import Snapshot

Poses = Mapping[str, Array]  # of things, by their keys

# Without a disk, every so many frames a state is kept to go on from, as long as all of them are not larger than this, bytes.
STATE_EVERY = 10
MOST_STATES = 2**28


@dataclass
class Running:
    """The simulation of one scene, in memory and, if the user wants it, on disk."""

    description: SceneDescription
    settings: tuple[object, ...]  # as they were when it was made
    left_out: Mapping[str, str]  # rods that could not be described, by uid, and why
    engine: BlenderEngine | None = None  # where rigid bodies move
    simulation: Simulation | None = None  # none is needed to show what lies on disk
    disk: DiskFrames | None = None
    writable: bool = True  # until the disk refuses a frame
    moments: dict[int, Moment] = field(default_factory=dict)
    states: dict[int, Array] = field(default_factory=dict)  # of some frames, to go on from
    seconds: float | None = None  # that the last frame took
    snapshots: dict[tuple[int, str], Snapshot] = field(default_factory=dict)  # cached, by frame and object uid
    copy: Simulation | None = None  # to look at other frames than the last
    released: set[str] = field(default_factory=set)  # attachments that have let go
    colliders: dict[str, Array] = field(default_factory=dict)  # where their vertices are, of those that have moved
    altered: dict[str, Mapping[str, float]] = field(default_factory=dict)  # by uid, in the simulation that runs
    around: Mapping[str, Any] | None = None  # what acts on rods in the simulation that runs
    outdated: bool = False
    not_exact_since: int | None = None

    @property
    def first_frame(self) -> int:
        return self.description.first_frame

    @property
    def last_frame(self) -> int:
        if self.simulation is not None:
            return self.simulation.frame
        on_disk = [self.disk.frames[-1]] if self.disk is not None else []
        return max([*on_disk, *self.moments])

    @property
    def uids(self) -> Collection[str]:
        return self.description.parts.keys()

    def moment(self, number: int) -> Moment | None:
        if number not in self.moments and self.disk is not None and number in self.disk.frames:
            self.moments[number] = self.disk.moment(number)
        return self.moments.get(number)

    def fits(self, uid: str, curve: bpy.types.Curve) -> bool:
        return self.description.parts[uid].described.layout == curves.layout(curve)

    def begin(self, scene: bpy.types.Scene) -> None:
        """A simulation that stands at the first frame."""
        self.simulation = self._make_simulation(scene)
        self.moments[self.first_frame] = first_moment(self.description)
        self._keep_state()

    def begin_on_disk(self, path: Path) -> None:
        """Frames go to a new file from now on. Raises TendrilError, and then they do not."""
        assert self.simulation is not None
        self.writable = False
        disk = DiskFrames.create(path, self.description, self.simulation.state_size)
        disk.append(self.first_frame, self.moments[self.first_frame], self.simulation.state())
        self.disk, self.writable = disk, True

    def _make_simulation(self, scene: bpy.types.Scene) -> Simulation:
        if self.description.bodies is not None and self.engine is None:
            self.engine = BlenderEngine(scene, self.description.bodies)
        return make_simulation(self.description, self.engine)

    def resume(self, scene: bpy.types.Scene, colliders: Mapping[str, Array]) -> None:
        """Goes on from the last frame, in which colliders have these vertices. Raises TendrilError for rigid bodies of another
        session: what is on disk does not tell where Blender's engine stood."""
        last = self.last_frame
        moment = self.moment(last)
        state = self.states.get(last)
        simulation = self._make_simulation(scene)
        self.altered, self.around = {}, None
        simulation.restore(self.disk.state(last) if state is None else state, last)
        for number, key in enumerate(self.description.colliders):
            if key in colliders:
                simulation.move_collider(number, vertices=colliders[key], at_once=True)
                self.colliders[key] = colliders[key]
        self.simulation = simulation
        for uid in self.uids:
            self.release(uid, set(moment.released))
        self.not_exact_since = moment.not_exact_since

    def cut(self, number: int) -> None:
        """Forgets all frames after the last one, up to this, that can be gone on from."""
        on_disk = self.disk.frames if self.disk is not None else range(0)
        last = max(k for k in (*self.states, *on_disk) if k <= number)
        if last in on_disk:
            self.disk.truncate_after(last)
        self.simulation = None
        self.moments = {k: moment for k, moment in self.moments.items() if k <= last}
        self.states = {k: state for k, state in self.states.items() if k <= last}
        self.snapshots = {(k, uid): snapshot for (k, uid), snapshot in self.snapshots.items() if k <= last}
        self.colliders, self.released = {}, set()
        self.outdated, self.not_exact_since = False, None

    @property
    def is_alone(self) -> bool:
        """Whether the simulation runs, knows what acts on the rods, and nothing is animated or moves with them."""
        return (
            self.simulation is not None
            and self.around is not None
            and self.engine is None
            and not self.description.watched
        )

    def surround(self, with_what: Mapping[str, Any]) -> None:
        """What acts on the rods in the next step."""
        if with_what != self.around:
            self.simulation.surround(**with_what)
            self.around = with_what

    def alter(self, uid: str, factors: Mapping[str, float]) -> None:
        """How a rod is other than it was described in the next step. Raises TendrilError if it can't be."""
        part = self.description.parts[uid]
        if factors == self.altered.get(uid, dict.fromkeys(factors, 1.0)):
            return
        for rod in part.ids:
            self.simulation.alter(rod, **factors)
        self.altered[uid] = factors

    def step(self, poses: Poses, colliders: Mapping[str, Array], fixed: Mapping[str, Matrix]) -> None:
        """One frame further, at whose end the objects stand at `poses`, colliders have these vertices and rigid bodies that no
        force moves stand at `fixed`; what is not among them stays where it was."""
        before = self.moment(self.last_frame).poses
        for part in self.description.parts.values():
            for key in part.described.start_poses:
                if key in poses and not same(poses[key], before.get(key)):
                    for holds, positions, rotations in held_motion(part, key, poses):
                        self.simulation.move(holds, position=positions, rotation=rotations)
        for number, (key, described) in enumerate(self.description.colliders.items()):
            vertices = colliders.get(key)
            if vertices is not None and not np.array_equal(vertices, self._vertices_of(key, described)):
                self.simulation.move_collider(number, vertices=vertices)
                self.colliders[key] = vertices
        if self.engine is not None:
            self.engine.aim(fixed)
        self.advance(poses)

    def advance(self, poses: Poses) -> None:
        """One frame further, for which all is set: objects stand at `poses`."""
        start = time.perf_counter()
        frame = self.simulation.step_frame()
        self.seconds = time.perf_counter() - start
        if not frame.report.converged and self.not_exact_since is None:
            self.not_exact_since = frame.number
        self.moments[frame.number] = self._moment(frame, poses)
        if (frame.number - self.first_frame) % STATE_EVERY == 0:
            self._keep_state()

    def _keep_state(self) -> None:
        together = 8 * self.simulation.state_size * (len(self.states) + 1)
        if not self.states or together <= MOST_STATES:
            self.states[self.last_frame] = self.simulation.state()

    @property
    def writes(self) -> bool:
        """Whether the last frame is still to be written to disk."""
        return (
            self.disk is not None and self.writable and not self.outdated and self.last_frame == self.disk.frames.stop
        )

    def write(self) -> None:
        """The last frame to disk. Raises TendrilError if that fails; the following ones then stay in memory."""
        self.writable = False
        self.disk.append(self.last_frame, self.moments[self.last_frame], self.simulation.state())
        self.writable = True

    def close(self) -> None:
        if self.disk is not None:
            self.disk.close()
            self.disk = None

    def release(self, uid: str, keys: set[str]) -> None:
        """Lets go of what follows these attachments of a rod, for good. Raises TendrilError if that can't be."""
        if keys <= self.released:
            return
        part = self.description.parts[uid]
        for hold, held in zip(part.holds, (*part.described.held, *part.described.riding), strict=True):
            if held.follows in keys - self.released:
                self.simulation.release(hold)
        for tie, pulling in zip(part.ties, part.described.pulling, strict=True):
            if pulling.follows in keys - self.released:
                self.simulation.detach(tie)
        self.released |= keys

    def compare(self, number: int, poses: Poses) -> None:
        """Notices that something stands elsewhere in a frame than it did when the frame was simulated."""
        moment = self.moment(number)
        if moment is not None:
            moved = any(not same(pose, poses.get(key)) for key, pose in moment.poses.items())
            self.outdated = self.outdated or moved

    def stand_still(self, keys: Iterable[str], poses: Poses) -> bool:
        """Whether these things stand where they did at the last frame."""
        before = self.moment(self.last_frame).poses
        return all(key in poses and same(poses[key], before.get(key)) for key in keys)

    def _vertices_of(self, key: str, described: ColliderDescription) -> Array:
        return self.colliders.get(key, np.asarray(described.shape.vertices))

    def _moment(self, frame: Frame, poses: Poses) -> Moment:
        rows: dict[str, Rows] = {}
        description = self.description
        strains = self.simulation.strains() if description.measured else None
        known = {key: poses[key] for key in description.keys if key in poses}
        for uid, part in description.parts.items():
            if uid in poses:
                rows[uid] = part.described.shown(frame, part.first_rod, poses[uid], strains)
            else:  # it can't be seen now, and its holds were left behind
                self.outdated = True
        bodies = shown_bodies(description.bodies, frame, self.engine)
        return Moment(rows, known, frozenset(self.released), self.not_exact_since, bodies)


def make_simulation(description: SceneDescription, engine: BlenderEngine | None) -> Simulation:
    choose_cache()
    from ..core import Simulation  # late: it imports numba and SciPy

    simulation = Simulation(
        description.scene,
        description.frame_rate,
        substeps=description.substeps,
        first_frame=description.first_frame,
        engine=engine,
        contact=description.contact,
    )
    drawn = simulation.current()
    for part in description.parts.values():
        part.described.bind(drawn, part.first_rod)
    return simulation


def first_moment(description: SceneDescription) -> Moment:
    parts = description.parts
    poses = {key: pose for part in parts.values() for key, pose in part.described.start_poses.items()}
    poses.update({key: collider.pose for key, collider in description.colliders.items()})
    rows = {uid: part.described.rows for uid, part in parts.items()}
    dynamic = description.bodies.dynamic if description.bodies else {}
    return Moment(rows, poses, bodies={key: np.array(matrix, dtype=np.float64) for key, matrix in dynamic.items()})


def shown_bodies(bodies: BodiesDescription | None, frame: Frame, engine: BlenderEngine | None) -> dict[str, Array]:
    """(4, 4) how the objects of the rigid bodies stand in a frame, in units of the scene and with their scale."""
    if bodies is None or engine is None:
        return {}
    found = {
        key: np.array(matrix, dtype=np.float64) for key, matrix in zip(bodies.dynamic, engine.matrices, strict=True)
    }
    for number, key in enumerate(bodies.described):
        _, _, stretched = bodies.dynamic[key].decompose()
        found[key][:3, :3] = frame.body_rotation(number) * np.array(stretched, dtype=np.float64)
        found[key][:3, 3] = frame.body_position(number) / bodies.metres_per_unit
    return found
