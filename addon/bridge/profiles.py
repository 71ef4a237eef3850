"""Curves that define how a property varies from a rod's start to its end. Blender stores curve widgets in nodes, so a rod that uses
profiles has a hidden node group with one for each property."""

from __future__ import annotations

import bpy
import numpy as np

from .poses import Array

NAMES = ("Radius", "Stiffness", "Mass", "Follow")
SHOWN, LARGEST = 2.0, 10.0  # the initial view of the widget, in which 1 is at half height; and the largest value
SAMPLES = 65


def make(obj: bpy.types.Object) -> bpy.types.NodeTree:
    """New curves with the constant factor 1."""
    tree = bpy.data.node_groups.new(f".{obj.name} Along the Rod", "ShaderNodeTree")
    for name in NAMES:
        node = tree.nodes.new("ShaderNodeFloatCurve")
        node.name = node.label = name
        node.mapping.clip_max_y = SHOWN
        node.mapping.reset_view()
        node.mapping.clip_max_y = LARGEST
        for point, x in zip(node.mapping.curves[0].points, (0.0, 1.0), strict=True):
            point.location = (x, 1.0)
        node.mapping.update()
    return tree


def node_of(settings: bpy.types.PropertyGroup, name: str) -> bpy.types.Node | None:
    tree = settings.profiles
    return tree.nodes.get(name) if tree is not None and settings.use_profiles else None


def along(settings: bpy.types.PropertyGroup, name: str, way: Array) -> Array | float:
    """The factor at relative arc lengths from start to end, 0 to 1."""
    samples = sampled(settings, name)
    return 1.0 if samples is None else np.interp(way, np.linspace(0.0, 1.0, len(samples)), samples)


def sampled(settings: bpy.types.PropertyGroup, name: str) -> tuple[float, ...] | None:
    node = node_of(settings, name)
    if node is None:
        return None
    mapping = node.mapping
    mapping.initialize()
    return tuple(mapping.evaluate(mapping.curves[0], float(t)) for t in np.linspace(0.0, 1.0, SAMPLES))


def settings_of_profiles(settings: bpy.types.PropertyGroup) -> tuple[object, ...]:
    return tuple(sampled(settings, name) for name in NAMES) if settings.use_profiles else ()
