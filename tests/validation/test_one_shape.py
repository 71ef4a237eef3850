"""Case 19: a curly rod hung under gravity. All models converge to one shape, each with its order."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tendril.core import Scene

from .cases import fitted_order
from .rods import precise, rod, settled, stiffness

MODELS = ("der", "compact")
LEVELS = (48, 96, 192, 384)  # segments
ELEMENTS = (8, 12, 16, 24)  # clothoids
TURNS, CURL, RISE, WEIGHT = 3.0, 0.05, 0.35, 60.0  # natural helix: radius and height for a length of about 1; EI/L3
PARTS = np.array([0.25, 0.5, 0.75, 1.0])


def hung(model: str, segments: int, elements: int | None = None) -> np.ndarray:
    """Where quarters of it are, clamped at the top with its axis level."""
    s = np.linspace(0.0, 1.0, segments + 1)
    angle = 2.0 * math.pi * TURNS * s
    curl = np.stack([RISE * s, CURL * np.cos(angle), CURL * np.sin(angle)], axis=1)
    scene = Scene(gravity=(0.0, 0.0, -WEIGHT))
    curly = scene.add(rod(curl, stiffness(stretch=1e7, twist=0.8, inertia=1e-3)), model, elements=elements)
    scene.clamp(curly, "start")
    x = settled(precise(scene)).current().positions(curly)
    return np.asarray(x[np.round(PARTS * segments).astype(int)] - curl[0])


@pytest.fixture(scope="module")
def shapes() -> dict[str, list[np.ndarray]]:
    return {model: [hung(model, level) for level in LEVELS] for model in MODELS}


def limit(found: list[np.ndarray]) -> np.ndarray:
    """What errors of second order lead to, from the two finest."""
    return (4.0 * found[-1] - found[-2]) / 3.0


def test_all_models_find_one_shape(shapes: dict[str, list[np.ndarray]]) -> None:
    limits = [limit(shapes[model]) for model in MODELS]
    assert np.abs(limits[0] - limits[1]).max() < 2e-5
    natural = np.stack(
        [RISE * PARTS, CURL * np.ones(4) * np.cos(2 * math.pi * TURNS * PARTS) - CURL, 0 * PARTS], axis=1
    )
    assert np.linalg.norm(limits[0] - natural, axis=1).max() > 0.2  # weight has bent it by far more than that


@pytest.mark.parametrize("model", MODELS)
def test_order(shapes: dict[str, list[np.ndarray]], model: str) -> None:
    """Towards what another model converges to, so that nobody is its own judge."""
    other = MODELS[1 - MODELS.index(model)]
    goal = limit(shapes[other])
    errors = [float(np.abs(found - goal).max()) for found in shapes[model]]
    assert 1.8 <= fitted_order(LEVELS, errors) <= 2.3, errors
    assert errors[-1] < 1e-3


def test_clothoids_find_it_with_few_elements(shapes: dict[str, list[np.ndarray]]) -> None:
    """With an order that no segments have."""
    goal = limit(shapes["der"])
    errors = [float(np.abs(hung("clothoid", 192, count) - goal).max()) for count in ELEMENTS]
    assert fitted_order(ELEMENTS, errors) >= 3.0, errors
    assert errors[-1] < 1e-4, errors
