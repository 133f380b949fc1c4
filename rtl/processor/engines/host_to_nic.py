"""The engine H2N: from host memory to NIC memory."""

from amaranth.hdl import Cat, Const, Module, Signal

from ....layouts.packet import TRACE_BITS
from ....layouts.trace import Block
from ...bus.burst import beats_of
from ...parts.aligner import Aligner
from ..types import WIDE_ADDRESS_BITS
from .engine_block import HostEngine

__all__ = ["HostToNic"]


class HostToNic(HostEngine):
    """Copies ``length`` bytes from ``host`` to ``local``, any alignment of both.

    Latency: 2 cycles from a command to the bus request. A word is written in the cycle in which it
    arrives or, if the alignments differ, when the next one arrives; the command ends with the last
    word. Throughput: 8 bytes a cycle if bus and memory allow it; 1 cycle without a request between
    bursts of a command, 2 between commands. Length 0 ends at once. Back-pressure: NIC memory stalls
    the bus. Reset: idle.

    Parameters and members are those of :class:`HostEngine`; ``bus`` only reads. Block H2N.
    """

    BLOCK = Block.H2N

    def elaborate(self, platform: object) -> Module:
        m = Module()
        queue = self._commands(m)
        m.submodules.align = align = Aligner()
        command = queue.o.payload
        request = self.bus.request.payload

        address = Signal(29)
        left = Signal(14)
        beats = Signal(10)
        place = Signal(WIDE_ADDRESS_BITS)
        trace = Signal(TRACE_BITS)
        last_in = Signal(17)
        m.d.comb += [
            align.offset.eq(command.host[:3]),
            align.target.eq(command.local[:3]),
            align.bytes.eq(command.length),
            request.address.eq(Cat(Const(0, 3), address)),
            request.beats.eq(beats),
            request.trace.eq(trace),
        ]

        with m.FSM() as state:
            with m.State("IDLE"):
                with m.If(queue.o.valid & ~align.busy):
                    m.d.comb += [queue.o.ready.eq(1),
                                 last_in.eq(command.host[:3] + command.length + 7)]
                    with m.If(command.local + command.length > self._memory_bytes):
                        self._refuse(m, queue, command.local)
                    with m.Elif(command.host + command.length > self._host_bytes):
                        self._refuse(m, queue, command.host)
                    with m.Else():
                        self._begin(m, command.trace)
                        with m.If(command.length == 0):
                            self._end(m, queue, command.trace)
                        with m.Else():
                            m.d.comb += align.start.eq(1)
                            m.d.sync += [
                                address.eq(command.host[3:]),
                                left.eq(last_in[3:]),
                                place.eq(command.local[3:]),
                                trace.eq(command.trace),
                            ]
                            m.next = "REQUEST"
            with m.State("REQUEST"):
                m.d.comb += [
                    beats.eq(beats_of(left, self.max_beats)),
                    self.bus.request.valid.eq(1),
                ]
                with m.If(self.bus.request.ready):
                    m.d.sync += [left.eq(left - beats), address.eq(address + beats)]
                    m.next = "READ"
            with m.State("READ"):
                m.d.comb += [
                    align.i.valid.eq(self.bus.read.valid),
                    align.i.payload.eq(self.bus.read.payload),
                    self.bus.read.ready.eq(align.i.ready),
                ]
                with m.If(self.bus.done):
                    m.next = "REQUEST"
                    with m.If(left == 0):
                        m.next = "IDLE"
        m.d.comb += queue.idle.eq(state.ongoing("IDLE") & ~queue.begun & ~queue.o.valid)

        with m.If(align.o.valid):
            m.d.comb += [
                self.memory.valid.eq(1),
                self.memory.write.eq(1),
                self.memory.address.eq(place),
                self.memory.data.eq(align.o.payload),
                self.memory.strobe.eq(align.strobe),
                align.o.ready.eq(self.memory.ready),
            ]
            with m.If(self.memory.ready):
                m.d.sync += place.eq(place + 1)
                with m.If(align.last):
                    self._end(m, queue, trace)
        return m
