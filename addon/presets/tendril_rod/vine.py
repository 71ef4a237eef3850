import bpy

rod = bpy.context.object.tendril
rod.rod_type = "VINE"
rod.material = "VINE"
rod.radius_from = "GIVEN"
rod.radius = 0.004
rod.hairs = 1
rod.section = "CIRCLE"
rod.rest_shape = "AS_DRAWN"
rod.use_sag_free = False
rod.stiffness_at_end = 0.1
rod.stiffness_by_weight = False
rod.friction = 0.6
