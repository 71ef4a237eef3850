import bpy

rod = bpy.context.object.tendril
rod.rod_type = "HAIR"
rod.material = "HUMAN_HAIR"
rod.radius_from = "GIVEN"
rod.radius = 6.5e-05
rod.hairs = 5
rod.section = "CIRCLE"
rod.rest_shape = "AS_DRAWN"
rod.use_sag_free = True
rod.stiffness_at_end = 1.0
rod.stiffness_by_weight = False
rod.friction = 0.3
