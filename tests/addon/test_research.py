"""What experiments need in Blender: stiffnesses given directly, initial twist, ends that hold only the frame, and counted turns."""

import bpy
import numpy as np
import pytest
from tendril.addon import memory
from tendril.addon.bridge.research import CORDE
from tendril.core import Corde
from tendril.tests.addon.building import make_mesh, make_rod, play, ring, status
from tendril.tests.addon.test_attachments import attach, empty
from tendril.tests.addon.test_hair import make_hair
from tendril.tests.addon.test_nets import make_net

LAST = 11
STRAIGHT = np.linspace((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 50)
# A rod with so little torsional stiffness that it stays straight when it is twisted by many turns.
GIVEN = {"bending_stiffness": 1e-2, "torsional_stiffness": 5e-4, "axial_stiffness": 1e4}


def simulated(obj):
    """The simulation, and what was described of the object."""
    running = memory.running_of(bpy.context.scene)
    assert status(obj) == ""
    return running.simulation, running.description.parts[obj.tendril.uid].described


def straight_rod(**settings):
    bpy.context.scene.use_gravity = False
    return make_rod(("POLY", STRAIGHT), **{**GIVEN, "start_hold": "CLAMP", "radius": 0.005, **settings})


def key_turns(obj, turns, axis=0, frames=LAST, path="rotation_euler", mode="XYZ"):
    """Rotates an object about an axis, at a constant rate."""
    obj.rotation_mode = mode
    for frame, angle in ((1, 0.0), (frames, 2.0 * np.pi * turns)):
        if mode == "AXIS_ANGLE":
            obj.rotation_axis_angle = (angle, *np.eye(3)[axis])
        else:
            obj.rotation_euler[axis] = angle
        obj.keyframe_insert(path, frame=frame)
    for curve in obj.animation_data.action.layers[0].strips[0].channelbag(obj.animation_data.action_slot).fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    bpy.context.scene.frame_set(1)


def twist_of(obj):
    """Turns by which an object's first rod, which is straight, is twisted from its start to its end."""
    simulation, described = simulated(obj)
    assert np.abs(simulation.current().positions(0)[:, 1:]).max() < 1e-3
    per_edge = simulation.strains().twist(0) * described.rods[0].rest_lengths
    assert np.abs(per_edge).max() < np.pi  # strains are known modulo a turn per edge
    return float(per_edge.sum()) / (2.0 * np.pi)


@pytest.mark.parametrize("section", ["CIRCLE", "RIBBON"])
def test_stiffness_can_be_given_directly(section):
    """Also with a torsional stiffness that no Poisson's ratio gives, as in Figs. 7 and 8 of Bergou et al. 2008."""
    settings = {**GIVEN, "torsional_stiffness": 0.4 * GIVEN["bending_stiffness"], "bending_stiffness_2": 3e-3}
    obj = straight_rod(section=section, material="COPPER_WIRE", **settings)
    play(obj, 2)
    _, described = simulated(obj)
    rod, flat = described.rods[0], section == "RIBBON"
    np.testing.assert_allclose(rod.bend, np.tile([1e-2, 3e-3 if flat else 1e-2], (49, 1)), rtol=1e-6)
    np.testing.assert_allclose(rod.twist_stiffness / rod.bend[:, 0], 0.4, rtol=1e-6)
    np.testing.assert_allclose(rod.stretch, 1e4, rtol=1e-6)
    area = 0.01 * 0.001 if flat else np.pi * 0.005**2
    np.testing.assert_allclose(rod.mass_per_length, 8960.0 * area, rtol=1e-5)
    np.testing.assert_allclose(rod.damping_time, 1e-4, rtol=1e-6)


def test_a_stiffness_of_zero_is_that_of_the_material():
    plain = straight_rod(bending_stiffness=0.0, axial_stiffness=0.0, torsional_stiffness=0.0, name="Plain")
    mixed = straight_rod(bending_stiffness=0.0, axial_stiffness=0.0, name="Mixed")
    play(mixed, 2)
    (_, one), (_, other) = simulated(plain), simulated(mixed)
    np.testing.assert_allclose(other.rods[0].bend, one.rods[0].bend, rtol=1e-6)
    np.testing.assert_allclose(other.rods[0].mass_per_length, one.rods[0].mass_per_length, rtol=1e-6)
    np.testing.assert_allclose(other.rods[0].twist_stiffness, 5e-4, rtol=1e-6)


@pytest.mark.parametrize("make", [make_net, make_hair])
def test_nets_and_hair_take_a_given_stiffness(make):
    obj = make()
    for name, value in GIVEN.items():
        setattr(obj.tendril, name, value)
    bpy.context.scene.frame_set(1)
    bpy.context.scene.frame_set(2)
    _, described = simulated(obj)
    for rod in described.rods:
        np.testing.assert_allclose(rod.bend, 1e-2, rtol=1e-6)
        np.testing.assert_allclose(rod.twist_stiffness, 5e-4, rtol=1e-6)


@pytest.mark.parametrize("cyclic", [False, True])
def test_initial_twist(cyclic):
    """The energy is GJ phi^2 / 2 L at once, also of a ring, which has no end that could be turned. Its natural shape is straight:
    twist of a naturally curved ring would not stay even."""
    bpy.context.scene.use_gravity = False
    points = ring(32) * (1.0, 1.0, 0.0) if cyclic else STRAIGHT
    obj = make_rod(
        ("POLY", points, cyclic), start_hold="CLAMP", end_hold="CLAMP", rest_shape="STRAIGHT", radius=0.005, **GIVEN
    )
    obj.tendril.initial_twist = 3.0
    play(obj, 2)
    simulation, described = simulated(obj)
    expected = 5e-4 * 3.0**2 / (2.0 * described.rods[0].length)
    np.testing.assert_allclose(simulation.energies().twist, expected, rtol=0.01)


@pytest.mark.parametrize("turns", [6.0, -6.0, 5.0, -5.0, 4.0, 10.0, 23.0])
def test_turns_of_a_target_are_counted(turns):
    """Up to more than two turns per frame, and where the shortest rotation is half a turn or none."""
    handle, obj = empty((1.0, 0.0, 0.0)), straight_rod()
    attach(obj, handle, use_rotation=True)
    key_turns(handle, turns)
    play(obj, LAST)
    np.testing.assert_allclose(twist_of(obj), turns, rtol=0.01)


def test_turns_are_counted_when_the_simulation_resumes():
    handle, obj = empty((1.0, 0.0, 0.0)), straight_rod()
    attach(obj, handle, use_rotation=True)
    key_turns(handle, 6.0)
    play(obj, 8)
    bpy.context.scene.frame_set(6)
    assert bpy.ops.tendril.resume() == {"FINISHED"}
    play(obj, LAST, first=7)
    np.testing.assert_allclose(twist_of(obj), 6.0, rtol=0.01)


@pytest.mark.parametrize("kind", ["parent", "axis and angle", "tilted", "own"])
def test_turns_of_other_kinds(kind):
    handle, obj, turns = empty((1.0, 0.0, 0.0)), straight_rod(), 6.0
    if kind == "own":  # the rod's own object turns back, so that the end stays
        attach(obj, handle, use_rotation=True)
        key_turns(obj, -turns)
    elif kind == "parent":
        parent = empty((0.0, 0.0, 0.0))
        handle.parent = parent
        attach(obj, handle, use_rotation=True)
        key_turns(parent, turns)
    elif kind == "axis and angle":
        attach(obj, handle, use_rotation=True)
        key_turns(handle, turns, path="rotation_axis_angle", mode="AXIS_ANGLE")
    else:  # the target's own z axis lies along the rod
        handle.rotation_euler = (0.0, np.pi / 2.0, 0.0)
        attach(obj, handle, use_rotation=True)
        key_turns(handle, turns, axis=2, mode="ZYX")
    play(obj, LAST)
    np.testing.assert_allclose(twist_of(obj), turns, rtol=0.01)


def test_an_oriented_end_moves_freely_and_keeps_its_frame():
    obj = straight_rod(end_hold="ORIENT")
    bpy.context.scene.use_gravity = True
    obj.tendril.bending_stiffness = 1.0
    play(obj, LAST)
    simulation, _ = simulated(obj)
    x = simulation.current().positions(0)
    assert x[-1, 2] < -1e-3
    slope = np.diff(x[:, 2]) / np.diff(x[:, 0])
    assert abs(slope[-1]) < 0.3 * np.abs(slope).max()  # a guided end stays horizontal


def test_an_attachment_can_hold_the_orientation_alone():
    handle, obj = empty((1.0, 0.0, 0.0)), straight_rod()
    attachment = attach(obj, handle, use_rotation=True, use_position=False)
    key_turns(handle, 2.0)
    handle.location = (1.0, 0.0, 0.0)
    handle.keyframe_insert("location", frame=1)
    handle.location = (1.0, 3.0, 0.0)
    handle.keyframe_insert("location", frame=LAST)
    play(obj, LAST)
    np.testing.assert_allclose(twist_of(obj), 2.0, rtol=0.01)  # and stays straight
    attachment.use_rotation = False  # then it holds nothing
    play(obj, 2)
    assert len(simulated(obj)[1].held) == 1


@pytest.mark.parametrize("touching", [False, True])
def test_the_panel_says_if_the_published_model_took_implicit_steps(touching):
    obj = straight_rod(model="der2008")
    bpy.context.scene.use_gravity = True
    floor = make_mesh()
    floor.location.z = -0.02 if touching else -3.0
    bpy.context.view_layer.update()
    play(obj, LAST)
    notes = memory.rod_notes(bpy.context.scene, obj.tendril.uid)
    assert notes == ((memory.IMPLICIT,) if touching else ())


# Integrator, contact solver, elements and constants -----------------------------------------------------------------

CURL = np.stack([0.05 * np.cos(np.arange(60) * 0.4), 0.05 * np.sin(np.arange(60) * 0.4), -0.01 * np.arange(60)], axis=1)


def curl(**settings):
    return make_rod(("POLY", CURL), model="clothoid", start_hold="CLAMP", radius=0.002, **settings)


def test_the_step_of_super_space_clothoids_can_be_chosen():
    obj = curl(elements=3)
    moved = {}
    for integrator in ("tr-bdf2", "semi-implicit euler"):
        bpy.context.scene.tendril.integrator = integrator
        play(obj, 6)
        simulation, _ = simulated(obj)
        assert simulation.integrator == integrator
        moved[integrator] = simulation.current().positions(0)
    apart = np.abs(moved["tr-bdf2"] - moved["semi-implicit euler"]).max()
    assert 1e-6 < apart < 0.05


def test_an_integrator_that_a_model_lacks_is_refused_with_the_ones_it_has():
    obj = make_rod(("POLY", STRAIGHT), radius=0.005)
    bpy.context.scene.tendril.integrator = "semi-implicit euler"
    bpy.context.scene.frame_set(1)
    bpy.context.scene.frame_set(2)
    assert "backward euler" in status(obj)


@pytest.mark.parametrize("count", [0, 3])
def test_elements_can_be_helices(count):
    obj = curl(elements=count, element_kind="HELIX")
    play(obj, 3)
    simulation, _ = simulated(obj)
    assert simulation.scene.entries[0].elements.degree == 0
    assert simulation.scene.entries[0].elements.count == (count or None)
    obj.tendril.element_kind = "CLOTHOID"
    play(obj, 3)
    elements = simulated(obj)[0].scene.entries[0].elements
    assert elements is None if count == 0 else elements.degree == 1


def test_the_active_set_can_be_chosen_for_frictionless_inextensible_rods():
    obj = straight_rod(model="compact", friction=0.0)
    bpy.context.scene.use_gravity = True
    shared = bpy.context.scene.tendril
    shared.rod_contact, shared.contact_solver = True, "active set"
    play(obj, 3)
    assert simulated(obj)[0].contact == "active set"
    obj.tendril.friction = 0.5
    bpy.context.scene.frame_set(1)
    bpy.context.scene.frame_set(2)
    assert "friction" in status(obj)


def test_constants_of_corde():
    obj = make_net(net_model="corde")
    for frame in (1, 2):
        bpy.context.scene.frame_set(frame)
    assert simulated(obj)[1].rods[0].corde == Corde()
    wanted = Corde(alpha=0.5, kappa=300.0, gamma_t=0.02, gamma_r=1e-5, inertia=1e-4, step=2e-4, substeps=3)
    for name, setting in CORDE.items():
        setattr(obj.tendril, setting, getattr(wanted, name))
    for frame in (1, 2):
        bpy.context.scene.frame_set(frame)
    assert simulated(obj)[1].rods[0].corde == wanted
    obj.tendril.net_model = "net"
    for frame in (1, 2):
        bpy.context.scene.frame_set(frame)
    assert simulated(obj)[1].rods[0].corde == Corde()


@pytest.mark.parametrize(("name", "value"), [("integrator", "backward euler"), ("contact_solver", "active set")])
def test_frames_of_another_solver_are_outdated(name, value):
    obj = straight_rod(model="compact", friction=0.0)
    bpy.context.scene.tendril.rod_contact = True
    play(obj, 4)
    before = memory.running_of(bpy.context.scene).description.signature
    setattr(bpy.context.scene.tendril, name, value)
    play(obj, 2)
    assert memory.running_of(bpy.context.scene).description.signature != before
