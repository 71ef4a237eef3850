import bpy

rod = bpy.context.object.tendril
rod.rod_type = "RIBBON"
rod.material = "PAPER"
rod.radius_from = "GIVEN"
rod.radius = 0.01
rod.hairs = 1
rod.section = "RIBBON"
rod.flatness = 0.005
rod.rest_shape = "AS_DRAWN"
rod.use_sag_free = False
rod.stiffness_at_end = 1.0
rod.stiffness_by_weight = False
rod.friction = 0.4
