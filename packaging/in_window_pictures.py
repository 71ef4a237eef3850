"""Takes the screenshots of docs/panels in a window; run by packaging/window.

Every panel is shown alone in an area beside the viewport: the others are unregistered meanwhile. The object is that of a sample
which uses the settings of the panel.
"""

import importlib
import os
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parent))  # where packaging/window copies the scripts

import bpy
from in_steps import area_of, begin, here, window

NAME = "bl_ext.user_default.tendril"
OUT = Path(os.environ["TENDRIL_PICTURES"])
ONLY = [name for name in os.environ.get("TENDRIL_PANELS", "").split(",") if name]  # labels; none: all, and the overlay
PAUSE = 1.0  # s until the window is drawn without a graphics card
WIDTH = 430  # pixels, of the area with the panel

# Sample and object that are shown with a panel, by the label of the panel.
SUBJECTS = {
    "Rod": ("rope_on_hook", "Rope"),
    "Shape and Model": ("rope_on_hook", "Rope"),
    "Material (SI)": ("telephone_cord", "Cord"),
    "Along the Rod": ("rope_on_hook", "Rope"),
    "Breaking and Nets": ("tree_in_wind", "Tree"),
    "Over Time": ("climbing_vine", "Vine"),
    "Guides": ("curly_hair", "Hair"),
    "Follow Groom": ("curly_hair", "Hair"),
    "Pins": ("tree_in_wind", "Tree"),
    "Attachments": ("wrecking_ball", "Chain"),
    "Collisions": ("rope_on_hook", "Rope"),
    "Rod Collider": ("rope_on_hook", "Floor"),
    "Simulation": ("tree_in_wind", "Tree"),
    "Field Weights": ("tree_in_wind", "Tree"),
    "Shared Field Weights": ("tree_in_wind", "Tree"),
    "Cache": ("rope_on_hook", "Rope"),
    "Variants": ("rope_on_hook", "Rope"),
    "Numbers": ("rope_on_hook", "Rope"),
    "Viewport Overlay": ("rope_on_hook", "Rope"),
    "Research": ("twisted_cage", "Cage"),
}
PLAYED = {"Cache", "Numbers", "Viewport Overlay"}  # panels that show simulated frames
MOMENT = 88  # the frame shown by these

scenes = {}  # of samples, by name


def pause():
    end = time.monotonic() + PAUSE
    while time.monotonic() < end:
        yield


def screenshot(part, name):
    """Saves a picture of an area, of a region, or of the whole window if `part` is None."""
    for area in window().screen.areas:
        area.tag_redraw()
    yield from pause()
    # Blender's own screenshots are black with software rendering.
    crop = []
    if part is not None:
        top = window().height - part.y - part.height
        crop = ["-crop", f"{part.width}x{part.height}+{part.x}+{top}", "+repage"]
    subprocess.run(["import", "-window", "root", *crop, str(OUT / f"{name}.png")], check=True)
    print("screenshot", name, flush=True)


def inside(area):
    """The main region of an area."""
    return next(region for region in area.regions if region.type == "WINDOW")


def panels():
    """The panels of the add-on in the Physics tab, in order."""
    module = importlib.import_module(NAME + ".addon.panels")
    return [cls for cls in module._CLASSES if issubclass(cls, bpy.types.Panel)]


def show_only(*names):
    """Registers only these panels, expanded. Without its parent a panel becomes a top-level one."""
    for cls in panels():
        if cls.is_registered:
            bpy.utils.unregister_class(cls)
    for own in (bpy.types.PHYSICS_PT_add, bpy.types.PHYSICS_PT_geometry_nodes):  # panels of Blender
        own.poll = classmethod(lambda _cls, _context: False)
    for cls in panels():
        if cls.bl_label in names:
            if "Rod" not in names and hasattr(cls, "bl_parent_id"):
                del cls.bl_parent_id
            cls.bl_options = set()
            bpy.utils.register_class(cls)


