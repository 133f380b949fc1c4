"""The host bus of a node: CPU accesses to the NIC, and the NIC's DMA to host memory."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ...layouts.rate import FRACTION_BITS
from ...layouts.trace import PORT_SHIFT, Block, Kind
from ..parts.event import EventPort
from ..parts.round_robin import RoundRobin
from ..parts.sizes import check_count
from ..parts.timing import Timing
from .burst import Burst, BurstRequest
from .pio import PioTarget
from .posted_buffer import PioBeat

__all__ = ["Bus", "PioInitiator"]

PioInitiator = wiring.Signature({
    "beat": Out(stream.Signature(PioBeat)),
    "done": In(1),
    "data": In(64),
})
"""A host port's side. It offers its accesses as beats in program order. ``done`` is high in the
last cycle of a beat that asked for an answer; a read's ``data`` is valid in that cycle."""


class Bus(wiring.Component):
    """Carries out one transaction at a time, granted round-robin among host ports and DMA engines.

    Durations, from the cycle of the grant (the first in which the bus is free and the initiator
    asks) to the last cycle, both counted, each of which the bus is held:

    - PIO write of n beats: ``bus.pio_write + (n - 1) * bus.burst_beat`` cycles. A beat reaches the
      NIC in the last of its cycles. If the port offers a beat late, the bus waits for it.
    - PIO read: ``bus.pio_read`` cycles. The NIC is read in the last but one.
    - With ``pio_width`` = 4 each PIO access of 8 bytes takes two transfers: a write of n beats
      ``bus.pio_write + (2 * n - 1) * bus.burst_beat`` cycles, a read ``2 * bus.pio_read``. A beat
      reaches the NIC with its second half.
    - A NIC that lets an access wait (:data:`PioTarget`) holds the bus for so many cycles more: a
      write until it is taken, a read until it is taken and then until its answer is valid, if that
      is later than in the next cycle.
    - DMA write of n beats: ``bus.dma_setup + n + 2`` cycles: 1 of arbitration, the set-up, 1 for
      the memory to take the request, the beats.
    - DMA read of n beats: ``bus.dma_setup + memory.latency + n + 3`` cycles: one more for the first
      word on its way.

    A DMA beat takes 8 / ``bus.bytes_per_cycle`` cycles from the cycle in which it is available.
    Fractions add up over a burst, which thus takes ``ceil(8 * n / bytes_per_cycle)`` cycles if the
    memory keeps up. Back-pressure: a slow DMA engine holds the bus. Reset: free; initiator 0 (the
    first host port) has priority.

    Each transaction is an event BEGIN in the cycle of its grant and END in the cycle after its
    last, with its trace number, and its initiator as ``arg`` (:class:`Block`).

    Parameters
    ----------
    ports : :class:`int`
        Host ports, 1 or more.
    engines : :class:`int`
        DMA engines, 0 or more.
    pio_width : :class:`int`
        Bytes of a PIO transfer, 4 or 8.

    Members
    -------
    port : ``In(PioInitiator)``, one a host port; engine : ``In(Burst)``, one a DMA engine
        The initiators.
    pio : ``Out(PioTarget)``, memory : ``Out(Burst)``
        The targets: the NIC, and the memory controller.
    timing : ``In(Timing)``
        The timing registers.
    idle : ``Out(1)``
        The bus is free and nobody asks for it.
    events : ``Out(EventPort)``, one for BEGIN and one for END
        As in :attr:`event_sources`.

    Raises
    ------
    TypeError
        ``ports`` or ``engines`` is not an integer.
    ValueError
        ``ports`` is less than 1, ``engines`` is negative, or ``pio_width`` is neither 4 nor 8.
    """

    event_sources = (Block.BUS, Block.BUS)
    """The block of each of :attr:`events`."""

    def __init__(self, *, ports: int = 1, engines: int = 2, pio_width: int = 8) -> None:
        if pio_width not in (4, 8):
            raise ValueError(f"pio_width must be 4 or 8, not {pio_width!r}")
        self._pio_width = pio_width
        check_count("ports", ports)
        check_count("engines", engines, least=0)
        self._ports = ports
        self._engines = engines
        super().__init__({
            "port": In(PioInitiator).array(ports),
            "engine": In(Burst()).array(engines),
            "pio": Out(PioTarget),
            "memory": Out(Burst()),
            "timing": In(Timing),
            "idle": Out(1),
            "events": Out(EventPort).array(len(self.event_sources)),
        })

    @property
    def ports(self) -> int:
        """Host ports."""
        return self._ports

    @property
    def engines(self) -> int:
        """DMA engines."""
        return self._engines

    @property
    def pio_width(self) -> int:
        """Bytes of a PIO transfer."""
        return self._pio_width

    def elaborate(self, platform: object) -> Module:
        m = Module()
        ports, engines = self._ports, self._engines
        halves = self._pio_width == 4
        m.submodules.arbiter = arbiter = RoundRobin(count=ports + engines)

        free = Signal(init=1)
        owner = Signal(range(ports + engines))
        granted = Signal.like(owner)
        grant = Signal()
        ends = Signal()
        trace = Signal.like(self.events[0].number)
        m.d.comb += [
            arbiter.requests.eq(Cat(*(port.beat.valid for port in self.port),
                                    *(engine.request.valid for engine in self.engine))),
            grant.eq(free & arbiter.requests.any()),
            arbiter.advance.eq(grant),
            granted.eq(Mux(free, arbiter.index, owner)),
            self.idle.eq(free & ~arbiter.requests.any()),
        ]
        with m.If(grant):
            m.d.sync += [owner.eq(arbiter.index), free.eq(0)]
        with m.If(ends):
            m.d.sync += free.eq(1)

        # Cycles until the transaction's next step, the cycle of the grant included.
        left = Signal(13 if halves else 12)
        due = Signal.like(left)
        held = Signal()
        m.d.comb += [held.eq(grant | ~free), due.eq(left)]

        beat = Signal(PioBeat)
        offered = Signal()
        taken = Signal()
        is_pio = Signal()
        m.d.comb += is_pio.eq(granted < ports)
        with m.Switch(granted):
            for number, port in enumerate(self.port):
                with m.Case(number):
                    m.d.comb += [beat.eq(port.beat.payload), offered.eq(port.beat.valid),
                                 port.beat.ready.eq(taken)]
        m.d.comb += [
            self.pio.write.eq(beat.write),
            self.pio.address.eq(beat.address),
            self.pio.data.eq(beat.data),
            self.pio.strobe.eq(0xFF),
            self.pio.trace.eq(beat.trace),
            self.pio.process.eq(beat.process),
        ]
        with m.If(held & is_pio):
            write, read = self.timing.bus_pio_write, self.timing.bus_pio_read
            next_beat = self.timing.bus_burst_beat
            if halves:
                write, read, next_beat = write + next_beat, read << 1, next_beat << 1
            with m.If(grant):
                m.d.comb += due.eq(Mux(beat.write, write, read) - 1)
            with m.If(due != 0):
                m.d.comb += self.pio.valid.eq(~beat.write & (due == 1))
                m.d.sync += left.eq(Mux(self.pio.valid & ~self.pio.ready, 1, due - 1))
            with m.Else():
                # A beat may be late, and the NIC may let a write or a read's answer wait.
                m.d.comb += [
                    self.pio.valid.eq(offered & beat.write),
                    taken.eq(offered & Mux(beat.write, self.pio.ready, self.pio.answer.valid)),
                    ends.eq(taken & beat.last),
                ]
                m.d.sync += left.eq(Mux(taken, next_beat - 1, 0))
        for number, port in enumerate(self.port):
            m.d.comb += [port.data.eq(self.pio.answer.data),
                         port.done.eq(taken & beat.answer & (granted == number))]

        self._dma(m, granted=granted, grant=grant, free=free, left=left, ends=ends)

        begin, end = self.events
        number = Signal.like(begin.number)
        m.d.comb += number.eq(beat.trace)
        with m.Switch(granted):
            for index, engine in enumerate(self.engine):
                with m.Case(ports + index):
                    m.d.comb += number.eq(engine.request.payload.trace)
        with m.If(grant):
            m.d.sync += trace.eq(number)
        initiator = granted
        if ports > 1:
            initiator = Mux(is_pio, granted << PORT_SHIFT, granted - (ports - 1))
        m.d.comb += [begin.valid.eq(grant), begin.kind.eq(Kind.BEGIN), begin.number.eq(number),
                     begin.arg.eq(initiator), end.kind.eq(Kind.END)]
        m.d.sync += [end.valid.eq(ends), end.number.eq(Mux(grant, number, trace)),
                     end.arg.eq(initiator)]
        return m

    def _dma(self, m: Module, *, granted: Value, grant: Value, free: Value, left: Signal,
             ends: Signal) -> None:
        request = Signal(BurstRequest)
        moving = Signal()
        with m.Switch(granted):
            for index, engine in enumerate(self.engine):
                with m.Case(self._ports + index):
                    with m.If(grant):
                        m.d.comb += engine.request.ready.eq(1)
                        m.d.sync += [request.eq(engine.request.payload), moving.eq(0),
                                     left.eq(self.timing.bus_dma_setup)]

        # A beat is moved when the bus time of its 8 bytes has passed since it was available.
        beat_time = 8 << FRACTION_BITS
        saved = Signal(range(2 * beat_time))
        spent = Signal.like(saved)
        there = Signal()
        m.d.comb += spent.eq(Mux(saved < beat_time, saved + self.timing.bus_bytes_per_cycle, saved))
        paid = Signal()
        m.d.comb += paid.eq(spent >= beat_time)
        moved = Signal()

        busy = Signal()
        m.d.comb += busy.eq(~free & (granted >= self._ports))
        m.d.comb += self.memory.request.payload.eq(request)
        with m.If(busy & ~moving):
            with m.If(left != 0):
                m.d.sync += left.eq(left - 1)
            with m.Else():
                m.d.comb += self.memory.request.valid.eq(1)
                m.d.sync += [moving.eq(self.memory.request.ready), saved.eq(0)]
        with m.If(busy & moving):
            with m.If(there):
                m.d.sync += saved.eq(Mux(moved, spent - beat_time, spent))
            with m.If(self.memory.done):
                m.d.comb += ends.eq(1)

        with m.Switch(granted):
            for index, engine in enumerate(self.engine):
                with m.Case(self._ports + index):
                    with m.If(busy & moving):
                        m.d.comb += [
                            engine.done.eq(self.memory.done),
                            self.memory.write.payload.eq(engine.write.payload),
                        ]
                        with m.If(request.write):
                            m.d.comb += [
                                there.eq(engine.write.valid),
                                self.memory.write.valid.eq(engine.write.valid & paid),
                                engine.write.ready.eq(self.memory.write.ready & paid),
                                moved.eq(self.memory.write.valid & self.memory.write.ready),
                            ]
                        with m.Else():
                            m.d.comb += [
                                there.eq(self.memory.read.valid),
                                engine.read.valid.eq(self.memory.read.valid & paid),
                                self.memory.read.ready.eq(engine.read.ready & paid),
                                moved.eq(engine.read.valid & engine.read.ready),
                            ]
        for engine in self.engine:
            m.d.comb += engine.read.payload.eq(self.memory.read.payload)
