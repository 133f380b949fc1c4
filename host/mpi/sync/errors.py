"""How a rank ends the run. Neither is an :class:`Exception`: a program that goes on after errors
does not go on after these."""

__all__ = ["Ended", "RankError"]


class RankError(BaseException):
    """The run has ended because of what a rank did: one line that names it."""


class Ended(BaseException):
    """Raised by blocking calls of a rank whose run has ended, so that its program ends, too."""
