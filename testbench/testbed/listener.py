"""Receives what a testbed reports while it works."""

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

__all__ = ["Listener", "Progress"]

Progress = Callable[[str, int, int], None]
"""Called with the current step, how much of it is done, and the total (0: unknown)."""


def _silent(what: str, done: int, total: int) -> None:
    pass


class Listener:
    """Prints the output of programs, and warnings. Override the methods that you need."""

    def advise(self, line: str) -> None:
        """Before a run: why it will take long."""

    def told(self, line: str) -> None:
        """Tells where a result is from; or, before it is measured, how long that will take."""

    def warn(self, line: str) -> None:
        """Something is not as it should be, and the work goes on."""
        warnings.warn(line, stacklevel=2)

    def printed(self, text: str) -> None:
        """Text that a program prints."""
        print(text, end="")

    def progress(self, label: str) -> AbstractContextManager[Progress]:
        """A context in which the work on ``label`` calls the function that is entered."""
        return nullcontext(_silent)
