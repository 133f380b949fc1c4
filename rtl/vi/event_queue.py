"""Events that wait for the kernel agent."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ...layouts.via import Event
from ..parts.queue import Queue
from ..parts.round_robin import RoundRobin
from ..parts.sizes import check_count, check_power_of_two
from .types import EngineEvent, EventRead

__all__ = ["EventQueue"]

class EventQueue(wiring.Component):
    """Queues events of all ``sources``. Events without room are counted, and CATASTROPHIC follows.

    ``depth - 1`` events fit. The next one is lost, and CATASTROPHIC takes the last place unless one
    already waits. So after a lost event software reads CATASTROPHIC before it next finds the queue
    empty.

    Latency: 2 cycles from an event to ``read``. Throughput: an event and a ``pop`` a cycle.
    Back-pressure: none; each source is served within ``sources`` cycles. Reset: empty.

    Parameters
    ----------
    depth : :class:`int`
        Events that wait, the last one CATASTROPHIC: a power of two, 4 or more.
    sources : :class:`int`
        Ports, 1 or more.

    Members
    -------
    i : ``In(stream of EngineEvent).array(sources)``
        Events in.
    read : ``In(EventRead)``
        The kernel agent.
    waiting : ``Out(1)``
        ``read.head`` is an event.
    idle : ``Out(1)``
        No event arrives, and the head does not change until a ``pop``.

    Raises
    ------
    TypeError
        A parameter is not an integer.
    ValueError
        A parameter breaks its rule.
    """

    def __init__(self, *, depth: int, sources: int) -> None:
        check_power_of_two("depth", depth, least=4)
        check_count("sources", sources)
        self._depth = depth
        self._sources = sources
        super().__init__({
            "i": In(stream.Signature(EngineEvent)).array(sources),
            "read": In(EventRead),
            "waiting": Out(1),
            "idle": Out(1),
        })

    @property
    def depth(self) -> int:
        """Events that wait."""
        return self._depth

    @property
    def sources(self) -> int:
        """Ports."""
        return self._sources

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.arbiter = arbiter = RoundRobin(count=self._sources)
        m.submodules.queue = queue = Queue(shape=EngineEvent, depth=self._depth)
        # A CATASTROPHIC is inside, or on its way in.
        told = Signal()
        full = Signal()
        comes = Signal()
        m.d.comb += [
            comes.eq(arbiter.requests.any()),
            full.eq(queue.level >= self._depth - 1),
            arbiter.advance.eq(1),
            self.read.lost.eq(comes & full),
            queue.i.valid.eq(comes & ~(full & told)),
        ]
        for number, port in enumerate(self.i):
            m.d.comb += [
                arbiter.requests[number].eq(port.valid),
                port.ready.eq(arbiter.grant[number]),
            ]
            with m.If(arbiter.grant[number]):
                m.d.comb += queue.i.payload.eq(port.payload)

        head = self.read.head
        event = queue.o.payload
        m.d.comb += [
            self.waiting.eq(queue.o.valid),
            queue.o.ready.eq(self.read.pop),
            # An event is on its way to the head.
            self.idle.eq(~comes & (queue.o.valid | (queue.level == 0))),
        ]
        with m.If(queue.o.valid):
            m.d.comb += [head.valid.eq(1), head.code.eq(event.code), head.number.eq(event.number)]
            with m.If(self.read.pop & (event.code == Event.CATASTROPHIC)):
                m.d.sync += told.eq(0)
        with m.If(self.read.lost & ~told):
            m.d.comb += [queue.i.payload.code.eq(Event.CATASTROPHIC),
                         queue.i.payload.number.eq(0)]
            m.d.sync += told.eq(1)
        return m
