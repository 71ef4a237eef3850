"""Random sessions in which rods are edited at any frame. Each rod has a twin, which is no rod and is edited in the same way: it
tells what the drawn shape should be, whatever was played, undone, saved and opened in between.
"""

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from tendril.addon import memory
from tendril.addon.bridge.curves import read_rows
from tendril.addon.status import status_of
from tendril.tests.addon.building import activate, add_spline, line
from tendril.tests.addon.test_panels import drawn_of
from tendril.tests.addon.test_state_machine import LAST, Session

TWIN = "twin"  # property of a rod


def make_twin(obj):
    twin = bpy.data.objects.new("Twin", obj.data.copy())
    bpy.context.collection.objects.link(twin)
    twin.matrix_world = obj.matrix_world
    obj[TWIN] = twin


def places(obj):
    """Control points in world space."""
    points = [
        point.co[:3]
        for spline in obj.data.splines
        for point in (spline.bezier_points if spline.type == "BEZIER" else spline.points)
    ]
    matrix = np.array(obj.matrix_world)
    return np.array(points).reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]


def select_one_in(count):
    """Selects control points of the edited curve."""
    bpy.ops.curve.select_all(action="DESELECT")
    for spline in bpy.context.object.data.splines:
        select(spline, count)


def select(spline, count):
    for point in list(spline.bezier_points if spline.type == "BEZIER" else spline.points)[::count]:
        for name in ("select", "select_control_point", "select_left_handle", "select_right_handle"):
            if hasattr(point, name):
                setattr(point, name, True)


