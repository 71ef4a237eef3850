"""Curves and frames: closest points, crossings, parallel transport, quaternions, linking, knots."""
