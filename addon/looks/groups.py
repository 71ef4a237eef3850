"""The looks: geometry node groups that give a rod the appearance of a thing. All lengths are in proportion to its thickness."""

from __future__ import annotations

import math
from typing import Any

import bpy

from ..bridge.points import BROKEN
from .graph import Graph, Value

TURN = 2.0 * math.pi
BREAK_FRAME = "break_frame"  # attribute of the edges of a baked net: the frame at which it tears; 0: never


def rope(name: str) -> bpy.types.NodeTree:
    """Three strands laid about each other, with a lay of three and a half thicknesses."""
    return _laid(name, 3, 3.5)


def _laid(name: str, strands: int, lay: float) -> bpy.types.NodeTree:
    g = Graph(name)
    return g.finish(*_strands(g, g.thickness, strands, lay))


def _strands(g: Graph, thickness: Value, strands: int, lay: float) -> list[Value]:
    """Helical strands that touch each other, within the thickness."""
    ratio = math.sin(math.pi / strands)
    radius = g.times(thickness, 0.5 * ratio / (1.0 + ratio))  # of a strand
    offset = g.math("SUBTRACT", g.times(thickness, 0.5), radius)
    curve = g.resampled(g.times(thickness, lay / 16.0))
    angle = g.math("DIVIDE", g.times(g.way(), TURN), g.times(thickness, lay))
    found = []
    for k in range(strands):
        phase = g.math("ADD", angle, TURN * k / strands)
        x, y = (g.times(offset, g.math(one, phase)) for one in ("COSINE", "SINE"))
        found.append(g.swept(g.moved(curve, x, y), g.circle(radius)))
    return found


def braid(name: str) -> bpy.types.NodeTree:
    """Three strands that cross over each other like plaited hair."""
    g = Graph(name)
    curve = g.resampled(g.times(g.thickness, 0.2))
    angle = g.math("DIVIDE", g.times(g.way(), TURN), g.times(g.thickness, 3.0))
    found = []
    for k in range(3):
        phase = g.math("ADD", angle, TURN * k / 3)
        x = g.times(g.times(g.thickness, 0.26), g.math("SINE", phase))
        y = g.times(g.times(g.thickness, 0.13), g.math("SINE", g.times(phase, 2.0)))
        found.append(g.swept(g.moved(curve, x, y), g.circle(g.times(g.thickness, 0.22))))
    return g.finish(*found)


def chain(name: str) -> bpy.types.NodeTree:
    """Links as wide as the thickness, each turned by a right angle to the one before."""
    g = Graph(name)
    wire = g.times(g.thickness, 1.0 / 3.4)  # diameter of the wire: a link is 3.4 wires wide
    pitch = g.times(wire, 2.8)
    width = g.math("SUBTRACT", g.thickness, wire)
    shape = g.node("GeometryNodeCurvePrimitiveQuadrilateral", {"Width": g.math("ADD", pitch, wire), "Height": width})
    rounded = g.node(
        "GeometryNodeFilletCurve", {"Curve": shape.outputs[0], "Count": 8, "Radius": g.times(width, 0.499)}
    )
    if hasattr(rounded, "mode"):
        rounded.mode = "POLY"
    else:
        rounded.inputs["Mode"].default_value = "Poly"
    flat = g.node("GeometryNodeSetCurveRadius", {0: rounded.outputs[0], "Radius": 1.0}).outputs[0]
    link = g.placed(g.swept(flat, g.circle(g.times(wire, 0.5), 10)), turn=(0.0, 0.5 * math.pi, 0.0))
    points = g.along(pitch)
    rotation = g.turned(points.outputs["Rotation"], g.every_other(0.5 * math.pi))
    return g.finish(g.instances(points.outputs["Points"], link, rotation))


def cable(name: str) -> bpy.types.NodeTree:
    """A round cable with a plug at each end."""
    g = Graph(name)
    tube = g.swept(g.resampled(g.times(g.thickness, 0.5)), g.circle(g.times(g.thickness, 0.5), 16))
    t = g.thickness
    body = g.placed(g.rod(g.times(t, 1.1), g.times(t, 4.0), g.times(t, 0.8), 20), g.xyz(z=g.times(t, 1.0)))
    pins = [
        g.placed(g.rod(g.times(t, 0.22), g.times(t, 1.6)), g.xyz(x=g.times(t, side), z=g.times(t, -1.7)))
        for side in (-0.5, 0.5)
    ]
    plug = g.join(body, *pins)
    ends = g.node("GeometryNodeCurveToPoints", {"Curve": g.curve, "Count": 2}, mode="COUNT")
    index = g.node("GeometryNodeInputIndex", {}).outputs[0]
    flip = g.xyz(x=g.times(g.math("MODULO", index, 2.0), math.pi))
    turn = g.node("FunctionNodeEulerToRotation", {0: flip}).outputs[0]
    rotation = g.turned(ends.outputs["Rotation"], turn)
    return g.finish(tube, g.instances(ends.outputs["Points"], plug, rotation))


