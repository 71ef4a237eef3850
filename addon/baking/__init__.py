"""Baking: simulates all frames and stores them as shape keys, in the disk cache, or in an Alembic or USD file."""
