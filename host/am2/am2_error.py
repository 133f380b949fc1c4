"""Errors that are no result of a call."""

__all__ = ["Am2Error"]


class Am2Error(Exception):
    """A program has broken a rule of AM-II that no status tells of. The text is one line."""
