"""Force fields against their formulas."""

import numpy as np
import pytest
from tendril.core import Falloff, Field, Material, Rod, Scene, Simulation, TendrilError

SIDEWAYS = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])  # z along x


def accelerations(field, points, velocity=(0.0, 0.0, 0.0), h=1e-4):
    """Of stiff pieces of rod at points, in a step so short that they do not feel their neighbours: v(h) - v(0) over h."""
    from tendril.core.forces.field_kernels import apply_fields

    x = np.asarray(points, dtype=float)
    v, out = np.tile(velocity, (len(x), 1)).astype(float), np.zeros((len(x), 3))
    apply_fields(field.numbers(), np.arange(len(x)), x, v, np.full(len(x), 2.0), h, out)
    return out / 2.0


RNG = np.random.default_rng(1)
POINTS = RNG.uniform(-2.0, 2.0, (20, 3))


def test_wind_blows_along_z_and_weakens_with_distance():
    field = Field("wind", 3.0, (0.5, 0.0, 0.0), SIDEWAYS, distance=Falloff(2.0, 0.3, 2.0))
    a = accelerations(field, POINTS)
    distance = np.linalg.norm(POINTS - [0.5, 0.0, 0.0], axis=1)
    size = np.where(distance > 2.0, 0.0, np.where(distance < 0.3, 1.0, (1.0 + distance - 0.3) ** -2.0))
    assert np.allclose(a, 3.0 * size[:, None] * [1.0, 0.0, 0.0])
    assert 0 < (size == 0.0).sum() < 20


def test_force_pushes_away_from_points_lines_and_planes():
    for shape, keep in (("point", [1, 1, 1]), ("line", [1, 1, 0]), ("plane", [0, 0, 1])):
        away = POINTS * keep
        unit = away / np.linalg.norm(away, axis=1)[:, None]
        assert np.allclose(accelerations(Field("force", -2.0, shape=shape), POINTS), -2.0 * unit)
    away = POINTS / np.linalg.norm(POINTS, axis=1)[:, None] ** 3
    assert np.allclose(accelerations(Field("force", 5.0, gravitation=True), POINTS), 5.0 * away)


def test_vortex_turns_about_z_in_proportion_to_the_distance():
    a = accelerations(Field("vortex", 1.5), POINTS)
    around = np.cross([0.0, 0.0, 1.0], POINTS)
    unit = around / np.linalg.norm(around, axis=1)[:, None]
    assert np.allclose(a, 1.5 * np.linalg.norm(POINTS, axis=1)[:, None] * unit)


def test_magnetic_fields_do_no_work():
    v = np.array([1.0, -2.0, 0.5])
    a = accelerations(Field("magnetic", 3.0, shape="plane"), POINTS, v)
    assert np.allclose(a, np.cross(v, [0.0, 0.0, 3.0]))
    a = accelerations(Field("magnetic", 3.0), POINTS, v)
    assert np.abs(a @ v).max() < 1e-12


def test_harmonic_pulls_to_its_length_and_damps():
    unit = POINTS / np.linalg.norm(POINTS, axis=1)[:, None]
    a = accelerations(Field("harmonic", 4.0, rest_length=0.5), POINTS)
    assert np.allclose(a, -4.0 * (POINTS - 0.5 * unit))
    v = np.array([0.3, 0.0, 0.0])
    damped = accelerations(Field("harmonic", 4.0, damping=0.5), POINTS, v, h=1e-9)
    assert np.allclose(damped, -4.0 * POINTS - 0.5 * 2.0 * 2.0 * v)


def test_drag_is_linear_and_quadratic_and_never_turns_speed_round():
    v = np.array([3.0, 0.0, 4.0])
    a = accelerations(Field("drag", 0.2, damping=0.7), POINTS, v, h=1e-9)
    assert np.allclose(a, -(0.2 * 5.0 + 0.7) * v)
    strong = accelerations(Field("drag", 50.0, damping=50.0), POINTS, v, h=0.1)
    assert np.allclose(v + 0.1 * strong, 0.0, atol=1e-9)


def test_flow_slows():
    v = np.array([0.0, 2.0, 0.0])
    a = accelerations(Field("wind", 1.0, flow=0.5), POINTS, v, h=1e-9)
    assert np.allclose(a, [0.0, -1.0, 1.0])


