"""A simulation that runs: the core's, and the frames it has given so far, as they are shown."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import bpy
import numpy as np

from .bridge.colliders import ColliderDescription
from .bridge.curves import Rows
from .bridge.poses import Array
from .bridge.scenes import SceneDescription, held_motion

if TYPE_CHECKING:
    from ..core import Frame, Simulation

Poses = Mapping[str, Array]  # of objects, by uid


@dataclass(frozen=True)
class Moment:
    """A frame as it is shown."""

    rows: Mapping[str, Rows]  # of the curves, by the uid of the rod
    poses: Poses  # where the objects stood


@dataclass
class Running:
    """The simulation of one scene."""

    description: SceneDescription
    simulation: Simulation
    settings: tuple[object, ...]  # as they were when it was made
    left_out: Mapping[str, str]  # rods that could not be described, by uid, and why
    moments: dict[int, Moment] = field(default_factory=dict)
    released: set[str] = field(default_factory=set)  # attachments that have let go
    colliders: dict[str, Array] = field(default_factory=dict)  # where their vertices are, of those that have moved
    outdated: bool = False
    not_exact_since: int | None = None

    @property
    def first_frame(self) -> int:
        return self.description.first_frame

    @property
    def last_frame(self) -> int:
        return self.simulation.frame

    def step(self, poses: Poses, colliders: Mapping[str, Array]) -> None:
        """One frame further, at whose end the objects stand at `poses` and colliders have these vertices; what is not
        among them stays where it was."""
        before = self.moments[self.last_frame].poses
        for part in self.description.parts.values():
            for key in part.described.start_poses:
                if key in poses and not np.array_equal(poses[key], before.get(key)):
                    for hold, position, rotation in held_motion(part, key, poses[key]):
                        self.simulation.move(hold, position=position, rotation=rotation)
        for number, (key, described) in enumerate(self.description.colliders.items()):
            vertices = colliders.get(key)
            if vertices is not None and not np.array_equal(vertices, self._vertices_of(key, described)):
                self.simulation.move_collider(number, vertices=vertices)
                self.colliders[key] = vertices
        frame = self.simulation.step_frame()
        self.moments[frame.number] = self._moment(frame, poses)
        if not frame.report.converged and self.not_exact_since is None:
            self.not_exact_since = frame.number

    def release(self, uid: str, keys: set[str]) -> None:
        """Lets go of what follows these attachments of a rod, for good. Raises TendrilError if that can't be."""
        part = self.description.parts[uid]
        for hold, held in zip(part.holds, part.described.held, strict=True):
            if held.follows in keys - self.released:
                self.simulation.release(hold)
        self.released |= keys

    def compare(self, number: int, poses: Poses) -> None:
        """Notices that something stands elsewhere in a frame than it did when the frame was simulated."""
        moment = self.moments.get(number)
        if moment is not None:
            same = all(np.array_equal(pose, poses.get(uid)) for uid, pose in moment.poses.items())
            self.outdated = self.outdated or not same

    def _vertices_of(self, key: str, described: ColliderDescription) -> Array:
        return self.colliders.get(key, np.asarray(described.shape.vertices))

    def _moment(self, frame: Frame, poses: Poses) -> Moment:
        rows: dict[str, Rows] = {}
        known = {key: poses[key] for key in self.description.colliders if key in poses}
        for uid, part in self.description.parts.items():
            known.update({key: poses[key] for key in part.described.start_poses if key in poses})
            if uid in poses:
                rows[uid] = part.described.shown(frame, part.first_rod, poses[uid])
            else:  # it can't be seen now, and its holds were left behind
                self.outdated = True
        return Moment(rows, known)


def start(description: SceneDescription, settings: tuple[object, ...], left_out: Mapping[str, str]) -> Running:
    """A simulation that stands at the first frame."""
    _choose_kernel_cache()
    from ..core import Simulation  # late: it imports numba and SciPy

    simulation = Simulation(
        description.scene,
        description.frame_rate,
        substeps=description.substeps,
        first_frame=description.first_frame,
    )
    drawn = simulation.current()
    for part in description.parts.values():
        for k, strand in enumerate(part.described.strands, start=part.first_rod):
            strand.bind(drawn.directors(k))
    running = Running(description, simulation, settings, left_out)
    running.moments[description.first_frame] = Moment(
        rows={uid: part.described.rows for uid, part in description.parts.items()},
        poses={
            **{key: pose for part in description.parts.values() for key, pose in part.described.start_poses.items()},
            **{key: collider.pose for key, collider in description.colliders.items()},
        },
    )
    return running


@functools.cache
def _choose_kernel_cache() -> None:
    """Compiled kernels of an installed extension lie in its own folder, which survives upgrades."""
    root = __package__.rpartition(".")[0]
    if root.startswith("bl_ext."):
        from ..core import jit

        jit.set_cache_folder(bpy.utils.extension_path_user(root, path="numba", create=True))
