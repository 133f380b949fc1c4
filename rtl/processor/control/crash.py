"""Crashes: how the NIC processor stops for good, and the report of it."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ....layouts.processor import STATUS, CrashReason, State
from ..types import ProcessorState

__all__ = ["Crash", "CrashReport", "Fault"]

_REASON_BITS = 8

CrashReport = wiring.Signature({
    "valid": Out(1),
    "reason": Out(_REASON_BITS),
    "pc": Out(32),
    "cause": Out(32),
})
"""The firmware's report of a crash: registers ``crash`` (``valid``, ``reason``), ``crash_pc`` and
``crash_cause``."""


Fault = wiring.Signature({
    "valid": Out(1),
    "address": Out(32),
})
"""A cycle with ``valid`` is an access to ``address``, which is unmapped."""


class Crash(wiring.Component):
    """Collects the causes that stop the processor. The first one wins, and holds until ``run`` is
    low.

    Priority of causes in the same cycle: the firmware's own report, a bus error, the core's trap,
    the watchdog. The report:

    ====================  =======================  =========================
    reason                ``pc``                   ``cause``
    ====================  =======================  =========================
    as reported           as reported              as reported
    BUS                   ``core_pc``              the address
    TRAP, WATCHDOG        ``core_pc``              0
    ====================  =======================  =========================

    Latency: ``state.crashed`` from the cycle after the cause. Reset: not crashed.

    Members
    -------
    run : ``In(1)``
        Low: the processor is held in reset, and no crash is taken.
    asleep : ``In(1)``
        It is in a read of ``wait``.
    report : ``In(CrashReport)``
        From the register file.
    fault : ``In(Fault)``
        An access to an unmapped address.
    trap : ``In(1)``
        The core has stopped by itself.
    expired : ``In(1)``
        From the watchdog.
    core_pc : ``In(32)``
        Address of the instruction fetched last.
    state : ``Out(ProcessorState)``
        ``pc`` is ``core_pc`` until there is a crash.
    """

    run: In(1)
    asleep: In(1)
    report: In(CrashReport)
    fault: In(Fault)
    trap: In(1)
    expired: In(1)
    core_pc: In(32)
    state: Out(ProcessorState)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        told = self.state
        mode = Signal(2)
        reason = Signal(_REASON_BITS)
        where = Signal(32)

        with m.If(~self.run):
            m.d.comb += mode.eq(State.RESET)
        with m.Elif(told.crashed):
            m.d.comb += mode.eq(State.CRASHED)
        with m.Elif(self.asleep):
            m.d.comb += mode.eq(State.ASLEEP)
        with m.Else():
            m.d.comb += mode.eq(State.RUNNING)
        m.d.comb += [
            told.status.eq((mode << STATUS.offset("state"))
                           | (reason << STATUS.offset("reason"))),
            told.pc.eq(Mux(told.crashed, where, self.core_pc)),
        ]

        with m.If(~self.run):
            m.d.sync += [told.crashed.eq(0), reason.eq(CrashReason.NONE), told.cause.eq(0)]
        with m.Elif(~told.crashed & (self.report.valid | self.fault.valid | self.trap
                                     | self.expired)):
            m.d.sync += [told.crashed.eq(1), where.eq(self.core_pc)]
            with m.If(self.report.valid):
                m.d.sync += [
                    reason.eq(self.report.reason),
                    where.eq(self.report.pc),
                    told.cause.eq(self.report.cause),
                ]
            with m.Elif(self.fault.valid):
                m.d.sync += [reason.eq(CrashReason.BUS), told.cause.eq(self.fault.address)]
            with m.Elif(self.trap):
                m.d.sync += reason.eq(CrashReason.TRAP)
            with m.Else():
                m.d.sync += reason.eq(CrashReason.WATCHDOG)
        return m
