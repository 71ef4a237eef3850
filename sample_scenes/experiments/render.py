"""Software renderer with a depth buffer, shadows and ambient occlusion.

The pictures show contacts and crossings, where sorting whole polygons by distance (as matplotlib does) fails.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.ndimage import gaussian_filter

from ...core.compile.jit import kernel
from ...core.errors import Array
from .meshes import Surface

OVERSAMPLE = 3
SHADOW_SIZE = 1600
KEY_LIGHT = (-0.45, 0.75, 0.62)  # right, up, towards the viewer
KEY, SKY, BOUNCE, GLOSS, OUTLINE = 0.85, 0.42, 0.22, 0.16, 0.55
FAR = -1e30


class View(NamedTuple):
    """Orthographic view: axes (right, up, towards the viewer) as rows, centre of the image, and height shown, in m."""

    axes: Array
    centre: Array
    height: float

    def project(self, points: Array, size: tuple[int, int]) -> Array:
        """Column, row (from the top) and depth towards the viewer, in m."""
        width, height = size
        scale = height / self.height
        local = (points - self.centre) @ self.axes.T
        return np.stack([0.5 * width + scale * local[:, 0], 0.5 * height - scale * local[:, 1], local[:, 2]], axis=1)


class Buffers(NamedTuple):
    """Depth buffer and attributes of the nearest surface, per pixel."""

    near: Array  # (h, w) m towards the viewer
    owner: Array  # (h, w) index of the surface, -1: none
    normal: Array  # (h, w, 3)
    angle: Array  # (h, w)


def view_axes(eye: ArrayLike, up: ArrayLike) -> Array:
    """Axes (right, up, towards the viewer), as rows, of a view from the direction `eye`."""
    towards = np.asarray(eye, dtype=float) / np.linalg.norm(np.asarray(eye))
    right = np.cross(np.asarray(up, dtype=float), towards)
    if np.linalg.norm(right) < 1e-6:
        right = np.cross((0.0, 1.0, 0.0) if abs(towards[1]) < 0.9 else (1.0, 0.0, 0.0), towards)
    right /= np.linalg.norm(right)
    return np.array([right, np.cross(towards, right), towards])


def render(surfaces: Sequence[Surface], view: View, size: tuple[int, int], closeness: float) -> Array:
    """An image (h, w, 4), sRGB with transparency. Surfaces closer than `closeness`, in m, occlude each other's ambient light."""
    fine = (OVERSAMPLE * size[0], OVERSAMPLE * size[1])
    buffers = _rasterized(surfaces, view, fine)
    covered = buffers.owner >= 0
    image = np.zeros((*covered.shape, 4))
    if covered.any():
        open_sky = np.ones(covered.shape)
        reach = closeness * fine[1] / view.height  # in pixels
        _open_sky(buffers.near, buffers.normal, view.axes, reach / closeness, closeness, _probes(reach), open_sky)
        open_sky = gaussian_filter(open_sky, 1.0)
        pixels = _pixels(buffers, view, fine, open_sky[covered])
        image[covered, 3] = _opacity(surfaces, pixels)
        image[covered, :3] = _shaded(surfaces, pixels, view) * image[covered, 3:]
    blocks = image.reshape(size[1], OVERSAMPLE, size[0], OVERSAMPLE, 4).mean(axis=(1, 3))
    alpha = blocks[:, :, 3:]
    result = np.concatenate([to_screen(blocks[:, :, :3] / np.maximum(alpha, 1e-6)), alpha], axis=2)
    return np.asarray(np.clip(result, 0.0, 1.0))


class Pixels(NamedTuple):
    """The pixels covered by a surface, in one row."""

    owner: Array
    point: Array  # in space
    normal: Array  # towards the viewer
    angle: Array
    open_sky: Array
    from_border: Array  # distance from the border of the image, relative to its size


def _pixels(buffers: Buffers, view: View, size: tuple[int, int], open_sky: Array) -> Pixels:
    row, column = np.nonzero(buffers.owner >= 0)
    scale = view.height / size[1]
    right, up = scale * (column + 0.5 - 0.5 * size[0]), scale * (0.5 * size[1] - row - 0.5)
    point = view.centre + np.stack([right, up, buffers.near[row, column]], axis=1) @ view.axes
    normal = buffers.normal[row, column]
    normal = np.where((normal @ view.axes[2] < 0.0)[:, None], -normal, normal)
    border = np.minimum(np.minimum(row, size[1] - 1 - row), np.minimum(column, size[0] - 1 - column)) / min(size)
    return Pixels(buffers.owner[row, column], point, normal, buffers.angle[row, column], open_sky, border)


