"""Stiffnesses against numbers that were not computed with the same formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate
from scipy.sparse import diags_array, eye_array, kron
from scipy.sparse.linalg import spsolve
from tendril.core import Circle, Ellipse, Material, Stiffness, TendrilError

STEEL = Material(2.0e11, 7800.0, poisson_ratio=0.25)
SECTIONS = [Circle(0.01), Ellipse(0.01, 0.01), Ellipse(0.02, 0.005), Ellipse(1e-6, 3e-6), Ellipse(7.0, 4.0)]


def over_the_section(section, function):
    """The integral of function(x, y) over the section, x along its first half axis."""
    a, b = section.half_axes
    # In units of the half axes, so that small sections lose no digits.
    value, _ = integrate.dblquad(
        lambda y, x: function(a * x, b * y),
        -1.0,
        1.0,
        lambda x: -math.sqrt(max(0.0, 1.0 - x * x)),
        lambda x: math.sqrt(max(0.0, 1.0 - x * x)),
        epsabs=0.0,
        epsrel=1e-9,
    )
    return value * a * b


@pytest.mark.parametrize("section", SECTIONS, ids=str)
def test_stretching_bending_and_masses_are_integrals_over_the_section(section):
    s = STEEL.stiffness(section)
    area = over_the_section(section, lambda x, y: 1.0)
    # Bending towards the first director strains a fibre by its distance x along that director.
    i1 = over_the_section(section, lambda x, y: x * x)
    i2 = over_the_section(section, lambda x, y: y * y)
    assert s.stretch == pytest.approx(2.0e11 * area, rel=1e-7)
    assert s.bend_1 == pytest.approx(2.0e11 * i1, rel=1e-7)
    assert s.bend_2 == pytest.approx(2.0e11 * i2, rel=1e-7)
    assert s.mass_per_length == pytest.approx(7800.0 * area, rel=1e-7)
    assert s.inertia_per_length == pytest.approx(7800.0 * (i1 + i2), rel=1e-7)


def torsion_constant(a, b, n=160):
    """Saint-Venant: J = 2 integral phi, with laplacian(phi) = -2 in the section and phi = 0 on its edge.

    Finite differences on a grid over the box around the section. Points beside the edge get the true distance to it
    (Shortley and Weller), which keeps the second order.
    """
    x = np.linspace(-a, a, n + 1)[1:-1]
    y = np.linspace(-b, b, n + 1)[1:-1]
    hx, hy = 2 * a / n, 2 * b / n
    px, py = (grid.ravel() for grid in np.meshgrid(x, y, indexing="ij"))
    inside = (px / a) ** 2 + (py / b) ** 2 < 1.0 - 1e-9
    reach_x = a * np.sqrt(np.maximum(0.0, 1.0 - (py / b) ** 2))
    reach_y = b * np.sqrt(np.maximum(0.0, 1.0 - (px / a) ** 2))
    arms = [
        np.clip(reach, 1e-6 * step, step)
        for reach, step in ((reach_x - px, hx), (reach_x + px, hx), (reach_y - py, hy), (reach_y + py, hy))
    ]
    right, left, up, down = arms
    count = n - 1
    shift = diags_array([np.ones(count - 1)], offsets=[1])
    to_right, to_up = kron(shift, eye_array(count)), kron(eye_array(count), shift)

    def weight(arm, opposite, step):
        """Of the neighbour: none where the edge comes first, since phi is zero there."""
        return np.where(arm < step, 0.0, 2.0 / (arm * (arm + opposite)))

    matrix = (
        diags_array(2.0 / (right * left) + 2.0 / (up * down))
        - diags_array(weight(right, left, hx)) @ to_right
        - diags_array(weight(left, right, hx)) @ to_right.T
        - diags_array(weight(up, down, hy)) @ to_up
        - diags_array(weight(down, up, hy)) @ to_up.T
    ).tocsr()[inside][:, inside]
    phi = spsolve(matrix.tocsc(), np.full(inside.sum(), 2.0))
    return 2.0 * phi.sum() * hx * hy


@pytest.mark.parametrize("section", [Circle(0.01), Ellipse(0.02, 0.005), Ellipse(1e-6, 3e-6)], ids=str)
def test_twisting_solves_the_torsion_of_saint_venant(section):
    shear = 2.0e11 / (2.0 * 1.25)
    assert STEEL.stiffness(section).twist == pytest.approx(shear * torsion_constant(*section.half_axes), rel=2e-3)


def test_numbers_of_a_handbook():
    """A steel wire of 1 mm: 785.4 N per 0.5 percent of strain, and so on, worked out by hand."""
    s = Material(2.0e11, 7850.0, shear_modulus=8.0e10).stiffness(Circle(0.5e-3))
    assert s.stretch == pytest.approx(157079.63, rel=1e-7)
    assert s.bend_1 == s.bend_2 == pytest.approx(9.8174770e-3, rel=1e-7)
    assert s.twist == pytest.approx(7.8539816e-3, rel=1e-7)
    assert s.mass_per_length == pytest.approx(6.1653756e-3, rel=1e-7)
    assert s.inertia_per_length == pytest.approx(7.7067195e-10, rel=1e-7)


def test_a_circle_is_a_round_ellipse():
    assert STEEL.stiffness(Circle(0.3)) == STEEL.stiffness(Ellipse(0.3, 0.3))


def test_turning_an_ellipse_swaps_its_bending():
    flat, upright = STEEL.stiffness(Ellipse(0.02, 0.005)), STEEL.stiffness(Ellipse(0.005, 0.02))
    assert (flat.bend_1, flat.bend_2) == (upright.bend_2, upright.bend_1)
    assert flat.bend_1 == pytest.approx(16.0 * flat.bend_2)
    assert flat.twist == pytest.approx(upright.twist)


def test_a_bundle_stretches_like_its_fibres_and_bends_like_many_thin_rods():
    """64 fibres with the area of the whole: each has an eighth of its radius."""
    fibre = STEEL.stiffness(Circle(0.01 / 8))
    bundle = Material(2.0e11, 7800.0, poisson_ratio=0.25, strands=64).stiffness(Circle(0.01))
    assert bundle.stretch == pytest.approx(64 * fibre.stretch)
    assert bundle.bend_1 == pytest.approx(64 * fibre.bend_1)
    assert bundle.twist == pytest.approx(64 * fibre.twist)
    assert bundle.mass_per_length == pytest.approx(64 * fibre.mass_per_length)


def test_shear_modulus_and_poissons_ratio_are_two_names_of_one_thing():
    by_shear = Material(2.0e11, 7800.0, shear_modulus=8.0e10)
    by_ratio = Material(2.0e11, 7800.0, poisson_ratio=0.25)
    assert by_shear.poisson_ratio == pytest.approx(0.25)
    assert by_ratio.shear_modulus == pytest.approx(8.0e10)
    assert Material(1e6, 1e3).poisson_ratio == 0.35
    with pytest.raises(TendrilError, match="not both"):
        Material(1.0, 1.0, poisson_ratio=0.3, shear_modulus=1.0)


def test_an_inertia_that_is_not_given_is_that_of_the_radius_of_gyration():
    s = STEEL.stiffness(Ellipse(0.02, 0.005))
    guessed = Stiffness(s.stretch, s.bend_1, s.bend_2, s.twist, s.mass_per_length)
    assert guessed.inertia_per_length == pytest.approx(s.inertia_per_length)


def test_scaling_changes_bending_and_twisting_alone():
    s = STEEL.stiffness(Ellipse(0.02, 0.005))
    scaled = s.scaled(bend=2.0, twist=3.0)
    assert (scaled.bend_1, scaled.bend_2, scaled.twist) == (2 * s.bend_1, 2 * s.bend_2, 3 * s.twist)
    assert (scaled.stretch, scaled.mass_per_length) == (s.stretch, s.mass_per_length)
    assert scaled.inertia_per_length == s.inertia_per_length
    for bad in ({"bend": 0.0}, {"bend": "2"}, {"twist": -1.0}, {"twist": math.nan}, {"twist": None}):
        with pytest.raises(TendrilError, match=next(iter(bad))):
            s.scaled(**bad)


# Young's modulus in Pa and density in kg/m3 between which handbooks place each preset.
KNOWN = {
    "nylon rope": ((1e8, 3e9), (700, 1150)),
    "hemp rope": ((3e8, 1e10), (700, 1500)),
    "steel cable": ((5e10, 1.6e11), (4500, 7900)),
    "rubber": ((5e5, 1e7), (900, 1300)),
    "copper wire": ((1.1e11, 1.3e11), (8900, 8990)),
    "fishing line": ((1e9, 5e9), (1050, 1200)),
    "human hair": ((2e9, 7e9), (1200, 1400)),
    "spring steel": ((1.9e11, 2.12e11), (7700, 7900)),
    "spaghetti": ((1e9, 5e9), (1300, 1550)),
    "vine": ((2e8, 5e9), (500, 1100)),
    "paper": ((2e9, 8e9), (500, 1200)),
    "garden hose": ((3e6, 3e7), (500, 1000)),
    "chain": ((1e10, 1e11), (2000, 5000)),
}


def test_every_preset_is_known_and_every_known_one_is_there():
    assert set(Material.presets()) == set(KNOWN)


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_presets_are_real_materials(name):
    material = Material.preset(name)
    (soft, stiff), (light, heavy) = KNOWN[name]
    assert soft <= material.young_modulus <= stiff
    assert light <= material.density <= heavy
    assert 0.25 <= material.poisson_ratio < 0.5
    assert 0.0 <= material.damping_time <= 0.01
    assert (material.strands > 1) == (name.split()[-1] in ("rope", "cable", "chain"))


@pytest.mark.parametrize("name", ["", "Rubber", "steel", None, 3, ["rubber"], {}])
def test_unknown_presets_are_told_the_known_ones(name):
    with pytest.raises(TendrilError, match="choose one of nylon rope, "):
        Material.preset(name)
