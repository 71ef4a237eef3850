"""The demo: `make demo`, or `python -m tendril.sample_scenes.demo` where the bpy module is installed.

A rope that uncoils as it falls, a spring that is shaken, and a cable between two hooks. Simulated for five seconds in a
Blender without window, baked, saved as a .blend that plays anywhere, and rendered as a sheet of eight moments.
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import bpy
import numpy as np

from .. import register, unregister
from ..addon import memory
from ..core import Simulation

OUT = Path("out")
FRAMES = 121
SHEET_FRAMES = (1, 4, 11, 14, 22, 34, 64, 110)
TILE = (440, 330)
COLUMNS = 4
BEAM_HEIGHT = 2.3


def main() -> None:
    began = time.monotonic()
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
        picture = OUT / "demo.png"
        render_sheet(scene, picture)
    finally:
        unregister()  # a handler that is left at exit crashes some Blenders
    print(f"\nframes     {FRAMES} at {scene.render.fps} fps, {FRAMES / seconds:.0f} a second")
    for rod, stretch in zip(rods, stretches, strict=True):
        print(f"{rod.name:10s} largest stretch {100 * stretch:.3f} %")
    print(f"energy     {energy[0]:+.2f} J to {energy[1]:+.2f} J")
    print(f"files      {blend}, {picture}")
    print(f"in all     {time.monotonic() - began:.0f} s")


# What moves ------------------------------------------------------------------------------------------------------


def rope() -> bpy.types.Object:
    """Drawn as a loose coil beside its hook, but made straight: it uncoils, falls and swings."""
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
    obj = curve_object("Rope", "POLY", points, thickness=0.02, colour=(0.72, 0.42, 0.16), laid=80)
    obj.location = (-1.0, 0.0, BEAM_HEIGHT - 0.12)
    obj.tendril.material = "HEMP_ROPE"
    obj.tendril.rest_shape = "STRAIGHT"
    obj.tendril.start_hold = "PIN"
    add_rod(obj)
    return obj


def spring() -> bpy.types.Object:
    """A helix of steel wire, clamped to a handle that is shaken."""
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
    """A rubber cable between two hooks, let go from the side."""
    places = [(0.0, 0.0, 0.0), (0.25, -0.55, -0.3), (0.65, -0.55, -0.3), (0.9, 0.0, 0.0)]
    obj = curve_object("Cable", "BEZIER", np.array(places), thickness=0.016, colour=(0.01, 0.22, 0.55))
    obj.location = (0.4, 0.0, BEAM_HEIGHT - 0.12)
    obj.tendril.material = "RUBBER"
    obj.tendril.rest_shape = "STRAIGHT"
    obj.tendril.start_hold = obj.tendril.end_hold = "PIN"
    add_rod(obj)
    return obj


def curve_object(
    name: str,
    kind: str,
    points: np.ndarray,
    thickness: float,
    colour: tuple[float, float, float],
    laid: int = 0,
    metal: bool = False,
) -> bpy.types.Object:
    curve = bpy.data.curves.new(name, "CURVE")
    curve.dimensions = "3D"
    curve.bevel_depth = thickness
    curve.bevel_resolution = 5
    curve.use_fill_caps = True
    spline = curve.splines.new(kind)
    if kind == "BEZIER":
        spline.bezier_points.add(len(points) - 1)
        for point, place in zip(spline.bezier_points, points.tolist(), strict=True):
            point.co = place
            point.handle_left_type = point.handle_right_type = "AUTO"
    else:
        spline.points.add(len(points) - 1)
        spline.points.foreach_set("co", np.hstack([points, np.ones((len(points), 1))]).ravel())
        spline.use_endpoint_u = True
    curve.materials.append(material(name, colour, laid, metal))
    obj = bpy.data.objects.new(name, curve)
    bpy.context.collection.objects.link(obj)
    return obj


def add_rod(obj: bpy.types.Object) -> None:
    activate(obj)
    bpy.ops.tendril.rod_add()


def activate(obj: bpy.types.Object) -> None:
    bpy.context.view_layer.objects.active = obj


# Simulating ------------------------------------------------------------------------------------------------------


def simulate(scene: bpy.types.Scene, rods: list[bpy.types.Object]) -> tuple[float, list[float], tuple[float, float]]:
    """Plays all frames. Gives the time it took, per rod its largest stretch, and the energy of all, first and last."""
    stretches = [0.0] * len(rods)
    energies: list[float] = []
    scene.frame_set(1)
    scene.frame_set(2)  # loads the solver, and compiles it if need be
    began = time.monotonic()
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
    return time.monotonic() - began, stretches, (energies[0], energies[-1])


def largest_stretch(simulation: Simulation, number: int) -> float:
    rod = simulation.scene.entries[number].rod
    lengths = np.linalg.norm(np.diff(simulation.current().positions(number), axis=0), axis=1)
    return float(np.abs(lengths / rod.rest_lengths - 1.0).max())


def progress(done: float, doing: str) -> None:
    width = 40
    full = round(done * width)
    end = "\n" if done >= 1.0 else ""
    sys.stdout.write(f"\r{doing:10s} [{'#' * full}{'.' * (width - full)}] {100 * done:3.0f} %{end}")
    sys.stdout.flush()


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Blender talks past Python; this hushes the process's own output for a moment."""
    sys.stdout.flush()
    kept = os.dup(1)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


