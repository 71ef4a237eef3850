"""Solvers for banded, chain-like, sparse and small dense systems."""
