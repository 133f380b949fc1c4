"""The exceptions by which a rank ends the run. Neither is an :class:`Exception`: a program that
goes on after errors does not go on after these."""

__all__ = ["Ended", "RankError"]


class RankError(BaseException):
    """The run has ended because of what a rank did: one line that names it. ``status`` is the exit
    status of the run: that of the rank, if it ended with one from 1 to 255, else 1."""

    def __init__(self, text: str, status: int = 1) -> None:
        super().__init__(text)
        self.status = status if 1 <= status <= 255 else 1


class Ended(BaseException):
    """Raised by blocking calls of a rank whose run has ended, so that its program ends, too."""