def test_turbulence_is_smooth_without_a_mean_and_of_its_size():
    s = np.linspace(0.0, 200.0, 20_001)
    line = np.stack([s, 0.37 + 0 * s, 0.11 + 0 * s], axis=1)
    a = accelerations(Field("turbulence", 2.0, size=0.5), line)
    assert np.abs(a).max() < 4.0
    assert np.abs(a.mean(axis=0)).max() < 0.1
    assert np.all(a.std(axis=0) > 0.2)
    assert np.abs(np.diff(a, axis=0)).max() < 1.0  # steps of a fiftieth of its size
    assert not np.allclose(a, accelerations(Field("turbulence", 2.0, size=0.5, seed=1), line))


def test_tubes_and_cones():
    field = Field("wind", 1.0, falloff="tube", distance=Falloff(most=1.0), radial=Falloff(most=0.5))
    inside = (np.abs(POINTS[:, 2]) <= 1.0) & (np.hypot(POINTS[:, 0], POINTS[:, 1]) <= 0.5)
    points = np.vstack([POINTS, [[0.1, 0.2, 0.3], [0.1, 0.2, -1.1]]])
    assert np.array_equal(accelerations(field, points)[:, 2] > 0.0, [*inside, True, False])
    cone = Field("wind", 1.0, falloff="cone", side="positive", radial=Falloff(most=30.0))
    assert np.array_equal(
        accelerations(cone, [[0.5, 0.0, 1.0], [0.6, 0.0, 1.0], [0.0, 0.0, -1.0]])[:, 2] > 0.0, [True, False, False]
    )


def free_rod(model="der", **options):
    rod = Rod.from_points([[0.1 * k, 0.0, 0.0] for k in range(6)], 0.01, Material.preset("nylon rope"))
    scene = Scene((0.0, 0.0, 0.0), **options)
    scene.add(rod, model=model)
    return scene


@pytest.mark.parametrize("model", ["der", "net"])
def test_a_rod_in_a_wind_falls_like_in_gravity_whatever_its_segments(model):
    scene = free_rod(model)
    scene.add_field(Field("wind", 3.0, rotation=SIDEWAYS))
    frame = list(Simulation(scene, threads=1).frames(1, 13))[-1]
    assert np.allclose(frame.velocities(0), [1.5, 0.0, 0.0], rtol=1e-6)


def three_rods(model):
    """Side by side, free, where gravity is 2 m/s2."""
    scene = Scene((0.0, 0.0, -2.0))
    points = np.array([[0.1 * k, 0.0, 0.0] for k in range(6)])
    for y in (0.0, 1.0, 2.0):
        scene.add(Rod.from_points(points + np.array([0.0, y, 0.0]), 0.01, Material.preset("nylon rope")), model=model)
    return scene


def after(sim, first, last):
    """The velocities of three rods half a second later."""
    frame = list(sim.frames(first, last))[-1]
    return [frame.velocities(rod) for rod in range(3)]


@pytest.mark.parametrize("model", ["der", "net", "compact", "der2008", "clothoid", "corde"])
def test_gravity_counts_as_much_for_a_rod_as_its_weight_says(model):
    sim = Simulation(three_rods(model), threads=1)
    sim.surround(gravity_weights={0: 0.25, 2: -1.0})
    for v, expected in zip(after(sim, 1, 13), (-0.25, -1.0, 1.0), strict=True):
        assert np.allclose(v, [0.0, 0.0, expected], atol=1e-6)


@pytest.mark.parametrize("model", ["der", "net", "compact", "der2008", "clothoid", "corde"])
def test_who_feels_no_field_falls_as_if_there_was_none(model):
    scene = three_rods(model)
    scene.add_field(Field("wind", 3.0, rotation=SIDEWAYS, rods=[1]))
    one, blown, other = after(Simulation(scene, threads=1), 1, 13)
    assert np.allclose([one, other], [0.0, 0.0, -1.0], atol=1e-6)
    assert np.allclose(blown, [1.5, 0.0, -1.0], atol=0.02)


@pytest.mark.parametrize("model", ["der", "net", "der2008", "corde"])
def test_a_field_acts_on_the_rods_it_names_until_it_is_gone(model):
    scene = three_rods(model)
    scene.add_field(Field("wind", 3.0, rotation=SIDEWAYS, rods=[1]))
    sim = Simulation(scene, threads=1)
    sim.surround(gravity_weights={0: 0.25})
    for v, expected in zip(after(sim, 1, 13), ([0.0, -0.25], [1.5, -1.0], [0.0, -1.0]), strict=True):
        assert np.allclose(v[:, [0, 2]], expected, atol=1e-6)
    sim.surround(fields=[], gravity_weights={2: 0.0})
    for v, expected in zip(after(sim, 13, 25), ([0.0, -1.25], [1.5, -2.0], [0.0, -1.0]), strict=True):
        assert np.allclose(v[:, [0, 2]], expected, atol=1e-6)


