"""Small vibrations of a rod about an equilibrium, from the exact Hessian of its model's energy.

An equilibrium is stable if no squared frequency is negative; it loses stability where the lowest one crosses zero.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from compact_probe import Probe as CompactProbe
from der2008_probe import Probe as Probe2008
from der_probe import Probe
from scipy.linalg import eig_banded, eigvalsh, null_space, orth
from scipy.optimize import brentq
from tendril.core import Scene, Simulation
from tendril.core.models.held_frames import FRAMED

BAND = 10  # half bandwidth of the Hessian of an open `der` rod


def squared_frequencies(scene: Scene, count: int = 1) -> np.ndarray:
    """Lowest squared frequencies, rad2/s2, in ascending order, of a scene of one round rod that starts in equilibrium.

    Zero modes due to symmetry are left out: rigid motions that the holds allow, and a common rotation of all cross-sections.
    """
    return OF_MODEL[scene.entries[0].model](scene, count)


def critical(scene_at: Callable[[float], Scene], low: float, high: float) -> float:
    """Value of a parameter, between low and high, at which the equilibrium of the scene loses its stability."""
    return float(brentq(lambda value: squared_frequencies(scene_at(value))[0], low, high, xtol=1e-7 * high))


def _of_der(scene: Scene, count: int) -> np.ndarray:
    probe = Probe.of(scene)
    free, rods = probe.free, probe.b.rods
    gradient, hessian = probe.gradient(probe.base), probe.hessian(probe.base)
    scale = np.abs(hessian).max()
    # Round-off level: the stiffest spring, displaced by round-off of the smallest edge.
    assert np.abs(gradient[free]).max() < 1e-12 * scale * rods.rest_length.min(), "not in equilibrium"
    root_mass = np.sqrt(rods.mass.ravel()[free])
    stiffness = hessian[np.ix_(free, free)] / np.outer(root_mass, root_mass)
    idle = _symmetries(probe)[free]
    assert np.abs(hessian[np.ix_(free, free)] @ idle).max(initial=0.0) < 1e-9 * scale, "not a symmetry of the energy"
    idle = orth(idle * root_mass[:, None])
    if rods.closed[0] or idle.size:
        others = null_space(idle.T)
        return eigvalsh(others.T @ stiffness @ others, subset_by_index=(0, count - 1))
    band = np.zeros((BAND + 1, len(stiffness)))
    for k in range(BAND + 1):
        band[k, : len(stiffness) - k] = np.diagonal(stiffness, -k)
    return eig_banded(band, lower=True, eigvals_only=True, select="i", select_range=(0, count - 1))


def _symmetries(probe: Probe) -> np.ndarray:
    """Changes of the unknowns, as columns, that change no strain of a round rod and satisfy the holds."""
    n = probe.size // 4
    if np.any(probe.b.rods.joint == FRAMED) or probe.b.rods.edge_framed.any():
        return np.zeros((4 * n, 0))
    x, t = probe.base.reshape(-1, 4)[:, :3], probe.b.geometry.t
    modes = np.zeros((n, 4, 7))
    for axis, unit in enumerate(np.eye(3)):
        modes[:, :3, axis] = unit
        modes[:, :3, 3 + axis] = np.cross(unit, x)
        modes[:, 3, 3 + axis] = t @ unit  # frames transported in parallel lag by the rotation about the tangent
    modes[:, 3, 6] = 1.0
    if not probe.b.rods.closed[0]:
        modes[-1, 3] = 0.0  # the last vertex has no edge and no angle
    flat = modes.reshape(4 * n, 7)
    return flat @ null_space(flat[~probe.free]) if not probe.free.all() else flat


def _of_der2008(scene: Scene, count: int) -> np.ndarray:
    """Frequencies of the centerline on the manifold of constant edge lengths. Frames are quasistatic, so that forces depend on the
    centerline only; they are differentiated by central differences."""
    probe = Probe2008.of(Simulation(scene, threads=1))
    x, b = probe.x, probe.b
    free = ~b.rods.held[:, :3].ravel()
    force = probe.forces(x).ravel()
    along = probe.constraints(x)
    tension = np.linalg.lstsq(along[:, free].T, force[free], rcond=None)[0]  # balances dE/dx = -force
    assert np.abs(force - along.T @ tension)[free].max() < 1e-9, "not in equilibrium"
    step = 1e-5 * b.rods.rest_length.min()
    hessian = np.zeros((x.size, x.size))
    for k in np.flatnonzero(free):
        moved = np.zeros(x.size)
        moved[k] = step
        ahead, behind = (probe.forces(x + sign * moved.reshape(x.shape)).ravel() for sign in (1.0, -1.0))
        hessian[:, k] = (behind - ahead) / (2.0 * step)
    for pull, t, j in zip(tension, probe.tangents_at(x), probe.chain.edge[probe.chain.edge >= 0], strict=True):
        i = (j + 1) % probe.n
        across = pull * (np.eye(3) - np.outer(t, t)) / np.linalg.norm(x[i] - x[j])
        for row, column, sign in ((i, i, 1.0), (j, j, 1.0), (i, j, -1.0), (j, i, -1.0)):
            hessian[3 * row : 3 * row + 3, 3 * column : 3 * column + 3] += sign * across
    hessian = 0.5 * (hessian + hessian.T)
    root_mass = np.sqrt(b.rods.mass[:, :3].ravel()[free])
    rigid = np.zeros((x.size, 6))
    for axis, unit in enumerate(np.eye(3)):
        rigid[:, axis] = np.tile(unit, probe.n)
        rigid[:, 3 + axis] = np.cross(unit, x).ravel()
    idle = rigid if free.all() else np.zeros((x.size, 0))
    kept = np.hstack([along[:, free].T / root_mass[:, None], idle[free] * root_mass[:, None]])
    others = null_space(kept.T)
    stiffness = hessian[np.ix_(free, free)] / np.outer(root_mass, root_mass)
    return eigvalsh(others.T @ stiffness @ others, subset_by_index=(0, count - 1))


def _of_compact(scene: Scene, count: int) -> np.ndarray:
    """Frequencies of an inextensible rod. Its tension does not follow from its length: it is taken from the stretch of the initial
    shape with the rod's EA, and from the holds."""
    rod = scene.entries[0].rod
    probe = CompactProbe.of(scene)
    b, n = probe.b, rod.vertex_count
    drawn = np.linalg.norm(np.roll(rod.points, -1, axis=0) - rod.points, axis=1)[: rod.edge_count]
    tension = float(rod.stretch[0] * (drawn.sum() / rod.length - 1.0))
    held = [i for i in range(n) if b.rods.held[i] and i > 0]
    t = b.geometry.d3
    for i in held:
        b.state.hold_force[i] = tension * t[i - 1]
    if rod.closed:
        # A ring bent from a straight rod has no tension: its bending moment is constant.
        assert not held
    stiffness = probe.matrix()
    gradient = probe.gradient(np.zeros(probe.size))
    probe.h = 1e-3
    mass = (probe.matrix() - stiffness) * probe.h**2
    # Derivatives of the vertices with respect to the unknowns.
    moves = np.zeros((n + 1, 3, probe.size // 3, 3))
    moves[:, :, -1] = np.eye(3)
    for j in range(rod.edge_count):
        moves[j + 1 :, :, j] = -b.rods.arm[j] * np.cross(np.eye(3), t[j]).T
    rigid = np.zeros((probe.size // 3, 3, 7))
    for axis, unit in enumerate(np.eye(3)):
        rigid[-1, :, axis] = unit
        rigid[: rod.edge_count, :, 3 + axis] = unit
        rigid[-1, :, 3 + axis] = np.cross(unit, b.state.x[0])
    rigid[: rod.edge_count, :, 6] = t[: rod.edge_count]
    bound = [moves[i].reshape(3, -1) for i in held]
    if rod.closed:
        bound.append((moves[n] - moves[0]).reshape(3, -1))
    fixed = np.eye(probe.size)[~probe.free]
    allowed = null_space(np.vstack([fixed, *bound])) if bound else np.eye(probe.size)[:, probe.free]
    assert np.abs(allowed.T @ gradient).max() < 1e-9 * np.abs(stiffness).max(), "not in equilibrium"
    idle = allowed.T @ rigid.reshape(probe.size, 7)
    if np.any(b.rods.joint == FRAMED) or b.rods.edge_framed.any():
        idle = idle[:, :0]
    stiffness, mass = allowed.T @ stiffness @ allowed, allowed.T @ mass @ allowed
    if idle.size:
        inside = idle @ null_space(rigid.reshape(probe.size, 7) - allowed @ idle)  # rigid motions that the holds allow
        others = null_space((mass @ orth(inside)).T) if inside.size else np.eye(len(mass))
        stiffness, mass = others.T @ stiffness @ others, others.T @ mass @ others
    return eigvalsh(stiffness, mass, subset_by_index=(0, count - 1))


OF_MODEL = {"der": _of_der, "der2008": _of_der2008, "compact": _of_compact}
