"""Models as published, for fidelity and comparison: `der2008` and `corde`."""
