"""When a node's Active Messages must check their timers next."""

__all__ = ["FAR", "Deadline"]

FAR = 1 << 62
"""A deadline that never comes."""


class Deadline:
    """``at``: the first cycle at which a time-out may have passed. A part that sends, or owes an
    answer, moves it forward; the timers set it again."""

    __slots__ = ("at",)

    def __init__(self) -> None:
        self.at = FAR
