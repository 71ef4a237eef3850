"""Which frames are simulated, and where they are kept."""

from bpy.props import BoolProperty, IntProperty


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
