"""Geometry nodes of samples: leaves on a branch, and strands of hair about each that is simulated."""

from __future__ import annotations

from typing import Any

import bpy

from ...addon.bridge.modifier_inputs import inputs_called, set_input
from ...addon.looks.graph import Graph, Value


def add_leaves(obj: bpy.types.Object, length: float, every: int, above: float, surface: bpy.types.Material) -> None:
    """Leaves on a bevelled curve, at every so many vertices of its mesh, above a height."""
    _add(obj, "Leaves", _leaves(every, above), length, surface)


def add_strands(obj: bpy.types.Object, each: int, spread: float, surface: bpy.types.Material) -> None:
    """Draws each strand of hair so many times, within the distance `spread`: locks at no cost of simulation."""
    _add(obj, "Locks", _strands(each), spread, surface)


def _add(obj: bpy.types.Object, name: str, group: Any, size: float, surface: bpy.types.Material) -> None:
    modifier: Any = obj.modifiers.new(name, "NODES")
    modifier.node_group = group
    for key, value in (("Thickness", size), ("Material", surface)):
        for item in inputs_called(modifier, key):
            set_input(modifier, item.identifier, value)


def _leaves(every: int, above: float) -> bpy.types.NodeTree:
    g = Graph("Leaves")
    index = g.node("GeometryNodeInputIndex", {}).outputs[0]
    place = g.node("GeometryNodeInputPosition", {}).outputs[0]
    height = g.node("ShaderNodeSeparateXYZ", {0: place}).outputs[2]
    chosen = g.times(
        g.math("LESS_THAN", g.math("MODULO", index, float(every)), 0.5), g.math("GREATER_THAN", height, above)
    )
    blade = g.node("GeometryNodeMeshCircle", {"Vertices": 10, "Radius": 0.5}, fill_type="NGON").outputs[0]
    leaf = g.node(
        "GeometryNodeTransform", {0: blade, "Translation": (0.0, 0.55, 0.0), "Scale": (0.5, 1.0, 1.0)}
    ).outputs[0]
    # The leaf points away from the branch and is turned about its own axis.
    normal = g.node("GeometryNodeInputNormal", {}).outputs[0]
    outwards = g.vector("ADD", g.vector("ADD", normal, (0.0, 0.0, -0.25)), _random(g, (-0.7,) * 3, (0.7,) * 3, 1))
    away = g.node("FunctionNodeAlignRotationToVector", {"Vector": outwards}, axis="Y").outputs[0]
    turn = g.node("FunctionNodeEulerToRotation", {0: _random(g, (0.0, -1.2, 0.0), (0.0, 1.2, 0.0), 2)}).outputs[0]
    node = g.node("GeometryNodeInstanceOnPoints", {"Points": g.geometry, "Selection": chosen, "Instance": leaf,
                                                   "Rotation": g.turned(away, turn)})  # fmt: skip
    g.tree.links.new(g.scaled(_random(g, (0.6,) * 3, (1.1,) * 3, 3), g.thickness), node.inputs["Scale"])
    coloured = g.node("GeometryNodeSetMaterial", {0: node.outputs[0], "Material": g.material}).outputs[0]
    return _finish(g, g.join(g.geometry, coloured))


def _strands(each: int) -> bpy.types.NodeTree:
    g = Graph("Locks")
    copies = g.node("GeometryNodeDuplicateElements", {"Geometry": g.geometry, "Amount": each}, domain="SPLINE")
    strand = g.node("GeometryNodeCurveOfPoint", {}).outputs["Curve Index"]
    way = g.node("GeometryNodeSplineParameter", {}).outputs["Factor"]
    shift = _random(g, (-1.0,) * 3, (1.0,) * 3, 4, strand)
    wide = g.times(g.thickness, g.math("ADD", g.times(way, 0.6), 0.55))
    moved = g.node("GeometryNodeSetPosition", {0: copies.outputs[0], "Offset": g.scaled(shift, wide)}).outputs[0]
    return _finish(g, moved)


def _random(g: Graph, low: tuple[float, ...], high: tuple[float, ...], seed: int, number: Value = None) -> Value:
    """A random vector between two, for each element or for each `number`."""
    node = g.node("FunctionNodeRandomValue", {"Seed": seed}, data_type="FLOAT_VECTOR")
    node.inputs[0].default_value, node.inputs[1].default_value = low, high
    if number is not None:
        g.tree.links.new(number, node.inputs["ID"])
    return next(socket for socket in node.outputs if socket.enabled)


def _finish(g: Graph, geometry: Value) -> bpy.types.NodeTree:
    g.tree.links.new(geometry, g.tree.nodes.new("NodeGroupOutput").inputs[0])
    return g.tree
