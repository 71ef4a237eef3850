"""Building blocks of samples, demo and ribbons: curves, objects, lights, a camera, and sheets of rendered frames."""

from __future__ import annotations

import contextlib
import math
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import bpy
import numpy as np
from mathutils import Vector

COLUMNS = 4  # of a sheet

Vector3 = tuple[float, float, float]
Colour = tuple[float, float, float]


class Light(NamedTuple):
    location: Vector3
    watts: float
    size: float  # m
    colour: Colour


def curve_object(
    name: str,
    kind: str,
    points: np.ndarray,
    thickness: float,
    colour: Colour | bpy.types.Material,
    twists: int = 0,
    metal: bool = False,
) -> bpy.types.Object:
    """A bevelled curve object; `kind` is the type of its spline: POLY, NURBS or BEZIER."""
    curve = bpy.data.curves.new(name, "CURVE")
    curve.dimensions = "3D"
    curve.bevel_depth = thickness
    curve.bevel_resolution = 5
    curve.use_fill_caps = True
    spline = curve.splines.new(kind)
    if kind == "BEZIER":
        spline.bezier_points.add(len(points) - 1)
        for point, position in zip(spline.bezier_points, points.tolist(), strict=True):
            point.co = position
            point.handle_left_type = point.handle_right_type = "AUTO"
    else:
        spline.points.add(len(points) - 1)
        spline.points.foreach_set("co", np.hstack([points, np.ones((len(points), 1))]).ravel())
        spline.use_endpoint_u = True
    curve.materials.append(_surface(name, colour, twists, metal))
    obj = bpy.data.objects.new(name, curve)
    bpy.context.collection.objects.link(obj)
    return obj


def add_rod(obj: bpy.types.Object) -> None:
    activate(obj)
    bpy.ops.tendril.rod_add(fit=False)


def activate(obj: bpy.types.Object) -> None:
    bpy.context.view_layer.objects.active = obj


def progress(done: float, doing: str) -> None:
    """Prints a progress bar; `done` is between 0 and 1."""
    width = 40
    full = round(done * width)
    end = "\n" if done >= 1.0 else ""
    sys.stdout.write(f"\r{doing:10s} [{'#' * full}{'.' * (width - full)}] {100 * done:3.0f} %{end}")
    sys.stdout.flush()


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Suppresses standard output of the process, to which Blender writes directly and not through Python."""
    sys.stdout.flush()
    saved = os.dup(1)
    with open(os.devnull, "w") as null:
        os.dup2(null.fileno(), 1)
    try:
        yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)


def render_sheet(scene: bpy.types.Scene, path: Path, frames: Sequence[int], tile: tuple[int, int]) -> None:
    """Renders frames with Cycles and writes them side by side into one picture; `tile` is the size of a frame in pixels."""
    scene.render.engine = "CYCLES"
    scene.cycles.samples = 12
    scene.cycles.use_denoising = True
    scene.cycles.max_bounces = 4
    scene.render.use_persistent_data = True
    scene.render.resolution_x, scene.render.resolution_y = tile
    scene.view_settings.view_transform = "AgX"
    scene.view_settings.look = "AgX - Medium High Contrast"
    rows = -(-len(frames) // COLUMNS)
    sheet = np.zeros((rows * tile[1], COLUMNS * tile[0], 4), dtype=np.float32)
    with tempfile.TemporaryDirectory() as folder:
        scene.render.filepath = str(Path(folder) / "tile.png")
        for number, frame in enumerate(frames):
            scene.frame_set(frame)
            with quiet():
                bpy.ops.render.render(write_still=True)
            image = bpy.data.images.load(scene.render.filepath)
            pixels = np.empty(tile[0] * tile[1] * 4, dtype=np.float32)
            image.pixels.foreach_get(pixels)
            bpy.data.images.remove(image)
            row, column = divmod(number, COLUMNS)
            bottom = (rows - 1 - row) * tile[1]  # the first row of an image is its lowest
            part = sheet[bottom : bottom + tile[1], column * tile[0] : (column + 1) * tile[0]]
            part[:] = pixels.reshape(tile[1], tile[0], 4)
            progress((number + 1) / len(frames), "rendering")
    image = bpy.data.images.new("Sheet", sheet.shape[1], sheet.shape[0])
    image.pixels.foreach_set(sheet.ravel())
    image.filepath_raw = str(path.resolve())
    image.file_format = "PNG"
    image.save()


def material(name: str, colour: Colour, twists: int = 0, metal: bool = False) -> bpy.types.Material:
    """`twists`: number of turns of a rope's strands along its whole length; 0 for a smooth surface."""
    result = bpy.data.materials.new(name)
    use_nodes(result)
    nodes, links = result.node_tree.nodes, result.node_tree.links
    surface = nodes["Principled BSDF"]
    surface.inputs["Base Color"].default_value = (*colour, 1.0)
    surface.inputs["Roughness"].default_value = 0.25 if metal else 0.6
    surface.inputs["Metallic"].default_value = 1.0 if metal else 0.0
    if twists:
        # The texture coordinates of a bevelled curve run along it and around it.
        coordinates, wave, ramp = (nodes.new(f"ShaderNode{kind}") for kind in ("TexCoord", "Math", "ValToRGB"))
        parts, along, around = (nodes.new(f"ShaderNode{kind}") for kind in ("SeparateXYZ", "Math", "Math"))
        along.operation = around.operation = "MULTIPLY"
        along.inputs[1].default_value, around.inputs[1].default_value = 2.0 * math.pi * twists, 2.0 * math.pi * 3.0
        total = nodes.new("ShaderNodeMath")
        wave.operation = "SINE"
        bump = nodes.new("ShaderNodeBump")
        bump.inputs["Distance"].default_value = 0.01
        links.new(coordinates.outputs["UV"], parts.inputs[0])
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


