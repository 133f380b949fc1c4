"""The traffic of a cache's lines on the memory port."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

from ...bus.burst import Burst
from ..beats import line_read
from ..cache_shape import CacheShape

__all__ = ["Refill", "Traffic"]


class Traffic(enum.Enum, shape=2):
    """Tells a read of a line, a write-back, and an *upgrade*: an address-only transaction, by which
    others see that a store takes the line. As the memory's bytes are always current, no byte of a
    write is strobed."""

    READ = 0
    BACK = 1
    UPGRADE = 2


class Refill(wiring.Component):
    """Reads a line, writes it back, or tells of it: one burst for each.

    ``valid`` requests a transfer; until its last cycle the inputs hold. Latency: the burst is
    requested in the first cycle. Without other users of the memory a read of n beats takes
    ``memory.latency`` + 2 + n cycles, a write-back n + 1, an upgrade 2. Throughput: one at a time,
    back to back. Reset: idle.

    Parameters
    ----------
    shape : :class:`CacheShape`
        Gives the sizes of a line and of its beats.

    Members
    -------
    valid : ``In(1)``, kind : ``In(Traffic)``, address : ``In(32)``
        The transfer of the line at ``address``, of which a read looks at the 8-byte word there.
    arrived : ``Out(1)``, written : ``Out(1)``
        Last cycle of a read, and of a write-back or an upgrade.
    reads : ``Out(1)``, beat : ``Out(range(beats))``
        The read was taken, and its beats come; the number of the next one.
    word : ``Out(64)``
        The word that the last read has looked at, from the cycle of its beat on.
    memory : ``Out(Burst)``
        The memory controller.
    """

    def __init__(self, *, shape: CacheShape) -> None:
        self._shape = shape
        self._taken = Signal()  # the request was taken, and the beats are on their way
        super().__init__({
            "valid": In(1),
            "kind": In(Traffic),
            "address": In(32),
            "arrived": Out(1),
            "written": Out(1),
            "reads": Out(1),
            "beat": Out(range(shape.beats)),
            "word": Out(64),
            "memory": Out(Burst()),
        })

    @property
    def shape(self) -> CacheShape:
        """The sizes of a line and of its beats."""
        return self._shape

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape, beat = self._shape, self.beat
        request, write, read = self.memory.request, self.memory.write, self.memory.read
        last = Signal()
        word = Signal(64)
        m.d.comb += [last.eq(beat == shape.beats - 1), self.word.eq(word)]
        with m.If(self.valid):
            m.d.comb += [
                request.payload.write.eq(self.kind != Traffic.READ),
                request.payload.beats.eq(Mux(self.kind == Traffic.UPGRADE, 1, shape.beats)),
                request.payload.address.eq(line_read(self.address, shape.line_bits,
                                                     shape.beat_bits)),
            ]
            with m.If(~self._taken):
                m.d.comb += request.valid.eq(1)
                m.d.sync += self._taken.eq(request.ready)
            with m.Elif(self.kind == Traffic.READ):
                m.d.comb += [self.reads.eq(1), read.ready.eq(1)]
                with m.If(read.valid):
                    m.d.comb += self.arrived.eq(last)
                    m.d.sync += beat.eq(beat + 1)
                    with m.If(beat == self.address[shape.beat_bits:shape.line_bits]):
                        m.d.comb += self.word.eq(read.payload)
                        m.d.sync += word.eq(read.payload)
            with m.Else():
                m.d.comb += write.valid.eq(1)
                with m.If(write.ready):
                    with m.If(self.kind == Traffic.UPGRADE):
                        m.d.comb += self.written.eq(1)
                    with m.Else():
                        m.d.comb += self.written.eq(last)
                        m.d.sync += beat.eq(beat + 1)
            with m.If(self.arrived | self.written):
                m.d.sync += self._taken.eq(0)
        return m
