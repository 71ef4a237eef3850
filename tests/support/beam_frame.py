"""Linear finite elements for rigidly joined straight beams in space: small displacements, Euler-Bernoulli bending, Saint-Venant
torsion. Cubic elements are exact for loads at nodes, so one element between two joints is enough."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

DOFS = 6  # per node: displacement x y z, rotation x y z


def displacements(
    nodes: np.ndarray,
    beams: Iterable[tuple[int, int]],
    stretch: float,
    bend: float,
    twist: float,
    pinned: Iterable[int],
    clamped: Iterable[int],
    forces: Mapping[int, Iterable[float]],
) -> np.ndarray:
    """(n, 6) displacements and rotations of the nodes (n, 3) of round beams with EA, EI and GJ.

    Pinned nodes keep their place, clamped ones their direction as well; `forces` (N) act on nodes."""
    size = DOFS * len(nodes)
    stiffness = np.zeros((size, size))
    for first, second in beams:
        at = np.r_[DOFS * first : DOFS * first + DOFS, DOFS * second : DOFS * second + DOFS]
        stiffness[np.ix_(at, at)] += _of_beam(nodes[second] - nodes[first], stretch, bend, twist)
    load = np.zeros(size)
    for node, force in forces.items():
        load[DOFS * node : DOFS * node + 3] = list(force)
    fixed = np.zeros(size, dtype=bool)
    for node in pinned:
        fixed[DOFS * node : DOFS * node + 3] = True
    for node in clamped:
        fixed[DOFS * node : DOFS * node + DOFS] = True
    out = np.zeros(size)
    out[~fixed] = np.linalg.solve(stiffness[np.ix_(~fixed, ~fixed)], load[~fixed])
    return out.reshape(-1, DOFS)


def _of_beam(along: np.ndarray, stretch: float, bend: float, twist: float) -> np.ndarray:
    """(12, 12) in world axes."""
    length = float(np.linalg.norm(along))
    axes = _axes(along / length)
    turn = np.kron(np.eye(4), axes)
    local = np.zeros((12, 12))
    for stiffness, k in ((stretch, 0), (twist, 3)):
        local[np.ix_((k, k + 6), (k, k + 6))] += stiffness / length * np.array([[1.0, -1.0], [-1.0, 1.0]])
    hermite = np.array(
        [
            [12.0, 6.0 * length, -12.0, 6.0 * length],
            [6.0 * length, 4.0 * length**2, -6.0 * length, 2.0 * length**2],
            [-12.0, -6.0 * length, 12.0, -6.0 * length],
            [6.0 * length, 2.0 * length**2, -6.0 * length, 4.0 * length**2],
        ]
    )
    # A deflection towards the third axis turns the beam about minus the second.
    for deflection, rotation, sign in ((1, 5, 1.0), (2, 4, -1.0)):
        at = (deflection, rotation, deflection + 6, rotation + 6)
        signs = np.array([1.0, sign, 1.0, sign])
        local[np.ix_(at, at)] += bend / length**3 * np.outer(signs, signs) * hermite
    return np.asarray(turn.T @ local @ turn)


def _axes(tangent: np.ndarray) -> np.ndarray:
    """Rows: the tangent and two unit vectors across it, right-handed."""
    aside = np.cross(tangent, np.eye(3)[np.argmin(np.abs(tangent))])
    aside /= np.linalg.norm(aside)
    return np.stack([tangent, aside, np.cross(tangent, aside)])