def _surface(
    name: str, colour: Colour | bpy.types.Material, twists: int = 0, metal: bool = False
) -> bpy.types.Material:
    return colour if isinstance(colour, bpy.types.Material) else material(name, colour, twists, metal)


def use_nodes(block: bpy.types.Material | bpy.types.World) -> None:
    if bpy.app.version < (5, 0):  # from 5.0 on materials and worlds always use nodes
        block.use_nodes = True


def box(name: str, size: Vector3, colour: Colour | bpy.types.Material) -> bpy.types.Object:
    bpy.ops.mesh.primitive_cube_add(size=1.0)
    return finish(name, colour, size)


def cylinder(name: str, radius: float, depth: float, colour: Colour | bpy.types.Material) -> bpy.types.Object:
    bpy.ops.mesh.primitive_cylinder_add(radius=radius, depth=depth, vertices=48)
    bpy.ops.object.shade_smooth_by_angle()  # automatic smoothing needs an asset that some builds lack
    return finish(name, colour)


def ring(
    name: str, radius: float, thickness: float, colour: Colour | bpy.types.Material = (0.2, 0.2, 0.21)
) -> bpy.types.Object:
    bpy.ops.mesh.primitive_torus_add(
        major_radius=radius, minor_radius=thickness, rotation=(math.radians(90.0), 0.0, 0.0)
    )
    bpy.ops.object.shade_smooth()
    return finish(name, colour)


def finish(name: str, colour: Colour | bpy.types.Material, size: Vector3 = (1.0, 1.0, 1.0)) -> bpy.types.Object:
    """Names, scales and colours the mesh object that an operator has just added."""
    obj = bpy.context.active_object
    obj.name = name
    obj.scale = size
    obj.data.materials.append(_surface(name, colour))
    return obj


def add_lights(scene: bpy.types.Scene, key: Light, fill: Light, sky: Colour) -> None:
    """Adds two area lights and a uniform sky."""
    for light in (key, fill):
        data = bpy.data.lights.new("Light", "AREA")
        data.energy, data.size, data.color = light.watts, light.size, light.colour
        aimed("Light", data, light.location, (0.0, 0.0, 1.4))
    world = bpy.data.worlds.new("World")
    use_nodes(world)
    world.node_tree.nodes["Background"].inputs["Color"].default_value = (*sky, 1.0)
    scene.world = world


def add_camera(scene: bpy.types.Scene, eye: Vector3, target: Vector3, lens: float) -> None:
    """Adds the camera of the scene at `eye`, directed at `target`."""
    data = bpy.data.cameras.new("Camera")
    data.lens = lens
    scene.camera = aimed("Camera", data, eye, target)


def aimed(name: str, data: bpy.types.ID, location: Vector3, target: Vector3) -> bpy.types.Object:
    """An object at `location` whose -z axis, along which lights and cameras look, points at the target."""
    obj = bpy.data.objects.new(name, data)
    obj.location = location
    obj.rotation_euler = (Vector(target) - Vector(location)).to_track_quat("-Z", "Y").to_euler()
    bpy.context.scene.collection.objects.link(obj)
    return obj
