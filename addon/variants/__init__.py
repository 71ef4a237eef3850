"""Variants of a scene in Blender: other values of its settings, each baked by a process of its own."""
