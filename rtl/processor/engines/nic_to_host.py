"""The engine N2H: from NIC memory to host memory."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal

from ....layouts.packet import TRACE_BITS
from ....layouts.processor import StartFlag
from ....layouts.trace import Block
from ...bus.write_bursts import WriteBursts
from ...parts.aligner import Aligner
from ...parts.queue import Queue
from ..types import WIDE_ADDRESS_BITS
from .command_queue import CommandQueue
from .engine_block import HostEngine

__all__ = ["NicToHost"]

AHEAD = 8
"""Words read ahead of the bus."""


class NicToHost(HostEngine):
    """Copies ``length`` bytes from ``local`` to ``host``, any alignment of both.

    With FIRST_LAST the first 8 bytes are the last beat of the last burst (a jump); then ``host``
    and ``local`` are multiples of 8, and ``length`` is 0 or at least 8. Host bytes beside those of
    the command keep their values.

    Latency: 2 cycles from a command to the bus request, 5 to its first word. The command ends with
    the last burst's ``done``. Throughput: 8 bytes a cycle if bus and memory allow it; 1 cycle
    without a request between bursts of a command, 2 between commands. Length 0 ends at once.
    Back-pressure: AHEAD words are read ahead of the bus; if NIC memory is slower than the bus, the
    bus waits. Reset: idle.

    Parameters and members are those of :class:`HostEngine`; ``bus`` only writes. Block N2H.
    """

    BLOCK = Block.N2H

    def elaborate(self, platform: object) -> Module:
        m = Module()
        queue = self._commands(m)
        m.submodules.words = words = Queue(shape=64, depth=AHEAD)
        m.submodules.align = align = Aligner()
        command = queue.o.payload

        begins = Signal()
        # The first word is written last; it is a separate run unless it is the only word.
        turned = Signal()
        split = Signal()
        misplaced = Signal()
        with m.If(queue.o.valid):
            m.d.comb += [
                turned.eq((command.flags & StartFlag.FIRST_LAST).any()),
                split.eq(turned & (command.length > 8)),
                misplaced.eq(turned & (command.length != 0) & (
                    (command.local[:3] != 0) | (command.host[:3] != 0) | (command.length < 8))),
            ]
        self._reader(m, queue, words, begins=begins, split=split)
        self._realigner(m, queue, words, align, begins=begins, split=split)
        self._writer(m, queue, align, begins=begins, turned=turned, misplaced=misplaced)
        return m

    def _reader(self, m: Module, queue: CommandQueue, words: Queue, *, begins: Signal,
                split: Signal) -> None:
        """All words of the command from NIC memory to ``words``."""
        command = queue.o.payload
        place = Signal(WIDE_ADDRESS_BITS)
        first = Signal(WIDE_ADDRESS_BITS)
        left = Signal(14)
        back = Signal()
        coming = Signal()
        last_in = Signal(17)
        m.d.sync += coming.eq(self.memory.valid & self.memory.ready)
        with m.If(left != 0):
            # The level does not include the word that is arriving.
            m.d.comb += [self.memory.valid.eq(words.level < AHEAD - 1),
                         self.memory.address.eq(place)]
            with m.If(self.memory.valid & self.memory.ready):
                m.d.sync += [left.eq(left - 1),
                             place.eq(Mux(back & (left == 2), first, place + 1))]
        with m.If(coming):
            m.d.comb += [words.i.valid.eq(1), words.i.payload.eq(self.memory.read)]
        with m.If(begins):
            m.d.comb += last_in.eq(command.local[:3] + command.length + 7)
            m.d.sync += [
                first.eq(command.local[3:]),
                place.eq(command.local[3:] + split),
                left.eq(last_in[3:]),
                back.eq(split),
            ]

    def _realigner(self, m: Module, queue: CommandQueue, words: Queue, align: Aligner, *,
                   begins: Signal, split: Signal) -> None:
        """The run, followed by the run of the first word."""
        command = queue.o.payload
        closing = Signal()
        m.d.comb += [
            align.i.valid.eq(words.o.valid),
            align.i.payload.eq(words.o.payload),
            words.o.ready.eq(align.i.ready),
        ]
        with m.If(begins):
            m.d.comb += [
                align.start.eq(1),
                align.offset.eq(command.local[:3]),
                align.target.eq(command.host[:3]),
                align.bytes.eq(command.length - Mux(split, 8, 0)),
            ]
            m.d.sync += closing.eq(split)
        with m.Elif(closing & ~align.busy):
            m.d.comb += [align.start.eq(1), align.bytes.eq(8)]
            m.d.sync += closing.eq(0)

    def _writer(self, m: Module, queue: CommandQueue, align: Aligner, *, begins: Signal,
                turned: Signal, misplaced: Signal) -> None:
        """Sends burst after burst to the bus."""
        command = queue.o.payload
        request = self.bus.request.payload
        word = self.bus.write.payload
        address = Signal(29)
        jump_address = Signal(29)
        jumps = Signal()
        # Beats not yet requested.
        left = Signal(14)
        trace = Signal(TRACE_BITS)
        last_out = Signal(17)
        bursts = WriteBursts(m, self.bus, left=left, max_beats=self.max_beats)
        m.d.comb += [
            request.write.eq(1),
            request.address.eq(Cat(Const(0, 3), address)),
            request.jump_address.eq(Cat(Const(0, 3), jump_address)),
            request.beats.eq(bursts.next_beats),
            request.trace.eq(trace),
        ]

        def over() -> None:
            self._end(m, queue, trace)
            m.next = "IDLE"

        with m.FSM() as state:
            with m.State("IDLE"):
                with m.If(queue.o.valid):
                    m.d.comb += [queue.o.ready.eq(1),
                                 last_out.eq(command.host[:3] + command.length + 7)]
                    with m.If((command.local + command.length > self._memory_bytes)
                              | (misplaced & (command.local[:3] != 0))):
                        self._refuse(m, queue, command.local)
                    with m.Elif((command.host + command.length > self._host_bytes) | misplaced):
                        self._refuse(m, queue, command.host)
                    with m.Else():
                        self._begin(m, command.trace)
                        with m.If(command.length == 0):
                            self._end(m, queue, command.trace)
                        with m.Else():
                            m.d.comb += begins.eq(1)
                            m.d.sync += [
                                address.eq(command.host[3:] + turned),
                                jump_address.eq(command.host[3:]),
                                jumps.eq(turned),
                                left.eq(last_out[3:]),
                                trace.eq(command.trace),
                            ]
                            m.next = "REQUEST"
            bursts.states(over)
        with m.If(bursts.asked):
            m.d.sync += address.eq(address + bursts.next_beats)
        with m.If(bursts.writes):
            m.d.comb += [
                self.bus.write.valid.eq(align.o.valid),
                align.o.ready.eq(self.bus.write.ready),
                word.data.eq(align.o.payload),
                word.strobe.eq(align.strobe),
                word.jump.eq(jumps & bursts.last),
            ]
        m.d.comb += queue.idle.eq(state.ongoing("IDLE") & ~queue.o.valid)
