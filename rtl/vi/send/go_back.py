"""Queues the packets of a VI again that its peer lacks."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["GoBack", "GoingBack"]

GoingBack = wiring.Signature({
    "load": Out(1),
    "sequence": Out(8),
    "again": Out(1),
    "judge": Out(1),
    "echoed": Out(32),
    "over": In(1),
})
"""Whose packets they are. ``load`` takes ``sequence``, from which on the peer lacks packets. Then
``again`` begins to queue them, from the next cycle on; ``judge`` does if the first of them was sent
before the cycle ``echoed``. ``over`` is the last cycle."""


class GoBack(wiring.Component):
    """Queues all waiting packets of a VI again, from one on, in order (go-back-N).

    Latency: 1 cycle to judge, 1 for each packet, and 1 behind the last one. Reset: idle.

    Members
    -------
    user : In(GoingBack)
        Whose packets they are.
    sequence : Out(8), found : In(1), waits : In(1), sent : In(32)
        Packet ``sequence`` is in a slot, where it ``waits`` for an acknowledgement; a cycle later,
        when it was last ``sent``.
    again : Out(1)
        Queue it again.
    """

    user: In(GoingBack)
    sequence: Out(8)
    found: In(1)
    waits: In(1)
    sent: In(32)
    again: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        user = self.user
        waited = Signal()
        with m.FSM():
            with m.State("IDLE"):
                with m.If(user.load):
                    m.d.sync += self.sequence.eq(user.sequence)
                with m.If(user.judge):
                    m.d.sync += waited.eq(self.found & self.waits)
                    m.next = "JUDGE"
                with m.If(user.again):
                    m.next = "REPEAT"
            with m.State("JUDGE"):
                with m.If(waited & (self.sent - user.echoed)[31]):
                    m.next = "REPEAT"
                with m.Else():
                    m.d.comb += user.over.eq(1)
                    m.next = "IDLE"
            with m.State("REPEAT"):
                m.d.comb += self.again.eq(self.found & self.waits)
                m.d.sync += self.sequence.eq(self.sequence + 1)
                with m.If(~self.found):
                    m.d.comb += user.over.eq(1)
                    m.next = "IDLE"
        return m
