"""The demo: `make demo`, or `python -m tendril.sample_scenes.demo` where the bpy module is installed.

A rope that uncoils as it falls, a spring that is shaken, and a cable between two hooks. Five seconds are simulated in Blender
without a window, baked, saved as a .blend file that plays without the add-on, and rendered as a sheet of eight frames.
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path

import bpy
import numpy as np

from .. import register, unregister
from ..addon import memory
from ..core import Simulation
from .studio import (
    Light,
    add_camera,
    add_lights,
    add_rod,
    box,
    curve_object,
    cylinder,
    progress,
    quiet,
    render_sheet,
    ring,
)

OUT = Path("out")
FRAMES = 121
SHEET_FRAMES = (1, 4, 11, 14, 22, 34, 64, 110)
TILE = (440, 330)
BEAM_HEIGHT = 2.3


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tendril.sample_scenes.demo", description=__doc__)
    parser.add_argument("--picture", type=Path, default=OUT / "demo.png", metavar="FILE", help="the rendered sheet")
    picture = parser.parse_args(arguments).picture
    start = time.monotonic()
    OUT.mkdir(exist_ok=True)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    register()
    try:
        scene = bpy.context.scene
        scene.frame_start, scene.frame_end = 1, FRAMES
        rods = [rope(), spring(), cable()]
        studio(scene)
        seconds, stretches, energy = simulate(scene, rods)
        bpy.ops.tendril.bake_all()
        scene.frame_set(1)
        blend = OUT / "demo.blend"
        with quiet():
            bpy.ops.wm.save_as_mainfile(filepath=str(blend.resolve()), compress=True)
        render_sheet(scene, picture, SHEET_FRAMES, TILE)
    finally:
        unregister()  # some Blender versions crash at exit if a handler is still registered
    print(f"\nframes     {FRAMES} at {scene.render.fps} fps, {FRAMES / seconds:.0f} simulated per second")
    for rod, stretch in zip(rods, stretches, strict=True):
        print(f"{rod.name:10s} largest stretch {100 * stretch:.3f} %")
    print(f"energy     {energy[0]:+.2f} J to {energy[1]:+.2f} J")
    print(f"files      {blend}, {picture}")
    print(f"total      {time.monotonic() - start:.0f} s")


# Rods ------------------------------------------------------------------------------------------------------------


def rope() -> bpy.types.Object:
    """Drawn as a loose coil beside its hook, with a straight rest shape: it uncoils, falls and swings."""
    s = np.linspace(0.0, 1.0, 90)
    turns = 2.0 * math.pi * 2.0 * np.clip(s - 0.12, 0.0, None) / 0.88
    radius = 0.15 * np.clip(s / 0.2, 0.0, 1.0)
    points = np.stack(
        [
            0.5 * s**0.8 + radius * np.sin(turns),
            -0.5 * s,
            -0.05 * s - 0.9 * radius * (1.0 - np.cos(turns)),
        ],
        axis=1,
    )
    obj = curve_object("Rope", "POLY", points, thickness=0.02, colour=(0.72, 0.42, 0.16), twists=80)
    obj.location = (-1.0, 0.0, BEAM_HEIGHT - 0.12)
    obj.tendril.material = "HEMP_ROPE"
    obj.tendril.rest_shape = "STRAIGHT"
    obj.tendril.start_hold = "PIN"
    add_rod(obj)
    return obj


def spring() -> bpy.types.Object:
    """A helix of steel wire, clamped to a handle that oscillates."""
    turns, per_turn, pitch = 13, 8, 0.026
    angle = np.arange(turns * per_turn + 1) * 2.0 * math.pi / per_turn
    radius = 0.125 * np.clip(angle / math.pi, 0.2, 1.0)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle), -pitch * angle / (2.0 * math.pi)], axis=1)
    obj = curve_object("Spring", "NURBS", points, thickness=0.004, colour=(0.85, 0.86, 0.88), metal=True)
    obj.data.splines[0].resolution_u = 3
    top = BEAM_HEIGHT - 0.32
    handle = cylinder("Handle", 0.045, 0.09, (0.6, 0.03, 0.02))
    guide = cylinder("Guide", 0.014, 0.7, (0.3, 0.3, 0.32))
    handle.location, guide.location = (-0.12, 0.0, top), (-0.12, 0.0, BEAM_HEIGHT - 0.06)
    obj.parent = handle
    obj.location = (0.0, 0.0, -0.045)
    for frame in range(1, 62):
        t = (frame - 1) / 24.0
        fade = min(t / 0.3, 1.0) * min((2.5 - t) / 0.5, 1.0)
        handle.location.z = top + 0.05 * fade * math.sin(2.0 * math.pi * 1.2 * t)
        handle.keyframe_insert("location", index=2, frame=frame)
    obj.tendril.material = "SPRING_STEEL"
    obj.tendril.radius = 0.003
    obj.tendril.start_hold = "CLAMP"
    bpy.context.scene.frame_set(1)
    add_rod(obj)
    return obj


def cable() -> bpy.types.Object:
    """A rubber cable between two hooks, released from the side."""
    points = [(0.0, 0.0, 0.0), (0.25, -0.55, -0.3), (0.65, -0.55, -0.3), (0.9, 0.0, 0.0)]
    obj = curve_object("Cable", "BEZIER", np.array(points), thickness=0.016, colour=(0.01, 0.22, 0.55))
    obj.location = (0.4, 0.0, BEAM_HEIGHT - 0.12)
    obj.tendril.material = "RUBBER"
    obj.tendril.rest_shape = "STRAIGHT"
    obj.tendril.start_hold = obj.tendril.end_hold = "PIN"
    add_rod(obj)
    return obj


# Simulation ------------------------------------------------------------------------------------------------------


def simulate(scene: bpy.types.Scene, rods: list[bpy.types.Object]) -> tuple[float, list[float], tuple[float, float]]:
    """Plays all frames. Returns the seconds it took, the largest stretch of each rod, and the total energy, first and last."""
    stretches = [0.0] * len(rods)
    energies: list[float] = []
    scene.frame_set(1)
    scene.frame_set(2)  # loads the solver, and compiles it if necessary
    start = time.monotonic()
    for frame in range(2, FRAMES + 1):
        scene.frame_set(frame)
        for k, rod in enumerate(rods):
            running = memory.running_of(scene)
            if running is None or memory.status(rod.tendril.uid):
                raise SystemExit(f"{rod.name}: {memory.status(rod.tendril.uid)}")
            number = running.description.parts[rod.tendril.uid].first_rod
            stretches[k] = max(stretches[k], largest_stretch(running.simulation, number))
        energies.append(running.simulation.energies().total)
        progress(frame / FRAMES, "simulating")
    return time.monotonic() - start, stretches, (energies[0], energies[-1])


def largest_stretch(simulation: Simulation, number: int) -> float:
    """Largest relative change of an edge's length."""
    rod = simulation.scene.entries[number].rod
    lengths = np.linalg.norm(np.diff(simulation.current().positions(number), axis=0), axis=1)
    return float(np.abs(lengths / rod.rest_lengths - 1.0).max())


# Surroundings ----------------------------------------------------------------------------------------------------


def studio(scene: bpy.types.Scene) -> None:
    beam = box("Beam", (3.0, 0.16, 0.18), (0.22, 0.1, 0.04))
    beam.location.z = BEAM_HEIGHT + 0.09
    for x in (-1.0, 0.4, 1.3):
        hook = ring("Hook", 0.045, 0.013)
        hook.location = (x, 0.0, BEAM_HEIGHT - 0.075)
    floor = box("Floor", (40.0, 40.0, 0.1), (0.2, 0.13, 0.09))
    floor.location.z = -0.05
    wall = box("Wall", (40.0, 0.1, 20.0), (0.06, 0.13, 0.16))
    wall.location.y = 1.6
    add_lights(
        scene,
        Light((-2.6, -2.6, 4.2), 330.0, 1.2, (1.0, 0.84, 0.66)),
        Light((3.4, -2.6, 2.0), 70.0, 2.5, (0.6, 0.78, 1.0)),
        sky=(0.03, 0.04, 0.05),
    )
    add_camera(scene, (0.35, -5.4, 1.45), (0.02, 0.0, 1.318), lens=57.0)


if __name__ == "__main__":
    main()
