"""Receive FIFO: checks packets, keeps the good ones, and drops the others or marks them as bad."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.packet import FLIT_BYTES, TRACE_BITS, Protocol
from ....layouts.trace import Drop, Kind
from ...parts.block_ram import BlockRam
from ...parts.event import EventPort
from ...parts.flit import FlitStream, Header
from ...parts.queue import Queue
from ...parts.receive_word import ReceiveWord
from .packet_fifo import PacketFifo

__all__ = ["ReceiveCounts", "ReceiveFifo"]

ReceiveCounts = wiring.Signature({
    "good": Out(1),
    "crc_error": Out(1),
    "malformed": Out(1),
    "misrouted": Out(1),
    "overflow": Out(1),
    "stalled": Out(1),
})
"""Pulses to count: a packet ended so in this cycle; ``stalled``: a header flit waits for room."""


class ReceiveFifo(PacketFifo):
    """Takes packets as flits and gives them as words. A packet becomes visible once it is whole and
    good; one of protocol ``early`` is visible as it comes.

    With the header flit it is decided whether the packet is stored. It is not if its length
    exceeds mtu + 16 bytes or its destination is another node; nor, with ``drop``, if there is no
    room for all of it. Without ``drop`` the header flit waits for that room. With the last flit
    the packet is committed, or counted as the first that holds of: CRC wrong, malformed (too long,
    or not as long as its header says), misrouted, overflow.

    A stored packet of protocol ``early`` is visible from its header flit on, if that promises more.
    Its last word comes with the last flit, however many those are, and says whether it is bad: with
    the header it is only known that it may be. It is counted as any other.

    Latency: 2 cycles from the last flit to the header word on ``o``; of a packet that is visible
    early, from a flit to its word. Throughput: 1 flit and 1 word a cycle. Back-pressure: only on
    header flits. Reset: empty.

    Parameters
    ----------
    fifo_bytes : int
        Capacity in bytes, a power of two.
    mtu : int
        Payload bytes of a packet.
    early : Protocol, optional
        Whose packets are visible early. Whoever takes them heeds ``bad``.

    Members
    -------
    i : In(FlitStream)
        Packets without CRC.
    bad : In(1)
        With the last flit of ``i``: the CRC was wrong.
    node : In(8)
        Destination that is let in.
    drop : In(1)
        Drop what finds no room.
    o : Out(stream of ReceiveWord)
        Words of committed packets, and of one under way that is visible early.
    level : Out(16)
        Packets that ended here, were visible, and are not yet taken whole.
    counts : Out(ReceiveCounts)
        How packets ended.
    idle : Out(1)
        Between packets.
    end : Out(EventPort)
        Block RECEIVE_LINK: END when a packet is committed, DROP with the reason.

    Raises
    ------
    TypeError
        ``early`` is not a Protocol.
    ValueError
        It could not hold a packet.
    """

    def __init__(self, *, fifo_bytes: int, mtu: int, early: Protocol | None = None) -> None:
        if early is not None and not isinstance(early, Protocol):
            raise TypeError(f"early must be a Protocol, not {early!r}")
        self._early = early
        super().__init__(fifo_bytes=fifo_bytes, mtu=mtu, members={
            "i": In(FlitStream),
            "bad": In(1),
            "node": In(8),
            "drop": In(1),
            "o": Out(stream.Signature(ReceiveWord)),
            "level": Out(16),
            "counts": Out(ReceiveCounts),
            "idle": Out(1),
            "end": Out(EventPort),
        })

    @property
    def early(self) -> Protocol | None:
        """The protocol whose packets are visible early."""
        return self._early

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # With ``early`` a word has a bit more: the packet is bad, and ends with it.
        m.submodules.words = words = BlockRam(shape=64 if self._early is None else 65,
                                              depth=self._words)
        m.submodules.traces = traces = Queue(shape=TRACE_BITS, depth=self._words)
        write = words.write_port()
        read = words.read_port()
        bits = (self._words - 1).bit_length()
        tail = Signal(bits + 1)
        committed = Signal(bits + 1)
        head = Signal(bits + 1)
        # The packet under way is visible; a packet ended that is.
        shown = Signal()
        ended = Signal()
        self._write_side(m, write, traces, tail, committed, head, shown, ended)
        self._read_side(m, read, traces, committed, head, bits, ended)
        # The cycle between a commit and its being seen belongs to neither side.
        m.d.comb += self.idle.eq(~self.i.valid & (tail == committed) & ~shown
                                 & ((committed == head) | self.o.valid))
        return m

    def _write_side(self, m: Module, write: memory.WritePort, traces: Queue, tail: Signal,
                    committed: Signal, head: Signal, shown: Signal, ended: Signal) -> None:
        flit = self.i.payload
        header = data.View(Header, flit.data)
        # Of the packet under way; ``left`` are the words that its header still promises.
        sink = Signal()
        too_long = Signal()
        elsewhere = Signal()
        left = Signal(14)
        size = Signal(3)

        free = Signal(range(self._words + 1))
        following = Signal(14)
        room = Signal()
        take = Signal()
        mismatch = Signal()
        is_long = Signal()
        is_elsewhere = Signal()
        will_sink = Signal()
        # The packet becomes visible with this flit; ends being so with this one.
        shows = Signal()
        shown_end = Signal()
        m.d.comb += [
            write.addr.eq(tail),
            write.data.eq(flit.data),
            traces.i.payload.eq(flit.trace),
            shown_end.eq(take & shown & flit.last),
            traces.i.valid.eq(take & shows | self.counts.good & ~shown),
            ended.eq(self.counts.good | shown_end),
            self.end.kind.eq(Kind.DROP),
            self.end.number.eq(flit.trace),
        ]
        with m.If(self.i.valid):
            with m.If(flit.first):
                m.d.comb += [
                    free.eq(self._words - (committed - head)[:len(tail)]),
                    following.eq((header.length + 7) >> 3),
                    room.eq(following < free),
                    is_long.eq(header.length > self._longest),
                    is_elsewhere.eq(header.destination != self.node),
                    will_sink.eq(is_long | is_elsewhere | ~room),
                    take.eq(is_long | is_elsewhere | room | self.drop),
                    mismatch.eq((following != 0) | (flit.size != FLIT_BYTES)),
                    write.en.eq(~will_sink),
                ]
                if self._early is not None:
                    m.d.comb += shows.eq((header.protocol == self._early.value)
                                         & (following != 0) & ~flit.last & ~will_sink)
            with m.Else():
                m.d.comb += [
                    is_long.eq(too_long),
                    is_elsewhere.eq(elsewhere),
                    will_sink.eq(sink),
                    take.eq(1),
                    mismatch.eq((left != 1) | (flit.size[:3] != size)),
                    # The last word of one that is visible comes when all is known.
                    write.en.eq(Mux(shown, flit.last | (left > 1), ~sink & (left != 0))),
                ]
                if self._early is not None:
                    m.d.comb += write.data[64].eq(shown_end & (self.bad | mismatch))
            m.d.comb += [self.i.ready.eq(take), self.counts.stalled.eq(~take)]
        with m.If(take):
            with m.If(write.en):
                m.d.sync += tail.eq(tail + 1)
                with m.If(shows | shown):
                    m.d.sync += committed.eq(tail + 1)
            with m.If(flit.first):
                m.d.sync += [shown.eq(shows), sink.eq(will_sink), too_long.eq(is_long),
                             elsewhere.eq(is_elsewhere), left.eq(following),
                             size.eq(header.length)]
            with m.Elif(left != 0):
                m.d.sync += left.eq(left - 1)
            with m.If(flit.last):
                m.d.comb += self.end.valid.eq(1)
                m.d.sync += shown.eq(0)
                with m.If(~shown):
                    m.d.sync += tail.eq(committed)
                with m.If(self.bad):
                    m.d.comb += [self.counts.crc_error.eq(1), self.end.arg.eq(Drop.CRC)]
                with m.Elif(is_long | mismatch):
                    m.d.comb += [self.counts.malformed.eq(1), self.end.arg.eq(Drop.MALFORMED)]
                with m.Elif(is_elsewhere):
                    m.d.comb += [self.counts.misrouted.eq(1), self.end.arg.eq(Drop.MISROUTED)]
                with m.Elif(will_sink):
                    m.d.comb += [self.counts.overflow.eq(1), self.end.arg.eq(Drop.OVERFLOW)]
                with m.Else():
                    m.d.comb += [self.counts.good.eq(1), self.end.kind.eq(Kind.END)]
                    m.d.sync += [tail.eq(tail + 1), committed.eq(tail + 1)]

    def _read_side(self, m: Module, read: memory.ReadPort, traces: Queue, committed: Signal,
                   head: Signal, bits: int, ended: Signal) -> None:
        word = self.o.payload
        header = data.View(Header, read.data[:64])
        left = Signal(14)
        inside = Signal()
        next_head = Signal(bits + 1)
        following = Signal(14)
        last = Signal()
        bad = Signal()
        gone = Signal()
        if self._early is not None:
            m.d.comb += bad.eq(read.data[64])
        m.d.comb += [
            next_head.eq(head + 1),
            read.addr.eq(Mux(self.o.valid, next_head, head)),
            read.en.eq(0),
            traces.o.ready.eq(gone),
        ]
        with m.If(self.o.valid):
            m.d.comb += [
                following.eq((header.length + 7) >> 3),
                last.eq(Mux(inside, (left == 1) | bad, following == 0)),
                word.data.eq(read.data),
                word.first.eq(~inside),
                word.following.eq(following),
                word.last.eq(last),
                word.bad.eq(bad),
                word.trace.eq(traces.o.payload),
            ]
            with m.If(self.o.ready):
                m.d.comb += [read.en.eq(1), gone.eq(last)]
                m.d.sync += [
                    head.eq(next_head),
                    self.o.valid.eq(next_head != committed),
                    inside.eq(~last),
                    left.eq(Mux(inside, left - 1, following)),
                ]
        with m.Elif(head != committed):
            m.d.comb += read.en.eq(1)
            m.d.sync += self.o.valid.eq(1)
        with m.If(ended):
            with m.If(~gone):
                m.d.sync += self.level.eq(self.level + 1)
        with m.Elif(gone):
            m.d.sync += self.level.eq(self.level - 1)
