"""Rigid bodies: what they weigh, how they move, and the rods that are attached to them."""
