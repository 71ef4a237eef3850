"""Curled sheets: `python -m tendril.sample_scenes.ribbons`, where the bpy module is installed.

A ribbon, a poster and a parchment, one or two clothoid elements each, are released and curl up: out/ribbons.blend,
out/ribbons.png. Each is a mesh strip along the rod that extends half a width to both sides along the first director of the
material frame. All frames are shape keys, so the file plays without the add-on.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import bpy
import numpy as np

from ..core import Simulation
from .experiments.curled_sheets import EDGES, FRAMES_PER_SECOND, SHEETS, Sheet, scene_of
from .studio import Light, add_camera, add_lights, box, progress, quiet, render_sheet, use_nodes

OUT = Path("out")
FRAMES = 73
SHEET_FRAMES = (2, 4, 7, 73)
TILE = (440, 330)
LOCATIONS = {"ribbon": (-0.4, 0.0, 1.0), "poster": (0.15, 0.1, 1.0), "parchment": (-0.12, -0.3, 0.0)}
ROTATIONS = {"ribbon": 0.9, "poster": 2.4, "parchment": 0.25}  # rad about z, to face the camera
COLOURS = {  # of the two sides
    "ribbon": ((0.75, 0.03, 0.05), (0.9, 0.35, 0.3)),
    "poster": ((0.9, 0.88, 0.82), (0.04, 0.2, 0.5)),
    "parchment": ((0.78, 0.6, 0.33), (0.6, 0.42, 0.2)),
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tendril.sample_scenes.ribbons", description=__doc__)
    parser.add_argument("--picture", type=Path, default=OUT / "ribbons.png", metavar="FILE", help="the rendered sheet")
    picture = parser.parse_args(arguments).picture
    start = time.monotonic()
    OUT.mkdir(exist_ok=True)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, FRAMES, round(FRAMES_PER_SECOND)
    for number, sheet in enumerate(SHEETS):
        sheet_object(sheet, edges_over_time(sheet))
        progress((number + 1) / len(SHEETS), "simulating")
    studio(scene)
    blend = OUT / "ribbons.blend"
    with quiet():
        bpy.ops.wm.save_as_mainfile(filepath=str(blend.resolve()), compress=True)
    render_sheet(scene, picture, SHEET_FRAMES, TILE)
    print(f"{blend}, {picture}: {time.monotonic() - start:.0f} s")


def edges_over_time(sheet: Sheet) -> np.ndarray:
    """(FRAMES, EDGES + 1, 2, 3) m: both edges of the sheet at each vertex of its rod."""
    sim = Simulation(scene_of(sheet, sheet.rod(EDGES)), FRAMES_PER_SECOND)
    block, shapes = sim.blocks[0], []
    for frame in sim.frames(1, FRAMES):
        across = block.frames()[block.vertices][:, :, 1]  # type: ignore[attr-defined]
        x = frame.positions(0)
        shapes.append(np.stack([x - 0.5 * sheet.width * across, x + 0.5 * sheet.width * across], axis=1))
    return np.array(shapes)


def sheet_object(sheet: Sheet, shapes: np.ndarray) -> bpy.types.Object:
    """A strip of quads with one shape key per frame."""
    count = shapes.shape[1]
    faces = [(2 * k, 2 * k + 1, 2 * k + 3, 2 * k + 2) for k in range(count - 1)]
    mesh = bpy.data.meshes.new(sheet.name)
    mesh.from_pydata(shapes[0].reshape(-1, 3).tolist(), [], faces)
    mesh.polygons.foreach_set("use_smooth", np.ones(len(faces), dtype=bool))
    mesh.materials.append(two_sided(sheet.name, *COLOURS[sheet.name]))
    obj = bpy.data.objects.new(sheet.name, mesh)
    obj.location = LOCATIONS[sheet.name]
    obj.rotation_euler.z = ROTATIONS[sheet.name]
    bpy.context.scene.collection.objects.link(obj)
    for number, shape in enumerate(shapes):
        key = obj.shape_key_add(name=f"frame {number + 1}", from_mix=False)
        key.data.foreach_set("co", shape.astype(np.float32).ravel())
    keys = mesh.shape_keys
    keys.use_relative = False
    for number, key in enumerate(keys.key_blocks):
        keys.eval_time = key.frame
        keys.keyframe_insert("eval_time", frame=number + 1)
    return obj


def two_sided(name: str, front: tuple[float, ...], back: tuple[float, ...]) -> bpy.types.Material:
    """A material with a colour for each side."""
    result = bpy.data.materials.new(name)
    use_nodes(result)
    nodes, links = result.node_tree.nodes, result.node_tree.links
    surface, side, mix = nodes["Principled BSDF"], nodes.new("ShaderNodeNewGeometry"), nodes.new("ShaderNodeMixRGB")
    surface.inputs["Roughness"].default_value = 0.55
    mix.inputs[1].default_value, mix.inputs[2].default_value = (*front, 1.0), (*back, 1.0)
    links.new(side.outputs["Backfacing"], mix.inputs[0])
    links.new(mix.outputs[0], surface.inputs["Base Color"])
    return result


def studio(scene: bpy.types.Scene) -> None:
    beam = box("Beam", (4.0, 0.05, 0.05), (0.22, 0.1, 0.04))
    beam.location = (0.0, 0.05, 1.025)
    floor = box("Floor", (20.0, 20.0, 0.1), (0.3, 0.22, 0.16))
    floor.location.z = -0.053
    wall = box("Wall", (20.0, 0.1, 10.0), (0.1, 0.17, 0.2))
    wall.location.y = 1.4
    add_lights(
        scene,
        Light((-2.0, -2.4, 3.0), 130.0, 1.0, (1.0, 0.88, 0.72)),
        Light((2.6, -2.0, 1.4), 35.0, 2.0, (0.6, 0.78, 1.0)),
        sky=(0.05, 0.06, 0.07),
    )
    add_camera(scene, (0.1, -2.3, 1.0), (0.1, 0.0, 0.44), lens=45.0)


if __name__ == "__main__":
    main()
