"""The policy of a cache on a bus that is not coherent."""

from amaranth.hdl import Module, Mux
from amaranth.lib import data, wiring

from ....layouts.operations import Forgotten
from .policy import Policy, Step

__all__ = ["Flushing"]


class Flushing(wiring.Component):
    """A flush takes a line out of the cache, and a fetch reads a line as if it had been flushed.

    A snoop takes no line out. A line that another initiator has written to is stale, until it is
    flushed or fetched. An access to a stale line is a fault, and so is another initiator's access
    to a dirty one.

    Members
    -------
    As :class:`Policy`.
    """

    state = data.StructLayout({"held": 1, "dirty": 1, "stale": 1})
    """The line is in the cache, has to be written back, and was written to by others."""
    steps = frozenset((Step.END, Step.CHANGE, Step.READ, Step.BACK, Step.FLUSH))
    """The steps that it gives."""

    def __init__(self) -> None:
        super().__init__(Policy(self.state))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        access, own, snoop, other = self.access, self.own, self.snoop, self.other
        change, fault = self.change, self.fault
        m.d.comb += [
            self.step.eq(Step.READ),
            self.fills.eq(1),
            self.entered.held.eq(~access.flush),
            self.entered.dirty.eq(access.store),
            change.valid.eq(snoop.valid & snoop.known & snoop.write & ~other.stale),
            change.address.eq(snoop.address),
            change.state.held.eq(1),
            change.state.dirty.eq(other.dirty),
            change.state.stale.eq(1),
            # A word that is written before its beat is read is read as written: it is not old.
            self.strikes.eq(snoop.valid & snoop.write & snoop.meets & snoop.passed),
        ]
        with m.If(access.flush):
            m.d.comb += self.step.eq(Step.END)
            with m.If(access.hit):
                m.d.comb += self.step.eq(Mux(own.dirty, Step.FLUSH, Step.CHANGE))
        with m.Elif(access.hit & ~access.fetch):
            m.d.comb += self.step.eq(Step.END)
            with m.If(access.store & ~own.dirty):
                m.d.comb += self.step.eq(Step.CHANGE)
        with m.Elif(own.held & own.dirty):
            m.d.comb += self.step.eq(Step.BACK)

        with m.If(snoop.valid & snoop.known & other.dirty):
            m.d.comb += [
                fault.valid.eq(1),
                fault.what.eq(Mux(snoop.write, Forgotten.LOST_WRITE, Forgotten.OLD_READ)),
                fault.address.eq(snoop.address),
            ]
        with m.Elif(access.hit & own.stale & ~access.fetch & ~access.flush):
            m.d.comb += [
                fault.valid.eq(1),
                fault.what.eq(Forgotten.OLD_LOAD),
                fault.address.eq(access.address),
            ]
        return m
