"""How fast Tendril is: `make bench`, and beside other programs `make bench-peers`."""

from __future__ import annotations


def main() -> int:
    from .__main__ import main as run

    return run()
