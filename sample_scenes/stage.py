"""The set of the samples: a coloured backdrop without a horizon, three area lights about the camera's view, a sky and a camera."""

from __future__ import annotations

import contextlib
import math
from typing import Any, NamedTuple

import bpy
import numpy as np
from mathutils import Vector

from .studio import Colour, Vector3, add_camera, aimed, use_nodes
from .surfaces import paint

SIZE = (1280, 720)  # of a picture


class Look(NamedTuple):
    """Colours of a set. Strengths are relative to those that expose a matt surface as bright as its colour."""

    backdrop: Colour
    key: Colour = (1.0, 0.9, 0.78)
    rim: Colour = (0.75, 0.86, 1.0)
    key_strength: float = 1.15
    rim_strength: float = 1.1
    fill_strength: float = 0.22
    sky: Colour = (0.16, 0.18, 0.21)


def set_stage(
    frames: int, eye: Vector3, target: Vector3, lens: float, look: Look, ground: float = 0.0, depth: float = 1.0
) -> None:
    """Sets frames, picture and camera, and adds lights, a sky and a backdrop.

    The backdrop's floor is at the height `ground`; its wall is `depth` times as far behind the target as the camera is before it.
    """
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, frames
    set_picture(scene)
    add_camera(scene, eye, target, lens)
    away = Vector(target) - Vector(eye)
    _backdrop(away, Vector(target), ground, depth, look.backdrop)
    _lights(away, Vector(target), look)
    _sky(scene, look.sky)


def set_picture(scene: bpy.types.Scene) -> None:
    """Size, colours and quality of renders."""
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    with contextlib.suppress(TypeError):  # Cycles may be switched off
        scene.render.engine = "CYCLES"
        scene.cycles.samples, scene.cycles.use_denoising, scene.cycles.max_bounces = 32, True, 4
    scene.view_settings.view_transform = "AgX"
    scene.view_settings.look = "AgX - Medium High Contrast"


def look_through_camera(screens: Any, shaded: bool) -> None:
    """Makes all 3D views of the screens show what the camera sees; `shaded`: with its lights and materials."""
    for screen in screens:
        for area in screen.areas:
            for space in area.spaces:
                if space.type != "VIEW_3D":
                    continue
                space.region_3d.view_perspective = "CAMERA"
                if shaded:
                    space.shading.type = "MATERIAL"
                    space.shading.use_scene_lights = space.shading.use_scene_world = True
                    space.overlay.show_overlays = True


def _backdrop(away: Vector, target: Vector, ground: float, depth: float, colour: Colour) -> None:
    """A floor that bends up to a wall, square to the camera's view and much wider than it."""
    far, wide = away.length, 6.0 * away.length
    bend = 0.45 * far
    behind = depth * far + bend
    angle = np.linspace(0.0, 0.5 * math.pi, 17)
    y = np.concatenate([[-2.5 * far], behind - bend + bend * np.sin(angle), [behind]])
    z = np.concatenate([[0.0], bend - bend * np.cos(angle), [5.0 * far]])
    points = [(x, float(b), float(c)) for b, c in zip(y, z, strict=True) for x in (-wide, wide)]
    faces = [(2 * k, 2 * k + 1, 2 * k + 3, 2 * k + 2) for k in range(len(y) - 1)]
    mesh = bpy.data.meshes.new("Backdrop")
    mesh.from_pydata(points, [], faces)
    mesh.polygons.foreach_set("use_smooth", [True] * len(faces))
    mesh.materials.append(paint("Backdrop", colour, 0.75))
    obj = bpy.data.objects.new("Backdrop", mesh)
    obj.location = (target.x, target.y, ground)
    obj.rotation_euler.z = math.atan2(-away.x, away.y)
    obj.hide_select = True
    bpy.context.scene.collection.objects.link(obj)


def _lights(away: Vector, target: Vector, look: Look) -> None:
    """Key light from the upper left, a rim light from behind at the right, and a wide weak fill light."""
    far = away.length
    ahead = Vector((away.x, away.y, 0.0)).normalized()
    right, up = ahead.cross(Vector((0.0, 0.0, 1.0))), Vector((0.0, 0.0, 1.0))
    white = (1.0, 1.0, 1.0)
    for name, direction, distance, size, strength, colour in (
        ("Key", -0.75 * right - 0.7 * ahead + 0.95 * up, 1.0, 0.55, look.key_strength, look.key),
        ("Rim", 0.8 * right + 0.65 * ahead + 0.75 * up, 0.9, 0.5, look.rim_strength, look.rim),
        ("Fill", 1.0 * right - 0.8 * ahead + 0.15 * up, 1.1, 1.2, look.fill_strength, white),
    ):
        data = bpy.data.lights.new(name, "AREA")
        reach = distance * far
        # An area light of P watts gives the irradiance P / (π r²) at the distance r, and a white matt surface is exposed as 1 by π.
        data.energy = strength * math.pi**2 * reach**2
        data.size, data.color = size * far, colour
        light = aimed(name, data, tuple(target + direction.normalized() * reach), tuple(target))
        light.hide_select = True


def _sky(scene: bpy.types.Scene, colour: Colour) -> None:
    """Brighter towards the zenith, for reflections in metal."""
    world = bpy.data.worlds.new("World")
    use_nodes(world)
    nodes, links = world.node_tree.nodes, world.node_tree.links
    place, parts, ramp = (nodes.new(f"ShaderNode{kind}") for kind in ("TexCoord", "SeparateXYZ", "ValToRGB"))
    for element, factor, where in zip(ramp.color_ramp.elements, (0.4, 2.2), (0.0, 1.0), strict=True):
        element.color, element.position = (*(factor * c for c in colour), 1.0), where
    links.new(place.outputs["Generated"], parts.inputs[0])
    links.new(parts.outputs[2], ramp.inputs[0])
    links.new(ramp.outputs[0], nodes["Background"].inputs["Color"])
    scene.world = world
