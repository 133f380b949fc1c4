"""Joins a NIC with wide flits to the 8-byte link of today."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ...layouts.packet import FLIT_BYTES
from .nic_side import LinkSide

__all__ = ["LinkAdapter"]


class LinkAdapter(wiring.Component):
    """Cuts flits of ``width`` bytes into flits of 8 bytes, and joins flits of 8 bytes to wide ones.

    A flit that is sent takes a cycle for each 8 bytes of its ``size``; one that is received is
    handed over with its last 8 bytes, or earlier if its packet ends. Bytes beyond ``size`` are 0.

    Latency: sent, none; received, none from the last 8 bytes of a flit. Throughput: 8 bytes a
    cycle each way. Back-pressure: as of the other side; 8-byte flits are taken until a wide one is
    whole. Reset: empty.

    Parameters
    ----------
    width : :class:`int`
        Bytes of a flit of the NIC: 16, 32 or 64. With 8 flits pass as they are.

    Members
    -------
    nic : ``In(LinkSide(width))``
        The NIC.
    link : ``Out(LinkSide())``
        The link.
    idle : ``Out(1)``
        No part of a flit is kept.

    Raises
    ------
    TypeError, ValueError
        As :func:`~nicbed.rtl.parts.flit.flit_stream` does.
    """

    def __init__(self, *, width: int) -> None:
        super().__init__({"nic": In(LinkSide(width)), "link": Out(LinkSide()), "idle": Out(1)})
        self._width = width

    @property
    def width(self) -> int:
        """Bytes of a flit of the NIC."""
        return self._width

    def elaborate(self, platform: object) -> Module:
        m = Module()
        parts = self._width // FLIT_BYTES
        m.d.comb += self.nic.credit_stall.eq(self.link.credit_stall)

        wide, one = self.nic.tx, self.link.tx
        sent = Signal(range(max(2, parts)))
        left = Signal.like(wide.payload.size)
        ends = Signal()
        m.d.comb += [
            left.eq(wide.payload.size - FLIT_BYTES * sent),
            ends.eq(left <= FLIT_BYTES),
            one.valid.eq(wide.valid),
            one.payload.data.eq(wide.payload.data.word_select(sent, 8 * FLIT_BYTES)),
            one.payload.size.eq(Mux(ends, left, FLIT_BYTES)),
            one.payload.first.eq(wide.payload.first & (sent == 0)),
            one.payload.last.eq(wide.payload.last & ends),
            one.payload.trace.eq(wide.payload.trace),
            wide.ready.eq(one.ready & ends),
        ]
        with m.If(one.valid & one.ready):
            m.d.sync += sent.eq(Mux(ends, 0, sent + 1))

        one, wide = self.link.rx, self.nic.rx
        kept = Signal.like(sent)
        before = Signal(8 * FLIT_BYTES * (parts - 1))
        first = Signal()
        whole = Signal()
        m.d.comb += [
            whole.eq((kept == parts - 1) | one.payload.last),
            wide.valid.eq(one.valid & whole),
            one.ready.eq(wide.ready | ~whole),
            wide.payload.data.eq(before | (one.payload.data << (8 * FLIT_BYTES * kept))),
            wide.payload.size.eq(FLIT_BYTES * kept + one.payload.size),
            wide.payload.first.eq(Mux(kept == 0, one.payload.first, first)),
            wide.payload.last.eq(one.payload.last),
            wide.payload.trace.eq(one.payload.trace),
            self.idle.eq((kept == 0) & (sent == 0)),
        ]
        with m.If(one.valid & one.ready):
            with m.If(whole):
                m.d.sync += [kept.eq(0), before.eq(0)]
            with m.Else():
                m.d.sync += [kept.eq(kept + 1), first.eq(wide.payload.first),
                             before.word_select(kept, 8 * FLIT_BYTES).eq(one.payload.data)]
        return m
