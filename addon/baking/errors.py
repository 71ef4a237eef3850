"""Errors of baking."""


class BakeError(Exception):
    """Reason why rods could not be baked, as a message to the user."""
