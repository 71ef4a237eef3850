import bpy

rod = bpy.context.object.tendril
rod.rod_type = "HAIR"
rod.material = "HUMAN_HAIR"
rod.radius_from = "GIVEN"
rod.radius = 1.5e-05
rod.hairs = 10
rod.section = "CIRCLE"
rod.rest_shape = "AS_DRAWN"
rod.use_sag_free = True
rod.stiffness_at_end = 0.5
rod.stiffness_by_weight = False
rod.friction = 0.3
