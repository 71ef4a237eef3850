"""Scenes to open, to run and to learn from."""
