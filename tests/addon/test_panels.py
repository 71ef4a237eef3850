"""Every panel draws for every kind of rod: with properties that there are, and operators that there are."""

from dataclasses import replace

import blf
import bpy
import pytest
from tendril.addon import memory, panels
from tendril.addon.bridge import profiles
from tendril.addon.panels.base import draw_message
from tendril.core import Simulation
from tendril.tests.addon.building import activate, line, make_rod
from tendril.tests.addon.test_hair import make_hair
from tendril.tests.addon.test_nets import make_net
from tendril.tests.addon.test_operators import refuses


class Layout:
    """Takes down what is drawn; refuses what is not there."""

    def __init__(self, drawn, decorated=False):
        self.drawn, self.use_property_decorate = drawn, decorated

    def prop(self, data, name, **_options):
        assert name in data.bl_rna.properties, name
        self.take_down(name, data)

    def prop_search(self, data, name, where, collection, **_options):
        assert hasattr(where, collection)
        self.prop(data, name)

    def take_down(self, name, _data):
        self.drawn.append(name)

    def operator(self, name, **_options):
        group, _, function = name.partition(".")
        assert function in dir(getattr(bpy.ops, group)), name
        self.drawn.append(name)
        return self

    def template_curve_mapping(self, data, name, **_options):
        assert hasattr(data, name)
        self.drawn.append("curve")

    def label(self, text="", **_options):
        assert isinstance(text, str)

    def template_list(self, *_arguments, **_options):
        self.drawn.append("list")

    def _part(self, **_options):
        return type(self)(self.drawn, self.use_property_decorate)

    row = column = split = box = column_flow = grid_flow = _part

    def __getattr__(self, name):
        return lambda *_arguments, **_options: None


class Panel:
    """What Blender hands to draw(): the panel with a layout."""

    def __init__(self, cls, layout):
        self._cls, self.layout = cls, layout

    def __getattr__(self, name):
        found = getattr(self._cls, name)
        return found.__get__(self) if callable(found) else found


def draw(cls, layout):
    """As Blender would for the active object, if it shows the panel at all."""
    if cls.poll(bpy.context):
        panel = Panel(cls, layout)
        cls.draw(panel, bpy.context)
        if "draw_header" in vars(cls):
            cls.draw_header(panel, bpy.context)


def all_panels():
    return [cls for cls in panels._CLASSES if issubclass(cls, bpy.types.Panel)]


def drawn_of(obj):
    bpy.context.view_layer.objects.active = obj
    drawn = []
    for cls in all_panels():
        draw(cls, Layout(drawn))
    return drawn


@pytest.mark.parametrize("flat", [False, True])
def test_all_panels_draw_for_all_kinds(flat):
    shape = {"section": "RIBBON"} if flat else {}
    rope = make_rod(name="Rope", **shape)
    rope.tendril.attachments.add()
    rope.tendril.use_profiles = rope.tendril.tie_splines = False
    drawn = drawn_of(rope)
    for name in ("model", "segment_length", "use_tilt", "rest_shape", "pin_by_weight", "length_factor", "wind_weight"):
        assert name in drawn
    assert ("flatness" in drawn) == flat
    rope.tendril.use_profiles = True
    assert drawn_of(rope).count("curve") == len(profiles.NAMES)
    rope.tendril.tie_splines = True
    assert "net_model" in drawn_of(rope)
    net = drawn_of(make_net(**shape))
    assert {"net_model", "pin_group", "stiffness_group", "break_force", "use_attributes"} <= set(net)
    assert not {"model", "start_hold", "use_tilt"} & set(net)
    hair = drawn_of(make_hair(**shape))
    assert {"model", "start_hold", "pin_group", "use_attributes", "segment_length"} <= set(hair)
    assert not {"net_model", "pin_by_weight"} & set(hair)


class Measured(Layout):
    """Measures labels in a panel of Blender's default width, in a window of 1600 pixels: 212 are for a setting, 80 for a label
    beside it."""

    content, beside = 212.0, 80.0

    def __init__(self, drawn, decorated=False, split=False):
        super().__init__(drawn, decorated)
        self.use_property_split = split

    def prop(self, data, name, text=None, **_options):
        definition = data.bl_rna.properties[name]
        label = bpy.app.translations.pgettext_iface(definition.name) if text is None else text
        blf.size(0, 11)
        width = blf.dimensions(0, label)[0]
        if self.use_property_split:
            room = self.content - self.beside - 20.0 if definition.type == "BOOLEAN" else self.beside
        elif definition.type == "BOOLEAN":
            room = self.content - 20.0
        elif definition.type in ("INT", "FLOAT"):
            room = self.content - 60.0  # the number is in the same field
        else:
            room = 0.5 * self.content
        self.drawn.append((label, width, room))

    def prop_search(self, data, name, _where, _collection, **options):
        self.prop(data, name, **options)

    def _part(self, **_options):
        return type(self)(self.drawn, self.use_property_decorate, self.use_property_split)

    row = column = column_flow = grid_flow = split = box = _part


def test_no_label_is_truncated_at_the_default_width():
    rope, net, hair = make_rod(name="Rope"), make_net(), make_hair()
    rope.tendril.attachments.add()
    measured = set()
    for obj in (rope, net, hair):
        bpy.context.view_layer.objects.active = obj
        obj.tendril.use_profiles, obj.tendril.material = False, "CUSTOM"
        for cls in all_panels():
            drawn = []
            draw(cls, Measured(drawn))
            measured.update((cls.__name__, *one) for one in drawn)
    assert len(measured) > 100
    long = "\n".join(str(one) for one in sorted(measured) if one[2] > one[3])
    assert not long, long


def test_a_sentence_takes_as_many_lines_as_it_needs(monkeypatch):
    lines = []
    monkeypatch.setattr(Layout, "label", lambda self, text, icon: lines.append((text, icon)))
    message = "The number of points is 13: curls as small as these need 592 of them: subdivide what is drawn"
    make_rod()
    draw_message(Layout([]), bpy.context, message.lower())  # as the core says it
    assert " ".join(text for text, _ in lines) == message
    assert len(lines) > 1
    assert max(len(text) for text, _ in lines) <= 40
    assert [icon for _, icon in lines] == ["ERROR", *["BLANK1"] * (len(lines) - 1)]
    lines.clear()
    draw_message(Layout([]), bpy.context, "")
    assert lines == []


def test_inaccurate_frames_are_told_in_one_line_and_their_rods_are_selected(monkeypatch):
    good, bad = make_rod(name="Good"), make_rod(("POLY", line(y=1.0)), name="Bad")
    scene, step = bpy.context.scene, Simulation.step_frame
    refuses(bpy.ops.tendril.select_affected, "All rods have converged")

    def fails(self):
        frame = step(self)
        if frame.number != 3:
            return frame
        (rod,) = memory.running_of(scene).description.parts[bad.tendril.uid].ids
        report = replace(frame.report, failures=1, overlap=0.25, residual=0.02, affected=frozenset({rod}))
        return replace(frame, report=report)

    monkeypatch.setattr(Simulation, "step_frame", fails)
    for number in range(1, 5):
        scene.frame_set(number)
    told = "not converged since frame 3 (frame 3: 1 rod not solved, residual 0.02 segment lengths, overlap 0.2 radii)"
    assert memory.info(scene) == f"4 frames in memory, {told}"
    activate(good)
    assert bpy.ops.tendril.select_affected() == {"FINISHED"}
    assert bpy.context.view_layer.objects.active == bad
    assert [obj.name for obj in scene.objects if obj.select_get()] == ["Bad"]
