"""Thousands of bad inputs: each gives a TendrilError of one line that names the field, and changes nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bad_values import (
    RUBBER,
    Hostile,
    endless_vertices,
    many,
    negative,
    not_a_function,
    not_a_number,
    not_a_vector,
    not_an_index,
    not_finite,
    not_positive,
    refuse,
    ring,
    rubbish,
    valid_points,
    wrong_arrays,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from tendril.core import Circle, Ellipse, Material, Rod, Scene, Simulation, Stiffness

# Not even a warning may escape: a person in Blender sees them in the console and wonders.
pytestmark = pytest.mark.filterwarnings("error")


@many
@given(st.sampled_from(["radius", "a", "b"]), not_positive)
def test_sections(field, bad):
    if field == "radius":
        refuse(lambda: Circle(bad), field)
    else:
        refuse(lambda: Ellipse(**{"a": 1.0, "b": 1.0, field: bad}), f"{field} is")


@many
@given(st.one_of(st.floats(5e-324, 0.99e-8), st.floats(1.0001e4, 1e308)))
def test_sections_of_sizes_beyond_reason(size):
    refuse(lambda: Circle(size), "radius")
    refuse(lambda: Ellipse(size, 1.0), "a is")
    refuse(lambda: Ellipse(1.0, size), "b is")
    refuse(lambda: Rod.from_points(valid_points(), radius=size, material=RUBBER), "radius")


@many
@given(st.data())
def test_materials(data):
    bad_values = {
        "young_modulus": not_positive,
        "density": not_positive,
        "shear_modulus": not_positive.filter(lambda value: value is not None),
        "damping_time": not_a_number | negative,
        "strands": not_positive | st.floats(0.0, 0.999),
        "poisson_ratio": st.one_of(
            not_a_number.filter(lambda value: value is not None),
            st.floats(max_value=-1.0, allow_infinity=False),
            st.floats(0.5000001, 1e308),
        ),
    }
    field = data.draw(st.sampled_from(sorted(bad_values)))
    bad = data.draw(bad_values[field])
    refuse(lambda: Material(**{"young_modulus": 1e6, "density": 1e3, field: bad}), field)


@many
@given(st.data())
def test_stiffnesses(data):
    fields = ["stretch", "bend_1", "bend_2", "twist", "mass_per_length", "inertia_per_length"]
    field = data.draw(st.sampled_from(fields))
    bad = data.draw(not_positive.filter(lambda value: value is not None or field != "inertia_per_length"))
    refuse(lambda: Stiffness(**{**dict.fromkeys(fields, 1.0), field: bad}), field)


@given(st.one_of(rubbish, st.floats()))
@many
def test_a_material_asks_for_a_section(bad):
    refuse(lambda: RUBBER.stiffness(bad), "section")


def test_moduli_beyond_the_range_of_doubles():
    refuse(lambda: Material(1e308, 1.0, poisson_ratio=math.nextafter(-1.0, 0.0)), "shear_modulus")
    refuse(lambda: Material(1e308, 1.0, shear_modulus=1e-308), "poisson_ratio")
    refuse(lambda: Material(1e308, 1.0).stiffness(Circle(1e4)), "stretch")
    refuse(lambda: Material(1e-320, 1.0).stiffness(Circle(1e-8)), "stretch")
    for field, name in (("stiffness_scale", "bend"), ("density_scale", "mass_per_length")):
        for scale in (1e308, 1e-323):
            options = {field: np.full(6, scale)}
            material = Material(1e12, 1e12) if scale > 1.0 else Material(1e-3, 1e-3)
            refuse(lambda m=material, o=options: Rod.from_points(valid_points(), 1.0, m, **o), name)


@many
@given(st.data())
def test_points(data):
    n = data.draw(st.integers(2, 8))
    points = valid_points(n)
    k = data.draw(st.integers(0, n - 1))
    way = data.draw(
        st.sampled_from(
            ["rubbish", "not finite", "few", "shape", "one place", "coincident", "fold", "size", "far", "text"]
        )
    )
    field, closed = "points", False
    if way == "rubbish":
        points = data.draw(st.one_of(rubbish, wrong_arrays, not_finite, st.floats()))
    elif way == "not finite":
        points = points.tolist()
        points[k][data.draw(st.integers(0, 2))] = data.draw(not_finite)
    elif way == "few":
        closed = data.draw(st.booleans())
        points = points[: data.draw(st.integers(0, 2 if closed else 1))]
    elif way == "shape":
        points = data.draw(st.sampled_from([points[:, :1], points[:, :2], points[None], points.ravel(), points[0]]))
    elif way == "one place":
        points = np.tile(points[k], (n, 1))
    elif way == "coincident":
        points = np.insert(points, k, points[k] + data.draw(st.floats(0.0, 1e-9)), axis=0)
    elif way == "fold":
        points = np.concatenate([points, points[-2:-1]])
    elif way == "size":
        points = points * data.draw(st.one_of(st.floats(1e-300, 0.9e-6), st.floats(1.1e4, 1e300)))
    elif way == "far":
        points[:, data.draw(st.integers(0, 2))] += data.draw(st.sampled_from([1.1e5, -1.1e5, 1e300]))
    else:
        points = points.astype(str)
    if data.draw(st.booleans()):
        refuse(lambda: Rod.from_points(points, radius=0.01, material=RUBBER, closed=closed), field)
    elif way != "rubbish" or not isinstance(points, str):
        drawn = ring(3) if closed else valid_points(n)
        refuse(lambda: Rod.from_points(drawn, radius=0.01, material=RUBBER, rest=points, closed=closed), "rest")


@many
@given(st.data())
def test_all_else_of_a_rod(data):
    per_vertex = st.one_of(
        st.lists(st.floats(0.1, 1.0), max_size=12).filter(lambda v: len(v) != 6),
        # numpy takes True for one among numbers, and so does this.
        not_positive.filter(lambda v: not isinstance(v, (bool, np.bool_))).map(lambda value: [0.1] * 5 + [value]),
        st.just(np.full((6, 1), 0.1)),
    )
    directors = st.one_of(
        not_a_vector.filter(lambda value: value is not None),
        st.just(np.zeros(3)),
        st.just([1.0, 0.1, 0.0]).map(lambda _: valid_points()[1] - valid_points()[0]),  # along the first edge
        st.just(np.ones((6, 3))),
        st.just(np.zeros((5, 3))),
        st.just(np.full((5, 3), 1e200)),
        st.just(np.diff(valid_points(), axis=0)),
    )
    bad_values = {
        "radius": st.one_of(not_positive, per_vertex),
        "density_scale": st.one_of(not_positive, per_vertex),
        "stiffness_scale": st.one_of(not_positive, per_vertex),
        "damping_time": (not_a_number | negative).filter(lambda value: value is not None),
        "twist": not_a_number,
        "rest_twist": not_a_number,
        "director": directors,
        "rest_director": directors,
        "material": rubbish,
        "closed": rubbish.filter(lambda value: not isinstance(value, (bool, np.bool_))) | st.sampled_from([0, 1, 0.0]),
        "rest": st.one_of(rubbish, wrong_arrays, st.sampled_from(["", "curly", "As Drawn", valid_points(5)])),
        "section": rubbish.filter(lambda value: value is not None),
        "stiffness": st.one_of(rubbish.filter(lambda v: v is not None), st.just([Stiffness(1, 1, 1, 1, 1)] * 4)),
    }
    field = data.draw(st.sampled_from(sorted(bad_values)))
    options = {"radius": 0.01, "material": RUBBER, field: data.draw(bad_values[field])}
    if field == "section":
        del options["radius"]
    if field == "stiffness":
        del options["material"]
    refuse(lambda: Rod.from_points(valid_points(), **options), field)


def test_a_rod_needs_one_section_and_one_material():
    given_directly = Stiffness(1, 1, 1, 1, 1)
    points = valid_points()
    refuse(lambda: Rod.from_points(points, material=RUBBER), "radius")
    refuse(lambda: Rod.from_points(points, 0.1, RUBBER, section=Circle(0.1)), "radius")
    refuse(lambda: Rod.from_points(points, 0.1), "material")
    refuse(lambda: Rod.from_points(points, 0.1, RUBBER, stiffness=given_directly), "stiffness")
    refuse(lambda: Rod.from_points(points, None, RUBBER, section=Circle(1), stiffness=given_directly), "stiffness")
    refuse(lambda: Rod.from_points(points, 0.1, RUBBER, rest="straight", rest_director=(0, 0, 1)), "rest_director")


def a_scene():
    scene = Scene()
    scene.add(Rod.from_points(valid_points(), radius=0.01, material=RUBBER))
    scene.add(Rod.from_points(ring(4), radius=0.01, material=RUBBER, closed=True), velocity=(1.0, 0.0, 0.0))
    scene.pin(0, "start")
    scene.clamp(1, 2)
    scene.load(0, "end", (0.0, 0.0, 1.0))
    return scene


def leaves_alone(call, *names):
    """The call must fail with a scene, and leave the scene as it was."""
    scene = a_scene()

    def look():
        return scene.fingerprint(), len(scene.entries), len(scene.holds), len(scene.loads)

    before = look()
    refuse(lambda: call(scene), *names)
    assert look() == before


@many
@given(st.data())
def test_scenes(data):
    bad_values = {
        "gravity": not_a_vector,
        "wind": not_a_vector,
        "air_density": not_a_number | negative,
        "drag": not_a_number | negative,
    }
    field = data.draw(st.sampled_from(sorted(bad_values)))
    bad = data.draw(bad_values[field])
    refuse(lambda: Scene(**{field: bad}), field)


@many
@given(st.data())
def test_adding(data):
    velocities = st.one_of(
        not_a_vector.filter(lambda value: value is not None),
        st.just(np.zeros((5, 3))),
        st.just(np.full((6, 3), np.nan)),
        st.just([[0.0] * 3] * 5 + [[0.0] * 2]),
    )
    bad_values = {
        "rod": rubbish,
        "model": st.one_of(
            rubbish.filter(lambda value: value is not None),
            st.sampled_from(["DER", "cloth", "der ", ["der"], ("der",)]),
        ),
        "velocity": velocities,
    }
    field = data.draw(st.sampled_from(sorted(bad_values)))
    rod = Rod.from_points(valid_points(), radius=0.01, material=RUBBER)
    options = {"rod": rod, field: data.draw(bad_values[field])}
    leaves_alone(lambda scene: scene.add(**options), field)


def no_rod(value):
    return isinstance(value, bool) or not isinstance(value, int) or value not in (0, 1)


not_a_rod = st.one_of(not_an_index, st.integers(), rubbish).filter(no_rod)
no_vertex = st.one_of(
    not_an_index,
    st.integers(min_value=6),
    st.integers(max_value=-7),
    st.sampled_from(["", "START", "middle", "end ", np.int64(6), np.float64(1.0)]),
)


@st.composite
def bad_places(draw):
    """Several vertices of which one is bad, or is there twice, or is held already."""
    places = draw(st.lists(st.integers(1, 5), max_size=4, unique=True))
    wrong = draw(st.one_of(no_vertex, st.sampled_from(places or [0]), st.sampled_from([0, -6, "start"])))
    places.insert(draw(st.integers(0, len(places))), wrong)
    return draw(st.sampled_from([tuple, list, iter, lambda _: endless_vertices()]))(places)


@many
@given(st.data())
def test_holding(data):
    kind = data.draw(st.sampled_from(["pin", "clamp", "orient", "clamp_edge"]))
    place = "edge" if kind == "clamp_edge" else "where"
    taken = {"where": [0, "start", -6], "edge": [0, -1, 5, "start", "end"]}[place]
    fields = ["rod", place, "path"] if kind == "pin" else ["rod", place, "path", "spin"]
    field = data.draw(st.sampled_from(fields))
    options = {"rod": 0, place: 3}
    if field == place:
        bad = data.draw(st.one_of(no_vertex, st.sampled_from(taken), bad_places() if kind == "pin" else st.just([3])))
    else:
        bad = data.draw(not_a_rod if field == "rod" else not_a_function)
    options[field] = bad
    leaves_alone(lambda scene: getattr(scene, kind)(**options), field, "where")


@many
@given(st.data())
def test_loading(data):
    bad_values = {
        "rod": not_a_rod,
        "where": no_vertex,
        "force": not_a_vector.filter(lambda value: not callable(value)),
    }
    field = data.draw(st.sampled_from(sorted(bad_values)))
    options = {"rod": 0, "where": 2, "force": (0.0, 0.0, 1.0), field: data.draw(bad_values[field])}
    leaves_alone(lambda scene: scene.load(**options), field)


def test_edges_share_vertices():
    scene = a_scene()
    scene.clamp_edge(0, 2)
    for edge in (1, 2, 3):
        refuse(lambda edge=edge: scene.clamp_edge(0, edge), "where", "edge")
    refuse(lambda: scene.clamp_edge(1, 1), "held already")  # vertex 2 of the ring is clamped
    scene.clamp_edge(1, 3)  # closes the ring: vertices 3 and 0
    refuse(lambda: scene.pin(1, 0), "held already")
    assert len(scene.holds) == 4


@many
@given(st.data())
def test_simulations(data):
    """Refused before anything is made, so this compiles nothing."""
    bad_values = {
        "scene": rubbish,
        "frame_rate": not_positive,
        "substeps": st.one_of(not_an_index, st.integers(max_value=0)),
        "integrator": st.one_of(rubbish, st.sampled_from(["rk4", "SDIRK2", ["sdirk2"]])),
        "threads": st.one_of(not_an_index, st.integers(max_value=0)).filter(lambda value: value is not None),
        "first_frame": not_an_index,
    }
    field = data.draw(st.sampled_from(sorted(bad_values)))
    bad = data.draw(bad_values[field])
    leaves_alone(lambda scene: Simulation(**{"scene": scene, field: bad}), field)


def test_a_simulation_needs_a_rod():
    refuse(lambda: Simulation(Scene()), "scene")


def test_a_running_simulation_is_left_alone_by_bad_calls():
    """Afterwards it steps to the same bits as one that nobody bothered."""
    sim, twin = Simulation(a_scene()), Simulation(a_scene())
    sim.step_frame()
    twin.step_frame()
    mirror = np.diag([1.0, 1.0, -1.0])

    @settings(max_examples=100, deadline=None)
    @given(st.data())
    def bother(data):
        bad_values = {
            "hold": st.one_of(not_an_index, st.integers(min_value=2), st.integers(max_value=-1), st.just([0, 2])),
            "position": not_a_vector.filter(lambda value: value is not None) | st.just((1e300, 0.0, 0.0)),
            "rotation": st.one_of(
                not_a_vector.filter(lambda value: value is not None),
                st.sampled_from([np.zeros((3, 3)), 2.0 * np.eye(3), mirror, np.full((3, 3), np.nan), np.ones((3, 3))]),
            ),
            "spin": not_a_number.filter(lambda value: value is not None),
            "state": st.one_of(rubbish, wrong_arrays, st.just(np.full(sim.state_size, np.nan))),
            "frame": not_an_index,
        }
        field = data.draw(st.sampled_from(sorted(bad_values)))
        bad = data.draw(bad_values[field])
        if field in ("state", "frame"):
            refuse(lambda: sim.restore(**{"state": sim.state() + 1.0, "frame": 5, field: bad}), field)
        else:
            refuse(lambda: sim.move(**{"hold": 0, "position": (0.1, 0.0, 0.0), "spin": 1.0, field: bad}), field)

    bother()
    sim.step_frame()
    twin.step_frame()
    assert sim.frame == twin.frame
    assert sim.state().tobytes() == twin.state().tobytes()


given_by_functions = st.one_of(
    rubbish.filter(lambda value: not isinstance(value, Hostile)),
    not_finite,
    wrong_arrays,
    st.sampled_from([(np.nan, 0.0, 0.0), (1e300, 0.0, 0.0), (1.0, 2.0), np.zeros((3, 3)), np.full((3, 3), np.nan)]),
    st.sampled_from([np.eye(3), -np.eye(3), 1e200 * np.eye(3), "abc", (None, None), (0.1, 0.0, 0.0), 50.0]).map(
        lambda rotation: ((0.0, 0.0, 0.0), rotation)
    ),
    st.sampled_from([(np.full(3, np.nan), np.eye(3)), ((1e300, 0.0, 0.0), np.eye(3)), ("a", "b"), 1e300, -1e300]),
)


@settings(max_examples=60, deadline=None)
@given(given_by_functions, st.sampled_from([0.0, 0.05]))
def test_functions_of_time_that_give_rubbish_neither_raise_nor_give_a_nan(rubbish_value, since):
    """What they give is taken if it makes sense; otherwise things stay where they are."""

    def or_rubbish(good):
        return lambda t: rubbish_value if t >= since else good

    scene = Scene()
    for kind in ("pin", "clamp", "orient", "edge"):
        rod = scene.add(Rod.from_points(valid_points(), radius=0.01, material=RUBBER))
        place, still = valid_points()[0], np.eye(3)
        if kind == "pin":
            scene.pin(rod, 0, or_rubbish(place))
        elif kind == "clamp":
            scene.clamp(rod, 0, or_rubbish((place, still)), or_rubbish(0.0))
        elif kind == "orient":
            scene.orient(rod, 0, or_rubbish(still), or_rubbish(0.0))
        else:
            scene.clamp_edge(rod, 0, or_rubbish((valid_points()[:2].mean(axis=0), still)), or_rubbish(0.0))
        scene.load(rod, "end", or_rubbish((0.0, 0.0, 0.01)))
    sim = Simulation(scene)
    for _ in range(3):
        sim.step_frame()
    assert np.isfinite(sim.state()).all()
