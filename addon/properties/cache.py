"""Which frames are simulated, and where they are kept."""

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from .. import participants
from .kinds import distance

# The numbers are what files keep.
_TARGETS = [
    ("SHAPE_KEYS", "Shape Keys", "In the curve itself: the file plays without the add-on", "SHAPEKEY_DATA", 0),
    (
        "DISK",
        "Disk",
        "In the cache on disk: for all rods of the scene, and kept until the bake is deleted",
        "DISK_DRIVE",
        1,
    ),
    ("ALEMBIC", "Alembic", "A file for other programs: polylines in world space", "FILE", 2),
    ("USD", "USD", "A file for other programs: polylines in world space", "FILE", 3),
]


class CacheSettings:
    use_own_range: BoolProperty(
        name="Own Range",
        description="Simulate other frames than those of the scene",
    )
    cache_start: IntProperty(
        name="Simulation Start", description="The frame at which the rods are as they are drawn", default=1
    )
    cache_end: IntProperty(
        name="End", description="The last frame that is simulated; after it nothing moves", default=250
    )
    use_disk_cache: BoolProperty(
        name="Disk Cache",
        description="Keep simulated frames in a folder beside the .blend file: they are there when it is opened again",
    )
    cache_name: StringProperty(
        description="What the frames on disk are called: a scene that gets another name keeps them", options={"HIDDEN"}
    )
    disk_baked: BoolProperty(
        description="The frames on disk are a bake: they are shown whatever is set, and nothing replaces them",
        options={"HIDDEN"},
        update=participants.invalidate_on_update,
    )
    bake_to: EnumProperty(name="Bake to", description="Where baked frames are stored", items=_TARGETS)
    key_step: IntProperty(
        name="Every",
        description="Make a shape key of every n-th frame; between them Blender interpolates",
        default=1,
        min=1,
    )
    key_tolerance: distance(
        "Tolerance",
        "Leave out shape keys without which nothing moves by more than this distance; with zero all are made",
        0.0,
        1.0,
        0.01,
        min=0.0,
    )
    export_path: StringProperty(
        name="File",
        description="Where to export to. Empty: beside the .blend file, and called like it",
        subtype="FILE_PATH",
        options={"PATH_SUPPORTS_BLEND_RELATIVE"} if bpy.app.version >= (4, 5, 0) else set(),
    )
