"""Takes packets of Protocol.VIA apart."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.packet import TRACE_BITS
from ....layouts.trace import Kind
from ....layouts.via import PacketKind
from ...parts.event import EventPort
from ...parts.flit import Header
from ...parts.receive_word import ReceiveWord
from ..types import Address, Detail, ViaHeader
from .packet_words import PacketWord

__all__ = ["Parsed", "ReceiveParse"]


class Parsed(data.Struct):
    """The headers of a packet. ``bytes``: of data behind them. ``malformed``: it is shorter than
    its headers; all but ``trace`` is meaningless then. ``none``: no word of data, and ``bad`` of a
    packet with none: it is not to be used."""

    node: 8
    detail: Detail
    header: ViaHeader
    address: Address
    bytes: 16
    malformed: 1
    none: 1
    bad: 1
    trace: TRACE_BITS


class ReceiveParse(wiring.Component):
    """Headers of a packet on ``o``, as they come, then its data on ``data``, the last word of which
    says whether the packet is bad.

    The data of a packet comes after its headers were taken; the headers of the next once its data
    was taken whole.

    Latency: 1 cycle from the last header word to ``o``. Throughput: 1 word a cycle. Back-pressure:
    ``o`` and ``data`` stall ``i``. Reset: between packets.

    Members
    -------
    i : In(stream of ReceiveWord)
        Packets of Protocol.VIA.
    o : Out(stream of Parsed)
        Headers.
    data : Out(stream of PacketWord)
        The data, in words.
    idle : Out(1)
        Between packets.
    event : Out(EventPort)
        Block VI_RECEIVE: BEGIN, in the cycle in which a good packet's last word is taken: what
        comes before is the link's time.
    """

    i: In(stream.Signature(ReceiveWord))
    o: Out(stream.Signature(Parsed))
    data: Out(stream.Signature(PacketWord))
    idle: Out(1)
    event: Out(EventPort)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        word = self.i.payload
        parsed = Signal(Parsed)
        length = Signal(16)
        wire_header = data.View(Header, word.data)
        detail = data.View(Detail, wire_header.detail[:Detail.size])
        via_header = data.View(ViaHeader, word.data)
        m.d.comb += [
            self.o.payload.eq(parsed),
            self.data.payload.data.eq(word.data),
            self.data.payload.last.eq(word.last),
            self.data.payload.bad.eq(word.bad),
            self.event.valid.eq(self.i.valid & self.i.ready & word.last & ~word.bad),
            self.event.kind.eq(Kind.BEGIN),
            self.event.number.eq(word.trace),
        ]
        with m.FSM() as state:
            with m.State("HEADER"):
                m.d.comb += self.i.ready.eq(1)
                with m.If(self.i.valid & word.first):
                    m.d.sync += [
                        parsed.node.eq(wire_header.source),
                        parsed.detail.eq(detail),
                        parsed.trace.eq(word.trace),
                        parsed.malformed.eq(0),
                        length.eq(wire_header.length),
                        parsed.none.eq(word.last),
                        parsed.bad.eq(word.bad),
                    ]
                    m.next = "VIA"
                    with m.If(wire_header.length < 8):
                        m.d.sync += parsed.malformed.eq(1)
                        m.next = "PARSED"
            with m.State("VIA"):
                m.d.comb += self.i.ready.eq(1)
                with m.If(self.i.valid):
                    m.d.sync += [
                        parsed.header.eq(via_header),
                        parsed.bytes.eq(length - 8),
                        parsed.none.eq(word.last),
                        parsed.bad.eq(word.bad),
                    ]
                    m.next = "PARSED"
                    with m.If((parsed.detail.kind == PacketKind.RDMA_WRITE)
                              | (parsed.detail.kind == PacketKind.READ_REQUEST)):
                        with m.If(length < 16):
                            m.d.sync += parsed.malformed.eq(1)
                        with m.Elif(~word.last):
                            m.next = "ADDRESS"
            with m.State("ADDRESS"):
                m.d.comb += self.i.ready.eq(1)
                with m.If(self.i.valid):
                    m.d.sync += [
                        parsed.address.eq(word.data),
                        parsed.bytes.eq(length - 16),
                        parsed.none.eq(word.last),
                        parsed.bad.eq(word.bad),
                    ]
                    m.next = "PARSED"
            with m.State("PARSED"):
                m.d.comb += self.o.valid.eq(1)
                with m.If(self.o.ready):
                    m.next = "DATA"
                    with m.If(parsed.none):
                        m.next = "HEADER"
            with m.State("DATA"):
                m.d.comb += [
                    self.data.valid.eq(self.i.valid),
                    self.i.ready.eq(self.data.ready),
                ]
                with m.If(self.i.valid & self.i.ready & word.last):
                    m.next = "HEADER"
        m.d.comb += self.idle.eq(state.ongoing("HEADER") & ~self.i.valid)
        return m