def coil(name: str) -> bpy.types.NodeTree:
    """A cord wound to a coil as wide as the thickness, like that of a telephone."""
    g = Graph(name)
    radius = g.times(g.thickness, 0.14)  # of the cord
    pitch = g.times(radius, 2.4)
    curve = g.resampled(g.times(pitch, 1.0 / 12.0))
    angle = g.math("DIVIDE", g.times(g.way(), TURN), pitch)
    offset = g.math("SUBTRACT", g.times(g.thickness, 0.5), radius)
    x, y = (g.times(offset, g.math(one, angle)) for one in ("COSINE", "SINE"))
    return g.finish(g.swept(g.moved(curve, x, y), g.circle(radius, 8)))


def ribbon(name: str) -> bpy.types.NodeTree:
    """A flat band as wide as the thickness, with a row of stitches along each border."""
    g = Graph(name)
    t = g.thickness
    curve = g.resampled(g.times(t, 0.25))
    # The profile's y is the binormal, across which flat rods are wide.
    profile = g.node("GeometryNodeCurvePrimitiveQuadrilateral", {"Width": g.times(t, 0.03), "Height": t}).outputs[0]
    band = g.swept(curve, profile)
    thread = g.rod(g.times(t, 0.022), g.times(t, 0.16), sides=6)
    rows = [
        g.placed(thread, g.xyz(x=g.times(t, face), y=g.times(t, side)))
        for face in (-0.02, 0.02)
        for side in (-0.42, 0.42)
    ]
    points = g.along(g.times(t, 0.28))
    return g.finish(band, g.instances(points.outputs["Points"], g.join(*rows), points.outputs["Rotation"]))


def barbed_wire(name: str) -> bpy.types.NodeTree:
    """Two wires laid about each other, with four-pointed barbs. The thickness is that of both wires."""
    g = Graph(name)
    t = g.thickness
    wires = _strands(g, t, 2, 8.0)
    spikes = [
        g.placed(
            g.placed(g.rod(g.times(t, 0.2), g.times(t, 6.0), 0.0, 8), g.xyz(z=g.times(t, 3.0))),
            g.xyz(z=g.times(t, shift)),
            (0.5 * math.pi - 0.25, 0.0, angle),
        )
        for shift, angle in ((-0.4, 0.3), (-0.4, 0.3 + math.pi), (0.4, 1.9), (0.4, 1.9 + math.pi))
    ]
    wraps = g.rod(g.times(t, 0.62), g.times(t, 1.6), sides=14)
    points = g.along(g.times(t, 24.0))
    barbs = g.instances(points.outputs["Points"], g.join(*spikes, wraps), points.outputs["Rotation"])
    return g.finish(*wires, barbs)


def without_broken(name: str) -> bpy.types.NodeTree:
    """Deletes the edges of a net that are torn in this frame, by the attribute `broken`; or of a bake since `break_frame`."""
    tree: Any = bpy.data.node_groups.new(name, "GeometryNodeTree")
    tree.is_modifier = True
    for in_out in ("OUTPUT", "INPUT"):
        tree.interface.new_socket("Geometry", in_out=in_out, socket_type="NodeSocketGeometry")
    nodes, links = tree.nodes, tree.links
    start, end = nodes.new("NodeGroupInput"), nodes.new("NodeGroupOutput")

    def compare(operation: str, a: Any, b: Any) -> Any:
        node = nodes.new("ShaderNodeMath")
        node.operation = operation
        for socket, value in zip(node.inputs, (a, b), strict=False):
            if isinstance(value, float):
                socket.default_value = value
            else:
                links.new(value, socket)
        return node.outputs[0]

    def attribute(what: str) -> Any:
        node = nodes.new("GeometryNodeInputNamedAttribute")
        node.data_type = "FLOAT"
        node.inputs[0].default_value = what
        return next(one for one in node.outputs if one.enabled and one.name == "Attribute")

    frame, since = nodes.new("GeometryNodeInputSceneTime").outputs["Frame"], attribute(BREAK_FRAME)
    baked = compare(
        "MULTIPLY", compare("GREATER_THAN", frame, compare("SUBTRACT", since, 0.5)), compare("ABSOLUTE", since, 0.0)
    )
    torn = compare("GREATER_THAN", compare("ADD", attribute(BROKEN), baked), 0.5)
    delete = nodes.new("GeometryNodeDeleteGeometry")
    delete.domain = "EDGE"
    links.new(start.outputs[0], delete.inputs["Geometry"])
    links.new(torn, delete.inputs["Selection"])
    links.new(delete.outputs[0], end.inputs[0])
    return tree
