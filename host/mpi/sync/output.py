"""What ranks print, line by line, each behind its rank."""

import sys
from typing import Any

__all__ = ["Lines"]


class Lines:
    """A text stream of rank ``rank``: whole lines go to ``to``, as ``rank: line``."""

    encoding = "utf-8"

    def __init__(self, rank: int, to: Any = None) -> None:
        self._rank = rank
        self._to = sys.stdout if to is None else to
        self._rest = ""

    def write(self, text: str) -> int:
        *lines, self._rest = (self._rest + text).split("\n")
        if lines:
            self._to.write("".join(f"{self._rank}: {line}\n" for line in lines))
        return len(text)

    def flush(self) -> None:
        """Nothing: a line goes when it is whole."""

    def isatty(self) -> bool:
        return False

    def end(self) -> None:
        """The last line goes, whole or not."""
        if self._rest:
            self.write("\n")
