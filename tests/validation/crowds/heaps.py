"""Heaps: straight, curly and closed rods, thin and thick, that fall into bowls, boxes and nets; all models, and bodies."""

from __future__ import annotations

import math

import numpy as np
from tendril.core import Body, Material, Net, Plane, Scene, Sphere

from .drawing import Array, Crowd, Draw, bowl, curl, line, moved, open_box, ring, turn_about

WIDTH = 0.3  # m, of containers
ANY_OPEN = ("der", "compact", "clothoid", "der2008")


def stacked(draw: Draw, shapes: list[tuple[Array, float]], bottom: float, width: float) -> list[Array]:
    """Places shapes, each with its radius, next to each other in layers, along x and y in turn, so that none overlap."""
    most = max(3, math.isqrt(len(shapes)))  # in a layer, so that there are several
    placed, z, k, layer = [], bottom, 0, 0
    while k < len(shapes):
        across, row, tallest = -draw.between(0.1, 0.5) * width, [], 0.0
        while k < len(shapes):
            points, radius = shapes[k]
            reach = float(np.abs(points[:, 1]).max()) + 1.1 * radius
            if len(row) == most or (row and across + 2.0 * reach > 0.5 * width):
                break
            row.append(points + np.array([draw.between(-0.02, 0.02), across + reach, 0.0]))
            tallest = max(tallest, float(np.abs(points[:, 2]).max()) + 1.1 * radius)
            across += 2.0 * reach + draw.between(0.0, 4.0) * radius
            k += 1
        turn = turn_about(2, 0.5 * math.pi * (layer % 2)).T
        placed += [points @ turn + (0.0, 0.0, z + tallest) for points in row]
        z += 2.0 * tallest
        layer += 1
    return placed


