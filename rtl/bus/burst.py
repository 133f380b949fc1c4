"""Bursts: the interface between an initiator (host port, DMA engine) and a target (bus, memory)."""

from amaranth.hdl import Mux, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ...layouts.packet import TRACE_BITS

__all__ = ["BurstRequest", "BurstWord", "Burst", "MAX_BEATS", "beats_of"]

MAX_BEATS = 512


class BurstRequest(data.Struct):
    """One burst of ``beats`` (1 to MAX_BEATS) 8-byte beats at ``address`` (a multiple of 8) upward.

    ``jump_address`` (a multiple of 8): address of a write's beat with ``jump``; ignored in a burst
    without such a beat.
    """

    write: 1
    address: 32
    jump_address: 32
    beats: 10
    trace: TRACE_BITS


class BurstWord(data.Struct):
    """A beat: a write's data with byte strobes, or data read (``strobe`` unused).

    ``jump`` in a write's beat: this beat, always the burst's last, goes to the request's
    ``jump_address`` instead. It counts among ``beats`` and may be the only one. So a completion
    word that lies before its data is written after it, in one burst.
    """

    data: 64
    strobe: 8
    jump: 1


Burst = wiring.Signature({
    "request": Out(stream.Signature(BurstRequest)),
    "write": Out(stream.Signature(BurstWord)),
    "read": In(stream.Signature(64)),
    "done": In(1),
})
"""An initiator's side. The initiator offers ``request``; once it is taken it gives ``beats`` write
words, or takes ``beats`` read words, in order; ``done`` is high for the one cycle after which the
burst is over: the last write has landed, or the last read word was handed over. One burst at a
time."""


def beats_of(left: Value, most: Value) -> Value:
    """Beats of the next burst where ``left`` more are wanted and a burst has at most ``most``."""
    return Mux(left < most, left, most)
