"""Persistence: frame caches on disk, scene files, and the command line."""
