"""The buffer of buffered sends: a process has one, whatever the communicator."""

from typing import Any

from ...sync import current
from ..constants import BUFFER_AUTOMATIC
from ..errors import blocking, told
from ..memory import view

__all__ = ["Attach_buffer", "Detach_buffer"]

AUTOMATIC_BYTES = 1 << 16
"""Room for buffered sends, where a program does not say how much."""


def Attach_buffer(buf: Any) -> None:
    """Give buffered sends as many bytes as ``buf`` has."""
    rank = current()
    length = AUTOMATIC_BYTES if buf is None or buf is BUFFER_AUTOMATIC else len(view(buf, False)[0])
    with told():
        rank.mpi.Attach_buffer(length)
    rank.kept["attached"] = buf


def Detach_buffer() -> Any:
    """Take the buffer back when all messages have left it."""
    rank = current()
    blocking(rank.mpi.Detach_buffer())
    return rank.kept.pop("attached", None)
