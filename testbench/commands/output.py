"""The output of a command: tables by default; the result with ``--json``, its path with ``-q``."""

from collections.abc import Callable
from contextvars import ContextVar
from enum import Enum
from typing import Any

__all__ = ["MODE", "Mode", "finish"]


class Mode(Enum):
    """How much is printed."""

    NORMAL = "normal"
    QUIET = "quiet"
    """The last line, the path of the result file, and nothing else on standard output."""
    JSON = "json"
    """The result document on standard output, and nothing else there."""
    VERBOSE = "verbose"
    """As normal, and each step of a build or run is a line on standard error."""


MODE: ContextVar[Mode] = ContextVar("MODE", default=Mode.NORMAL)
"""The mode of the command that runs."""


def finish(text: str, show: Callable[[], Any], path: Any) -> None:
    """Print the result of a command: ``text``, its document, or the output of ``show`` and
    ``path``."""
    mode = MODE.get()
    if mode is Mode.JSON:
        print(text.rstrip("\n"), flush=True)
        return
    if mode is not Mode.QUIET:
        show()
    print(path, flush=True)
