"""Random sequences of what people do to rods in Blender. The drawn shape survives, nothing raises, and playback equals the bake."""

import contextlib
import random

import bpy
import numpy as np
import pytest
from tendril.addon import edits, memory
from tendril.addon.bridge.curves import drawn_rows, read_rows
from tendril.addon.bridge.rods import rods_in
from tendril.tests.addon.building import activate, line, make_curve, make_rod

LAST = 6


class Session:
    """A Blender session, and what the drawn shapes of its rods should be."""

    def __init__(self, seed, folder):
        self.rng, self.folder, self.ran = random.Random(seed), folder, {}
        bpy.context.scene.frame_end = LAST
        make_rod(("POLY", line(8)))
        make_rod(("BEZIER", line(4, y=1.0)), name="Other")
        self.path = str(folder / "scene.blend")
        bpy.ops.wm.save_as_mainfile(filepath=self.path)
        bpy.ops.ed.undo_push(message="start")

    @property
    def rods(self):
        return sorted(rods_in(bpy.context.scene.objects), key=lambda obj: obj.name)

    def some_rod(self):
        return self.rng.choice(self.rods) if self.rods else None

    def play(self):
        for number in range(1, self.rng.randint(2, LAST) + 1):
            bpy.context.scene.frame_set(number)

    def jump(self):
        bpy.context.scene.frame_set(self.rng.randint(0, LAST + 2), subframe=self.rng.choice([0.0, 0.0, 0.5]))

    def look_into_edit_mode(self):
        activate(self.some_rod())
        bpy.ops.object.mode_set(mode="EDIT")
        if self.rng.random() < 0.5:
            self.jump()
        bpy.ops.object.mode_set(mode="OBJECT")

    def rename(self):
        obj = self.some_rod()
        obj.name, obj.data.name = f"Renamed {self.rng.random():.3f}", "Data"

    def change_setting(self):
        self.some_rod().tendril.material = self.rng.choice(["RUBBER", "SPRING_STEEL", "NYLON_ROPE"])

    def change_scene(self):
        bpy.context.scene.tendril.substeps = self.rng.randint(1, 4)

    def duplicate(self):
        if len(self.rods) < 4:
            activate(self.some_rod())
            bpy.ops.object.duplicate()

    def delete(self):
        if len(self.rods) > 1:
            bpy.data.objects.remove(self.rods[-1])

    def add_unrelated(self):
        make_curve(("POLY", line(3, y=5.0)), name="Unrelated")

    def save_and_reload(self):
        bpy.ops.wm.save_mainfile()
        bpy.ops.wm.open_mainfile(filepath=self.path)
        bpy.ops.ed.undo_push(message="reloaded")

    def raising_driver(self):
        obj = self.some_rod()
        driver = obj.driver_add("location", 0).driver
        driver.expression = "1 / 0"

    def wrong_property(self):
        self.some_rod().data["tendril_note"] = [1, 2, 3]

    def wrong_types(self):
        """Values of properties of another type, as a damaged file or another version has them."""
        holder = self.some_rod() if self.rng.random() < 0.5 else bpy.context.scene
        value = self.rng.choice(["text", 1e30, [1, 2]])
        with contextlib.suppress(TypeError, KeyError):
            stored = holder.bl_system_properties_get() if hasattr(holder, "bl_system_properties_get") else holder
            stored["tendril"][self.rng.choice(["radius", "substeps", "material", "cache_name"])] = value

    def hold_by_bone(self):
        """A rod that follows a bone, which is then deleted."""
        obj = self.some_rod()
        armature = bpy.data.objects.new("Arm", bpy.data.armatures.new("Arm"))
        bpy.context.collection.objects.link(armature)
        activate(armature)
        bpy.ops.object.mode_set(mode="EDIT")
        armature.data.edit_bones.new("Tip").tail = (0.0, 0.0, 1.0)
        bpy.ops.object.mode_set(mode="OBJECT")
        item = obj.tendril.attachments.add()
        item.target, item.bone, item.where = armature, "Tip", "END"
        self.play()
        bpy.ops.object.mode_set(mode="EDIT")
        armature.data.edit_bones.remove(armature.data.edit_bones["Tip"])
        bpy.ops.object.mode_set(mode="OBJECT")
        bpy.context.scene.frame_set(1)
        bpy.context.scene.frame_set(2)
        assert memory.status(obj.tendril.uid)  # the panel says what is wrong
        obj.tendril.attachments.remove(len(obj.tendril.attachments) - 1)

    def render(self):
        scene = bpy.context.scene
        scene.render.engine, scene.cycles.samples, scene.cycles.use_denoising = "CYCLES", 1, False
        scene.render.resolution_x = scene.render.resolution_y = 4
        if scene.camera is None:
            scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
            scene.collection.objects.link(scene.camera)
        bpy.ops.render.render()

    def link_and_override(self):
        """A rod of another file, linked and overridden; it is removed again, because its shape is not one of ours."""
        other = str(self.folder / "library.blend")
        bpy.data.libraries.write(other, {self.some_rod()}, fake_user=True)
        with bpy.data.libraries.load(other, link=True) as (there, here):
            here.objects = there.objects[:1]
        linked = here.objects[0]
        bpy.context.collection.objects.link(linked)
        self.jump()
        local = linked.override_create(remap_local_usages=True)
        self.jump()
        library = linked.library
        if local is not None:
            bpy.data.objects.remove(local)
        bpy.data.libraries.remove(library)

    def undo(self):
        return bpy.ops.ed.undo() if bpy.ops.ed.undo.poll() else {"CANCELLED"}

    def redo(self):
        return bpy.ops.ed.redo() if bpy.ops.ed.redo.poll() else {"CANCELLED"}

    ACTIONS = (
        *(
            play,
            jump,
            jump,
            look_into_edit_mode,
            rename,
            change_setting,
            change_scene,
            duplicate,
            delete,
            add_unrelated,
        ),
        *(save_and_reload, raising_driver, wrong_property, wrong_types, hold_by_bone, render, link_and_override),
        *(undo, undo, redo),
    )

    def act(self):
        action = self.rng.choice(self.ACTIONS)
        if action.__name__ not in ("undo", "redo"):
            result = action(self)
            bpy.ops.ed.undo_push(message=action.__name__)
        else:
            try:
                result = action(self)
            except RuntimeError:  # nothing to undo
                result = {"CANCELLED"}
        if result is None or "FINISHED" in result:
            self.ran[action.__name__] = self.ran.get(action.__name__, 0) + 1

    def check(self, shapes):
        for obj in self.rods:
            drawn = drawn_rows(obj.data)
            assert drawn is not None
            assert any(np.array_equal(drawn, shape) for shape in shapes), obj.name
            assert np.isfinite(read_rows(obj.data)).all()
            assert "Unexpected" not in memory.status(obj.tendril.uid)
        assert "Unexpected" not in memory.info(bpy.context.scene)


