"""How the NIC processor stops for good, and what it then says about it."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ...layouts.processor import STATUS, CrashReason, State

__all__ = ["Crash", "CrashReport"]

_REASON_BITS = 8

CrashReport = wiring.Signature({
    "valid": Out(1),
    "reason": Out(_REASON_BITS),
    "pc": Out(32),
    "cause": Out(32),
})
"""The firmware's word on a crash: registers ``crash`` (``valid``, ``reason``), ``crash_pc`` and
``crash_cause``."""


class Crash(wiring.Component):
    """Collects what can stop the processor; the first wins, and holds until ``run`` is low.

    Where several come in one cycle: the firmware's own report, then a bus error, then the core's
    trap, then the watchdog. What is told:

    ====================  =======================  =========================
    reason                ``pc``                   ``cause``
    ====================  =======================  =========================
    as reported           as reported              as reported
    BUS                   ``core_pc``              the address
    TRAP, WATCHDOG        ``core_pc``              0
    ====================  =======================  =========================

    Latency: ``crashed`` from the cycle after the cause. Reset: not crashed.

    Members
    -------
    run : ``In(1)``
        Low: the processor is held in reset, and no crash is taken.
    asleep : ``In(1)``
        It is in a read of ``wait``.
    report : ``In(CrashReport)``
        From the register file.
    fault : ``In(1)``, fault_address : ``In(32)``
        An access to an address where nothing is, and the address.
    trap : ``In(1)``
        The core has stopped by itself.
    expired : ``In(1)``
        From the watchdog.
    core_pc : ``In(32)``
        Address of the instruction fetched last.
    crashed : ``Out(1)``
        The processor has stopped for good.
    status : ``Out(16)``, pc : ``Out(32)``, cause : ``Out(32)``
        Host registers: layouts.processor.STATUS; ``core_pc`` until there is a crash; 0 until then.
    """

    run: In(1)
    asleep: In(1)
    report: In(CrashReport)
    fault: In(1)
    fault_address: In(32)
    trap: In(1)
    expired: In(1)
    core_pc: In(32)
    crashed: Out(1)
    status: Out(16)
    pc: Out(32)
    cause: Out(32)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        state = Signal(2)
        reason = Signal(_REASON_BITS)
        where = Signal(32)

        with m.If(~self.run):
            m.d.comb += state.eq(State.RESET)
        with m.Elif(self.crashed):
            m.d.comb += state.eq(State.CRASHED)
        with m.Elif(self.asleep):
            m.d.comb += state.eq(State.ASLEEP)
        with m.Else():
            m.d.comb += state.eq(State.RUNNING)
        m.d.comb += [
            self.status.eq((state << STATUS.offset("state"))
                           | (reason << STATUS.offset("reason"))),
            self.pc.eq(Mux(self.crashed, where, self.core_pc)),
        ]

        with m.If(~self.run):
            m.d.sync += [self.crashed.eq(0), reason.eq(CrashReason.NONE), self.cause.eq(0)]
        with m.Elif(~self.crashed & (self.report.valid | self.fault | self.trap | self.expired)):
            m.d.sync += [self.crashed.eq(1), where.eq(self.core_pc)]
            with m.If(self.report.valid):
                m.d.sync += [
                    reason.eq(self.report.reason),
                    where.eq(self.report.pc),
                    self.cause.eq(self.report.cause),
                ]
            with m.Elif(self.fault):
                m.d.sync += [reason.eq(CrashReason.BUS), self.cause.eq(self.fault_address)]
            with m.Elif(self.trap):
                m.d.sync += reason.eq(CrashReason.TRAP)
            with m.Else():
                m.d.sync += reason.eq(CrashReason.WATCHDOG)
        return m