def _shaded(surfaces: Sequence[Surface], pixels: Pixels, view: View) -> Array:
    """Linear colour of each pixel."""
    normal, open_sky = pixels.normal, pixels.open_sky
    light = np.asarray(KEY_LIGHT) @ view.axes / np.linalg.norm(KEY_LIGHT)
    lit = _lit(surfaces, pixels, light, view)
    facing = np.clip(normal @ light, 0.0, 1.0)
    half = light + view.axes[2]
    gloss = np.clip(normal @ (half / np.linalg.norm(half)), 0.0, 1.0) ** 50
    upward = 0.5 + 0.5 * (normal @ view.axes[1])
    ambient = (SKY * upward + BOUNCE * (1.0 - upward)) * open_sky
    shade = ambient + KEY * facing * lit * (0.35 + 0.65 * open_sky)
    outline = 1.0 - OUTLINE * (1.0 - np.abs(normal @ view.axes[2])) ** 3
    paper = np.array([surface.unbounded for surface in surfaces])[pixels.owner]
    # Planes are drawn white where they are lit.
    white = SKY + KEY * max(facing[paper].max(initial=0.0), 0.3)
    shade = np.where(paper, 0.3 + 0.7 * shade / white, shade * outline)
    shine = np.where(paper, 0.0, GLOSS * gloss * lit * open_sky)
    return np.asarray(np.clip(_painted(surfaces, pixels, view) * shade[:, None] + shine[:, None], 0.0, 1.0))


def to_light(colour: Array) -> Array:
    """From sRGB to linear colour."""
    return np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)


def to_screen(light: Array) -> Array:
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * np.maximum(light, 1e-9) ** (1.0 / 2.4) - 0.055)


def _rgb(colour: str) -> tuple[float, float, float]:
    """Components of "#rrggbb", from 0 to 1."""
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return red / 255.0, green / 255.0, blue / 255.0


def _rasterized(surfaces: Sequence[Surface], view: View, size: tuple[int, int]) -> Buffers:
    shape = (size[1], size[0])
    buffers = Buffers(np.full(shape, FAR), np.full(shape, -1), np.zeros((*shape, 3)), np.zeros(shape))
    for number, surface in enumerate(surfaces):
        seen = view.project(surface.vertices, size)
        _fill(seen, surface.normals, surface.angle, np.ascontiguousarray(surface.triangles), number, *buffers)
    return buffers


def _lit(surfaces: Sequence[Surface], pixels: Pixels, light: Array, view: View) -> Array:
    """Part of the key light that reaches each pixel, from a shadow map with soft edges."""
    casters = [surface for surface in surfaces if not surface.unbounded]
    total = np.zeros(len(pixels.owner))
    if not casters:
        return total + 1.0
    axes = view_axes(light, view.axes[1])
    local = np.concatenate([(surface.vertices - view.centre) @ axes.T for surface in casters])
    low, high = local.min(axis=0), local.max(axis=0)
    height = 1.05 * float(max(high[0] - low[0], high[1] - low[1]))
    from_light = View(axes, view.centre + 0.5 * (low + high) @ axes, height)
    size = (SHADOW_SIZE, SHADOW_SIZE)
    depths = np.pad(_rasterized(casters, from_light, size).near, 1, constant_values=FAR)
    texel = height / SHADOW_SIZE
    # Bias along the normal, so that a surface does not shadow itself.
    seen = from_light.project(pixels.point + 4.0 * texel * pixels.normal, size)
    offsets = [(dx, dy) for dx in (-3.6, -1.2, 1.2, 3.6) for dy in (-3.6, -1.2, 1.2, 3.6)]
    for dx, dy in offsets:
        column, row = (np.clip(seen[:, k] + d + 1.0, 0, SHADOW_SIZE + 1).astype(int) for k, d in enumerate((dx, dy)))
        total += depths[row, column] <= seen[:, 2] + 2.0 * texel
    return np.asarray(total / len(offsets))


def _painted(surfaces: Sequence[Surface], pixels: Pixels, view: View) -> Array:
    """Linear surface colour of each pixel."""
    paint = np.array([[_rgb(surface.colour), _rgb(surface.stripe)] for surface in surfaces])
    colour = to_light(paint)[pixels.owner, (pixels.angle > math.pi).astype(int)]
    for number, surface in enumerate(surfaces):
        if surface.unbounded:
            here = pixels.owner == number
            step = _round_step(view.height / 6.0)
            line = np.zeros(np.count_nonzero(here))
            for corner in (1, 2):
                side = surface.vertices[corner] - surface.vertices[0]
                along = pixels.point[here] @ (side / np.linalg.norm(side)) / step
                line = np.maximum(line, np.abs(along - np.round(along)) < 0.002 * view.height / step)
            colour[here] = to_light(np.array([0.965, 0.962, 0.955])) * (1.0 - 0.16 * line[:, None])
    return np.asarray(colour)


