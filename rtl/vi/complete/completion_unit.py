"""The completion unit: status into descriptors, entries into completion queues, armed events."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ....layouts.trace import Block, Kind
from ....layouts.via import CQ_BITS, Event
from ...bus.pio import PageWrite
from ...parts.distinct_queue import DistinctQueue
from ...parts.event import EventPort
from ...parts.round_robin import RoundRobin
from ...parts.sizes import check_power_of_two, check_vis
from ..types import (
    Arm,
    Break,
    Completion,
    CompletionRegisters,
    ContextRead,
    Control,
    ControlAction,
    EngineEvent,
    VirtualMemory,
)
from .completion_counts import COUNT_BITS, CompletionCounts
from .completion_queues import CompletionQueues
from .completion_write import CompletionWrite

__all__ = ["CompletionUnit"]

class CompletionUnit(wiring.Component):
    """Completes descriptors, one at a time, in the order in which they are taken.

    Each descriptor's address is translated again, with the VI's tag. :class:`CompletionWrite`
    writes immediate data (if its status says so), Length and Status upward, so that DONE becomes
    visible last. If the work queue is bound to a completion queue, the entry is written there next.
    Then the completion is counted and, if the queue (or completion queue) is armed, the event is
    raised. An arming is taken only between completions, and an arming with another count than the
    queue's raises its event at once. So no arming misses a completion, and each arming raises one
    event.

    A descriptor that cannot be written (refused, unaligned, or cut short) breaks its VI with
    COMP_PROT; a ``silent`` one does not. Both are counted and may raise an armed event, but make no
    entry. If a completion queue is full, or its memory cannot be written, the entry is lost and the
    VI breaks: VI_OVERRUN, COMP_PROT. A second break of a VI that waits in ``break_`` is merged with
    the first, so there is always room.

    Latency and throughput, on a bus where a write of n beats takes n + 2 cycles and with
    translations that take 2: 8 cycles a completion, 1 more with immediate data, 7 more with a
    completion queue, 1 more an event. Back-pressure: ``i``, ``arm`` and ``control`` wait for the
    completion under way; round robin, ``control`` first. Completions wait only for memory,
    translation and ``event``. ``hold`` is low between completions. Reset: counts mean nothing
    before CREATE; no completion queue is enabled; ``ready`` after ``vis`` cycles.

    Parameters
    ----------
    vis, cqs : int
        VIs, 2 to 4096, and completion queues, 2 to 256: powers of two.

    Members
    -------
    i : In(stream of Completion), an array of two
        Descriptors to complete: the sender's, the receiver's.
    arm : In(stream of Arm)
        Armings of work queues.
    pages : In(PageWrite)
        Writes to completion queues' pages: see CompletionQueues.
    registers : In(CompletionRegisters)
        The kernel agent.
    memory : Out(VirtualMemory)
        Descriptors and completion queues.
    context : Out(ContextRead)
    event : Out(stream of EngineEvent)
        SEND_DONE, RECEIVE_DONE, CQ_READY.
    control : In(stream of Control)
        CREATE: counts zero, nothing armed.
    break_ : Out(stream of Break)
    ready : Out(1)
        Memories are cleared.
    idle : Out(1)
        Nothing changes without an input.
    events : Out(EventPort), an array of one
        Block COMPLETION: BEGIN when one is taken, END when all of it has landed, or will not;
        ``arg``: the queue.

    Raises
    ------
    TypeError, ValueError
        A parameter breaks its rule.
    """

    event_sources = (Block.COMPLETION,)
    """The block behind each port of ``events``."""

    def __init__(self, *, vis: int, cqs: int) -> None:
        check_vis(vis)
        check_power_of_two("cqs", cqs, least=2, most=1 << CQ_BITS)
        self._vis = vis
        self._cqs = cqs
        self._completion = Signal(Completion)
        self._on_entry = Signal()
        self._write = CompletionWrite()
        super().__init__({
            "i": In(stream.Signature(Completion)).array(2),
            "arm": In(stream.Signature(Arm)),
            "pages": In(PageWrite),
            "registers": In(CompletionRegisters),
            "memory": Out(VirtualMemory),
            "context": Out(ContextRead),
            "event": Out(stream.Signature(EngineEvent)),
            "control": In(stream.Signature(Control)),
            "break_": Out(stream.Signature(Break)),
            "ready": Out(1),
            "idle": Out(1),
            "events": Out(EventPort).array(1),
        })

    @property
    def vis(self) -> int:
        """VIs."""
        return self._vis

    @property
    def cqs(self) -> int:
        """Completion queues."""
        return self._cqs

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.queues = queues = CompletionQueues(cqs=self._cqs)
        m.submodules.breaks = breaks = DistinctQueue(items=2 * self._vis)
        m.submodules.counts = counts = CompletionCounts(vis=self._vis)
        m.submodules.turn = turn = RoundRobin(count=4)
        m.submodules.write = write = self._write
        wiring.connect(m, wiring.flipped(self.pages), queues.pages)
        wiring.connect(m, wiring.flipped(self.registers.setup), queues.setup)
        wiring.connect(m, wiring.flipped(self.registers.completed), counts.completed)
        wiring.connect(m, wiring.flipped(self.memory), write.memory)

        offered = Signal(Completion)
        completion = self._completion
        context = self.context.data.attributes
        begin = Signal()
        # All its writes have arrived, or will not: count it.
        finish = Signal()
        # To the break queue: COMP_PROT, VI_OVERRUN.
        refused = Signal()
        overrun = Signal()
        # Events to be raised.
        event_cq = Signal()
        event_queue = Signal()
        cq = Signal(CQ_BITS)
        on_cq = Signal()
        count = Signal(COUNT_BITS)
        queue, event = queues.use, self.events[0]
        m.d.comb += [
            turn.requests.eq(Cat(self.i[0].valid, self.i[1].valid, self.arm.valid,
                                 queues.arm.valid)),
            offered.eq(Mux(turn.grant[0], self.i[0].payload, self.i[1].payload)),
            counts.use.queue.eq(completion.queue),
            counts.use.create_vi.eq(self.control.payload.vi),
            self.context.vi.eq(completion.queue[1:]),
            queue.number.eq(cq),
            write.user.completion.eq(completion),
            write.user.queue.eq(queue.state),
            write.user.tag.eq(context.tag),
            self.break_.valid.eq(breaks.o.valid),
            self.break_.payload.vi.eq(breaks.o.payload[1:]),
            self.break_.payload.event.eq(
                Mux(breaks.o.payload[0], Event.COMP_PROT, Event.VI_OVERRUN)),
            breaks.o.ready.eq(self.break_.ready),
            breaks.i.payload.eq(Cat(refused, completion.queue[1:])),
            breaks.i.valid.eq(refused | overrun),
            self.ready.eq(queues.ready & breaks.i.ready),
            event.number.eq(Mux(begin, offered.trace, completion.trace)),
            event.arg.eq(Mux(begin, offered.queue, completion.queue)),
            event.kind.eq(Mux(begin, Kind.BEGIN, Kind.END)),
            event.valid.eq(finish | begin),
        ]

        def done() -> None:
            """Count the completion; raise the armed event."""
            m.d.comb += finish.eq(1)
            m.next = "IDLE"
            with m.If(counts.use.armed | queue.notify):
                m.next = "EVENT"

        with m.FSM() as self._state:
            with m.State("IDLE"):
                m.d.sync += self._on_entry.eq(0)
                with m.If(self.control.valid):
                    m.d.comb += [
                        self.control.ready.eq(1),
                        counts.use.create.eq(self.control.payload.action == ControlAction.CREATE),
                    ]
                with m.Elif(turn.requests.any() & self.ready):
                    m.d.comb += turn.advance.eq(1)
                    with m.If(turn.grant[0] | turn.grant[1]):
                        m.d.comb += [
                            self.i[0].ready.eq(turn.grant[0]), self.i[1].ready.eq(turn.grant[1]),
                            begin.eq(1), counts.use.look.eq(1), counts.use.queue.eq(offered.queue),
                            self.context.vi.eq(offered.queue[1:]),
                        ]
                        m.d.sync += completion.eq(offered)
                        m.next = "CONTEXT"
                    with m.Elif(turn.grant[2]):
                        m.d.comb += [self.arm.ready.eq(1), counts.use.look.eq(1),
                                     counts.use.queue.eq(self.arm.payload.queue)]
                        m.d.sync += [completion.queue.eq(self.arm.payload.queue),
                                     count.eq(self.arm.payload.count)]
                        m.next = "ARM"
                    with m.Else():
                        m.d.comb += [queues.arm.ready.eq(1), queue.look.eq(1),
                                     queue.number.eq(queues.arm.payload)]
                        m.d.sync += cq.eq(queues.arm.payload)
                        m.next = "LOOK AT ARMED"
            with m.State("CONTEXT"):
                m.d.sync += [
                    cq.eq(Mux(completion.queue[0], context.receive_cq, context.send_cq)),
                    on_cq.eq(Mux(completion.queue[0], context.receive_on_cq, context.send_on_cq)),
                ]
                with m.If(completion.silent):
                    done()
                with m.Else():
                    m.d.comb += write.user.status.eq(1)
                    m.next = "WRITE"
            with m.State("WRITE"):
                with m.If(write.user.refused):
                    m.d.comb += refused.eq(1)
                    done()
                with m.If(write.user.landed):
                    with m.If(self._on_entry):
                        m.d.comb += queue.append.eq(1)
                        done()
                    with m.Elif(on_cq):
                        m.d.comb += queue.look.eq(1)
                        m.next = "LOOK"
                    with m.Else():
                        done()
            with m.State("LOOK"):
                m.d.comb += write.user.hold.eq(1)
                m.d.sync += self._on_entry.eq(1)
                with m.If(queue.state.full & queue.state.enabled):
                    m.d.comb += overrun.eq(1)
                    done()
                with m.Elif(~queue.state.enabled):
                    m.d.comb += refused.eq(1)
                    done()
                with m.Else():
                    m.d.comb += write.user.entry.eq(1)
                    m.next = "WRITE"
            with m.State("ARM"):
                m.next = "IDLE"
                with m.If(counts.use.count == count):
                    m.d.comb += counts.use.arm.eq(1)
                with m.Else():
                    m.d.sync += event_queue.eq(1)
                    m.next = "EVENT"
            with m.State("LOOK AT ARMED"):
                m.next = "JUDGE"
            with m.State("JUDGE"):
                m.d.comb += queue.judge.eq(1)
                m.next = "IDLE"
                with m.If(queue.notify):
                    m.d.sync += event_cq.eq(1)
                    m.next = "EVENT"
            with m.State("EVENT"):
                m.d.comb += self.event.valid.eq(1)
                with m.If(event_cq):
                    m.d.comb += [self.event.payload.code.eq(Event.CQ_READY),
                                 self.event.payload.number.eq(cq)]
                with m.Else():
                    m.d.comb += [
                        self.event.payload.code.eq(
                            Mux(completion.queue[0], Event.RECEIVE_DONE, Event.SEND_DONE)),
                        self.event.payload.number.eq(completion.queue[1:]),
                    ]
                with m.If(self.event.ready):
                    m.d.sync += event_cq.eq(0)
                    with m.If(~(event_cq & event_queue)):
                        m.d.sync += event_queue.eq(0)
                        m.next = "IDLE"

        with m.If(finish):
            m.d.comb += counts.use.add.eq(1)
            m.d.sync += [event_queue.eq(counts.use.armed), event_cq.eq(queue.notify)]
        m.d.comb += self.idle.eq(self._state.ongoing("IDLE") & queues.idle & breaks.idle
                                 & counts.idle & ~(self.i[0].valid | self.i[1].valid
                                                   | self.arm.valid | self.control.valid))
        return m
