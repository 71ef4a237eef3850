import bpy

rod = bpy.context.object.tendril
rod.rod_type = "HAIR"
rod.material = "HUMAN_HAIR"
rod.radius_from = "GIVEN"
rod.radius = 3.5e-05
rod.hairs = 1
rod.section = "CIRCLE"
rod.rest_shape = "CURLY"
rod.use_sag_free = False
rod.stiffness_at_end = 1.0
rod.stiffness_by_weight = False
rod.friction = 0.3
rod.curl_radius = 0.0025
rod.curl_length = 0.006
