"""The queue of commands in front of an engine."""

from amaranth.hdl import Module, Signal
from amaranth.lib import memory, stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.processor import ENGINE_QUEUE
from ..types import EngineCommand, EnginePort

__all__ = ["CommandQueue"]


class CommandQueue(wiring.Component):
    """Holds up to ENGINE_QUEUE commands, including those that have begun and not ended.

    Latency: a command is offered in the cycle after it was taken; ``port.done`` counts it in the
    cycle after ``finish``. Throughput: a command a cycle. Back-pressure: ``port.command`` is ready
    while there is space. Reset: empty, ``done`` 0.

    Members
    -------
    port : Out(EnginePort)
        The engine's.
    clear : In(1)
        While it is high, no command is taken or offered, queued commands are dropped, and ``done``
        is 0. Commands that began before are not counted when they end.
    o : Out(stream of EngineCommand)
        The next command, which begins when it is taken.
    finish : In(1)
        The oldest command that has begun ends in this cycle (it may also have begun in this cycle).
    idle : In(1)
        For ``port.idle``, which is also low while a clear is due.
    begun : Out(1)
        A command has begun and not ended.
    """

    port: Out(EnginePort)
    clear: In(1)
    o: Out(stream.Signature(EngineCommand))
    finish: In(1)
    idle: In(1)
    begun: Out(1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.items = items = memory.Memory(
            shape=EngineCommand, depth=ENGINE_QUEUE, init=[])
        write = items.write_port()
        read = items.read_port(domain="comb")

        head = Signal(range(ENGINE_QUEUE))
        tail = Signal(range(ENGINE_QUEUE))
        queued = Signal(range(ENGINE_QUEUE + 1))
        running = Signal(range(ENGINE_QUEUE + 1))
        # Of those, the first so many began before the last clear.
        stale = Signal.like(running)
        still_running = Signal.like(running)
        counts = Signal()
        taken = Signal()
        begins = Signal()
        m.d.comb += [
            self.port.space.eq(ENGINE_QUEUE - queued - running),
            self.port.command.ready.eq((self.port.space != 0) & ~self.clear),
            counts.eq(self.finish & (stale == 0) & ~self.clear),
            self.port.ended.eq(counts),
            # A clear needs a clock edge.
            self.port.idle.eq(self.idle
                              & ~(self.clear & ((queued != 0) | (self.port.done != 0)))),
            self.begun.eq(running != 0),
            taken.eq(self.port.command.valid & self.port.command.ready),
            begins.eq(self.o.valid & self.o.ready),
            still_running.eq(running + begins - self.finish),
            write.addr.eq(tail),
            write.data.eq(self.port.command.payload),
            write.en.eq(taken),
            read.addr.eq(head),
        ]
        with m.If((queued != 0) & ~self.clear):
            m.d.comb += [self.o.valid.eq(1), self.o.payload.eq(read.data)]
        with m.If(taken | begins | self.finish):
            m.d.sync += [
                tail.eq(tail + taken),
                head.eq(head + begins),
                queued.eq(queued + taken - begins),
                running.eq(still_running),
                self.port.done.eq(self.port.done + counts),
            ]
            with m.If(stale != 0):
                m.d.sync += stale.eq(stale - self.finish)
        with m.If(self.clear):
            m.d.sync += [head.eq(tail), queued.eq(0), stale.eq(still_running),
                         self.port.done.eq(0)]
        return m
