"""Writes a run of words to host memory, burst after burst: the states that DMA engines share."""

from collections.abc import Callable

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import wiring

from .burst import MAX_BEATS, beats_of

__all__ = ["WriteBursts"]


class WriteBursts:
    """The states REQUEST, WRITE and DONE of an engine's FSM, which asks for bursts and counts their
    beats until nothing is ``left``.

    The engine sets ``left`` and goes to REQUEST. It gives the request's payload while ``asks``, and
    the words while ``writes``. Latency: the request is offered in the first cycle of REQUEST, the
    next one in the cycle after a burst is over.

    Parameters
    ----------
    m : Module
        The engine's.
    bus : Burst
        Its port, which only writes.
    left : Signal
        Beats not yet asked for.
    max_beats : Value
        Longest burst in beats, at least 1.
    """

    def __init__(self, m: Module, bus: wiring.PureInterface, *, left: Signal,
                 max_beats: Value) -> None:
        self._m = m
        self._bus = bus
        self.left = left
        self.beats = Signal(range(MAX_BEATS + 1))
        """Beats of this burst not yet given."""
        self.next_beats = Signal(range(MAX_BEATS + 1))
        """Beats of the burst that is asked for."""
        self.max_beats = max_beats
        self.asks = Signal()
        self.asked = Signal()
        """The request is taken."""
        self.writes = Signal()
        self.last = Signal()
        """The beat is the last one of all."""
        self.moved = Signal()
        """A beat is taken."""

    def states(self, over: Callable[[], None]) -> None:
        """Add the states to the FSM that is open. ``over`` is called for the logic of the cycle in
        which all has landed: it says which state comes next."""
        m, bus = self._m, self._bus

        def done() -> None:
            m.next = "REQUEST"
            with m.If(self.left == 0):
                over()

        with m.State("REQUEST"):
            m.d.comb += [
                self.next_beats.eq(beats_of(self.left, self.max_beats)),
                bus.request.valid.eq(1),
                self.asks.eq(1),
            ]
            with m.If(bus.request.ready):
                m.d.comb += self.asked.eq(1)
                m.d.sync += [self.beats.eq(self.next_beats),
                             self.left.eq(self.left - self.next_beats)]
                m.next = "WRITE"
        with m.State("WRITE"):
            m.d.comb += [self.writes.eq(1), self.last.eq((self.left == 0) & (self.beats == 1))]
            with m.If(bus.write.valid & bus.write.ready):
                m.d.comb += self.moved.eq(1)
                m.d.sync += self.beats.eq(self.beats - 1)
                with m.If(self.beats == 1):
                    m.next = "DONE"
                    # It may come with the last beat, or later.
                    with m.If(bus.done):
                        done()
        with m.State("DONE"):
            with m.If(bus.done):
                done()
