"""When a node's Active Messages have to look at their timers next."""

__all__ = ["FAR", "Deadline"]

FAR = 1 << 62
"""A deadline that never comes."""


class Deadline:
    """``at``: the first cycle at which something may be late. Who sends, or owes an answer, brings
    it forward; the timers set it anew."""

    __slots__ = ("at",)

    def __init__(self) -> None:
        self.at = FAR