def _opacity(surfaces: Sequence[Surface], pixels: Pixels) -> Array:
    """Opacity of each pixel; planes fade out at their edge and at the border of the image."""
    alpha = np.ones(len(pixels.owner))
    for number, surface in enumerate(surfaces):
        if surface.unbounded:
            here = pixels.owner == number
            reach = 0.5 * np.linalg.norm(surface.vertices[1] - surface.vertices[0])
            away = np.linalg.norm(pixels.point[here] - surface.vertices.mean(axis=0), axis=1) / reach
            alpha[here] = _soft((0.98 - away) / 0.55) * _soft(pixels.from_border[here] / 0.12)
    return alpha


def _soft(x: Array) -> Array:
    """Smoothstep from 0 to 1."""
    x = np.clip(x, 0.0, 1.0)
    return np.asarray(x * x * (3.0 - 2.0 * x))


def _round_step(size: float) -> float:
    """1, 2 or 5 times a power of ten, close to `size`."""
    power = 10.0 ** math.floor(math.log10(size))
    return next(power * k for k in (1.0, 2.0, 5.0, 10.0) if power * k >= size)


@kernel
def _fill(
    seen: Array, normals: Array, angles: Array, triangles: Array, number: int,
    near: Array, owner: Array, normal: Array, angle: Array,
) -> None:  # fmt: skip
    """Rasterizes triangles into the buffers with a depth test."""
    height, width = near.shape
    for f in range(len(triangles)):
        i, j, k = triangles[f, 0], triangles[f, 1], triangles[f, 2]
        ax, ay, bx, by, cx, cy = seen[i, 0], seen[i, 1], seen[j, 0], seen[j, 1], seen[k, 0], seen[k, 1]
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if area == 0.0:
            continue
        left, right = max(int(min(ax, bx, cx) - 0.5), 0), min(int(max(ax, bx, cx) + 0.5), width - 1)
        top, bottom = max(int(min(ay, by, cy) - 0.5), 0), min(int(max(ay, by, cy) + 0.5), height - 1)
        for row in range(top, bottom + 1):
            y = row + 0.5
            for column in range(left, right + 1):
                x = column + 0.5
                p = ((bx - x) * (cy - y) - (by - y) * (cx - x)) / area
                q = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) / area
                r = 1.0 - p - q
                if p < -1e-9 or q < -1e-9 or r < -1e-9:
                    continue
                depth = p * seen[i, 2] + q * seen[j, 2] + r * seen[k, 2]
                if depth > near[row, column]:
                    near[row, column] = depth
                    owner[row, column] = number
                    angle[row, column] = p * angles[i] + q * angles[j] + r * angles[k]
                    square = 0.0
                    for c in range(3):
                        n = p * normals[i, c] + q * normals[j, c] + r * normals[k, c]
                        normal[row, column, c] = n
                        square += n * n
                    scale = 1.0 / math.sqrt(max(square, 1e-30))
                    for c in range(3):
                        normal[row, column, c] *= scale


def _probes(reach: float, count: int = 24) -> Array:
    """Offsets (16, count, 2) in pixels, (row, column): points that fill a disc, in 16 rotated patterns."""
    k = np.arange(count)
    turn = 2.399963 * k + 2.0 * math.pi / 16.0 * np.arange(16)[:, None]  # the golden angle
    away = (reach * np.sqrt((k + 0.5) / count))[:, None]
    return np.asarray(np.rint(away * np.stack([np.sin(turn), np.cos(turn)], axis=2)).astype(int))


@kernel
def _open_sky(
    near: Array, normal: Array, axes: Array, scale: float, reach: float, probes: Array, out: Array
) -> None:  # fmt: skip
    """Ambient visibility: part of the sky above each pixel that nothing within `reach` hides; `scale` is in pixels/m."""
    height, width = near.shape
    count = probes.shape[1]
    for row in range(height):
        for column in range(width):
            here = near[row, column]
            if here < -1e29:
                continue
            pattern = (7 * row + 3 * column) % 16  # neighbouring pixels use different patterns
            nx, ny, nz = 0.0, 0.0, 0.0
            for c in range(3):
                n = normal[row, column, c]
                nx, ny, nz = nx + axes[0, c] * n, ny + axes[1, c] * n, nz + axes[2, c] * n
            side = 1.0 if nz >= 0.0 else -1.0
            hidden = 0.0
            for k in range(count):
                r, c = row + probes[pattern, k, 0], column + probes[pattern, k, 1]
                if r < 0 or c < 0 or r >= height or c >= width or near[r, c] < -1e29:
                    continue
                x, y, z = (c - column) / scale, (row - r) / scale, near[r, c] - here
                square = x * x + y * y + z * z
                up = side * (x * nx + y * ny + z * nz)
                if up > 0.0:
                    part = square / (reach * reach)
                    hidden += max(up / math.sqrt(square) - 0.1, 0.0) / (1.0 + part * part)
            out[row, column] = max(0.0, 1.0 - 1.6 * hidden / count)
