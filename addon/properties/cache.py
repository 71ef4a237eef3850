"""Settings of the frame range, the disk cache and the bake."""

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from .. import memory, participants
from .kinds import distance

# .blend files store the number of an item, so it must not change.
_TARGETS = [
    (
        "SHAPE_KEYS",
        "Shape Keys",
        "Store the motion as shape keys. The file then plays without the add-on",
        "SHAPEKEY_DATA",
        0,
    ),
    (
        "DISK",
        "Disk",
        "Keep the disk cache of all rods of the scene until the bake is deleted",
        "DISK_DRIVE",
        1,
    ),
    ("ALEMBIC", "Alembic", "Export polylines in world space to an Alembic file", "FILE", 2),
    ("USD", "USD", "Export polylines in world space to a USD file", "FILE", 3),
]


class CacheSettings:
    use_own_range: BoolProperty(
        name="Own Range",
        description="Simulate a frame range other than that of the scene",
    )
    cache_start: IntProperty(
        name="Simulation Start",
        description="First frame of the simulation, at which the rods have their drawn shape",
        default=1,
    )
    cache_end: IntProperty(
        name="End", description="Last frame of the simulation. Later frames show this one", default=250
    )
    pre_roll: IntProperty(
        name="Pre-Roll",
        description="Frames that are simulated before the first frame of the scene, so that rods have come to rest there. Higher "
        "values settle more",
        default=0,
        min=0,
        max=100_000,
        soft_max=250,
    )
    auto_restart: BoolProperty(
        name="Auto Restart",
        description="During playback, go back to the start frame when a setting changes that can't take effect in the next frame. "
        "Stiffness, damping, gravity and wind can",
    )
    use_disk_cache: BoolProperty(
        name="Disk Cache",
        description="Write simulated frames to a folder next to the .blend file, so that they are available after reopening it",
    )
    cache_name: StringProperty(
        description="Name of the disk cache. It does not change when the scene is renamed", options={"HIDDEN"}
    )
    disk_baked: BoolProperty(
        description="The disk cache is a bake: its frames are shown regardless of the settings and are never replaced",
        options={"HIDDEN"},
        update=participants.invalidate_on_update,
    )
    bake_to: EnumProperty(name="Bake to", description="Storage of the baked frames", items=_TARGETS)
    key_step: IntProperty(
        name="Every",
        description="Create a shape key for every n-th frame. Higher values create fewer keys, and Blender interpolates "
        "between them",
        default=1,
        min=1,
    )
    key_tolerance: distance(
        "Tolerance",
        "Omit shape keys whose omission moves no point by more than this distance. Higher values create fewer keys, zero keeps all",
        0.0,
        1.0,
        0.01,
        min=0.0,
    )
    export_path: StringProperty(
        name="File",
        description="Path of the exported file. If empty, it is named after the .blend file and placed next to it",
        subtype="FILE_PATH",
        update=memory.confirm_export_path,
        options={"PATH_SUPPORTS_BLEND_RELATIVE"} if bpy.app.version >= (4, 5, 0) else set(),
    )