@pytest.mark.parametrize("model", ["der", "net"])
@pytest.mark.parametrize("gravity", [9.81, 9.81000042, 0.5 * 9.81, 1.62, 3.71])
def test_a_rod_falls_from_rest_by_half_g_t_squared(model, gravity):
    """From the first step on, where round-off is all there is to compare energies with."""
    scene = Scene((0.0, 0.0, -gravity))
    s = np.linspace(0.0, 1.0, 12)
    points = np.stack([s, 0.0 * s, 0.03 * np.cos(4.0 * s)], axis=1).astype(np.float32)
    scene.add(Rod.from_points(points, 0.01, Material.preset("nylon rope")), model=model)
    frame = list(Simulation(scene, threads=1).frames(1, 13))[-1]
    assert np.allclose(frame.positions(0), points - [0.0, 0.0, 0.125 * gravity], atol=1e-9)


def test_a_field_of_a_surface_acts_on_the_rods_it_names():
    scene = free_rod()
    spared = scene.add(scene.entries[0].rod)
    vertices, triangles = sphere()
    scene.add_field(Field("force", 2.0, shape="surface", vertices=vertices, triangles=triangles, rods=[0]))
    frame = list(Simulation(scene, threads=1).frames(1, 4))[-1]
    assert np.abs(frame.velocities(spared)).max() == 0.0
    assert np.abs(frame.velocities(0)).max() > 0.01


def test_a_rod_in_a_harmonic_field_swings_with_its_period():
    scene = free_rod()
    strength = (2.0 * np.pi) ** 2
    scene.add_field(Field("harmonic", strength, position=(0.25, 0.0, 0.3), shape="plane"))
    sim = Simulation(scene, 24.0, substeps=32, threads=1)
    heights = [frame.positions(0)[:, 2].mean() for frame in sim.frames(1, 25)]
    assert heights[-1] == pytest.approx(0.0, abs=0.02)
    assert max(heights) == pytest.approx(0.6, rel=0.04)


def test_surroundings_change_from_frame_to_frame_and_a_restored_run_has_the_same_bits():
    def run(sim, first, last):
        for k in range(first, last):
            sim.surround(gravity=(0.0, 0.0, -0.1 * k), wind=(0.3 * k, 0.0, 0.0), fields=[Field("force", 0.2 * k)])
            frame = sim.step_frame()
        return frame.positions(0)

    sim = Simulation(free_rod(air_density=1.2), threads=1)
    run(sim, 1, 4)
    state = sim.state()
    later = run(sim, 4, 8)
    other = Simulation(free_rod(air_density=1.2), threads=1)
    other.restore(state, 4)
    assert np.array_equal(run(other, 4, 8), later)
    assert later[:, 2].max() < 0.0


def test_bad_fields_are_refused():
    for bad in (
        {"kind": "love"},
        {"kind": "wind", "strength": np.nan},
        {"kind": "wind", "rotation": np.zeros((3, 3))},
        {"kind": "drag", "damping": -1.0},
        {"kind": "force", "shape": "cube"},
    ):
        with pytest.raises(TendrilError):
            Field(**bad)
    with pytest.raises(TendrilError, match="field"):
        Scene().add_field("wind")
    with pytest.raises(TendrilError, match="rods"):
        free_rod().add_field(Field("wind", rods=[1]))
    sim = Simulation(free_rod(), threads=1)
    for weights in ({1: 0.5}, {0: np.nan}):
        with pytest.raises(TendrilError):
            sim.surround(gravity=(0.0, 0.0, -5.0), gravity_weights=weights)
    assert not sim.step_frame().velocities(0).any()  # what was refused changed nothing


