"""A running simulation: the core's simulation, and the frames computed so far as they are shown."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, KeysView, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
import numpy as np
from mathutils import Matrix

from ..core.describe.model import model_record
from .bridge import curves, inertia
from .bridge.attachments import RELEASE_THRESHOLD, key_of_cut
from .bridge.children import Around, Obstacle
from .bridge.colliders import ColliderDescription
from .bridge.curves import Rows
from .bridge.engine import BlenderEngine
from .bridge.inertia import PHYSICAL, Inertia
from .bridge.points import Data
from .bridge.poses import Array, same
from .bridge.rigid_bodies import BodiesDescription
from .bridge.scenes import SceneDescription, hold_targets, hold_turns
from .moments import DiskFrames, Moment
from .solver import choose_cache

if TYPE_CHECKING:
    from ..core import Frame, Simulation
    from .overlay.snapshots import Snapshot

Poses = Mapping[str, Array]  # by key

# Without a disk cache, the state of every so many frames is kept to resume from, up to this many bytes in total.
STATE_INTERVAL = 10
MAX_STATE_BYTES = 2**28


# A frame is predicted if the inputs of this many steps did not change. After a wrong prediction it takes more of them.
STEADY_FRAMES = 1
STEADY_FRAMES_AFTER_ERROR = 10


class Prediction(NamedTuple):
    """What to go back to if a frame was simulated with wrong inputs."""

    state: Array
    not_exact_since: int | None


@dataclass
class Running:
    """The simulation of one scene, in memory and, if the user wants it, on disk."""

    description: SceneDescription
    settings: tuple[object, ...]  # of the scene and its rods when this was made
    fixed_settings: tuple[object, ...]  # the same without what takes effect in the next frame
    left_out: Mapping[str, str]  # rods that could not be described, by uid, and why
    engine: BlenderEngine | None = None  # moves the rigid bodies
    simulation: Simulation | None = None  # not needed to show frames from disk
    disk: DiskFrames | None = None
    writable: bool = True  # False after a frame could not be written to disk
    moments: dict[int, Moment] = field(default_factory=dict)
    states: dict[int, Array] = field(default_factory=dict)  # of some frames, to resume from
    seconds: float | None = None  # duration of the last step
    frame: Frame | None = None  # what the last step returned, with the solver's report
    snapshots: dict[tuple[int, str], Snapshot] = field(default_factory=dict)  # of the overlay, by frame and uid
    copy: Simulation | None = None  # to inspect other frames than the last one
    influences: dict[str, float] = field(default_factory=dict)  # of what holds rods, by key, as set in `simulation`
    colliders: dict[str, Array] = field(default_factory=dict)  # current vertices of colliders that have moved
    altered: dict[str, Mapping[str, float]] = field(default_factory=dict)  # factors set in `simulation`, by uid
    environment: Mapping[str, Any] | None = None  # gravity, air and force fields set in `simulation`
    inertia: Inertia = PHYSICAL  # settings of the last step
    outdated: bool = False
    not_exact_since: int | None = None  # the first frame in which the solver did not converge
    severities: dict[int, str] = field(default_factory=dict)  # per frame that did not converge: what was given up
    implicit: set[int] = field(default_factory=set)  # ids of rods that took implicit instead of published steps
    affected: dict[int, frozenset[str]] = field(default_factory=dict)  # per such frame: uids of the rods
    steady_frames: int = 0  # number of last steps whose inputs did not change
    prediction: Prediction | None = None  # if the last frame is one whose inputs were not compared yet

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
    def uids(self) -> KeysView[str]:
        return self.description.parts.keys()

    def moment(self, number: int) -> Moment | None:
        if number not in self.moments and self.disk is not None and number in self.disk.frames:
            self.moments[number] = self.disk.moment(number)
        return self.moments.get(number)

    def fits(self, uid: str, curve: Data) -> bool:
        return self.description.parts[uid].described.layout == curves.layout(curve)

    def start(self, scene: bpy.types.Scene) -> None:
        """Makes a simulation at the first frame."""
        self.simulation = self._make_simulation(scene)
        self.moments[self.first_frame] = first_moment(self.description)
        self._keep_state()

    def start_disk(self, path: Path) -> None:
        """Writes frames to a new file from now on. Raises TendrilError if that fails; frames then stay in memory."""
        simulation = self._active
        self.writable = False
        disk = DiskFrames.create(path, self.description, simulation.state_size)
        disk.append(self.first_frame, self.moments[self.first_frame], simulation.state())
        self.disk, self.writable = disk, True

    def resume(self, scene: bpy.types.Scene, colliders: Mapping[str, Array]) -> None:
        """Makes a simulation at the last frame, in which colliders have these vertices. Raises TendrilError for rigid bodies of an
        earlier session, because the state of Blender's engine is not on disk."""
        last = self.last_frame
        moment, state = self._last_moment, self.states.get(last)
        if state is None:
            assert self.disk is not None, "a frame to resume from has a state"
            state = self.disk.state(last)
        simulation = self._make_simulation(scene)
        self.altered, self.environment, self.influences = {}, None, {}
        self.simulation = simulation
        for uid in self.uids:  # before the state, whose accelerations a release would discard
            self.hold(uid, moment.influences)
        simulation.restore(state, last)
        for number, key in enumerate(self.description.colliders):
            if key in colliders:
                simulation.move_collider(number, vertices=colliders[key], at_once=True)
                self.colliders[key] = colliders[key]
        self.not_exact_since = moment.not_exact_since

    def truncate_after(self, number: int) -> None:
        """Drops all frames after the latest restartable frame not later than `number`."""
        on_disk = self.disk.frames if self.disk is not None else range(0)
        last = max(k for k in (*self.states, *on_disk) if k <= number)
        if self.disk is not None and last in on_disk:
            self.disk.truncate_after(last)
        self.simulation = None
        self.moments = {k: moment for k, moment in self.moments.items() if k <= last}
        self.states = {k: state for k, state in self.states.items() if k <= last}
        self.snapshots = {(k, uid): snapshot for (k, uid), snapshot in self.snapshots.items() if k <= last}
        self.colliders, self.influences = {}, {}
        self.outdated, self.not_exact_since = False, None
        self.severities = {k: text for k, text in self.severities.items() if k <= last}
        self.implicit.clear()
        self.affected = {k: uids for k, uids in self.affected.items() if k <= last}

    @property
    def has_constant_inputs(self) -> bool:
        """Whether the simulation runs, no setting of it is animated, and no rigid body moves with the rods."""
        return self.simulation is not None and self.engine is None and not self.description.watched

    def set_environment(self, environment: Mapping[str, Any]) -> None:
        """Sets gravity, air and force fields of the next step."""
        if not self.has_environment(environment):
            self._active.surround(**environment)
            self.environment = environment

    def has_environment(self, environment: Mapping[str, Any]) -> bool:
        return environment == self.environment

    def alter(self, uid: str, factors: Mapping[str, float]) -> None:
        """Sets factors on the described properties of an object's rods. Raises TendrilError if its model does not support them."""
        if self.has_factors(uid, factors):
            return
        for rod in self.description.parts[uid].ids:
            self._active.alter(rod, **factors)
        self.altered[uid] = factors

    def has_factors(self, uid: str, factors: Mapping[str, float]) -> bool:
        return factors == self.altered.get(uid, dict.fromkeys(factors, 1.0))

    def hold(self, uid: str, influences: Mapping[str, float]) -> None:
        """Sets how firmly a rod is held by what has these keys. Raises TendrilError if its model can't let go of it."""
        changed = self._changed_influences(uid, influences)
        if not changed:
            return
        part, simulation = self.description.parts[uid], self._active
        for hold, held in zip(part.holds, (*part.described.held, *part.described.riding), strict=True):
            if held.follows in changed:
                influence = changed[held.follows]
                simulation.set_influence(hold, float(influence >= RELEASE_THRESHOLD) if held.loose else influence)
        for tie, pulling in zip(part.ties, part.described.pulling, strict=True):
            if pulling.follows in changed:
                simulation.detach(tie)
        if key_of_cut(uid) in changed:
            for rod, described in zip(part.ids, part.described.rods, strict=True):
                way = np.cumsum(described.rest_lengths)
                edge = int(np.searchsorted(way, part.described.cut_at * way[-1]))
                simulation.cut(rod, min(edge, described.edge_count - 1))
        self.influences.update(changed)

    def has_influences(self, uid: str, influences: Mapping[str, float]) -> bool:
        return not self._changed_influences(uid, influences)

    def _changed_influences(self, uid: str, influences: Mapping[str, float]) -> dict[str, float]:
        """Those that differ from what is set. What can't hold softly is released for good where its influence is low."""
        described = self.description.parts[uid].described
        for_good = {key_of_cut(uid), *(pulling.follows for pulling in described.pulling)}
        soft, changed = model_record(described.model).soft_holds, {}
        for key, influence in influences.items():
            before = self.influences.get(key, 1.0)
            now = float(influence >= RELEASE_THRESHOLD) * before if key in for_good or not soft else influence
            if now != before:
                changed[key] = now
        return changed

    def follow(self, uid: str, poses: Poses, rows: Rows | None, strength: float) -> None:
        """Sets the shape that the rods of an object are drawn to at the end of the next frame: the drawn one, or that of `rows`."""
        part = self.description.parts[uid]
        if part.goals and uid in poses:
            target = part.described.target(poses[uid], Around(poses, ()), rows)
            self._active.aim_goal(part.goals, target, np.full(len(part.goals), strength))

    def carry(self, settings: Inertia, poses: Poses, colliders: Mapping[str, Array]) -> None:
        """Carries rods along with objects. Call it before `move`."""
        self.inertia = settings
        keys = self.description.colliders
        moving = [k for k, key in enumerate(keys) if key in colliders and not self.has_vertices(key, colliders[key])]
        inertia.carry(self._active, self.description, settings, self._last_moment.poses, poses, moving)

    def move(self, poses: Poses, colliders: Mapping[str, Array], fixed: Mapping[str, Matrix]) -> None:
        """Sets where things are at the end of the next frame: objects at `poses`, colliders with these vertices, and rigid bodies
        that no force moves at `fixed`. What is not given stays where it was."""
        simulation, before = self._active, self._last_moment.poses
        for part in self.description.parts.values():
            for key in part.described.start_poses:
                if key in poses and not same(poses[key], before.get(key)):
                    for holds, positions, rotations in hold_targets(part, key, poses):
                        simulation.move(holds, position=positions, rotation=rotations)  # type: ignore[arg-type]
                for holds, turns in hold_turns(part, key, before, poses) if key in poses else ():
                    simulation.move(holds, spin=simulation.spins(holds) + 2.0 * np.pi * turns)  # type: ignore[arg-type]
        for number, key in enumerate(self.description.colliders):
            vertices = colliders.get(key)
            if vertices is not None and not self.has_vertices(key, vertices):
                before_it = self._vertices_of(key, self.description.colliders[key])
                at_once = inertia.is_teleport(self.inertia, before_it, vertices)
                simulation.move_collider(number, vertices=vertices, at_once=at_once)
                self.colliders[key] = vertices
        if self.engine is not None:
            self.engine.set_targets(fixed)

    def step(self, poses: Poses) -> None:
        """Simulates one frame with the inputs that are set; `poses` are stored with it."""
        simulation, start = self._active, time.perf_counter()
        frame = simulation.step_frame()
        self.seconds, self.frame = time.perf_counter() - start, frame
        if not frame.report.converged:
            self._note_failure(frame)
        self.implicit |= frame.report.implicit
        self.moments[frame.number] = self._moment(simulation, frame, poses)
        if (frame.number - self.first_frame) % STATE_INTERVAL == 0:
            self._keep_state()

    def predict(self) -> bool:
        """Simulates the next frame with the inputs of the last one. False if they are likely to change. The frame counts only after
        `confirm`."""
        last = self._last_moment
        if self.engine is not None or self.steady_frames < STEADY_FRAMES or not self.uids <= last.poses.keys():
            return False
        self.prediction = Prediction(self._active.state(), self.not_exact_since)
        self.step(last.poses)
        return True

    def confirm(self, right: bool) -> None:
        """Keeps a predicted frame, or removes it."""
        prediction, number = self.prediction, self.last_frame
        self.prediction = None
        if right or prediction is None:
            return
        self._active.restore(prediction.state, number - 1)
        self.not_exact_since, self.steady_frames = prediction.not_exact_since, -STEADY_FRAMES_AFTER_ERROR
        for by_frame in (self.moments, self.states, self.severities, self.affected):
            by_frame.pop(number, None)
        self.snapshots = {key: snapshot for key, snapshot in self.snapshots.items() if key[0] != number}

    def _note_failure(self, frame: Frame) -> None:
        self.not_exact_since = self.not_exact_since or frame.number
        self.severities[frame.number] = frame.report.severity
        rods = frame.report.affected
        self.affected[frame.number] = frozenset(
            uid for uid, part in self.description.parts.items() if not rods.isdisjoint(part.ids)
        )

    @property
    def needs_writing(self) -> bool:
        """Whether the last frame is not on disk yet and should be."""
        return (
            self.disk is not None and self.writable and not self.outdated and self.last_frame == self.disk.frames.stop
        )

    def write(self) -> None:
        """Writes the last frame to disk. Raises TendrilError if that fails; later frames then stay in memory."""
        assert self.disk is not None
        self.writable = False
        self.disk.append(self.last_frame, self.moments[self.last_frame], self._active.state())
        self.writable = True

    def close(self) -> None:
        if self.disk is not None:
            self.disk.close()
            self.disk = None

    def detect_changes(self, number: int, poses: Poses) -> None:
        """Marks the frames as outdated if a pose differs from the one that an existing frame was simulated with."""
        moment = self.moment(number)
        if moment is not None:
            moved = any(not same(pose, poses.get(key)) for key, pose in moment.poses.items())
            self.outdated = self.outdated or moved

    def has_vertices(self, key: str, vertices: Array) -> bool:
        """Whether a collider has these vertices."""
        before = self.colliders.get(key)
        return np.array_equal(vertices, self.description.colliders[key].shape.vertices if before is None else before)

    def is_unmoved(self, keys: Iterable[str], poses: Poses) -> bool:
        """Whether the poses of these keys are as at the last frame."""
        before = self._last_moment.poses
        return all(key in poses and same(poses[key], before.get(key)) for key in keys)

    @property
    def _active(self) -> Simulation:
        assert self.simulation is not None, "the simulation has not started"
        return self.simulation

    @property
    def _last_moment(self) -> Moment:
        moment = self.moment(self.last_frame)
        assert moment is not None, "the last frame exists"
        return moment

    def _make_simulation(self, scene: bpy.types.Scene) -> Simulation:
        if self.description.bodies is not None and self.engine is None:
            self.engine = BlenderEngine(scene, self.description.bodies)
        return make_simulation(self.description, self.engine)

    def _keep_state(self) -> None:
        simulation = self._active
        total = 8 * simulation.state_size * (len(self.states) + 1)
        if not self.states or total <= MAX_STATE_BYTES:
            self.states[self.last_frame] = simulation.state()

    def _vertices_of(self, key: str, described: ColliderDescription) -> Array:
        return self.colliders.get(key, np.asarray(described.shape.vertices))

    def _obstacles(self) -> list[Obstacle]:
        return [
            Obstacle(
                key,
                np.asarray(one.shape.vertices),
                np.asarray(one.shape.triangles),
                one.thickness,
                self._vertices_of(key, one),
            )
            for key, one in self.description.colliders.items()
        ]

    def _moment(self, simulation: Simulation, frame: Frame, poses: Poses) -> Moment:
        rows: dict[str, Rows] = {}
        description = self.description
        strains = simulation.strains() if description.measured else None
        known = {key: poses[key] for key in description.keys if key in poses}
        around = Around(poses, self._obstacles(), simulation.time_scale * description.pace_of_bodies)
        for uid, part in description.parts.items():
            if uid in poses:
                rows[uid] = part.described.shown(frame, part.first_rod, poses[uid], strains, around)
            else:  # its pose could not be read, so its holds did not move
                self.outdated = True
        bodies = shown_bodies(description.bodies, frame, self.engine)
        influences = {key: value for key, value in self.influences.items() if value < 1.0}
        return Moment(rows, known, influences, self.not_exact_since, bodies)


