"""Small solvers for banded systems."""
