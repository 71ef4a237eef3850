"""Simulates scenes with kernels that run as Python, where negative indices of arrays raise: `python checked_indices.py MODEL...`.

Compiled code wraps negative indices around, also with checked bounds. So an index of -1 that means "none" would read the last
element without a trace. Slices may be negative, as usual.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from tendril.core.compile import jit


class Checked(np.ndarray[Any, Any]):
    """An array that refuses negative indices. Views of it do as well."""

    def __getitem__(self, index: Any) -> Any:
        _check(index)
        return super().__getitem__(index)

    def __setitem__(self, index: Any, value: Any) -> None:
        _check(index)
        super().__setitem__(index, value)


def _check(index: Any) -> None:
    for one in index if isinstance(index, tuple) else (index,):
        if isinstance(one, (int, np.integer)) and one < 0:
            raise IndexError(f"negative index {one}")


def checked(value: Any) -> Any:
    """Arrays, and those in tuples, as checked ones that share their memory."""
    if isinstance(value, np.ndarray):
        return value if isinstance(value, Checked) else value.view(Checked)
    if isinstance(value, tuple):
        parts = [checked(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


called: set[str] = set()  # names of the kernels that ran


def kernel(function: Any) -> Any:
    def call(*given: Any) -> Any:
        called.add(f"{function.__module__.rpartition('.core.')[2]}.{function.__name__}")
        with np.errstate(all="ignore"):
            result = function(*map(checked, given))
        return result.view(np.ndarray) if isinstance(result, Checked) else result

    call.py_func = function  # type: ignore[attr-defined]
    call.__name__, call.__doc__ = function.__name__, function.__doc__
    return call


jit._numba = None  # before any kernel is imported
jit.kernel = kernel


def rods_apart(model: str) -> Any:
    """One rod that falls, held at its start."""
    scene, rod = _scene(model, False)
    scene.pin(rod, "start")
    return scene


def rods_crossing(model: str) -> Any:
    """Two rods, one of which lies on the other."""
    scene, _ = _scene(model, True)
    _scene(model, True, scene, np.array([0.0, 0.0, 0.019]))
    return scene


def rod_on_collider(model: str) -> Any:
    from tendril.core import Box, Mesh

    scene, _ = _scene(model, False)
    scene.collide(Box((1.0, 1.0, 0.1), (0.0, 0.0, -0.0595)))
    corners = [(-1.0, -1.0, -0.0095), (1.0, -1.0, -0.0095), (0.0, 1.0, -0.0095)]
    scene.collide(Mesh(corners, [(0, 1, 2)]))
    return scene


def rod_with_body(model: str) -> Any:
    from tendril.core import Body, Plane, Sphere

    scene, rod = _scene(model, False)
    scene.attach(rod, "end", scene.add_body(Body(Sphere(0.02), position=(0.1, 0.0, 0.0), collides=True)), kind="ball")
    scene.collide(Plane((0.0, 0.0, -0.0205)))
    return scene


def _scene(model: str, contact: bool, scene: Any = None, at: Any = 0.0) -> Any:
    from tendril.core import Material, Net, Rod, Scene

    scene = scene or Scene(rod_contact=contact)
    points = np.array([[-0.1, 0.0, 0.0], [-0.03, 0.01, 0.0], [0.04, 0.0, 0.0], [0.1, 0.0, 0.0]]) + at
    if np.any(at):
        points = points[:, [1, 0, 2]]
    material = Material(1e5, 1000.0)
    if model in ("net", "corde"):
        described: Any = Net.from_edges(points, [(0, 1), (1, 2), (1, 3)], 0.01, material)
    else:
        described = Rod.from_points(points, radius=0.01, material=material)
    return scene, scene.add(described, model)


def main() -> int:
    """Arguments: names of models. Simulates a frame of each scene, and prints what goes wrong."""
    from tendril.core import Simulation, TendrilError

    failures = 0
    for model in sys.argv[1:]:
        for build in (rods_apart, rods_crossing, rod_on_collider, rod_with_body):
            try:
                report = Simulation(build(model), substeps=1, frame_rate=200.0).step_frame().report
                problems = [text for text in report.problems if text.startswith("the solver")]
            except TendrilError as error:
                problems = [] if build is rod_with_body else [str(error)]  # not every model can have bodies
            failures += len(problems)
            print(model, build.__name__, *(problems or ["no negative index"]), flush=True)
    print(len(called), "kernels")
    return failures


if __name__ == "__main__":
    sys.exit(main())
