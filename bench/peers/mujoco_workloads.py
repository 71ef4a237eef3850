"""The workloads on MuJoCo: `python -m tendril.bench.peers.mujoco_workloads W1`, in the peers' environment.

Rods are one-dimensional flexes with elasticity (discrete elastic rods), whose length is kept by constraints, with the integrator
that the manual of MuJoCo recommends for them.
"""

from __future__ import annotations

import math
import os
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout
from scipy.linalg import null_space

from . import cases
from .cases import CANTILEVER, HAIR, RING, ROPE, Cord


class Chain:
    """A straight rod along x, from `start` on, with the vertices `pins` held."""

    def __init__(
        self,
        cord: Cord,
        *,
        step: float,
        pins: str,
        gravity: tuple[float, float, float],
        integrator: str = "discrete",
        segments: int | None = None,
        start: float = 0.0,
        edge: float | None = None,
    ) -> None:
        segments = segments or cord.segments
        edge = edge or cord.edge
        vertices = segments + 1
        # The edge constraints are as stiff as the step allows: a time constant of two steps and almost no compliance.
        self.model = mujoco.MjModel.from_xml_string(f"""
            <mujoco>
              <option timestep="{step}" integrator="{integrator}" tolerance="1e-8"
                      gravity="{gravity[0]} {gravity[1]} {gravity[2]}"><flag contact="disable"/></option>
              <worldbody>
                <flexcomp name="rod" type="grid" dim="1" count="{vertices} 1 1" spacing="{edge} 1 1"
                          pos="{start + 0.5 * edge * segments} 0 0" radius="{cord.radius}"
                          mass="{cord.mass_per_length * edge * vertices}">
                  <pin id="{pins}"/>
                  <edge equality="true" solref="{2.0 * step} 1" solimp="0.9999 0.9999 0.001"/>
                  <elasticity young="{cord.young}" shear="{cord.shear}"/>
                  <contact selfcollide="none" contype="0" conaffinity="0"/>
                </flexcomp>
              </worldbody>
            </mujoco>""")
        # MuJoCo gives all vertices the same mass, but the last one carries only half an edge.
        bodies = self.model.flex_vertbodyid
        self.model.body_mass[bodies[-1]] *= 0.5
        self.free = np.flatnonzero(bodies > 0)
        self.dofs = self.model.body_dofadr[bodies[self.free]][:, None] + np.arange(3)
        self.masses = self.model.body_mass[bodies[self.free]]
        mujoco.mj_setConst(self.model, mujoco.MjData(self.model))

    def points(self, data: mujoco.MjData) -> np.ndarray:
        mujoco.mj_kinematics(self.model, data)
        mujoco.mj_flex(self.model, data)
        return data.flexvert_xpos.copy()

    def velocities(self, data: mujoco.MjData) -> np.ndarray:
        result = np.zeros((len(data.flexvert_xpos), 3))
        result[self.free] = data.qvel[self.dofs]
        return result


def cantilever() -> dict[str, Any]:
    """W1. Steps of 10 ms: shorter ones move the tip by a millimetre."""
    step = 0.01
    steps = round(cases.CANTILEVER_SECONDS / step)
    damping = math.exp(-cases.CANTILEVER_DRAG * step)

    def fall(chain: Chain, data: mujoco.MjData) -> mujoco.MjData:
        for _ in range(steps):
            mujoco.mj_step(chain.model, data)
            data.qvel *= damping
        return data

    def tip_error(chain: Chain, data: mujoco.MjData) -> float:
        # Runs another 2 s, so that this is the error of the shape at rest.
        out, _, height = chain.points(fall(chain, data))[-1]
        return cases.tip_error_percent(out, height)

    options = {"step": step, "pins": "0 1", "gravity": (0.0, 0.0, -cases.GRAVITY)}
    plain = Chain(CANTILEVER, **options)
    seconds, data = cases.best_of(5, lambda: fall(plain, mujoco.MjData(plain.model)))
    start, edge = cases.shifted_clamp(CANTILEVER)
    shifted = Chain(CANTILEVER, start=start, edge=edge, **options)
    return {
        "seconds": seconds,
        "figure": {
            "tip_error_percent": tip_error(plain, data),
            "tip_error_percent_if_clamp_is_shifted": tip_error(shifted, fall(shifted, mujoco.MjData(shifted.model))),
        },
    }


def rope() -> dict[str, Any]:
    """W2. Explicit in bending, which conserves more energy than the recommended implicit integrator in the same time."""
    step = 6.25e-4
    samples = 100
    chain = Chain(ROPE, step=step, integrator="Euler", pins="0", gravity=(0.0, 0.0, -cases.GRAVITY))
    steps = round(cases.ROPE_SECONDS / step / samples)

    def energy(data: mujoco.MjData) -> float:
        return cases.rope_energy(chain.points(data), chain.velocities(data), stretches=False)

    def swing() -> tuple[float, mujoco.MjData]:
        data = mujoco.MjData(chain.model)
        stretch = 0.0
        for _ in range(samples):
            for _ in range(steps):
                mujoco.mj_step(chain.model, data)
            stretch = max(stretch, cases.stretch_of(chain.points(data), ROPE))
        return stretch, data

    seconds, (stretch, data) = cases.best_of(2, swing)
    return {"seconds": seconds, "figure": cases.rope_figure(energy(mujoco.MjData(chain.model)), energy(data), stretch)}


