"""What can't be baked."""


class BakeError(Exception):
    """Why rods could not be baked, in one sentence."""
