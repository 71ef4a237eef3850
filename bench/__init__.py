"""Benchmarks: `make bench` measures Tendril, `make bench-peers` compares it with other programs."""

from __future__ import annotations


def main(arguments: list[str] | None = None) -> int:
    """Runs the benchmark with the arguments of the command line, or with the given ones."""
    from .__main__ import main as run

    return run(arguments)
