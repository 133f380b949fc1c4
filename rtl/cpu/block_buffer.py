"""The CPU's buffer for block stores: a line on its way to memory."""

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ...layouts.operations import CACHE_LINE
from ..bus.burst import Burst
from ..parts.sizes import check_power_of_two
from .beats import check_beat, line_beats

__all__ = ["BlockBuffer", "PostedLine"]

PostedLine = data.StructLayout({"valid": 1, "address": 32})
"""With ``valid`` the line at ``address`` is in a CPU's buffer for block stores."""


class BlockBuffer(wiring.Component):
    """Holds one line until its write has passed the memory port.

    Latency: the write is requested in the cycle after the line was taken. (The port is at rest in
    a later one, so no leap over idle time comes before it.) Its beats follow, with no byte strobed,
    as the memory's bytes are always current. Throughput: a line of n beats every n + 2 cycles
    without other users of the memory. Back-pressure: ``ready`` is low from the cycle
    after a line was taken to the cycle of its last beat. Reset: empty.

    Parameters
    ----------
    line_bytes : :class:`int`
        Bytes of a line: a power of two, 16 or more.
    beat_bytes : :class:`int`
        Bytes of it that a beat of the memory port has: a power of two, 8 to ``line_bytes``.

    Members
    -------
    take : ``In(1)``, address : ``In(32)``
        Take the line at ``address``; only with ``ready``.
    ready : ``Out(1)``
        The buffer is empty.
    posted : ``Out(PostedLine)``
        The line in the buffer.
    memory : ``Out(Burst)``
        The memory controller.

    Raises
    ------
    TypeError
        ``line_bytes`` or ``beat_bytes`` is not an integer.
    ValueError
        ``line_bytes`` is not a power of two of at least 16, or ``beat_bytes`` not one of 8 to
        ``line_bytes``.
    """

    def __init__(self, *, line_bytes: int = CACHE_LINE, beat_bytes: int = 8) -> None:
        check_power_of_two("line_bytes", line_bytes, least=16)
        check_beat(beat_bytes, line_bytes)
        self._line_bytes = line_bytes
        self._beat_bytes = beat_bytes
        super().__init__({
            "take": In(1),
            "address": In(32),
            "ready": Out(1),
            "posted": Out(PostedLine),
            "memory": Out(Burst()),
        })

    @property
    def line_bytes(self) -> int:
        """Bytes of a line."""
        return self._line_bytes

    @property
    def beat_bytes(self) -> int:
        """Bytes of a line that a beat of the memory port has."""
        return self._beat_bytes

    def elaborate(self, platform: object) -> Module:
        m = Module()
        line_bits = ceil_log2(self._line_bytes)
        line = Signal(32 - line_bits)
        request, write = self.memory.request, self.memory.write
        m.d.comb += [
            self.posted.valid.eq(~self.ready),
            self.posted.address.eq(Cat(Const(0, line_bits), line)),
            request.payload.write.eq(1),
            request.payload.address.eq(self.posted.address),
            request.payload.beats.eq(line_beats(self._line_bytes, self._beat_bytes)),
        ]
        with m.FSM():
            with m.State("EMPTY"):
                m.d.comb += self.ready.eq(1)
                with m.If(self.take):
                    m.d.sync += line.eq(self.address[line_bits:])
                    m.next = "REQUEST"
            with m.State("REQUEST"):
                m.d.comb += request.valid.eq(1)
                with m.If(request.ready):
                    m.next = "WRITE"
            with m.State("WRITE"):
                m.d.comb += write.valid.eq(1)
                with m.If(self.memory.done):
                    m.next = "EMPTY"
        return m