class EditSession(Session):
    def __init__(self, seed, folder):
        super().__init__(seed, folder)
        for obj in self.rods:
            make_twin(obj)
        bpy.ops.ed.undo_push(message="twins")
        self.ran = {}

    def both(self, obj, edit):
        """The twin at the frame of the rod, too. Numbers are drawn before."""
        for one in (obj, obj[TWIN]):
            activate(one)
            edit(one)

    def in_edit_mode(self, edit):
        obj, jumps = self.some_rod(), self.rng.random() < 0.3
        for one in (obj, obj[TWIN]):
            activate(one)
            bpy.ops.object.mode_set(mode="EDIT")
            bpy.ops.curve.select_all(action="SELECT")
            edit()
            if jumps and one == obj:
                self.jump()
            bpy.ops.object.mode_set(mode="OBJECT")

    def move_points(self):
        count, way = self.rng.randint(1, 3), [self.rng.uniform(-0.2, 0.2) for _ in range(3)]

        def edit():
            select_one_in(count)
            bpy.ops.transform.translate(value=way)

        self.in_edit_mode(edit)

    def move_points_by_a_script(self):
        chosen, way = self.rng.randint(0, 2), self.rng.uniform(-0.2, 0.2)

        def edit(obj):
            spline = obj.data.splines[0]
            points = spline.bezier_points if spline.type == "BEZIER" else spline.points
            for point in list(points)[chosen::2]:
                if spline.type == "BEZIER":
                    for name in ("handle_left_type", "handle_right_type"):
                        setattr(point, name, "FREE")
                    point.handle_left[2] += way
                    point.handle_right[2] += way
                point.co[2] += way

        self.both(self.some_rod(), edit)

    def subdivide(self):
        if sum(len(obj.data.splines[0].points) for obj in self.rods if obj.data.splines) < 60:
            self.in_edit_mode(lambda: bpy.ops.curve.subdivide())

    def reverse(self):
        self.in_edit_mode(lambda: bpy.ops.curve.switch_direction())

    def smoothen(self):
        self.in_edit_mode(lambda: bpy.ops.curve.smooth())

    def add_spline(self):
        y = self.rng.uniform(2.0, 9.0)
        self.both(self.some_rod(), lambda obj: add_spline(obj.data, "POLY", line(5, y=y)))

    def remove_spline(self):
        obj = self.some_rod()
        if len(obj.data.splines) > 1:
            self.both(obj, lambda one: one.data.splines.remove(one.data.splines[0]))

    def transform_object(self):
        scale, angle = self.rng.uniform(0.7, 1.4), self.rng.uniform(-1.0, 1.0)

        def edit(obj):
            obj.matrix_world = Matrix.Rotation(angle, 4, "Y") @ Matrix.Scale(scale, 4) @ obj.matrix_world
            bpy.context.view_layer.update()

        self.both(self.some_rod(), edit)

    def apply_transform(self):
        chosen = {name: self.rng.random() < 0.6 for name in ("location", "rotation", "scale")}
        obj = self.some_rod()
        self.both(obj, lambda _: bpy.ops.object.transform_apply(**chosen))

    def transform_data(self):
        matrix = Matrix.Rotation(self.rng.uniform(-1.0, 1.0), 4, "X") @ Matrix.Scale(self.rng.uniform(0.8, 1.2), 4)
        self.both(self.some_rod(), lambda obj: obj.data.transform(matrix))

    def join(self):
        if len(self.rods) < 2:
            return
        into, other = self.rng.sample(self.rods, 2)
        for one, two in ((into, other), (into[TWIN], other[TWIN])):
            activate(one)
            two.select_set(True)
            bpy.ops.object.join()

    def separate(self):
        obj = self.some_rod()
        if len(obj.data.splines) < 2 or len(self.rods) > 4:
            return
        made = []
        for one in (obj, obj[TWIN]):
            before = set(bpy.data.objects)
            activate(one)
            bpy.ops.object.mode_set(mode="EDIT")
            bpy.ops.curve.select_all(action="DESELECT")
            select(one.data.splines[0], 1)
            bpy.ops.curve.separate()
            bpy.ops.object.mode_set(mode="OBJECT")
            made += set(bpy.data.objects) - before
        made[0][TWIN] = made[1]

    def duplicate(self):
        if len(self.rods) < 4:
            obj = self.some_rod()
            twin = obj[TWIN]
            activate(obj)
            bpy.ops.object.duplicate()
            copied = bpy.context.view_layer.objects.active
            activate(twin)
            bpy.ops.object.duplicate()
            copied[TWIN] = bpy.context.view_layer.objects.active

    def undo(self):
        result = super().undo()
        if any(TWIN not in obj for obj in self.rods):  # that was the step before the twins were made
            return self.redo() and {"CANCELLED"}
        return result

    def make_single_user(self):
        self.both(self.some_rod(), lambda obj: setattr(obj, "data", obj.data.copy()))

    EDITS = (
        *(move_points, move_points, move_points_by_a_script, subdivide, reverse, smoothen, add_spline, remove_spline),
        *(
            transform_object,
            apply_transform,
            apply_transform,
            transform_data,
            join,
            separate,
            duplicate,
            make_single_user,
        ),
    )
    ACTIONS = (
        *(*EDITS, Session.play, Session.play, Session.jump, Session.jump, Session.jump, undo, undo),
        *(Session.redo, Session.redo, Session.rename, Session.delete, Session.save_and_reload, Session.change_setting),
        *(Session.change_scene, Session.look_into_edit_mode, Session.add_unrelated, Session.wrong_types),
    )

    def check(self):
        scene = bpy.context.scene
        for obj in self.rods:
            assert np.isfinite(read_rows(obj.data)).all()
        if self.rng.random() < 0.3:
            scene.frame_set(self.rng.randint(2, LAST))
            for obj in self.rods:
                self.explained(obj)
        if self.rng.random() < 0.4:
            for obj in self.rods:
                drawn_of(obj)
            scene.frame_set(1)
            for obj in self.rods:
                expected = places(obj[TWIN])
                found = places(obj)
                assert found.shape == expected.shape, obj.name
                limit = 3e-5 * max(1.0, np.abs(expected).max())
                assert np.abs(found - expected).max() < limit, (obj.name, np.abs(found - expected).max())

    def explained(self, obj):
        """A rod that does not show the frame of the scene says why."""
        scene = bpy.context.scene
        running, said = memory.running_of(scene), status_of(obj, scene)
        moment = None if running is None else running.moment(scene.frame_current)
        rows = None if moment is None else moment.rows.get(obj.tendril.uid)
        if rows is None or not np.array_equal(rows, read_rows(obj.data)):
            assert said.icon in ("ERROR", "FILE_REFRESH", "PLAY", "DISK_DRIVE"), said


def run(seed, folder, count):
    session = EditSession(seed, folder)
    for _ in range(count):
        session.act()
        session.check()
    return session.ran


@pytest.mark.parametrize("seed", [0, 7, 21, 22])  # these have found something
def test_random_sessions_keep_edits(seed, tmp_path):
    ran = run(seed, tmp_path, 25)
    assert sum(ran.values()) >= 8


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 300))
def test_many_random_sessions_keep_edits(seed, tmp_path):
    ran = run(seed, tmp_path, 60)
    assert ran.get("undo", 0) + ran.get("redo", 0) > 0
    assert sum(ran.get(edit.__name__, 0) for edit in EditSession.EDITS) > 10
