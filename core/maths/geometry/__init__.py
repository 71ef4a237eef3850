"""Curves and frames: parallel transport, arc length, linking."""