def test_a_field_of_points_is_the_sum_of_fields_at_each():
    vertices, normals = RNG.uniform(-1.0, 1.0, (5, 3)), RNG.normal(size=(5, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    given = {"shape": "points", "vertices": vertices, "normals": normals, "distance": Falloff(1.5, 0.1)}
    a = accelerations(Field("force", 2.0, (0.1, 0.2, 0.3), **given), POINTS)
    alone = [accelerations(Field("force", 2.0, vertex, distance=Falloff(1.5, 0.1)), POINTS) for vertex in vertices]
    assert np.allclose(a, np.sum(alone, axis=0))
    away = np.linalg.norm(POINTS[:, None] - vertices, axis=2)
    size = np.where(away < 0.1, 1.0, (0.9 + away) ** -1.5)
    assert np.allclose(accelerations(Field("wind", 2.0, **given), POINTS), 2.0 * size @ normals)


def test_a_vortex_of_points_turns_about_the_axis_of_the_whole():
    vertices, centre = RNG.uniform(-1.0, 1.0, (2, 3)), np.array([0.1, 0.2, 0.3])
    field = Field(
        "vortex", 1.5, centre, shape="points", vertices=vertices, normals=np.ones((2, 3)), distance=Falloff(1.0)
    )
    v = np.array([0.3, -0.2, 0.1])
    k = 1.5 / (1.0 + np.linalg.norm(POINTS[:, None] - vertices, axis=2))
    stream = np.cross([0.0, 0.0, 1.0], POINTS - centre)
    inward = np.cross([0.0, 0.0, 1.0], stream)
    expected = k.sum(axis=1)[:, None] * stream + (k**2).sum(axis=1)[:, None] * inward - 2.0 * v
    assert np.allclose(accelerations(field, POINTS, v), expected)


def test_a_harmonic_field_of_points_pulls_a_rods_vertices_to_one_each():
    vertices = RNG.uniform(-1.0, 1.0, (3, 3))
    field = Field("harmonic", 4.0, shape="points", vertices=vertices, normals=np.ones((3, 3)))
    assert np.allclose(accelerations(field, POINTS), -4.0 * (POINTS - vertices[np.arange(20) % 3]))


def sphere(count=24, radius=0.7):
    """A ball of triangles."""
    theta, phi = np.meshgrid(np.linspace(0.01, np.pi - 0.01, count), np.linspace(0.0, 2.0 * np.pi, 2 * count)[:-1])
    vertices = radius * np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], axis=2)
    rows, columns = theta.shape
    i, j = np.meshgrid(np.arange(rows), np.arange(columns - 1), indexing="ij")
    a, b, c, d = (row % rows * columns + column for row, column in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)))
    triangles = np.concatenate([np.stack([a, d, c], axis=2), np.stack([a, c, b], axis=2)]).reshape(-1, 3)
    return vertices.reshape(-1, 3), triangles


def test_a_field_of_a_surface_acts_from_its_nearest_point():
    """On a ball, that is the one towards its centre; a fine mesh comes near to it."""
    from tendril.core.forces.surface_kernels import apply_surface, balls_around

    vertices, triangles = sphere()
    far = np.linalg.norm(POINTS, axis=1)
    outside = far > 0.8
    assert outside.sum() > 10
    for kind, expected in (
        ("force", 2.0 * (0.3 + far) ** -1.0 * np.sign(far - 0.7)),
        ("wind", 2.0 * (0.3 + far) ** -1.0),
    ):
        field = Field(kind, 2.0, shape="surface", vertices=vertices, triangles=triangles, distance=Falloff(1.0))
        out = np.zeros((len(POINTS), 3))
        given = field.numbers()[0], vertices, triangles, balls_around(vertices, triangles)
        apply_surface(*given, POINTS, np.zeros_like(POINTS), np.ones(len(POINTS)), 1e-4, out)
        away = POINTS / far[:, None]
        assert np.abs(out - expected[:, None] * away)[outside].max() < 0.15
        assert np.abs((out * away).sum(axis=1) - expected)[outside].max() < 0.02
    rod = Rod.from_points(
        np.stack([np.linspace(0.9, 1.9, 9), np.zeros(9), np.zeros(9)], axis=1), 0.01, Material.preset("rubber")
    )
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    scene.add(rod)
    scene.add_field(Field("force", -3.0, shape="surface", vertices=vertices, triangles=triangles))
    frame = Simulation(scene, 24.0).step_frame()
    assert frame.positions(0)[:, 0].mean() - 1.4 == pytest.approx(-0.5 * 3.0 / 24.0**2, rel=0.01)


@pytest.mark.parametrize(
    "given",
    [
        {"shape": "points"},
        {"shape": "points", "vertices": np.zeros((2, 3)), "normals": np.zeros((3, 3))},
        {"shape": "surface", "vertices": np.zeros((3, 3))},
        {"shape": "surface", "vertices": np.zeros((3, 3)), "triangles": [[0, 1, 3]]},
        {"shape": "surface", "vertices": np.zeros((3, 3)), "triangles": np.zeros((0, 3))},
        {"shape": "surface", "vertices": np.zeros((3, 3)), "triangles": [[0.5, 1.0, 2.0]]},
    ],
)
def test_shapes_without_what_they_are_made_of_are_refused(given):
    with pytest.raises(TendrilError):
        Field("force", **given)