def make_simulation(description: SceneDescription, engine: BlenderEngine | None) -> Simulation:
    choose_cache()
    from ..core import Simulation  # late: it imports numba and SciPy

    simulation = Simulation(
        description.scene,
        description.frame_rate,
        substeps=description.substeps,
        integrator=description.integrator,
        contact=description.contact,
        effort=description.effort,
        threads=_threads(),
        first_frame=description.first_frame,
        engine=engine,
    )
    drawn = simulation.current()
    for part in description.parts.values():
        part.described.bind(drawn, part.first_rod)
    return simulation


def _threads() -> int | None:
    """The number of cores to use, which farms and sweeps limit by TENDRIL_THREADS; None for all. Frames do not depend on it."""
    asked = os.environ.get("TENDRIL_THREADS", "")
    return int(asked) if asked.isdecimal() and 1 <= int(asked) <= 1024 else None


def first_moment(description: SceneDescription) -> Moment:
    parts = description.parts
    poses = {key: pose for part in parts.values() for key, pose in part.described.start_poses.items()}
    poses.update({key: collider.pose for key, collider in description.colliders.items()})
    rows = {uid: part.described.rows for uid, part in parts.items()}
    dynamic = description.bodies.dynamic if description.bodies else {}
    return Moment(rows, poses, bodies={key: np.array(matrix, dtype=np.float64) for key, matrix in dynamic.items()})


def shown_bodies(bodies: BodiesDescription | None, frame: Frame, engine: BlenderEngine | None) -> dict[str, Array]:
    """World matrices (4, 4) of the rigid bodies' objects in a frame, by key, in units of the scene and with scale."""
    if bodies is None or engine is None:
        return {}
    found = {
        key: np.array(matrix, dtype=np.float64) for key, matrix in zip(bodies.dynamic, engine.matrices, strict=True)
    }
    for number, key in enumerate(bodies.described):
        _, _, scale = bodies.dynamic[key].decompose()
        found[key][:3, :3] = frame.body_rotation(number) * np.array(scale, dtype=np.float64)
        found[key][:3, 3] = frame.body_position(number) / bodies.metres_per_unit
    return found
