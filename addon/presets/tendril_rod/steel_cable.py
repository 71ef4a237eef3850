import bpy

rod = bpy.context.object.tendril
rod.rod_type = "CABLE"
rod.material = "STEEL_CABLE"
rod.radius_from = "GIVEN"
rod.radius = 0.005
rod.hairs = 1
rod.section = "CIRCLE"
rod.rest_shape = "STRAIGHT"
rod.use_sag_free = False
rod.stiffness_at_end = 1.0
rod.stiffness_by_weight = False
rod.friction = 0.2
