"""Joins wide bursts, several under way at once, to the 8-byte bus of today."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from ..bus.burst import MAX_BEATS, Burst
from ..parts.queue import Queue

__all__ = ["DmaAdapter"]

BEAT = 8
"""Bytes of a beat of the bus."""


class DmaAdapter(wiring.Component):
    """Carries out bursts of ``width`` bytes a beat as bursts of 8 bytes a beat, one at a time.

    A wide beat is width / 8 beats of the bus, also where a write strobes few of its bytes. Bursts
    are carried out in the order of their requests, and so they are answered.

    Latency: a request, none with one tag and 2 cycles with more; a write's beats and ``done``,
    none; a read's beat, none from its last 8 bytes. So with one tag a burst takes as long as one of
    the same bytes on the bus itself. Throughput: 8 bytes a cycle; with several tags a request that
    waits is offered in the cycle after ``done`` of the one before. Back-pressure: with several
    tags ``tags`` requests are taken at least, and words wait for their burst. Reset: no burst.

    Parameters
    ----------
    width : :class:`int`
        Bytes of a beat of ``nic``.
    tags : :class:`int`
        Bursts that may be under way at ``nic``.

    Members
    -------
    nic : ``In(Burst(width, tags))``
        The NIC.
    bus : ``Out(Burst())``
        The bus.
    idle : ``Out(1)``
        No burst is under way.

    Raises
    ------
    TypeError, ValueError
        As :class:`~nicbed.rtl.bus.burst.Burst` does.
    """

    def __init__(self, *, width: int = BEAT, tags: int = 1) -> None:
        self._burst = burst = Burst(width, tags)
        super().__init__({"nic": In(burst), "bus": Out(Burst()), "idle": Out(1)})

    @property
    def width(self) -> int:
        """Bytes of a beat of ``nic``."""
        return self._burst.width

    @property
    def tags(self) -> int:
        """Bursts that may be under way at ``nic``."""
        return self._burst.tags

    def elaborate(self, platform: object) -> Module:
        m = Module()
        nic, bus, tags = self.nic, self.bus, self.tags
        ratio = self.width // BEAT
        asked = nic.request
        if tags > 1:
            m.submodules.queue = queue = Queue(shape=nic.request.payload.shape(),
                                               depth=max(2, 1 << ceil_log2(tags)))
            wiring.connect(m, wiring.flipped(nic.request), queue.i)
            asked = queue.o

        busy, writes = Signal(), Signal()
        # Beats of the bus not yet moved of this burst, and the place in its wide beat.
        left = Signal(range(MAX_BEATS + 1))
        part = Signal(range(max(2, ratio)))
        whole = Signal()
        words, answers, moved = Signal(), Signal(), Signal()
        m.d.comb += [
            whole.eq(part == ratio - 1),
            bus.request.valid.eq(asked.valid & ~busy),
            asked.ready.eq(bus.request.ready & ~busy),
            *(getattr(bus.request.payload, name).eq(getattr(asked.payload, name))
              for name in ("write", "address", "trace")),
            bus.request.payload.beats.eq(asked.payload.beats * ratio),
            words.eq(busy & writes & (left != 0)),
            answers.eq(busy & ~writes & (left != 0)),
            bus.write.valid.eq(words & nic.write.valid),
            nic.write.ready.eq(words & bus.write.ready & whole),
            bus.write.payload.data.eq(nic.write.payload.data.word_select(part, 8 * BEAT)),
            bus.write.payload.strobe.eq(nic.write.payload.strobe.word_select(part, BEAT)),
            nic.read.valid.eq(answers & bus.read.valid & whole),
            bus.read.ready.eq(answers & (nic.read.ready | ~whole)),
            moved.eq((bus.write.valid & bus.write.ready) | (bus.read.valid & bus.read.ready)),
            nic.done.eq(busy & bus.done),
        ]
        if ratio == 1:
            m.d.comb += [bus.request.payload.jump_address.eq(asked.payload.jump_address),
                         bus.write.payload.jump.eq(nic.write.payload.jump)]
        with m.If(bus.request.valid & bus.request.ready):
            m.d.sync += [busy.eq(1), writes.eq(asked.payload.write),
                         left.eq(bus.request.payload.beats)]
        with m.If(nic.done):
            m.d.sync += busy.eq(0)
        with m.If(moved):
            m.d.sync += [left.eq(left - 1), part.eq(Mux(whole, 0, part + 1))]

        before = Signal(8 * BEAT * (ratio - 1))
        with m.If(answers & bus.read.valid & ~whole):
            m.d.sync += before.word_select(part, 8 * BEAT).eq(bus.read.payload)
        word = Cat(before, bus.read.payload)
        if tags == 1:
            m.d.comb += [nic.read.payload.eq(word), self.idle.eq(~busy & ~asked.valid)]
            return m
        tag = Signal.like(asked.payload.tag)
        with m.If(bus.request.valid & bus.request.ready):
            m.d.sync += tag.eq(asked.payload.tag)
        m.d.comb += [
            nic.read.payload.data.eq(word),
            nic.read.payload.tag.eq(tag),
            nic.read.payload.last.eq(left == 1),
            nic.done_tag.eq(tag),
            self.idle.eq((queue.level == 0) & ~busy & ~nic.request.valid),
        ]
        return m