def hair() -> dict[str, Any]:
    """W3. Strands do not touch, so each is a separate simulation, on all cores; 12 steps per frame keep the length."""
    strands, frames, substeps = 100, 48, 12
    step = 1.0 / cases.FRAMES_PER_SECOND / substeps
    chain = Chain(HAIR, step=step, pins="0 1", gravity=(cases.GRAVITY, 0.0, 0.0))
    model, data = chain.model, mujoco.MjData(chain.model)
    everything = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.empty(mujoco.mj_stateSize(model, everything))
    mujoco.mj_getState(model, data, state, everything)
    states = np.tile(state, (strands, 1))
    directions = np.linspace(0.0, math.pi, strands, endpoint=False)
    sideways = np.stack([np.zeros(strands), np.cos(directions), np.sin(directions)], axis=1)
    threads = os.cpu_count() or 1
    workers = [mujoco.MjData(model) for _ in range(threads)]
    spent, stretch = 0.0, 0.0
    with rollout.Rollout(nthread=threads) as team:
        for frame in range(frames):
            # In the frame of the roots, which only translate, their acceleration acts as a body force.
            moments = (frame * substeps + np.arange(substeps)) * step
            push = -chain.masses[:, None] * sideways[:, None, None, :]
            forces = np.zeros((strands, substeps, model.nv))
            forces[:, :, chain.dofs] = push * cases.root_acceleration(moments)[None, :, None, None]
            seconds, (trajectories, _) = cases.best_of(
                1,
                lambda states=states, forces=forces: team.rollout(
                    model, workers, states, forces, control_spec=mujoco.mjtState.mjSTATE_QFRC_APPLIED
                ),
            )
            spent += seconds
            states = trajectories[:, -1].copy()
            for strand in (0, strands // 3):
                mujoco.mj_setState(model, data, states[strand], everything)
                stretch = max(stretch, cases.stretch_of(chain.points(data), HAIR))
    return {
        "seconds": spent / frames * cases.STRANDS / strands,
        "figure": {"stretch_percent": 100.0 * stretch},
        "scaled": f"from {strands} strands to {cases.STRANDS}",
    }


def ring() -> dict[str, Any]:
    """W4, from the forces of MuJoCo's rod; the last edge is clamped by leaving its unknowns out."""
    last = RING.segments
    chain = Chain(RING, step=1e-9, pins="0 1", gravity=(0.0, 0.0, 0.0), segments=last + 1)
    model, data = chain.model, mujoco.MjData(chain.model)
    twists = [model.joint(f"rod_twist_{edge}").id for edge in range(1, last)] + [model.joint("rod_twist").id]
    # All joints are slides and hinges, so positions and forces have the same addresses.
    angles = model.jnt_dofadr[twists]
    moving = np.concatenate([chain.dofs[:-2].ravel(), angles[:-1]])
    straight = chain.points(data)
    bent = cases.ring_points() + straight[0]
    # Edges are inextensible: motions that change their length are projected out.
    tangents = np.diff(bent, axis=0) / RING.edge
    lengthening = np.zeros((last + 1, model.nv))
    for vertex, dofs in zip(chain.free, chain.dofs, strict=True):
        lengthening[vertex - 1, dofs] = tangents[vertex - 1]
        if vertex <= last:
            lengthening[vertex, dofs] = -tangents[vertex]
    allowed = null_space(lengthening[:, moving])

    def stiffness(twist: float) -> np.ndarray:
        mujoco.mj_resetData(model, data)
        data.qpos[chain.dofs] = (bent - straight)[chain.free]
        data.qpos[angles] = twist * np.arange(1, last + 1) / last
        place = data.qpos.copy()
        # A step of negligible length makes MuJoCo store the frames relative to which it measures twist.
        mujoco.mj_step(model, data)
        frames = data.plastic.copy()

        def load(motion: np.ndarray) -> np.ndarray:
            data.qpos[:], data.qvel[:], data.plastic[:] = place, 0.0, frames
            data.qpos[moving] += motion
            mujoco.mj_fwdPosition(model, data)
            mujoco.mj_fwdVelocity(model, data)
            return data.qfrc_passive[moving]

        return allowed.T @ cases.differences(load, len(moving)) @ allowed

    seconds, ratio = cases.best_of(1, lambda: cases.critical_ratio(stiffness))
    return {"seconds": seconds, "figure": {"critical_ratio": ratio}}


if __name__ == "__main__":
    cases.report("MuJoCo", mujoco.__version__, {"W1": cantilever, "W2": rope, "W3": hair, "W4": ring})
