"""A simulation that stays: simulated once, and stored as shape keys, on disk, or in a file for other programs."""
