"""Time stepping: packs a scene into model blocks, advances it, returns frames."""
