"""Benchmarks: `make bench` measures Tendril, `make bench-peers` compares it with other programs."""

from __future__ import annotations


def main() -> int:
    from .__main__ import main as run

    return run()
