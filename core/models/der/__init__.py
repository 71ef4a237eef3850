"""Discrete elastic rods, implicit: the default model."""
