"""What rods collide with: bad input is refused, good input is taken in all its forms, and colliders are where they were sent."""

from __future__ import annotations

import math
from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from bad_values import (
    RUBBER,
    many,
    negative,
    not_a_function,
    not_a_number,
    not_a_rotation,
    not_a_vector,
    not_an_index,
    not_finite,
    not_positive,
    refuse,
    rubbish,
    too_far,
    valid_points,
    wrong_arrays,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from tendril.core import Box, Capsule, Cylinder, Mesh, Plane, Rod, Scene, Simulation, Sphere
from tendril.core.contact.bodies import pieces
from tendril.core.contact.colliders import ColliderMotion
from tendril.core.describe.mass import mass_properties
from tendril.core.describe.rotations import rotation_about
from tendril.core.describe.shapes import Collider

pytestmark = pytest.mark.filterwarnings("error")

QUARTER = rotation_about(np.array([0.0, 0.0, 1.0]), np.array(0.5 * math.pi))
SHEET = np.array([(-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.0)])
HALVES = [(0, 1, 2), (0, 2, 3)]
GOOD: dict[type, dict[str, Any]] = {
    Plane: {"point": (1, 2, 3), "normal": (0, 3, 4)},
    Sphere: {"radius": 2, "position": (1, 2, 3)},
    Capsule: {"radius": 2, "length": 3, "position": (1, 2, 3), "rotation": ((0, -1, 0), (1, 0, 0), (0, 0, 1))},
    Cylinder: {"radius": 2, "length": 3, "position": (1, 2, 3), "rotation": ((0, -1, 0), (1, 0, 0), (0, 0, 1))},
    Box: {"size": (1, 2, 3), "position": (1, 2, 3), "rotation": ((0, -1, 0), (1, 0, 0), (0, 0, 1))},
    Mesh: {"vertices": ((-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)), "triangles": ((0, 1, 2), (0, 2, 3))},
}
ALL = pytest.mark.parametrize("shape", GOOD, ids=lambda shape: shape.__name__)


def a_rod() -> Rod:
    return Rod.from_points(valid_points(), radius=0.01, material=RUBBER)


# Bad input


def among_numbers(bad: Any) -> Any:
    """As one of three; numpy takes True for one among numbers, and so does this."""
    return bad.filter(lambda value: not isinstance(value, (bool, np.bool_))).map(lambda value: (0.5, value, 0.5))


not_a_size = st.one_of(not_positive, st.floats(5e-324, 0.99e-6), st.floats(1.01e5, 1e308))
not_vertices = st.one_of(
    rubbish,
    wrong_arrays,
    not_finite,
    not_finite.map(lambda bad: [[0.0, 0.0, bad], *SHEET.tolist()]),
    too_far.map(lambda far: [*SHEET.tolist(), far]),
    st.sampled_from([SHEET[:0], SHEET[:2], SHEET[:, :2], SHEET[None], SHEET.ravel(), SHEET.astype(str), SHEET * 1j]),
    st.just([*SHEET.tolist(), [0.0, 0.0]]),
)
not_triangles = st.one_of(
    rubbish,
    wrong_arrays,
    not_finite,
    st.integers(4, 10**30).map(lambda beyond: [(0, 1, 2), (0, 1, beyond)]),
    st.integers(-(10**30), -1).map(lambda below: [(0, below, 1)]),
    st.sampled_from([[(0.0, 1.0, 2.0)], [(0, 1)], [(0, 1, 2, 3)], (0, 1, 2), np.zeros((0, 3), int), [[(0, 1, 2)]]]),
    st.sampled_from([[(0, 0, 1)], [(0, 1, 0), (2, 1, 1)], [(True, False, True)], [("0", "1", "2")], [(0, 1, None)]]),
    st.just(np.array([(0, 1, 2**64 - 1)], dtype=np.uint64)),
)
BAD = {
    "point": not_a_vector | too_far,
    "normal": not_a_vector | st.sampled_from([(0, 0, 0), (0.0, 1e-200, 0.0), (1e200, 0.0, 0.0)]),
    "position": not_a_vector | too_far,
    "rotation": not_a_rotation,
    "radius": not_a_size,
    "length": not_a_size,
    "size": not_a_vector | among_numbers(not_a_size),
    "vertices": not_vertices,
    "triangles": not_triangles,
}


@ALL
def test_shapes_refuse_what_they_cannot_be(shape: type) -> None:
    @many
    @given(st.data())
    def try_one(data: st.DataObject) -> None:
        field = data.draw(st.sampled_from([field.name for field in fields(shape)]))
        bad = data.draw(BAD[field])
        refuse(lambda: shape(**{**GOOD[shape], field: bad}), f"{field} is")

    try_one()


def a_scene() -> Scene:
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    scene.add(a_rod(), friction=0.2)
    scene.collide(Sphere(1.0, (0.0, 0.0, -3.0)), friction=0.5)
    scene.collide(Mesh(SHEET - (0.0, 0.0, 1.0), HALVES), thickness=0.01)
    return scene


not_a_friction = st.one_of(not_a_number, negative, st.floats(100.0001, 1e308))


@many
@given(st.data())
def test_scenes_refuse_bad_colliders_and_stay_as_they_were(data: st.DataObject) -> None:
    bad_values = {
        "shape": st.one_of(rubbish, st.sampled_from([Plane, "Plane", (1.0, 2.0, 3.0), a_rod()])),
        "friction": not_a_friction,
        "thickness": not_a_number | negative,
        "path": not_a_function,
    }
    field = data.draw(st.sampled_from(sorted(bad_values)))
    bad = data.draw(bad_values[field])
    scene = a_scene()
    before = scene.fingerprint()
    refuse(lambda: scene.collide(**{"shape": Plane(), field: bad}), f"{field} is")
    assert len(scene.colliders) == 2
    assert scene.fingerprint() == before


@many
@given(not_a_friction)
def test_rods_refuse_a_bad_friction(bad: Any) -> None:
    scene = a_scene()
    before = scene.fingerprint()
    refuse(lambda: scene.add(a_rod(), friction=bad), "friction is")
    assert len(scene.entries) == 1
    assert scene.fingerprint() == before


@many
@given(rubbish.filter(lambda value: not isinstance(value, (bool, np.bool_))) | st.sampled_from([0, 1, 0.0, "yes"]))
def test_rod_contact_is_true_or_false(bad: Any) -> None:
    refuse(lambda: Scene(rod_contact=bad), "rod_contact is")


class Egg:
    """A shape that nobody has written the distance of."""

    radius, length, position, rotation = 1.0, 1.0, np.zeros(3), np.eye(3)


def test_unknown_shapes_are_refused_and_are_no_cylinders() -> None:
    refuse(lambda: Scene().collide(Egg()), "shape is")  # type: ignore[arg-type]
    refuse(lambda: ColliderMotion([Collider(Egg(), 0.5, 0.0, None)]), "shape is")  # type: ignore[arg-type]
    refuse(lambda: mass_properties(Egg()), "give a Sphere")  # type: ignore[arg-type]
    refuse(lambda: pieces._pieces_of(Egg(), 0.0, True), "shape is")  # type: ignore[arg-type]


def places(sim: Simulation, when: int = 1) -> list[np.ndarray]:
    """Where colliders are at the start (0) or the end (1) of the last substep: positions and rotations, vertices of meshes."""
    colliders = sim._contact.colliders
    both = (colliders.shapes.position, colliders.shapes.rotation, colliders.meshes.vertices)
    return [array[when].copy() for array in both]


def test_a_running_simulation_is_left_alone_by_bad_calls() -> None:
    """Afterwards everything is where it is in one that nobody bothered."""
    sim, twin = Simulation(a_scene()), Simulation(a_scene())
    good = {"position": (0.0, 0.1, -4.0), "rotation": QUARTER}

    @settings(max_examples=150, deadline=None)
    @given(st.data())
    def bother(data: st.DataObject) -> None:
        a_mesh = data.draw(st.booleans())
        options = {"collider": int(a_mesh), **good, **({"vertices": SHEET + 0.1} if a_mesh else {})}
        bad_values = {
            "collider": st.one_of(not_an_index, st.integers(min_value=2), st.integers(max_value=-1), st.just([0, 1])),
            "position": not_a_vector.filter(lambda value: value is not None) | too_far,
            "rotation": not_a_rotation.filter(lambda value: value is not None),
            "vertices": (not_vertices | st.sampled_from([SHEET[:3], [*SHEET, SHEET[0]], 1e6 * SHEET])).filter(
                lambda value: value is not None
            )
            if a_mesh
            else st.just(SHEET),
        }
        field = data.draw(st.sampled_from(sorted(bad_values)))
        at_once = data.draw(st.booleans())
        refuse(
            lambda: sim.move_collider(**{**options, field: data.draw(bad_values[field])}, at_once=at_once),
            f"{field} is",
        )

    bother()
    for matrix in (2.0 * np.eye(3), np.diag([1.0, 1.0, -1.0]), np.ones((3, 3)), np.zeros((3, 3))):
        refuse(lambda matrix=matrix: sim.move_collider(0, (0.0, 0.0, -4.0), matrix), "rotation is")
    for points in (SHEET[:3], 1e6 * SHEET, np.nan * SHEET):
        refuse(lambda points=points: sim.move_collider(1, (0.0, 0.0, -4.0), QUARTER, points), "vertices is")
    sim.step_frame()
    twin.step_frame()
    assert sim.state().tobytes() == twin.state().tobytes()
    for place, of_twin in zip(places(sim), places(twin), strict=True):
        assert place.tobytes() == of_twin.tobytes()


@pytest.mark.parametrize("rod_contact", [False, True])
def test_without_colliders_there_is_none_to_move(rod_contact: bool) -> None:
    scene = Scene(rod_contact=rod_contact)
    scene.add(a_rod())
    sim = Simulation(scene)
    for number in (-1, 0, 1):
        refuse(lambda number=number: sim.move_collider(number, (0.0, 0.0, 0.0)), "collider is")


# Good input


def forms(value: Any) -> list[Any]:
    """Of whole numbers: all the same to a person."""
    whole = np.array(value)
    if whole.ndim == 0:
        return [value, float(value), Fraction(value), whole, *(whole.astype(kind)[()] for kind in ("f4", "f8", "u1"))]
    some = [value, whole.tolist(), whole, np.asfortranarray(whole), [np.array(row) for row in whole]]
    return [*some, *(whole.astype(kind) for kind in ("i1", "i8", "f4", "f8", object))]


@ALL
def test_good_input_in_all_its_forms(shape: type) -> None:
    for field, value in GOOD[shape].items():
        wanted = None
        for form in forms(value):
            if field == "triangles" and np.asarray(form).dtype.kind not in "iu":
                continue
            made = shape(**{**GOOD[shape], field: form})
            got = getattr(made, field)
            if field in ("radius", "length"):
                assert type(got) is float
                assert got == value
            else:
                assert got.dtype == (np.int64 if field == "triangles" else np.float64)
                exact = np.array(value) / (5.0 if field == "normal" else 1.0)
                assert np.array_equal(got, exact)
            scene = Scene()
            scene.collide(made)
            wanted = wanted or scene.fingerprint()
            assert scene.fingerprint() == wanted


def test_triangles_of_two_points_are_left_out() -> None:
    assert Mesh(SHEET, [(0, 1, 1), *HALVES, (2, 2, 2)]).triangles.tolist() == [[0, 1, 2], [0, 2, 3]]


def test_friction_thickness_and_path_are_kept() -> None:
    scene = Scene(rod_contact=np.True_)
    assert scene.rod_contact is True
    assert [scene.collide(Plane(), friction=0, thickness=1), scene.collide(Plane(), path=max)] == [0, 1]
    assert (scene.colliders[0].friction, scene.colliders[0].thickness, scene.colliders[0].path) == (0.0, 1.0, None)
    assert scene.colliders[1].path is max
    assert scene.add(a_rod(), friction=np.float32(100)) == 0
    assert scene.entries[0].friction == 100.0


@pytest.mark.parametrize(
    ("shape", "field"),
    [
        pytest.param(shape, field, id=f"{shape.__name__}-{field}")
        for shape, good in GOOD.items()
        for field, value in good.items()
        if not isinstance(value, int)
    ],
)
def test_shapes_keep_copies_that_nobody_can_write_to(shape: type, field: str) -> None:
    given_array = np.array(GOOD[shape][field], dtype=np.int64 if field == "triangles" else np.float64)
    made = shape(**{**GOOD[shape], field: given_array})
    kept = getattr(made, field)
    before = kept.copy()
    given_array[:] = 7
    assert np.array_equal(kept, before)
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 7
    with pytest.raises(AttributeError):
        setattr(made, field, before)
    assert getattr(made, field) is kept


def test_the_fingerprint_knows_colliders() -> None:
    """Every field of every shape, what they are, how many there are and how they touch."""

    def of(*colliders: Any, rod_friction: float = 0.4, rod_contact: bool = False, **options: Any) -> str:
        scene = Scene(rod_contact=rod_contact)
        scene.add(a_rod(), friction=rod_friction)
        for collider in colliders:
            scene.collide(collider, **options)
        return scene.fingerprint()

    other: dict[str, Any] = {
        "point": (1, 2, 4),
        "normal": (0, 4, 3),
        "radius": 2.5,
        "position": (1, 2, 4),
        "length": 3.5,
        "rotation": np.eye(3),
        "size": (1, 2, 4),
        "vertices": SHEET + 1.0,
        "triangles": HALVES[:1],
    }
    prints = [of(), of(rod_friction=0.3), of(rod_contact=True)]
    for shape, good in GOOD.items():
        one = shape(**good)
        assert of(one) == of(shape(**good))
        prints += [of(one), of(one, one), of(one, Plane()), of(Plane(), one), of(one, friction=0.3)]
        prints += [of(one, rod_friction=0.3), of(one, thickness=0.1), of(one, path=lambda t: None)]
        prints += [of(shape(**{**good, field: other[field]})) for field in good]
    assert len(set(prints)) == len(prints)