def container(draw: Draw, scene: Scene, kind: str) -> float:
    """Adds a bowl, a box or a net about the origin; returns a height at which rods are clear of it."""
    friction = draw.friction()
    if kind == "bowl":
        scene.collide(bowl(0.5 * WIDTH * 1.3), friction=friction)
        return 0.01
    if kind == "box":
        scene.collide(open_box(1.3 * WIDTH, 0.1), friction=friction)
        return 0.12
    cells = draw.count((8, 10), (12, 20))
    at = np.linspace(-0.75 * WIDTH, 0.75 * WIDTH, cells + 1)
    points = np.array([(x, y, 0.0) for y in at for x in at])
    n = cells + 1
    edges = [(r * n + c, r * n + c + 1) for r in range(n) for c in range(cells)]
    edges += [(r * n + c, (r + 1) * n + c) for r in range(cells) for c in range(n)]
    net = scene.add(Net.from_edges(points, np.array(edges), 1.5e-3, Material.preset("nylon rope")), friction=friction)
    rim = [k for k in range(n * n) if k // n in (0, cells) or k % n in (0, cells)]
    scene.pin(net, rim)
    return 0.02


def heap(draw: Draw, kind: str, models: tuple[str, ...] = ("der",), where: str | None = None) -> Crowd:
    scene = Scene(rod_contact=True)
    where = where or draw.one_of("bowl", "box", "net")
    bottom = container(draw, scene, where)
    count = draw.count((12, 20), (20, 500))
    shapes: list[tuple[Array, float]] = []
    for _ in range(count):
        radius = draw.radius(1e-3, 5e-3) if kind == "sizes" else (2e-3 if kind != "thin" else 5e-4)
        if kind == "curly":
            shapes.append(
                (curl(draw.between(0.1, 0.2), 30, draw.between(5.0, 8.0) * radius, draw.between(1.0, 3.0)), radius)
            )
        elif kind == "closed":
            shapes.append((ring(draw.between(10.0, 20.0) * radius, 20), radius))
        else:
            shapes.append((line(draw.between(0.15, 0.28), int(draw.random.integers(12, 26))), radius))
    placed = stacked(draw, shapes, bottom, 0.8 * WIDTH)
    material, friction = draw.rope(), draw.friction()
    for points, (_, radius) in zip(placed, shapes, strict=True):
        model = draw.one_of(*models)
        draw.add(scene, points, radius, material, model, friction=friction, closed=kind == "closed")
    return draw.crowd(scene, draw.frames(12, 36), f"{kind} heap in a {where}", "/".join(models))


def straight(draw: Draw) -> Crowd:
    return heap(draw, "straight")


def curly(draw: Draw) -> Crowd:
    return heap(draw, "curly")


def closed(draw: Draw) -> Crowd:
    return heap(draw, "closed", (draw.one_of("der", "compact", "der2008"),))


def thin(draw: Draw) -> Crowd:
    return heap(draw, "thin")


def sizes(draw: Draw) -> Crowd:
    return heap(draw, "sizes")


def one_model(draw: Draw) -> Crowd:
    return heap(draw, "straight", (draw.one_of("compact", "clothoid", "der2008"),))


def mixed_models(draw: Draw) -> Crowd:
    return heap(draw, "straight", ANY_OPEN)


def explicit(draw: Draw) -> Crowd:
    """Rods of the explicit model, of rubber, whose steps are not too short."""
    scene = Scene(rod_contact=True)
    scene.collide(bowl(0.2), friction=0.4)
    shapes = [(line(0.2, 12), 4e-3) for _ in range(draw.count((4, 6), (10, 30)))]
    for points in stacked(draw, shapes, 0.01, 0.2):
        edges = np.stack([np.arange(12), np.arange(1, 13)], axis=1)
        scene.add(Net.from_edges(draw.shaken(points, 4e-3), edges, 4e-3, Material.preset("rubber")), "corde")
    return draw.crowd(scene, draw.frames(8, 24), "heap of corde rods")


def with_bodies(draw: Draw) -> Crowd:
    """Balls fall on a heap; some hang on rods."""
    scene = Scene(rod_contact=True)
    scene.collide(Plane(), friction=draw.friction())
    material = draw.rope()
    shapes = [(line(0.2, 15), 3e-3) for _ in range(draw.count((5, 8), (15, 60)))]
    placed = stacked(draw, shapes, 0.01, 0.15)
    top = max(float(points[:, 2].max()) for points in placed)
    for points in placed:
        draw.add(scene, points, 3e-3, material)
    for k in range(draw.count((1, 2), (2, 6))):
        where, density = (0.1 * k - 0.05, 0.0, top + 0.06), draw.between(200.0, 4000.0)
        ball = scene.add_body(Body(Sphere(0.03), density=density, position=where, collides=True))
        if k % 2 == 0:
            hang = np.array([(0.1 * k - 0.05, 0.0, top + 0.09 + 0.02 * j) for j in range(6)])
            scene.attach(
                draw.add(scene, hang, 3e-3, material), "start", ball, kind=draw.one_of("weld", "ball", "swivel")
            )
    return draw.crowd(scene, draw.frames(10, 36), "bodies on a heap")


def net_on_things(draw: Draw) -> Crowd:
    """A net falls on a sphere, or on rods that lie on a floor."""
    scene = Scene(rod_contact=True)
    radius = draw.radius(1e-3, 3e-3)
    on_sphere = draw.one_of("sphere", "rods") == "sphere"
    if on_sphere:
        scene.collide(Sphere(0.12), friction=draw.friction())
        z = 0.12
    else:
        scene.collide(Plane(), friction=0.4)
        for k in range(draw.count((4, 6), (8, 20))):
            draw.add(scene, moved(line(0.3, 15), 0.0, 0.03 * k - 0.06, 0.006), 5e-3, Material.preset("hemp rope"))
        z = 0.012
    cells = draw.count((6, 9), (14, 24))
    at = np.linspace(-0.2, 0.2, cells + 1)
    points = np.array([(x + 0.01, y + 0.006, z + 1.5 * radius) for y in at for x in at])
    n = cells + 1
    edges = [(r * n + c, r * n + c + 1) for r in range(n) for c in range(cells)]
    edges += [(r * n + c, (r + 1) * n + c) for r in range(cells) for c in range(n)]
    scene.add(Net.from_edges(points, np.array(edges), radius, draw.rope()), friction=draw.friction())
    return draw.crowd(scene, draw.frames(10, 36), f"net on {'a sphere' if on_sphere else 'rods'}")
