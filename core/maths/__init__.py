"""Geometry and linear algebra: kernels on plain arrays."""
