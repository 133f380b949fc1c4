"""The checks of a host port's poll: how it reads one of its watches."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.utils import ceil_log2

from ...layouts.operations import NIC_BASE, WATCHES, Flag, Status
from .execution import Execution

__all__ = ["watch", "check"]

_NIC_BIT = ceil_log2(NIC_BASE)


def watch(x: Execution, m: Module) -> None:
    """A WATCH entry before its POLL: nothing is checked yet."""
    m.d.comb += x.finishes.eq(1)
    with m.If(~x.watching):
        m.d.sync += x.base.eq(x.host.index)


def check(x: Execution, m: Module) -> None:
    """A check of the watch of the current entry."""
    host, entry, now = x.host, x.entry, x.port.now
    alone = x.opens  # it executes in its first cycle: what the registers will hold is here
    checked = Signal()
    word = Signal(64)
    number = Signal(ceil_log2(WATCHES))
    m.d.comb += [number.eq(Mux(alone, 0, host.index - x.base)), x.kept.number.eq(number),
                 x.result.eq(word)]
    with m.If(entry.address[_NIC_BIT]):
        m.d.comb += [x.posted.i.valid.eq(~x.sent), checked.eq(x.pio_done),
                     word.eq(x.pio_data)]
        with m.If(x.posted.i.ready):
            m.d.sync += x.sent.eq(1)
    with m.Else():
        # A kept word of a line that is in the cache needs no memory.
        m.d.comb += [x.accesses.eq(1), checked.eq(x.accessed),
                     x.cache.fetch.eq(1 if x.shape.flushes else ~x.kept.held),
                     x.cache.address.eq(entry.address)]
        with m.If(x.cache.reads):
            m.d.comb += [word.eq(x.cache.word), x.kept.store.eq(x.cache.done & ~x.cache.stale)]
        with m.Else():
            m.d.comb += word.eq(x.kept.word)

    with m.If(checked):
        is_last = Signal()
        round_ends = Signal()
        timeout = Signal(32)
        spent = Signal(32)
        matches = Signal()
        late = Signal()
        length = Signal(32)
        m.d.comb += [
            is_last.eq(alone | (host.index == x.last)),
            round_ends.eq(is_last & Mux(alone, x.flag(Flag.ONCE), x.once)),
            timeout.eq(Mux(alone, entry.length, x.timeout)),
            spent.eq(Mux(alone, 0, now - x.begun)),
            length.eq(Mux(x.begins, 0, now - x.check_begun) + 1),
            x.check_cycles.eq(Mux(length[16:].any(), ~0, length)),
            matches.eq(((word & entry.data[1]) == entry.data[0]) ^ x.flag(Flag.NOT_EQUAL)),
            late.eq(round_ends | ((timeout != 0) & (spent + 1 >= timeout))),
        ]
        with m.If(matches):
            m.d.comb += [x.finishes.eq(1), x.status.eq(number << Status.WATCH_SHIFT.value)]
        with m.Elif(late):
            m.d.comb += [x.finishes.eq(1), x.status.eq(Status.TIMEOUT), x.discard.eq(~round_ends)]
        with m.Else():
            m.d.comb += [x.turn.eq(1), x.repeats.eq(~x.watching & ~entry.address[_NIC_BIT]
                                                    & ~x.cache.reads)]
            with m.If(~is_last):
                m.d.comb += x.following.eq(host.index + 1)
            with m.Elif(alone):
                m.d.comb += x.following.eq(host.index)
            with m.Else():
                m.d.comb += x.following.eq(x.base)
