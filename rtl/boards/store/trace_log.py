"""Log of the target's events on a board, for the back end."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ....layouts.board import TRACE_RECORD
from ....layouts.packet import TRACE_BITS
from ....layouts.trace import ARG_BITS
from ...parts.trace_sink import TracePort
from .log import Log, LogRead, check_burst

__all__ = ["EventLayout", "TraceLog"]

EventLayout = data.StructLayout({"cycle": 32, "node": 8, "block": 8, "cycle_high": 16, "kind": 8,
                                 "number": TRACE_BITS, "arg": ARG_BITS})
"""A trace record, as layouts.board declares it."""


class TraceLog(wiring.Component):
    """Captures the events of a target cycle, and logs one in each cycle, from the lowest source on.

    Latency, room and reset as :class:`Log`, for an event of each source at once.

    Parameters
    ----------
    sources : :class:`int`
        Sources of events, 1 or more.

    Members
    -------
    trace : ``In(TracePort)``, one a source
        Events of the target.
    enable : ``In(1)``, cycle : ``In(64)``
        Whether they are recorded; the cycle counter.
    step : ``In(1)``
        The next edge is one of the target's, which ends the cycle of the events. Not while
        ``pending``.
    pending : ``Out(1)``
        Events were captured that are not in the log yet.
    read : ``Out(LogRead)``
        Records: EventLayout. ``clear`` forgets captured events, too.

    Raises
    ------
    TypeError
        ``sources`` is not an integer.
    ValueError
        ``sources`` is none, or more than a :class:`Log` can take at once.
    """

    def __init__(self, *, sources: int) -> None:
        check_burst("sources", 32 * TRACE_RECORD, sources)
        self._sources = sources
        super().__init__({
            "trace": In(TracePort).array(sources),
            "enable": In(1),
            "cycle": In(64),
            "step": In(1),
            "pending": Out(1),
            "read": Out(LogRead(EventLayout)),
        })

    @property
    def sources(self) -> int:
        """Sources of events."""
        return self._sources

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.log = log = Log(width=32 * TRACE_RECORD, burst=self._sources)
        record = data.View(EventLayout, log.i.payload)

        captured = Signal(self._sources)
        first = Signal(self._sources)
        cycle = Signal(48)
        m.d.comb += [
            first.eq(captured & (~captured + 1)),
            self.pending.eq(captured.any()),
            log.i.valid.eq(self.pending),
            record.cycle.eq(cycle[:32]),
            record.cycle_high.eq(cycle[32:]),
        ]
        fields = ("node", "block", "kind", "number", "arg")
        picked = {name: 0 for name in fields}
        for number, source in enumerate(self.trace):
            kept = Signal(data.StructLayout({name: record[name].shape() for name in fields}),
                          name=f"event_{number}")
            with m.If(self.step):
                m.d.sync += [kept[name].eq(getattr(source, name)) for name in fields]
            # An OR of the selected event is smaller than a choice by priority.
            picked = {name: picked[name] | (kept[name] & first[number].replicate(len(kept[name])))
                      for name in fields}
        m.d.comb += [record[name].eq(picked[name]) for name in fields]

        with m.If(self.step):
            m.d.sync += [
                captured.eq(Cat(source.valid for source in self.trace)
                            & self.enable.replicate(self._sources)),
                cycle.eq(self.cycle),
            ]
        with m.Elif(log.i.ready):
            m.d.sync += captured.eq(captured & ~first)
        with m.If(self.read.clear):
            m.d.sync += captured.eq(0)

        connect(m, log.read, flipped(self.read))
        return m
