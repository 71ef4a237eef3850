"""`python -m tendril`: see `python -m tendril --help`."""

from __future__ import annotations

from .core.store.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
