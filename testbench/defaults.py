"""Values that are taken where nobody says otherwise."""

__all__ = ["LAYER"]

LAYER = "am"
"""The layer of commands and calls that take any."""
