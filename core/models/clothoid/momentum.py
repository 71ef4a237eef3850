"""Momentum of free rods, which a step keeps.

The stages conserve linear and angular momentum only to the order of the scheme and to Newton's tolerance. The momentum that the
external forces give is known better: the same scheme integrates it and the path of the centre of mass, and at the end of a step a
small rigid motion corrects the difference.
"""

from __future__ import annotations

from ...compile.jit import part
from ...errors import Array
from ...maths.geometry.frames import Vector, cross
from ...maths.linalg.small import decompose, get3, solved
from .arrays import Arrays
from .kinematics import TURN

REGULARISATION = 1e-3  # of the moments of inertia, relative to their sum: a straight rod has almost none about its axis


@part
def is_free(b: Arrays, r: int) -> bool:
    return not (b.rods.held_position[r] or b.rods.held_frame[r])


@part
def momentum(b: Arrays, r: int, at: Vector, out: Array) -> None:
    """out (6,): linear momentum (N s) of the Gauss points, and angular momentum (N m s) about the point `at`."""
    gauss, x, v, frame = b.gauss, b.geometry.x, b.geometry.v, b.geometry.frame
    for c in range(6):
        out[c] = 0.0
    for p in range(gauss.start[r], gauss.start[r + 1]):
        span = b.state.length[gauss.element[p]]
        m, spin = gauss.mass[p, 0] * span, gauss.mass[p, 3] * span * v[p, 3]
        _add(out, (x[p, 0] - at[0], x[p, 1] - at[1], x[p, 2] - at[2]), (m * v[p, 0], m * v[p, 1], m * v[p, 2]))
        for c in range(3):
            out[3 + c] += spin * frame[p, c, 0]


@part
def add_impulse(b: Arrays, r: int, at: Vector, time: float, samples: Array, h: float, out: Array) -> None:
    """Adds the impulse of gravity, loads and drag within `time` to out (6,), at the current points. The sample points move with
    their velocities, or with h > 0 from `samples` (S, 4) within h."""
    gauss, forces, x, v, y = b.gauss, b.forces, b.geometry.x, b.geometry.v, b.state.x
    gravity, rate = forces.gravity[r], forces.drag_rate[r]
    for p in range(gauss.start[r], gauss.start[r + 1]):
        span = b.state.length[gauss.element[p]]
        m = time * gauss.mass[p, 0] * span
        arm = (x[p, 0] - at[0], x[p, 1] - at[1], x[p, 2] - at[2])
        _add(out, arm, (m * gravity[0], m * gravity[1], m * gravity[2]))
        for c in range(3):
            out[3 + c] -= time * gauss.mass[p, 3] * span * rate * v[p, 3] * b.geometry.frame[p, c, 0]
    if not forces.loaded[r]:
        return
    drag, load, wind = forces.drag, forces.load, forces.wind
    for i in range(b.samples.start[r], b.samples.start[r + 1]):
        u = get3(b.state.v, i)
        if h > 0.0:
            u = ((y[i, 0] - samples[i, 0]) / h, (y[i, 1] - samples[i, 1]) / h, (y[i, 2] - samples[i, 2]) / h)
        u = (u[0] - wind[0], u[1] - wind[1], u[2] - wind[2])
        f = (
            time * (load[i, 0] - drag[i, 0] * u[0] - drag[i, 1] * u[1] - drag[i, 3] * u[2]),
            time * (load[i, 1] - drag[i, 1] * u[0] - drag[i, 2] * u[1] - drag[i, 4] * u[2]),
            time * (load[i, 2] - drag[i, 3] * u[0] - drag[i, 4] * u[1] - drag[i, 5] * u[2]),
        )
        _add(out, (y[i, 0] - at[0], y[i, 1] - at[1], y[i, 2] - at[2]), f)


@part
def _add(out: Array, arm: Vector, f: Vector) -> None:
    turning = cross(arm, f)
    for c in range(3):
        out[c] += f[c]
        out[3 + c] += turning[c]


@part
def centre_of_mass(b: Arrays, r: int) -> tuple[Vector, float]:
    """m, and the mass (kg)."""
    gauss, x, mass, middle = b.gauss, b.geometry.x, 0.0, (0.0, 0.0, 0.0)
    for p in range(gauss.start[r], gauss.start[r + 1]):
        m = gauss.mass[p, 0] * b.state.length[gauss.element[p]]
        mass += m
        middle = (middle[0] + m * x[p, 0], middle[1] + m * x[p, 1], middle[2] + m * x[p, 2])
    return (middle[0] / mass, middle[1] / mass, middle[2] / mass), mass


@part
def correct_motion(b: Arrays, r: int, at: Vector, target: Array, place: Vector, scratch: Array) -> None:
    """Adds the rigid motion to the rates that gives the rod the momentum `target` (6,) about the point `at`, and moves the centre
    of mass to `place`."""
    gauss, x, frame, state = b.gauss, b.geometry.x, b.geometry.frame, b.state
    middle, mass = centre_of_mass(b, r)
    for c in range(3):
        state.root[r, c] += place[c] - middle[c]
    for p in range(gauss.start[r], gauss.start[r + 1]):
        for c in range(3):
            x[p, c] += place[c] - middle[c]
    middle = place
    momentum(b, r, at, scratch)
    push = (target[0] - scratch[0], target[1] - scratch[1], target[2] - scratch[2])
    lever = cross((middle[0] - at[0], middle[1] - at[1], middle[2] - at[2]), push)
    xx = yx = yy = zx = zy = zz = 0.0
    for p in range(gauss.start[r], gauss.start[r + 1]):
        span = state.length[gauss.element[p]]
        m, j = gauss.mass[p, 0] * span, gauss.mass[p, 3] * span
        a, c, d = x[p, 0] - middle[0], x[p, 1] - middle[1], x[p, 2] - middle[2]
        t0, t1, t2 = frame[p, 0, 0], frame[p, 1, 0], frame[p, 2, 0]
        xx, yy, zz = xx + m * (c * c + d * d), yy + m * (a * a + d * d), zz + m * (a * a + c * c)
        xx, yy, zz = xx + j * t0 * t0, yy + j * t1 * t1, zz + j * t2 * t2
        yx, zx, zy = yx - m * a * c + j * t0 * t1, zx - m * a * d + j * t0 * t2, zy - m * c * d + j * t1 * t2
    more = REGULARISATION * (xx + yy + zz)
    right = (
        target[3] - scratch[3] - lever[0], target[4] - scratch[4] - lever[1], target[5] - scratch[5] - lever[2],
    )  # fmt: skip
    _, factors = decompose((xx + more, yx, yy + more, zx, zy, zz + more))
    w = solved(factors, right)
    arm = (state.root[r, 0] - middle[0], state.root[r, 1] - middle[1], state.root[r, 2] - middle[2])
    u, v0 = cross(w, arm), b.rods.vector_start[r]
    for c in range(3):
        state.rate[v0 + c] += push[c] / mass + u[c]
        state.rate[v0 + TURN + c] += w[c]