def play(last):
    solver = sys.modules[NAME + ".addon.solver"]
    scene = window().scene
    frame = scene.frame_start
    while frame <= last:
        scene.frame_set(frame)
        yield
        frame += 1
        while solver.is_compiling():  # nothing is simulated while the solver compiles
            frame = scene.frame_start
            yield from pause()


def choose(obj):
    with here():
        for other in window().view_layer.objects:
            other.select_set(other == obj)
        window().view_layer.objects.active = obj


def sample(name):
    """Scene of a sample, which is built once."""
    if name not in scenes:
        with here():
            bpy.ops.tendril.sample_add(name=name)
        scenes[name] = window().scene
    window().scene = scenes[name]
    return scenes[name]


def tab(area, name):
    """Selects a tab; a new editor offers its tabs only after it has been drawn."""
    yield from pause()
    area.spaces.active.context = name


def look(view, position, distance):
    """Views a position from the front and slightly from above."""
    region = view.spaces.active.region_3d
    region.view_perspective = "PERSP"
    region.view_location, region.view_distance = position, distance
    region.view_rotation = (0.76, 0.62, 0.12, 0.15)


def with_wide_properties():
    """Gives the properties editor the full height of the window beside the viewport, so that names are not cut off."""
    view = area_of("VIEW_3D")
    for kind in ("OUTLINER", "PROPERTIES"):
        with here(), bpy.context.temp_override(area=area_of(kind)):
            bpy.ops.screen.area_close()
        yield from pause()
    with here(), bpy.context.temp_override(area=view, region=inside(view)):
        bpy.ops.screen.area_split(direction="VERTICAL", factor=1.0 - WIDTH / view.width)
    yield from pause()
    max((area for area in window().screen.areas if area.type == "VIEW_3D"), key=lambda area: area.x).type = "PROPERTIES"
    yield from pause()


# The overlay of docs/panels/viewport_overlay.md ---------------------------------------------------------------------


def overlay():
    scene, view = sample("rope_on_hook"), area_of("VIEW_3D")
    choose(None)
    yield from play(MOMENT)
    scene.tendril.show_overlay = scene.tendril.overlay_frames = True
    look(view, (0.1, 0.0, 0.85), 2.2)
    view.spaces.active.show_gizmo = view.spaces.active.show_region_toolbar = False
    view.spaces.active.overlay.show_extras = view.spaces.active.overlay.show_cursor = False
    yield from screenshot(view, "overlay")
    scene.tendril.show_overlay = scene.tendril.overlay_frames = False


# Every panel alone --------------------------------------------------------------------------------------------------


def add_axes(chosen):
    """Two settings with values, as somebody would choose them."""
    for path, values in (("Rope.young_modulus", "1e6, 1e8"), ("scene.tendril.substeps", "2, 4, 8")):
        axis = chosen.axes.add()
        axis.path, axis.values = path, values


def screenshot_panels():
    properties = area_of("PROPERTIES")
    for cls in panels():
        name = cls.bl_label
        if ONLY and name not in ONLY:
            continue
        where, who = SUBJECTS[name]
        scene = sample(where)
        choose(scene.objects[who])
        scene.objects[who].tendril.use_profiles = name == "Along the Rod"
        scene.tendril.show_overlay = name == "Viewport Overlay"
        if name == "Variants":
            add_axes(scene.tendril_variants)
        if name in PLAYED:
            yield from play(MOMENT)
        show_only(name)
        yield from tab(properties, "PHYSICS")
        yield from screenshot(inside(properties), re.sub(r"[^a-z]+", "_", name.lower()).strip("_"))


def steps():
    OUT.mkdir(parents=True, exist_ok=True)
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    yield from with_wide_properties()
    if not ONLY:
        yield from overlay()
    yield from screenshot_panels()
    for cls in panels():  # so that the add-on can unregister them
        if not cls.is_registered:
            bpy.utils.register_class(cls)


begin(lambda: None, steps)