def run(seed, folder, count):
    session = Session(seed, folder)
    shapes = [read_rows(obj.data) for obj in session.rods]
    for _ in range(count):
        session.act()
        session.check(shapes)
    scene = bpy.context.scene
    for obj in session.rods:
        obj.driver_remove("location")
    scene.frame_set(1)
    edits.forget()
    played = {}
    for number in range(1, LAST + 1):
        scene.frame_set(number)
        played[number] = {obj.name: read_rows(obj.data) for obj in session.rods if not memory.status(obj.tendril.uid)}
    scene.tendril.bake_to = "DISK"
    activate(session.rods[0])
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    for number in (LAST, 2, 4):
        scene.frame_set(number)
        for obj in session.rods:
            if obj.name in played[number]:
                np.testing.assert_array_equal(read_rows(obj.data), played[number][obj.name])
    return session.ran


@pytest.mark.parametrize("seed", range(3))
def test_random_sessions_keep_the_drawn_shapes(seed, tmp_path):
    ran = run(seed, tmp_path, 14)
    assert sum(ran.values()) >= 8


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 300))
def test_many_random_sessions(seed, tmp_path):
    ran = run(seed, tmp_path, 60)
    assert ran.get("undo", 0) > 0


ALWAYS = ("wrong_types", "hold_by_bone", "render", "link_and_override")


@pytest.mark.parametrize("name", ALWAYS)
def test_rare_events_keep_the_drawn_shapes(name, tmp_path, monkeypatch):
    """In each session at least once, in between others."""
    session = Session(7, tmp_path)
    shapes = [read_rows(obj.data) for obj in session.rods]
    monkeypatch.setattr(Session, "ACTIONS", (Session.play, Session.jump, getattr(Session, name)))
    for _ in range(8):
        session.act()
        session.check(shapes)
    assert session.ran[name] > 0
