"""What the stand-in raises."""


class Error(Exception):
    """Something that this stand-in does not have."""
