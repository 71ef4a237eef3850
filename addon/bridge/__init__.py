"""Converts between Blender's data and the core's. Only this package reads and writes the user's curves."""
