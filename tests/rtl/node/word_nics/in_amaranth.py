"""The NIC in Amaranth."""

from typing import Any

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring

__all__ = ["WordNic"]


class WordNic(wiring.Component):
    """Registers, at 0: a packet's header, or how many packets have come; at 8: a word, which sends
    the packet, or the last one that came; at 16: ``own.wait``; at 24: the wire address. An answer
    is ``own.wait`` cycles late, and a packet must have left before another is written."""

    def __init__(self, side: Any) -> None:
        self._parts = side.link_width // 8
        super().__init__(side)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        pio, tx, rx, wait = self.pio, self.link.tx, self.link.rx, self.own.wait
        header, word, count, last = Signal(64), Signal(64), Signal(64), Signal(64)
        sending, left, reads = Signal(2), Signal(range(101)), Signal()
        address = Signal.like(pio.address)
        trace = Signal.like(pio.trace)
        whole = self._parts > 1
        m.d.comb += [
            pio.ready.eq(~reads & (sending == 0)),
            pio.answer.valid.eq(reads & (left == 0)),
            rx.ready.eq(1),
            tx.valid.eq(sending != 0),
            tx.payload.trace.eq(trace),
            self.events[0].number.eq(trace),
            self.events[0].kind.eq(sending != 0),
        ]
        with m.Switch(address[3:5]):
            for index, value in enumerate((count, last, wait, self.node)):
                with m.Case(index):
                    m.d.comb += pio.answer.data.eq(value)
        if whole:
            m.d.comb += [tx.payload.data.eq(Cat(header, word)), tx.payload.size.eq(16),
                         tx.payload.first.eq(1), tx.payload.last.eq(1)]
        else:
            with m.If(sending == 1):
                m.d.comb += [tx.payload.data.eq(word), tx.payload.last.eq(1)]
            with m.Else():
                m.d.comb += [tx.payload.data.eq(header), tx.payload.first.eq(1)]
            m.d.comb += tx.payload.size.eq(8)
        with m.If(pio.valid & pio.ready):
            with m.If(~pio.write):
                m.d.sync += [reads.eq(1), left.eq(wait), address.eq(pio.address)]
            with m.Elif(pio.address[3]):
                m.d.comb += self.events[0].valid.eq(1)
                m.d.comb += self.events[0].number.eq(pio.trace)
                m.d.sync += [word.eq(pio.data), trace.eq(pio.trace),
                             sending.eq(1 if whole else 2)]
            with m.Else():
                m.d.sync += header.eq(pio.data)
        with m.If(reads):
            m.d.sync += [left.eq(left - 1), reads.eq(left != 0)]
        with m.If(tx.valid & tx.ready):
            m.d.sync += sending.eq(sending - 1)
            m.d.comb += self.events[0].valid.eq(tx.payload.last)
        with m.If(rx.valid & rx.payload.last):
            m.d.sync += [count.eq(count + 1), last.eq(rx.payload.data[64:128] if whole
                                                      else rx.payload.data)]
        m.d.comb += self.irq[-1].eq(count != 0)
        return m
