"""Messages that have come, and buffers that were refused."""

from dataclasses import dataclass

__all__ = ["Received"]


@dataclass(frozen=True, slots=True)
class Received:
    """A descriptor of the receive queue.

    Attributes
    ----------
    channel
        Number of the channel it came on.
    length
        Bytes of the message.
    data
        The message, if the descriptor had it; else None.
    buffers
        Where the message is: place and bytes of each piece. The buffers are the program's again.
        Of a refused one: its place and length.
    placed
        The sender has said where the message goes.
    refused
        No message: a buffer of the free queue that is none of the process's memory.
    trace
        Trace number.
    """

    channel: int
    length: int
    data: bytes | None = None
    buffers: tuple[tuple[int, int], ...] = ()
    placed: bool = False
    refused: bool = False
    trace: int = 0
