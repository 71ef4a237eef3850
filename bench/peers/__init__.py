"""Comparison with other programs on the same workloads: `python -m tendril.bench.peers`."""
