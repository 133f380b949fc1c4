"""Numbers in a row, taken and given back."""

__all__ = ["Pool"]


class Pool:
    """The numbers from 0 to ``size`` - 1. The lowest that fit are taken."""

    def __init__(self, size: int) -> None:
        self._free = [(0, size)] if size else []

    def take(self, count: int) -> int | None:
        """The first of ``count`` numbers in a row; None if there are none."""
        for index, (first, size) in enumerate(self._free):
            if size >= count:
                self._free[index:index + 1] = [(first + count, size - count)] \
                    if size > count else []
                return first
        return None

    def give(self, first: int, count: int) -> None:
        """They are free again."""
        if not count:
            return
        joined: list[tuple[int, int]] = []
        for one, size in sorted([*self._free, (first, count)]):
            if joined and sum(joined[-1]) == one:
                joined[-1] = joined[-1][0], joined[-1][1] + size
            else:
                joined.append((one, size))
        self._free = joined
