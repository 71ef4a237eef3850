"""Kernels of external forces: air drag, force fields, noise."""
