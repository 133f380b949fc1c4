"""Kernel-trap design point: a packet that the kernel keeps until it is acknowledged."""

from typing import Any

__all__ = ["Packet"]


class Packet:
    """A packet that the kernel keeps until it is acknowledged.

    ``inline``: the bytes behind the wire header that its descriptor carries; ``buffer``: the
    kernel's buffer with the ``length`` bytes behind those, 0 for none. ``message``: the message
    whose last packet this is.
    """

    __slots__ = ("header", "inline", "buffer", "length", "trace", "sequence", "message")

    def __init__(self, header: int, inline: bytes, buffer: int, length: int, trace: int,
                 sequence: int = 0, message: Any = None) -> None:
        self.header = header
        self.inline = inline
        self.buffer = buffer
        self.length = length
        self.trace = trace
        self.sequence = sequence
        self.message = message