# What is seen ----------------------------------------------------------------------------------------------------


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
    area_light((-2.6, -2.6, 4.2), 330.0, 1.2, (1.0, 0.84, 0.66))
    area_light((3.4, -2.6, 2.0), 70.0, 2.5, (0.6, 0.78, 1.0))
    world = bpy.data.worlds.new("World")
    with_nodes(world)
    world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.03, 0.04, 0.05, 1.0)
    scene.world = world
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location = (0.35, -5.4, 1.45)
    camera.rotation_euler = (math.radians(88.6), 0.0, math.radians(3.5))
    camera.data.lens = 57.0
    scene.collection.objects.link(camera)
    scene.camera = camera


def render_sheet(scene: bpy.types.Scene, path: Path, frames: Sequence[int] = SHEET_FRAMES) -> None:
    scene.render.engine = "CYCLES"
    scene.cycles.samples = 12
    scene.cycles.use_denoising = True
    scene.cycles.max_bounces = 4
    scene.render.use_persistent_data = True
    scene.render.resolution_x, scene.render.resolution_y = TILE
    scene.view_settings.view_transform = "AgX"
    scene.view_settings.look = "AgX - Medium High Contrast"
    rows = -(-len(frames) // COLUMNS)
    sheet = np.zeros((rows * TILE[1], COLUMNS * TILE[0], 4), dtype=np.float32)
    with tempfile.TemporaryDirectory() as folder:
        scene.render.filepath = str(Path(folder) / "tile.png")
        for number, frame in enumerate(frames):
            scene.frame_set(frame)
            with quiet():
                bpy.ops.render.render(write_still=True)
            tile = bpy.data.images.load(scene.render.filepath)
            pixels = np.empty(TILE[0] * TILE[1] * 4, dtype=np.float32)
            tile.pixels.foreach_get(pixels)
            bpy.data.images.remove(tile)
            row, column = divmod(number, COLUMNS)
            bottom = (rows - 1 - row) * TILE[1]  # images begin at the bottom
            part = sheet[bottom : bottom + TILE[1], column * TILE[0] : (column + 1) * TILE[0]]
            part[:] = pixels.reshape(TILE[1], TILE[0], 4)
            progress((number + 1) / len(frames), "rendering")
    image = bpy.data.images.new("Sheet", sheet.shape[1], sheet.shape[0])
    image.pixels.foreach_set(sheet.ravel())
    image.filepath_raw = str(path.resolve())
    image.file_format = "PNG"
    image.save()


def material(name: str, colour: tuple[float, float, float], laid: int = 0, metal: bool = False) -> bpy.types.Material:
    """`laid`: how often the strands of a rope wind around it."""
    result = bpy.data.materials.new(name)
    with_nodes(result)
    nodes, links = result.node_tree.nodes, result.node_tree.links
    surface = nodes["Principled BSDF"]
    surface.inputs["Base Color"].default_value = (*colour, 1.0)
    surface.inputs["Roughness"].default_value = 0.25 if metal else 0.6
    surface.inputs["Metallic"].default_value = 1.0 if metal else 0.0
    if laid:
        # The texture coordinates of a bevelled curve run along it and around it.
        place, wave, ramp = (nodes.new(f"ShaderNode{kind}") for kind in ("TexCoord", "Math", "ValToRGB"))
        parts, along, around = (nodes.new(f"ShaderNode{kind}") for kind in ("SeparateXYZ", "Math", "Math"))
        along.operation = around.operation = "MULTIPLY"
        along.inputs[1].default_value, around.inputs[1].default_value = 2.0 * math.pi * laid, 2.0 * math.pi * 3.0
        total = nodes.new("ShaderNodeMath")
        wave.operation = "SINE"
        bump = nodes.new("ShaderNodeBump")
        bump.inputs["Distance"].default_value = 0.01
        links.new(place.outputs["UV"], parts.inputs[0])
        links.new(parts.outputs[0], along.inputs[0])
        links.new(parts.outputs[1], around.inputs[0])
        links.new(along.outputs[0], total.inputs[0])
        links.new(around.outputs[0], total.inputs[1])
        links.new(total.outputs[0], wave.inputs[0])
        links.new(wave.outputs[0], ramp.inputs[0])
        links.new(wave.outputs[0], bump.inputs["Height"])
        ramp.color_ramp.elements[0].color = (*(0.25 * c for c in colour), 1.0)
        ramp.color_ramp.elements[1].color = (*colour, 1.0)
        links.new(ramp.outputs[0], surface.inputs["Base Color"])
        links.new(bump.outputs[0], surface.inputs["Normal"])
    return result


def with_nodes(block: bpy.types.Material | bpy.types.World) -> None:
    if bpy.app.version < (5, 0):  # since then they always have them
        block.use_nodes = True


def box(name: str, size: tuple[float, float, float], colour: tuple[float, float, float]) -> bpy.types.Object:
    bpy.ops.mesh.primitive_cube_add(size=1.0)
    return finish(name, colour, size)


def cylinder(name: str, radius: float, depth: float, colour: tuple[float, float, float]) -> bpy.types.Object:
    bpy.ops.mesh.primitive_cylinder_add(radius=radius, depth=depth, vertices=48)
    bpy.ops.object.shade_auto_smooth()
    return finish(name, colour)


def ring(name: str, radius: float, thickness: float) -> bpy.types.Object:
    bpy.ops.mesh.primitive_torus_add(
        major_radius=radius, minor_radius=thickness, rotation=(math.radians(90.0), 0.0, 0.0)
    )
    bpy.ops.object.shade_smooth()
    return finish(name, (0.2, 0.2, 0.21))


def finish(
    name: str, colour: tuple[float, float, float], size: tuple[float, float, float] = (1.0, 1.0, 1.0)
) -> bpy.types.Object:
    obj = bpy.context.active_object
    obj.name = name
    obj.scale = size
    obj.data.materials.append(material(name, colour))
    return obj


def area_light(
    place: tuple[float, float, float], watts: float, size: float, colour: tuple[float, float, float]
) -> None:
    light = bpy.data.lights.new("Light", "AREA")
    light.energy, light.size, light.color = watts, size, colour
    obj = bpy.data.objects.new("Light", light)
    obj.location = place
    target = np.array([0.0, 0.0, 1.4]) - np.array(place)
    obj.rotation_euler = (
        math.atan2(math.hypot(target[0], target[1]), -target[2]),
        0.0,
        math.atan2(-target[0], target[1]),
    )
    bpy.context.scene.collection.objects.link(obj)


if __name__ == "__main__":
    main()
