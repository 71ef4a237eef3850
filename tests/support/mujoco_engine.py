"""MuJoCo as the rigid-body engine of a scene."""

from __future__ import annotations

import mujoco
import numpy as np
from tendril.core import BodyPoses


class MujocoEngine:
    """A MuJoCo model of boxes, spheres and a floor; its free bodies are those of the scene, in the same order."""

    def __init__(self, bodies: str, *, gravity: float = -9.81, floor: bool = False) -> None:
        plane = "<geom type='plane' size='5 5 0.1' friction='0.5'/>" if floor else ""
        text = f"<option gravity='0 0 {gravity}' integrator='Euler'/>"
        self.model = mujoco.MjModel.from_xml_string(f"<mujoco>{text}<worldbody>{plane}{bodies}</worldbody></mujoco>")
        self.data = mujoco.MjData(self.model)
        self.exchanges = 0

    def step(self, h: float, forces: np.ndarray, torques: np.ndarray) -> BodyPoses:
        model, data = self.model, self.data
        model.opt.timestep = h
        data.xfrc_applied[1:, :3], data.xfrc_applied[1:, 3:] = forces, torques
        mujoco.mj_step(model, data)
        mujoco.mj_kinematics(model, data)
        self.exchanges += 1
        velocity = data.qvel.reshape(-1, 6)
        rotation = data.xmat[1:].reshape(-1, 3, 3).copy()
        # MuJoCo gives the angular velocity of a free joint in body coordinates.
        spin = np.einsum("bij,bj->bi", rotation, velocity[:, 3:])
        return BodyPoses(data.xpos[1:].copy(), rotation, velocity[:, :3].copy(), spin)


def box(at: tuple[float, float, float], size: tuple[float, float, float], mass: float, more: str = "") -> str:
    place, half = " ".join(map(str, at)), " ".join(str(0.5 * s) for s in size)
    return f"<body pos='{place}'><freejoint/><geom type='box' size='{half}' mass='{mass}' {more}/></body>"
