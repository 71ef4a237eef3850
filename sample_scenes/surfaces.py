"""Materials of the samples: paint, metal, wood, fibre, stone, skin and cloth, all procedural."""

from __future__ import annotations

from typing import Any

import bpy

from .studio import Colour, use_nodes

Pair = tuple[Colour, Colour]


def paint(name: str, colour: Colour, roughness: float = 0.35, coat: float = 0.0, **inputs: float) -> bpy.types.Material:
    """One colour; `coat` adds a layer of clear varnish. Further inputs are those of the Principled BSDF, with _ for a space."""
    result, surface = _principled(name, colour)
    values = {
        "Roughness": roughness,
        "Coat Weight": coat,
        **{key.replace("_", " "): value for key, value in inputs.items()},
    }
    for key, value in values.items():
        surface.inputs[key].default_value = value
    return result


def metal(name: str, colour: Colour, roughness: float = 0.22) -> bpy.types.Material:
    return paint(name, colour, roughness, Metallic=1.0)


def wood(name: str, colours: Pair = ((0.09, 0.032, 0.012), (0.36, 0.17, 0.065)), axis: int = 0) -> bpy.types.Material:
    """Grain along an axis of the object. Objects that share the material differ in tone."""
    result, surface = _principled(name, colours[1])
    stretch = [14.0, 14.0, 14.0]
    stretch[axis] = 0.9
    noise = _noise(result, 3.0, 7.0, 0.62, stretch)
    _ramp(result, noise, colours, (0.3, 0.72), surface.inputs["Base Color"])
    _bump(result, noise, 0.15, surface)
    surface.inputs["Roughness"].default_value = 0.5
    return result


def fibre(name: str, colour: Colour, grain: float = 900.0) -> bpy.types.Material:
    """Rope and yarn: rough, with fine fibres. `grain` is their number per metre."""
    result, surface = _principled(name, colour)
    noise = _noise(result, grain, 3.0, 0.6)
    _ramp(result, noise, (_scaled(colour, 0.55), _scaled(colour, 1.25)), (0.3, 0.7), surface.inputs["Base Color"])
    surface.inputs["Roughness"].default_value = 0.85
    surface.inputs["Sheen Weight"].default_value = 0.25
    return result


def stone(name: str, colours: Pair, scale: float = 6.0, bump: float = 0.35) -> bpy.types.Material:
    """Brick, rock, clay and earth: two tones in patches, and different from object to object."""
    result, surface = _principled(name, colours[1])
    noise = _noise(result, scale, 8.0, 0.65)
    _ramp(result, noise, colours, (0.35, 0.68), surface.inputs["Base Color"])
    _bump(result, noise, bump, surface)
    surface.inputs["Roughness"].default_value = 0.85
    return result


def skin(name: str, colour: Colour) -> bpy.types.Material:
    return paint(name, colour, 0.42, Subsurface_Weight=0.25, Subsurface_Scale=0.01)


def two_sided(name: str, front: Colour, back: Colour) -> bpy.types.Material:
    """Satin with another colour on its back."""
    result, surface = _principled(name, front)
    nodes, links = result.node_tree.nodes, result.node_tree.links
    side, mix = nodes.new("ShaderNodeNewGeometry"), nodes.new("ShaderNodeMix")
    mix.data_type = "RGBA"
    a, b = (socket for socket in mix.inputs if socket.type == "RGBA")
    a.default_value, b.default_value = (*front, 1.0), (*back, 1.0)
    links.new(side.outputs["Backfacing"], mix.inputs[0])
    links.new(next(socket for socket in mix.outputs if socket.type == "RGBA"), surface.inputs["Base Color"])
    surface.inputs["Roughness"].default_value = 0.32
    surface.inputs["Sheen Weight"].default_value = 0.3
    return result


def spectrum(name: str) -> bpy.types.Material:
    """All hues from the start to the end of a bevelled curve, whose texture coordinates run along it."""
    result, surface = _principled(name, (0.8, 0.2, 0.1))
    nodes, links = result.node_tree.nodes, result.node_tree.links
    place, parts, colour = (nodes.new(f"ShaderNode{kind}") for kind in ("TexCoord", "SeparateXYZ", "CombineColor"))
    colour.mode = "HSV"
    colour.inputs[1].default_value, colour.inputs[2].default_value = 0.88, 0.85
    scale = nodes.new("ShaderNodeMath")
    scale.operation, scale.inputs[1].default_value = "MULTIPLY", 0.85
    links.new(place.outputs["UV"], parts.inputs[0])
    links.new(parts.outputs[0], scale.inputs[0])
    links.new(scale.outputs[0], colour.inputs[0])
    links.new(colour.outputs[0], surface.inputs["Base Color"])
    surface.inputs["Roughness"].default_value = 0.25
    surface.inputs["Coat Weight"].default_value = 0.5
    return result


def _principled(name: str, colour: Colour) -> tuple[bpy.types.Material, Any]:
    result = bpy.data.materials.new(name)
    use_nodes(result)
    surface: Any = result.node_tree.nodes["Principled BSDF"]
    surface.inputs["Base Color"].default_value = (*colour, 1.0)
    result.diffuse_color = (*colour, 1.0)  # in the viewport's solid mode
    return result, surface


def _noise(
    result: bpy.types.Material, scale: float, detail: float, rough: float, stretch: list[float] | None = None
) -> Any:
    """Noise in the space of the object, at another place for every object."""
    nodes, links = result.node_tree.nodes, result.node_tree.links
    place, info, mapping, noise = (
        nodes.new(f"ShaderNode{kind}") for kind in ("TexCoord", "ObjectInfo", "Mapping", "TexNoise")
    )
    shift = nodes.new("ShaderNodeMath")
    shift.operation, shift.inputs[1].default_value = "MULTIPLY", 37.0
    links.new(info.outputs["Random"], shift.inputs[0])
    links.new(shift.outputs[0], mapping.inputs["Location"])
    links.new(place.outputs["Object"], mapping.inputs["Vector"])
    links.new(mapping.outputs[0], noise.inputs["Vector"])
    mapping.inputs["Scale"].default_value = stretch or (1.0, 1.0, 1.0)
    for key, value in {"Scale": scale, "Detail": detail, "Roughness": rough}.items():
        noise.inputs[key].default_value = value
    return noise


def _ramp(result: bpy.types.Material, noise: Any, colours: Pair, places: tuple[float, float], target: Any) -> None:
    ramp: Any = result.node_tree.nodes.new("ShaderNodeValToRGB")
    for element, colour, place in zip(ramp.color_ramp.elements, colours, places, strict=True):
        element.color, element.position = (*colour, 1.0), place
    result.node_tree.links.new(noise.outputs[0], ramp.inputs[0])
    result.node_tree.links.new(ramp.outputs[0], target)


def _bump(result: bpy.types.Material, noise: Any, strength: float, surface: Any) -> None:
    bump: Any = result.node_tree.nodes.new("ShaderNodeBump")
    bump.inputs["Strength"].default_value, bump.inputs["Distance"].default_value = strength, 0.01
    result.node_tree.links.new(noise.outputs[0], bump.inputs["Height"])
    result.node_tree.links.new(bump.outputs[0], surface.inputs["Normal"])


def _scaled(colour: Colour, factor: float) -> Colour:
    r, g, b = (min(1.0, factor * c) for c in colour)
    return r, g, b
