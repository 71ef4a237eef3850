"""A short way to write geometry node groups in Python: nodes are functions, and their outputs are arguments of others."""

from __future__ import annotations

from typing import Any

import bpy

Value = Any  # a socket of the tree, or a constant


class Graph:
    """A new node group with the inputs of all looks: `geometry`, of which `curve` has the curves or edges, and `thickness`."""

    def __init__(self, name: str) -> None:
        tree: Any = bpy.data.node_groups.new(name, "GeometryNodeTree")
        self.tree = tree
        tree.is_modifier = True
        face = tree.interface
        face.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
        face.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
        thickness = face.new_socket("Thickness", in_out="INPUT", socket_type="NodeSocketFloat")
        thickness.subtype, thickness.default_value, thickness.min_value = "DISTANCE", 0.02, 0.0
        face.new_socket("Material", in_out="INPUT", socket_type="NodeSocketMaterial")
        self._inputs = tree.nodes.new("NodeGroupInput")
        geometry, self.thickness, self.material = self._inputs.outputs[:3]
        self.geometry = geometry
        # Nets are meshes: their edges are the curves.
        of_edges = self.node("GeometryNodeMeshToCurve", {0: geometry}).outputs[0]
        drawn = self.node("GeometryNodeSeparateComponents", {0: geometry}).outputs["Curve"]
        size = self.node("GeometryNodeAttributeDomainSize", {0: drawn}, component="CURVE")
        count = next(one for one in size.outputs if one.name == "Spline Count")
        switch = self.node("GeometryNodeSwitch", {}, input_type="GEOMETRY")
        for source, name in ((self.math("GREATER_THAN", count, 0.5), "Switch"), (of_edges, "False"), (drawn, "True")):
            tree.links.new(source, next(one for one in switch.inputs if one.name == name and one.enabled))
        self.curve = switch.outputs[0]

    def node(self, kind: str, inputs: dict[int | str, Value], **settings: Any) -> Any:
        """A new node. Inputs are given by index or name, as sockets or constants."""
        node: Any = self.tree.nodes.new(kind)
        node.location = (180.0 * (len(self.tree.nodes) % 12), -220.0 * (len(self.tree.nodes) // 12))
        for name, value in settings.items():
            setattr(node, name, value)
        for key, value in inputs.items():
            socket = _input(node, key)
            if isinstance(value, bpy.types.NodeSocket):
                self.tree.links.new(value, socket)
            else:
                socket.default_value = value
        return node

    def math(self, operation: str, a: Value, b: Value = 0.0) -> Value:
        return self.node("ShaderNodeMath", {0: a, 1: b}, operation=operation).outputs[0]

    def times(self, a: Value, b: Value) -> Value:
        return self.math("MULTIPLY", a, b)

    def scaled(self, vector: Value, factor: Value) -> Value:
        return self.node("ShaderNodeVectorMath", {0: vector, "Scale": factor}, operation="SCALE").outputs[0]

    def vector(self, operation: str, a: Value, b: Value) -> Value:
        return self.node("ShaderNodeVectorMath", {0: a, 1: b}, operation=operation).outputs[0]

    def xyz(self, x: Value = 0.0, y: Value = 0.0, z: Value = 0.0) -> Value:
        return self.node("ShaderNodeCombineXYZ", {0: x, 1: y, 2: z}).outputs[0]

    def join(self, *geometries: Value) -> Value:
        node = self.tree.nodes.new("GeometryNodeJoinGeometry")
        for one in reversed(geometries):
            self.tree.links.new(one, node.inputs[0])
        return node.outputs[0]

    def resampled(self, step: Value) -> Value:
        """The curve with points at a distance of about `step`, and the radius 1 that sweeps expect."""
        node = self.node("GeometryNodeResampleCurve", {"Curve": self.curve})
        _choose(node, "mode", "LENGTH", "Length")
        self.tree.links.new(step, node.inputs["Length"])
        return self.node("GeometryNodeSetCurveRadius", {0: node.outputs[0], "Radius": 1.0}).outputs[0]

    def way(self) -> Value:
        """Arc length from the start of the spline."""
        return self.node("GeometryNodeSplineParameter", {}).outputs["Length"]

    def frame(self) -> tuple[Value, Value, Value]:
        """Tangent, normal and binormal of the curve, which follow its tilt and so the material frame."""
        tangent = self.node("GeometryNodeInputTangent", {}).outputs[0]
        normal = self.node("GeometryNodeInputNormal", {}).outputs[0]
        return tangent, normal, self.vector("CROSS_PRODUCT", tangent, normal)

    def moved(self, curve: Value, x: Value, y: Value) -> Value:
        """The curve with points moved across it, along its normal and binormal."""
        _, normal, binormal = self.frame()
        offset = self.vector("ADD", self.scaled(normal, x), self.scaled(binormal, y))
        return self.node("GeometryNodeSetPosition", {0: curve, "Offset": offset}).outputs[0]

    def circle(self, radius: Value, sides: int = 12) -> Value:
        node = self.node("GeometryNodeCurvePrimitiveCircle", {"Resolution": sides})
        socket = next(one for one in node.inputs if one.name == "Radius" and one.enabled)
        if isinstance(radius, bpy.types.NodeSocket):
            self.tree.links.new(radius, socket)
        else:
            socket.default_value = radius
        return node.outputs[0]

    def swept(self, curve: Value, profile: Value) -> Value:
        node = self.node("GeometryNodeCurveToMesh", {0: curve, 1: profile, "Fill Caps": True})
        return node.outputs[0]

    def placed(self, geometry: Value, shift: Value = (0.0, 0.0, 0.0), turn: Value = (0.0, 0.0, 0.0)) -> Value:
        return self.node("GeometryNodeTransform", {0: geometry, "Translation": shift, "Rotation": turn}).outputs[0]

    def rod(self, radius: Value, depth: Value, tip: Value | None = None, sides: int = 10) -> Value:
        """A cylinder about z, centred; or a cone with another radius at its tip."""
        inputs: dict[int | str, Value] = {"Vertices": sides, "Radius Top": radius if tip is None else tip, "Radius Bottom": radius,
                  "Depth": depth}  # fmt: skip
        return self.placed(self.node("GeometryNodeMeshCone", inputs).outputs[0], self.xyz(z=self.times(depth, -0.5)))

    def along(self, step: Value) -> Any:
        """Points along the curve at a distance: a node with the outputs Points and Rotation (z is the tangent)."""
        node = self.node("GeometryNodeCurveToPoints", {"Curve": self.curve}, mode="LENGTH")
        self.tree.links.new(step, node.inputs["Length"])
        return node

    def every_other(self, angle: float) -> Value:
        """A rotation about z for each point with an odd index."""
        index = self.node("GeometryNodeInputIndex", {}).outputs[0]
        odd = self.math("MODULO", index, 2.0)
        return self.node("FunctionNodeEulerToRotation", {0: self.xyz(z=self.times(odd, angle))}).outputs[0]

    def turned(self, rotation: Value, by: Value) -> Value:
        return self.node("FunctionNodeRotateRotation", {0: rotation, 1: by}, rotation_space="LOCAL").outputs[0]

    def instances(self, points: Value, what: Value, rotation: Value) -> Value:
        node = self.node("GeometryNodeInstanceOnPoints", {"Points": points, "Instance": what, "Rotation": rotation})
        return node.outputs[0]

    def finish(self, *geometries: Value) -> bpy.types.NodeTree:
        """Smooth, with the material, as the output of the group."""
        together = self.join(*geometries) if len(geometries) > 1 else geometries[0]
        smooth = self.node("GeometryNodeSetShadeSmooth", {0: together, "Shade Smooth": True}).outputs[0]
        coloured = self.node("GeometryNodeSetMaterial", {0: smooth, "Material": self.material}).outputs[0]
        output = self.tree.nodes.new("NodeGroupOutput")
        self.tree.links.new(coloured, output.inputs[0])
        return self.tree


def _choose(node: Any, setting: str, identifier: str, name: str) -> None:
    """Chooses an option of a node, which was a property before Blender 5.0 and is an input called Mode since."""
    if hasattr(node, setting):
        setattr(node, setting, identifier)
    else:
        node.inputs["Mode"].default_value = name


def _input(node: Any, key: int | str) -> Any:
    """An input by index or name, the enabled one if several have it. Blender before 5.0 finds none by name that is disabled."""
    if isinstance(key, int):
        return node.inputs[key]
    called = [one for one in node.inputs if one.name == key]
    return next((one for one in called if one.enabled), None) or called[0]
