"""Forces that act on rods from outside."""
