"""Pending events for the firmware: the bits of ``pending``, the timer, and sleep."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ....layouts.processor import Pending

__all__ = ["PENDING_BITS", "PendingBits", "PendingPort"]

PENDING_BITS = len(Pending)
_DOORBELL = Pending.DOORBELL.bit_length() - 1
_TIMER = Pending.TIMER.bit_length() - 1

PendingPort = wiring.Signature({
    "clear": Out(PENDING_BITS),
    "mask_write": Out(1),
    "timer_write": Out(1),
    "timer_off": Out(1),
    "data": Out(32),
    "wait": Out(1),
    "bits": In(PENDING_BITS),
    "mask": In(PENDING_BITS),
    "timer": In(32),
    "wake": In(1),
})
"""The register file's side: bits to clear; writes, with their data, of ``wait_mask``, ``timer`` and
``timer_off``; a read of ``wait`` that has not been answered. Back: the registers, and whether a bit
of ``bits`` & ``mask`` is set."""


class PendingBits(wiring.Component):
    """Registers ``pending``, ``wait_mask``, ``wait`` and ``timer`` of the NIC processor.

    The bits of :class:`nicbed.layouts.processor.Pending` are sticky, except DOORBELL and TIMER,
    which are levels. A bit that is set in the cycle in which it is cleared stays set, so no event
    is lost when firmware clears a bit.

    The timer, once written, is armed: TIMER rises in the cycle in which ``now - timer``, modulo
    2^32, is not negative, and stays until the timer is written again or switched off, however long.

    Latency: a pulse on ``set`` is pending in the next cycle, and ends the sleep in that cycle.
    Reset, and as long as ``run`` is low: nothing pending, nothing masked in, timer off.

    Members
    -------
    run : ``In(1)``
        Low: the processor is held in reset.
    port : ``In(PendingPort)``
        From the register file.
    set : ``In(PENDING_BITS)``
        Pulses that set sticky bits, in the order of Pending. The bits of levels are ignored.
    doorbell : ``In(1)``
        Level behind Pending.DOORBELL.
    now : ``In(32)``
        Cycle counter, low half.
    asleep : ``Out(1)``
        A read of ``wait`` waits.
    idle : ``Out(1)``
        The timer is not running: nothing changes here without an input.
    """

    run: In(1)
    port: In(PendingPort)
    set: In(PENDING_BITS)
    doorbell: In(1)
    now: In(32)
    asleep: Out(1)
    idle: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        port = self.port
        sticky = Signal(PENDING_BITS)
        mask = Signal(PENDING_BITS)
        timer = Signal(32)
        armed = Signal()
        fired = Signal()
        difference = Signal(32)
        reached = Signal()

        m.d.comb += [
            port.bits.eq(sticky),
            port.bits[_DOORBELL].eq(self.doorbell & self.run),
            port.bits[_TIMER].eq(reached),
            port.mask.eq(mask),
            port.timer.eq(timer),
            port.wake.eq((port.bits & mask).any()),
            self.asleep.eq(self.run & port.wait & ~port.wake),
            self.idle.eq(~armed | fired),
        ]
        with m.If(armed):
            m.d.comb += [
                difference.eq(self.now - timer),
                # Once reached, the state is held: the difference turns negative again after 2^31
                # cycles.
                reached.eq(fired | ~difference[-1]),
            ]
            m.d.sync += fired.eq(reached)
        with m.If((port.clear | self.set).any()):
            m.d.sync += sticky.eq((sticky & ~port.clear) | self.set)
        with m.If(port.mask_write):
            m.d.sync += mask.eq(port.data)
        with m.If(port.timer_write):
            m.d.sync += [timer.eq(port.data), armed.eq(1), fired.eq(0)]
        with m.If(port.timer_off):
            m.d.sync += [armed.eq(0), fired.eq(0)]
        with m.If(~self.run):
            m.d.sync += [sticky.eq(0), mask.eq(0), timer.eq(0), armed.eq(0), fired.eq(0)]
        return m
