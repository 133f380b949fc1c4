"""Prints the output of ranks line by line, with the rank in front."""

import codecs
import io
import sys
from typing import Any

__all__ = ["Lines"]


class Lines(io.TextIOBase):
    """A text stream of rank ``rank``: whole lines go to ``to``, as ``rank: line``."""

    encoding = "utf-8"  # type: ignore[assignment]
    errors = "replace"  # type: ignore[assignment]

    def __init__(self, rank: int, to: Any = None) -> None:
        super().__init__()
        self._rank = rank
        self._to = sys.stdout if to is None else to
        self._rest = ""
        self.buffer = _Bytes(self)

    def write(self, text: str) -> int:
        *lines, self._rest = (self._rest + text).split("\n")
        if lines:
            self._to.write("".join(f"{self._rank}: {line}\n" for line in lines))
        return len(text)

    def writable(self) -> bool:
        return True

    def flush(self) -> None:
        """Nothing: a line goes when it is whole."""

    def reconfigure(self, **_: Any) -> None:
        """Nothing: lines are what they are."""

    def end(self) -> None:
        """The last line goes, whole or not."""
        if self._rest:
            self.write("\n")


class _Bytes(io.BufferedIOBase):
    """Passes bytes that a program writes to ``lines``."""

    def __init__(self, lines: Lines) -> None:
        super().__init__()
        self._lines = lines
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode

    def write(self, data: Any) -> int:
        self._lines.write(self._decode(bytes(data)))
        return len(data)

    def writable(self) -> bool:
        return True

    def flush(self) -> None:
        """Nothing, as of the lines."""
